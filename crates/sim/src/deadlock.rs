//! Deadlock detection: ports that are blocked on each other in a cycle, so that none of them will
//! ever send.
//!
//! A port and class that has packets and is paused is resumed when enough of the bytes that its
//! neighbor charges to it have left that neighbor. The algorithm assumes that all stopped ports
//! stay stopped, and repeatedly removes those that their neighbor will resume even if nothing
//! leaves the remaining ones. The ports that are left at the end can never send. Each of them
//! depends on another one of them, so they contain cycles, and the others are blocked behind a
//! cycle. A pause that merely lasts long, as in a congestion tree, depends on a port that is not
//! stopped, and is removed starting from there.

use std::collections::{BTreeMap, VecDeque};

use floodway_engine::Ranks;
use floodway_model::{Instant, NodeId};
use serde::{Deserialize, Serialize};

use crate::over::{pack, unpack};
use crate::switch::Switch;
use crate::switch::stopped::{Stopped, Waits};

/// The deadlocks found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Deadlocks {
    /// Cycles that have no port in common.
    pub cycles: Vec<Cycle>,
    /// Number of ports and classes of switches that are in no cycle but blocked behind one.
    pub behind: u64,
    /// End of the last transmission, anywhere, of a frame that had been queued.
    pub last_moved: Instant,
}

/// Ports that are blocked on each other, in order: each is stopped by the node of the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cycle {
    /// The ports with their nodes, starting with the lowest number.
    pub members: Vec<(NodeId, Stopped)>,
}

