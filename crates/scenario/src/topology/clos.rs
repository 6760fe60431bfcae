//! A folded Clos network of two tiers, also called leaf-spine (Clos 1953; Al-Fares et al.,
//! SIGCOMM 2008).

use std::collections::BTreeSet;

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, add_hosts, check_groups, check_links, check_ports, places};

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
    /// Ports of each host, at most 64, which go to as many leaves that follow each other: with 2, port 0 of the first
    /// hosts to leaf 0 and port 1 to leaf 1. `leaves` is a multiple of it. Default 1.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub ports: u16,
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
    /// Leaves with links of other rates, each group under a header `[[topology.clos.leaf]]` of its
    /// own. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaf: Vec<LeafGroup>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let (leaves, spines, hosts) = (self.leaves, self.spines, self.hosts_per_leaf);
        findings.range("leaves", leaves, 1.., "");
        findings.range("spines", spines, 1.., "for a single switch use [topology.star]");
        findings.range("hosts_per_leaf", hosts, 1.., "");
        if leaves % 2 == 1 && (spines.is_none() || hosts.is_none()) {
            let missing = match (spines, hosts) {
                (None, None) => "`spines` and `hosts_per_leaf` are",
                (None, _) => "`spines` is",
                _ => "`hosts_per_leaf` is",
            };
            findings.error(
                "leaves",
                format!("{missing} half of `leaves` unless written, and {leaves} is odd"),
                "make `leaves` even, or write `spines` and `hosts_per_leaf`",
            );
        }
        check_ports(self.ports, findings);
        check_groups(self.ports, ("leaves", leaves), findings);
        check_links("host", self.host_rate, self.host_delay, findings);
        check_links("fabric", self.fabric_rate, self.fabric_delay, findings);
        let mut seen = BTreeSet::new();
        for (number, group) in self.leaf.iter().enumerate() {
            let findings = &mut findings.within(format!("leaf.{number}"));
            for (place, &leaf) in group.leaves.iter().enumerate() {
                let places = [format!("leaves.{place}"), "leaves".to_owned()];
                if leaf >= leaves {
                    let message = format!("there is no leaf {leaf}: there are {leaves}");
                    findings.error(places, message, "leaves are counted from 0");
                } else if !seen.insert(leaf) {
                    let remedy = "write every leaf once, with both rates";
                    findings.error(places, format!("leaf {leaf} is named twice"), remedy);
                }
            }
            let (spines, rate) = (self.spines(), group.fabric_rate);
            for (place, &spine) in group.spines.iter().enumerate().filter(|&(_, &of)| of >= spines)
            {
                let message = format!("there is no spine {spine}: there are {spines}");
                findings.error([format!("spines.{place}")], message, "spines are counted from 0");
            }
            if !group.spines.is_empty() && rate.is_none() {
                let message = "`spines` says which links have `fabric_rate`, which is not there";
                findings.error(["spines"], message, "write `fabric_rate`, or leave out `spines`");
            }
            findings.link_rate("host_rate", group.host_rate);
            findings.link_rate("fabric_rate", group.fabric_rate);
        }
    }
}

