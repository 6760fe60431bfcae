//! A network that is written out: hosts, switches and links by name, every link with a rate and a
//! delay of its own.

mod check;
mod names;

use std::collections::BTreeMap;

use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};

use super::{Size, clos};
use crate::check::MOST_NODES;

pub use check::MOST_TIERS;
pub(crate) use check::other;
pub use names::{ADVICE, BETWEEN, Names};

/// Parameters. Hosts and switches have the names that are written, and the numbers of their order.
/// A name that ends in two numbers with a dash between them is several: "client 0-3" is client 0,
/// client 1, client 2 and client 3. A host with several links has as many ports, in the order of the links. The tier of a switch is the number of links between it and the
/// nearest switch that has hosts. Traffic takes the paths with the fewest links, whatever their
/// rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts, like ["client 0-3", "server"]. Each has a link to a switch, or several, at most 64.
    pub hosts: Vec<String>,
    /// Switches, like ["access 0-1", "core"].
    pub switches: Vec<String>,
    /// Links. Ports have the numbers of their links' order.
    #[schemars(transform = or_text)]
    pub links: Vec<Link>,
    /// Rate of the links that do not say otherwise. Default 100Gbps.
    #[serde(default = "clos::deck_rate")]
    pub rate: Rate,
    /// Propagation delay of the links that do not say otherwise. Default 200ns.
    #[serde(default = "clos::deck_delay")]
    pub delay: Duration,
}

/// Links that are alike. One that has nothing but its `ends` is written as their text alone:
/// links = ["client 0-3 -- access", { ends = "access -- core", rate = "1Gbps" }]. Ports have the
/// numbers of their links' order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What is joined, like "access -- core". Where several names stand on a side, such as
    /// "client 0-3" or "client 0, client 5", each has a link to each on the other side.
    pub ends: String,
    /// Rate. Default that of the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rate from what stands on the right of the "--" in `ends` to what stands on the left, if it is
    /// another one. Default `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_back: Option<Rate>,
    /// Propagation delay, the same in both directions. Default that of the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Parallel links, between which flows are distributed as between other equal-cost paths.
    /// Default 1.
    #[serde(default = "one")]
    pub count: u32,
}

fn one() -> u32 {
    1
}

/// The schema of a list of links, with the text that an element may be instead of a table.
fn or_text(list: &mut Schema) {
    if let Some(element) = list.get_mut("items") {
        let text = json_schema!({ "type": "string" });
        *element = serde_json::json!({ "anyOf": [element.take(), text] });
    }
}

/// Hosts and switches by name and number, hosts first.
pub struct Nodes {
    /// By number.
    pub names: Vec<String>,
    /// By name; of two that have the same, the first.
    pub numbers: BTreeMap<String, u32>,
    /// How many of them are hosts.
    pub hosts: u32,
}

impl Nodes {
    /// Whether the node of this number is a host.
    pub fn is_host(&self, number: u32) -> bool {
        number < self.hosts
    }
}

impl Link {
    /// The names on both sides; `None` if there are not two sides.
    pub fn sides(&self) -> Option<[Vec<&str>; 2]> {
        let (left, right) = self.ends.split_once(BETWEEN)?;
        (!right.contains(BETWEEN))
            .then(|| [left, right].map(|side| side.split(',').map(str::trim).collect()))
    }

    /// The nodes on both sides; `None` if one is not there.
    pub fn nodes(&self, nodes: &Nodes) -> Option<[Vec<u32>; 2]> {
        let side = |names: Vec<&str>| -> Option<Vec<u32>> {
            let mut numbers = Vec::new();
            for names in names {
                for name in Names::parse(names).ok()?.each() {
                    numbers.push(*nodes.numbers.get(&name)?);
                }
            }
            Some(numbers)
        };
        let [left, right] = self.sides()?;
        Some([side(left)?, side(right)?])
    }
}

