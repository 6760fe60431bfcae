//! Small simulations for tests, of this crate and, by path, of the `tests` folder.

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, FlowSpec, Graph, Instant, NodeId, Progressions, Rate, SharedList};
use floodway_sim::{Spec, host, switch};

/// Rate and delay of all links.
pub const GBPS_100: Rate = Rate::from_gbps(100);
pub const NS_200: Duration = Duration::from_ns(200);

/// Hosts 0 to n - 1 on one switch, which is node n.
pub fn star(hosts: u32) -> Graph {
    let mut graph = Graph::default();
    (0..hosts).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    (0..hosts).for_each(|host| graph.link(NodeId(host), switch, GBPS_100, NS_200));
    graph
}

/// A flow of workload 0.
pub fn flow(src: u32, dst: u32, bytes: u64, start_ns: u64) -> FlowSpec {
    FlowSpec {
        src: NodeId(src),
        dst: NodeId(dst),
        bytes,
        start: Instant(start_ns * 1_000),
        stop: Instant::NEVER,
        workload: 0,
        in_turn: false,
    }
}

/// One workload, with default switches and hosts, measured from beginning to end.
pub fn spec(graph: Graph, flows: Vec<FlowSpec>, end: Duration) -> Spec {
    Spec {
        graph,
        switch: switch::Spec::default(),
        host: host::Spec::default(),
        profiles: vec![host::Profile::default()],
        flows: flows.into(),
        triggers: Progressions::default(),
        reuses: SharedList::default(),
        programs: SharedList::default(),
        operations: SharedList::default(),
        wire_overhead: 20,
        end,
        warmup: Duration::ZERO,
        measured_until: end,
        awaited: Vec::new(),
        sample_interval: Duration::from_us(10),
        flow_samples: None,
        departures: false,
        latencies: false,
        record: None,
        explained: None,
        sampled: None,
        failures: Vec::new(),
        losses: Vec::new(),
        errors: Vec::new(),
        paces: Vec::new(),
        changes: Vec::new(),
        kernels: Vec::new(),
        seed: 1,
    }
}
