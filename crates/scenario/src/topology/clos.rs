//! A folded Clos network of two tiers, also called leaf-spine (Clos 1953; Al-Fares et al.,
//! SIGCOMM 2008).

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Size;

/// Parameters. With `leaves` alone it is the network of the Congestion Isolation decks: N leaves,
/// N/2 spines, N/2 hosts per leaf, 100 Gb/s and 200 ns everywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Leaf switches.
    pub leaves: u32,
    /// Spine switches. Default half the leaves (inferred from the decks' 128 servers and 24
    /// switches, 1152 servers and 72 switches).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Hosts at each leaf. Default half the leaves (inferred likewise).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_per_leaf: Option<u32>,
    /// Rate of the links between hosts and leaves. Default 100Gbps (decks).
    #[serde(default = "deck_rate")]
    pub host_rate: Rate,
    /// Propagation delay of these links. Default 200ns (decks, "about 40 meters").
    #[serde(default = "deck_delay")]
    pub host_delay: Duration,
    /// Rate of the links between leaves and spines. Default 100Gbps (decks).
    #[serde(default = "deck_rate")]
    pub fabric_rate: Rate,
    /// Propagation delay of these links. Default 200ns (decks).
    #[serde(default = "deck_delay")]
    pub fabric_delay: Duration,
}

/// The rate of every link in the decks.
pub(super) fn deck_rate() -> Rate {
    Rate::from_gbps(100)
}

/// The delay of every link in the decks.
pub(super) fn deck_delay() -> Duration {
    Duration::from_ns(200)
}

impl Spec {
    /// Spine switches, as written or by the rule.
    pub fn spines(&self) -> u32 {
        self.spines.unwrap_or(self.leaves / 2)
    }

    /// Hosts at each leaf, as written or by the rule.
    pub fn hosts_per_leaf(&self) -> u32 {
        self.hosts_per_leaf.unwrap_or(self.leaves / 2)
    }

    /// Capacity of a leaf's hosts over that of its links to the spines; 1 is non-blocking.
    pub fn oversubscription(&self) -> f64 {
        let down = f64::from(self.hosts_per_leaf()) * self.host_rate.0 as f64;
        let up = f64::from(self.spines()) * self.fabric_rate.0 as f64;
        down / up
    }

    pub(super) fn size(&self) -> Size {
        let leaves = u64::from(self.leaves);
        let spines = u64::from(self.spines());
        let hosts = leaves * u64::from(self.hosts_per_leaf());
        Size {
            hosts,
            switches: leaves + spines,
            links: hosts.saturating_add(leaves * spines),
            most_ports: leaves.max(spines + u64::from(self.hosts_per_leaf())),
        }
    }

    pub(super) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        let (per_leaf, spines) = (self.hosts_per_leaf(), self.spines());
        let hosts: Vec<_> = (0..self.leaves * per_leaf)
            .map(|host| graph.add(format!("host {host}"), NodeKind::Host))
            .collect();
        let leaves: Vec<_> = (0..self.leaves)
            .map(|leaf| graph.add(format!("leaf {leaf}"), NodeKind::Switch { tier: 0 }))
            .collect();
        let spines: Vec<_> = (0..spines)
            .map(|spine| graph.add(format!("spine {spine}"), NodeKind::Switch { tier: 1 }))
            .collect();
        for (index, &host) in hosts.iter().enumerate() {
            let leaf = leaves[index / per_leaf as usize];
            graph.link(host, leaf, self.host_rate, self.host_delay);
        }
        for &leaf in &leaves {
            for &spine in &spines {
                graph.link(leaf, spine, self.fabric_rate, self.fabric_delay);
            }
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::{NodeId, PortIx};

    use super::*;

    fn rule(leaves: u32) -> Spec {
        Spec {
            leaves,
            spines: None,
            hosts_per_leaf: None,
            host_rate: deck_rate(),
            host_delay: deck_delay(),
            fabric_rate: deck_rate(),
            fabric_delay: deck_delay(),
        }
    }

    #[test]
    fn the_decks_sizes() {
        let size = |leaves| rule(leaves).size();
        assert_eq!((size(16).hosts, size(16).switches), (128, 24));
        assert_eq!((size(48).hosts, size(48).switches), (1152, 72));
        assert_eq!(size(48).most_ports, 48);
    }

    #[test]
    fn the_graph_is_as_large_as_said_and_in_order() {
        let spec = rule(4);
        let (graph, size) = (spec.build(), spec.size());
        assert_eq!(graph.hosts().count() as u64, size.hosts);
        assert_eq!(graph.switches().count() as u64, size.switches);
        assert_eq!(graph.links().count() as u64, size.links);
        let names: Vec<_> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names[0], "host 0");
        assert_eq!(names[7..10], ["host 7", "leaf 0", "leaf 1"]);
        assert_eq!(names[12..], ["spine 0", "spine 1"]);
        // Hosts first among a leaf's ports, then spines; a spine's port i goes to leaf i.
        let leaf = graph.node(NodeId(9));
        let peers: Vec<_> = leaf.ports.iter().map(|port| port.peer.0).collect();
        assert_eq!(peers, [2, 3, 12, 13]);
        assert_eq!(leaf.ports[2].peer_port, PortIx(1));
    }

    #[test]
    fn hosts_of_different_leaves_are_four_links_apart() {
        let graph = rule(4).build();
        assert_eq!(graph.path(NodeId(0), NodeId(7)).unwrap().len(), 4);
        assert_eq!(graph.path(NodeId(0), NodeId(1)).unwrap().len(), 2);
    }
}
