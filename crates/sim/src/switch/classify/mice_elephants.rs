//! Separate queues for mice and elephants: the three-queue model of the Congestion Isolation
//! simulations, in which mice also have priority (`switch.scheduler.drr.strict`).
//!
//! A switch does not know the size of a flow. The sending host does, and signals it in the DSCP of
//! its packets.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Dscp, Ecn, FlowSpec, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Classifier, destination_hash};
use crate::switch::check::Facts;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Flow size in bytes below which a flow is a mouse; all others are elephants. Default 100KB
    /// (decks).
    pub below: Bytes,
    /// The queue for mice, counted from 0. Default 0.
    pub mice: u8,
    /// The queue for elephants, counted from 0. Default none: elephants are spread over all data
    /// queues except that of the mice, by a hash of their destination as in `destination_hash`.
    pub elephants: Option<u8>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { below: Bytes(100_000), mice: 0, elephants: None }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "smaller flows are mice, for example \"100KB\"";
        findings.positive("below", self.below, why);
        if self.elephants == Some(self.mice) {
            findings.error(
                ["elephants", "mice"],
                format!("queue {} is that of the mice and that of the elephants", self.mice),
                "name two different queues, or choose [switch.classify.single]",
            );
        }
    }
}

impl Classifier for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queue("mice", self.mice, findings);
        if let Some(queue) = self.elephants {
            facts.check_queue("elephants", queue, findings);
        } else if facts.switch.queue.count == 1 {
            findings.error(
                ["/switch.queue.count", ""],
                "there is one data queue, that of the mice, and none for the elephants",
                "raise `switch.queue.count` to at least 2",
            );
        }
    }

    fn dscp(&self, flow: &FlowSpec) -> Dscp {
        if flow.bytes < self.below.0 { Dscp::LOW_LATENCY } else { Dscp::DEFAULT }
    }

    #[inline]
    fn queue(&self, dscp: Dscp, _: Ecn, dst: NodeId, queues: u8) -> u8 {
        if dscp == Dscp::LOW_LATENCY {
            return self.mice;
        }
        self.elephants.unwrap_or_else(|| {
            let other = destination_hash::queue(dst, queues - 1);
            // Skip the queue of the mice.
            other + u8::from(other >= self.mice)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Instant;

    fn flow(bytes: u64) -> FlowSpec {
        let (src, dst) = (NodeId(0), NodeId(1));
        FlowSpec {
            src,
            dst,
            bytes,
            start: Instant::ZERO,
            stop: Instant::NEVER,
            workload: 0,
            in_turn: false,
        }
    }

    #[test]
    fn the_host_tells_mice_by_their_size() {
        let spec = Spec::default();
        assert_eq!(spec.dscp(&flow(99_999)), Dscp::LOW_LATENCY);
        assert_eq!(spec.dscp(&flow(100_000)), Dscp::DEFAULT);
        assert_eq!(spec.dscp(&flow(FlowSpec::PERSISTENT)), Dscp::DEFAULT);
    }

    #[test]
    fn each_kind_has_its_queue() {
        let spec = Spec { mice: 2, elephants: Some(1), ..Spec::default() };
        for host in 0..100 {
            assert_eq!(spec.queue(Dscp::LOW_LATENCY, Ecn::NotEct, NodeId(host), 3), 2);
            assert_eq!(spec.queue(Dscp::DEFAULT, Ecn::NotEct, NodeId(host), 3), 1);
        }
    }

    #[test]
    fn elephants_are_spread_over_the_other_queues() {
        for mice in 0..3 {
            let spec = Spec { mice, ..Spec::default() };
            let mut flows = [0; 3];
            for host in 0..10_000 {
                flows[usize::from(spec.queue(Dscp::DEFAULT, Ecn::NotEct, NodeId(host), 3))] += 1;
            }
            assert_eq!(flows[usize::from(mice)], 0);
            // Binomial with 1/2: five standard deviations are 250.
            assert!(
                flows.iter().filter(|&&n| (4_750..5_250).contains(&n)).count() == 2,
                "{flows:?}"
            );
        }
    }
}
