//! What both ends of flows know at the end of a run, by flow, in little memory: there may be many flows.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use floodway_model::{FlowId, FlowSpec, Instant, Numbers};
use serde::{Deserialize, Serialize};

use super::{End, ends};
use crate::Spec;
use crate::host::ended::{all, usual};
use crate::host::receivers::Arrived;
use crate::host::transport::Sent;
use crate::run::Finished;

/// Per-flow information from both ends, by flow.
#[derive(Debug, Default)]
pub(crate) struct FlowFacts {
    /// When the flow began; [`Instant::NEVER`] if it never did, or is not known to.
    starts: Numbers<u64>,
    /// Packets of the sender, or [`UNUSUAL`].
    packets: Numbers<u64>,
    /// When all was acknowledged; [`Instant::NEVER`] if it was not.
    acknowledged: Numbers<u64>,
    /// The counters of senders that have more than these, in order of flow.
    unusual: Vec<(FlowId, Sent)>,
    /// Data packets that switches dropped or links lost, of the flows that have any.
    lost: BTreeMap<usize, u64>,
    /// When the message was complete; [`Instant::NEVER`] if it is not.
    finished: Numbers<u64>,
    /// Payload bytes delivered.
    delivered: Numbers<u64>,
    /// Packets that arrived with CE.
    marked: Numbers<u64>,
    /// By flow: see [`Receiver::pushed`](crate::host::receivers::Receivers::pushed).
    pub pushed: BTreeMap<FlowId, Vec<(u32, Instant)>>,
}

/// Stands for the number of packets of a sender that has other counters.
const UNUSUAL: u64 = u64::MAX;

/// [`Instant::NEVER`] as a number.
const NEVER: u64 = Instant::NEVER.0;

/// What the receiver of a flow knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Received {
    /// When the message was complete.
    pub finished: Option<Instant>,
    /// Payload bytes delivered.
    pub delivered: u64,
    /// Packets that arrived with CE.
    pub marked: u64,
}

impl FlowFacts {
    /// What the nodes of this process know. The hosts forget the senders that have ended.
    pub fn gather(spec: &Spec, finished: &mut Finished) -> Self {
        let mut facts = Self::default();
        facts.gather_sent(spec, finished);
        let finished = &*finished;
        for (flow, packets) in finished.switches.iter().flat_map(|switch| &switch.lost) {
            facts.lose(flow.index(), *packets);
        }
        for (flow, packets) in ends(finished).iter().flat_map(End::outages).flat_map(|o| &o.lost_of)
        {
            facts.lose(flow.index(), *packets);
        }
        let mut host_at = vec![None; spec.graph.nodes.len()];
        for host in &finished.hosts {
            host_at[host.id().index()] = Some(host);
        }
        for (id, flow) in (0..).map(FlowId).zip(spec.flows.each()) {
            let mut arrived = Arrived { finished: Instant::NEVER, delivered: 0, marked: 0 };
            if let Some(host) = host_at[flow.dst.index()] {
                let shared = host.shared();
                let place = shared.places.at(id.index()).1;
                arrived = host.receivers.arrived(place, shared);
                let pushed = host.receivers.pushed(place);
                if !pushed.is_empty() {
                    facts.pushed.insert(id, pushed.to_vec());
                }
            }
            facts.finished.push(arrived.finished.0);
            facts.delivered.push(arrived.delivered);
            facts.marked.push(arrived.marked.into());
            let mut start = Instant::NEVER;
            if let Some(host) = host_at[flow.src.index()] {
                // A run of sampled rounds ends while flows are still to begin.
                let is_due = spec.sampled.is_none() || flow.start <= finished.now;
                let planned = if is_due { flow.start } else { Instant::NEVER };
                start = host.began(id).unwrap_or(planned);
            }
            facts.starts.push(start.0);
        }
        facts
    }

    /// The counters of senders. A host's memory for those that have ended is free when they have been gathered.
    fn gather_sent(&mut self, spec: &Spec, finished: &mut Finished) {
        let flows = spec.flows.len();
        let (mut packets, mut acknowledged) = (vec![0u32; flows], vec![Instant::NEVER; flows]);
        for host in &mut finished.hosts {
            let ended = std::mem::take(&mut host.ended);
            for (flow, sent) in ended.iter().chain(host.sending()) {
                match usual(sent).filter(|(packets, _)| *packets != u32::MAX) {
                    Some(of) => (packets[flow.index()], acknowledged[flow.index()]) = of,
                    None => {
                        packets[flow.index()] = u32::MAX;
                        self.unusual.push((flow, sent));
                    }
                }
            }
        }
        self.unusual.sort_by_key(|(flow, _)| *flow);
        let number = |packets: u32| if packets == u32::MAX { UNUSUAL } else { packets.into() };
        self.packets = packets.into_iter().map(number).collect();
        self.acknowledged = acknowledged.into_iter().map(|at| at.0).collect();
    }

    /// Nothing is known of this number of flows.
    fn none(flows: usize) -> Self {
        let all = |number| repeat_n(number, flows).collect();
        Self {
            starts: all(NEVER),
            packets: all(0),
            acknowledged: all(NEVER),
            finished: all(NEVER),
            delivered: all(0),
            marked: all(0),
            ..Self::default()
        }
    }

