//! Equal-cost multipath by hash: all packets of a flow take one path (RFC 2992). Each switch
//! hashes differently, so that the choices at successive tiers are independent.

use floodway_model::random::mix;
use floodway_model::{FlowId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

/// See [`super::Spec::choose`].
#[inline]
pub fn choose(flow: FlowId, at: NodeId, count: usize) -> usize {
    let hash = mix((u64::from(at.0) << 32 | u64::from(flow.0)).wrapping_mul(ODD)) as u32;
    ((u64::from(hash) * count as u64) >> 32) as usize
}

/// Spreads small numbers over all bits before they are mixed.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_spread_evenly_and_independently() {
        let mut count = [[0; 4]; 4];
        for flow in 0..16_000 {
            let at = |node| choose(FlowId(flow), NodeId(node), 4);
            count[at(7)][at(8)] += 1;
        }
        // Mean 1000, standard deviation 31: five of them.
        assert!(count.as_flattened().iter().all(|n| (845..1155).contains(n)), "{count:?}");
    }
}
