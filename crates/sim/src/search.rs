//! Shortest paths between switches, for many destinations at once.
//!
//! A large network has thousands of edge switches, and a separate search from each of them would
//! visit every link thousands of times. Here one search serves 64 destinations, one per bit of a
//! word: a switch at the same distance from several of them is visited once for all.

use std::collections::BTreeSet;

use floodway_model::graph::NodeKind;
use floodway_model::{Graph, NodeId, PortIx};

/// Number of destinations of one search.
pub const AT_ONCE: usize = u64::BITS as usize;

/// The switches of a network and the links between them, numbered in the order of the graph.
#[derive(Debug)]
pub struct Fabric {
    switches: Vec<NodeId>,
    /// By node: the number of a switch; `u32::MAX` for a host.
    numbers: Vec<u32>,
    /// By switch: the index of its first link in `links`; and at the end, the number of all links.
    first: Vec<u32>,
    links: Vec<Step>,
}

/// A link from one switch to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The port by which the link leaves.
    pub port: u16,
    /// The number of the switch at the other end.
    pub peer: u32,
}

/// The switches that a search finds at one distance.
#[derive(Debug)]
pub struct Ring<'a> {
    /// Distance in links.
    pub distance: u32,
    /// The numbers of the switches at this distance from some destination, in no particular order.
    pub switches: &'a [u32],
    /// By switch number: bits of the destinations at this distance from it.
    pub here: &'a [u64],
    /// By switch number: bits of the destinations that are one link closer.
    pub closer: &'a [u64],
}

impl Fabric {
    /// Builds it for a network, without the links that are down, which are given by both their
    /// ends.
    pub fn new(graph: &Graph, down: &BTreeSet<(NodeId, PortIx)>) -> Self {
        let switches: Vec<NodeId> = graph.switches().collect();
        let mut numbers = vec![u32::MAX; graph.nodes.len()];
        (0..).zip(&switches).for_each(|(number, switch)| numbers[switch.index()] = number);
        let (mut first, mut links) = (vec![0], Vec::new());
        for &switch in &switches {
            for (port, end) in (0..).zip(&graph.node(switch).ports) {
                // Hosts do not forward.
                let forwards = graph.node(end.peer).kind != NodeKind::Host;
                if forwards && !down.contains(&(switch, PortIx(port))) {
                    links.push(Step { port, peer: numbers[end.peer.index()] });
                }
            }
            first.push(links.len() as u32);
        }
        Self { switches, numbers, first, links }
    }

    /// Number of switches.
    pub fn len(&self) -> usize {
        self.switches.len()
    }

    /// Whether there are no switches.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// The node of a switch.
    pub fn node(&self, number: u32) -> NodeId {
        self.switches[number as usize]
    }

    /// The number of a switch; `u32::MAX` for a host.
    pub fn number(&self, switch: NodeId) -> u32 {
        self.numbers[switch.index()]
    }

    /// The numbers of the edge switches, in the order of the hosts; and by node the index of a
    /// switch in that list, `u32::MAX` if it is not in it.
    pub fn edges(&self, graph: &Graph) -> (Vec<u32>, Vec<u32>) {
        let (mut edges, mut places) = (Vec::new(), vec![u32::MAX; graph.nodes.len()]);
        let ends = graph.hosts().filter_map(|host| graph.node(host).ports.first());
        for end in ends.filter(|end| self.number(end.peer) != u32::MAX) {
            let place = &mut places[end.peer.index()];
            if *place == u32::MAX {
                *place = edges.len() as u32;
                edges.push(self.number(end.peer));
            }
        }
        (edges, places)
    }

    /// The links of a switch to other switches, in port order.
    pub fn links(&self, number: u32) -> &[Step] {
        let number = number as usize;
        &self.links[self.first[number] as usize..self.first[number + 1] as usize]
    }

    /// Searches outward from the switches `to`, at most [`AT_ONCE`] different ones, and calls
    /// `visit` for every distance from 1 on. Bit n stands for the nth of them.
    pub fn search(&self, to: &[u32], mut visit: impl FnMut(Ring<'_>)) {
        assert!(to.len() <= AT_ONCE, "a word has a bit for each destination");
        let (mut closer, mut here) = (vec![0u64; self.len()], vec![0u64; self.len()]);
        let mut seen = vec![0u64; self.len()];
        let (mut front, mut next) = (to.to_vec(), Vec::new());
        for (bit, &number) in to.iter().enumerate() {
            closer[number as usize] |= 1 << bit;
            seen[number as usize] |= 1 << bit;
        }
        for distance in 1.. {
            for &number in &front {
                let bits = closer[number as usize];
                for step in self.links(number) {
                    let peer = step.peer as usize;
                    let new = bits & !seen[peer];
                    if new != 0 {
                        if here[peer] == 0 {
                            next.push(step.peer);
                        }
                        here[peer] |= new;
                    }
                }
            }
            if next.is_empty() {
                return;
            }
            next.iter().for_each(|&number| seen[number as usize] |= here[number as usize]);
            visit(Ring { distance, switches: &next, here: &here, closer: &closer });
            front.drain(..).for_each(|number| closer[number as usize] = 0);
            std::mem::swap(&mut front, &mut next);
            std::mem::swap(&mut closer, &mut here);
        }
    }
}

/// The bits that are set in a word, ascending.
pub fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Duration, Rate};
    use proptest::prelude::*;

    fn network(switches: u32, links: &[(u32, u32)]) -> Graph {
        let mut graph = Graph::default();
        // A host before the switches, so that switch numbers differ from node numbers.
        let host = graph.add("host 0", NodeKind::Host);
        let ids: Vec<NodeId> = (0..switches)
            .map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 }))
            .collect();
        graph.link(host, ids[0], Rate::from_gbps(1), Duration::ZERO);
        for &(a, b) in links.iter().filter(|(a, b)| a != b) {
            graph.link(ids[a as usize], ids[b as usize], Rate::from_gbps(1), Duration::ZERO);
        }
        graph
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A separate search for each destination finds the same.
        #[test]
        fn distances_are_those_of_one_search_each(
            links in proptest::collection::vec((0u32..90, 0u32..90), 0..200),
        ) {
            let graph = network(90, &links);
            let fabric = Fabric::new(&graph, &BTreeSet::new());
            let all: Vec<u32> = (0..90).collect();
            for to in all.chunks(AT_ONCE) {
                let mut found = vec![vec![None; 90]; to.len()];
                (0..to.len()).for_each(|bit| found[bit][to[bit] as usize] = Some(0));
                fabric.search(to, |ring| {
                    for &number in ring.switches {
                        for bit in bits(ring.here[number as usize]) {
                            assert_eq!(found[bit][number as usize], None, "found twice");
                            found[bit][number as usize] = Some(ring.distance);
                        }
                    }
                });
                for (&to, found) in to.iter().zip(&found) {
                    let expected = graph.distances(fabric.node(to));
                    let expected: Vec<_> = (0..90).map(|n| expected[fabric.node(n).index()]).collect();
                    prop_assert_eq!(found, &expected);
                }
            }
        }
    }
}
