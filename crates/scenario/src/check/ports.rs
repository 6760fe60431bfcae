//! Whether the ports of hosts that flows are to take are there, and lead to all hosts.

use std::collections::BTreeSet;

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId};
use floodway_sim::failure::stand_ins;

use super::Problems;
use super::measured::MOST_FLOWS;
use crate::document::Document;
use crate::ports::{self, Ports};
use crate::topology;
use crate::workload::{self, Ready};

const HOST: &str = "host.ports";
const FAILOVER: &str = "host.failover";
const NONE: &str = "no host of this network has several ports";
const OTHER_NETWORK: &str = "remove it, or choose a network in which hosts have them: `ports` of [topology.star], \
                             [topology.clos] and [topology.fat_tree], [topology.rails] with NVLink, or [topology.custom]";

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
            findings.error(&[&path], NONE, OTHER_NETWORK);
        }
        if settings.host.failover {
            findings.error(&[FAILOVER], NONE, OTHER_NETWORK);
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
    check_divided(settings, graph, findings);
    check_failover(settings, graph, findings);
    let of_hosts = Some(of_hosts).filter(|_| !own);
    for (path, rule) in of_workloads.chain(of_hosts) {
        if let Ports::Number(number) = rule {
            check_number(&path, number, graph, findings);
        }
    }
}

/// Whether a port can stand in for another one, and one fails.
fn check_failover(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    if !settings.host.failover {
        return;
    }
    let links = settings.failure.iter().flat_map(|entry| entry.build(graph));
    let ends = links.flat_map(|failure| {
        let end = &graph.node(failure.node).ports[failure.port.index()];
        [(failure.node, failure.port), (end.peer, end.peer_port)]
    });
    let mut ports = ends.filter(|(node, _)| graph.node(*node).kind == NodeKind::Host).peekable();
    if ports.peek().is_none() {
        findings.warn(
            &[FAILOVER],
            "no link of a host fails, so `failover` has no effect",
            "add a [[failure]] with the link of a host, like link = [\"host 0.0\", \"leaf 0\"], or remove it",
        );
        return;
    }
    if let Some((port, _)) =
        ports.find(|&port| stand_ins(graph, &[port].into_iter().collect()).is_empty())
    {
        let name = &graph.node(port).name;
        findings.error(
            &[FAILOVER],
            format!("no port of its host can stand in for `{name}`: none is in the same part of the network"),
            "remove it, or join the switches of both ports, as spines join leaves: frames to a port that is down are \
             sent to the other one by switches that reach both",
        );
    }
}

/// Whether workloads whose messages are divided have messages that can be.
fn check_divided(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    findings.within("host").positive("pxn_chunk", settings.host.pxn_chunk, "NCCL has \"128KiB\"");
    for (number, entry) in settings.workload.iter().enumerate() {
        let rule = entry.ports.unwrap_or(settings.host.ports);
        let name = match rule {
            Ports::Stripe => "stripe",
            Ports::Pxn => "pxn",
            _ => continue,
        };
        let own = format!("workload.{number}.ports");
        let member = entry.traffic.name();
        let (what, help) = if !has_messages(&entry.traffic) {
            let what = format!(
                "`{name}` divides messages into several flows, and `{member}` measures flows one by one"
            );
            let help = "write ports = \"hash\" for this workload: `stripe` and `pxn` are for `collective`, `all_reduce`, \
                        `all_to_all`, `goal`, `chakra`, `training` and `list`";
            (what, help)
        } else if rule == Ports::Pxn && has_endless(&entry.traffic) {
            let what = "`pxn` hands messages on in chunks, and a flow of the list has no size";
            (what.to_owned(), "give all flows of the list `bytes`, or write ports = \"hash\"")
        } else if rule == Ports::Pxn && !ports::has_relays(graph) {
            let what = "no host has another one in its server that is at the switch of a third: `pxn` relays nothing";
            let help = "use [topology.rails] with several servers and GPUs and with [topology.rails.nvlink], or write \
                        ports = \"hash\"";
            (what.to_owned(), help)
        } else {
            continue;
        };
        findings.error(&[&own, HOST, &format!("workload.{number}")], what, help);
    }
}

/// Whether a workload consists of messages that others wait for, or of a list.
fn has_messages(workload: &workload::Spec) -> bool {
    use workload::Spec::{AllReduce, AllToAll, Chakra, Collective, Goal, List, Training};
    matches!(
        workload,
        AllReduce(_) | AllToAll(_) | Chakra(_) | Collective(_) | Goal(_) | List(_) | Training(_)
    )
}

fn has_endless(workload: &workload::Spec) -> bool {
    matches!(workload, workload::Spec::List(list) if list.flow.iter().any(|flow| flow.bytes.is_none()))
}

/// Whether all messages have a path where rails do not meet.
pub fn check_reach(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    const SPINES: &str = "topology.rails.spines";
    match &settings.topology {
        topology::Spec::Rails(rails) if rails.spines() == 0 => {}
        _ => return,
    }
    let order = workload::order(settings, graph, settings.seed);
    let shares = workload::surroundings(workloads, settings, graph, &order, settings.seed);
    for (workload, around) in shares {
        let number = usize::from(around.number);
        let traffic = &settings.workload[number].traffic;
        let field = format!("workload.{number}");
        if !has_messages(traffic) {
            findings.error(
                &[SPINES, &field],
                format!(
                    "rails without spines do not meet, and workload {number} (`{}`) may send from any host to any other",
                    traffic.name()
                ),
                "write `spines` of at least 1, or send with `collective`, `all_reduce`, `all_to_all`, `goal`, `chakra`, \
                 `training` or `list`",
            );
            return;
        }
        if workload.expected_flows(around) > MOST_FLOWS {
            continue;
        }
        let flows = workload.flows(around);
        let pairs = flows.iter().map(|flow| (flow.src, flow.dst));
        let rule = ports::rule(settings, around.number);
        if let Some((src, dst)) = ports::without_way(graph, pairs, rule) {
            let [src, dst] = [src, dst].map(|host| graph.host_name(host));
            let help = match rule {
                Ports::Pxn => {
                    "write `spines` of at least 1, or give the servers [topology.rails.nvlink]"
                }
                _ => {
                    "write `spines` of at least 1, or with [topology.rails.nvlink] ports = \"pxn\", so that the GPU of \
                     the own server at the other rail sends the message on"
                }
            };
            findings.error(
                &[&format!("{field}.ports"), SPINES, &field],
                format!(
                    "workload {number} sends from `{src}` to `{dst}`, which are at different rails of different servers, \
                     and rails without spines do not meet"
                ),
                help,
            );
            return;
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
    let parts = graph.parts_of_switches();
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
