//! Schedules that only traces have: sums and parts at one rank, and barriers. Like those of [`super::schedule`],
//! they are only arithmetic.

use super::schedule::{Schedule, part};

impl Schedule {
    /// The same messages from their receivers to their senders, in reverse order: a reduction to the root
    /// from a broadcast. A message depends on those that it preceded, if its sender sends or receives them.
    pub fn reversed(&self) -> Self {
        let many = self.messages.len() as u32;
        // By message, those that wait for it.
        let mut dependents: Vec<Vec<u32>> = vec![Vec::new(); many as usize];
        for message in 0..many {
            for &before in self.after(message) {
                dependents[before as usize].push(message);
            }
        }
        let mut reversed = Self::default();
        for message in (0..many).rev() {
            let of = self.messages[message as usize];
            let knows = |other: &&u32| {
                let other = self.messages[**other as usize];
                other.from == of.to || other.to == of.to
            };
            let after = dependents[message as usize].iter().filter(knows);
            let after: Vec<u32> = after.map(|other| many - 1 - other).collect();
            reversed.add(of.to as usize, of.from as usize, of.bytes, &after);
        }
        reversed
    }

    /// The first of so many ranks sends its part of `bytes` to each other, one after the other.
    pub fn scatter(ranks: usize, bytes: u64) -> Self {
        let mut schedule = Self::default();
        let mut last: Vec<u32> = Vec::new();
        for to in 1..ranks {
            let bytes = part(bytes, ranks as u64, to as u64);
            last = vec![schedule.add(0, to, bytes, &last)];
        }
        schedule
    }

    /// Each other rank sends `bytes` to the first, all at once.
    pub fn gather(ranks: usize, bytes: u64) -> Self {
        let mut schedule = Self::default();
        (1..ranks).for_each(|from| {
            schedule.add(from, 0, bytes, &[]);
        });
        schedule
    }

    /// A barrier by dissemination (Hensgen, Finkel and Manber 1988): in step s, each rank sends a byte to the one
    /// 2^s after it, when it has received that of the step before.
    pub fn barrier(ranks: usize) -> Self {
        let mut schedule = Self::default();
        let mut distance = 1;
        // By receiver, its message of the step before.
        let mut before: Vec<u32> = Vec::new();
        while distance < ranks {
            let mut now = vec![0; ranks];
            for from in 0..ranks {
                // What it has sent and received in the step before.
                let received = before.get(from).copied();
                let sent = before.get((from + distance / 2) % ranks).copied();
                let after: Vec<u32> = received.into_iter().chain(sent).collect();
                let to = (from + distance) % ranks;
                now[to] = schedule.add(from, to, 1, &after);
            }
            before = now;
            distance *= 2;
        }
        schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::collective::schedule::{Algorithm, Plan};
    use floodway_model::CollectiveKind;

    /// Whether each message follows those that it depends on, all of which its sender sends or receives.
    fn is_local(schedule: &Schedule) -> bool {
        (0..).zip(&schedule.messages).all(|(number, message)| {
            schedule.after(number).iter().all(|&before| {
                let of = schedule.messages[before as usize];
                before < number && (of.to == message.from || of.from == message.from)
            })
        })
    }

    #[test]
    fn a_reduction_gets_what_a_broadcast_gives() {
        let kind = CollectiveKind::Broadcast;
        for &algorithm in Algorithm::of(kind) {
            for (ranks, chunks) in [(2, 1), (5, 1), (8, 3)] {
                let chunks = if algorithm.has_chunks() { chunks } else { 1 };
                let plan = Plan {
                    kind,
                    algorithm,
                    ranks,
                    per_server: 1,
                    bytes: 3_001,
                    channels: 1,
                    chunks,
                };
                let schedule = plan.schedule().reversed();
                assert!(is_local(&schedule), "{plan:?}");
                let sum = |rank: u32, sent: bool| -> u64 {
                    let of = schedule.messages.iter();
                    let of = of.filter(|of| rank == if sent { of.from } else { of.to });
                    of.map(|message| message.bytes).sum()
                };
                // Each but the root sends a sum of everything, which has all that came to it before.
                assert_eq!(sum(0, true), 0, "{plan:?}");
                for rank in 1..ranks as u32 {
                    assert_eq!(sum(rank, true), 3_001, "{plan:?}");
                }
                let last = |rank: u32| {
                    let of = (0..).zip(&schedule.messages);
                    of.filter(|(_, of)| of.from == rank).map(|(number, _)| number).last()
                };
                for rank in 1..ranks as u32 {
                    let received: Vec<u32> = (0..)
                        .zip(&schedule.messages)
                        .filter(|(_, of)| of.to == rank)
                        .map(|(number, _)| number)
                        .collect();
                    assert!(received.iter().all(|&of| Some(of) < last(rank)), "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn a_chain_is_reversed_in_order() {
        let kind = CollectiveKind::Broadcast;
        let plan = Plan {
            kind,
            algorithm: Algorithm::Ring,
            ranks: 3,
            per_server: 1,
            bytes: 10,
            channels: 1,
            chunks: 1,
        };
        let schedule = plan.schedule().reversed();
        let ends: Vec<_> = schedule.messages.iter().map(|of| (of.from, of.to)).collect();
        assert_eq!(ends, [(2, 1), (1, 0)]);
        assert_eq!((schedule.after(0), schedule.after(1)), (&[][..], &[0][..]));
    }

    #[test]
    fn one_rank_gives_parts_and_gets_all() {
        let scatter = Schedule::scatter(4, 10);
        // 10 bytes are 3, 3, 2 and 2.
        let sizes: Vec<_> = scatter.messages.iter().map(|of| (of.to, of.bytes)).collect();
        assert_eq!(sizes, [(1, 3), (2, 2), (3, 2)]);
        assert_eq!(scatter.after(2), [1]);
        let gather = Schedule::gather(4, 10);
        assert!(is_local(&scatter) && is_local(&gather));
        assert_eq!(gather.messages.iter().map(|of| of.bytes).sum::<u64>(), 30);
    }

    #[test]
    fn after_a_barrier_each_rank_has_heard_of_all() {
        for ranks in 2..=17usize {
            let schedule = Schedule::barrier(ranks);
            let steps = usize::BITS - (ranks - 1).leading_zeros();
            assert_eq!(schedule.messages.len(), ranks * steps as usize);
            assert!(is_local(&schedule), "{ranks}");
            // What a rank has heard of when it sends a message, by what that waits for.
            let mut known: Vec<u64> = Vec::new();
            let mut heard: Vec<u64> = (0..ranks).map(|rank| 1 << rank).collect();
            for (number, of) in (0..).zip(&schedule.messages) {
                let own = 1u64 << of.from;
                let before = schedule.after(number).iter();
                known.push(before.fold(own, |all, &before| all | known[before as usize]));
                heard[of.to as usize] |= known[number as usize];
            }
            assert!(heard.iter().all(|&of| of == (1u64 << ranks) - 1), "{ranks}: {heard:?}");
        }
    }
}
