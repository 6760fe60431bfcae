//! Assignment of nodes to threads, and on each thread to blocks.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use floodway_model::{Duration, Instant, NodeId};

use crate::frame::Frame;
use crate::schedule::Schedule;
use crate::windows::Windows;
use crate::wire::Wire;

/// How the nodes of a network are partitioned among threads, and the parameters of their wires.
#[derive(Clone, Debug)]
pub struct Layout {
    windows: Windows,
    /// Number of the window in which a frame arrives at the latest, from the one in which it was sent.
    ahead: u64,
    /// Windows by which a side may be ahead of the other.
    reach: u64,
    /// Block of each node, by node.
    block: Vec<u32>,
    /// In order of their parts, and within a part in order of their sides.
    blocks: Arc<[Block]>,
    parts: u16,
    /// Largest number of ports of any node.
    ports: usize,
    has_sides: bool,
    /// Whether the state of a block is not in the caches when it is run.
    looks_ahead: bool,
}

/// Nodes of a part that are run one window after the other while their state is in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub part: u16,
    /// Its side, 0 or 1; 0 if blocks have no sides.
    pub side: u8,
}

impl Layout {
    /// A layout for so many processes (ranks) and at most `threads` threads of each. `ports` is the number of ports of
    /// each node, and `work` an estimate of its work, in any unit. `groups` covers all nodes; the nodes of a group stay on one
    /// thread, such as a leaf and its hosts, and neighbors in the list go to the same rank. `longest_hop` is the longest
    /// time from sending to arrival.
    pub fn new(
        ports: &[usize],
        work: &[u64],
        groups: &[Vec<NodeId>],
        windows: Windows,
        longest_hop: Duration,
        (ranks, threads): (usize, usize),
    ) -> Self {
        let parts = (ranks * threads).clamp(1, groups.len().clamp(1, usize::from(u16::MAX)));
        let block = |part| Block { part: part as u16, side: 0 };
        Self {
            windows,
            ahead: windows.index(Instant(longest_hop.0)) + 2,
            reach: 1,
            block: share_out((ports, work), groups, (ranks, parts)),
            blocks: (0..parts).map(block).collect(),
            parts: parts as u16,
            ports: ports.iter().copied().max().unwrap_or(1),
            has_sides: false,
            looks_ahead: false,
        }
    }

    /// The same with each part in blocks of at most so many ports, or of one group. `sides` are those of the groups, 0
    /// or 1; every link between two groups must join one side with the other. A frame between two groups takes at
    /// least `reach` windows, and blocks run twice as many at a time. Flows must end at nodes of side 0 only
    /// ([`Done`](crate::Done)), and have effects only before windows whose numbers are multiples of these.
    #[must_use]
    pub fn in_blocks(
        mut self,
        ports: &[usize],
        groups: &[Vec<NodeId>],
        sides: &[u8],
        (most_ports, reach): (usize, u64),
    ) -> Self {
        let weight = |group: &[NodeId]| group.iter().map(|node| ports[node.index()]).sum::<usize>();
        let mut blocks = Vec::new();
        let mut block_of = vec![0; self.block.len()];
        let all = (0..self.parts).flat_map(|part| [0, 1].map(|side| Block { part, side }));
        for block in all {
            let here = |(group, side): &(&Vec<NodeId>, &u8)| {
                let part = group.first().map(|node| self.part(*node));
                **side == block.side && part == Some(usize::from(block.part))
            };
            let mut filled = usize::MAX;
            for (group, _) in groups.iter().zip(sides).filter(here) {
                let weight = weight(group);
                if filled.saturating_add(weight) > most_ports {
                    blocks.push(block);
                    filled = 0;
                }
                filled += weight;
                group.iter().for_each(|node| block_of[node.index()] = blocks.len() as u32 - 1);
            }
        }
        (self.block, self.blocks, self.has_sides) = (block_of, blocks.into(), true);
        self.reach = reach.clamp(1, LONGEST_REACH);
        self.looks_ahead = ports.iter().sum::<usize>() > BLOCKS_IN_CACHES * most_ports;
        self
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
        usize::from(self.blocks[self.block[node.index()] as usize].part)
    }

    /// Number of blocks of this part.
    pub fn blocks(&self, part: usize) -> usize {
        self.blocks_of(part).len()
    }

    /// The block of a node, as its index among the blocks of its part.
    pub fn block(&self, node: NodeId) -> usize {
        let block = self.block[node.index()] as usize;
        block - self.blocks_of(usize::from(self.blocks[block].part)).start
    }

    /// Numbers of the blocks of a part, among all blocks.
    pub(crate) fn blocks_of(&self, part: usize) -> Range<usize> {
        let before = |part| self.blocks.partition_point(|block| usize::from(block.part) < part);
        before(part)..before(part + 1)
    }