/// Leaves whose links have other rates than those of the rest. Together with `hosts_per_leaf` and
/// `spines` they make leaves that are more oversubscribed than others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafGroup {
    /// Which leaves, by number: [2, 3] for `leaf 2` and `leaf 3`.
    pub leaves: Vec<u32>,
    /// Rate of the links to their hosts. Default `topology.clos.host_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<Rate>,
    /// Rate of their links to the spines. Default `topology.clos.fabric_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_rate: Option<Rate>,
    /// To which spines, by number, their links have that rate: `[0]` for a single link of each leaf that came up slower than
    /// the others. Default all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spines: Vec<u32>,
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

    fn group(&self, leaf: u32) -> Option<&LeafGroup> {
        self.leaf.iter().find(|group| group.leaves.contains(&leaf))
    }

    /// Rate of the links of a leaf to its hosts.
    fn host_rate(&self, leaf: u32) -> Rate {
        self.group(leaf).and_then(|group| group.host_rate).unwrap_or(self.host_rate)
    }

    /// Rate of the link of a leaf to a spine.
    fn fabric_rate(&self, leaf: u32, spine: u32) -> Rate {
        let group = self.group(leaf);
        let group = group.filter(|group| group.spines.is_empty() || group.spines.contains(&spine));
        group.and_then(|group| group.fabric_rate).unwrap_or(self.fabric_rate)
    }

    /// Capacity of a leaf's hosts over that of its links to the spines, of the leaf where it is
    /// most; 1 is non-blocking.
    pub fn oversubscription(&self) -> f64 {
        let of_leaf = |leaf| {
            let down = f64::from(self.hosts_per_leaf()) * self.host_rate(leaf).0 as f64;
            let up = (0..self.spines()).map(|spine| self.fabric_rate(leaf, spine).0).sum::<u64>();
            down / up as f64
        };
        (0..self.leaves).map(of_leaf).fold(0.0, f64::max)
    }

    pub(super) fn size(&self) -> Size {
        let leaves = u64::from(self.leaves);
        let spines = u64::from(self.spines());
        let ports = leaves * u64::from(self.hosts_per_leaf());
        Size {
            hosts: ports / u64::from(self.ports.max(1)),
            switches: leaves + spines,
            links: ports.saturating_add(leaves * spines),
            most_ports: leaves.max(spines + u64::from(self.hosts_per_leaf())),
        }
    }

    pub(super) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        let (per_leaf, spines) = (self.hosts_per_leaf(), self.spines());
        let hosts = add_hosts(&mut graph, self.leaves, per_leaf, self.ports);
        let leaves: Vec<_> = (0..self.leaves)
            .map(|leaf| graph.add(format!("leaf {leaf}"), NodeKind::Switch { tier: 0 }))
            .collect();
        let spines: Vec<_> = (0..spines)
            .map(|spine| graph.add(format!("spine {spine}"), NodeKind::Switch { tier: 1 }))
            .collect();
        let host_rates: Vec<Rate> = (0..self.leaves).map(|leaf| self.host_rate(leaf)).collect();
        for (port, leaf) in places(&hosts, per_leaf, self.ports) {
            graph.link(port, leaves[leaf], host_rates[leaf], self.host_delay);
        }
        for (leaf, number) in leaves.into_iter().zip(0..) {
            for (&spine, place) in spines.iter().zip(0..) {
                graph.link(leaf, spine, self.fabric_rate(number, place), self.fabric_delay);
            }
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::{NodeId, PortIx};

    use super::*;
    use crate::topology::{self, built_as_said};

    fn rule(leaves: u32) -> Spec {
        Spec {
            leaves,
            spines: None,
            hosts_per_leaf: None,
            ports: 1,
            host_rate: deck_rate(),
            host_delay: deck_delay(),
            fabric_rate: deck_rate(),
            fabric_delay: deck_delay(),
            leaf: Vec::new(),
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
        let graph = built_as_said(&topology::Spec::Clos(rule(4)));
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

    #[test]
    fn each_port_of_a_host_goes_to_another_leaf() {
        let graph = built_as_said(&topology::Spec::Clos(Spec { ports: 2, ..rule(4) }));
        // Two hosts at leaves 0 and 1, two at leaves 2 and 3.
        let names: Vec<_> = graph.hosts().map(|port| graph.node(port).name.as_str()).collect();
        assert_eq!(names[..4], ["host 0.0", "host 0.1", "host 1.0", "host 1.1"]);
        let leaf = |port: NodeId| graph.node(graph.node(port).ports[0].peer).name.as_str();
        let leaves: Vec<_> = graph.hosts().map(leaf).collect();
        let [first, second] = [["leaf 0", "leaf 1"], ["leaf 2", "leaf 3"]];
        assert_eq!(leaves, [first, first, second, second].concat());
    }

    #[test]
    fn leaves_of_other_rates() {
        let gbps = Rate::from_gbps;
        let group = |leaves: &[u32], host_rate, fabric_rate| LeafGroup {
            leaves: leaves.to_vec(),
            host_rate,
            fabric_rate,
            spines: Vec::new(),
        };
        let spec = Spec {
            spines: Some(2),
            hosts_per_leaf: Some(4),
            leaf: vec![
                group(&[1, 3], Some(gbps(25)), None),
                group(&[2], Some(gbps(200)), Some(gbps(400))),
            ],
            ..rule(4)
        };
        // Of leaf 0: 4 x 100 over 2 x 100, the most. Of the others 4 x 25 over 2 x 100, and 4 x 200
        // over 2 x 400.
        assert_eq!(spec.oversubscription(), 2.0);
        let graph = spec.build();
        let rates = |leaf: u32| -> Vec<Rate> {
            graph.node(NodeId(16 + leaf)).ports.iter().map(|port| port.rate).collect()
        };
        let of = |host, fabric| [vec![gbps(host); 4], vec![gbps(fabric); 2]].concat();
        assert_eq!([0, 1, 2, 3].map(rates), [of(100, 100), of(25, 100), of(200, 400), of(25, 100)]);
        // Both ends of a link have its rate.
        let spine: Vec<Rate> = graph.node(NodeId(20)).ports.iter().map(|port| port.rate).collect();
        assert_eq!(spine, [gbps(100), gbps(100), gbps(400), gbps(100)]);
        assert_eq!(graph.node(NodeId(4)).ports[0].rate, gbps(25));
        // Without a group every leaf is like the decks'.
        assert_eq!(rule(16).oversubscription(), 1.0);
    }
    #[test]
    fn a_single_link_of_another_rate() {
        let gbps = Rate::from_gbps;
        let slow = LeafGroup {
            leaves: vec![1],
            host_rate: None,
            fabric_rate: Some(gbps(25)),
            spines: vec![1],
        };
        let spec = Spec { leaf: vec![slow], ..rule(4) };
        let graph = spec.build();
        let rates = |node: u32| {
            graph.node(NodeId(node)).ports.iter().map(|port| port.rate.0 / 1_000_000_000)
        };
        // Two hosts and two spines at each leaf.
        assert!(rates(8).eq([100, 100, 100, 100]));
        assert!(rates(9).eq([100, 100, 100, 25]));
        assert!(rates(13).eq([100, 25, 100, 100]));
        // 2 x 100 over 100 + 25.
        assert_eq!(spec.oversubscription(), 1.6);
    }
}