impl Spec {
    pub(crate) fn size(&self) -> Size {
        let count = |written: &[String]| {
            let counts = written.iter().filter_map(|names| Some(Names::parse(names).ok()?.count()));
            counts.fold(0u64, u64::saturating_add)
        };
        let (hosts, switches) = (count(&self.hosts), count(&self.switches));
        let (mut links, mut most_ports) = (0u64, 0);
        // What is larger is refused for that, and names are not to be written out before.
        if hosts.saturating_add(switches) <= MOST_NODES {
            let nodes = self.nodes();
            let mut ports = vec![0u64; nodes.names.len()];
            for link in &self.links {
                let Some(sides) = link.nodes(&nodes) else { continue };
                let each =
                    |side: &Vec<u32>| u64::from(link.count).saturating_mul(side.len() as u64);
                for (side, other) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
                    for &node in side {
                        let ports = &mut ports[node as usize];
                        *ports = ports.saturating_add(each(other));
                    }
                }
                links = links.saturating_add(each(&sides[0]).saturating_mul(sides[1].len() as u64));
            }
            most_ports = ports.into_iter().max().unwrap_or(0);
        }
        Size { hosts, switches, links, most_ports }
    }

    /// The hosts and switches. What is no name is left out.
    pub fn nodes(&self) -> Nodes {
        let read = |written: &'_ [String]| -> Vec<String> {
            let names = written.iter().filter_map(|names| Names::parse(names).ok());
            names.flat_map(|names| names.each()).collect()
        };
        let mut names = read(&self.hosts);
        let hosts = names.len() as u32;
        names.extend(read(&self.switches));
        let mut numbers = BTreeMap::new();
        for (number, name) in (0..).zip(&names) {
            numbers.entry(name.clone()).or_insert(number);
        }
        Nodes { names, numbers, hosts }
    }

    /// The network; every switch can be reached from a host.
    pub(crate) fn build(&self) -> Graph {
        let mut graph = Graph::default();
        let nodes = self.nodes();
        let ports = self.host_ports(&nodes);
        // By number: the port of a host for its next link, or the switch.
        let mut next: Vec<NodeId> = (0..)
            .zip(&nodes.names)
            .map(|(number, name)| match ports.get(number as usize) {
                Some(&ports) => graph.add_host(name, ports.max(1)),
                None => graph.add(name, NodeKind::Switch { tier: 0 }),
            })
            .collect();
        let mut end = |number: u32| {
            let node = next[number as usize];
            if nodes.is_host(number) {
                next[number as usize] = NodeId(node.0 + 1);
            }
            node
        };
        for link in &self.links {
            let (rate, delay) = (link.rate.unwrap_or(self.rate), link.delay.unwrap_or(self.delay));
            let rates = [rate, link.rate_back.unwrap_or(rate)];
            let [left, right] = link.nodes(&nodes).expect("the ends of a link are there");
            for &left in &left {
                for &right in &right {
                    for _ in 0..link.count {
                        graph.link_each_way(end(left), end(right), rates, delay);
                    }
                }
            }
        }
        set_tiers(&mut graph);
        graph
    }

    /// By host: how many ports it has, one for each of its links.
    fn host_ports(&self, nodes: &Nodes) -> Vec<u16> {
        let mut ports = vec![0u16; nodes.hosts as usize];
        for link in &self.links {
            let Some([left, right]) = link.nodes(nodes) else { continue };
            for (side, other) in [(&left, &right), (&right, &left)] {
                let more = (other.len() as u64).saturating_mul(link.count.into());
                for &host in side.iter().filter(|&&node| nodes.is_host(node)) {
                    let ports = &mut ports[host as usize];
                    *ports = (*ports).saturating_add(u16::try_from(more).unwrap_or(u16::MAX));
                }
            }
        }
        ports
    }
}

/// Gives each switch its tier: the number of links between it and the nearest switch that has
/// hosts; the most if no host can be reached, or if it is more.
pub(crate) fn set_tiers(graph: &mut Graph) {
    let distances = distances(graph);
    for (node, distance) in graph.nodes.iter_mut().zip(distances) {
        if let NodeKind::Switch { tier } = &mut node.kind {
            *tier = distance.map_or(u8::MAX, |links| (links - 1).try_into().unwrap_or(u8::MAX));
        }
    }
}

/// Links between every node and the nearest host; `None` where no host can be reached.
fn distances(graph: &Graph) -> Vec<Option<u32>> {
    let mut distances = vec![None; graph.nodes.len()];
    let mut ring: Vec<NodeId> = graph.hosts().collect();
    for links in 0.. {
        ring.retain(|node| distances[node.index()].is_none());
        if ring.is_empty() {
            break;
        }
        ring.iter().for_each(|node| distances[node.index()] = Some(links));
        let ends = ring.iter().flat_map(|&node| &graph.node(node).ports);
        ring = ends.map(|end| end.peer).collect();
    }
    distances
}

#[cfg(test)]
mod tests;
