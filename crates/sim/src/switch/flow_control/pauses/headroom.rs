//! How much a neighbour still delivers after the decision to pause it.

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Rate};

/// What the headroom of one source on one link depends on.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Classes that may be paused at the same time by frames of their own, this one included.
    pub lossless_classes: u8,
    /// The longest frame of any class, in bytes.
    pub largest_frame: u16,
    /// Preamble and gap, in bytes.
    pub wire_overhead: u16,
    /// Time from a frame's arrival to its place in the books.
    pub latency: Duration,
}

impl Link {
    /// The bytes that one neighbour can still deliver in one class after the decision to pause it
    /// (IEEE 802.1Q annex N): the memory that must be free above XOFF for each of them. `response`
    /// is the time that it takes to obey.
    ///
    /// The decision is made when a frame has just arrived. Then pass: the longest frame that may
    /// be on the reverse wire, the pause frames of other classes that may wait before it, the pause
    /// frame itself, the way there, the response time, a frame
    /// that the neighbour had just begun, the way back, and the switch's own `latency` before a
    /// frame is counted. Whatever arrives until then comes in whole frames back to back.
    pub fn headroom(&self, response: Duration) -> Bytes {
        let wire = |bytes: u16| {
            self.rate.time_for(Bytes(u64::from(bytes) + u64::from(self.wire_overhead)))
        };
        let frame = wire(self.largest_frame);
        let pause = wire(length::SHORTEST_FRAME);
        let until_last = frame
            + pause * u64::from(self.lossless_classes)
            + self.delay
            + response
            + frame
            + self.delay
            + self.latency;
        // The frame that crosses XOFF overshoots it by up to its own length less one byte.
        let frames = until_last.0 / frame.0 + 1;
        Bytes(frames * u64::from(self.largest_frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_by_hand() {
        let link = Link {
            rate: Rate::from_gbps(100),
            delay: Duration::from_ns(200),
            lossless_classes: 1,
            largest_frame: 1086,
            wire_overhead: 20,
            latency: Duration::ZERO,
        };
        // 88.48 + 6.72 + 200 + 88.48 + 200 = 583.68 ns = 6.6 frames of 88.48 ns: six whole
        // frames, and one for the overshoot.
        assert_eq!(link.headroom(Duration::ZERO), Bytes(7 * 1086));
    }
}
