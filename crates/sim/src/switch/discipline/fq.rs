//! Flow queueing (RFC 8290, without CoDel): every flow has a queue of its own, served by deficit
//! round robin with signed deficits. A flow that is new, or returns after its queue was empty for a
//! round, goes before the others for one quantum. If there is no room, the flow with the most bytes
//! loses the packet at the head of its queue (section 4.1).
//!
//! Unlike in RFC 8290, flows are distinguished exactly unless `queues` is set, and one packet at a
//! time is dropped until there is room, where the RFC and Linux drop up to half of that flow's
//! queue, at most 64 packets.

use std::any::Any;
use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::random::{Stream, mix};
use floodway_model::{Bytes, Instant, Packet};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Discipline;
use crate::link::Transmitter;
use crate::switch::mechanism::Site;
use crate::switch::queue::Queued;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Quantum: bytes of frames that a flow may send per round, at least 1. Default 1514B (RFC
    /// 8290, section 5.2.4: the MTU of Ethernet with its header).
    pub quantum: Bytes,
    /// Number of queues into which flows are hashed, with a different hash at every port. Flows
    /// that collide share a queue and its quantum. Default none: one queue per flow. RFC 8290 and
    /// Linux have 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { quantum: Bytes(1_514), queues: None }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "a full frame, 1514B, is usual";
        findings.range("quantum", self.quantum, Bytes(1)..=LARGEST_QUANTUM, why);
        findings.range("queues", self.queues, 1.., "without it every flow has a queue of its own");
    }
}

/// A quantum is counted in whole frames; larger values make no sense.
const LARGEST_QUANTUM: Bytes = Bytes(1_000_000_000);

/// The flows of one data queue.
#[derive(Debug)]
pub struct Fq {
    quantum: i64,
    queues: Option<u32>,
    /// Seed of the hash.
    seed: u64,
    /// Flows that are in one of the lists, by the number of their queue. Never iterated.
    flows: FxHashMap<u32, Flow>,
    /// New flows, which go first.
    new: VecDeque<u32>,
    /// Flows that have been served.
    old: VecDeque<u32>,
}

#[derive(Debug)]
struct Flow {
    packets: VecDeque<Queued>,
    bytes: u64,
    /// Bytes that it may still send in this round; if negative, bytes that it sent beyond its
    /// quantum.
    deficit: i64,
}

impl Fq {
    /// Initial state, without flows.
    pub fn new(spec: &Spec, site: &Site<'_>, queue: usize) -> Self {
        let name = format!("flow queueing at {}, queue {queue}", site.name);
        Self {
            quantum: spec.quantum.0.min(i64::MAX as u64) as i64,
            queues: spec.queues,
            seed: Stream::named(site.seed, &name).bits(),
            flows: FxHashMap::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    fn key(&self, packet: &Packet) -> u32 {
        let flow = packet.flow.0;
        self.queues.map_or(flow, |queues| {
            let hash = mix(u64::from(flow) ^ self.seed) >> 32;
            ((hash * u64::from(queues)) >> 32) as u32
        })
    }

    /// The queue that is served now.
    fn first(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front()).copied()
    }

    /// The flow of a packet; added as a new flow if it is in neither list.
    fn listed_flow(&mut self, packet: &Packet) -> &mut Flow {
        let key = self.key(packet);
        self.flows.entry(key).or_insert_with(|| {
            self.new.push_back(key);
            Flow { packets: VecDeque::new(), bytes: 0, deficit: self.quantum }
        })
    }

    fn listed(&self) -> impl Iterator<Item = &u32> {
        self.new.iter().chain(&self.old)
    }

    fn take(&mut self, key: u32) -> Option<Queued> {
        let flow = self.flows.get_mut(&key)?;
        let queued = flow.packets.pop_front()?;
        flow.bytes -= u64::from(queued.packet.bytes);
        Some(queued)
    }
}

impl Discipline for Fq {
    /// The flow is listed as served, which matters if more of it arrives before the wire is free
    /// again.
    fn passes(&mut self, packet: &mut Packet, _: Instant, _: &mut Stream) -> bool {
        self.listed_flow(packet);
        true
    }

    fn push(&mut self, queued: Queued, _: Instant, _: &mut Stream) {
        let flow = self.listed_flow(&queued.packet);
        flow.bytes += u64::from(queued.packet.bytes);
        flow.packets.push_back(queued);
    }

    /// RFC 8290, section 4.2.
    fn settle(&mut self, _: Instant) -> Instant {
        while let Some(key) = self.first() {
            let flow = self.flows.get_mut(&key).expect("a listed flow is there");
            let is_new = !self.new.is_empty();
            if flow.deficit > 0 && !flow.packets.is_empty() {
                break;
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                self.old.push_back(key);
            } else if is_new {
                self.old.push_back(key);
            } else {
                self.flows.remove(&key);
            }
        }
        Instant::NEVER
    }

    fn head(&self) -> Option<&Queued> {
        self.flows[&self.first()?].packets.front()
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let flow = self.flows.get_mut(&self.first()?)?;
        flow.packets.front_mut().map(|queued| &mut queued.packet)
    }

    fn pop(&mut self) -> Option<Queued> {
        // Discarded packets are popped without a call of `settle`.
        let waits = |key: &u32| !self.flows[key].packets.is_empty();
        let key = self.first().filter(waits).or_else(|| self.listed().copied().find(waits))?;
        self.take(key)
    }

