//! Classification: the data queue of each packet.
//!
//! Only data is classified here. Feedback and notifications use the control queue, which has
//! priority over all data queues, or the data queue that `switch.feedback` assigns to them.
//! Congestion Isolation may then move a packet from its monitored queue to its congesting queue
//! (`flow_control::congestion_isolation`).

#[cfg(test)]
mod conformance;
mod destination_hash;
pub mod dscp;
pub mod ecn;
pub mod mice_elephants;
mod single;

use floodway_model::check::Findings;
use floodway_model::{Dscp, Ecn, FlowSpec, NodeId};

use super::check::Facts;

floodway_model::family! {
    /// How data is assigned to egress queues.
    "switch.classify" as Classifier {
        dscp(flow: &FlowSpec) -> Dscp;
        queue(dscp: Dscp, ecn: Ecn, dst: NodeId, queues: u8) -> u8;
        keeps_order() -> bool;
        check_beside(facts: &Facts<'_>, findings: &mut Findings<'_>);
    }
    Single = "single" in single: "All data goes to one queue.",
    DestinationHash = "destination_hash" in destination_hash:
        "Flows are spread over all data queues by a hash of their destination.",
    MiceElephants = "mice_elephants" in mice_elephants:
        "Short flows, which hosts mark by their DSCP, have a queue of their own.",
    Ecn = "ecn" in ecn:
        "Low latency and classic traffic, distinguished by the ECN field, have a queue each (DualQ).",
    Dscp = "dscp" in dscp: "Traffic classes: each DSCP has a queue, as in the maps of switches (RFC 2474).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Single(single::Spec::default())
    }
}

/// Assigns packets to data queues. Classifiers are stateless: every switch and every NIC assigns a
/// packet to the same queue, so that a pause of one class stops that class only.
pub trait Classifier {
    /// The DSCP that the sending host writes into the packets of a flow.
    fn dscp(&self, _flow: &FlowSpec) -> Dscp {
        Dscp::DEFAULT
    }

    /// The data queue, below `queues`, of a packet to `dst` with this DSCP and ECN field.
    fn queue(&self, dscp: Dscp, ecn: Ecn, dst: NodeId, queues: u8) -> u8;

    /// Checks that its queues exist, and that it is compatible with the other mechanisms.
    fn check_beside(&self, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// Whether all packets of a flow use the same queue, so that they stay in order. The ECN field
    /// may differ from packet to packet, and marks change it.
    fn keeps_order(&self) -> bool {
        true
    }
}
