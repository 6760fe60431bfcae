//! Properties of every path selection, whatever its parameters.

use floodway_model::random::Stream;
use floodway_model::{Ecn, FlowId, Instant, NodeId, Packet};
use proptest::prelude::*;

use super::{NextHops, Spec, State};
use crate::link::{Link, Transmitter};
use crate::switch::aqm::stand::Stand;
use crate::switch::port::Port;
use crate::switch::{aqm, scheduler};

/// The switch that selects paths, and the number of its ports.
const AT: NodeId = NodeId(100);
const PORTS: u16 = 6;

fn ports() -> Vec<Port> {
    let port = |_| {
        let scheduler = scheduler::State::new(&scheduler::Spec::default(), &Link::PLAIN);
        let aqm = aqm::State::new(&aqm::Spec::default(), 1);
        Port::new(Transmitter::new(Link::PLAIN), [], aqm, scheduler)
    };
    (0..PORTS).map(port).collect()
}

/// Packets: flow, destination, and nanoseconds since the packet before.
fn packets() -> impl Strategy<Value = Vec<(u32, u32, u64)>> {
    prop::collection::vec((0u32..5, 0u32..20, 0u64..1_000_000), 1..200)
}

/// The ports toward destinations with even and odd numbers: two sets of next hops.
fn next_hops(dst: u32) -> (u16, &'static [u16]) {
    if dst.is_multiple_of(2) { (0, &[0, 2, 3]) } else { (1, &[1, 2, 4, 5]) }
}

/// A switch that selects paths as the forwarding code does.
struct Switch {
    spec: Spec,
    state: State,
    ports: Vec<Port>,
    now: Instant,
}

impl Switch {
    fn new(spec: &Spec) -> Self {
        let state = State::new(spec, 1, || Stream::from_seed(7));
        Self { spec: spec.clone(), state, ports: ports(), now: Instant::ZERO }
    }

    fn choose(&mut self, (flow, dst, after): (u32, u32, u64), equal: (u16, &[u16])) -> u16 {
        self.now = Instant(self.now.0 + 1_000 * after);
        let (group, equal) = equal;
        if let Some(choice) = self.spec.by_flow(FlowId(flow), 0, AT, equal.len()) {
            return equal[choice];
        }
        let packet = Packet { flow: FlowId(flow), dst: NodeId(dst), ..Stand::packet(Ecn::NotEct) };
        let hops = NextHops { at: AT, group, equal, ports: &self.ports };
        self.state.choose(&packet, &hops, self.now)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The same packets take the same next hops, and no packet leaves by a port that is not a next
    /// hop.
    #[test]
    fn a_packet_goes_by_a_next_hop(packets in packets()) {
        for spec in Spec::all() {
            let (mut one, mut other) = (Switch::new(&spec), Switch::new(&spec));
            for &packet in &packets {
                let hops = next_hops(packet.1);
                let port = one.choose(packet, hops);
                prop_assert!(hops.1.contains(&port), "{}: {port}", spec.name());
                prop_assert_eq!(other.choose(packet, hops), port, "{}", spec.name());
            }
        }
    }

    /// An algorithm that claims to preserve order sends all packets of a flow by one port.
    #[test]
    fn a_flow_in_order_has_one_path(packets in packets()) {
        for spec in Spec::all().into_iter().filter(Spec::keeps_order) {
            let mut switch = Switch::new(&spec);
            let mut taken = std::collections::BTreeMap::new();
            for &packet in &packets {
                let port = switch.choose(packet, next_hops(packet.1));
                let first = *taken.entry((packet.0, packet.1)).or_insert(port);
                prop_assert_eq!(port, first, "{}", spec.name());
            }
        }
    }

    /// After a change of routes, a port that is no longer a next hop is not used again.
    #[test]
    fn a_lost_next_hop_is_not_taken(packets in packets(), lost in 0usize..3) {
        for spec in Spec::all() {
            let mut switch = Switch::new(&spec);
            for &packet in &packets {
                switch.choose(packet, next_hops(packet.1));
            }
            switch.state.forget();
            for &packet in &packets {
                let (group, equal) = next_hops(packet.1);
                let left: Vec<u16> =
                    equal.iter().enumerate().filter(|hop| hop.0 != lost).map(|hop| *hop.1).collect();
                let port = switch.choose(packet, (group, &left));
                prop_assert!(left.contains(&port), "{}: {port}", spec.name());
            }
        }
    }
}
