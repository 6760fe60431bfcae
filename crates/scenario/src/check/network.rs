//! Whether the topology can be built.

use floodway_model::Graph;
use floodway_sim::engine::MAX_PORTS;

use super::Findings;
use crate::document::Document;
use crate::topology::{Spec, clos, star};

/// What the engine can number.
const MOST_PORTS: u64 = MAX_PORTS as u64;

/// More nodes than this would not fit into memory.
const MOST_NODES: u64 = 4_000_000;

/// The network, if it can be built.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<Graph> {
    let before = findings.problems.len();
    match &settings.topology {
        Spec::Clos(spec) => check_clos(spec, findings),
        Spec::Star(spec) => check_star(spec, findings),
    }
    if findings.problems.len() > before {
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
    (findings.problems.len() == before).then(|| settings.topology.build())
}

fn check_clos(spec: &clos::Spec, findings: &mut Findings<'_>) {
    const LEAVES: &str = "topology.clos.leaves";
    let clos::Spec { leaves, spines, hosts_per_leaf, .. } = *spec;
    if leaves == 0 {
        findings.error(&[LEAVES], "there are 0 leaves", "write at least 1");
    } else if leaves % 2 == 1 && (spines.is_none() || hosts_per_leaf.is_none()) {
        let missing = match (spines, hosts_per_leaf) {
            (None, None) => "`spines` and `hosts_per_leaf` are",
            (None, _) => "`spines` is",
            _ => "`hosts_per_leaf` is",
        };
        findings.error(
            &[LEAVES],
            format!("{missing} half of `leaves` unless written, and {leaves} is odd"),
            "make `leaves` even, or write `spines` and `hosts_per_leaf`",
        );
    } else {
        if spec.spines() == 0 {
            let help = "write at least 1; for a single switch use [topology.star]";
            findings.error(&["topology.clos.spines", LEAVES], "there are 0 spines", help);
        }
        if spec.hosts_per_leaf() == 0 {
            let paths = ["topology.clos.hosts_per_leaf", LEAVES];
            findings.error(&paths, "there are 0 hosts at each leaf", "write at least 1");
        }
    }
    findings.link_rate("topology.clos.host_rate", spec.host_rate);
    findings.link_rate("topology.clos.fabric_rate", spec.fabric_rate);
    findings.latency("topology.clos.host_delay", spec.host_delay);
    findings.latency("topology.clos.fabric_delay", spec.fabric_delay);
}

fn check_star(spec: &star::Spec, findings: &mut Findings<'_>) {
    if spec.hosts < 2 {
        let message = match spec.hosts {
            0 => "there are 0 hosts",
            _ => "one host alone has nobody to send to",
        };
        findings.error(&["topology.star.hosts"], message, "write at least 2");
    }
    findings.link_rate("topology.star.rate", spec.rate);
    findings.latency("topology.star.delay", spec.delay);
}
