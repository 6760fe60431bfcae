//! State of every segment that is sent and not cumulatively acknowledged.
//!
//! As in Linux, the number in flight is the number sent, minus those selectively acknowledged and
//! those considered lost, plus retransmissions: each segment counts as often as a copy of it may be
//! in flight.

use std::collections::VecDeque;

use floodway_model::Instant;

use super::rate::Snapshot;
use super::supply::Piece;
use crate::host::transport::numbers::Numbers;

/// State of a segment: 48 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Time of the last transmission.
    pub sent_at: Instant,
    /// Delivery state at that time.
    pub snapshot: Snapshot,
    payload: u16,
    push: bool,
    /// Whether the application limited the segments in flight at the last transmission.
    pub app_limited: bool,
    /// Whether it is reported as arrived.
    pub sacked: bool,
    /// Whether it was considered lost.
    pub lost: bool,
    /// Whether it has been retransmitted since and the retransmission is not considered lost.
    pub again: bool,
    /// Whether it has ever been retransmitted.
    pub repeated: bool,
}

/// State of all segments.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    records: VecDeque<Record>,
    /// The first unacknowledged segment.
    una: u32,
    /// Segments reported as arrived.
    sacked: Numbers,
    sacked_count: u32,
    lost_count: u32,
    again_count: u32,
    /// Segments considered lost and not retransmitted yet.
    waiting: Numbers,
    /// All segments below that were sent once have arrived or are considered lost: the search for
    /// losses continues here.
    pub settled: u32,
    /// Retransmitted segments, in order of time; some may have been settled since.
    repeats: VecDeque<(u32, Instant)>,
}

