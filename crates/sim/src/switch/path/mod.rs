//! Which of the equal next hops a packet takes.

pub mod d_mod_k;
pub mod ecmp;
pub mod flowlet;
pub mod least_loaded;
pub mod spray;

use floodway_model::random::Stream;
use floodway_model::{FlowId, Instant, NodeId, Packet};

use super::port::Port;

floodway_model::family! {
    /// How equal paths are shared.
    "switch.path":
    Ecmp = "ecmp" (ecmp::Spec): "Per flow, by a hash of the flow and the switch (RFC 2992).",
    Flowlet = "flowlet" (flowlet::Spec):
        "A new random choice when a flow has been silent for a while (LetFlow).",
    Spray = "spray" (spray::Spec): "Per packet, at random or in turn.",
    LeastLoaded = "least_loaded" (least_loaded::Spec):
        "Per packet, the shortest of a few egress queues (DRILL).",
    DModK = "d_mod_k" (d_mod_k::Spec):
        "Per destination, by its number, one host after the other (D-mod-k).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Ecmp(ecmp::Spec::default())
    }
}

impl Spec {
    /// Which of `count` equal next hops `flow` takes at the switch `at`, if nothing else decides
    /// that.
    #[inline]
    pub fn by_flow(&self, flow: FlowId, at: NodeId, count: usize) -> Option<usize> {
        match self {
            Self::Ecmp(spec) if !spec.weighted => Some(ecmp::choose(flow, at, count)),
            _ => None,
        }
    }

    /// Whether all packets of a flow take one path.
    pub const fn keeps_order(&self) -> bool {
        matches!(self, Self::Ecmp(_) | Self::DModK(_))
    }
}

/// What a switch remembers for it.
#[derive(Debug)]
pub enum State {
    /// Nothing.
    Ecmp,
    /// See [`flowlet`].
    Flowlet(flowlet::State),
    /// See [`spray`].
    Spray(spray::State),
    /// See [`least_loaded`].
    LeastLoaded(least_loaded::State),
    /// See [`d_mod_k`]; the tier of the switch.
    DModK(u8),
}

impl State {
    /// Of a switch of this tier that has not forwarded anything; `chance` is for nothing else.
    pub fn new(spec: &Spec, tier: u8, chance: impl FnOnce() -> Stream) -> Self {
        match spec {
            Spec::Ecmp(_) => Self::Ecmp,
            Spec::Flowlet(spec) => Self::Flowlet(flowlet::State::new(spec, chance())),
            Spec::Spray(_) => Self::Spray(spray::State::new(chance())),
            Spec::LeastLoaded(_) => Self::LeastLoaded(least_loaded::State::new(chance())),
            Spec::DModK(_) => Self::DModK(tier),
        }
    }

    /// The sets of next hops are others from now on.
    pub fn forget(&mut self) {
        match self {
            // A port that is no next hop any more is not taken again.
            Self::Ecmp | Self::Flowlet(_) | Self::DModK(_) => {}
            Self::Spray(state) => state.forget(),
            Self::LeastLoaded(state) => state.forget(),
        }
    }

    /// The port by which a packet leaves the switch `at`, where several of its `ports` are next
    /// hops: those in `equal`, which is the set number `group`.
    pub fn choose(
        &mut self,
        spec: &Spec,
        (packet, at): (&Packet, NodeId),
        (equal, group): (&[u16], u16),
        ports: &[Port],
        now: Instant,
    ) -> u16 {
        let port = |port: u16| &ports[usize::from(port)];
        match (self, spec) {
            (Self::Flowlet(state), Spec::Flowlet(spec)) => {
                state.choose(spec, (packet.flow, packet.dst), equal, now)
            }
            (Self::Spray(state), Spec::Spray(spec)) => state.choose(spec, group, equal),
            (Self::LeastLoaded(state), Spec::LeastLoaded(spec)) => {
                state.choose(spec, group, equal, |number| port(number).time_to_drain(now))
            }
            (Self::DModK(tier), _) => equal[d_mod_k::choose(packet.dst, *tier, equal.len())],
            _ => {
                let rates = equal.iter().map(|&number| port(number).tx.link().rate);
                equal[ecmp::choose_weighted(packet.flow, at, rates)]
            }
        }
    }
}
