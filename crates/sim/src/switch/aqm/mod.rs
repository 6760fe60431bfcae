//! Active queue management: what happens to a packet because of the queue it joins.

pub mod drop_tail;
pub mod ramp;
pub mod step;

use floodway_model::random::Stream;

floodway_model::family! {
    /// How an egress queue tells its senders of congestion.
    "switch.aqm":
    DropTail = "drop_tail" (drop_tail::Spec): "Takes everything until the queue is full.",
    Ramp = "ramp" (ramp::Spec):
        "Marks by instantaneous depth, from 0 at a low to a maximum at a high threshold (WRED/ECN).",
    Step = "step" (step::Spec): "Marks every packet above one threshold of the depth (DCTCP).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::DropTail(drop_tail::Spec::default())
    }
}

impl Spec {
    /// Whether congestion is to be told to the sender of a packet that joins a queue of `backlog`
    /// bytes (without itself): a mark if it is ECN-capable, else a drop.
    #[inline]
    pub fn congested(&self, backlog: u64, chance: &mut Stream) -> bool {
        match self {
            Self::DropTail(_) => false,
            Self::Ramp(ramp) => ramp.selects(backlog, chance),
            Self::Step(step) => step.selects(backlog),
        }
    }
}
