//! The messages of one round of a collective: who sends how much to whom, and after which others. It is
//! only arithmetic: ranks are numbers, and there is neither a network nor a time.
//!
//! In the formulas N is the number of ranks, D the bytes of the collective, and a shard is D / N.

use super::rails;
use floodway_model::CollectiveKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who sends what to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Each rank to the next one, shard by shard: all-reduce in 2 (N - 1) steps, reduce-scatter and
    /// all-gather in N - 1 (Patarasuk and Yuan 2009). Of a broadcast: a chain from the first rank.
    Ring,
    /// A binary tree in order of the ranks, as NCCL builds it, whose root is the first: up and down
    /// for all-reduce, down for broadcast.
    Tree,
    /// Two such trees with half of the data each; an inner rank of one is a leaf of the other if the
    /// number of ranks is even (Sanders, Speck and Traeff 2009). For all-reduce.
    DoubleBinaryTree,
    /// Exchanges with ranks at half the distance and half the data in every step, and the other way
    /// around for all-gather (Thakur, Rabenseifner and Gropp 2005). The number of ranks is a power of
    /// two. For all-reduce, reduce-scatter and all-gather.
    HalvingDoubling,
    /// To every other rank, one message after the other, the n-th rank first to the one after it; for
    /// all-reduce the shards of a sum to their ranks, then each sum to all. Of a broadcast: from the
    /// first rank to each of the others.
    Direct,
    /// In two tiers, for servers with `per_server` ranks each, which follow each other: a ring in each server for a
    /// reduce-scatter, rings between the ranks of the same place in all servers for an all-reduce of their shards,
    /// and again a ring in each server for an all-gather. For all-reduce.
    Hierarchical,
}

impl Algorithm {
    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::DoubleBinaryTree => "double_binary_tree",
            Self::HalvingDoubling => "halving_doubling",
            Self::Direct => "direct",
            Self::Hierarchical => "hierarchical",
        }
    }

    /// Those that carry out a collective, the default first.
    pub const fn of(kind: CollectiveKind) -> &'static [Self] {
        use Algorithm::{Direct, DoubleBinaryTree, HalvingDoubling, Hierarchical, Ring, Tree};
        match kind {
            CollectiveKind::AllReduce => {
                &[Ring, Tree, DoubleBinaryTree, HalvingDoubling, Direct, Hierarchical]
            }
            CollectiveKind::ReduceScatter | CollectiveKind::AllGather => {
                &[Ring, HalvingDoubling, Direct]
            }
            CollectiveKind::Broadcast => &[Ring, Tree, Direct],
            CollectiveKind::AllToAll => &[Direct],
        }
    }

    /// Whether messages are cut into chunks that follow each other.
    pub const fn has_chunks(self) -> bool {
        matches!(self, Self::Ring | Self::Tree | Self::DoubleBinaryTree)
    }
}

/// A collective, and how it is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it is.
    pub kind: CollectiveKind,
    /// Who sends what to whom; one of [`Algorithm::of`].
    pub algorithm: Algorithm,
    /// Number of ranks, at least 2.
    pub ranks: usize,
    /// Of [`Algorithm::Hierarchical`], the ranks of a server: they divide all, and are neither one nor all. Of rings
    /// the same, if each channel leaves servers by other ranks; all ranks, if each has them in their order.
    pub per_server: usize,
    /// D, at least [`Plan::parts`].
    pub bytes: u64,
    /// Parts of the data that are treated independently of each other, at least 1.
    pub channels: u32,
    /// Chunks of a message that follow each other, at least 1; 1 unless the algorithm has chunks.
    pub chunks: u32,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sends it.
    pub from: u32,
    /// The rank that receives it.
    pub to: u32,
    /// Payload.
    pub bytes: u64,
}

/// The messages of one round, in an order in which each is after all that it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The messages.
    pub messages: Vec<Message>,
    /// Numbers of messages that others wait for, message by message.
    waits: Vec<u32>,
    /// By message, where its part of `waits` ends.
    ends: Vec<u32>,
}

/// Size of one of so many parts: the first ones are a byte larger if it does not come out even.
pub fn part(bytes: u64, parts: u64, number: u64) -> u64 {
    bytes / parts + u64::from(number < bytes % parts)
}

impl Plan {
    /// Into how many parts the data is cut: the least number of bytes.
    pub fn parts(&self) -> u64 {
        let shards = match (self.algorithm, self.kind) {
            (Algorithm::Tree, _)
            | (Algorithm::Ring | Algorithm::Direct, CollectiveKind::Broadcast) => 1,
            (Algorithm::DoubleBinaryTree, _) => 2,
            _ => self.ranks as u64,
        };
        shards * u64::from(self.channels) * u64::from(self.chunks)
    }

