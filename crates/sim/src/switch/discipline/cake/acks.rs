//! The ACK filter: acknowledgements that are queued while a newer one arrives that says the same and more are dropped
//! (tc-cake(8), `ack-filter`). Which ones may be dropped is as in Linux 6.12.

use std::collections::VecDeque;

use floodway_model::{AckFlags, Body, Instant, Packet, SackBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::queue::Queued;

/// Which acknowledgements of TCP without data are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckFilter {
    /// None (`no-ack-filter`).
    #[default]
    Off,
    /// Those that two newer ones of the flow make superfluous, so that at least two remain (`ack-filter`).
    Conservative,
    /// Also one that the next one makes superfluous, so that one remains (`ack-filter-aggressive`).
    Aggressive,
}

impl AckFilter {
    /// Whether it does nothing.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// A packet has joined a flow queue as its last one: the place of the acknowledgement that is dropped for it, the oldest
    /// that may be.
    pub fn superfluous(self, packets: &VecDeque<(Queued, Instant)>) -> Option<usize> {
        let (last, _) = packets.back().filter(|_| self != Self::Off)?;
        let newest = Ack::of(&last.packet)?;
        let (mut eligible, mut found): (Option<(usize, _)>, i32) = (None, 0);
        for (place, (queued, _)) in packets.iter().enumerate().take(packets.len() - 1) {
            let is_of_flow =
                (queued.packet.flow, queued.packet.src) == (last.packet.flow, last.packet.src);
            let Some(ack) = Ack::of(&queued.packet).filter(|_| is_of_flow) else { continue };
            // The one before it reports another state of ECN, which would be lost.
            if eligible.is_some_and(|(_, marks)| marks != ack.marks) {
                (eligible, found) = (None, found - 1);
            }
            if !ack.is_superseded_by(&newest) {
                continue;
            }
            let (first, _) = *eligible.get_or_insert((place, ack.marks));
            if found > 0 {
                return Some(first);
            }
            found += 1;
        }
        let (place, marks) = eligible.filter(|_| self == Self::Aggressive)?;
        (place + 2 == packets.len() && marks == newest.marks).then_some(place)
    }
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug)]
struct Ack {
    ack: u32,
    sack: [SackBlock; 2],
    flags: AckFlags,
    /// What it reports of ECN: ECE, and the counter of accurate ECN, of which flags of the header are a part.
    marks: (bool, u16),
}

impl Ack {
    fn of(packet: &Packet) -> Option<Self> {
        match packet.body {
            Body::TcpAck { flags, marked, ack, sack } => {
                Some(Self { ack, sack, flags, marks: (flags.congestion(), marked) })
            }
            _ => None,
        }
    }

