//! A parking lot: a line of switches with hosts at each, the network with several bottlenecks one
//! after the other (Floyd, "Connections with Multiple Congested Gateways in Packet-Switched
//! Networks", CCR 1991; RFC 5166, section 2.5).
//!
//! A flow from one end of the line to the other shares every link of it with others that cross only
//! one.

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, check_links, clos};

/// Parameters. Host numbers go along the line: switch s has the hosts s * `hosts_per_switch` and
/// following, and links to the switches s + 1 and s - 1. A `ring` has the same parameters, and its ends
/// are joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Switches, at least 2, and one link less between them; in a ring at least 3, and as many links.
    pub switches: u32,
    /// Hosts at each switch. Default 1 (Floyd: a connection enters at every gateway).
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
    /// Rate of the links between hosts and switches. Default 100Gbps (as in `clos`).
    #[serde(default = "clos::deck_rate")]
    pub host_rate: Rate,
    /// Propagation delay of these links. Default 200ns (as in `clos`).
    #[serde(default = "clos::deck_delay")]
    pub host_delay: Duration,
    /// Rate of the links between switches. Default 100Gbps (as in `clos`).
    #[serde(default = "clos::deck_rate")]
    pub fabric_rate: Rate,
    /// Propagation delay of these links. Default 200ns (as in `clos`).
    #[serde(default = "clos::deck_delay")]
    pub fabric_delay: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        self.check_row(2, "for a single switch use [topology.star]", findings);
    }
}

fn one() -> u32 {
    1
}

impl Spec {
    /// Whether there are at least so many switches, else the remedy, and what else makes a row of them.
    pub(super) fn check_row(&self, least: u32, instead: &str, findings: &mut Findings<'_>) {
        findings.range("switches", self.switches, least.., instead);
        findings.range("hosts_per_switch", self.hosts_per_switch, 1.., "");
        check_links("host", self.host_rate, self.host_delay, findings);
        check_links("fabric", self.fabric_rate, self.fabric_delay, findings);
    }

    pub(super) fn size(&self) -> Size {
        let switches = u64::from(self.switches);
        let hosts = switches * u64::from(self.hosts_per_switch);
        Size {
            hosts,
            switches,
            links: hosts.saturating_add(switches.saturating_sub(1)),
            most_ports: u64::from(self.hosts_per_switch) + switches.saturating_sub(1).min(2),
        }
    }

    pub(super) fn build(&self) -> Graph {
        self.line().0
    }

    /// The network, and its switches in their order.
    pub(super) fn line(&self) -> (Graph, Vec<NodeId>) {
        let mut graph = Graph::default();
        let hosts: Vec<NodeId> = (0..self.switches * self.hosts_per_switch)
            .map(|host| graph.add(format!("host {host}"), NodeKind::Host))
            .collect();
        let switches: Vec<NodeId> = (0..self.switches)
            .map(|switch| graph.add(format!("switch {switch}"), NodeKind::Switch { tier: 0 }))
            .collect();
        for (hosts, &switch) in hosts.chunks(self.hosts_per_switch as usize).zip(&switches) {
            for &host in hosts {
                graph.link(host, switch, self.host_rate, self.host_delay);
            }
        }
        for pair in switches.windows(2) {
            graph.link(pair[0], pair[1], self.fabric_rate, self.fabric_delay);
        }
        (graph, switches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, built_as_said};

    fn line(switches: u32, hosts_per_switch: u32) -> Spec {
        Spec {
            switches,
            hosts_per_switch,
            host_rate: Rate::from_gbps(25),
            host_delay: Duration::from_ns(100),
            fabric_rate: Rate::from_gbps(100),
            fabric_delay: Duration::from_us(1),
        }
    }

    #[test]
    fn the_graph_is_as_large_as_said_and_in_order() {
        for spec in [line(4, 2), line(2, 1), line(5, 3)] {
            built_as_said(&topology::Spec::ParkingLot(spec));
        }
        let size = Size { hosts: 8, switches: 4, links: 8 + 3, most_ports: 4 };
        assert_eq!(line(4, 2).size(), size);
    }

    #[test]
    fn the_line_has_two_ends_and_its_hosts_in_order() {
        let graph = line(4, 2).build();
        let peers = |name: &str| -> Vec<String> {
            let node = graph.nodes.iter().find(|node| node.name == name).unwrap();
            node.ports.iter().map(|port| graph.node(port.peer).name.clone()).collect()
        };
        assert_eq!(peers("switch 0"), ["host 0", "host 1", "switch 1"]);
        assert_eq!(peers("switch 1"), ["host 2", "host 3", "switch 0", "switch 2"]);
        assert_eq!(peers("switch 3"), ["host 6", "host 7", "switch 2"]);
    }

    #[test]
    fn the_long_way_crosses_every_link_and_the_short_ones_one() {
        let graph = line(4, 1).build();
        let ways = |from, to| graph.path(NodeId(from), NodeId(to)).unwrap().len();
        assert_eq!(ways(0, 3), 2 + 3);
        assert_eq!([ways(0, 1), ways(1, 2), ways(2, 3)], [3, 3, 3]);
        let between = |id: NodeId| graph.node(id).kind != NodeKind::Host;
        for (from, _, end) in graph.links() {
            let (rate, delay) = match between(from) && between(end.peer) {
                true => (Rate::from_gbps(100), Duration::from_us(1)),
                false => (Rate::from_gbps(25), Duration::from_ns(100)),
            };
            assert_eq!((end.rate, end.delay), (rate, delay));
        }
    }
}
