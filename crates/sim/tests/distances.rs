//! How far hosts are from each other.

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, Rate};
use floodway_sim::distances::Distances;

#[test]
fn two_leaves_and_a_spine() {
    let mut graph = Graph::default();
    let hosts = [0, 1, 2].map(|n| graph.add(format!("host {n}"), NodeKind::Host));
    let [left, right, spine] = [("left", 0), ("right", 0), ("spine", 1)]
        .map(|(name, tier)| graph.add(name, NodeKind::Switch { tier }));
    let delay = Duration::from_ns(100);
    for (host, leaf) in [(0, left), (1, left), (2, right)] {
        graph.link(hosts[host], leaf, Rate::from_gbps(100), delay);
    }
    for leaf in [left, right] {
        graph.link(leaf, spine, Rate::from_gbps(400), delay);
    }
    let mut spec = crate::common::plain(graph, Vec::new());
    spec.wire_overhead = 20;
    spec.switch.latency = Duration::from_ns(500);
    let distances = Distances::of(&spec);
    let switches = [(0, 1), (0, 2), (2, 1)].map(|(a, b)| distances.switches(hosts[a], hosts[b]));
    assert_eq!(switches, [1, 3, 3]);
    // Frames of 1086 and 66 bytes, 20 more on the wire: 1192 bytes at 80 ps each on two links, at
    // 20 ps on two; 4 links there and back; 3 switches there and back.
    let wire = Duration(1_192 * (2 * 80 + 2 * 20));
    let rest = delay * 8 + Duration::from_ns(500) * 6;
    assert_eq!(distances.longest_round_trip, wire + rest);
}
