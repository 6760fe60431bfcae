//! Which egress queue a frame goes to.
//!
//! Only data is classified here: feedback and notifications have the control queue above all
//! data queues, or the data queue that `switch.feedback` gives them. Congestion Isolation may then move a packet from its monitored to its congesting
//! queue (`flow_control::congestion_isolation`).

mod destination_hash;
pub mod ecn;
pub mod mice_elephants;
mod single;

use floodway_model::{Dscp, Ecn, FlowSpec, NodeId};

floodway_model::family! {
    /// How data is assigned to egress queues.
    "switch.classify":
    Single = "single" (single::Spec): "All data goes to one queue.",
    DestinationHash = "destination_hash" (destination_hash::Spec):
        "Flows are spread over all data queues by a hash of their destination.",
    MiceElephants = "mice_elephants" (mice_elephants::Spec):
        "Short flows, which hosts mark by their DSCP, have a queue of their own.",
    Ecn = "ecn" (ecn::Spec):
        "Low latency and classic traffic, told apart by the ECN field, have a queue each (DualQ).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Single(single::Spec::default())
    }
}

impl Spec {
    /// What the sending host writes into the DSCP field of a flow's packets.
    pub fn dscp(&self, flow: &FlowSpec) -> Dscp {
        match self {
            Self::Single(_) | Self::DestinationHash(_) | Self::Ecn(_) => Dscp::DEFAULT,
            Self::MiceElephants(spec) => spec.dscp(flow),
        }
    }

    /// The data queue, below `queues`, for a packet with this DSCP and this ECN field to `dst`.
    /// Every switch and every NIC asks the same, so that a pause of one class stops one class.
    #[inline]
    pub fn queue(&self, dscp: Dscp, ecn: Ecn, dst: NodeId, queues: u8) -> u8 {
        match self {
            Self::Single(spec) => spec.queue,
            Self::DestinationHash(_) => destination_hash::queue(dst, queues),
            Self::MiceElephants(spec) => spec.queue(dscp, dst, queues),
            Self::Ecn(spec) => spec.queue(ecn),
        }
    }

    /// Whether all packets of a flow go to the same queue, so that they stay in order: what the ECN
    /// field says may differ from packet to packet and changes with a mark.
    pub const fn keeps_order(&self) -> bool {
        match self {
            Self::Single(_) | Self::DestinationHash(_) | Self::MiceElephants(_) => true,
            Self::Ecn(_) => false,
        }
    }
}