impl Scoreboard {
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The first segment that has never been sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.una + self.outstanding()
    }

    /// Number of segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.records.len() as u32
    }

    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.outstanding() - self.sacked_count - self.lost_count + self.again_count
    }

    #[inline]
    pub fn sacked_count(&self) -> u32 {
        self.sacked_count
    }

    /// Number of retransmitted copies in flight.
    pub fn again_count(&self) -> u32 {
        self.again_count
    }

    #[inline]
    pub fn get(&self, psn: u32) -> Option<&Record> {
        self.records.get(psn.checked_sub(self.una)? as usize)
    }

    fn get_mut(&mut self, psn: u32) -> Option<&mut Record> {
        self.records.get_mut(psn.checked_sub(self.una)? as usize)
    }

    /// Number of segments considered lost, whether retransmitted or not.
    #[inline]
    pub fn lost_count(&self) -> u32 {
        self.lost_count
    }

    /// The first segment that is considered lost and not retransmitted yet.
    #[inline]
    pub fn next_lost(&self) -> Option<u32> {
        if self.lost_count == 0 { None } else { self.waiting.first() }
    }

    /// A segment is sent for the first time.
    #[inline]
    pub fn send(&mut self, piece: Piece, (snapshot, app_limited): (Snapshot, bool), now: Instant) {
        self.records.push_back(Record {
            sent_at: now,
            snapshot,
            payload: piece.payload,
            push: piece.push,
            app_limited,
            sacked: false,
            lost: false,
            again: false,
            repeated: false,
        });
    }

    /// A segment is retransmitted.
    pub fn send_again(
        &mut self,
        psn: u32,
        (snapshot, app_limited): (Snapshot, bool),
        now: Instant,
    ) -> Piece {
        self.waiting.remove(psn);
        self.repeats.push_back((psn, now));
        let record = self.get_mut(psn).expect("it is not acknowledged");
        record.sent_at = now;
        record.snapshot = snapshot;
        record.app_limited = app_limited;
        record.repeated = true;
        let counted = std::mem::replace(&mut record.again, true);
        let piece = Piece { payload: record.payload, push: record.push };
        self.again_count += u32::from(!counted);
        piece
    }

    /// Everything below `ack` has arrived; calls back for segments that were not known to have.
    #[inline]
    pub fn acknowledge(&mut self, ack: u32, mut arrived: impl FnMut(u32, &Record)) {
        if ack <= self.una {
            return;
        }
        while self.una < ack {
            let record = self.records.pop_front().expect("what is acknowledged was sent");
            if record.sacked {
                self.sacked_count -= 1;
            } else {
                arrived(self.una, &record);
                self.lost_count -= u32::from(record.lost);
                self.again_count -= u32::from(record.again);
            }
            self.una += 1;
        }
        self.settled = self.settled.max(ack);
        self.sacked.forget_below(ack);
        self.waiting.forget_below(ack);
        if self.again_count == 0 {
            self.repeats.clear();
        }
    }

    /// The segments from `from` up to `to` have arrived; calls back for those that were not known
    /// to have.
    pub fn sack(&mut self, from: u32, to: u32, mut arrived: impl FnMut(u32, &Record)) {
        let to = to.min(self.next());
        let mut psn = self.sacked.next_absent(from.max(self.una));
        while psn < to {
            self.sacked.insert(psn);
            self.waiting.remove(psn);
            self.sacked_count += 1;
            let place = (psn - self.una) as usize;
            let record = &mut self.records[place];
            arrived(psn, record);
            self.lost_count -= u32::from(std::mem::take(&mut record.lost));
            self.again_count -= u32::from(std::mem::take(&mut record.again));
            record.sacked = true;
            psn = self.sacked.next_absent(psn + 1);
        }
    }

    /// A segment, or its retransmission, is considered lost.
    pub fn lose(&mut self, psn: u32) -> Record {
        self.waiting.insert(psn);
        let record = self.get_mut(psn).expect("it is not acknowledged");
        let was_lost = std::mem::replace(&mut record.lost, true);
        let was_again = std::mem::take(&mut record.again);
        let record = *record;
        self.lost_count += u32::from(!was_lost);
        self.again_count -= u32::from(was_again);
        record
    }

    /// The first segment sent once that has neither arrived nor is considered lost.
    #[inline]
    pub fn first_original(&mut self) -> Option<(u32, &Record)> {
        self.settled = self.settled.max(self.una);
        let start = (self.settled - self.una) as usize;
        let open = |record: &Record| !record.sacked && !record.lost && !record.again;
        let found = self.records.range(start..).position(open);
        self.settled += found.unwrap_or(self.records.len() - start) as u32;
        self.get(self.settled).map(|record| (self.settled, record))
    }

    /// The earliest retransmission in flight.
    #[inline]
    pub fn first_repeat(&mut self) -> Option<(u32, &Record)> {
        while let Some(&(psn, at)) = self.repeats.front() {
            let current = self.get(psn).is_some_and(|record| record.again && record.sent_at == at);
            if current {
                return self.get(psn).map(|record| (psn, record));
            }
            self.repeats.pop_front();
        }
        None
    }

    /// Nothing was lost: clears all losses.
    pub fn find_lost(&mut self) {
        self.records.iter_mut().for_each(|record| record.lost = false);
        self.lost_count = 0;
        self.waiting.clear();
        self.settled = self.una;
    }

    /// Recounts segments in flight and lost, for tests.
    #[cfg(test)]
    pub fn recount(&self) -> (u32, u32) {
        let (mut in_flight, mut waiting) = (0, 0);
        for (psn, record) in (self.una..).zip(&self.records) {
            assert!(!(record.sacked && (record.lost || record.again)), "{psn}: {record:?}");
            in_flight += u32::from(!record.sacked && !record.lost) + u32::from(record.again);
            waiting += u32::from(record.lost && !record.again);
            assert_eq!(self.waiting.contains(psn), record.lost && !record.again, "{psn}");
            assert_eq!(self.sacked.contains(psn), record.sacked, "{psn}");
        }
        (in_flight, waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<Record>(), 48);
    }
}
