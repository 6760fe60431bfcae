//! Which thread has which nodes.

use floodway_model::{Duration, Instant, NodeId};

use crate::frame::Frame;
use crate::windows::Windows;
use crate::wire::Wire;

/// How the nodes of a network are shared out among threads, and what their wires are like.
#[derive(Clone, Debug)]
pub struct Layout {
    windows: Windows,
    /// Windows ahead that have lists of arrivals of their own.
    ring: u64,
    /// By node: its part.
    owner: Vec<u16>,
    parts: u16,
    /// The most ports of a node.
    ports: usize,
}

impl Layout {
    /// For at most so many threads. `ports` is the number of ports of each node, by which its work is
    /// estimated, `groups` has all nodes, those together that belong on one thread, such as a leaf and
    /// its hosts, and `longest_hop` is the longest time from sending to arrival.
    pub fn new(
        ports: &[usize],
        groups: &[Vec<NodeId>],
        windows: Windows,
        longest_hop: Duration,
        threads: usize,
    ) -> Self {
        let parts = threads.clamp(1, groups.len().clamp(1, usize::from(u16::MAX)));
        let ahead = windows.index(Instant(longest_hop.0)) + 2;
        Self {
            windows,
            ring: ahead.next_power_of_two().min(64),
            owner: share_out(ports, groups, parts),
            parts: parts as u16,
            ports: ports.iter().copied().max().unwrap_or(1),
        }
    }

    /// Its windows.
    pub fn windows(&self) -> Windows {
        self.windows
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        usize::from(self.parts)
    }

    /// The part of a node.
    pub fn part(&self, node: NodeId) -> usize {
        usize::from(self.owner[node.index()])
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.owner.len()
    }

    /// The most ports of a node.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The wire of the part of this number, on which nothing has been sent yet.
    pub fn wire<F: Frame>(&self, part: usize) -> Wire<F> {
        Wire::new(self.windows, self.ring, self.owner.clone(), (part as u16, self.parts))
    }
}

/// The part of each node: groups stay together, the heaviest first to the least loaded part.
fn share_out(ports: &[usize], groups: &[Vec<NodeId>], parts: usize) -> Vec<u16> {
    let weight_of = |group: &[NodeId]| group.iter().map(|node| ports[node.index()]).sum::<usize>();
    let mut groups: Vec<(usize, &Vec<NodeId>)> =
        groups.iter().map(|group| (weight_of(group), group)).collect();
    groups.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut owner = vec![0; ports.len()];
    let mut load = vec![0; parts];
    for (weight, group) in groups {
        let part = (0..parts).min_by_key(|&part| load[part]).expect("there is a part");
        load[part] += weight;
        for node in group {
            owner[node.index()] = part as u16;
        }
    }
    owner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_the_heaviest_come_first() {
        // Groups of 3, 4, 2 and 5 ports on two parts: 5 + 2 (as 5, then 4, then 3 to the 4, then 2 to the 5).
        let ports = [1, 2, 4, 2, 5];
        let groups = [vec![0, 1], vec![2], vec![3], vec![4]];
        let groups = groups.map(|group| group.into_iter().map(NodeId).collect());
        let windows = Windows::new(Duration(100), 5);
        let layout = Layout::new(&ports, &groups, windows, Duration(250), 2);
        let parts: Vec<usize> = (0..5).map(|node| layout.part(NodeId(node))).collect();
        assert_eq!(parts, [1, 1, 1, 0, 0]);
        assert_eq!((layout.parts(), layout.nodes(), layout.ports()), (2, 5, 5));
    }

    #[test]
    fn there_are_no_more_parts_than_groups() {
        let groups = [vec![NodeId(0), NodeId(1)]];
        let windows = Windows::new(Duration(100), 1);
        assert_eq!(Layout::new(&[1, 1], &groups, windows, Duration(100), 8).parts(), 1);
    }
}
