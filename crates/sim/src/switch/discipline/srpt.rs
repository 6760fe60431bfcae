//! Shortest remaining processing time (Schrage and Miller, 1966), as a switch can implement it if
//! packets carry the remaining size of their flow (pFabric: Alizadeh, Yang, Sharif, Katti, McKeown,
//! Prabhakar, Shenker, SIGCOMM 2013, section 4.1). The flow with the smallest remaining size sends
//! its earliest packet, so that flows stay in order. If there is no room, the packet with the
//! largest remaining size is dropped, which may be the arriving one.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use floodway_model::check::Check;
use floodway_model::random::Stream;
use floodway_model::{FlowId, Instant, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Discipline, Sizes};
use crate::switch::mechanism::Site;
use crate::switch::queue::Queued;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which remaining size of a flow is compared. Default `first_packet`.
    pub left: Left,
}

impl Check for Spec {}

/// Which of the queued packets of a flow defines its remaining size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// The first queued packet: the bytes that still have to leave this port.
    #[default]
    FirstPacket,
    /// The queued packet with the smallest remaining size: what the sender still had to send when
    /// that packet left (pFabric, whose buffers hold a few packets of each flow). In a deep queue,
    /// a long flow that has arrived completely then counts as short.
    LeastPacket,
}

/// The packets of one data queue.
#[derive(Debug)]
pub struct Srpt {
    sizes: Arc<Sizes>,
    /// Flows with queued packets.
    flows: BTreeMap<FlowId, VecDeque<Ranked>>,
    /// All packets, by remaining size and arrival.
    order: BTreeSet<Rank>,
    /// The first packet of each flow, in the same order, if first packets decide.
    first: Option<BTreeSet<Rank>>,
    /// Number of packets that have arrived.
    came: u64,
}

/// Remaining size, arrival number, and flow.
type Rank = (u64, u64, FlowId);

#[derive(Debug)]
struct Ranked {
    left: u64,
    came: u64,
    since: Instant,
    queued: Queued,
}

impl Srpt {
    /// Initial state, without packets.
    pub fn new(spec: &Spec, site: &Site<'_>) -> Self {
        Self {
            first: (spec.left == Left::FirstPacket).then(BTreeSet::new),
            sizes: Arc::clone(site.sizes.expect("the sizes of flows are at hand where it runs")),
            flows: BTreeMap::new(),
            order: BTreeSet::new(),
            came: 0,
        }
    }

    /// Removes a packet of a flow.
    fn remove(&mut self, flow: FlowId, place: usize) -> Option<Queued> {
        let packets = self.flows.get_mut(&flow)?;
        let Ranked { left, came, queued, .. } = packets.remove(place)?;
        self.order.remove(&(left, came, flow));
        if let Some(first) = &mut self.first
            && place == 0
        {
            first.remove(&(left, came, flow));
            first.extend(packets.front().map(|next| (next.left, next.came, flow)));
        }
        if packets.is_empty() {
            self.flows.remove(&flow);
        }
        Some(queued)
    }

    /// The flow that sends next.
    fn next(&self) -> Option<FlowId> {
        let (_, _, flow) = self.first.as_ref().unwrap_or(&self.order).first()?;
        Some(*flow)
    }
}

impl Discipline for Srpt {
    fn push(&mut self, queued: Queued, since: Instant, _: &mut Stream) {
        let (left, flow) = (self.sizes.left(&queued.packet), queued.packet.flow);
        self.came += 1;
        self.order.insert((left, self.came, flow));
        let ranked = Ranked { left, came: self.came, since, queued };
        let packets = self.flows.entry(flow).or_default();
        if let Some(first) = self.first.as_mut().filter(|_| packets.is_empty()) {
            first.insert((left, self.came, flow));
        }
        packets.push_back(ranked);
    }

    fn head(&self) -> Option<&Queued> {
        self.flows[&self.next()?].front().map(|ranked| &ranked.queued)
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let flow = self.next()?;
        self.flows.get_mut(&flow)?.front_mut().map(|ranked| &mut ranked.queued.packet)
    }

    fn head_since(&self) -> Option<Instant> {
        self.flows[&self.next()?].front().map(|ranked| ranked.since)
    }