    /// The side of each block of a part.
    pub(crate) fn sides(&self, part: usize) -> impl Iterator<Item = usize> + '_ {
        self.blocks[self.blocks_of(part)].iter().map(|block| usize::from(block.side))
    }

    /// Whether blocks have sides.
    pub(crate) fn has_sides(&self) -> bool {
        self.has_sides
    }

    /// Whether the state of a block is not in the caches when it is run.
    pub(crate) fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// In which order windows are run.
    pub(crate) fn schedule(&self) -> Schedule {
        Schedule::new(self.has_sides, self.reach)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.block.len()
    }

    /// Largest number of ports of any node.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// An empty wire for the part with this number.
    pub fn wire<F: Frame>(&self, part: usize) -> Wire<F> {
        // Frames of a stretch arrive after it, or are in lists.
        let ring = (self.ahead + self.reach - 1).min(LISTS).max(3 * self.reach - 1);
        let ring = (ring.next_power_of_two(), self.reach);
        Wire::new(self.windows, ring, &self.block, (part as u16, Arc::clone(&self.blocks)))
    }
}

/// A block has at most so many lists of frames, one for each upcoming window, unless stretches need more.
const LISTS: u64 = 64;

/// So many blocks stay in the caches, those that are shared by cores included (measured).
const BLOCKS_IN_CACHES: usize = 12;

/// Further ahead a side need not be: its blocks then stay in the caches for 64 windows.
const LONGEST_REACH: u64 = 32;

/// Part of each node. Groups stay together.
fn share_out(
    (ports, work): (&[usize], &[u64]),
    groups: &[Vec<NodeId>],
    (ranks, parts): (usize, usize),
) -> Vec<u32> {
    let sum = |group: &[NodeId]| Group {
        ports: group.iter().map(|node| ports[node.index()]).sum(),
        work: group.iter().map(|node| work[node.index()]).sum(),
    };
    let mut groups: Vec<(Group, &Vec<NodeId>)> =
        groups.iter().map(|group| (sum(group), group)).collect();
    groups.sort_by_key(|(group, _)| Reverse(group.ports));
    let sums: Vec<Group> = groups.iter().map(|(sum, _)| *sum).collect();
    let mut owner = vec![0; ports.len()];
    for ((_, nodes), part) in groups.iter().zip(parts_of(&sums, ranks, parts)) {
        for node in *nodes {
            owner[node.index()] = part as u32;
        }
    }
    owner
}

/// Nodes that stay together.
#[derive(Clone, Copy)]
struct Group {
    /// Number of ports: groups with as many are of a kind, such as the leaves of a network.
    ports: usize,
    work: u64,
}

/// Part of each group, those with most ports first. Groups of a rank are neighbors; within it, and if a part would have
/// nothing otherwise, each group goes to the least loaded part, the heaviest first.
fn parts_of(groups: &[Group], ranks: usize, parts: usize) -> Vec<usize> {
    let mut heaviest: Vec<usize> = (0..groups.len()).collect();
    heaviest.sort_by_key(|&group| Reverse(groups[group].work));
    let balanced = |of_rank: &[usize], parts: usize| {
        let mut load = vec![0; parts * (of_rank.iter().max().unwrap_or(&0) + 1)];
        let mut chosen = vec![0; groups.len()];
        for &group in &heaviest {
            let of = of_rank[group] * parts..(of_rank[group] + 1) * parts;
            let part = of.min_by_key(|&part| load[part]).expect("there is a part");
            load[part] += groups[group].work;
            chosen[group] = part;
        }
        chosen
    };
    if ranks > 1 && parts.is_multiple_of(ranks) {
        let chosen = balanced(&ranks_of(groups, ranks), parts / ranks);
        if (0..parts).all(|part| chosen.contains(&part)) {
            return chosen;
        }
    }
    balanced(&vec![0; groups.len()], parts)
}

