//! D-mod-k (Zahavi, Johnson, Kerbyson and Lang, Concurrency and Computation 2010): the destination
//! determines the path, which is deterministic and can be computed in advance. Of k uplinks, a leaf
//! uses number d mod k for host d. A switch t tiers above the leaves ignores the digits that the
//! tiers below have used, and takes number d / k^t mod k. All traffic to one host descends on one
//! path, and neighboring hosts are reached on different ones.
//!
//! Hosts are numbered by their order in the network. If the tiers have different numbers of
//! uplinks, k is that of the switch itself.

use floodway_model::check::Check;
use floodway_model::random::Stream;
use floodway_model::{Instant, NodeId, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// State: the tier of the switch.
#[derive(Debug)]
pub struct State {
    tier: u8,
}

impl PathChoice for State {
    type Spec = Spec;

    fn keeps_order(_: &Spec) -> bool {
        true
    }

    fn new(_: &Spec, tier: u8, _: impl FnOnce() -> Stream) -> Self {
        Self { tier }
    }

    fn choose(&mut self, packet: &Packet, hops: &NextHops<'_>, _: Instant) -> u16 {
        hops.equal[choose(packet.dst, self.tier, hops.equal.len())]
    }
}

/// Which of `count` equal-cost next hops leads to `dst` at a switch of this tier; tier 0 is next to
/// the hosts.
#[inline]
fn choose(dst: NodeId, tier: u8, count: usize) -> usize {
    let decided_below = count.saturating_pow(tier.into());
    dst.index() / decided_below % count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_takes_the_last_digit_and_the_tier_above_the_one_before() {
        // In base 4, host 27 is 123.
        assert_eq!([0, 1, 2, 3].map(|tier| choose(NodeId(27), tier, 4)), [3, 2, 1, 0]);
        // In base 3, hosts 5 to 8 are 12, 20, 21 and 22.
        assert_eq!([5, 6, 7, 8].map(|host| choose(NodeId(host), 0, 3)), [2, 0, 1, 2]);
        assert_eq!([5, 6, 7, 8].map(|host| choose(NodeId(host), 1, 3)), [1, 2, 2, 2]);
        // More tiers than a number has digits.
        assert_eq!(choose(NodeId(u32::MAX), u8::MAX, 64), 0);
    }
}
