//! Whether links that fail are there, fail during the run, and leave ways to all hosts.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::check::Check;
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, Instant, NodeId, PortIx};
use floodway_sim::failure::{Failure, stand_ins};

use super::Problems;
use crate::document::Document;
use crate::failure::{LinkFailure, ports_between};
use crate::topology::custom::other;

/// All failures with their ends, in the order of the scenario.
pub fn check(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let mut spans: BTreeMap<(NodeId, PortIx), Vec<(Duration, Duration)>> = BTreeMap::new();
    let mut sound = true;
    for (number, entry) in settings.failure.iter().enumerate() {
        let path = format!("failure.{number}");
        check_times(&path, entry, settings.limit, findings);
        sound &= check_link(&path, (&entry.link, entry.number), graph, findings);
        let span = (entry.at, entry.until.unwrap_or(Duration(u64::MAX)));
        let mut overlaps = false;
        for failure in entry.build(graph) {
            let end = &graph.node(failure.node).ports[failure.port.index()];
            let ends = [(failure.node, failure.port), (end.peer, end.peer_port)];
            let spans = spans.entry(ends[0].min(ends[1])).or_default();
            overlaps |= spans.iter().any(|&(at, until)| at < span.1 && span.0 < until);
            spans.push(span);
        }
        if overlaps {
            let [a, b] = &entry.link;
            findings.error(
                &[&format!("{path}.at"), &path],
                format!("the link of `{a}` and `{b}` fails while it is down already"),
                "let it fail after it works again, or write one failure that lasts from the first \
                 `at` to the last `until`",
            );
        }
    }
    goes_together(settings, findings);
    if sound {
        check_ways(settings, graph, findings);
    }
}

fn check_times(path: &str, entry: &LinkFailure, limit: Duration, findings: &mut Problems<'_>) {
    let at = format!("{path}.at");
    if entry.at >= limit {
        findings.error(
            &[&at, path],
            format!("the link fails at {} and the run stops at {limit}", entry.at),
            "nothing would come of it: let it fail earlier, or raise `limit`",
        );
    }
    entry.check(&mut findings.within(path));
}

/// Whether there is such a link, by the names of its ends and its number among several.
pub(super) fn check_link(
    path: &str,
    (link, number): (&[String; 2], Option<u32>),
    graph: &Graph,
    findings: &mut Problems<'_>,
) -> bool {
    let field = format!("{path}.link");
    let names = || graph.nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>();
    let unknown = |name: &&String| graph.nodes.iter().all(|node| node.name != **name);
    if let Some(name) = link.iter().find(unknown) {
        let help = other(name, &names())
            .unwrap_or_else(|| format!("the hosts and switches are: {}", ranges(graph).join(", ")));
        findings.error(&[&field], format!("there is no host or switch `{name}`"), help);
        return false;
    }
    let [a, b] = link;
    let (node, ports) = ports_between(link, graph).expect("both names are there");
    if ports.is_empty() {
        let mut peers: Vec<&str> =
            graph.node(node).ports.iter().map(|end| &*graph.node(end.peer).name).collect();
        peers.dedup();
        let some = peers.len().min(MOST_NAMES);
        let more = if peers.len() > some { ", …" } else { "" };
        findings.error(
            &[&field],
            format!("there is no link between `{a}` and `{b}`"),
            format!("`{a}` has links to: {}{more}", peers[..some].join(", ")),
        );
        return false;
    }
    if let Some(number) = number.filter(|&number| number as usize >= ports.len()) {
        let links = ports.len();
        let links = if links == 1 { "is 1 link".to_owned() } else { format!("are {links} links") };
        findings.error(
            &[&format!("{path}.number"), &field],
            format!("there is no link {number} between `{a}` and `{b}`: there {links}"),
            match ports.len() {
                1 => "leave `number` out".to_owned(),
                more => format!("write 0 to {}, or leave `number` out for all of them", more - 1),
            },
        );
        return false;
    }
    true
}