    fn pop(&mut self) -> Option<Queued> {
        self.remove(self.next()?, 0)
    }

    fn push_out(&mut self, packet: &Packet, _: Instant) -> Option<Queued> {
        let &(most, came, flow) = self.order.last()?;
        if most <= self.sizes.left(packet) {
            return None;
        }
        let place = self.flows[&flow].iter().position(|ranked| ranked.came == came)?;
        self.remove(flow, place)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.flows.values().flatten().map(|ranked| &ranked.queued))
    }

    fn is_consistent(&self) -> bool {
        self.order.len() == self.flows.values().map(VecDeque::len).sum::<usize>()
            && self.flows.values().all(|packets| !packets.is_empty())
            && self.first.as_ref().is_none_or(|first| first.len() == self.flows.len())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::discipline::stand::{flows, packet, psn};
    use crate::switch::mechanism::SitePort;

    /// Flows 0, 1 and 2 of 10, 4 and 2 packets, and a long-lived flow.
    fn srpt(left: Left) -> Srpt {
        let bytes = [10_000, 4_000, 2_000, u64::MAX];
        let sizes = Arc::new(Sizes::new(bytes.into_iter().map(|bytes| (bytes, 1_000))));
        let ports = [SitePort::HOST];
        let site = Site { sizes: Some(&sizes), ..Site::with_ports("s", 1, &ports) };
        Srpt::new(&Spec { left }, &site)
    }

    fn fill(srpt: &mut Srpt, packets: &[(u32, u32)]) {
        let mut rng = Stream::named(1, "none");
        for &(flow, psn) in packets {
            srpt.push(packet(flow, psn, 1_086), Instant::ZERO, &mut rng);
            assert!(srpt.is_consistent());
        }
    }

    #[test]
    fn what_still_has_to_leave_decides() {
        let mut srpt = srpt(Left::FirstPacket);
        fill(&mut srpt, &[(3, 0), (0, 0), (0, 9), (1, 0), (1, 1), (2, 0)]);
        assert_eq!(flows(&mut srpt, 4), [2, 1, 1, 0]);
        // Only the last packet of flow 0 is queued; two packets of flow 1 are left.
        fill(&mut srpt, &[(1, 2)]);
        assert_eq!(flows(&mut srpt, 3), [0, 1, 3]);
    }

    #[test]
    fn with_the_least_packet_a_flow_that_has_sent_nearly_all_goes_first_and_stays_in_order() {
        let mut srpt = srpt(Left::LeastPacket);
        fill(&mut srpt, &[(3, 0), (0, 0), (1, 0), (1, 1), (2, 0)]);
        assert_eq!(flows(&mut srpt, 3), [2, 1, 1]);
        // Flow 0 has sent nine tenths: its last packet has a smaller remaining size than flow 1,
        // and its first packet leaves first.
        fill(&mut srpt, &[(1, 2), (0, 9)]);
        let first = srpt.pop().unwrap();
        assert_eq!((first.packet.flow, psn(&first.packet)), (FlowId(0), 0));
        assert_eq!(flows(&mut srpt, 3), [0, 1, 3]);
    }

    #[test]
    fn of_as_much_left_the_first_that_came_goes_first() {
        let mut srpt = srpt(Left::FirstPacket);
        // 4 packets are left of flows 1 and 0.
        fill(&mut srpt, &[(1, 0), (0, 6)]);
        assert_eq!(flows(&mut srpt, 2), [1, 0]);
    }

    #[test]
    fn the_packet_with_the_most_left_gives_way() {
        let mut srpt = srpt(Left::FirstPacket);
        fill(&mut srpt, &[(0, 3), (0, 2), (1, 0)]);
        let mut out = |flow, number| {
            let out = srpt.push_out(&packet(flow, number, 1_086).packet, Instant::ZERO);
            assert!(srpt.is_consistent());
            out.map(|queued| (queued.packet.flow.0, psn(&queued.packet)))
        };
        // The arriving packet has a larger or equal remaining size.
        assert_eq!(out(0, 1), None);
        assert_eq!(out(0, 2), None);
        assert_eq!(out(2, 0), Some((0, 2)));
        assert_eq!(out(2, 0), Some((0, 3)));
        assert_eq!(out(1, 0), None);
    }
}