/// Rank of each group, those with most ports first. Groups of a kind are divided into blocks of neighbors, so that most
/// of a pod is on one rank and fewer frames cross. The length of a block is what its rank lacks of an equal load.
fn ranks_of(groups: &[Group], ranks: usize) -> Vec<usize> {
    let mut load = vec![0; ranks];
    let mut chosen = Vec::with_capacity(groups.len());
    for class in groups.chunk_by(|one, next| one.ports == next.ports) {
        // In 128 bits, because work has any unit. A group without any has at least the least.
        let work = class.iter().map(|group| u128::from(group.work.max(1)));
        let of_class = work.clone().sum::<u128>();
        let total = load.iter().sum::<u128>() + of_class;
        let lacks: Vec<u128> =
            load.iter().map(|load| total.saturating_sub(load * ranks as u128)).collect();
        let all = lacks.iter().sum::<u128>();
        let (mut rank, mut end, mut before) = (0, lacks[0], 0);
        for work in work {
            // The middle of a group is in the block of its rank.
            let middle = (2 * before + work) * all / (2 * of_class);
            while end <= middle && rank + 1 < ranks {
                rank += 1;
                end += lacks[rank];
            }
            load[rank] += work;
            before += work;
            chosen.push(rank);
        }
    }
    chosen
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
        let work = ports.map(|ports| ports as u64);
        let layout = Layout::new(&ports, &work, &groups, windows, Duration(250), (1, 2));
        let parts: Vec<usize> = (0..5).map(|node| layout.part(NodeId(node))).collect();
        assert_eq!(parts, [1, 1, 1, 0, 0]);
        assert_eq!((layout.parts(), layout.nodes(), layout.ports()), (2, 5, 5));
    }

    #[test]
    fn there_are_no_more_parts_than_groups() {
        let groups = [vec![NodeId(0), NodeId(1)]];
        let windows = Windows::new(Duration(100), 1);
        let layout = Layout::new(&[1, 1], &[1, 1], &groups, windows, Duration(100), (1, 8));
        assert_eq!(layout.parts(), 1);
    }

    /// Groups with as much work as ports.
    fn groups(ports: &[usize]) -> Vec<Group> {
        ports.iter().map(|&ports| Group { ports, work: ports as u64 }).collect()
    }

    #[test]
    fn ranks_have_equal_work_of_groups_of_a_kind() {
        // Four leaves of 24 ports, of which the first has half of the work, and four spines, which have as much as the
        // leaves together. By hand: half of the work on each rank, and neighbors together.
        let leaves = [6, 2, 2, 2].map(|work| Group { ports: 24, work });
        let spines = [3; 4].map(|work| Group { ports: 8, work });
        let all = [leaves, spines].concat();
        assert_eq!(ranks_of(&all, 2), [0, 1, 1, 1, 0, 0, 1, 1]);
        // One leaf has three quarters: the other rank has all the rest of the leaves, and more of the spines.
        let leaves = [9, 1, 1, 1].map(|work| Group { ports: 24, work });
        let all = [leaves, spines].concat();
        assert_eq!(ranks_of(&all, 2), [0, 1, 1, 1, 0, 1, 1, 1]);
        // Without any work at all they are as many.
        assert_eq!(ranks_of(&[Group { ports: 8, work: 0 }; 4], 2), [0, 0, 1, 1]);
    }

    #[test]
    fn threads_have_the_heaviest_groups_first() {
        // 5, then 4 to the other thread, 3 to the one with 4, 2 to the one with 5: 7 each, whatever their order is.
        let all = [2, 5, 3, 4].map(|work| Group { ports: 8, work });
        assert_eq!(parts_of(&all, 1, 2), [0, 0, 1, 1]);
    }

    #[test]
    fn ranks_have_blocks_of_neighbors() {
        // A fat-tree: 16 edge switches with 4 hosts each, 16 aggregation switches, 8 core switches. By hand: 4 + 4 ports
        // of hosts and of a switch, 4 ports, 4 ports; each of 4 ranks has the edge switches of a pod, and a quarter of
        // the 24 others, in order.
        let weights = [[8; 16].as_slice(), &[4; 24]].concat();
        let ranks = ranks_of(&groups(&weights), 4);
        let expected = |of: std::ops::Range<usize>, each: usize| of.map(move |place| place / each);
        assert_eq!(ranks, expected(0..16, 4).chain(expected(0..24, 6)).collect::<Vec<_>>());
        // Two threads of each rank have half of its groups each.
        let parts = parts_of(&groups(&weights), 4, 8);
        for (group, part) in parts.iter().enumerate() {
            assert_eq!(part / 2, ranks[group]);
        }
        let load = |part| {
            let of = |group: &usize| parts[*group] == part;
            (0..40).filter(of).map(|group| weights[group]).sum::<usize>()
        };
        assert_eq!((0..8).map(load).collect::<Vec<_>>(), [28; 8]);
    }

    #[test]
    fn ranks_differ_by_less_than_a_group() {
        for (count, ranks) in [(11, 8), (13, 8), (10, 4), (9, 4), (100, 7), (8, 8)] {
            let chosen = ranks_of(&groups(&vec![3; count]), ranks);
            let of_rank = |rank| chosen.iter().filter(|of| **of == rank).count();
            assert!(chosen.is_sorted());
            assert!(
                (0..ranks)
                    .all(|rank| [count / ranks, count.div_ceil(ranks)].contains(&of_rank(rank)))
            );
        }
    }

    #[test]
    fn no_part_is_empty() {
        // One switch that outweighs all others, and as many parts as groups: blocks would leave ranks without any.
        let weights = [100, 9, 8, 7, 1, 1];
        let mut parts = parts_of(&groups(&weights), 3, 6);
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2, 3, 4, 5]);
    }
}
