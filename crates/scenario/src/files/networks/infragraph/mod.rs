//! Infrastructures of [InfraGraph](https://infragraph.dev), in YAML or JSON: the messages are in `document`, the graph that
//! follows from them in `expand`, and the network of hosts and switches in `contract`.

mod contract;
mod document;
mod expand;

use std::sync::Arc;

use super::{Network, Rates, with_tiers};
use crate::text::{Place, Problem, Source};
use document::Infrastructure;

/// Reads a network; `rates` are those of links by name.
pub fn read(source: &Arc<Source>, rates: &Rates) -> Result<Network, Problem> {
    let from: Infrastructure = serde_yaml_ng::from_str(source.inner()).map_err(|error| {
        let place = match error.location() {
            Some(at) => Place::line(source, at.line().max(1)),
            None => Place::whole(source),
        };
        let help = "the schema is that of InfraGraph 2 and 3; YAML and JSON are read, also as the package `infragraph` \
                    writes them with `serialize`";
        Problem::error(place, format!("this is no infrastructure of InfraGraph: {error}"), help)
    })?;
    let graph = expand::expand(&from).and_then(|expanded| contract::network(&expanded, rates));
    let graph =
        graph.map_err(|(message, help)| Problem::error(Place::whole(source), message, help))?;
    Ok(Network { graph: with_tiers(graph, source)?, switch_latency: None })
}

/// The numbers of nodes and edges of the graph of a file, for comparison with the package's own.
#[cfg(test)]
fn counted(text: &str) -> (usize, usize) {
    let from: Infrastructure = serde_yaml_ng::from_str(text).expect("it is an infrastructure");
    let graph = expand::expand(&from).expect("it can be expanded");
    (graph.nodes.len(), graph.edges.len())
}

#[cfg(test)]
mod tests;
