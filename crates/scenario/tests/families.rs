//! What holds for every topology and every workload. Each has a sample here, and a member of the catalogue without one
//! fails the test.

use std::collections::HashSet;

use floodway_model::graph::NodeKind;
use floodway_model::{FlowSpec, Graph, Instant, NodeId};
use floodway_scenario::{Overrides, Scenario, catalogue};
use floodway_sim::{Simulation, Spec};

/// Each topology, with parameters, and its numbers of hosts, switches and links, counted on paper.
const TOPOLOGIES: [(&str, &str, [usize; 3]); 9] = [
    ("clos", "leaves = 3\nspines = 2\nhosts_per_leaf = 4", [12, 5, 12 + 6]),
    (
        "fat_tree",
        "pods = 2\nedges_per_pod = 2\naggregations_per_pod = 2\ncores = 4\nhosts_per_edge = 2",
        [8, 4 + 4 + 4, 8 + 8 + 8],
    ),
    ("star", "hosts = 5", [5, 1, 5]),
    ("dumbbell", "left = 3\nright = 2", [5, 2, 5 + 1]),
    ("parking_lot", "switches = 4\nhosts_per_switch = 2", [8, 4, 8 + 3]),
    ("ring", "switches = 4\nhosts_per_switch = 2", [8, 4, 8 + 4]),
    ("rails", "servers = 2\ngpus = 4\nspines = 3\nnvlink = {}", [8, 4 + 2 + 3, 8 + 8 + 4 * 3]),
    (
        "custom",
        "rate = \"10Gbps\"\ndelay = \"50ns\"\nhosts = [\"host 1-4\"]\nswitches = [\"near\", \"far\"]\n\
         links = [\"host 1-2 -- near\", \"host 3-4 -- far\", \"near -- far\"]",
        [4, 2, 4 + 1],
    ),
    ("file", "path = \"../../scenarios/toolbox/topology.txt\"", [6, 2, 6 + 1]),
];

/// Each workload, with parameters, for a star of eight hosts.
const WORKLOADS: [(&str, &str); 20] = [
    (
        "many_to_many",
        "load = 0.5\nclusters = 2\ncluster_size = 4\nsizes = \"web_search\"\nmax_size = \"1MB\"",
    ),
    ("incast", "senders = 4\nbytes = \"64KB\""),
    ("incast_series", "hosts = 8\nsenders = 5\nbytes = \"20KB\"\nload = 0.3"),
    (
        "list",
        "flow = [{ src = 0, dst = 7, bytes = \"9KB\" }, { src = 3, dst = 1, bytes = \"1B\", start = \"5us\" }]",
    ),
    ("file", "path = \"FLOWS\""),
    ("long_flows", "count = 3\nfrom = \"0-2\"\nto = \"3-5\"\nstop = \"500us\""),
    (
        "poisson",
        "load = 0.3\nfrom = \"0-3\"\nto = \"4-7\"\nsizes = \"web_search\"\nmax_size = \"1MB\"",
    ),
    ("permutation", "bytes = \"30KB\""),
    ("all_to_all", "bytes = \"30KB\""),
    ("all_reduce", "ranks = \"all\"\nbytes = \"80KB\""),
    ("collective", "operation = \"all_gather\"\nbytes = \"80KB\""),
    ("goal", "path = \"../../scenarios/toolbox/training.goal\""),
    ("chakra", "path = \"../../crates/attack/corpus/chakra/small\""),
    (
        "training",
        "layers = 4\nhidden = 64\nsequence = 32\nmicro_batches = 2\npeak_tflops = 1.0\ntensor_parallel = 2\n\
         pipeline_parallel = 2",
    ),
    ("rpc", "clients = \"0-3\"\nservers = \"4-7\"\nrequest = \"256B\"\nresponse = \"16KB\""),
    ("saturated", "from = \"0-3\"\nto = \"4-7\"\nsizes = \"exponential(8000B, 46B, 64KB)\""),
    ("ping", "clients = \"0-3\"\nservers = \"4-7\"\ninterval = \"50us\""),
    ("voice", "clients = \"0-3\"\nservers = \"4-7\"\ninterval = \"50us\"\njitter = \"50us\""),
    ("web", "clients = \"0-3\"\nservers = \"4-7\"\nthink = \"20us\"\nparsing = \"5us\""),
    ("linux", "hosts = \"0-3\"\nrun = \"ping host-1\"\nstart = \"1us\""),
];

/// What is said of kernels that are not run.
const NO_KERNEL: &str =
    "host 0: it is a Linux kernel, which has not run; only `floodway emulate` runs kernels";

fn names(family: &str) -> Vec<&'static str> {
    catalogue().filter(|entry| entry.family == family).map(|entry| entry.name).collect()
}

fn scenario(topology: &str, workload: &str, seed: u64) -> Scenario {
    let text = format!(
        "name = \"family\"\narrivals = \"500us\"\nlimit = \"20ms\"\nseed = {seed}\n{topology}\n\
         [switch.queue]\nsize = \"100MB\"\n[[workload]]\n{workload}\n"
    );
    let overrides = Overrides { quick: false, set: Vec::new() };
    Scenario::parse(&text, "family.toml", &overrides)
        .unwrap_or_else(|error| panic!("{}", error.plain()))
}

