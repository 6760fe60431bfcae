//! Ways through the network: for every switch and destination, the ports of the shortest ways.
//!
//! Hosts have one port, so destinations are told apart by the switch that they hang on, and a
//! switch needs one entry per such edge switch instead of one per host.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId, PortIx};

/// Where each host hangs; shared by all switches.
#[derive(Debug)]
struct Edges {
    /// By node: number of the edge switch among all edge switches, and the port there.
    of_host: Vec<(u32, u16)>,
}

/// The forwarding table of one switch.
#[derive(Clone, Debug)]
pub struct Routes {
    edges: Arc<Edges>,
    /// The number of this switch among the edge switches, if it is one.
    own_edge: Option<u32>,
    /// By edge switch: which of `groups`.
    group: Vec<u16>,
    groups: Vec<Box<[u16]>>,
}

impl Routes {
    /// The tables of all switches, in order of their identifiers. A destination that cannot be
    /// reached has an empty group.
    pub fn of(graph: &Graph) -> Vec<Self> {
        Self::without(graph, &BTreeSet::new())
    }

    /// The same without the links that are down, given by both their ends. A host whose link is
    /// down still hangs where it did.
    pub fn without(graph: &Graph, down: &BTreeSet<(NodeId, PortIx)>) -> Vec<Self> {
        let works = |node: NodeId, port: PortIx| !down.contains(&(node, port));
        let mut edge_switches = Vec::new();
        let mut edge_number = vec![u32::MAX; graph.nodes.len()];
        let mut of_host = vec![(u32::MAX, 0); graph.nodes.len()];
        for host in graph.hosts() {
            let Some(end) = graph.node(host).ports.first() else { continue };
            let number = &mut edge_number[end.peer.index()];
            if *number == u32::MAX {
                *number = edge_switches.len() as u32;
                edge_switches.push(end.peer);
            }
            of_host[host.index()] = (*number, end.peer_port.0);
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
        for edge in edge_switches {
            let distance = graph.distances_by(edge, works);
            for (switch, table) in graph.switches().zip(&mut tables) {
                let here = distance[switch.index()];
                let ports = graph.node(switch).ports.iter().enumerate();
                let closer = ports.filter(|&(port, end)| {
                    let there = distance[end.peer.index()];
                    // Hosts do not forward.
                    graph.node(end.peer).kind != NodeKind::Host
                        && there.is_some()
                        && there < here
                        && works(switch, PortIx(port as u16))
                });
                let group: Box<[u16]> = closer.map(|(port, _)| port as u16).collect();
                let known = table.groups.iter().position(|ports| *ports == group);
                let number = known.unwrap_or_else(|| {
                    table.groups.push(group);
                    table.groups.len() - 1
                });
                table.group.push(number as u16);
            }
        }
        tables
    }

    /// The ports of the equally short ways to host `dst`.
    #[inline]
    pub fn towards(&self, dst: NodeId) -> Hops<'_> {
        let (edge, port) = self.edges.of_host[dst.index()];
        if self.own_edge == Some(edge) {
            Hops::Host(port)
        } else {
            Hops::Equal(&self.groups[usize::from(self.group[edge as usize])])
        }
    }

    /// The number of [`Hops::Equal`] towards `dst` among the sets of next hops of this switch.
    pub fn group(&self, dst: NodeId) -> u16 {
        self.group[self.edges.of_host[dst.index()].0 as usize]
    }
}

/// Next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hops<'a> {
    /// The destination hangs on this port.
    Host(u16),
    /// It is further on, by any of these ports.
    Equal(&'a [u16]),
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Duration, Rate};

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
}
