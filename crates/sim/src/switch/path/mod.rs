//! Path selection: which of several equal-cost next hops a packet takes.

mod check;
#[cfg(test)]
mod conformance;
pub mod d_mod_k;
pub mod ecmp;
pub mod flowlet;
pub mod least_loaded;
pub mod spray;

use floodway_model::random::Stream;
use floodway_model::{FlowId, Instant, NodeId, Packet};

use super::port::Port;

floodway_model::family! {
    /// Load balancing over equal-cost paths.
    "switch.path" with PathChoice {
        new(tier: u8, rng: impl FnOnce() -> Stream);
        parameters {
            by_flow(flow: FlowId, entropy: u16, at: NodeId, count: usize) -> Option<usize>;
            keeps_order() -> bool;
            sprays() -> bool;
        }
        state {}
        mut state {
            choose(packet: &Packet, hops: &NextHops<'_>, now: Instant) -> u16;
            forget();
        }
    }
    Ecmp = "ecmp" in ecmp: "Per flow, by a hash of the flow, the entropy of the packet if it has one, and the switch (RFC 2992).",
    Flowlet = "flowlet" in flowlet:
        "A new random choice when a flow has been silent for a while (LetFlow).",
    Spray = "spray" in spray: "Per packet, at random or round robin.",
    LeastLoaded = "least_loaded" in least_loaded:
        "Per packet, the shortest of a few egress queues (DRILL).",
    DModK = "d_mod_k" in d_mod_k:
        "Per destination, by its number, one host after the other (D-mod-k).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Ecmp(ecmp::Spec::default())
    }
}

/// The equal-cost next hops of a packet at a switch, where there are several.
#[derive(Clone, Copy, Debug)]
pub struct NextHops<'a> {
    /// The switch.
    pub at: NodeId,
    /// The number of the set of next hops, below 65,536; destinations with the same set share it.
    pub group: u16,
    /// The ports that lead to them, at least two.
    pub equal: &'a [u16],
    /// All ports of the switch.
    pub ports: &'a [Port],
}

/// How a switch selects among equal-cost next hops, as its state.
pub trait PathChoice {
    /// Its parameters.
    type Spec;

    /// Which of `count` equal-cost next hops a packet of `flow` with this
    /// [entropy](Packet::entropy) takes at switch `at`, if these alone determine it. Then
    /// [`choose`](Self::choose) is not called, and neighbors can compute the path.
    #[inline]
    fn by_flow(
        _spec: &Self::Spec,
        _flow: FlowId,
        _entropy: u16,
        _at: NodeId,
        _count: usize,
    ) -> Option<usize> {
        None
    }

    /// Whether all packets of a flow with the same entropy take one path.
    fn keeps_order(_spec: &Self::Spec) -> bool {
        false
    }

    /// Whether any two packets of a flow may take different paths.
    fn sprays(_spec: &Self::Spec) -> bool {
        false
    }

    /// Initial state for a switch of this tier, where tier 0 is next to the hosts. `rng` is used
    /// for nothing else.
    fn new(spec: &Self::Spec, tier: u8, rng: impl FnOnce() -> Stream) -> Self;

    /// The port by which a packet leaves the switch.
    fn choose(&mut self, packet: &Packet, hops: &NextHops<'_>, now: Instant) -> u16;

    /// The sets of next hops have changed. A port that is no longer a next hop must not be used
    /// again.
    fn forget(&mut self) {}
}
