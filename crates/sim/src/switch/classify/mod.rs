//! Which egress queue a frame goes to.
//!
//! Only data is classified here: feedback and notifications have the control queue above all
//! data queues. Congestion Isolation may then move a packet from its monitored to its congesting
//! queue (`flow_control::congestion_isolation`).

mod destination_hash;
mod single;

floodway_model::family! {
    /// How data is assigned to egress queues.
    "switch.classify":
    Single = "single" (single::Spec): "All data goes to one queue.",
    DestinationHash = "destination_hash" (destination_hash::Spec):
        "Flows are spread over all data queues by a hash of their destination.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Single(single::Spec::default())
    }
}

impl Spec {
    /// The data queue, below `queues`, for a packet to `dst`.
    #[inline]
    pub fn queue(&self, dst: floodway_model::NodeId, queues: u8) -> u8 {
        match self {
            Self::Single(spec) => spec.queue,
            Self::DestinationHash(_) => destination_hash::queue(dst, queues),
        }
    }

    /// The highest queue that it names, for validation.
    pub fn highest_queue(&self) -> u8 {
        match self {
            Self::Single(spec) => spec.queue,
            Self::DestinationHash(_) => 0,
        }
    }
}
