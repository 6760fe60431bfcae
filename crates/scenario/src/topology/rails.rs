//! A rail-optimized network of GPU servers: the GPUs of a server with the same number in every server, whose NICs make
//! a rail, hang on one switch (Wang et al., HotI 2024). In each server the GPUs can be joined by a switch of their own,
//! as with NVLink.

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, check_links};

/// Parameters. Each GPU is a host, and host g + s x `gpus` is GPU g of server s. With NVLink it has two ports: port 0 is
/// its NIC and port 1 its NVLink. Rates and delays without another source are those of the Spectrum-X template of
/// SimAI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Servers.
    pub servers: u32,
    /// GPUs of each server, each with a NIC: as many rails, each a switch.
    pub gpus: u32,
    /// Spine switches, each with a link to every rail switch; 0 for rails that do not meet (Wang et al., HotI 2024:
    /// rail-only). Default as many as servers: without oversubscription if all links are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Rate of the links between NICs and rail switches. Default 400Gbps.
    #[serde(default = "nic_rate")]
    pub nic_rate: Rate,
    /// Propagation delay of these links. Default 500ns.
    #[serde(default = "nic_delay")]
    pub nic_delay: Duration,
    /// Rate of the links between rail switches and spines. Default 400Gbps.
    #[serde(default = "nic_rate")]
    pub fabric_rate: Rate,
    /// Propagation delay of these links. Default 500ns.
    #[serde(default = "nic_delay")]
    pub fabric_delay: Duration,
    /// NVLink: a switch in each server, with a link to each of its GPUs. The switch has the settings of all switches.
    /// `{}` for the default rate and delay. Default none: GPUs of a server reach each other by their NICs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlink: Option<Nvlink>,
}

/// Links in servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nvlink {
    /// Rate of a link between a GPU and the switch of its server, in each direction. Default 2880Gbps.
    pub rate: Rate,
    /// Propagation delay of these links. Default 25ns. A simulation advances in steps no longer than the shortest time
    /// over a link, so that short links make it slower.
    pub delay: Duration,
}

impl Default for Nvlink {
    fn default() -> Self {
        Self { rate: Rate::from_gbps(2_880), delay: Duration::from_ns(25) }
    }
}

fn nic_rate() -> Rate {
    Rate::from_gbps(400)
}

fn nic_delay() -> Duration {
    Duration::from_ns(500)
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("servers", self.servers, 1.., "");
        findings.range("gpus", self.gpus, 1.., "each has a NIC");
        if self.servers == 1 && self.gpus == 1 {
            findings.error("servers", "one host alone has nobody to send to", "write at least 2");
        }
        check_links("nic", self.nic_rate, self.nic_delay, findings);
        check_links("fabric", self.fabric_rate, self.fabric_delay, findings);
        if let Some(nvlink) = &self.nvlink {
            findings.link_rate("nvlink.rate", nvlink.rate);
            findings.latency("nvlink.delay", nvlink.delay);
        }
    }
}

impl Spec {
    /// Spine switches, as written or by the rule.
    pub fn spines(&self) -> u32 {
        self.spines.unwrap_or(self.servers)
    }

    pub(super) fn size(&self) -> Size {
        let [servers, gpus, spines] = [self.servers, self.gpus, self.spines()].map(u64::from);
        let hosts = servers * gpus;
        let (in_servers, nvlinks) = match self.nvlink {
            Some(_) => (servers, hosts),
            None => (0, 0),
        };
        let of_rail = servers.saturating_add(spines);
        let in_server = if in_servers > 0 { gpus } else { 0 };
        Size {
            hosts,
            switches: gpus.saturating_add(spines).saturating_add(in_servers),
            links: hosts.saturating_add(nvlinks).saturating_add(gpus * spines),
            most_ports: of_rail.max(gpus).max(in_server),
        }
    }

    pub(super) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        let ports = if self.nvlink.is_some() { 2 } else { 1 };
        let hosts: Vec<NodeId> = (0..self.servers * self.gpus)
            .map(|host| graph.add_host(&format!("host {host}"), ports))
            .collect();
        let mut switches = |name: &str, count: u32, tier: u8| -> Vec<NodeId> {
            let kind = NodeKind::Switch { tier };
            (0..count).map(|number| graph.add(format!("{name} {number}"), kind)).collect()
        };
        let rails = switches("rail", self.gpus, 0);
        let in_servers = if self.nvlink.is_some() { self.servers } else { 0 };
        let in_servers = switches("nvlink", in_servers, 0);
        let spines = switches("spine", self.spines(), 1);
        for (number, &host) in hosts.iter().enumerate() {
            let rail = rails[number % self.gpus as usize];
            graph.link(host, rail, self.nic_rate, self.nic_delay);
        }
        if let Some(nvlink) = &self.nvlink {
            for (hosts, &switch) in hosts.chunks(self.gpus as usize).zip(&in_servers) {
                for host in hosts {
                    graph.link(NodeId(host.0 + 1), switch, nvlink.rate, nvlink.delay);
                }
            }
        }
        for &rail in &rails {
            for &spine in &spines {
                graph.link(rail, spine, self.fabric_rate, self.fabric_delay);
            }
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, built_as_said};

    fn spec(nvlink: bool) -> Spec {
        Spec {
            servers: 3,
            gpus: 2,
            spines: None,
            nic_rate: nic_rate(),
            nic_delay: nic_delay(),
            fabric_rate: nic_rate(),
            fabric_delay: nic_delay(),
            nvlink: nvlink.then(Nvlink::default),
        }
    }

    #[test]
    fn the_nics_of_a_number_are_at_one_switch_and_the_gpus_of_a_server_at_another() {
        let graph = built_as_said(&topology::Spec::Rails(spec(true)));
        let peer = |port: NodeId| graph.node(graph.node(port).ports[0].peer).name.as_str();
        let peers: Vec<[&str; 2]> =
            graph.first_ports().map(|host| [peer(host), peer(NodeId(host.0 + 1))]).collect();
        let server = |n: &'static str| [["rail 0", n], ["rail 1", n]];
        assert_eq!(peers, [server("nvlink 0"), server("nvlink 1"), server("nvlink 2")].concat());
        let nvlink = graph.node(NodeId(1)).ports[0];
        assert_eq!((nvlink.rate, nvlink.delay), (Rate::from_gbps(2_880), Duration::from_ns(25)));
    }

    #[test]
    fn without_nvlink_each_gpu_has_one_port() {
        let graph = built_as_said(&topology::Spec::Rails(spec(false)));
        assert!(!graph.has_several_ports());
        // By the rail, and by rail, spine and rail.
        assert_eq!(graph.path(NodeId(0), NodeId(2)).unwrap().len(), 2);
        assert_eq!(graph.path(NodeId(0), NodeId(1)).unwrap().len(), 4);
    }
}
