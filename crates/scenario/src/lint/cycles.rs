//! Cyclic buffer dependencies: whether the routes let ports wait for each other in a cycle.
//!
//! A link between two switches depends on another one if some packet comes in by the first and goes on by the second:
//! its buffer then drains only if the other link is not paused. A cycle of such links can deadlock, and without a
//! cycle there is no deadlock (Dally and Seitz, IEEE Transactions on Computers 1987; for PFC Hu et al., HotNets 2016).
//! The routes are those of the simulation: all shortest paths between hosts, and those of the remaining links for every
//! time at which links are down.

use std::collections::{BTreeMap, BTreeSet};

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, Instant, NodeId, PortIx};
use floodway_sim::failure;
use floodway_sim::routing::{Hops, Routes};

use super::Finding;
use super::facts::Name;
use crate::document::Document;
use crate::text::{Place, Problem};

/// The most switches in a network of which cycles are sought: the time grows with their number of edge switches times
/// the pairs of ports of each.
const MOST_STEPS: u64 = 200_000_000;

/// A link in one direction: the switch that sends, and its port.
type Channel = (NodeId, PortIx);

/// The finding, if the routes of a network have a cycle, at first or when links fail.
pub fn find(graph: &Graph, settings: &Document, place: Place) -> Option<Finding> {
    if steps(graph) > MOST_STEPS {
        return None;
    }
    let failures: Vec<_> = settings.failure.iter().flat_map(|entry| entry.build(graph)).collect();
    let whole = (Instant::ZERO, Routes::of(graph));
    let epochs =
        std::iter::once(whole).chain(failure::epochs(&failures, graph, settings.host.failover));
    let (since, cycle) =
        epochs.into_iter().find_map(|(since, tables)| Some((since, cycle(graph, &tables)?)))?;
    let mut names: Vec<&str> =
        cycle.iter().map(|(node, _)| graph.node(*node).name.as_str()).collect();
    names.extend(names.first().copied());
    let shown = if names.len() > MOST_NAMES {
        format!("{}, … and back", names[..MOST_NAMES].join(", "))
    } else {
        names.join(", ")
    };
    let when = match since {
        Instant::ZERO => String::new(),
        since => format!(" from {} on, when links are down", since - Instant::ZERO),
    };
    let message = format!(
        "the routes let {} links between switches wait for each other in a cycle{when}: {shown}",
        cycle.len()
    );
    let help = match since {
        Instant::ZERO => {
            "route up and then down only, as in a leaf-spine network; or break the cycle with another lossless class for \
             part of the way, or with a watchdog"
        }
        _ => {
            "keep packets that went down from going up again when links fail; or break the cycle with a watchdog"
        }
    };
    Some(Finding { name: Name::PauseCycle, problem: Problem::warning(place, message, help) })
}

/// The most switches that a message names.
const MOST_NAMES: usize = 9;

/// About how many steps a search takes.
fn steps(graph: &Graph) -> u64 {
    let edges: BTreeSet<NodeId> =
        graph.hosts().filter_map(|host| Some(graph.node(host).ports.first()?.peer)).collect();
    let between = |node: NodeId| {
        let ends = graph.node(node).ports.iter();
        ends.filter(|end| graph.node(end.peer).kind != NodeKind::Host).count() as u64
    };
    let pairs: u64 = graph.switches().map(|switch| between(switch).pow(2) / 4).sum();
    pairs.saturating_mul(edges.len() as u64)
}

/// Links that depend on each other in a cycle by these tables, beginning with the lowest; none if there is no cycle.
pub fn cycle(graph: &Graph, tables: &[Routes]) -> Option<Vec<Channel>> {
    let mut needs = dependencies(graph, tables);
    // What depends on nothing that is left is in no cycle.
    loop {
        let left: BTreeSet<Channel> = needs.keys().copied().collect();
        needs.values_mut().for_each(|on| on.retain(|other| left.contains(other)));
        let before = needs.len();
        needs.retain(|_, on| !on.is_empty());
        if needs.len() == before {
            break;
        }
    }
    let mut path: Vec<Channel> = Vec::new();
    let mut at = *needs.keys().next()?;
    loop {
        if let Some(begin) = path.iter().position(|seen| *seen == at) {
            let mut cycle = path.split_off(begin);
            let lowest = (0..cycle.len()).min_by_key(|&place| cycle[place]).unwrap_or(0);
            cycle.rotate_left(lowest);
            return Some(cycle);
        }
        path.push(at);
        at = *needs[&at].iter().next()?;
    }
}

