//! Marks above one threshold of the instantaneous queue depth, as DCTCP requires of switches
//! (Alizadeh et al., SIGCOMM 2010, section 3.1).

use floodway_model::check::Check;
use floodway_model::{Bytes, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// K: queue depth above which every packet is marked. Default 50KB (Source Flow Control deck:
    /// 1/3 of its bandwidth-delay product).
    pub threshold: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self { threshold: Bytes(50_000) }
    }
}

impl Check for Spec {}

impl Spec {
    /// Whether a packet is marked when it finds `backlog` bytes in the queue.
    #[inline]
    pub fn selects(&self, backlog: u64) -> bool {
        backlog > self.threshold.0
    }
}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;

    fn threshold(spec: &Self) -> Option<(&'static str, Bytes)> {
        Some(("threshold", spec.threshold))
    }

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        Verdict::congested(self.selects(view.backlog(queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_and_not_at_the_threshold() {
        let step = Spec::default();
        assert_eq!([0, 50_000, 50_001].map(|backlog| step.selects(backlog)), [false, false, true]);
    }
}
