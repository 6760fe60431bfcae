//! Whether a network that is written out can be built.

use std::collections::BTreeSet;

use floodway_model::check::{Check, Findings};
use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId};

use super::{ADVICE, BETWEEN, Link, Names, Nodes, Spec};
use crate::check::{MOST_NODES, MOST_PORTS};
use crate::ports;
use crate::text::suggest;
use crate::topology::MOST_HOST_PORTS;

const HOSTS: &str = "hosts";
const SWITCHES: &str = "switches";
const LINKS: &str = "links";

/// Tables count tiers in 8 bits, and hosts are the last.
pub const MOST_TIERS: u8 = 200;

impl Check for Spec {
    /// One part after the other, each if those before it are right.
    fn check(&self, findings: &mut Findings<'_>) {
        findings.link_rate("rate", self.rate);
        findings.latency("delay", self.delay);
        for (number, link) in self.links.iter().enumerate() {
            let findings = &mut findings.within(format!("{LINKS}.{number}"));
            findings.link_rate("rate", link.rate);
            findings.link_rate("rate_back", link.rate_back);
            findings.latency("delay", link.delay);
        }
        let sound = findings.count();
        let parts: [fn(&Spec, &mut Findings<'_>); 3] = [check_names, check_links, check_ways];
        for check in parts {
            check(self, findings);
            if findings.count() > sound {
                return;
            }
        }
    }
}

/// Hosts and switches.
fn check_names(spec: &Spec, findings: &mut Findings<'_>) {
    let lists = [(HOSTS, &spec.hosts), (SWITCHES, &spec.switches)];
    let mut counts = [0u64; 2];
    for ((path, list), count) in lists.into_iter().zip(&mut counts) {
        for (number, written) in list.iter().enumerate() {
            let path = format!("{path}.{number}");
            match Names::parse(written) {
                Ok(names) => *count = count.saturating_add(names.count()),
                Err(cause) => {
                    findings.error(&path, format!("the name {written:?} {cause}"), ADVICE);
                }
            }
            if path.starts_with(HOSTS) && ["left", "right"].contains(&written.trim()) {
                let message = format!("a host cannot be called {:?}", written.trim());
                let help = "workloads take the word for all hosts on one side of a dumbbell: \
                            call it otherwise";
                findings.error(&path, message, help);
            }
        }
    }
    // What cannot be read has been reported.
    let read = |list: &[String]| list.iter().all(|names| Names::parse(names).is_ok());
    if counts[0] < 2 && read(&spec.hosts) {
        let message = match counts[0] {
            0 => "there are 0 hosts",
            _ => "one host alone has nobody to send to",
        };
        findings.error(HOSTS, message, "write at least 2");
    }
    if spec.switches.is_empty() {
        let help = "write at least 1: hosts are joined by switches";
        findings.error(SWITCHES, "there are 0 switches", help);
    }
    let nodes = counts[0].saturating_add(counts[1]);
    if nodes > MOST_NODES {
        findings.error(
            if counts[0] > counts[1] { HOSTS } else { SWITCHES },
            format!("the network would have {nodes} hosts and switches"),
            format!("at most {MOST_NODES} are possible: make it smaller"),
        );
        return;
    }
    let mut seen = BTreeSet::new();
    for (path, list) in lists {
        for (number, names) in list.iter().enumerate() {
            let Ok(names) = Names::parse(names) else { continue };
            let mut twice = None;
            for name in names.each() {
                if !seen.insert(name.clone()) {
                    twice.get_or_insert(name);
                }
            }
            if let Some(name) = twice {
                findings.error(
                    &format!("{path}.{number}"),
                    format!("`{name}` is there twice"),
                    "give every host and every switch a name of its own",
                );
            }
        }
    }
}

/// The ends of links.
fn check_links(spec: &Spec, findings: &mut Findings<'_>) {
    let nodes = spec.nodes();
    // By host: how many links it has.
    let mut links = vec![0u64; nodes.hosts as usize];
    for (number, link) in spec.links.iter().enumerate() {
        let path = format!("{LINKS}.{number}");
        let ends = format!("{path}.ends");
        if link.count == 0 {
            let help = "write at least 1, or leave the link out";
            findings.error(&format!("{path}.count"), "the link is there 0 times", help);
        }
        let Some(sides) = sides(&ends, spec, link, &nodes, findings) else { continue };
        let joined = |number: u32| &nodes.names[number as usize];
        let [left, right] = &sides;
        let host = |side: &[u32]| side.iter().copied().find(|&node| nodes.is_host(node));
        if let Some(&node) = left.iter().find(|node| right.contains(node)) {
            let message = format!("the link would join `{}` to itself", joined(node));
            findings.error(&ends, message, "write two different ends");
            continue;
        }
        if let Some((one, other)) = host(left).zip(host(right)) {
            findings.error(
                &ends,
                format!("`{}` and `{}` are both hosts", joined(one), joined(other)),
                "join them by a switch: hosts do not forward",
            );
            continue;
        }
        for (side, other) in [(left, right), (right, left)] {
            let more = (other.len() as u64).saturating_mul(link.count.into());
            for &host in side.iter().filter(|&&node| nodes.is_host(node)) {
                let links = &mut links[host as usize];
                let most = u64::from(MOST_HOST_PORTS);
                if *links <= most && links.saturating_add(more) > most {
                    findings.error(
                        &ends,
                        format!("`{}` would have {} links", joined(host), *links + more),
                        format!("a host has a port for each of its links, at most {most}"),
                    );
                }
                *links = links.saturating_add(more);
            }
        }
    }
    let several = (0..).zip(&links).filter(|(_, links)| **links > 1);
    for (host, links) in several.map(|(host, links): (usize, &u64)| (&nodes.names[host], *links)) {
        let ports = (0..links.min(MOST_HOST_PORTS.into())).map(|port| format!("{host}.{port}"));
        if let Some(name) = ports.into_iter().find(|name| nodes.numbers.contains_key(name)) {
            findings.error(
                &place_of(spec, &name),
                format!("`{host}` has {links} links, and one of its ports is called `{name}` too"),
                "call the host or the switch otherwise",
            );
        }
    }
    let sound = spec.links.iter().all(|link| link.count > 0 && link.nodes(&nodes).is_some());
    if let Some(host) = links.iter().position(|&links| links == 0).filter(|_| sound) {
        let name = &nodes.names[host];
        findings.error(
            &place_of(spec, name),
            format!("`{name}` has no link"),
            format!("add one to `links`, like \"{name} {BETWEEN} {}\"", nodes.names[links.len()]),
        );
    }
}

/// The nodes on both sides of a link, if they are there.
fn sides(
    path: &str,
    spec: &Spec,
    link: &Link,
    nodes: &Nodes,
    findings: &mut Findings<'_>,
) -> Option<[Vec<u32>; 2]> {
    let Some(sides) = link.sides() else {
        findings.error(
            path,
            format!("{:?} is no link: two ends have {BETWEEN:?} between them", link.ends),
            "write it like \"client 0-3 -- access\"",
        );
        return None;
    };
    for written in sides.iter().flatten() {
        let unknown = match Names::parse(written) {
            Ok(names) => names.each().find(|name| !nodes.numbers.contains_key(name)),
            Err(cause) => {
                let message = format!("the name {written:?} in {:?} {cause}", link.ends);
                findings.error(path, message, ADVICE);
                return None;
            }
        };
        if let Some(name) = unknown {
            let written: Vec<_> = spec.hosts.iter().chain(&spec.switches).cloned().collect();
            let help = other(&name, &nodes.names)
                .unwrap_or_else(|| format!("the hosts and switches are: {}", written.join(", ")));
            findings.error(path, format!("there is no host or switch `{name}`"), help);
            return None;
        }
    }
    link.nodes(nodes)
}

/// The remedy for a name that is a slip of one of these, more than in its number.
pub fn other(name: &str, names: &[String]) -> Option<String> {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let best = suggest::closest(name, names.iter().map(String::as_str))?;
    (stem(best) != stem(name)).then(|| format!("did you mean `{best}`?"))
}

/// Whether everything can be reached.
fn check_ways(spec: &Spec, findings: &mut Findings<'_>) {
    // Said of the size.
    if spec.size().most_ports > MOST_PORTS {
        return;
    }
    let graph = spec.build();
    if graph.has_several_ports() {
        let before = findings.count();
        check_planes(spec, &graph, findings);
        if findings.count() == before {
            check_tiers(spec, &graph, findings);
        }
        return;
    }
    let first = NodeId(0);
    let apart = graph.distances(first).into_iter().position(|distance| distance.is_none());
    if let Some(apart) = apart {
        let (name, first) = (&graph.nodes[apart].name, &graph.node(first).name);
        findings.error(
            &place_of(spec, name),
            format!("there is no path between `{name}` and `{first}`"),
            "add a link that joins their parts of the network, or leave one part out",
        );
        return;
    }
    check_tiers(spec, &graph, findings);
}

/// Whether any two hosts have ports that reach each other, and every switch is reached, in a network with hosts that
/// have several ports: its switches may be in several parts, because hosts do not forward.
fn check_planes(spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    if let Some(hosts) = ports::hosts_apart(graph) {
        let [first, name] = hosts.map(|host| graph.host_name(host));
        findings.error(
            &place_of(spec, name),
            format!("there is no path between `{name}` and `{first}`"),
            "hosts do not forward: join their switches, or give both a link to one part of the network",
        );
        return;
    }
    let parts = graph.parts_of_switches();
    let in_part = |port: NodeId| parts[graph.node(port).ports[0].peer.index()];
    let reached: BTreeSet<u32> = graph.hosts().map(in_part).collect();
    if let Some(switch) = graph.switches().find(|id| !reached.contains(&parts[id.index()])) {
        let name = &graph.node(switch).name;
        findings.error(
            &place_of(spec, name),
            format!("no host can reach `{name}`"),
            "add a link that joins it to the rest of the network, or leave it out",
        );
    }
}

fn check_tiers(spec: &Spec, graph: &Graph, findings: &mut Findings<'_>) {
    let tier = |node: &&floodway_model::graph::Node| match node.kind {
        NodeKind::Switch { tier } => tier,
        NodeKind::Host => 0,
    };
    if let Some(node) = graph.nodes.iter().find(|node| tier(node) >= MOST_TIERS) {
        findings.error(
            &place_of(spec, &node.name),
            format!("`{}` is more than {MOST_TIERS} links from the nearest host", node.name),
            "at most so many are possible: add hosts nearer to it, or leave switches out",
        );
    }
}

/// Where a host or a switch of this name is written.
fn place_of(spec: &Spec, name: &str) -> String {
    let lists = [(HOSTS, &spec.hosts), (SWITCHES, &spec.switches)];
    let mut written = lists.into_iter().flat_map(|(path, list)| {
        list.iter().enumerate().map(move |(number, names)| (path, number, names))
    });
    let has = |names: &String| {
        Names::parse(names).is_ok_and(|names| names.each().any(|other| other == name))
    };
    let found = written.find(|(.., names)| has(names));
    found.map_or(HOSTS.to_owned(), |(path, number, _)| format!("{path}.{number}"))
}
