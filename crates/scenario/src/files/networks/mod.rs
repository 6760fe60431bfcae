//! Networks from files.

pub mod hpcc;
pub mod htsim;
pub mod infragraph;

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extension;
use crate::text::{Place, Problem, Source};
use crate::topology::custom::MOST_TIERS;
use crate::topology::{Size, set_tiers};

/// Whose description of a network it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `topology.txt` of the HPCC simulator: the numbers of nodes, switches and links, the numbers
    /// of the switches, then lines of two ends, rate, delay and error rate, which must be 0. Hosts
    /// are `host N` and switches `switch N` with the N of the file. Lines behind that do not begin
    /// with a digit are ignored.
    Hpcc,
    /// A fat-tree of htsim (`.topo`), of two or three tiers. Hosts are `host N`; switches are
    /// `leaf N` and `spine N`, or `edge N`, `aggregation N` and `core N`. `Queue_up` and
    /// `Queue_down` are ignored: [switch.queue] says how large queues are. `Switch_Latency_ns` has
    /// to be the same in all tiers, and equal to `switch.latency`.
    Htsim,
    /// An infrastructure of InfraGraph, in YAML or JSON. GPUs (`xpu`) are hosts, in servers without them NICs, with the name of
    /// the component, like `server.0.xpu.1`; ports to other instances come before those within. Components that a
    /// link without a bandwidth joins are one. A component between two links, like a NIC, joins them to
    /// one, with the lower rate and the sum of the delays. Processors and memories are left out. A link without
    /// a latency has none.
    Infragraph,
}

impl Format {
    /// The format by the name of a file.
    pub fn of(path: &str) -> Option<Self> {
        match extension(path).as_str() {
            "txt" => Some(Self::Hpcc),
            "topo" => Some(Self::Htsim),
            "yaml" | "yml" | "json" => Some(Self::Infragraph),
            _ => None,
        }
    }

    /// Reads a network. Of InfraGraph, `rates` are those of links that have others than the file says, or none.
    pub fn read(self, source: &Arc<Source>, rates: &Rates) -> Result<Network, Problem> {
        if self != Self::Infragraph && !rates.is_empty() {
            let message = "links of this format have no names, and there are `rates`";
            return Err(Problem::error(Place::whole(source), message, "remove them"));
        }
        match self {
            Self::Hpcc => hpcc::read(source),
            Self::Htsim => htsim::read(source),
            Self::Infragraph => infragraph::read(source, rates),
        }
    }
}

/// Rates of links by name.
pub type Rates = BTreeMap<String, Rate>;

/// A network that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Hosts in order of their numbers, then switches.
    pub graph: Graph,
    /// What the file says that a switch takes to forward, if it says it.
    pub switch_latency: Option<Duration>,
}

impl Network {
    /// How large it is.
    pub fn size(&self) -> Size {
        let graph = &self.graph;
        Size {
            hosts: graph.first_ports().count() as u64,
            switches: graph.switches().count() as u64,
            links: graph.links().count() as u64,
            most_ports: graph.nodes.iter().map(|node| node.ports.len() as u64).max().unwrap_or(0),
        }
    }

    /// The places of the hosts by their names.
    pub fn host_numbers(&self) -> BTreeMap<String, u32> {
        let hosts = (0..).zip(self.graph.first_ports());
        hosts.map(|(number, host)| (self.graph.host_name(host).to_owned(), number)).collect()
    }
}

/// Refuses what no traffic can run on, and gives each switch its tier: the links between it and the
/// nearest switch that has hosts.
fn finish(graph: Graph, source: &Arc<Source>) -> Result<Graph, Problem> {
    let wrong =
        |message: String, help: &str| Err(Problem::error(Place::whole(source), message, help));
    let hosts = graph.hosts().count();
    if hosts < 2 {
        let message = "the network has fewer than 2 hosts".to_owned();
        return wrong(message, "one host alone has nobody to send to");
    }
    let lonely = graph.hosts().find(|&host| graph.node(host).ports.is_empty());
    if let Some(host) = lonely {
        let message = format!("`{}` has no link", graph.node(host).name);
        return wrong(message, "add one, or leave the host out");
    }
    let distances = graph.distances(NodeId(0));
    if let Some(apart) = distances.iter().position(|distance| distance.is_none()) {
        let (name, first) = (&graph.nodes[apart].name, &graph.nodes[0].name);
        let message = format!("there is no path between `{name}` and `{first}`");
        return wrong(message, "add links, or leave one part of the network out");
    }
    with_tiers(graph, source)
}

/// Gives each switch its tier.
fn with_tiers(mut graph: Graph, source: &Arc<Source>) -> Result<Graph, Problem> {
    set_tiers(&mut graph);
    let far = |kind: NodeKind| matches!(kind, NodeKind::Switch { tier } if tier >= MOST_TIERS);
    if let Some(node) = graph.nodes.iter().find(|node| far(node.kind)) {
        let message =
            format!("`{}` is more than {MOST_TIERS} links from the nearest host", node.name);
        return Err(Problem::error(Place::whole(source), message, "at most so many are possible"));
    }
    Ok(graph)
}

#[cfg(test)]
mod tests;
