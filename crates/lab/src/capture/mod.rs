//! Captures of runs: the frames at chosen ports in octets, in files of the pcapng format.

mod addresses;
mod file;
mod octets;
mod tcp;

use std::collections::BTreeSet;

use floodway_model::{FlowId, Graph, NodeId, PortIx};
use floodway_scenario::{Variant, suggest};
use floodway_sim::capture::Wanted;

pub use addresses::{Addresses, destination_port, queue_pair, source_port};
pub use file::write;

/// The name of a capture in the folder of its run.
pub const NAME: &str = "capture.pcapng";

/// The word for all ports.
pub const ALL: &str = "all";

/// What is captured of a run, in words of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Where: [`ALL`], the name of a node for all its ports, or `NODE:PORT`.
    pub places: Vec<String>,
    /// The most frames of each port.
    pub most: u32,
    /// Only these flows, by their numbers; all if there are none.
    pub flows: Vec<u32>,
    /// The most octets that are kept of a frame.
    pub octets: u32,
}

/// The most frames of a port, unless another number is asked for.
pub const FRAMES: u32 = 10_000;
/// The most octets of a frame, unless another number is asked for: all of any frame.
pub const OCTETS: u32 = u16::MAX as u32;

/// Memory that a frame takes until the run has ended, in bytes.
const FRAME: u64 = 100;
/// Memory that its telemetry takes, in bytes.
const TELEMETRY: u64 = 150;

impl Choice {
    /// These places, and all else as usual.
    pub fn of(places: Vec<String>) -> Self {
        Self { places, most: FRAMES, flows: Vec::new(), octets: OCTETS }
    }

    /// The ports in a network, in its order. Fails with cause and remedy if there is no such place.
    pub fn ports(&self, graph: &Graph) -> Result<Vec<(NodeId, PortIx)>, String> {
        let mut chosen = BTreeSet::new();
        for place in &self.places {
            chosen.extend(ports_of(graph, place)?);
        }
        Ok(chosen.into_iter().collect())
    }

    /// Checks it for the first replication of a variant, which has this seed. Fails with cause and remedy.
    pub fn check(&self, variant: &Variant, seed: u64) -> Result<(), String> {
        self.ports(variant.graph())?;
        if !self.flows.is_empty() {
            // Flows are known only when they are made.
            let spec = variant.build_replication(0, seed);
            self.wanted(&spec.graph, spec.flows.len())?;
        }
        Ok(())
    }

    /// What a simulation has to keep, with this network and this many flows.
    pub(crate) fn wanted(&self, graph: &Graph, flows: usize) -> Result<Wanted, String> {
        let known = |flow: &&u32| (**flow as usize) < flows;
        if let Some(unknown) = self.flows.iter().find(|flow| !known(flow)) {
            return Err(format!(
                "there is no flow {unknown}: the run has {flows} flows, numbered from 0"
            ));
        }
        let chosen = self.flows.iter().copied().map(FlowId).collect();
        let flows = (!self.flows.is_empty()).then_some(chosen);
        Ok(Wanted { ports: self.ports(graph)?, most: self.most as usize, flows })
    }

    /// The most memory that the frames of a run with this network take, in bytes.
    pub fn memory(&self, graph: &Graph) -> u64 {
        let ports = self.ports(graph).map_or(0, |ports| ports.len() as u64);
        // Sent, arrived and dropped frames are kept apart until the run has ended.
        3 * ports * u64::from(self.most) * (FRAME + TELEMETRY)
    }
}

/// The ports that a word stands for.
fn ports_of(graph: &Graph, place: &str) -> Result<Vec<(NodeId, PortIx)>, String> {
    let all = |node: NodeId| {
        let ports = 0..graph.node(node).ports.len();
        ports.map(move |port| (node, PortIx(port as u16)))
    };
    if place == ALL {
        return Ok(graph.ids().flat_map(all).collect());
    }
    let named = |name: &str| graph.ids().find(|&id| graph.node(id).name == name);
    if let Some(node) = named(place) {
        return Ok(all(node).collect());
    }
    let (name, port) = place.rsplit_once(':').unwrap_or((place, ""));
    let Some(node) = named(name) else {
        let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        return Err(format!("there is no node `{name}` in the network; {}", nearby(name, &names)));
    };
    let ports = graph.node(node).ports.len();
    match port.parse::<u16>() {
        Ok(port) if usize::from(port) < ports => Ok(vec![(node, PortIx(port))]),
        _ => Err(format!(
            "`{name}` has no port `{port}`; its ports are numbered from 0 to {}",
            ports.saturating_sub(1)
        )),
    }
}

/// What else there is: the closest name, or a few.
fn nearby(name: &str, names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match suggest::closest(name, names.iter().copied()) {
        Some(closest) => format!("did you mean `{closest}`?"),
        None if names.len() <= SHOWN => format!("the nodes are: {}", names.join(", ")),
        None => format!(
            "the nodes are: {} and {} more; `{ALL}` stands for all",
            names[..SHOWN].join(", "),
            names.len() - SHOWN
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::graph::NodeKind;
    use floodway_model::{Duration, Rate};

    fn graph() -> Graph {
        let mut graph = Graph::default();
        let leaf = graph.add("leaf 0", NodeKind::Switch { tier: 0 });
        for number in 0..3 {
            let host = graph.add(format!("host {number}"), NodeKind::Host);
            graph.link(host, leaf, Rate::from_gbps(100), Duration::from_ns(200));
        }
        graph
    }

    fn ports(places: &[&str]) -> Result<Vec<(u32, u16)>, String> {
        let places = places.iter().map(|place| (*place).to_owned()).collect();
        let choice = Choice { places, most: 1, flows: Vec::new(), octets: 128 };
        let ports = choice.ports(&graph())?;
        Ok(ports.into_iter().map(|(node, port)| (node.0, port.0)).collect())
    }

    #[test]
    fn a_place_is_a_port_a_node_or_everything() {
        assert_eq!(ports(&["leaf 0:1"]).unwrap(), [(0, 1)]);
        assert_eq!(ports(&["host 2", "leaf 0:1", "host 2:0"]).unwrap(), [(0, 1), (3, 0)]);
        assert_eq!(ports(&["leaf 0"]).unwrap(), [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(ports(&["all"]).unwrap().len(), 6);
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        for (place, message) in [
            ("lef 0", "there is no node `lef 0` in the network; did you mean `leaf 0`?"),
            (
                "core",
                "there is no node `core` in the network; the nodes are: leaf 0, host 0, host 1, host 2",
            ),
            ("hots 1:0", "there is no node `hots 1` in the network; did you mean `host 1`?"),
            ("leaf 0:3", "`leaf 0` has no port `3`; its ports are numbered from 0 to 2"),
            ("host 0:x", "`host 0` has no port `x`; its ports are numbered from 0 to 0"),
        ] {
            assert_eq!(ports(&[place]).unwrap_err(), message);
        }
    }
}