/// For every link between switches, the links on which its packets go on.
fn dependencies(graph: &Graph, tables: &[Routes]) -> BTreeMap<Channel, BTreeSet<Channel>> {
    let numbers: BTreeMap<NodeId, usize> = graph.switches().zip(0..).collect();
    // One host for each edge switch: the others have the same routes between switches.
    let mut edges: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for host in graph.hosts() {
        if let Some(end) = graph.node(host).ports.first() {
            edges.entry(end.peer).or_insert(host);
        }
    }
    let mut needs: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
    for (&to, &host) in &edges {
        let next = |switch: NodeId| -> &[u16] {
            match tables[numbers[&switch]].towards(host) {
                Hops::Host(_) => &[],
                Hops::Equal(ports) => ports,
            }
        };
        // Switches by which packets to this one go.
        let mut seen: BTreeSet<NodeId> = edges.keys().copied().filter(|from| *from != to).collect();
        let mut open: Vec<NodeId> = seen.iter().copied().collect();
        while let Some(switch) = open.pop() {
            for &port in next(switch) {
                let peer = graph.node(switch).ports[usize::from(port)].peer;
                let on = next(peer).iter().map(|&port| (peer, PortIx(port)));
                needs.entry((switch, PortIx(port))).or_default().extend(on);
                if seen.insert(peer) {
                    open.push(peer);
                }
            }
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Duration, Rate};

    /// Switches in these links, with a host each.
    fn network(switches: usize, links: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::default();
        let ids: Vec<NodeId> = (0..switches)
            .map(|number| graph.add(format!("s{number}"), NodeKind::Switch { tier: 0 }))
            .collect();
        let (rate, delay) = (Rate::from_gbps(10), Duration::from_ns(100));
        for (number, id) in ids.iter().enumerate() {
            let host = graph.add(format!("h{number}"), NodeKind::Host);
            graph.link(host, *id, rate, delay);
        }
        links.iter().for_each(|&(a, b)| graph.link(ids[a], ids[b], rate, delay));
        graph
    }

    fn found(graph: &Graph) -> Option<Vec<u32>> {
        let cycle = cycle(graph, &Routes::of(graph))?;
        Some(cycle.iter().map(|(node, _)| node.0).collect())
    }

    /// In a ring of three every path has one link, so no link depends on another one. From four on, paths of two links
    /// go all the way round.
    #[test]
    fn a_ring_has_a_cycle_from_four_switches_on() {
        let ring = |count: usize| {
            let links: Vec<_> = (0..count).map(|at| (at, (at + 1) % count)).collect();
            found(&network(count, &links))
        };
        assert_eq!(ring(3), None);
        assert_eq!(ring(4).map(|cycle| cycle.len()), Some(4));
        assert_eq!(ring(5).map(|cycle| cycle.len()), Some(5));
    }

    /// Up and down: a link down never leads to one up.
    #[test]
    fn a_tree_and_a_leaf_spine_have_none() {
        assert_eq!(found(&network(5, &[(0, 1), (1, 2), (1, 3), (3, 4)])), None);
        let mut graph = Graph::default();
        let switch = NodeKind::Switch { tier: 0 };
        let spines = [0, 1].map(|number| graph.add(format!("spine{number}"), switch));
        let (rate, delay) = (Rate::from_gbps(10), Duration::from_ns(100));
        for number in 0..4 {
            let leaf = graph.add(format!("leaf{number}"), switch);
            let host = graph.add(format!("host{number}"), NodeKind::Host);
            graph.link(host, leaf, rate, delay);
            spines.iter().for_each(|spine| graph.link(leaf, *spine, rate, delay));
        }
        assert_eq!(found(&graph), None);
        // Leaf 0 has lost its link to spine 0, and leaf 1 that to spine 1: what goes between them is passed on by the
        // other two leaves, down and up again.
        let down: BTreeSet<Channel> = [(NodeId(2), PortIx(1)), (NodeId(4), PortIx(2))]
            .into_iter()
            .flat_map(|(node, port)| {
                let end = graph.node(node).ports[port.index()];
                [(node, port), (end.peer, end.peer_port)]
            })
            .collect();
        let cycle = cycle(&graph, &Routes::without(&graph, &down)).expect("a cycle");
        // spine 0 - leaf 2 - spine 1 - leaf 3 - spine 0, or the other way round.
        assert_eq!(cycle.len(), 4);
        let names: BTreeSet<&str> =
            cycle.iter().map(|(node, _)| graph.node(*node).name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(["leaf2", "leaf3", "spine0", "spine1"]));
    }
}
