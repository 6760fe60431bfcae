//! Headroom: the bytes that a neighbor still delivers after the decision to pause it.

use floodway_model::packet::length;
use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Duration, Rate};

use crate::switch::cell::{Cell, most_occupied};

/// Inputs of the headroom of one source on one link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Number of classes that may be paused at the same time by separate frames, this one included.
    pub lossless_classes: u8,
    /// The shortest frame of this class, in bytes.
    pub smallest_frame: u16,
    /// The longest frame of any class, in bytes.
    pub largest_frame: u16,
    /// Preamble and interframe gap, in bytes.
    pub wire_overhead: u16,
    /// Time from a frame's arrival until it is counted.
    pub latency: Duration,
    /// The unit in which the memory is allocated.
    pub cell: Cell,
}

/// What adds to the headroom of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The frame that crosses XOFF, which exceeds it by up to its own length.
    Crossing,
    /// A frame that has just begun on the reverse wire when the pause frame is due.
    Ahead,
    /// Pause frames of other classes that are queued before this one.
    OtherPauses,
    /// The pause frame itself.
    Pause,
    /// Propagation to the neighbor.
    Forth,
    /// The time that the neighbor takes to obey.
    Response,
    /// Propagation of the neighbor's last frame.
    Back,
    /// The switch's own latency before a frame is counted.
    Latency,
    /// The frame that the neighbor had just begun when it obeyed.
    Begun,
}

impl Part {
    /// What it is, for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crossing => "the frame that crosses XOFF",
            Self::Ahead => "a frame ahead of the pause frame",
            Self::OtherPauses => "pause frames of other classes",
            Self::Pause => "the pause frame",
            Self::Forth => "the cable, to the neighbor",
            Self::Response => "the neighbor's response",
            Self::Back => "the cable, back",
            Self::Latency => "the switch, until a frame is counted",
            Self::Begun => "a frame that the neighbor has begun",
        }
    }
}

impl Link {
    /// The parts of the time from the decision to pause the neighbor until it has obeyed and what it sent
    /// has been counted. `response` is the time that the neighbor takes to obey.
    pub fn times(&self, response: Duration) -> [(Part, Duration); 7] {
        let pause = self.on_wire(length::SHORTEST_FRAME);
        [
            (Part::Ahead, self.on_wire(self.largest_frame)),
            (Part::OtherPauses, pause * u64::from(self.lossless_classes.saturating_sub(1))),
            (Part::Pause, pause),
            (Part::Forth, self.delay),
            (Part::Response, response),
            (Part::Back, self.delay),
            (Part::Latency, self.latency),
        ]
    }

    /// The memory, in bytes, that one neighbor can still fill in one class after the decision to pause it
    /// (IEEE 802.1Q annex N). This is the space needed above XOFF for each neighbor and class.
    ///
    /// The decision is made when a frame has just arrived. Until the neighbor has obeyed, it sends the
    /// frames that take the most memory for their time: with whole cells, short ones, see
    /// [`worst_frame`](crate::switch::cell::worst_frame). Its last frame is the longest, and has just
    /// begun. If memory is counted byte by byte, the most arrives in as few frames as possible: see
    /// [`most_in`].
    pub fn headroom(&self, response: Duration) -> Bytes {
        let until_obeyed: Duration = self.times(response).iter().map(|(_, time)| *time).sum();
        let longest = u64::from(self.cell.occupied(self.largest_frame));
        if self.cell.is_byte() {
            let until_last = until_obeyed + self.on_wire(self.largest_frame);
            let on_the_way = most_in(until_last, self.rate, self.largest_frame, self.wire_overhead);
            return Bytes(longest) + on_the_way;
        }
        let wire = carried(until_obeyed, self.rate);
        let (smallest, largest) = (self.smallest_frame, self.largest_frame);
        let before = most_occupied(self.cell, wire, smallest, largest, self.wire_overhead);
        Bytes(before.saturating_add(2 * longest))
    }

    /// The time that a frame takes on the wire.
    fn on_wire(&self, bytes: u16) -> Duration {
        self.rate.time_for(Bytes(u64::from(bytes) + u64::from(self.wire_overhead)))
    }
}

/// Bytes that a link carries in a given time.
pub fn carried(time: Duration, rate: Rate) -> u64 {
    let bytes = u128::from(time.0) * u128::from(rate.0) / (8 * u128::from(PS_PER_S));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The most bytes of frames, without preamble and interframe gap, that a link carries in a given
/// time: as many of the longest frames as fit, and one that fills the rest. If the rest is too
/// short for a frame, one of the longest frames is shortened by the missing bytes.
pub fn most_in(time: Duration, rate: Rate, largest_frame: u16, wire_overhead: u16) -> Bytes {
    let (largest, overhead) = (u64::from(largest_frame), u64::from(wire_overhead));
    let wire = carried(time, rate);
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
            smallest_frame: 64,
            largest_frame: 1086,
            wire_overhead: 20,
            latency: Duration::ZERO,
            cell: Cell::default(),
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

    /// Cells of 420 bytes and frames of 64: every 84 bytes on the wire fill a cell.
    #[test]
    fn headroom_in_cells_by_hand() {
        let link = Link {
            rate: Rate::from_gbps(400),
            delay: Duration::from_ns(2_500),
            lossless_classes: 2,
            smallest_frame: 64,
            largest_frame: 9_216,
            wire_overhead: 20,
            latency: Duration::ZERO,
            cell: Cell::of(420),
        };
        // On the wire: 9236 ahead of two pause frames of 84, 2 * 125,000 of cable, and 57,920 of
        // response (905 quanta of 64 bytes) are 317,324 bytes, or 3,777 cells. The longest frame
        // takes 22 cells, twice.
        let response = Duration::from_ns(1_158) + Duration(400);
        assert_eq!(link.headroom(response), Bytes((3_777 + 44) * 420));
        // Frames of one length are counted as they come: 9216 bytes are 22 cells for 9236 bytes.
        let long = Link { smallest_frame: 9_216, ..link };
        assert_eq!(long.headroom(response), Bytes((317_324 * 22 / 9_236 + 44) * 420));
    }
}
