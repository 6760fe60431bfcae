//! Which of the equal next hops a packet takes.

mod ecmp;

use floodway_model::{FlowId, NodeId};

floodway_model::family! {
    /// How equal paths are shared.
    "switch.path":
    Ecmp = "ecmp" (ecmp::Spec): "Per flow, by a hash of the flow and the switch (RFC 2992).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Ecmp(ecmp::Spec::default())
    }
}

impl Spec {
    /// Which of `count` equal next hops `flow` takes at the switch `at`.
    #[inline]
    pub fn choose(&self, flow: FlowId, at: NodeId, count: usize) -> usize {
        match self {
            Self::Ecmp(_) => ecmp::choose(flow, at, count),
        }
    }
}
