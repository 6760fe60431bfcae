//! Deadlocks: ports that wait for each other in a circle, so that none of them will ever send.
//!
//! A port and class that has packets and is paused goes on when enough of what its neighbour holds
//! against it has left that neighbour. Assume that all which are stopped stay so, and take out, again
//! and again, those whose neighbour will let them go on even if nothing leaves the others: what stays
//! at the end can never send. Each of these waits for another one of them, so there are circles among
//! them, and the rest waits behind a circle. A pause that only lasts long, like those of a congestion
//! tree, ends at a port that is not stopped, and is taken out from there.

use std::collections::{BTreeMap, VecDeque};

use floodway_model::{Instant, NodeId};

use crate::switch::Switch;
use crate::switch::stopped::{Stopped, Waits};

/// What has been found.
#[derive(Clone, Debug, Default)]
pub struct Deadlocks {
    /// Circles that have no port in common.
    pub cycles: Vec<Cycle>,
    /// Ports and classes of switches that are in none of them but wait for one.
    pub behind: u64,
    /// When the last frame ended that came out of a queue, anywhere.
    pub last_moved: Instant,
}

/// Ports that wait for each other, in order: each is stopped by the node of the next.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// With the node of each, beginning with the lowest number.
    pub members: Vec<(NodeId, Stopped)>,
}

impl Cycle {
    /// How many flows have packets in it.
    pub fn flows(&self) -> usize {
        let all = self.members.iter().flat_map(|(_, stopped)| &stopped.flows);
        all.collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// What one that is stopped waits for: all of these.
type Wait = Vec<Need>;

/// One of them.
#[derive(Clone, Debug, Default)]
struct Need {
    /// Bytes that hold it up, with those that are stopped, by their numbers, of which each keeps
    /// these bytes where they are.
    behind: Vec<(Vec<usize>, u64)>,
    /// It goes on when at most so many of these are left.
    goes_on_at: u64,
}

impl Need {
    /// Whether enough bytes stay while the others are stuck or not as given.
    fn holds(&self, stuck: &[bool]) -> bool {
        let stays = |(by, _): &&(Vec<usize>, u64)| by.iter().any(|&other| stuck[other]);
        let bytes: u64 = self.behind.iter().filter(stays).map(|(_, bytes)| bytes).sum();
        bytes > self.goes_on_at
    }
}

/// Seeks deadlocks in what the switches are at `now`. Hosts send nothing on, so they are in none.
pub fn find(switches: &[Switch], now: Instant) -> Deadlocks {
    let stopped: Vec<(NodeId, Stopped)> = switches
        .iter()
        .flat_map(|switch| switch.stopped(now).into_iter().map(|stopped| (switch.id(), stopped)))
        .collect();
    if stopped.is_empty() {
        return Deadlocks::default();
    }
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
    let waits: Vec<Wait> = stopped.iter().map(wait).collect();
    let stuck = stuck(&waits);
    let cycles = cycles(&waits, &stuck);
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

/// Those that can never go on: the largest set in which each is held up by enough bytes in others of
/// it.
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

/// Circles among those that are stuck, without a member in common: through the lowest number that
/// is in one the shortest, then the same of the rest. Each begins with its lowest number.
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

/// The shortest circle through `first` among those that are free, each of which is `behind` others.
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

    /// Who waits for whom, by one byte each.
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
        // 0 waits for 1, that for 2, that for 3, which nobody stops.
        assert_eq!(found(&waits(&[&[1], &[2], &[3], &[]])), (vec![], 0));
        // A tree of congestion: many behind one.
        assert_eq!(found(&waits(&[&[3], &[3], &[3], &[4], &[]])), (vec![], 0));
    }

    #[test]
    fn a_circle_and_those_behind_it() {
        // 0 waits for 2, that for 1, that for 0; 3 waits for 1 and 4 for 3.
        assert_eq!(found(&waits(&[&[2], &[0], &[1], &[1], &[3]])), (vec![vec![0, 2, 1]], 2));
        // Two that wait for each other.
        assert_eq!(found(&waits(&[&[], &[2], &[1]])), (vec![vec![1, 2]], 0));
    }

    #[test]
    fn a_circle_dissolves_if_enough_leaves_elsewhere() {
        // 0 and 1 wait for each other; of what holds up 1, 600 bytes wait for 0 and 500 for 2, which
        // drains.
        let circle = |goes_on_at| {
            let mut waits = waits(&[&[1], &[0, 2], &[]]);
            let behind = vec![(vec![0], 600), (vec![2], 500)];
            waits[1] = vec![Need { behind, goes_on_at }];
            waits
        };
        assert_eq!(found(&circle(599)), (vec![vec![0, 1]], 0));
        assert_eq!(found(&circle(600)), (vec![], 0));
    }

    #[test]
    fn bytes_stay_for_the_sake_of_any_that_they_wait_for() {
        // 0 waits for bytes that are bound for 2, which drains, and stand behind a head for 1. They
        // count once although they wait for 1 as well as for 3, which is behind 1.
        let circle = |goes_on_at| {
            let mut waits = waits(&[&[], &[0], &[], &[1]]);
            let behind = vec![(vec![1, 2], 500), (vec![1, 3], 500)];
            waits[0] = vec![Need { behind, goes_on_at }];
            waits
        };
        assert_eq!(found(&circle(999)), (vec![vec![0, 1]], 1));
        assert_eq!(found(&circle(1_000)), (vec![], 0));
    }

    #[test]
    fn everything_that_one_waits_for_must_happen() {
        // 1 waits for 0, which waits for little of 1 or for much of 2: that drains, and so does all.
        let need = |other, bytes| Need { behind: vec![(vec![other], bytes)], goes_on_at: 100 };
        let mut circle = waits(&[&[], &[0], &[]]);
        circle[0] = vec![need(1, 100), need(2, 900)];
        assert_eq!(found(&circle), (vec![], 0));
        circle[0].push(need(1, 101));
        assert_eq!(found(&circle), (vec![vec![0, 1]], 0));
    }

    #[test]
    fn of_circles_with_a_port_in_common_the_shortest_is_told() {
        // 0 -> 1 -> 2 -> 0 and 0 -> 3 -> 0: the second; 1 and 2 wait behind.
        assert_eq!(found(&waits(&[&[1, 3], &[2], &[0], &[0]])), (vec![vec![0, 3]], 2));
        // Two without one in common.
        let apart = waits(&[&[2], &[3], &[0], &[1]]);
        assert_eq!(found(&apart), (vec![vec![0, 2], vec![1, 3]], 0));
    }
}
