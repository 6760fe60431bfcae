//! Equal-cost multipath by hash: all packets of a flow take one path (RFC 2992), unless their sender
//! gives them entropy, as Ultra Ethernet does. Each switch hashes differently, so that the choices at
//! successive tiers are independent.

use floodway_model::check::Check;
use floodway_model::random::{Stream, mix};
use floodway_model::{FlowId, Instant, NodeId, Packet, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NextHops, PathChoice};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Whether a port receives flows in proportion to its link rate (WCMP, Zhou et al., EuroSys
    /// 2014). Default false: all ports receive equally many.
    pub weighted: bool,
}

impl Check for Spec {}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl PathChoice for Spec {
    type Spec = Self;

    #[inline]
    fn by_flow(spec: &Self, flow: FlowId, entropy: u16, at: NodeId, count: usize) -> Option<usize> {
        (!spec.weighted).then(|| choose((flow, entropy), at, count))
    }

    fn keeps_order(_: &Self) -> bool {
        true
    }

    fn new(spec: &Self, _: u8, _: impl FnOnce() -> Stream) -> Self {
        spec.clone()
    }

    fn choose(&mut self, packet: &Packet, hops: &NextHops<'_>, _: Instant) -> u16 {
        let rates = hops.equal.iter().map(|&port| hops.ports[usize::from(port)].tx.link().rate);
        hops.equal[choose_weighted((packet.flow, packet.entropy()), hops.at, rates)]
    }
}

/// What is hashed besides the switch: the flow, and the entropy of the packet, 0 without it.
type Label = (FlowId, u16);

/// Which of `count` equal-cost next hops a packet takes at switch `at`.
#[inline]
fn choose(label: Label, at: NodeId, count: usize) -> usize {
    ((u64::from(hash(label, at)) * count as u64) >> 32) as usize
}

/// Which of the ports with these rates a packet takes at switch `at`; 0 if there are none.
fn choose_weighted(label: Label, at: NodeId, rates: impl Iterator<Item = Rate> + Clone) -> usize {
    let total: u128 = rates.clone().map(|rate| u128::from(rate.0)).sum();
    let drawn = (u128::from(hash(label, at)) * total) >> 32;
    let mut sum = 0;
    rates
        .take_while(|rate| {
            sum += u128::from(rate.0);
            sum <= drawn
        })
        .count()
}

#[inline]
fn hash((flow, entropy): Label, at: NodeId) -> u32 {
    let spread = u64::from(entropy).wrapping_mul(OTHER_ODD);
    mix((u64::from(at.0) << 32 | u64::from(flow.0)).wrapping_mul(ODD) ^ spread) as u32
}

/// Spreads small numbers over all bits before they are mixed.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The same for entropy, so that its sum with a flow is not that of another flow.
const OTHER_ODD: u64 = 0xd1b5_4a32_d192_ed03;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_spread_evenly_and_independently() {
        let mut count = [[0; 4]; 4];
        for flow in 0..16_000 {
            let at = |node| choose((FlowId(flow), 0), NodeId(node), 4);
            count[at(7)][at(8)] += 1;
        }
        // Mean 1000, standard deviation 31. Bounds are five standard deviations.
        assert!(count.as_flattened().iter().all(|n| (845..1155).contains(n)), "{count:?}");
    }

    #[test]
    fn the_entropy_of_a_flow_spreads_it_at_each_switch_independently() {
        for flow in [0, 1, 77].map(FlowId) {
            let mut count = [[0; 4]; 4];
            for entropy in 0..16_000 {
                let at = |node| choose((flow, entropy), NodeId(node), 4);
                count[at(7)][at(8)] += 1;
            }
            // As above.
            assert!(count.as_flattened().iter().all(|n| (845..1155).contains(n)), "{count:?}");
        }
    }

    #[test]
    fn weights_are_the_rates() {
        let rates = [10, 40, 50].map(Rate::from_gbps);
        let mut count = [0; 3];
        for flow in 0..10_000 {
            count[choose_weighted((FlowId(flow), 0), NodeId(7), rates.into_iter())] += 1;
        }
        // Standard deviations 30, 49 and 50. Bounds are five of them.
        let near = |count: i32, mean: i32| (count - mean).abs() < 250;
        assert!(
            near(count[0], 1_000) && near(count[1], 4_000) && near(count[2], 5_000),
            "{count:?}"
        );
    }

    #[test]
    fn equal_weights_are_none() {
        let rates = [Rate::from_gbps(25); 5];
        for flow in (0..1_000).map(FlowId) {
            let weighted = choose_weighted((flow, 9), NodeId(3), rates.into_iter());
            assert_eq!(weighted, choose((flow, 9), NodeId(3), 5));
        }
    }
}
