//! Spreads flows over all data queues by a hash of their destination: the baseline of the
//! Congestion Isolation simulations ("flows are mapped to one of the two queues by hash of
//! destination IP").

use floodway_model::check::Check;
use floodway_model::random::mix;
use floodway_model::{Dscp, Ecn, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Classifier;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

impl Classifier for Spec {
    #[inline]
    fn queue(&self, _: Dscp, _: Ecn, dst: NodeId, queues: u8) -> u8 {
        queue(dst, queues)
    }
}

/// A queue below `queues`, the same at every switch and NIC.
#[inline]
pub fn queue(dst: NodeId, queues: u8) -> u8 {
    let hash = mix(u64::from(dst.0) ^ SALT) >> 32;
    ((hash * u64::from(queues)) >> 32) as u8
}

/// Makes this hash independent of the one that selects paths.
const SALT: u64 = 0x636c_6173_7369_6679;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_spread_evenly() {
        let second = (0..10_000).filter(|&host| queue(NodeId(host), 2) == 1).count();
        // Binomial: five standard deviations are 250.
        assert!((4_750..5_250).contains(&second), "{second}");
    }
}
