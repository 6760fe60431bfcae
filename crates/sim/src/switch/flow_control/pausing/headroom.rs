//! Headroom: the bytes that a neighbor still delivers after the decision to pause it.

use floodway_model::packet::length;
use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Duration, Rate};

/// Inputs of the headroom of one source on one link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Number of classes that may be paused at the same time by separate frames, this one included.
    pub lossless_classes: u8,
    /// The longest frame of any class, in bytes.
    pub largest_frame: u16,
    /// Preamble and interframe gap, in bytes.
    pub wire_overhead: u16,
    /// Time from a frame's arrival until it is counted.
    pub latency: Duration,
}

impl Link {
    /// The bytes that one neighbor can still deliver in one class after the decision to pause it
    /// (IEEE 802.1Q annex N). This is the buffer space needed above XOFF for each neighbor and
    /// class. `response` is the time that the neighbor takes to obey.
    ///
    /// The decision is made when a frame has just arrived. The delay until the neighbor's last
    /// frame is counted consists of: the longest frame, which may occupy the reverse wire; the
    /// pause frames of other classes that may be queued before this one; the pause frame itself;
    /// propagation to the neighbor; the response time; a frame that the neighbor had just begun;
    /// propagation back; and the switch's own `latency` before a frame is counted. The most bytes
    /// arrive in that time if they come in as few frames as possible: see [`most_in`].
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
        // The frame that crosses XOFF overshoots it by up to its own length, because the pause
        // begins only when XOFF is exceeded.
        let on_the_way = most_in(until_last, self.rate, self.largest_frame, self.wire_overhead);
        Bytes(u64::from(self.largest_frame)) + on_the_way
    }
}

/// The most bytes of frames, without preamble and interframe gap, that a link carries in a given
/// time: as many of the longest frames as fit, and one that fills the rest. If the rest is too
/// short for a frame, one of the longest frames is shortened by the missing bytes.
pub fn most_in(time: Duration, rate: Rate, largest_frame: u16, wire_overhead: u16) -> Bytes {
    let (largest, overhead) = (u64::from(largest_frame), u64::from(wire_overhead));
    let wire = u128::from(time.0) * u128::from(rate.0) / (8 * u128::from(PS_PER_S));
    let wire = u64::try_from(wire).unwrap_or(u64::MAX);
    let rest = (wire % (largest + overhead)).saturating_sub(overhead);
    Bytes(wire / (largest + overhead) * largest + rest)
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
        // 88.48 + 6.72 + 200 + 88.48 + 200 = 583.68 ns are 7296 bytes: six times 1106, and 660, in
        // which a frame of 640 fits; plus a whole frame for the overshoot.
        assert_eq!(link.headroom(Duration::ZERO), Bytes(7 * 1086 + 640));
        // 48 ns less are 600 bytes less: 40 are too few for a frame, but with 24 of another frame
        // they make one of 64.
        let shorter = Link { delay: Duration::from_ns(176), ..link };
        assert_eq!(shorter.headroom(Duration::ZERO), Bytes(7 * 1086 + 40));
        // 3.2 ns less: only room for the preamble and interframe gap of another frame.
        let shortest = Link { latency: Duration::from_ns(4), delay: Duration(172_400), ..link };
        assert_eq!(shortest.headroom(Duration::ZERO), Bytes(7 * 1086));
    }
}
