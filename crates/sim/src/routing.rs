//! Routing: for every switch and destination, the ports on shortest paths.
//!
//! Hosts have one port, so a destination is identified by its edge switch, and a switch needs one
//! entry per edge switch instead of one per host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_model::{Graph, NodeId, PortIx};

use crate::search::{self, AT_ONCE, Fabric, Ring};

/// The edge switch of each host; shared by all switches.
#[derive(Debug)]
struct Edges {
    /// By node: index of its edge switch among all edge switches, and the port there.
    of_host: Vec<(u32, u16)>,
}

/// The forwarding table of one switch.
#[derive(Clone, Debug)]
pub struct Routes {
    edges: Arc<Edges>,
    /// Index of this switch among the edge switches, if it is one.
    own_edge: Option<u32>,
    /// By edge switch: index in `groups`.
    group: Vec<u16>,
    groups: Vec<Box<[u16]>>,
}

impl Routes {
    /// The tables of all switches, ordered by switch identifier. An unreachable destination has an
    /// empty group.
    pub fn of(graph: &Graph) -> Vec<Self> {
        Self::without(graph, &BTreeSet::new())
    }

    /// The same without the links that are down, which are given by both their ends. A host whose
    /// link is down keeps its edge switch.
    pub fn without(graph: &Graph, down: &BTreeSet<(NodeId, PortIx)>) -> Vec<Self> {
        let fabric = Fabric::new(graph, down);
        let (edge_switches, edge_number) = fabric.edges(graph);
        let mut of_host = vec![(u32::MAX, 0); graph.nodes.len()];
        for host in graph.hosts() {
            let Some(end) = graph.node(host).ports.first() else { continue };
            of_host[host.index()] = (edge_number[end.peer.index()], end.peer_port.0);
        }
        let edges = Arc::new(Edges { of_host });
        let mut tables: Vec<Self> = graph
            .switches()
            .map(|switch| Self {
                edges: edges.clone(),
                own_edge: Some(edge_number[switch.index()]).filter(|&number| number != u32::MAX),
                group: Vec::with_capacity(edge_switches.len()),
                groups: Vec::new(),
            })
            .collect();
        for to in edge_switches.chunks(AT_ONCE) {
            let all = u64::MAX >> (AT_ONCE - to.len());
            // By switch: sets of ports, each with the destinations to which it leads.
            let mut found: Vec<Vec<(u64, Box<[u16]>)>> = vec![Vec::new(); fabric.len()];
            fabric.search(to, |ring| {
                for &number in ring.switches {
                    next_hops(&fabric, &ring, number, &mut found[number as usize]);
                }
            });
            for (table, mut sets) in tables.iter_mut().zip(found) {
                let reached = sets.iter().fold(0, |bits, set| bits | set.0);
                if reached != all {
                    sets.push((all & !reached, Box::default()));
                }
                table.extend(to.len(), sets);
            }
        }
        tables
    }

    /// Makes these tables of all switches lead to other ports of hosts, which stand in for the first ones.
    pub fn redirect(tables: &mut [Self], stand_ins: &BTreeMap<NodeId, NodeId>) {
        let Some(first) = tables.first().filter(|_| !stand_ins.is_empty()) else { return };
        let mut of_host = first.edges.of_host.clone();
        for (port, stands_in) in stand_ins {
            of_host[port.index()] = first.edges.of_host[stands_in.index()];
        }
        let edges = Arc::new(Edges { of_host });
        tables.iter_mut().for_each(|table| table.edges = edges.clone());
    }

    /// Adds the sets of ports toward the next `count` edge switches.
    fn extend(&mut self, count: usize, mut sets: Vec<(u64, Box<[u16]>)>) {
        // Numbered in the order in which edge switches first use them.
        sets.sort_unstable_by_key(|(bits, _)| bits.trailing_zeros());
        let begin = self.group.len();
        self.group.resize(begin + count, 0);
        for (bits, ports) in sets {
            let known = self.groups.iter().position(|known| *known == ports);
            let number = known.unwrap_or_else(|| {
                self.groups.push(ports);
                self.groups.len() - 1
            });
            search::bits(bits).for_each(|bit| self.group[begin + bit] = number as u16);
        }
    }

    /// The ports on equal-cost paths to host `dst`.
    #[inline]
    pub fn towards(&self, dst: NodeId) -> Hops<'_> {
        let (edge, port) = self.edges.of_host[dst.index()];
        if self.own_edge == Some(edge) {
            Hops::Host(port)
        } else {
            Hops::Equal(&self.groups[usize::from(self.group[edge as usize])])
        }
    }

    /// The number of [`Hops::Equal`] toward `dst` among the sets of next hops of this switch.
    pub fn group(&self, dst: NodeId) -> u16 {
        self.group[self.edges.of_host[dst.index()].0 as usize]
    }
}