    /// The blocks of its selective acknowledgement, as numbers of segments.
    fn blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        let there = self.sack.into_iter().filter(|block| block.count > 0);
        there.map(|block| {
            let from = self.ack + u32::from(block.from);
            (from, from + u32::from(block.count))
        })
    }

    /// Whether the sender learns nothing from it that a newer one does not say: it acknowledges no more, all of its blocks
    /// are within blocks of the newer one, and it is no duplicate acknowledgement, of which senders count every one. Reports of
    /// duplicate segments (RFC 2883) remain too.
    fn is_superseded_by(&self, newer: &Self) -> bool {
        let selected = |ack: &Self| ack.blocks().map(|(from, to)| to - from).sum::<u32>();
        let is_covered = |(from, to): (u32, u32)| {
            newer.blocks().any(|(other, until)| other <= from && to <= until)
        };
        let is_more = self.ack < newer.ack || selected(self) < selected(newer);
        self.ack <= newer.ack && is_more && !self.flags.duplicate() && self.blocks().all(is_covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::discipline::stand::packet;

    /// An acknowledgement with a block of so many segments from two above it.
    fn ack(flow: u32, ack: u32, count: u16, ece: bool) -> Queued {
        let mut queued = packet(flow, 0, 70);
        let sack = [SackBlock { from: 2, count }, SackBlock::default()];
        queued.packet.body =
            Body::TcpAck { flags: AckFlags::new(ece, false), marked: 0, ack, sack };
        queued
    }

    /// What remains of packets that join one after the other, by their acknowledgement; 0 for data.
    fn remain(filter: AckFilter, packets: &[Queued]) -> Vec<u32> {
        let mut queue = VecDeque::new();
        for queued in packets {
            queue.push_back((*queued, Instant::ZERO));
            if let Some(place) = filter.superfluous(&queue) {
                queue.remove(place);
            }
        }
        queue.iter().map(|(queued, _)| Ack::of(&queued.packet).map_or(0, |ack| ack.ack)).collect()
    }

    /// By hand: of ten in a row, the last one remains, or the last two.
    #[test]
    fn of_a_row_one_or_two_remain() {
        let row: Vec<Queued> = (1..=10).map(|n| ack(1, 2 * n, 0, false)).collect();
        assert_eq!(remain(AckFilter::Aggressive, &row), [20]);
        assert_eq!(remain(AckFilter::Conservative, &row), [18, 20]);
        assert_eq!(remain(AckFilter::Off, &row).len(), 10);
    }

    /// By hand: of two flows that share a queue alternately, no acknowledgement is directly behind another of its flow, so that
    /// two of each remain also with the aggressive one. Data between them changes as much.
    #[test]
    fn flows_in_one_queue_keep_theirs() {
        let mixed: Vec<Queued> =
            (1..=6).flat_map(|n| [ack(1, n, 0, false), ack(2, 100 + n, 0, false)]).collect();
        for filter in [AckFilter::Aggressive, AckFilter::Conservative] {
            assert_eq!(remain(filter, &mixed), [5, 105, 6, 106]);
        }
        let data = [ack(1, 1, 0, false), packet(1, 0, 1_500), ack(1, 2, 0, false)];
        assert_eq!(remain(AckFilter::Aggressive, &data), [1, 0, 2]);
    }

    /// By hand: duplicate acknowledgements all remain, as three of them are a sign of loss; those with a growing block are
    /// replaced, and what has a block is not replaced by what has none.
    #[test]
    fn what_senders_count_remains() {
        let duplicates = [5; 4].map(|n| ack(1, n, 0, false));
        assert_eq!(remain(AckFilter::Aggressive, &duplicates), [5; 4]);
        let growing = [1, 2, 3, 4].map(|count| ack(1, 5, count, false));
        assert_eq!(remain(AckFilter::Aggressive, &growing), [5]);
        assert_eq!(remain(AckFilter::Conservative, &growing), [5, 5]);
        let filled = [ack(1, 5, 3, false), ack(1, 10, 0, false), ack(1, 12, 0, false)];
        assert_eq!(remain(AckFilter::Aggressive, &filled), [5, 12]);
        // A lower one that comes late replaces nothing.
        let late = [ack(1, 9, 0, false), ack(1, 7, 0, false)];
        assert_eq!(remain(AckFilter::Aggressive, &late), [9, 7]);
        // A report of a duplicate segment.
        let mut report = ack(1, 5, 0, false);
        report.packet.body = Body::TcpAck {
            flags: AckFlags::new(false, true),
            marked: 0,
            ack: 5,
            sack: Default::default(),
        };
        assert_eq!(remain(AckFilter::Aggressive, &[report, ack(1, 6, 0, false)]), [5, 6]);
    }

    /// By hand: a change of ECE remains visible. Of 1 and 2 without it and 3 and 4 with it, 2 and 4 remain.
    #[test]
    fn changes_of_ecn_remain() {
        let row = [(1, false), (2, false), (3, true), (4, true)].map(|(n, ece)| ack(1, n, 0, ece));
        assert_eq!(remain(AckFilter::Aggressive, &row), [2, 4]);
    }
}
