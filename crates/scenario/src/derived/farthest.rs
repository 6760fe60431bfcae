//! The longest way in a network in which every link may differ: the number of links does not tell
//! which hosts are farthest from each other.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};

/// Beyond so many senders that differ, the first ones have to do.
const MOST_SENDERS: usize = 1_000;

/// The longest time between two hosts, and the slowest rate on that way, by the times that links
/// take, of every node and port. Of the ways with the fewest links, which traffic takes, the longest
/// counts.
pub fn longest_way(graph: &Graph, times: &[Vec<Duration>]) -> (Duration, Rate) {
    // Hosts on the same switch with links of the same kind are as far from everybody.
    let mut senders = BTreeMap::new();
    for host in graph.hosts() {
        let link = graph.node(host).ports[0];
        senders.entry((link.peer, link.rate, link.delay)).or_insert(host);
    }
    let ways =
        senders.into_values().take(MOST_SENDERS).flat_map(|from| longest_from(graph, from, times));
    ways.max_by_key(|&(time, rate)| (time, Reverse(rate))).unwrap_or_default()
}

/// The same from one host.
fn longest_from(graph: &Graph, from: NodeId, times: &[Vec<Duration>]) -> Option<(Duration, Rate)> {
    let distances = graph.distances(from);
    let is_host = |id: NodeId| graph.node(id).kind == NodeKind::Host;
    let mut order: Vec<NodeId> = graph.ids().filter(|id| distances[id.index()].is_some()).collect();
    order.sort_by_key(|id| distances[id.index()]);
    let mut ways = vec![(Duration::ZERO, Rate(u64::MAX)); graph.nodes.len()];
    for &node in order.iter().filter(|&&node| node == from || !is_host(node)) {
        let (so_far, slowest) = ways[node.index()];
        for (end, &time) in graph.node(node).ports.iter().zip(&times[node.index()]) {
            if distances[end.peer.index()] > distances[node.index()] {
                let way = (so_far + time, slowest.min(end.rate));
                let known = &mut ways[end.peer.index()];
                if way.0 > known.0 || way.0 == known.0 && way.1 < known.1 {
                    *known = way;
                }
            }
        }
    }
    let hosts = order.iter().filter(|&&node| node != from && is_host(node));
    hosts.map(|node| ways[node.index()]).max_by_key(|way| way.0)
}
