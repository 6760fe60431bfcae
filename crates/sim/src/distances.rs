//! Distances between hosts: the longest path in a network whose links may all differ, so that the
//! number of links does not determine which hosts are farthest apart; and the number of switches
//! between any two hosts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::{Attachment, NodeKind};
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};

use crate::Spec;
use crate::search::{self, AT_ONCE, Fabric};

/// Information about the network for congestion control.
#[derive(Debug)]
pub struct Distances {
    /// Round-trip time of a full packet and its answer between the hosts farthest apart, on the
    /// idle network.
    pub longest_round_trip: Duration,
    between: Between,
}

impl Distances {
    /// Computes the distances in the network of a simulation.
    pub fn of(spec: &Spec) -> Self {
        let longest_round_trip = longest_way(&spec.graph, &times(spec)).0;
        Self { longest_round_trip, between: Between::of(&spec.graph) }
    }

    /// Number of switches on the shortest path between two hosts.
    pub fn switches(&self, a: NodeId, b: NodeId) -> u8 {
        self.between.switches(a, b)
    }
}

/// Number of switches between any two hosts.
#[derive(Debug)]
pub struct Between {
    /// By node: the index of a host's edge switch.
    edges: Vec<u16>,
    /// Number of switches on the shortest path between two edge switches, both included.
    switches: Vec<u8>,
    count: usize,
}

impl Between {
    /// In this network.
    pub fn of(graph: &Graph) -> Self {
        let fabric = Fabric::new(graph, &BTreeSet::new());
        let (of_number, places) = fabric.edges(graph);
        let mut edges = vec![u16::MAX; graph.nodes.len()];
        for host in graph.hosts() {
            let Some(end) = graph.node(host).ports.first() else { continue };
            edges[host.index()] = places[end.peer.index()] as u16;
        }
        let count = of_number.len();
        let mut switches = vec![0; count * count];
        (0..count).for_each(|place| switches[place * count + place] = 1);
        for (chunk, to) in of_number.chunks(AT_ONCE).enumerate() {
            fabric.search(to, |ring| {
                let between = (ring.distance + 1).min(u8::MAX.into()) as u8;
                for &number in ring.switches {
                    let from = places[fabric.node(number).index()];
                    if from != u32::MAX {
                        let row = from as usize * count + chunk * AT_ONCE;
                        search::bits(ring.here[number as usize])
                            .for_each(|bit| switches[row + bit] = between);
                    }
                }
            });
        }
        Self { edges, switches, count }
    }

    /// Number of switches on the shortest path between two hosts; 0 if there is no path.
    pub fn switches(&self, a: NodeId, b: NodeId) -> u8 {
        let [a, b] = [a, b].map(|host| usize::from(self.edges[host.index()]));
        self.switches[a * self.count + b]
    }
}

/// By node and port: the time until a full packet is handled at the other end, plus the same for
/// its answer on the same link, with the latency of the sending switch.
fn times(spec: &Spec) -> Vec<Vec<Duration>> {
    let longest = |of: fn(&crate::host::transport::Spec) -> u16| {
        let frames = spec.profiles.iter().map(|profile| of(&profile.transport));
        frames.max().unwrap_or(length::SHORTEST_FRAME)
    };
    let frames = [longest(|transport| transport.largest_frame()), longest(|t| t.answer_frame())];
    let time = |from: NodeKind, end: &Attachment| -> Duration {
        let latency = match from {
            NodeKind::Host => Duration::ZERO,
            NodeKind::Switch { .. } => spec.switch.latency,
        };
        let wire = |frame: u16| Bytes(end.on_wire(frame, spec.wire_overhead.into()));
        let rates = [end.rate, spec.graph.rate_to(end)];
        let ways = frames.into_iter().zip(rates);
        ways.map(|(frame, rate)| rate.time_for(wire(frame)) + end.delay + latency).sum()
    };
    let nodes = spec.graph.nodes.iter();
    let of_node = |node: &floodway_model::graph::Node| {
        node.ports.iter().map(|end| time(node.kind, end)).collect()
    };
    nodes.map(of_node).collect()
}

/// Maximum number of distinct senders examined; further ones are ignored.
const MOST_SENDERS: usize = 1_000;

/// The longest time between two hosts, and the lowest rate on that path, computed from the times of
/// the links by node and port. Among paths with the fewest links, which traffic takes, the longest
/// counts.
pub fn longest_way(graph: &Graph, times: &[Vec<Duration>]) -> (Duration, Rate) {
    // Hosts on the same switch with equal links are at the same distance from every other host.
    let mut senders = BTreeMap::new();
    for host in graph.hosts() {
        let link = graph.node(host).ports[0];
        senders.entry((link.peer, link.rate, graph.rate_to(&link), link.delay)).or_insert(host);
    }
    let ways =
        senders.into_values().take(MOST_SENDERS).flat_map(|from| longest_from(graph, from, times));
    ways.max_by_key(|&(time, rate)| (time, Reverse(rate))).unwrap_or_default()
}

/// The same for one sending host.
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