    /// When a flow began; [`Instant::NEVER`] if it never did, or is not known to.
    pub fn start(&self, flow: usize) -> Instant {
        Instant(self.starts.at(flow))
    }

    /// The counters of the sender of a flow.
    pub fn sent(&self, flow: usize) -> Sent {
        let packets = self.packets.at(flow);
        if packets == UNUSUAL {
            let place = self.unusual.binary_search_by_key(&flow, |(of, _)| of.index());
            return place.map_or_else(|_| Sent::default(), |place| self.unusual[place].1);
        }
        all(packets as u32, some(self.acknowledged.at(flow)))
    }

    /// Data packets of a flow that switches dropped or links lost.
    pub fn lost(&self, flow: usize) -> u64 {
        self.lost.get(&flow).copied().unwrap_or(0)
    }

    /// What the receiver of a flow knows.
    pub fn received(&self, flow: usize) -> Received {
        Received {
            finished: some(self.finished.at(flow)),
            delivered: self.delivered.at(flow),
            marked: self.marked.at(flow),
        }
    }

    fn lose(&mut self, flow: usize, packets: u64) {
        if packets > 0 {
            *self.lost.entry(flow).or_default() += packets;
        }
    }

    /// Adds what another process knows.
    pub fn merge(&mut self, other: Self) {
        self.merge_known(other.known());
        self.pushed.extend(other.pushed);
    }

    fn merge_known(&mut self, known: Known) {
        update(&mut self.starts, known.starts.iter().map(|(flow, start)| (*flow, start.0)));
        let is_usual = |sent| usual(sent).filter(|(packets, _)| *packets != u32::MAX);
        let sent = || known.sent.iter().map(|(flow, sent)| (*flow, *sent, is_usual(*sent)));
        let packets = |of: Option<(u32, Instant)>| of.map_or(UNUSUAL, |of| of.0.into());
        update(&mut self.packets, sent().map(|(flow, _, of)| (flow, packets(of))));
        let acknowledged = |of: Option<(u32, Instant)>| of.map_or(NEVER, |of| of.1.0);
        update(&mut self.acknowledged, sent().map(|(flow, _, of)| (flow, acknowledged(of))));
        let unusual = sent().filter(|(.., of)| of.is_none());
        self.unusual.extend(unusual.map(|(flow, sent, _)| (FlowId(flow as u32), sent)));
        self.unusual.sort_by_key(|(flow, _)| *flow);
        known.lost.into_iter().for_each(|(flow, lost)| self.lose(flow, lost));
        let received = || known.received.iter().copied();
        let finished = |of: Received| of.finished.map_or(NEVER, |at| at.0);
        update(&mut self.finished, received().map(|(flow, of)| (flow, finished(of))));
        update(&mut self.delivered, received().map(|(flow, of)| (flow, of.delivered)));
        update(&mut self.marked, received().map(|(flow, of)| (flow, of.marked)));
    }

    /// What is known of flows that have an end or a path here.
    fn known(&self) -> Known {
        fn known<T: PartialEq>(
            flows: usize,
            of: impl Fn(usize) -> T,
            unknown: &T,
        ) -> Vec<(usize, T)> {
            let all = (0..flows).map(|flow| (flow, of(flow)));
            all.filter(|(_, one)| one != unknown).collect()
        }
        let flows = self.starts.len();
        Known {
            flows,
            starts: known(flows, |flow| self.start(flow), &Instant::NEVER),
            sent: known(flows, |flow| self.sent(flow), &Sent::default()),
            lost: self.lost.iter().map(|(flow, lost)| (*flow, *lost)).collect(),
            received: known(flows, |flow| self.received(flow), &Received::default()),
        }
    }

    /// For every flow that has begun: its index, its start, and its specification.
    pub fn begun<'b>(
        &'b self,
        spec: &'b Spec,
    ) -> impl Iterator<Item = (usize, Instant, FlowSpec)> + 'b {
        let all = self.starts.iter().zip(spec.flows.each()).enumerate();
        all.map(|(place, (start, flow))| (place, Instant(start), flow))
            .filter(|(_, start, _)| *start < Instant::NEVER)
    }
}

/// A time, unless it is [`Instant::NEVER`].
fn some(at: u64) -> Option<Instant> {
    (at < NEVER).then_some(Instant(at))
}

/// Replaces the numbers at these places, which rise.
fn update(column: &mut Numbers<u64>, new: impl Iterator<Item = (usize, u64)>) {
    let mut new = new.peekable();
    let number = |(place, old): (usize, u64)| {
        new.next_if(|(of, _)| *of == place).map_or(old, |(_, number)| number)
    };
    *column = column.iter().enumerate().map(number).collect();
}

/// The form in which [`FlowFacts`] go to another process: of a flow each knows little or nothing.
#[derive(Serialize, Deserialize)]
struct Known {
    flows: usize,
    starts: Vec<(usize, Instant)>,
    sent: Vec<(usize, Sent)>,
    lost: Vec<(usize, u64)>,
    received: Vec<(usize, Received)>,
}

impl Serialize for FlowFacts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.known(), &self.pushed).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FlowFacts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (known, pushed) = <(Known, _)>::deserialize(deserializer)?;
        let mut facts = Self { pushed, ..Self::none(known.flows) };
        facts.merge_known(known);
        Ok(facts)
    }
}
