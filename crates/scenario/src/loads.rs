//! What traffic that is expected makes of links: the busiest host, and every link if all switches
//! split evenly over equal ways.
//!
//! Traffic between hosts takes the same ways as other traffic between the switches that they hang on,
//! so it is summed up by these first.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::{Attachment, NodeKind};
use floodway_model::{Graph, NodeId};

use crate::check;
use crate::derived::Spread;
use crate::document::Document;
use crate::workload::Demand;

/// Payload of the busiest sender or receiver as a part of its link.
pub fn busiest_host(graph: &Graph, demands: &[Demand]) -> f64 {
    let (sent, received) = of_hosts(graph, demands);
    let loads = graph.hosts().map(|host| {
        let end = &graph.node(host).ports[0];
        let (rate, rate_to) = (end.rate.0 as f64, graph.rate_to(end).0 as f64);
        f64::max(sent[host.index()] / rate, received[host.index()] / rate_to)
    });
    loads.fold(0.0, f64::max)
}

/// By node: what a host sends and what it receives.
fn of_hosts(graph: &Graph, demands: &[Demand]) -> (Vec<f64>, Vec<f64>) {
    let mut sent = vec![0.0; graph.nodes.len()];
    let mut received = vec![0.0; graph.nodes.len()];
    for demand in demands {
        let shares = Shares::of(demand);
        let mut to_each = 0.0;
        for (&(src, rate), share) in demand.from.iter().zip(&shares.of_one) {
            sent[src.index()] += rate;
            to_each += share;
        }
        for (dst, own) in &shares.own {
            received[dst.index()] += to_each - own;
        }
    }
    (sent, received)
}

/// What senders send to one receiver.
struct Shares {
    /// By sender, in the order of the demand.
    of_one: Vec<f64>,
    /// By receiver: what it would send to itself, if it did.
    own: BTreeMap<NodeId, f64>,
}

impl Shares {
    fn of(demand: &Demand) -> Self {
        let mut own: BTreeMap<NodeId, f64> = demand.to.iter().map(|&dst| (dst, 0.0)).collect();
        let receivers = own.len();
        let share = |&(src, rate): &(NodeId, f64)| match own.get_mut(&src) {
            None => rate / receivers as f64,
            Some(own) => {
                *own = rate / (receivers - 1) as f64;
                *own
            }
        };
        Self { of_one: demand.from.iter().map(share).collect(), own }
    }
}

/// How demands, which are for Ethernet, become loads of links with other framings: as if all frames were full.
#[derive(Clone, Copy, Debug)]
pub struct Framed {
    largest_frame: u16,
    wire_overhead: u64,
}

impl Framed {
    /// For the frames of a scenario.
    pub fn of(settings: &Document) -> Self {
        let largest_frame = check::largest_frame(settings);
        Self { largest_frame, wire_overhead: settings.wire_overhead.0 }
    }

    /// Load of a link in the direction in which this end sends.
    pub fn load(self, end: &Attachment, bits: f64) -> f64 {
        let Self { largest_frame, wire_overhead } = self;
        let more = match end.line {
            None => 1.0,
            Some(line) => {
                line.bytes(largest_frame) as f64 / (f64::from(largest_frame) + wire_overhead as f64)
            }
        };
        bits * more / end.rate.0 as f64
    }
}

/// Load of the links between switches by demands on the wire.
pub fn of_fabric(graph: &Graph, demands: &[Demand], framed: Framed) -> Option<Spread> {
    let load = of_links(graph, demands)?;
    let is_switch = |id: NodeId| graph.node(id).kind != NodeKind::Host;
    let mut loads = Vec::new();
    for id in graph.switches() {
        for (end, bits) in graph.node(id).ports.iter().zip(&load[id.index()]) {
            if is_switch(end.peer) {
                loads.push(framed.load(end, *bits));
            }
        }
    }
    let count = loads.len() as f64;
    (count > 0.0).then(|| Spread {
        mean: loads.iter().sum::<f64>() / count,
        max: loads.iter().copied().fold(0.0, f64::max),
    })
}

/// Steps of the sum over receivers' switches and links beyond which it would take seconds.
const MOST_STEPS: usize = 300_000_000;

/// By node and port: bits per second of demands that leave there, if every switch splits evenly
/// over equal next hops. `None` if the sum would take too long.
pub fn of_links(graph: &Graph, demands: &[Demand]) -> Option<Vec<Vec<f64>>> {
    let links: usize = graph.nodes.iter().map(|node| node.ports.len()).sum();
    let receivers = demands.iter().flat_map(|demand| &demand.to);
    let edges: BTreeSet<NodeId> = receivers.map(|&dst| graph.node(dst).ports[0].peer).collect();
    if edges.len().saturating_mul(links) > MOST_STEPS {
        return None;
    }
    let mut load: Vec<Vec<f64>> =
        graph.nodes.iter().map(|node| vec![0.0; node.ports.len()]).collect();
    let (sent, received) = of_hosts(graph, demands);
    for host in graph.hosts() {
        let end = graph.node(host).ports[0];
        load[host.index()][0] += sent[host.index()];
        load[end.peer.index()][end.peer_port.index()] += received[host.index()];
    }
    for (dst, senders) in between_switches(graph, demands) {
        spread(graph, dst, &senders, &mut load);
    }
    Some(load)
}

