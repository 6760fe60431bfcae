//! Hosts around one switch: the smallest network with a queue.

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, check_ports, clos};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts.
    pub hosts: u32,
    /// Links between each host and the switch, each to a port of the host, at most 64. Default 1.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub ports: u16,
    /// Rate of every link. Default 100Gbps.
    #[serde(default = "clos::deck_rate")]
    pub rate: Rate,
    /// Propagation delay of every link. Default 200ns.
    #[serde(default = "clos::deck_delay")]
    pub delay: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("hosts", self.hosts, 2.., "one host alone has nobody to send to");
        check_ports(self.ports, findings);
        findings.link_rate("rate", self.rate);
        findings.latency("delay", self.delay);
    }
}

impl Spec {
    pub(super) fn size(&self) -> Size {
        let hosts = u64::from(self.hosts);
        let links = hosts * u64::from(self.ports);
        Size { hosts, switches: 1, links, most_ports: links }
    }

    pub(super) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        for host in 0..self.hosts {
            graph.add_host(&format!("host {host}"), self.ports);
        }
        let ports: Vec<NodeId> = graph.hosts().collect();
        let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
        for port in ports {
            graph.link(port, switch, self.rate, self.delay);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_two_links_from_every_other() {
        let spec = Spec { hosts: 3, ports: 1, rate: clos::deck_rate(), delay: clos::deck_delay() };
        let graph = spec.build();
        assert_eq!(graph.links().count() as u64, spec.size().links);
        for from in graph.hosts() {
            for to in graph.hosts().filter(|&to| to != from) {
                assert_eq!(graph.path(from, to).unwrap().len(), 2);
            }
        }
    }
}