    /// Messages of a round.
    pub fn messages(&self) -> u64 {
        let (ranks, others) = (self.ranks as u64, self.ranks as u64 - 1);
        let twice = if self.kind == CollectiveKind::AllReduce { 2 } else { 1 };
        let of_channel = match (self.algorithm, self.kind) {
            (Algorithm::Ring | Algorithm::Direct, CollectiveKind::Broadcast) => others,
            (Algorithm::Tree, _) => twice * others,
            (Algorithm::DoubleBinaryTree, _) => 2 * twice * others,
            (Algorithm::Ring | Algorithm::Direct, _) => twice * others * ranks,
            (Algorithm::Hierarchical, _) => {
                let in_server = self.per_server as u64;
                2 * (in_server - 1 + ranks / in_server - 1) * ranks
            }
            (Algorithm::HalvingDoubling, _) => twice * u64::from(ranks.ilog2()) * ranks,
        };
        of_channel * u64::from(self.channels) * u64::from(self.chunks)
    }

    /// The largest message: a part, of halving and doubling the first half of all shards, and in two tiers a shard
    /// within a server.
    pub fn largest(&self) -> u64 {
        match self.algorithm {
            Algorithm::HalvingDoubling => {
                let ranks = self.ranks as u64;
                let bytes = self.bytes.div_ceil(self.channels.into());
                (0..ranks / 2).map(|rank| part(bytes, ranks, rank)).sum()
            }
            Algorithm::Hierarchical => {
                self.bytes.div_ceil(u64::from(self.channels) * self.per_server as u64)
            }
            _ => self.bytes.div_ceil(self.parts()),
        }
    }

    /// The messages of one round.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = Schedule::default();
        for channel in 0..self.channels {
            let bytes = part(self.bytes, self.channels.into(), channel.into());
            let order = rails::order(self.ranks, self.per_server, channel as usize);
            let of = Channel { plan: self, bytes, chunks: self.chunks.into(), order };
            match (self.algorithm, self.kind) {
                (Algorithm::Ring, CollectiveKind::Broadcast) => of.chain(&mut schedule),
                (Algorithm::Ring, kind) => of.ring(kind, &mut schedule),
                (Algorithm::Tree, kind) => {
                    of.tree(kind, bytes, &parents(self.ranks), &mut schedule)
                }
                (Algorithm::DoubleBinaryTree, kind) => {
                    let trees = [parents(self.ranks), mirrored(self.ranks)];
                    for (half, tree) in (0..).zip(&trees) {
                        of.tree(kind, part(bytes, 2, half), tree, &mut schedule);
                    }
                }
                (Algorithm::HalvingDoubling, kind) => of.halving_doubling(kind, &mut schedule),
                (Algorithm::Direct, kind) => of.direct(kind, &mut schedule),
                (Algorithm::Hierarchical, _) => of.hierarchical(self.per_server, &mut schedule),
            }
        }
        schedule
    }
}

impl Schedule {
    pub(super) fn add(&mut self, from: usize, to: usize, bytes: u64, after: &[u32]) -> u32 {
        self.messages.push(Message { from: from as u32, to: to as u32, bytes });
        self.waits.extend(after);
        self.ends.push(self.waits.len() as u32);
        self.messages.len() as u32 - 1
    }

    /// The messages that one waits for: each has been sent by its sender, or received there.
    pub fn after(&self, message: u32) -> &[u32] {
        let from = message.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.waits[from as usize..self.ends[message as usize] as usize]
    }

    /// The messages with which the part of a rank begins: those that it sends and that wait for none
    /// that it has sent.
    pub fn begins(&self, message: u32) -> bool {
        let from = self.messages[message as usize].from;
        self.after(message).iter().all(|&of| self.messages[of as usize].from != from)
    }

    /// By rank, the messages with which its part is finished: those that it has sent or received and
    /// for which none that it sends waits.
    pub fn finishes(&self, ranks: usize) -> Vec<Vec<u32>> {
        // By message: whether its sender waits for it, and its receiver.
        let mut awaited = vec![[false; 2]; self.messages.len()];
        for (message, of) in (0..).zip(&self.messages) {
            for &before in self.after(message) {
                let sent = self.messages[before as usize].from == of.from;
                awaited[before as usize][usize::from(!sent)] = true;
            }
        }
        let mut finishes = vec![Vec::new(); ranks];
        for ((message, of), awaited) in (0..).zip(&self.messages).zip(awaited) {
            for (rank, awaited) in [of.from, of.to].into_iter().zip(awaited) {
                if !awaited {
                    finishes[rank as usize].push(message);
                }
            }
        }
        finishes
    }
}

