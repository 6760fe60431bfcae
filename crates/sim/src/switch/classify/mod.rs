//! Which egress queue a frame goes to.
//!
//! Only data is classified here: feedback and notifications have the control queue above all
//! data queues, or the data queue that `switch.feedback` gives them. Congestion Isolation may then move a
//! packet from its monitored to its congesting queue (`flow_control::congestion_isolation`).

#[cfg(test)]
mod conformance;
mod destination_hash;
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
        "Low latency and classic traffic, told apart by the ECN field, have a queue each (DualQ).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Single(single::Spec::default())
    }
}

/// How packets are assigned to data queues. It remembers nothing: every switch and every NIC assigns a packet
/// to the same queue, so that a pause of one class stops one class.
pub trait Classifier {
    /// What the sending host writes into the DSCP field of a flow's packets.
    fn dscp(&self, _flow: &FlowSpec) -> Dscp {
        Dscp::DEFAULT
    }

    /// The data queue, below `queues`, for a packet with this DSCP and this ECN field to `dst`.
    fn queue(&self, dscp: Dscp, ecn: Ecn, dst: NodeId, queues: u8) -> u8;

    /// Whether there are the queues that it assigns packets to, and it goes with what else is chosen.
    fn check_beside(&self, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// Whether all packets of a flow go to the same queue, so that they stay in order: what the ECN
    /// field says may differ from packet to packet and changes with a mark.
    fn keeps_order(&self) -> bool {
        true
    }
}