/// The names of all nodes, those that differ in their numbers together: `host 0-31`.
fn ranges(graph: &Graph) -> Vec<String> {
    let mut ranges: Vec<(&str, &str, &str)> = Vec::new();
    for node in &graph.nodes {
        let stem = node.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &node.name[stem.len()..];
        match ranges.last_mut() {
            Some((same, _, last)) if *same == stem => *last = number,
            _ => ranges.push((stem, number, number)),
        }
    }
    let range = |(stem, first, last): (&str, &str, &str)| {
        if first == last { format!("{stem}{first}") } else { format!("{stem}{first}-{last}") }
    };
    ranges.into_iter().map(range).collect()
}

/// The most names in a remedy.
const MOST_NAMES: usize = 8;

/// Mechanisms whose state would be wrong for ever after a frame of theirs is lost, or that know the
/// routes of others.
fn goes_together(settings: &Document, findings: &mut Problems<'_>) {
    if settings.failure.is_empty() {
        return;
    }
    let flow_control = &settings.switch.flow_control;
    if flow_control.bfc.is_some() {
        findings.error(
            &["failure.0", "switch.flow_control.bfc"],
            "a link fails, and with Backpressure Flow Control a queue waits for ever if the frame \
             is lost that lets it go on",
            "leave out [[failure]], or switch `switch.flow_control.bfc` off",
        );
    }
    if flow_control.cbfc.is_some() {
        findings.error(
            &["failure.0", "switch.flow_control.cbfc"],
            "a link fails, and with credit-based flow control the credit of frames that it loses is lost for ever",
            "leave out [[failure]], or switch `switch.flow_control.cbfc` off",
        );
    }
    if flow_control.drc.is_some() {
        findings.error(
            &["failure.0", "switch.flow_control.drc"],
            "a link fails, and with Directional Rate Control neighbors have to know by which port \
             a switch will send a packet on",
            "leave out [[failure]], or switch `switch.flow_control.drc` off",
        );
    }
}

/// Whether all hosts can be reached whenever something fails.
fn check_ways(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let failures: Vec<(usize, Failure)> = settings
        .failure
        .iter()
        .enumerate()
        .flat_map(|(number, entry)| entry.build(graph).into_iter().map(move |f| (number, f)))
        .collect();
    for (number, entry) in settings.failure.iter().enumerate() {
        let at = Instant(entry.at.0);
        let down = failures.iter().filter(|(_, failure)| failure.at <= at && at < failure.until);
        let down: BTreeSet<(NodeId, PortIx)> = down
            .flat_map(|(_, failure)| {
                let end = &graph.node(failure.node).ports[failure.port.index()];
                [(failure.node, failure.port), (end.peer, end.peer_port)]
            })
            .collect();
        let first = graph.switches().next().expect("hosts are joined by switches");
        let whole = graph.distances(first);
        let reached = graph.distances_by(first, |node, port| !down.contains(&(node, port)));
        let host = |id: &NodeId| graph.node(*id).kind == NodeKind::Host;
        // Hosts with several ports may be in several networks; looked at is the one of the first switch.
        let hosts: Vec<NodeId> =
            graph.ids().filter(|id| host(id) && whole[id.index()].is_some()).collect();
        let stand_ins = match settings.host.failover {
            true => stand_ins(graph, &down),
            false => BTreeMap::new(),
        };
        let is_cut = |id: &NodeId| reached[id.index()].is_none() && !stand_ins.contains_key(id);
        let apart: Vec<NodeId> = hosts.iter().copied().filter(is_cut).collect();
        // The smaller part is the one that is cut off.
        let count = hosts.len();
        let rest: Vec<NodeId> = hosts.into_iter().filter(|id| !apart.contains(id)).collect();
        let cut = if 2 * apart.len() > count { rest } else { apart };
        let Some(name) = cut.first().map(|&id| &graph.node(id).name) else { continue };
        let whom = match cut.len() {
            1 => format!("`{name}` is"),
            2 => format!("`{name}` and another host are"),
            more => format!("`{name}` and {} other hosts are", more - 1),
        };
        let help = match entry.until {
            Some(_) => "flows from and to them wait and time out until it works again",
            None => "flows from and to them will not finish: write an `until` if that is not meant",
        };
        let path = format!("failure.{number}");
        findings.warn(
            &[&format!("{path}.link"), &path],
            format!("while the link is down {whom} cut off from the others"),
            help,
        );
    }
}
