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
use crate::switch::stopped::Stopped;

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

/// What one that is stopped waits for.
#[derive(Clone, Debug, Default)]
struct Wait {
    /// Others that are stopped, by their numbers, with the bytes by which they hold it up.
    behind: Vec<(usize, u64)>,
    /// It goes on when at most so many of these are left.
    goes_on_at: u64,
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
        let waits = peer.holds_up(stopped.source).unwrap_or_default();
        let number = |((port, class), bytes)| {
            numbers.get(&(stopped.peer, port, class)).map(|&number| (number, bytes))
        };
        let behind = waits.behind.into_iter().filter_map(number).collect();
        Wait { behind, goes_on_at: waits.goes_on_at }
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
            let stays = wait.behind.iter().filter(|(other, _)| stuck[*other]);
            let goes_on = stays.map(|(_, bytes)| bytes).sum::<u64>() <= wait.goes_on_at;
            if stuck[number] && goes_on {
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
    let mut free = stuck.to_vec();
    let mut cycles = Vec::new();
    for first in 0..waits.len() {
        if free[first]
            && let Some(cycle) = shortest(waits, &free, first)
        {
            cycle.iter().for_each(|&member| free[member] = false);
            cycles.push(cycle);
        }
    }
    cycles
}

/// The shortest circle through `first` among those that are free.
fn shortest(waits: &[Wait], free: &[bool], first: usize) -> Option<Vec<usize>> {
    let mut before = vec![usize::MAX; waits.len()];
    let mut next = VecDeque::from([first]);
    while let Some(at) = next.pop_front() {
        for &(other, _) in waits[at].behind.iter().filter(|(other, _)| free[*other]) {
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
        let wait = |others: &&[usize]| Wait {
            behind: others.iter().map(|&other| (other, 1)).collect(),
            goes_on_at: 0,
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
            waits[1] = Wait { behind: vec![(0, 600), (2, 500)], goes_on_at };
            waits
        };
        assert_eq!(found(&circle(599)), (vec![vec![0, 1]], 0));
        assert_eq!(found(&circle(600)), (vec![], 0));
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