/// By rank, its parent in the binary tree of NCCL (`ncclGetBtree`): with b the lowest set bit of a rank, the
/// rank without b and with the bit above it, or only without b if that is no rank. The first is the root.
fn parents(ranks: usize) -> Vec<Option<usize>> {
    let parent = |rank: usize| {
        let bit = rank & rank.wrapping_neg();
        let above = (rank ^ bit) | (bit << 1);
        (rank > 0).then_some(if above < ranks { above } else { rank ^ bit })
    };
    (0..ranks).map(parent).collect()
}

/// The second tree of two (`ncclGetDtree`): the first with the ranks in reverse if their number is even,
/// else with the ranks moved by one.
fn mirrored(ranks: usize) -> Vec<Option<usize>> {
    let first = parents(ranks);
    let name =
        |rank: usize| if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + 1) % ranks };
    let mut second = vec![None; ranks];
    for (rank, parent) in first.into_iter().enumerate() {
        second[name(rank)] = parent.map(name);
    }
    second
}

/// One of the independent parts of the data.
pub(super) struct Channel<'a> {
    pub(super) plan: &'a Plan,
    pub(super) bytes: u64,
    chunks: u64,
    /// Of a ring, the ranks in their order.
    order: Vec<usize>,
}

impl Channel<'_> {
    fn shard(&self, rank: usize) -> u64 {
        part(self.bytes, self.plan.ranks as u64, rank as u64)
    }

    fn chain(&self, schedule: &mut Schedule) {
        let mut before: Vec<u32> = Vec::new();
        for from in 0..self.plan.ranks - 1 {
            let mut sent: Vec<u32> = Vec::new();
            for chunk in 0..self.chunks {
                let mut after: Vec<u32> = before.get(chunk as usize).copied().into_iter().collect();
                after.extend(sent.last());
                let bytes = part(self.bytes, self.chunks, chunk);
                sent.push(schedule.add(from, from + 1, bytes, &after));
            }
            before = sent;
        }
    }

    fn ring(&self, kind: CollectiveKind, schedule: &mut Schedule) {
        let ranks = self.plan.ranks;
        let (steps, shift) = match kind {
            CollectiveKind::AllReduce => (2 * (ranks - 1), 0),
            // A rank ends with the sum of its own shard.
            CollectiveKind::ReduceScatter => (ranks - 1, 1),
            _ => (ranks - 1, 0),
        };
        // By sender, the chunks of the step before.
        let mut before: Vec<Vec<u32>> = Vec::new();
        for step in 0..steps {
            let mut now = Vec::with_capacity(ranks);
            for rank in 0..ranks {
                let shard = self.shard(self.order[(rank + 2 * ranks - step - shift) % ranks]);
                let received = before.get((rank + ranks - 1) % ranks);
                let mut last = before.get(rank).and_then(|sent| sent.last().copied());
                let mut sent = Vec::with_capacity(self.chunks as usize);
                for chunk in 0..self.chunks {
                    let of = received.map(|chunks| chunks[chunk as usize]);
                    let after: Vec<u32> = of.into_iter().chain(last).collect();
                    let bytes = part(shard, self.chunks, chunk);
                    let [from, to] = [rank, (rank + 1) % ranks].map(|place| self.order[place]);
                    let message = schedule.add(from, to, bytes, &after);
                    sent.push(message);
                    last = Some(message);
                }
                now.push(sent);
            }
            before = now;
        }
    }

    fn tree(
        &self,
        kind: CollectiveKind,
        bytes: u64,
        parents: &[Option<usize>],
        schedule: &mut Schedule,
    ) {
        let ranks = self.plan.ranks;
        let depth = |rank: usize| std::iter::successors(parents[rank], |&of| parents[of]).count();
        let mut order: Vec<usize> = (0..ranks).collect();
        order.sort_by_key(|&rank| depth(rank));
        let edges: Vec<(usize, usize)> =
            order.iter().filter_map(|&rank| Some((rank, parents[rank]?))).collect();
        let children = |of: usize| edges.iter().filter(move |edge| edge.1 == of).map(|edge| edge.0);
        // By rank, the chunks that it has sent up, and those that it has received from above.
        let mut up: Vec<Vec<u32>> = vec![Vec::new(); ranks];
        let mut down: Vec<Vec<u32>> = vec![Vec::new(); ranks];
        let chunk = |number: u64| part(bytes, self.chunks, number);
        if kind == CollectiveKind::AllReduce {
            for number in 0..self.chunks {
                for &(rank, parent) in edges.iter().rev() {
                    let mut after: Vec<u32> =
                        children(rank).map(|child| up[child][number as usize]).collect();
                    after.extend(up[rank].last());
                    let message = schedule.add(rank, parent, chunk(number), &after);
                    up[rank].push(message);
                }
            }
        }
        for number in 0..self.chunks {
            for &(rank, parent) in &edges {
                let mut after: Vec<u32> = match (parents[parent], kind) {
                    (Some(_), _) => vec![down[parent][number as usize]],
                    (None, CollectiveKind::AllReduce) => {
                        children(parent).map(|child| up[child][number as usize]).collect()
                    }
                    (None, _) => Vec::new(),
                };
                after.extend(down[rank].last());
                let message = schedule.add(parent, rank, chunk(number), &after);
                down[rank].push(message);
            }
        }
    }

    /// Bytes of the shards of so many ranks from `from` on.
    fn shards(&self, from: usize, many: usize) -> u64 {
        (from..from + many).map(|rank| self.shard(rank)).sum()
    }

    fn halving_doubling(&self, kind: CollectiveKind, schedule: &mut Schedule) {
        let ranks = self.plan.ranks;
        let steps = ranks.ilog2();
        let halving = (0..steps).rev().map(|bit| (1 << bit, true));
        let doubling = (0..steps).map(|bit| (1 << bit, false));
        let all: Vec<(usize, bool)> = match kind {
            CollectiveKind::AllReduce => halving.chain(doubling).collect(),
            CollectiveKind::ReduceScatter => halving.collect(),
            _ => doubling.collect(),
        };
        // By sender, its message of the step before, and how far that went.
        let (mut before, mut last): (Vec<u32>, usize) = (Vec::new(), 0);
        for (distance, halves) in all {
            let exchange = |rank: usize| {
                let other = rank ^ distance;
                // The shards of the sums that the other is to have, or those that this one has.
                let of = if halves { other } else { rank };
                let received = before.get(rank ^ last);
                let after = received.into_iter().chain(before.get(rank)).copied();
                let bytes = self.shards(of & !(distance - 1), distance);
                schedule.add(rank, other, bytes, &after.collect::<Vec<u32>>())
            };
            before = (0..ranks).map(exchange).collect();
            last = distance;
        }
    }

    fn direct(&self, kind: CollectiveKind, schedule: &mut Schedule) {
        let ranks = self.plan.ranks;
        let senders = if kind == CollectiveKind::Broadcast { 1 } else { ranks };
        // By rank, what its next message waits for.
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); ranks];
        let phases: &[bool] = match kind {
            CollectiveKind::AllReduce => &[false, true],
            CollectiveKind::AllGather => &[true],
            _ => &[false],
        };
        for &gathers in phases {
            let first = schedule.messages.len();
            for (from, last) in after.iter_mut().enumerate().take(senders) {
                for step in 1..ranks {
                    let to = (from + step) % ranks;
                    let bytes = match kind {
                        CollectiveKind::Broadcast => self.bytes,
                        _ => self.shard(if gathers { from } else { to }),
                    };
                    let message = schedule.add(from, to, bytes, last);
                    *last = vec![message];
                }
            }
            if phases.len() > 1 && !gathers {
                // A sum is there when the parts of all are.
                for (message, of) in (0..).zip(&schedule.messages).skip(first) {
                    after[of.to as usize].push(message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [CollectiveKind; 5] = [
        CollectiveKind::AllReduce,
        CollectiveKind::ReduceScatter,
        CollectiveKind::AllGather,
        CollectiveKind::Broadcast,
        CollectiveKind::AllToAll,
    ];

    /// Every plan that is allowed with these numbers.
    fn plans(bytes: u64) -> Vec<Plan> {
        let mut plans = Vec::new();
        for kind in KINDS {
            for &algorithm in Algorithm::of(kind) {
                for ranks in 2..=9usize {
                    for (channels, chunks) in [(1, 1), (1, 3), (2, 1), (3, 2)] {
                        let halves = algorithm == Algorithm::HalvingDoubling;
                        let is_allowed = (chunks == 1 || algorithm.has_chunks())
                            && (!halves || ranks.is_power_of_two());
                        let tiers = (2..ranks).filter(|of| ranks.is_multiple_of(*of));
                        let tiers = match algorithm {
                            Algorithm::Hierarchical => tiers.collect(),
                            _ => vec![ranks],
                        };
                        for per_server in tiers.into_iter().filter(|_| is_allowed) {
                            plans.push(Plan {
                                kind,
                                algorithm,
                                ranks,
                                per_server,
                                bytes,
                                channels,
                                chunks,
                            });
                        }
                    }
                }
            }
        }
        plans
    }

    #[test]
    fn every_rank_receives_what_it_must() {
        // Even, and with a remainder of every kind.
        for bytes in [5_040, 5_077] {
            for plan in plans(bytes) {
                let schedule = plan.schedule();
                assert_eq!(schedule.messages.len() as u64, plan.messages(), "{plan:?}");
                let sizes = schedule.messages.iter().map(|message| message.bytes);
                assert_eq!(sizes.clone().max(), Some(plan.largest()), "{plan:?}");
                assert!(sizes.clone().all(|size| size > 0), "{plan:?}");
                let (ranks, others) = (plan.ranks as u64, plan.ranks as u64 - 1);
                // Bytes of all messages, from what each rank has to receive at least: all of these
                // algorithms send no more.
                let all = match plan.kind {
                    CollectiveKind::AllReduce => 2 * others * bytes,
                    CollectiveKind::Broadcast => others * bytes,
                    _ => others * bytes,
                };
                assert_eq!(sizes.sum::<u64>(), all, "{plan:?}");
                if plan.kind != CollectiveKind::AllReduce {
                    continue;
                }
                if matches!(plan.algorithm, Algorithm::Tree | Algorithm::DoubleBinaryTree) {
                    continue;
                }
                // As much to every rank, but for remainders.
                for rank in 0..plan.ranks as u32 {
                    let of = |to: &&Message| to.to == rank;
                    let got: u64 =
                        schedule.messages.iter().filter(of).map(|message| message.bytes).sum();
                    let fair = 2 * others * bytes / ranks;
                    let slack = 2 * ranks * u64::from(plan.channels * plan.chunks);
                    assert!(got.abs_diff(fair) <= slack, "{plan:?}: {got} {fair}");
                }
            }
        }
    }

    #[test]
    fn messages_wait_only_for_what_their_sender_knows_of() {
        for plan in plans(5_077) {
            let schedule = plan.schedule();
            for (number, message) in (0..).zip(&schedule.messages) {
                for &before in schedule.after(number) {
                    assert!(before < number, "{plan:?}");
                    let of = schedule.messages[before as usize];
                    assert!(of.to == message.from || of.from == message.from, "{plan:?}");
                }
            }
            // Something begins, and every rank finishes.
            assert!((0..schedule.messages.len() as u32).any(|message| schedule.begins(message)));
            let finishes = schedule.finishes(plan.ranks);
            assert!(finishes.iter().all(|of| !of.is_empty()), "{plan:?}");
        }
    }

    #[test]
    fn the_trees_of_eight_are_those_of_nccl() {
        let numbers = |parents: Vec<Option<usize>>| -> Vec<i64> {
            parents.into_iter().map(|of| of.map_or(-1, |of| of as i64)).collect()
        };
        assert_eq!(numbers(parents(8)), [-1, 2, 4, 2, 0, 6, 4, 6]);
        assert_eq!(numbers(mirrored(8)), [1, 3, 1, 7, 5, 3, 5, -1]);
        for ranks in 2..=64 {
            for tree in [parents(ranks), mirrored(ranks)] {
                // All hang on one root.
                for rank in 0..ranks {
                    let way = std::iter::successors(tree[rank], |&of| tree[of]).take(ranks).count();
                    assert!(way < 8, "{ranks} {rank}");
                }
                assert_eq!(tree.iter().filter(|parent| parent.is_none()).count(), 1);
            }
            if ranks.is_multiple_of(2) {
                let inner = |tree: &[Option<usize>], rank: usize| {
                    tree[rank].is_some() && tree.contains(&Some(rank))
                };
                let both =
                    |rank: &usize| inner(&parents(ranks), *rank) && inner(&mirrored(ranks), *rank);
                assert_eq!((0..ranks).find(both), None, "{ranks}");
            }
        }
    }

    #[test]
    fn halving_sends_halves() {
        let plan = Plan {
            kind: CollectiveKind::AllReduce,
            algorithm: Algorithm::HalvingDoubling,
            ranks: 8,
            per_server: 8,
            bytes: 8_000,
            channels: 1,
            chunks: 1,
        };
        let schedule = plan.schedule();
        let of_first: Vec<_> = schedule
            .messages
            .iter()
            .filter(|of| of.from == 0)
            .map(|of| (of.to, of.bytes))
            .collect();
        assert_eq!(
            of_first,
            [(4, 4_000), (2, 2_000), (1, 1_000), (1, 1_000), (2, 2_000), (4, 4_000)]
        );
    }
}
