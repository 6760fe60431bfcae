//! Separate queues for low latency and classic traffic, classified by the ECN field: the classifier
//! of a dual queue (RFC 9332 section 2.3, after "Data center to the home", 2015).
//!
//! Marks change the field that is classified. With `ect1`, a classic packet that was marked goes to
//! the low latency queue of the next switch, and may overtake unmarked packets of its flow; RFC
//! 9331 section 5.1 accepts that. With `ecn_capable`, marks have no effect on classification.

use floodway_model::check::{Check, Findings};
use floodway_model::{Dscp, Ecn, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Classifier;
use crate::switch::check::Facts;

/// The queue for low latency: the first, so that it goes first under strict priority.
pub const LOW_LATENCY: usize = 0;

/// The queue of classic traffic.
pub const CLASSIC: usize = 1;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which packets go to queue 0, the low latency queue; all others go to queue 1. Default `ect1`
    /// (RFC 9331).
    pub low_latency: Scalable,
}

impl Check for Spec {}

/// Which packets are taken to belong to a scalable congestion control, one that needs about the
/// same number of marks per round trip at any rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scalable {
    /// Packets with ECT(1), and those with CE, which may have had ECT(1) (RFC 9331).
    #[default]
    Ect1,
    /// All packets except those with Not-ECT ("Data center to the home", slides 20 to 29).
    EcnCapable,
}

impl Scalable {
    /// Whether a packet with this field is scalable.
    #[inline]
    pub const fn includes(self, ecn: Ecn) -> bool {
        match self {
            Self::Ect1 => matches!(ecn, Ecn::Ect1 | Ecn::Ce),
            Self::EcnCapable => ecn.is_capable(),
        }
    }
}

impl Classifier for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        if facts.switch.queue.count == 1 {
            findings.error(
                ["", "/switch.queue.count"],
                "the ECN field distinguishes two kinds of packets, but there is one data queue (0)",
                "write `switch.queue.count` = 2: queue 0 is for low latency, queue 1 for classic packets",
            );
        }
        if self.low_latency == Scalable::Ect1 && facts.switch.flow_control.pfc.is_some() {
            findings.error(
                ["/switch.flow_control.pfc", ""],
                "a mark moves a classic packet to queue 0 of the next switch, so a pause of class 1 \
                 would not stop what fills that queue",
                "remove [switch.flow_control.pfc], or write low_latency = \"ecn_capable\" in \
                 [switch.classify.ecn]",
            );
        }
    }

    #[inline]
    fn queue(&self, _: Dscp, ecn: Ecn, _: NodeId, _: u8) -> u8 {
        if self.low_latency.includes(ecn) { LOW_LATENCY as u8 } else { CLASSIC as u8 }
    }

    fn keeps_order(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_decides() {
        let fields = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
        let queues = |low_latency| {
            fields.map(|ecn| Spec { low_latency }.queue(Dscp::DEFAULT, ecn, NodeId(0), 2))
        };
        assert_eq!(queues(Scalable::Ect1), [1, 1, 0, 0]);
        assert_eq!(queues(Scalable::EcnCapable), [1, 0, 0, 0]);
    }
}
