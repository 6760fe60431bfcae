//! Whether the topology can be built.

use std::collections::BTreeSet;

use floodway_model::{Graph, Rate};
use floodway_sim::MAX_PORTS;

use super::{Findings, custom, files, is_error};
use crate::document::Document;
use crate::topology::{Spec, clos, dumbbell, fat_tree, parking_lot, ring, star};

/// The most ports of a switch that the engine can number.
pub const MOST_PORTS: u64 = MAX_PORTS as u64;

/// More nodes than this would not fit into memory.
pub const MOST_NODES: u64 = 4_000_000;

/// More entries of forwarding tables than this, of all switches together, would not either: each
/// switch has one for every switch with hosts.
const MOST_ENTRIES: u64 = 1 << 30;

/// The network, if it can be built.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Option<Graph> {
    let errors = |findings: &Findings<'_>| {
        findings.problems.iter().filter(|problem| is_error(problem)).count()
    };
    let before = errors(findings);
    match &settings.topology {
        Spec::Clos(spec) => check_clos(spec, findings),
        Spec::FatTree(spec) => check_fat_tree(spec, findings),
        Spec::Star(spec) => check_star(spec, findings),
        Spec::Dumbbell(spec) => check_dumbbell(spec, findings),
        Spec::ParkingLot(row) => {
            let help = "write at least 2; for a single switch use [topology.star]";
            check_row(("parking_lot", 2, help), row, findings);
        }
        Spec::Ring(ring::Spec(row)) => {
            let help = "write at least 3; for a line of switches use [topology.parking_lot]";
            check_row(("ring", 3, help), row, findings);
        }
        Spec::Custom(spec) => custom::check(spec, findings),
        Spec::File(spec) => files::check_network(settings, spec.network()?, findings),
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
    let graph = settings.topology.build();
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
    check_leaf_groups(spec, findings);
}

/// Leaves that are there, each in one group.
fn check_leaf_groups(spec: &clos::Spec, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for (number, group) in spec.leaf.iter().enumerate() {
        let path = |field: &str| format!("topology.clos.leaf.{number}.{field}");
        for (place, &leaf) in group.leaves.iter().enumerate() {
            let (written, list) = (path(&format!("leaves.{place}")), path("leaves"));
            if leaf >= spec.leaves {
                let message = format!("there is no leaf {leaf}: there are {}", spec.leaves);
                findings.error(&[&written, &list], message, "leaves are counted from 0");
            } else if !seen.insert(leaf) {
                let help = "write every leaf once: its links have one rate";
                findings.error(&[&written, &list], format!("leaf {leaf} is named twice"), help);
            }
        }
        for (field, rate) in [("host_rate", group.host_rate), ("fabric_rate", group.fabric_rate)] {
            if let Some(rate) = rate {
                findings.link_rate(&path(field), rate);
            }
        }
    }
}

fn check_fat_tree(spec: &fat_tree::Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("topology.fat_tree.{field}");
    match (spec.k, spec.missing().as_slice()) {
        (Some(k), _) if k == 0 || k % 2 == 1 => {
            let help = "write an even number: each switch has k/2 links down and k/2 up";
            let message = format!("a k-ary fat-tree with k = {k} is not possible");
            findings.error(&[&path("k")], message, help);
        }
        (None, missing) if !missing.is_empty() => {
            let names: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
            findings.error(
                &["topology.fat_tree"],
                format!("{} and `k` are missing", names.join(", ")),
                "write the numbers, or `k`, from which all that is not written follows",
            );
        }
        _ => check_counts(&spec.counts(), findings),
    }
    findings.link_rate(&path("host_rate"), spec.host_rate);
    findings.link_rate(&path("fabric_rate"), spec.fabric_rate);
    findings.latency(&path("host_delay"), spec.host_delay);
    findings.latency(&path("fabric_delay"), spec.fabric_delay);
}

fn check_counts(counts: &fat_tree::Counts, findings: &mut Findings<'_>) {
    let fat_tree::Counts { cores, aggregations_per_pod, .. } = *counts;
    const ONE: &str = "write at least 1";
    const TIERS: &str = "write at least 1; for two tiers use [topology.clos]";
    let numbers = [
        ("pods", counts.pods, "pods", ONE),
        ("edges_per_pod", counts.edges_per_pod, "edge switches", ONE),
        ("hosts_per_edge", counts.hosts_per_edge, "hosts at each edge switch", ONE),
        ("aggregations_per_pod", aggregations_per_pod, "aggregation switches", TIERS),
        ("cores", cores, "core switches", TIERS),
    ];
    for (field, _, what, help) in numbers.iter().filter(|(_, number, ..)| *number == 0) {
        let path = format!("topology.fat_tree.{field}");
        findings.error(&[&path], format!("there are 0 {what}"), *help);
    }
    if cores > 0 && aggregations_per_pod > 0 && cores % aggregations_per_pod != 0 {
        findings.error(
            &["topology.fat_tree.cores", "topology.fat_tree.aggregations_per_pod"],
            format!(
                "{cores} core switches cannot be shared out evenly to {aggregations_per_pod} \
                 aggregation switches per pod"
            ),
            "make `cores` a multiple of `aggregations_per_pod`: each has a link to every pod",
        );
    }
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

fn check_dumbbell(spec: &dumbbell::Spec, findings: &mut Findings<'_>) {
    let path = |field: &str| format!("topology.dumbbell.{field}");
    for (side, hosts) in [("left", spec.left), ("right", spec.right)] {
        if hosts == 0 {
            let message = format!("there are 0 hosts on the {side}");
            let help = "write at least 1; for a single switch use [topology.star]";
            findings.error(&[&path(side)], message, help);
        }
    }
    findings.link_rate(&path("host_rate"), spec.host_rate);
    findings.link_rate(&path("bottleneck_rate"), spec.bottleneck_rate);
    findings.latency(&path("host_delay"), spec.host_delay);
    findings.latency(&path("bottleneck_delay"), spec.bottleneck_delay);
    for (number, &delay) in spec.left_delays.iter().enumerate() {
        findings.latency(&path(&format!("left_delays.{number}")), delay);
    }
    let all = spec.host_rate.0.saturating_mul(spec.left.max(spec.right).into());
    if all <= spec.bottleneck_rate.0 && all > 0 {
        findings.warn(
            &[&path("bottleneck_rate"), &path("host_rate"), "topology.dumbbell"],
            format!(
                "the hosts of one side send {} in all, and the link between the switches carries {}",
                Rate(all),
                spec.bottleneck_rate
            ),
            "it is no bottleneck: lower `bottleneck_rate`, or raise `host_rate`",
        );
    }
}

/// Switches one after the other: the topology's name, the fewest that make it one, and the remedy.
fn check_row(
    (name, fewest, help): (&str, u32, &str),
    row: &parking_lot::Spec,
    findings: &mut Findings<'_>,
) {
    let path = |field: &str| format!("topology.{name}.{field}");
    if row.switches < fewest {
        let message = match row.switches {
            1 => "there is 1 switch".to_owned(),
            switches => format!("there are {switches} switches"),
        };
        findings.error(&[&path("switches")], message, help);
    }
    if row.hosts_per_switch == 0 {
        let message = "there are 0 hosts at each switch";
        findings.error(&[&path("hosts_per_switch")], message, "write at least 1");
    }
    findings.link_rate(&path("host_rate"), row.host_rate);
    findings.link_rate(&path("fabric_rate"), row.fabric_rate);
    findings.latency(&path("host_delay"), row.host_delay);
    findings.latency(&path("fabric_delay"), row.fabric_delay);
}