/// The sets of ports by which switch `number` gets closer to the destinations whose distance is
/// that of the ring, each with its destinations.
fn next_hops(fabric: &Fabric, ring: &Ring, number: u32, sets: &mut Vec<(u64, Box<[u16]>)>) {
    let here = ring.here[number as usize];
    let steps = || {
        let links = fabric.links(number).iter();
        let leads = links.map(|step| (step.port, here & ring.closer[step.peer as usize]));
        leads.filter(|(_, bits)| *bits != 0)
    };
    // Destinations with the same ports; nearly always there are few sets.
    let mut classes = vec![here];
    for (_, bits) in steps() {
        for place in 0..classes.len() {
            let apart = classes[place] & !bits;
            if apart != 0 && apart != classes[place] {
                classes[place] &= bits;
                classes.push(apart);
            }
        }
    }
    for class in classes {
        let ports = steps().filter(|(_, bits)| bits & class != 0).map(|(port, _)| port);
        sets.push((class, ports.collect()));
    }
}

/// Next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hops<'a> {
    /// The destination is attached to this port.
    Host(u16),
    /// The destination is further away, reachable by any of these ports.
    Equal(&'a [u16]),
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::graph::NodeKind;
    use floodway_model::{Duration, Rate};
    use proptest::prelude::*;

    #[test]
    fn two_leaves_two_spines() {
        let mut graph = Graph::default();
        let hosts: Vec<_> =
            (0..2).map(|n| graph.add(format!("host {n}"), NodeKind::Host)).collect();
        let leaves: Vec<_> =
            (0..2).map(|n| graph.add(format!("leaf {n}"), NodeKind::Switch { tier: 0 })).collect();
        let spines: Vec<_> =
            (0..2).map(|n| graph.add(format!("spine {n}"), NodeKind::Switch { tier: 1 })).collect();
        let (rate, delay) = (Rate::from_gbps(100), Duration::from_ns(200));
        for n in 0..2 {
            graph.link(hosts[n], leaves[n], rate, delay);
            spines.iter().for_each(|&spine| graph.link(leaves[n], spine, rate, delay));
        }
        let routes = Routes::of(&graph);
        assert_eq!(routes[0].towards(hosts[0]), Hops::Host(0));
        assert_eq!(routes[0].towards(hosts[1]), Hops::Equal(&[1, 2]));
        assert_eq!(routes[3].towards(hosts[0]), Hops::Equal(&[0]));
    }

    /// Computed by definition: for one destination after another, the ports to switches that are
    /// closer, with sets of ports numbered as they occur.
    fn by_definition(graph: &Graph, down: &BTreeSet<(NodeId, PortIx)>) -> Vec<(Vec<u16>, Groups)> {
        let works = |node, port| !down.contains(&(node, port));
        let mut edges: Vec<NodeId> = Vec::new();
        for host in graph.hosts() {
            let edge = graph.node(host).ports[0].peer;
            if !edges.contains(&edge) {
                edges.push(edge);
            }
        }
        let table = |switch: NodeId| {
            let (mut numbers, mut groups) = (Vec::new(), Groups::new());
            for &edge in &edges {
                let distance = graph.distances_by(edge, works);
                let ports = graph.node(switch).ports.iter().enumerate();
                let closer = ports.filter(|&(port, end)| {
                    let there = distance[end.peer.index()];
                    graph.node(end.peer).kind != NodeKind::Host
                        && there.is_some()
                        && there < distance[switch.index()]
                        && works(switch, PortIx(port as u16))
                });
                let group: Box<[u16]> = closer.map(|(port, _)| port as u16).collect();
                if !groups.contains(&group) {
                    groups.push(group.clone());
                }
                numbers.push(groups.iter().position(|known| *known == group).unwrap() as u16);
            }
            (numbers, groups)
        };
        graph.switches().map(table).collect()
    }

    type Groups = Vec<Box<[u16]>>;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Hosts at more switches than one search has destinations, some parallel links, some links
        /// down, some switches unreachable.
        #[test]
        fn tables_are_as_defined(
            links in proptest::collection::vec((0u32..80, 0u32..80, 0u32..8), 0..250),
            hosts in proptest::collection::vec(0u32..80, 1..150),
        ) {
            let mut graph = Graph::default();
            let (rate, delay) = (Rate::from_gbps(1), Duration::ZERO);
            let switches: Vec<NodeId> = (0..80)
                .map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 }))
                .collect();
            for (number, &at) in hosts.iter().enumerate() {
                let host = graph.add(format!("host {number}"), NodeKind::Host);
                graph.link(host, switches[at as usize], rate, delay);
            }
            let mut down = BTreeSet::new();
            for &(a, b, fate) in links.iter().filter(|(a, b, _)| a != b) {
                let ends = [switches[a as usize], switches[b as usize]];
                if fate == 0 {
                    let port = |node| PortIx(graph.node(node).ports.len() as u16);
                    down.extend(ends.map(|node| (node, port(node))));
                }
                graph.link(ends[0], ends[1], rate, delay);
            }
            let tables = Routes::without(&graph, &down);
            for (table, (numbers, groups)) in tables.iter().zip(by_definition(&graph, &down)) {
                prop_assert_eq!(&table.group, &numbers);
                prop_assert_eq!(&table.groups, &groups);
            }
        }
    }
}