/// What switches with hosts send each other, by receiver and by sender.
fn between_switches(graph: &Graph, demands: &[Demand]) -> BTreeMap<NodeId, BTreeMap<NodeId, f64>> {
    let edge = |host: NodeId| graph.node(host).ports[0].peer;
    let mut sums: BTreeMap<NodeId, BTreeMap<NodeId, f64>> = BTreeMap::new();
    for demand in demands {
        let shares = Shares::of(demand);
        let mut from: BTreeMap<NodeId, f64> = BTreeMap::new();
        for (&(src, _), share) in demand.from.iter().zip(&shares.of_one) {
            *from.entry(edge(src)).or_default() += share;
        }
        let mut to: BTreeMap<NodeId, f64> = BTreeMap::new();
        demand.to.iter().for_each(|&dst| *to.entry(edge(dst)).or_default() += 1.0);
        for (&dst, receivers) in &to {
            let senders = sums.entry(dst).or_default();
            // What stays at a switch takes no link between switches.
            for (&src, share) in from.iter().filter(|(src, _)| **src != dst) {
                *senders.entry(src).or_default() += share * receivers;
            }
        }
    }
    sums
}

/// Adds the traffic to the hosts of one switch to the links between switches that it takes, from the
/// farthest inward.
fn spread(graph: &Graph, dst: NodeId, senders: &BTreeMap<NodeId, f64>, load: &mut [Vec<f64>]) {
    let distances = graph.distances(dst);
    let mut through = vec![0.0; graph.nodes.len()];
    senders.iter().for_each(|(src, rate)| through[src.index()] += rate);
    let mut order: Vec<NodeId> =
        graph.switches().filter(|id| distances[id.index()].is_some()).collect();
    order.sort_by_key(|id| std::cmp::Reverse(distances[id.index()]));
    for node in order {
        let here = through[node.index()];
        if here == 0.0 || node == dst {
            continue;
        }
        let ports = &graph.node(node).ports;
        let closer = |peer: NodeId| distances[peer.index()] < distances[node.index()];
        let next = ports.iter().filter(|end| closer(end.peer)).count() as f64;
        for (port, end) in ports.iter().enumerate().filter(|(_, end)| closer(end.peer)) {
            load[node.index()][port] += here / next;
            through[end.peer.index()] += here / next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Spec;
    use proptest::prelude::*;

    /// Pair by pair: what leaves `node` towards `dst`, split evenly over all closer neighbors.
    fn send(graph: &Graph, node: NodeId, dst: NodeId, rate: f64, load: &mut [Vec<f64>]) {
        if node == dst {
            return;
        }
        let distances = graph.distances(dst);
        let closer: Vec<(usize, NodeId)> = (0..)
            .zip(&graph.node(node).ports)
            .filter(|(_, end)| distances[end.peer.index()] < distances[node.index()])
            .filter(|(_, end)| distances[end.peer.index()].is_some())
            .map(|(port, end)| (port, end.peer))
            .collect();
        for &(port, peer) in &closer {
            load[node.index()][port] += rate / closer.len() as f64;
            send(graph, peer, dst, rate / closer.len() as f64, load);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Some hosts send, some receive, some do both.
        #[test]
        fn sums_are_those_of_all_pairs(
            from in proptest::collection::btree_map(0u32..16, 1.0f64..10.0, 1..16),
            to in proptest::collection::btree_set(0u32..16, 2..16),
        ) {
            let topology: Spec = serde_json::from_str(r#"{ "fat_tree": { "k": 4 } }"#).unwrap();
            let graph = topology.build();
            let mut expected: Vec<Vec<f64>> =
                graph.nodes.iter().map(|node| vec![0.0; node.ports.len()]).collect();
            for (&src, &rate) in &from {
                let others: Vec<u32> = to.iter().copied().filter(|&dst| dst != src).collect();
                for &dst in &others {
                    let rate = rate / others.len() as f64;
                    send(&graph, NodeId(src), NodeId(dst), rate, &mut expected);
                }
            }
            let demand = Demand {
                from: from.iter().map(|(&src, &rate)| (NodeId(src), rate)).collect(),
                to: to.iter().map(|&dst| NodeId(dst)).collect(),
            };
            let found = of_links(&graph, &[demand]).unwrap();
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
            }
        }
    }
}
