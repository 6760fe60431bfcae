use super::*;
use crate::topology;

fn spec(text: &str) -> Spec {
    serde_json::from_str(text).unwrap()
}

fn built(text: &str) -> Graph {
    serde_json::from_str::<topology::Spec>(text).unwrap().build()
}

/// Two access switches and a core, and behind it a slow line to a switch with the server.
const LINE: &str = r#"{
    "hosts": ["client 1-3", "server"],
    "switches": ["access 1-2", "core", "far"],
    "links": [
        { "ends": "client 1, client 3 -- access 1" },
        { "ends": "access 2 -- client 2" },
        { "ends": "access 1-2 -- core", "count": 2 },
        { "ends": "core -- far", "rate": "1Gbps", "delay": "5us" },
        { "ends": "server -- far", "rate": "400Gbps" }
    ],
    "rate": "10Gbps",
    "delay": "50ns"
}"#;

#[test]
fn the_graph_is_as_written() {
    let spec = spec(LINE);
    let (graph, size) = (spec.build(), spec.size());
    assert_eq!((size.hosts, size.switches, size.links, size.most_ports), (4, 4, 9, 5));
    assert_eq!(graph.links().count() as u64, size.links);
    let name = |id: NodeId| graph.node(id).name.as_str();
    let names: Vec<_> = graph.ids().map(name).collect();
    let hosts = ["client 1", "client 2", "client 3", "server"];
    assert_eq!(names[..4], hosts);
    assert_eq!(names[4..], ["access 1", "access 2", "core", "far"]);
    let peers = |node: u32| -> Vec<&str> {
        graph.node(NodeId(node)).ports.iter().map(|end| name(end.peer)).collect()
    };
    // Ports in order of the links.
    assert_eq!(peers(4), ["client 1", "client 3", "core", "core"]);
    assert_eq!(peers(6), ["access 1", "access 1", "access 2", "access 2", "far"]);
    let link = |node: u32, port: usize| {
        let end = graph.node(NodeId(node)).ports[port];
        (end.rate, end.delay)
    };
    assert_eq!(link(0, 0), (Rate::from_gbps(10), Duration::from_ns(50)));
    assert_eq!(link(6, 4), (Rate::from_gbps(1), Duration::from_ns(5_000)));
    assert_eq!(link(3, 0), (Rate::from_gbps(400), Duration::from_ns(50)));
}

#[test]
fn tiers_count_links_to_the_nearest_hosts() {
    let spec = spec(
        r#"{ "hosts": ["a", "b"], "switches": ["s0-6"], "links": [
            { "ends": "a -- s0" }, { "ends": "s0 -- s1" }, { "ends": "s1 -- s2" },
            { "ends": "s2 -- s3" }, { "ends": "s3 -- s4" }, { "ends": "s4 -- b" },
            { "ends": "s2 -- s5" }, { "ends": "s5 -- s6" }
        ] }"#,
    );
    let graph = spec.build();
    let tiers: Vec<_> = graph
        .switches()
        .map(|id| match graph.node(id).kind {
            NodeKind::Switch { tier } => tier,
            NodeKind::Host => unreachable!("a switch"),
        })
        .collect();
    assert_eq!(tiers, [0, 1, 2, 1, 0, 3, 4]);
}

#[test]
fn parallel_links_are_equal_ways_and_a_path_is_the_shortest() {
    let graph = spec(LINE).build();
    let path = |from, to| {
        let path = graph.path(NodeId(from), NodeId(to)).unwrap();
        path.into_iter().map(|(node, port)| (node.0, port.0)).collect::<Vec<_>>()
    };
    assert_eq!(path(0, 2), [(0, 0), (4, 1)]);
    assert_eq!(path(1, 3), [(1, 0), (5, 1), (6, 4), (7, 1)]);
}

/// What other topologies are, written out: the same nodes, ports and links in the same order.
#[test]
fn other_topologies_written_out() {
    let pairs = [
        (
            r#"{ "star": { "hosts": 5, "rate": "40Gbps" } }"#,
            r#"{ "custom": { "hosts": ["host 0-4"], "switches": ["switch"],
                "links": [{ "ends": "host 0-4 -- switch", "rate": "40Gbps" }] } }"#,
        ),
        (
            r#"{ "dumbbell": { "left": 2, "right": 3 } }"#,
            r#"{ "custom": { "hosts": ["host 0-4"], "switches": ["left switch", "right switch"],
                "rate": "1Gbps", "delay": "1ms", "links": [
                    { "ends": "host 0-1 -- left switch" }, { "ends": "host 2-4 -- right switch" },
                    { "ends": "left switch -- right switch", "rate": "40Mbps", "delay": "2ms" }
                ] } }"#,
        ),
        (
            r#"{ "clos": { "leaves": 3, "spines": 4, "hosts_per_leaf": 4,
                "host_rate": "10Gbps", "fabric_rate": "10Gbps" } }"#,
            r#"{ "custom": { "hosts": ["host 0-11"], "switches": ["leaf 0-2", "spine 0-3"],
                "rate": "10Gbps", "links": [
                    { "ends": "host 0-3 -- leaf 0" }, { "ends": "host 4-7 -- leaf 1" },
                    { "ends": "host 8-11 -- leaf 2" }, { "ends": "leaf 0-2 -- spine 0-3" }
                ] } }"#,
        ),
    ];
    for (short, written_out) in pairs {
        assert_eq!(built(short), built(written_out));
        let size = |text| serde_json::from_str::<topology::Spec>(text).unwrap().size();
        assert_eq!(size(short), size(written_out));
    }
}
