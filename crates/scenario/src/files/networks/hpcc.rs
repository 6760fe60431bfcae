//! Topologies of the HPCC simulator (`topology.txt`; Li et al., SIGCOMM 2019).

use std::sync::Arc;

use floodway_model::check::{FASTEST, LONGEST_LATENCY};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};

use super::{Network, finish};
use crate::check::MOST_NODES;
use crate::files::{Line, Word, check_count, lines};
use crate::text::{Place, Problem, Source};

const HEADER: &str = "write the numbers of nodes, switches and links: 5 1 4";

/// Reads a network.
pub fn read(source: &Arc<Source>) -> Result<Network, Problem> {
    let mut lines = lines(source);
    let Some(header) = lines.next() else {
        return Err(Problem::error(Place::whole(source), "the file is empty", HEADER));
    };
    let words: Vec<Word<'_>> = header.words().collect();
    let &[nodes, switches, links] = words.as_slice() else {
        let message = format!("the first line has {} numbers, not 3", words.len());
        return Err(header.all.problem(message, HEADER));
    };
    let node_count = nodes.whole("the number of nodes")?;
    let switch_count = switches.whole("the number of switches")?;
    let link_count = links.whole("the number of links")?;
    if node_count > MOST_NODES {
        let message = format!("the network would have {node_count} hosts and switches");
        return Err(nodes.problem(message, format!("at most {MOST_NODES} are possible")));
    }
    if switch_count == 0 {
        let help = "write at least 1: hosts are joined by switches";
        return Err(switches.problem("there are 0 switches", help));
    }
    let mut is_switch = vec![false; node_count as usize];
    let mut named = 0;
    while named < switch_count {
        let Some(line) = lines.next() else { break };
        for word in line.words() {
            let node = node(word, node_count)?;
            if named == switch_count {
                let message = format!("there are more switches than the {switch_count} announced");
                return Err(word.problem(message, "raise their number in the first line"));
            }
            if std::mem::replace(&mut is_switch[node], true) {
                let message = format!("the switch {node} is there twice");
                return Err(word.problem(message, "write every switch once"));
            }
            named += 1;
        }
    }
    check_count(switches, switch_count, named, "switches")?;

    let mut graph = Graph::default();
    let mut ids = vec![NodeId(0); is_switch.len()];
    for wanted in [false, true] {
        for (node, _) in is_switch.iter().enumerate().filter(|(_, is)| **is == wanted) {
            ids[node] = match wanted {
                false => graph.add(format!("host {node}"), NodeKind::Host),
                true => graph.add(format!("switch {node}"), NodeKind::Switch { tier: 0 }),
            };
        }
    }
    let mut found = 0;
    while found < link_count {
        let Some(line) = lines.next() else { break };
        add_link(&mut graph, &ids, line)?;
        found += 1;
    }
    check_count(links, link_count, found, "links")?;
    // Notes may stand below, as in the example that comes with the simulator.
    if let Some(line) = lines.find(|line| line.all.text.starts_with(|c: char| c.is_ascii_digit())) {
        let message =
            format!("there are more links than the {link_count} that the first line says");
        let help = "the HPCC simulator ignores them: raise the number, or remove them";
        return Err(line.all.problem(message, help));
    }
    Ok(Network { graph: finish(graph, source)?, switch_latency: None })
}

fn node(word: Word<'_>, count: u64) -> Result<usize, Problem> {
    let number = word.whole("the node")?;
    if number < count {
        return Ok(number as usize);
    }
    let message = format!("there is no node {number}: the first line says {count}");
    Err(word.problem(message, format!("they have the numbers 0 to {}", count.saturating_sub(1))))
}

fn add_link(graph: &mut Graph, ids: &[NodeId], line: Line<'_>) -> Result<(), Problem> {
    let words: Vec<Word<'_>> = line.words().collect();
    let &[left, right, rate, delay, errors] = words.as_slice() else {
        let message = format!("a link has 5 parts, and the line has {}", words.len());
        let help = "write two ends, rate, delay and error rate: 0 4 100Gbps 1000ns 0";
        return Err(line.all.problem(message, help));
    };
    let a = ids[node(left, ids.len() as u64)?];
    let b = ids[node(right, ids.len() as u64)?];
    if a == b {
        let message = format!("the link would join {} to itself", left.text);
        return Err(right.problem(message, "write two different ends"));
    }
    let is_host = |id: NodeId| graph.node(id).kind == NodeKind::Host;
    if is_host(a) && is_host(b) {
        let message = format!("{} and {} are both hosts", left.text, right.text);
        return Err(right.problem(message, "join them by a switch: hosts do not forward"));
    }
    for (word, id) in [(left, a), (right, b)] {
        if is_host(id) && !graph.node(id).ports.is_empty() {
            let message = format!("host {} would have more than one link", word.text);
            let help = "a host has one link; take two hosts for a machine with two";
            return Err(word.problem(message, help));
        }
    }
    for (word, id) in [(left, a), (right, b)] {
        if graph.node(id).ports.len() >= usize::from(u16::MAX) {
            return Err(word.problem("the switch has too many links", "take several switches"));
        }
    }
    let loss = errors.real("the error rate")?;
    if loss != 0.0 {
        let help = "links of floodway lose nothing: write 0";
        return Err(
            errors.problem(format!("the link would lose packets at a rate of {loss}"), help)
        );
    }
    graph.link(a, b, link_rate(rate)?, link_delay(delay)?);
    Ok(())
}

fn link_rate(word: Word<'_>) -> Result<Rate, Problem> {
    const HELP: &str = "write a rate like 100Gbps";
    let rate: Rate =
        word.quantity().map_err(|error| word.problem(format!("the rate: {error}"), HELP))?;
    if rate == Rate(0) {
        return Err(word.problem("the rate is zero", HELP));
    }
    if rate > FASTEST {
        return Err(word.problem(format!("the rate is {rate}, above {FASTEST}"), HELP));
    }
    Ok(rate)
}

fn link_delay(word: Word<'_>) -> Result<Duration, Problem> {
    let delay: Duration = word
        .quantity()
        .map_err(|error| word.problem(format!("the delay: {error}"), "write a time like 1000ns"))?;
    if delay > LONGEST_LATENCY {
        let help = format!("at most {LONGEST_LATENCY} is possible: 200 km of fibre take 1ms");
        return Err(word.problem(format!("the delay is {delay}"), help));
    }
    Ok(delay)
}