impl Cycle {
    /// Number of flows that have packets in the cycle.
    pub fn flows(&self) -> usize {
        let all = self.members.iter().flat_map(|(_, stopped)| stopped.flows.keys());
        all.collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// The conditions for resuming a stopped port: all of these must hold.
type Wait = Vec<Need>;

/// One condition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Need {
    /// Bytes that keep the port stopped, each with the stopped ports (by number) that keep these
    /// bytes where they are.
    behind: Vec<(Vec<usize>, u64)>,
    /// The condition holds when at most this many of these bytes are left.
    goes_on_at: u64,
}

impl Need {
    /// Whether enough bytes stay to keep the port stopped, given which ports are stuck.
    fn holds(&self, stuck: &[bool]) -> bool {
        let stays = |(by, _): &&(Vec<usize>, u64)| by.iter().any(|&other| stuck[other]);
        let bytes: u64 = self.behind.iter().filter(stays).map(|(_, bytes)| bytes).sum();
        bytes > self.goes_on_at
    }
}

/// Detects deadlocks in the state of the switches at `now`. Hosts do not forward, so they are part
/// of no cycle.
pub fn find(switches: &[Switch], now: Instant) -> Deadlocks {
    let stopped = stopped(switches, now);
    if stopped.is_empty() {
        return Deadlocks::default();
    }
    let waits = waits(switches, &stopped);
    resolve(&stopped, &waits)
}

/// Like [`find`], when each process has some of the switches. Rank 0 has the result, the others have none.
pub fn find_over(switches: &[Switch], now: Instant, ranks: &dyn Ranks) -> Deadlocks {
    let mut all: Vec<(NodeId, Stopped)> = Vec::new();
    ranks.gather(pack(&stopped(switches, now)), &mut |_, octets| {
        all.append(&mut unpack(&octets));
    });
    all.sort_by_key(|(node, _)| *node);
    let all: Vec<(NodeId, Stopped)> = unpack(&ranks.broadcast(pack(&all)));
    if all.is_empty() {
        return Deadlocks::default();
    }
    // A rank knows the conditions of the ports that its own switches have stopped.
    let mut known: Vec<Wait> = vec![Wait::default(); all.len()];
    ranks.gather(pack(&waits(switches, &all)), &mut |_, octets| {
        let theirs: Vec<Wait> = unpack(&octets);
        let some = known.iter_mut().zip(theirs).filter(|(_, wait)| !wait.is_empty());
        some.for_each(|(known, wait)| *known = wait);
    });
    match ranks.rank() {
        0 => resolve(&all, &known),
        _ => Deadlocks::default(),
    }
}

/// The ports and classes of these switches that are stopped.
fn stopped(switches: &[Switch], now: Instant) -> Vec<(NodeId, Stopped)> {
    let of = |switch: &Switch| {
        let id = switch.id();
        switch.stopped(now).into_iter().map(move |stopped| (id, stopped))
    };
    switches.iter().flat_map(of).collect()
}

/// The conditions for resuming these ports, of those that these switches have stopped.
fn waits(switches: &[Switch], stopped: &[(NodeId, Stopped)]) -> Vec<Wait> {
    let place = |(node, stopped): &(NodeId, Stopped)| (*node, stopped.port, stopped.class);
    let numbers: BTreeMap<_, usize> = stopped.iter().map(place).zip(0..).collect();
    let nodes: BTreeMap<NodeId, &Switch> =
        switches.iter().map(|switch| (switch.id(), switch)).collect();
    let wait = |(_, stopped): &(NodeId, Stopped)| {
        let Some(peer) = nodes.get(&stopped.peer) else { return Wait::default() };
        let number = |(port, class)| numbers.get(&(stopped.peer, port, class)).copied();
        let need = |waits: Waits| {
            let numbered = |(places, bytes): (Vec<_>, _)| {
                (places.into_iter().filter_map(number).collect(), bytes)
            };
            let behind = waits.behind.into_iter().map(numbered).collect();
            Need { behind, goes_on_at: waits.goes_on_at }
        };
        peer.holds_up(stopped.source).unwrap_or_default().into_iter().map(need).collect()
    };
    stopped.iter().map(wait).collect()
}

/// The cycles among stopped ports with these conditions.
fn resolve(stopped: &[(NodeId, Stopped)], waits: &[Wait]) -> Deadlocks {
    let stuck = stuck(waits);
    let cycles = cycles(waits, &stuck);
    let members: usize = cycles.iter().map(Vec::len).sum();
    let all = stuck.iter().filter(|&&stuck| stuck).count();
    Deadlocks {
        behind: (all - members) as u64,
        cycles: cycles
            .into_iter()
            .map(|cycle| Cycle {
                members: cycle.into_iter().map(|member| stopped[member].clone()).collect(),
            })
            .collect(),
        last_moved: Instant::ZERO,
    }
}

/// The ports that can never be resumed: the largest set in which each is kept stopped by enough
/// bytes blocked on others of the set.
fn stuck(waits: &[Wait]) -> Vec<bool> {
    let mut stuck = vec![true; waits.len()];
    loop {
        let mut changed = false;
        for (number, wait) in waits.iter().enumerate() {
            if stuck[number] && !wait.iter().any(|need| need.holds(&stuck)) {
                stuck[number] = false;
                changed = true;
            }
        }
        if !changed {
            return stuck;
        }
    }
}

/// Disjoint cycles among the stuck ports: a shortest one through the lowest number that is in a
/// cycle, then the same for the remaining ports. Each starts with its lowest number.
fn cycles(waits: &[Wait], stuck: &[bool]) -> Vec<Vec<usize>> {
    let behind = |wait: &Wait| -> Vec<usize> {
        let needs = wait.iter().filter(|need| need.holds(stuck));
        needs.flat_map(|need| &need.behind).flat_map(|(by, _)| by.iter().copied()).collect()
    };
    let behind: Vec<Vec<usize>> = waits.iter().map(behind).collect();
    let mut free = stuck.to_vec();
    let mut cycles = Vec::new();
    for first in 0..waits.len() {
        if free[first]
            && let Some(cycle) = shortest(&behind, &free, first)
        {
            cycle.iter().for_each(|&member| free[member] = false);
            cycles.push(cycle);
        }
    }
    cycles
}

/// The shortest cycle through `first` among the ports that are free, each of which is blocked
/// `behind` others.
fn shortest(behind: &[Vec<usize>], free: &[bool], first: usize) -> Option<Vec<usize>> {
    let mut before = vec![usize::MAX; behind.len()];
    let mut next = VecDeque::from([first]);
    while let Some(at) = next.pop_front() {
        for &other in behind[at].iter().filter(|&&other| free[other]) {
            if other == first {
                let mut cycle = vec![at];
                while *cycle.last().expect("it has one") != first {
                    cycle.push(before[*cycle.last().expect("as above")]);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if before[other] == usize::MAX {
                before[other] = at;
                next.push_back(other);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait-for graph in which each dependency is one byte.
    fn waits(behind: &[&[usize]]) -> Vec<Wait> {
        let wait = |others: &&[usize]| {
            let behind = others.iter().map(|&other| (vec![other], 1)).collect();
            vec![Need { behind, goes_on_at: 0 }]
        };
        behind.iter().map(wait).collect()
    }

    fn found(waits: &[Wait]) -> (Vec<Vec<usize>>, usize) {
        let stuck = stuck(waits);
        let all = stuck.iter().filter(|&&stuck| stuck).count();
        let cycles = cycles(waits, &stuck);
        let members: usize = cycles.iter().map(Vec::len).sum();
        (cycles, all - members)
    }

    #[test]
    fn a_chain_is_none() {
        // 0 depends on 1, 1 on 2, and 2 on 3, which is not stopped.
        assert_eq!(found(&waits(&[&[1], &[2], &[3], &[]])), (vec![], 0));
        // A congestion tree: many ports blocked behind one.
        assert_eq!(found(&waits(&[&[3], &[3], &[3], &[4], &[]])), (vec![], 0));
    }

    #[test]
    fn a_circle_and_those_behind_it() {
        // 0 depends on 2, 2 on 1, and 1 on 0; 3 is blocked behind 1, and 4 behind 3.
        assert_eq!(found(&waits(&[&[2], &[0], &[1], &[1], &[3]])), (vec![vec![0, 2, 1]], 2));
        // Two ports that are blocked on each other.
        assert_eq!(found(&waits(&[&[], &[2], &[1]])), (vec![vec![1, 2]], 0));
    }

    #[test]
    fn a_circle_dissolves_if_enough_leaves_elsewhere() {
        // 0 and 1 are blocked on each other. Of the bytes that keep 1 stopped, 600 are bound for 0
        // and 500 for 2, which drains.
        let cycle = |goes_on_at| {
            let mut waits = waits(&[&[1], &[0, 2], &[]]);
            let behind = vec![(vec![0], 600), (vec![2], 500)];
            waits[1] = vec![Need { behind, goes_on_at }];
            waits
        };
        assert_eq!(found(&cycle(599)), (vec![vec![0, 1]], 0));
        assert_eq!(found(&cycle(600)), (vec![], 0));
    }

    #[test]
    fn bytes_stay_for_the_sake_of_any_that_they_wait_for() {
        // 0 depends on 500 bytes bound for 2, which drains, but queued behind a head for 1, and on
        // 500 bytes that are blocked on 1 as well as on 3, which is behind 1. All of them count
        // once.
        let cycle = |goes_on_at| {
            let mut waits = waits(&[&[], &[0], &[], &[1]]);
            let behind = vec![(vec![1, 2], 500), (vec![1, 3], 500)];
            waits[0] = vec![Need { behind, goes_on_at }];
            waits
        };
        assert_eq!(found(&cycle(999)), (vec![vec![0, 1]], 1));
        assert_eq!(found(&cycle(1_000)), (vec![], 0));
    }

    #[test]
    fn everything_that_one_waits_for_must_happen() {
        // 1 depends on 0, which depends on a few bytes of 1 or many of 2: these drain, and so does
        // everything.
        let need = |other, bytes| Need { behind: vec![(vec![other], bytes)], goes_on_at: 100 };
        let mut cycle = waits(&[&[], &[0], &[]]);
        cycle[0] = vec![need(1, 100), need(2, 900)];
        assert_eq!(found(&cycle), (vec![], 0));
        cycle[0].push(need(1, 101));
        assert_eq!(found(&cycle), (vec![vec![0, 1]], 0));
    }

    #[test]
    fn of_circles_with_a_port_in_common_the_shortest_is_told() {
        // 0 -> 1 -> 2 -> 0 and 0 -> 3 -> 0: the second is found; 1 and 2 are blocked behind it.
        assert_eq!(found(&waits(&[&[1, 3], &[2], &[0], &[0]])), (vec![vec![0, 3]], 2));
        // Two cycles without a common port.
        let apart = waits(&[&[2], &[3], &[0], &[1]]);
        assert_eq!(found(&apart), (vec![vec![0, 2], vec![1, 3]], 0));
    }
}