    /// A packet dropped instead of being sent does not count toward its flow's deficit.
    fn on_sent(&mut self, packet: &Packet, _: &Transmitter, _: Instant) {
        let key = self.key(packet);
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.deficit -= i64::from(packet.bytes);
        }
    }

    fn push_out(&mut self, packet: &Packet) -> Option<Queued> {
        let own = self.key(packet);
        let bytes = |key: u32| {
            let waiting = self.flows.get(&key).map_or(0, |flow| flow.bytes);
            waiting + if key == own { u64::from(packet.bytes) } else { 0 }
        };
        // On a tie, the flow that is served first; the packet's own flow only if none of the others
        // ties.
        let mut most = (bytes(own), own);
        for &key in self.listed() {
            if bytes(key) > most.0 {
                most = (bytes(key), key);
            }
        }
        self.take(most.1)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.listed().flat_map(|key| &self.flows[key].packets))
    }

    fn is_consistent(&self) -> bool {
        let sum = |flow: &Flow| flow.packets.iter().map(|q| u64::from(q.packet.bytes)).sum::<u64>();
        self.listed().count() == self.flows.len()
            && self
                .listed()
                .all(|key| self.flows.get(key).is_some_and(|flow| sum(flow) == flow.bytes))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::discipline::stand::{flows, packet};
    use crate::switch::mechanism::SitePort;

    fn fq(quantum: u64) -> Fq {
        let spec = Spec { quantum: Bytes(quantum), queues: None };
        Fq::new(&spec, &Site::with_ports("s", 1, &[SitePort::HOST]), 0)
    }

    fn fill(fq: &mut Fq, packets: &[(u32, u16)]) {
        let mut rng = Stream::named(1, "none");
        for &(flow, bytes) in packets {
            fq.push(packet(flow, 0, bytes), Instant::ZERO, &mut rng);
            assert!(fq.is_consistent());
        }
    }

    /// Rounds computed by hand with a quantum of 1000: flow 1 sends 600 and 600 (200 beyond the
    /// quantum), flow 2 400, 400 and 400 (200 beyond); in the next round each may send 800.
    #[test]
    fn turns_are_by_bytes_and_what_was_too_much_is_kept() {
        let mut fq = fq(1_000);
        fill(&mut fq, &[(1, 600); 5]);
        fill(&mut fq, &[(2, 400); 7]);
        assert_eq!(flows(&mut fq, 12), [1, 1, 2, 2, 2, 1, 1, 2, 2, 1, 2, 2]);
    }

    #[test]
    fn a_new_flow_goes_first_for_one_quantum_only() {
        let mut fq = fq(1_000);
        fill(&mut fq, &[(1, 1_000); 4]);
        fill(&mut fq, &[(2, 1_000); 4]);
        assert_eq!(flows(&mut fq, 3), [1, 2, 1]);
        // It is behind the packet on the wire, and nothing else.
        fill(&mut fq, &[(3, 500), (3, 600), (3, 100)]);
        assert_eq!(flows(&mut fq, 4), [3, 3, 2, 3]);
    }

    /// A flow that sends a packet now and then gains nothing: an empty queue stays listed for a
    /// round.
    #[test]
    fn a_flow_that_was_new_is_old_for_a_round() {
        let mut fq = fq(1_000);
        fill(&mut fq, &[(1, 1_000); 6]);
        fill(&mut fq, &[(2, 100)]);
        assert_eq!(flows(&mut fq, 2), [1, 2]);
        fq.settle(Instant::ZERO);
        fill(&mut fq, &[(2, 100)]);
        assert_eq!(flows(&mut fq, 2), [1, 2]);
        // No packet arrived for a whole round: the flow is removed, and counts as new when it
        // returns.
        assert_eq!(flows(&mut fq, 2), [1, 1]);
        fill(&mut fq, &[(2, 100)]);
        assert_eq!(flows(&mut fq, 2), [2, 1]);
    }

    #[test]
    fn the_flow_with_the_most_bytes_loses_its_first_packet() {
        let mut fq = fq(1_000);
        fill(&mut fq, &[(1, 500), (2, 400), (2, 400), (3, 700)]);
        let mut out = |flow, bytes| {
            let out = fq.push_out(&packet(flow, 0, bytes).packet);
            assert!(fq.is_consistent());
            out.map(|queued| (queued.packet.flow.0, queued.packet.bytes))
        };
        // 800 bytes of flow 2; then 400 of it, 500 of flow 1 and 700 of flow 3.
        assert_eq!(out(4, 100), Some((2, 400)));
        assert_eq!(out(1, 100), Some((3, 700)));
        // With the arriving packet, flow 1 has the most bytes.
        assert_eq!(out(1, 100), Some((1, 500)));
        // A packet larger than the backlog of every other flow is itself dropped.
        assert_eq!(out(9, 1_500), None);
    }

    #[test]
    fn flows_of_one_hash_share_a_queue() {
        let spec = Spec { quantum: Bytes(100), queues: Some(1) };
        let mut fq = Fq::new(&spec, &Site::with_ports("s", 1, &[SitePort::HOST]), 0);
        fill(&mut fq, &[(1, 100), (2, 100), (2, 100), (1, 100)]);
        assert_eq!(flows(&mut fq, 4), [1, 2, 2, 1]);
    }
}
