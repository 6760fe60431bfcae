//! Assignment of nodes to threads.

use floodway_model::{Duration, Instant, NodeId};

use crate::frame::Frame;
use crate::windows::Windows;
use crate::wire::Wire;

/// How the nodes of a network are partitioned among threads, and the parameters of their wires.
#[derive(Clone, Debug)]
pub struct Layout {
    windows: Windows,
    /// Number of upcoming windows that have arrival lists of their own.
    ring: u64,
    /// Part of each node, by node.
    owner: Vec<u16>,
    parts: u16,
    /// Largest number of ports of any node.
    ports: usize,
}

impl Layout {
    /// A layout for at most `threads` threads. `ports` is the number of ports of each node, which
    /// serves as an estimate of its work. `groups` covers all nodes; the nodes of a group stay on one
    /// thread, such as a leaf and its hosts. `longest_hop` is the longest time from sending to
    /// arrival.
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

    /// The windows into which time is divided.
    pub fn windows(&self) -> Windows {
        self.windows
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        usize::from(self.parts)
    }

    /// The part of a node.
    pub fn part(&self, node: NodeId) -> usize {
        usize::from(self.owner[node.index()])
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.owner.len()
    }

    /// Largest number of ports of any node.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// An empty wire for the part with this number.
    pub fn wire<F: Frame>(&self, part: usize) -> Wire<F> {
        Wire::new(self.windows, self.ring, &self.owner, (part as u16, self.parts))
    }
}

/// Part of each node. Groups stay together and are assigned heaviest first, each to the least
/// loaded part.
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
        // Groups of 3, 4, 2 and 5 ports on two parts: 5, then 4 to the other part, 3 to the part with 4, 2 to
        // the part with 5. The parts have 7 ports each.
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
