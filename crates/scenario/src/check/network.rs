//! Whether the topology can be built.

use std::collections::BTreeSet;

use floodway_model::Graph;
use floodway_model::check::Check;
use floodway_sim::MAX_PORTS;

use super::{Problems, files, is_error};
use crate::document::Document;
use crate::topology::Spec;

/// The most ports of a switch that the engine can number.
pub const MOST_PORTS: u64 = MAX_PORTS as u64;

/// More nodes than this would not fit into memory.
pub const MOST_NODES: u64 = 4_000_000;

/// More entries of forwarding tables than this, of all switches together, would not either: each
/// switch has one for every switch with hosts.
const MOST_ENTRIES: u64 = 1 << 30;

/// The network, if it can be built.
pub fn check(settings: &Document, findings: &mut Problems<'_>) -> Option<Graph> {
    let errors = |findings: &Problems<'_>| {
        findings.problems.iter().filter(|problem| is_error(problem)).count()
    };
    let before = errors(findings);
    settings.topology.check(&mut findings.within("topology"));
    if let Spec::File(spec) = &settings.topology {
        files::check_network(settings, spec.network()?, findings);
    }
    if errors(findings) > before {
        return None;
    }
    let size = settings.topology.size();
    let path = format!("topology.{}", settings.topology.name());
    if size.most_ports > MOST_PORTS {
        findings.error(
            &[&path],
            format!("one switch would have {} ports", size.most_ports),
            format!("at most {MOST_PORTS} are possible: make the network smaller"),
        );
    }
    let nodes = size.hosts.saturating_add(size.switches);
    if nodes > MOST_NODES {
        findings.error(
            &[&path],
            format!("the network would have {nodes} hosts and switches"),
            format!("at most {MOST_NODES} are possible: make it smaller"),
        );
    }
    if errors(findings) > before {
        return None;
    }
    let mut graph = settings.topology.build();
    settings.line.iter().for_each(|line| line.frame(&mut graph));
    let with_hosts: BTreeSet<_> = graph
        .hosts()
        .filter_map(|host| graph.node(host).ports.first())
        .map(|end| end.peer)
        .collect();
    if with_hosts.len() as u64 * size.switches > MOST_ENTRIES {
        findings.error(
            &[&path],
            format!(
                "each of {} switches would need a path to {} switches that have hosts",
                size.switches,
                with_hosts.len()
            ),
            format!("at most {MOST_ENTRIES} in all are possible: make the network smaller"),
        );
        return None;
    }
    Some(graph)
}
