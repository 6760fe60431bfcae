//! Small networks for tests.

pub mod overload;
pub mod sending;
pub mod timeline;

use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Duration, FlowSpec, Graph, Instant, NodeId};
use floodway_sim::host::{congestion, transport};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::{self, flow_control};
use floodway_sim::{Outcome, Simulation, Spec};

#[path = "../../src/small.rs"]
mod small;

pub use small::{GBPS_100, NS_200, flow, star};

/// Leaves with `per_leaf` hosts each, joined by spines. Hosts come first, leaf by leaf.
pub fn clos(leaves: u32, spines: u32, per_leaf: u32) -> Graph {
    let mut graph = Graph::default();
    for host in 0..leaves * per_leaf {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let add = |graph: &mut Graph, name: &str, count, tier| -> Vec<NodeId> {
        let kind = NodeKind::Switch { tier };
        (0..count).map(|n| graph.add(format!("{name} {n}"), kind)).collect()
    };
    let leaf_ids = add(&mut graph, "leaf", leaves, 0);
    let spine_ids = add(&mut graph, "spine", spines, 1);
    for (number, &leaf) in leaf_ids.iter().enumerate() {
        for host in 0..per_leaf {
            graph.link(NodeId(number as u32 * per_leaf + host), leaf, GBPS_100, NS_200);
        }
        spine_ids.iter().for_each(|&spine| graph.link(leaf, spine, GBPS_100, NS_200));
    }
    graph
}

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random.
pub fn busy_flows() -> Vec<FlowSpec> {
    let mut flows: Vec<FlowSpec> =
        (4..16).map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0)).collect();
    let mut rng = Stream::named(5, "flows");
    for _ in 0..400 {
        let (src, hop) = (rng.below(32) as u32, 1 + rng.below(31) as u32);
        let bytes = if rng.bernoulli(0.8) { rng.below(50_000) } else { rng.below(2_000_000) };
        let start = Instant(rng.below(1_000_000_000));
        let dst = (src + hop) % 32;
        flows.push(FlowSpec { start, workload: 1, ..flow(src, dst, bytes + 1, 0) });
    }
    flows.sort_by_key(|flow| (flow.start, flow.src));
    flows
}

/// No flow control, no marking, no congestion control, and queues that hold everything; flows are
/// of workloads 0 and 1.
pub fn plain(graph: Graph, flows: Vec<FlowSpec>) -> Spec {
    let mut spec = small::spec(graph, flows, Duration::from_ms(100));
    spec.switch.queue.size = floodway_model::Bytes(1 << 40);
    spec.profiles[0].congestion = congestion::Spec::LineRate(Default::default());
    spec.profiles = vec![spec.profiles[0].clone(); 2];
    spec.measured_until = Duration::from_ms(1_000);
    spec
}

/// Gives the flows of all workloads this congestion control.
pub fn control(spec: &mut Spec, congestion: congestion::Spec) {
    spec.profiles.iter_mut().for_each(|profile| profile.congestion = congestion.clone());
}

/// DCQCN with the timers of a NIC, 4 us and 1 us, and the paper's increases without a byte counter: it
/// reacts within the few microseconds that tests simulate.
pub fn quick_dcqcn() -> congestion::dcqcn::Spec {
    use congestion::dcqcn::{Spec, Variant};
    Spec {
        variant: Variant::Nic,
        cnp_interval: Duration::from_us(4),
        alpha_timer: Duration::from_us(1),
        byte_counter: floodway_model::Bytes(0),
        ..Spec::default()
    }
}

/// Changes the transport of the flows of all workloads.
pub fn rocev2(spec: &mut Spec, change: impl Fn(&mut transport::rocev2::Spec)) {
    for profile in &mut spec.profiles {
        if let transport::Spec::Rocev2(rocev2) = &mut profile.transport {
            change(rocev2);
        }
    }
}

/// Lets packets collect from switches what this congestion control needs.
pub fn collects(spec: &mut Spec, congestion: &congestion::Spec) {
    rocev2(spec, |rocev2| {
        rocev2.telemetry = congestion.needs_telemetry();
        rocev2.csig = congestion.needs_tag().then(Default::default);
    });
}

/// The switch of the Congestion Isolation decks: two queues, CI with CIMs, PFC.
pub fn isolating() -> switch::Spec {
    switch::Spec {
        queue: switch::QueueSpec { count: 2, ..Default::default() },
        flow_control: flow_control::Spec {
            congestion_isolation: Some(Default::default()),
            pfc: Some(prompt_pfc()),
            ..Default::default()
        },
        ..Default::default()
    }
}

/// PFC that pauses by egress queues, as the decks plot it, and that is obeyed at once: so that sums stay
/// short.
pub fn prompt_pfc() -> pfc::Spec {
    let measured_on = pfc::MeasuredOn::EgressQueue;
    pfc::Spec { measured_on, response: Some(Duration::ZERO), ..Default::default() }
}

/// The member of a family with this name and its default parameters.
pub fn by_name<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(serde_json::json!({ name: {} })).unwrap()
}

/// Runs it and insists that nothing went wrong.
pub fn run(spec: Spec) -> Outcome {
    let outcome = Simulation::new(spec).run();
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

pub fn fct_ps(outcome: &Outcome) -> Vec<u64> {
    outcome.table("flows").f64s("fct_ns").iter().map(|ns| (ns * 1e3).round() as u64).collect()
}

/// Packets that switches dropped for this reason.
pub fn drops(outcome: &Outcome, reason: &str) -> u64 {
    let table = outcome.table("drops");
    let rows = table.texts("reason").iter().zip(table.u64s("packets"));
    rows.filter(|row| row.0 == reason).map(|row| row.1).sum()
}
