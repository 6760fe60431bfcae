//! Small networks whose full frames are 100 ns long at 100 Gb/s and 1 us at 10 Gb/s, and every frame that
//! is put on a link in them.

use super::{GBPS_100, NS_200, flow, plain};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::Sent;
use floodway_sim::host::Profile;
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};
use std::sync::atomic::AtomicBool;

/// What a datagram carries that is a full frame: with 46 bytes of headers and 20 of preamble and gap it is
/// 1250 bytes on the wire.
pub const PAYLOAD: u64 = 1_184;
/// The same as queues count it.
pub const FRAME: u64 = PAYLOAD + 46;
/// From the first bit of a full frame to its arrival at the other end of a link of 100 Gb/s.
pub const WAY_NS: u64 = 300;

/// Hosts 0..n on one switch, node n, the last of them with 10 Gb/s.
pub fn slow_star(hosts: u32) -> Graph {
    star_to(hosts, Rate::from_gbps(10))
}

/// Hosts 0..n on one switch, node n, the last of them with this rate.
pub fn star_to(hosts: u32, last: Rate) -> Graph {
    let mut graph = Graph::default();
    for host in 0..hosts {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for host in 0..hosts {
        let rate = if host + 1 == hosts { last } else { GBPS_100 };
        graph.link(NodeId(host), switch, rate, NS_200);
    }
    graph
}

/// So many full frames back to back, the first of which arrives at the switch at this time.
pub fn burst(src: u32, dst: u32, frames: u64, at_ns: u64) -> FlowSpec {
    flow(src, dst, frames * PAYLOAD, at_ns - WAY_NS)
}

/// Datagrams with so much in each.
pub fn datagrams_of(payload: u64, ecn: udp::Field) -> Profile {
    let udp = udp::Spec { payload: Bytes(payload), ecn };
    Profile {
        transport: transport::Spec::Udp(udp),
        congestion: congestion::Spec::LineRate(Default::default()),
        application: None,
        dscp: None,
    }
}

/// Full frames: those of workload 0 back to back, those of workload 1 5 us apart.
pub fn full_frames(graph: Graph, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = plain(graph, flows);
    spec.profiles = vec![datagrams_of(PAYLOAD, udp::Field::NotEct); 2];
    // 10000 bits in 5 us.
    let rate = Rate::from_gbps(2);
    spec.profiles[1].congestion = congestion::Spec::ConstantRate(constant_rate::Spec { rate });
    spec
}

/// All frames in the order in which their transmission begins. Nothing may go wrong.
pub fn traced(spec: Spec) -> (Outcome, Vec<Sent>) {
    let stop = AtomicBool::new(false);
    let run = Run { threads: 1, stop: &stop, watch: &|_| {} };
    let (outcome, mut sent) = Simulation::new(spec).run_traced(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    sent.sort_by_key(|frame| (frame.at, frame.to.0));
    (outcome, sent)
}

/// The data frames of a flow that are sent to a node.
pub fn data_to(sent: &[Sent], node: u32, flow: u32) -> impl Iterator<Item = &Sent> {
    let of_flow = sent.iter().filter(move |frame| frame.packet.flow.0 == flow);
    of_flow.filter(move |frame| frame.to.0.0 == node && frame.packet.is_data())
}

/// When the transmission of a frame begins, in picoseconds.
pub fn begun(frame: &Sent) -> u64 {
    frame.at.0
}

/// So long in picoseconds.
pub const fn ns(ns: u64) -> u64 {
    ns * 1_000
}

/// The same as a duration.
pub const fn for_ns(ns: u64) -> Duration {
    Duration::from_ns(ns)
}
