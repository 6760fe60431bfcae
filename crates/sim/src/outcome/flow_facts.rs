//! What both ends of flows know at the end of a run, by flow, in little memory: there may be many flows.

use std::collections::BTreeMap;

use floodway_model::{FlowId, FlowSpec, Instant};
use serde::{Deserialize, Serialize};

use super::{End, ends};
use crate::Spec;
use crate::host::ended::{all, usual};
use crate::host::receivers::Arrived;
use crate::host::transport::Sent;
use crate::run::Finished;

/// Per-flow information from both ends, by flow.
#[derive(Debug)]
pub(crate) struct FlowFacts {
    /// When the flow began; [`Instant::NEVER`] if it never did, or is not known to.
    pub starts: Vec<Instant>,
    /// Packets of the sender, or [`UNUSUAL`].
    packets: Vec<u32>,
    /// When all was acknowledged; [`Instant::NEVER`] if it was not.
    acknowledged: Vec<Instant>,
    /// The counters of senders that have more than these, in order of flow.
    unusual: Vec<(FlowId, Sent)>,
    /// Data packets that switches dropped or links lost, of the flows that have any.
    lost: BTreeMap<usize, u64>,
    /// When the message was complete; [`Instant::NEVER`] if it is not.
    finished: Vec<Instant>,
    /// Payload bytes delivered.
    delivered: Vec<u64>,
    /// Packets that arrived with CE.
    marked: Vec<u32>,
    /// By flow: see [`Receiver::pushed`](crate::host::receivers::Receivers::pushed).
    pub pushed: BTreeMap<FlowId, Vec<(u32, Instant)>>,
}

/// Stands for the number of packets of a sender that has other counters.
const UNUSUAL: u32 = u32::MAX;

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
    /// What the nodes of this process know.
    pub fn gather(spec: &Spec, finished: &Finished) -> Self {
        let mut facts = Self::none(spec.flows.len());
        for host in &finished.hosts {
            let counts = host.ended.iter().chain(host.sending());
            counts.for_each(|(flow, sent)| facts.set_sent(flow, sent));
        }
        facts.unusual.sort_by_key(|(flow, _)| *flow);
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
            if let Some(host) = host_at[flow.dst.index()] {
                let shared = host.shared();
                let place = shared.places.at(id.index()).1;
                let arrived: Arrived = host.receivers.arrived(place, shared);
                facts.finished[id.index()] = arrived.finished;
                facts.delivered[id.index()] = arrived.delivered;
                facts.marked[id.index()] = arrived.marked;
                let pushed = host.receivers.pushed(place);
                if !pushed.is_empty() {
                    facts.pushed.insert(id, pushed.to_vec());
                }
            }
            if let Some(host) = host_at[flow.src.index()] {
                // A run of sampled rounds ends while flows are still to begin.
                let is_due = spec.sampled.is_none() || flow.start <= finished.now;
                let start = if is_due { flow.start } else { Instant::NEVER };
                facts.starts[id.index()] = host.began(id).unwrap_or(start);
            }
        }
        facts
    }

    /// Nothing is known of this number of flows.
    fn none(flows: usize) -> Self {
        Self {
            starts: vec![Instant::NEVER; flows],
            packets: vec![0; flows],
            acknowledged: vec![Instant::NEVER; flows],
            unusual: Vec::new(),
            lost: BTreeMap::new(),
            finished: vec![Instant::NEVER; flows],
            delivered: vec![0; flows],
            marked: vec![0; flows],
            pushed: BTreeMap::new(),
        }
    }

    /// The counters of the sender of a flow.
    pub fn sent(&self, flow: usize) -> Sent {
        if self.packets[flow] == UNUSUAL {
            let place = self.unusual.binary_search_by_key(&flow, |(of, _)| of.index());
            return place.map_or_else(|_| Sent::default(), |place| self.unusual[place].1);
        }
        all(self.packets[flow], some(self.acknowledged[flow]))
    }

    /// Data packets of a flow that switches dropped or links lost.
    pub fn lost(&self, flow: usize) -> u64 {
        self.lost.get(&flow).copied().unwrap_or(0)
    }

    /// What the receiver of a flow knows.
    pub fn received(&self, flow: usize) -> Received {
        Received {
            finished: some(self.finished[flow]),
            delivered: self.delivered[flow],
            marked: self.marked[flow].into(),
        }
    }

    /// The counters of a sender. Those that are unusual are to be sorted.
    fn set_sent(&mut self, flow: FlowId, sent: Sent) {
        let (packets, acknowledged) =
            (&mut self.packets[flow.index()], &mut self.acknowledged[flow.index()]);
        match usual(sent).filter(|(packets, _)| *packets != UNUSUAL) {
            Some(sent) => (*packets, *acknowledged) = sent,
            None => {
                *packets = UNUSUAL;
                self.unusual.push((flow, sent));
            }
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
        known.starts.into_iter().for_each(|(flow, start)| self.starts[flow] = start);
        let sent = known.sent.into_iter();
        sent.for_each(|(flow, sent)| self.set_sent(FlowId(flow as u32), sent));
        self.unusual.sort_by_key(|(flow, _)| *flow);
        known.lost.into_iter().for_each(|(flow, lost)| self.lose(flow, lost));
        for (flow, Received { finished, delivered, marked }) in known.received {
            self.finished[flow] = finished.unwrap_or(Instant::NEVER);
            (self.delivered[flow], self.marked[flow]) = (delivered, marked as u32);
        }
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
            starts: known(flows, |flow| self.starts[flow], &Instant::NEVER),
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
        all.map(|(place, (start, flow))| (place, *start, flow))
            .filter(|(_, start, _)| *start < Instant::NEVER)
    }
}

/// A time, unless it is [`Instant::NEVER`].
fn some(at: Instant) -> Option<Instant> {
    (at < Instant::NEVER).then_some(at)
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