fn build(scenario: &Scenario, replication: u32) -> Spec {
    scenario.build(&scenario.variants()[0], replication)
}

/// Hosts have the first numbers, no name is there twice, and both ends of a link agree about it.
fn is_sound(graph: &Graph, name: &str) {
    let kinds: Vec<bool> = graph.nodes.iter().map(|node| node.kind == NodeKind::Host).collect();
    assert!(kinds.is_sorted_by(|before, after| before >= after), "{name}: {kinds:?}");
    let distinct: HashSet<_> = graph.nodes.iter().map(|node| &node.name).collect();
    assert_eq!(distinct.len(), graph.nodes.len(), "{name}");
    for id in graph.ids() {
        for (port, end) in graph.node(id).ports.iter().enumerate() {
            let back = &graph.node(end.peer).ports[end.peer_port.index()];
            assert_eq!((back.peer, back.peer_port.index()), (id, port), "{name}");
            assert_eq!((back.rate, back.delay), (end.rate, end.delay), "{name}");
        }
        let is_leaf = graph.node(id).ports.len() == 1;
        assert!(is_leaf || graph.node(id).kind != NodeKind::Host, "{name}: one link for each host");
    }
}

/// Every topology has the nodes and links that were counted, and every host can reach every other one.
#[test]
fn topologies_are_sound_and_connected() {
    let all: Vec<_> = TOPOLOGIES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(all, names("topology"));
    for (name, parameters, counted) in TOPOLOGIES {
        let table = format!("[topology.{name}]\n{parameters}");
        let flow = "[workload.list]\nflow = [{ src = 0, dst = 1, bytes = \"1KB\" }]";
        let graph = build(&scenario(&table, flow, 1), 0).graph;
        is_sound(&graph, name);
        let links = graph.nodes.iter().map(|node| node.ports.len()).sum::<usize>() / 2;
        let hosts = graph.first_ports().count();
        assert_eq!([hosts, graph.switches().count(), links], counted, "{name}");
        // By some of their ports.
        for host in graph.first_ports().take(20) {
            let ports: Vec<_> = graph.ports_of(host).map(|port| graph.distances(port)).collect();
            let is_reached = |other: NodeId| {
                graph
                    .ports_of(other)
                    .any(|end| ports.iter().any(|from| from[end.index()].is_some()))
            };
            assert!(graph.first_ports().all(is_reached), "{name}");
        }
    }
}

/// Who sends how much to whom, and when.
fn facts(flows: &[FlowSpec]) -> Vec<(u32, u32, u64, Instant)> {
    flows.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes, flow.start)).collect()
}

/// Every workload sends between different hosts of the network, the same again in the same
/// replication, and what it sends arrives; also if hosts have several ports.
#[test]
fn workloads_send_between_hosts_and_everything_arrives() {
    let all: Vec<_> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    assert_eq!(all, names("workload"));
    let file = format!("{}/flows-of-families.csv", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, "src,dst,bytes,start_ns\n0,3,4000,0\n4,3,70000,900\n").unwrap();
    let of_ports = |ports: u32| WORKLOADS.map(|(name, parameters)| (ports, name, parameters));
    for (ports, name, parameters) in of_ports(1).into_iter().chain(of_ports(3)) {
        if ports > 1 && name == "linux" {
            continue;
        }
        let table = format!("[workload.{name}]\n{}", parameters.replace("FLOWS", &file));
        let scenario = scenario(&format!("[topology.star]\nhosts = 8\nports = {ports}"), &table, 1);
        let spec = build(&scenario, 0);
        assert!(!spec.flows.is_empty(), "{name}");
        for flow in &spec.flows {
            let [src, dst] = [flow.src, flow.dst].map(|port| spec.graph.host_of(port));
            let is_host = [flow.src, flow.dst].iter().all(|node| node.0 < 8 * ports);
            assert!(src != dst && is_host, "{name}: {flow:?}");
            assert!(flow.bytes > 0, "{name}: {flow:?}");
        }
        assert!(spec.flows.is_sorted_by_key(|flow| flow.start), "{name}");
        assert_eq!(facts(&build(&scenario, 0).flows), facts(&spec.flows), "{name}");

        let sized: Vec<bool> =
            spec.flows.iter().map(|flow| flow.bytes != FlowSpec::PERSISTENT).collect();
        let outcome = Simulation::new(spec).run();
        if name == "linux" {
            assert_eq!(outcome.violations, [NO_KERNEL]);
            continue;
        }
        assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
        let delivered = outcome.table("flows").u64s("delivered_bytes");
        assert!(delivered.iter().all(|bytes| *bytes > 0) || name == "saturated", "{name}");
        if sized.iter().all(|sized| *sized) && name != "saturated" {
            assert_eq!(outcome.counter("flows_unfinished"), 0, "{name}");
        }
    }
}
