//! Flow queueing (RFC 8290, without CoDel): every flow has a queue of its own, served by deficit
//! round robin ([`flows`](super::flows)). [`fq_codel`](super::fq_codel) is flow queueing with CoDel.
//!
//! Unlike in RFC 8290, flows are distinguished exactly unless `queues` is set, and one packet at a
//! time is dropped until there is room, where the RFC and Linux drop up to half of that flow's
//! queue, at most 64 packets.

use floodway_model::Bytes;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::{Flows, PerFlow};
use crate::switch::mechanism::Site;

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
        check_quantum(self.quantum, findings);
        findings.range("queues", self.queues, 1.., "without it every flow has a queue of its own");
    }
}

/// A quantum is counted in whole frames; larger values make no sense.
const LARGEST_QUANTUM: Bytes = Bytes(1_000_000_000);

/// Checks the field `quantum` of a discipline.
pub fn check_quantum(quantum: Bytes, findings: &mut Findings<'_>) {
    findings.range("quantum", quantum, Bytes(1)..=LARGEST_QUANTUM, "a full frame, 1514B, is usual");
}

/// The flows of one data queue.
pub type Fq = Flows<NoAqm>;

/// Flow queues without an AQM.
#[derive(Debug)]
pub struct NoAqm;

impl PerFlow for NoAqm {
    type State = ();
    const LASTS: bool = false;
}

impl Spec {
    /// Initial state of a data queue.
    pub fn build(&self, site: &Site<'_>, queue: usize) -> Fq {
        Fq::new(NoAqm, self.quantum, self.queues, site, queue)
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::Instant;
    use floodway_model::random::Stream;

    use super::*;
    use crate::switch::discipline::Discipline;
    use crate::switch::discipline::stand::{flows, packet};
    use crate::switch::mechanism::SitePort;

    fn fq(quantum: u64) -> Fq {
        let spec = Spec { quantum: Bytes(quantum), queues: None };
        spec.build(&Site::with_ports("s", 1, &[SitePort::HOST]), 0)
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
            let out = fq.push_out(&packet(flow, 0, bytes).packet, Instant::ZERO);
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
        let mut fq = spec.build(&Site::with_ports("s", 1, &[SitePort::HOST]), 0);
        fill(&mut fq, &[(1, 100), (2, 100), (2, 100), (1, 100)]);
        assert_eq!(flows(&mut fq, 4), [1, 2, 2, 1]);
    }
}
