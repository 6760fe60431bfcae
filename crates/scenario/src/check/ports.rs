//! Whether the ports of hosts that flows are to take are there, and lead to all hosts.

use std::collections::BTreeSet;

use floodway_model::{Graph, NodeId};

use super::Problems;
use crate::document::Document;
use crate::ports::{Ports, part_of_switches};
use crate::workload;

const HOST: &str = "host.ports";

/// Checks the rules of hosts and workloads.
pub fn check(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let of_workloads = settings.workload.iter().enumerate();
    let of_workloads = of_workloads
        .filter_map(|(number, entry)| Some((format!("workload.{number}.ports"), entry.ports?)));
    let of_hosts = (HOST.to_owned(), settings.host.ports);
    if !graph.has_several_ports() {
        let first = Ports::Number(0);
        let written = |(_, rule): &(String, Ports)| ![Ports::Hash, first].contains(rule);
        for (path, _) in of_workloads.chain([of_hosts]).filter(written) {
            findings.error(
                &[&path],
                "no host of this network has several ports",
                "remove it, or choose a network in which hosts have them: `ports` of [topology.star], [topology.clos] \
                 and [topology.fat_tree], [topology.rails] with NVLink, or [topology.custom]",
            );
        }
        return;
    }
    for (number, entry) in settings.workload.iter().enumerate() {
        let workload::Spec::Linux(_) = &entry.traffic else { continue };
        let of_several = workload::linux::all(settings).into_keys().find(|&host| {
            graph
                .first_ports()
                .nth(host as usize)
                .is_some_and(|host| graph.ports_of(host).len() > 1)
        });
        if let Some(host) = of_several {
            findings.error(
                &[&format!("workload.{number}.linux.hosts"), &format!("workload.{number}.linux")],
                format!("host {host} has several ports, and a Linux kernel has one NIC here"),
                "name hosts with one port, or give them one",
            );
        }
    }
    let own = settings.workload.iter().all(|entry| entry.ports.is_some());
    if own && settings.host.ports != Ports::Hash {
        findings.warn(
            &[HOST],
            "every workload has its own `ports`",
            "remove it here, or from a workload",
        );
    }
    let of_hosts = Some(of_hosts).filter(|_| !own);
    for (path, rule) in of_workloads.chain(of_hosts) {
        if let Ports::Number(number) = rule {
            check_number(&path, number, graph, findings);
        }
    }
}

/// Whether all hosts have the port of this number, and whether it leads to all hosts.
fn check_number(path: &str, number: u16, graph: &Graph, findings: &mut Problems<'_>) {
    let port = |host: NodeId| graph.ports_of(host).nth(number.into());
    if let Some(host) = graph.first_ports().find(|&host| port(host).is_none()) {
        let ports = graph.ports_of(host).len();
        let name = graph.host_name(host);
        findings.error(
            &[path],
            match ports {
                1 => format!("`{name}` has no port {number}: it has one port, 0"),
                _ => format!("`{name}` has no port {number}: it has the ports 0 to {}", ports - 1),
            },
            "name a port that every host has, or write \"hash\", \"round_robin\" or \"by_destination\"",
        );
        return;
    }
    let parts = part_of_switches(graph);
    let part = |port: NodeId| parts[graph.node(port).ports[0].peer.index()];
    let from: BTreeSet<u32> = graph.first_ports().filter_map(port).map(part).collect();
    // Those of one part reach each host that has a port in it; of several parts, each is to reach all.
    for &of in &from {
        let missed =
            graph.first_ports().find(|&host| graph.ports_of(host).all(|port| part(port) != of));
        let sender =
            graph.first_ports().find(|&host| port(host).is_some_and(|port| part(port) == of));
        if let Some((sender, missed)) = sender.zip(missed) {
            let [sender, missed] = [sender, missed].map(|host| graph.host_name(host));
            findings.error(
                &[path],
                format!("port {number} of `{sender}` does not lead to `{missed}`"),
                "name a port from which every host is reached, or write \"hash\", \"round_robin\" or \"by_destination\"",
            );
            return;
        }
    }
}
