//! Data that the application has handed over, cut into segments.

use std::collections::VecDeque;

use floodway_model::Instant;

/// Source of the data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// A message of this many bytes.
    Message(u64),
    /// Full segments until this time.
    Endless(Instant),
    /// Data handed over piece by piece with [`Sender::write`](super::Sender::write).
    Written,
}

/// A segment of this data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub payload: u16,
    /// Whether it ends a unit of data that was handed over at once.
    pub push: bool,
}

/// Data that has not been sent for the first time.
#[derive(Debug)]
pub(super) struct Unsent {
    mss: u64,
    /// Remaining bytes of each unit of data that was handed over; the maximum number stands for
    /// endless data.
    writes: VecDeque<u64>,
    bytes: u64,
    segments: u64,
    stop: Instant,
    closed: bool,
}

impl Unsent {
    pub fn new(mss: u64, supply: Supply) -> Self {
        let mut unsent = Self {
            mss,
            writes: VecDeque::new(),
            bytes: 0,
            segments: 0,
            stop: Instant::NEVER,
            closed: true,
        };
        match supply {
            Supply::Message(bytes) => unsent.write(bytes),
            Supply::Endless(stop) => {
                unsent.write(u64::MAX);
                unsent.stop = stop;
            }
            Supply::Written => unsent.closed = false,
        }
        unsent
    }

    pub fn write(&mut self, bytes: u64) {
        if bytes > 0 {
            self.writes.push_back(bytes);
            self.bytes = self.bytes.saturating_add(bytes);
            self.segments = self.segments.saturating_add(bytes.div_ceil(self.mss));
        }
    }

    /// Number of remaining bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of segments that they will fill.
    pub fn segments(&self) -> u32 {
        self.segments.min(u32::MAX.into()) as u32
    }

    /// No more data will be handed over.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether everything has been sent and no more data will be handed over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.closed && self.writes.is_empty()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Whether the remaining data does not fill a segment.
    pub fn is_short(&self) -> bool {
        self.bytes < self.mss
    }

    /// Endless data ends at this time.
    pub fn stop_at(&mut self, at: Instant) {
        self.stop = at;
    }

    /// Ends endless data at its stop time.
    #[inline]
    pub fn end_by(&mut self, now: Instant) {
        if now >= self.stop {
            self.writes.clear();
            self.bytes = 0;
            self.segments = 0;
        }
    }

    /// The next segment.
    #[inline]
    pub fn take(&mut self) -> Option<Piece> {
        let left = self.writes.front_mut()?;
        let payload = self.mss.min(*left);
        let endless = *left == u64::MAX;
        let push = payload == *left;
        if push {
            self.writes.pop_front();
        } else if !endless {
            *left -= payload;
        }
        if !endless {
            self.bytes -= payload;
            self.segments -= 1;
        }
        Some(Piece { payload: payload as u16, push })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(unsent: &mut Unsent) -> Vec<(u16, bool)> {
        std::iter::from_fn(|| unsent.take()).map(|piece| (piece.payload, piece.push)).collect()
    }

    #[test]
    fn a_message_is_full_segments_and_what_is_left() {
        let mut unsent = Unsent::new(1_000, Supply::Message(2_500));
        assert_eq!(all(&mut unsent), [(1_000, false), (1_000, false), (500, true)]);
        assert!(unsent.is_over());
        assert_eq!(all(&mut Unsent::new(1_000, Supply::Message(1_000))), [(1_000, true)]);
    }

    #[test]
    fn what_is_handed_over_at_once_does_not_share_a_segment_with_more() {
        let mut unsent = Unsent::new(1_000, Supply::Written);
        [1_200, 0, 300].into_iter().for_each(|bytes| unsent.write(bytes));
        assert!(!unsent.is_short());
        assert_eq!(unsent.segments(), 3);
        assert_eq!(all(&mut unsent), [(1_000, false), (200, true), (300, true)]);
        assert!(unsent.is_empty() && unsent.is_short() && !unsent.is_over());
        unsent.close();
        assert!(unsent.is_over());
    }

    #[test]
    fn endless_ends_at_its_time() {
        let mut unsent = Unsent::new(1_000, Supply::Endless(Instant(5)));
        unsent.end_by(Instant(4));
        assert_eq!(unsent.take(), Some(Piece { payload: 1_000, push: false }));
        assert!(!unsent.is_over());
        unsent.end_by(Instant(5));
        assert!(unsent.is_over());
    }
}
