//! D-mod-k (Zahavi, Johnson, Kerbyson and Lang, Concurrency and Computation 2010): the destination
//! decides the way, so that nothing is left to chance and a way can be told beforehand. Of k ways up,
//! a leaf takes number d mod k for the host d; a switch that is t tiers above it leaves out what the
//! tiers below have decided, and takes number d / k^t mod k. All that goes to one host comes down
//! one way, and neighbouring hosts are reached by different ones.
//!
//! Hosts have the numbers of their order in the network. In networks whose tiers have different
//! numbers of ways up, k is that of the switch itself.

use floodway_model::check::Check;
use floodway_model::random::Stream;
use floodway_model::{Instant, NodeId, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {}

impl Check for Spec {}

/// It remembers the tier of its switch.
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

/// Which of `count` equal next hops leads to `dst` at a switch of this tier, 0 next to the hosts.
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
        // To the base of 4, host 27 is 123.
        assert_eq!([0, 1, 2, 3].map(|tier| choose(NodeId(27), tier, 4)), [3, 2, 1, 0]);
        // To the base of 3, hosts 5 to 8 are 12, 20, 21 and 22.
        assert_eq!([5, 6, 7, 8].map(|host| choose(NodeId(host), 0, 3)), [2, 0, 1, 2]);
        assert_eq!([5, 6, 7, 8].map(|host| choose(NodeId(host), 1, 3)), [1, 2, 2, 2]);
        // More tiers than digits fit into a number.
        assert_eq!(choose(NodeId(u32::MAX), u8::MAX, 64), 0);
    }
}
