//! Cells: the units in which the buffer of a switch chip is allocated. A frame occupies whole cells,
//! so it takes more than its bytes.

use floodway_model::Bytes;
use floodway_model::check::{Check, Findings};
use floodway_model::packet::length;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The size of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Cell(Bytes);

impl Default for Cell {
    fn default() -> Self {
        Self(Bytes(1))
    }
}

impl Cell {
    /// Cells of this many bytes.
    pub const fn of(bytes: u16) -> Self {
        Self(Bytes(bytes as u64))
    }

    /// Whether the buffer is counted byte by byte.
    pub fn is_byte(&self) -> bool {
        self.0.0 == 1
    }

    /// Bytes in a cell.
    pub const fn bytes(self) -> u64 {
        self.0.0
    }

    /// `None` if it is too much, or for a cell that the check refuses.
    fn whole(self, frame: u16) -> Option<u16> {
        frame.checked_next_multiple_of(u16::try_from(self.0.0).ok().filter(|cell| *cell > 0)?)
    }

    /// Whether the buffer space that a frame occupies can be counted: it is below 64 KB.
    pub fn holds(self, frame: u16) -> bool {
        self.is_byte() || !self.is_possible() || self.whole(frame).is_some()
    }

    fn is_possible(self) -> bool {
        self.0.0 > 0 && self.0 <= MOST
    }

    /// The buffer space that a frame occupies, in bytes.
    #[inline]
    pub fn occupied(self, frame: u16) -> u16 {
        // Saturates for frames that `holds` refuses.
        if self.is_byte() { frame } else { self.whole(frame).unwrap_or(u16::MAX) }
    }
}

/// The largest cell.
const MOST: Bytes = Bytes(4_096);

impl Check for Cell {
    fn check(&self, findings: &mut Findings<'_>) {
        if !self.is_possible() {
            findings.error(
                "",
                format!("a cell has 1 byte to {MOST}, not {}", self.0),
                "switch chips have cells of 80 to 512 bytes; without cells, remove it",
            );
        }
    }
}

/// The most buffer space, in bytes, that the frames of a link occupy which are sent completely while it
/// carries `wire` bytes: in the worst case, every frame is a little longer than some number of
/// cells. Every frame has `overhead` bytes on the wire in addition to its own, and between
/// `smallest` and `largest` bytes. The bound is reached to within one of the worst frames.
pub fn most_occupied(cell: Cell, wire: u64, smallest: u16, largest: u16, overhead: u16) -> u64 {
    let (count, length) = worst_frame(cell, smallest, largest, overhead);
    let on_wire = u128::from(length) + u128::from(overhead);
    // Bytes first: the product of wire bytes and cells does not overflow 128 bits.
    let cells = u128::from(wire) * u128::from(count) / on_wire;
    u64::try_from(cells * u128::from(cell.bytes())).unwrap_or(u64::MAX)
}

/// The frame that occupies the most buffer space for its time on the wire: its number of cells, and its
/// length. It is the smallest frame, or one byte longer than some number of cells.
pub fn worst_frame(cell: Cell, smallest: u16, largest: u16, overhead: u16) -> (u64, u16) {
    let bytes = cell.bytes();
    let smallest = smallest.min(largest);
    let first = u64::from(smallest).div_ceil(bytes);
    let last = u64::from(largest).div_ceil(bytes);
    let frame = |count: u64| (count, smallest.max(((count - 1) * bytes + 1) as u16));
    let density = |&(count, length): &(u64, u16)| {
        // Compared as fractions: cells by bytes on the wire.
        (count, u64::from(length) + u64::from(overhead))
    };
    let denser = |a: &(u64, u16), b: &(u64, u16)| {
        let ((a, a_wire), (b, b_wire)) = (density(a), density(b));
        (a * b_wire).cmp(&(b * a_wire))
    };
    (first..=last).map(frame).max_by(denser).unwrap_or((1, smallest.max(length::SHORTEST_FRAME)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_occupies_whole_cells() {
        assert_eq!(Cell::default().occupied(65), 65);
        let cell = Cell::of(420);
        assert_eq!(
            [64, 420, 421, 1_518, 9_216].map(|frame| cell.occupied(frame)),
            [420, 420, 840, 1_680, 9_240]
        );
    }

    /// 64 bytes and 20 of preamble and gap take a cell of 420: five times as much as on the wire.
    /// With cells of 144 bytes, frames of 145 bytes are worse: 288 for 165, against 144 for 84.
    #[test]
    fn the_worst_frame_is_short_or_a_byte_too_long() {
        assert_eq!(worst_frame(Cell::of(420), 64, 9_216, 20), (1, 64));
        assert_eq!(worst_frame(Cell::of(144), 64, 9_216, 20), (2, 145));
        // Byte by byte, long frames have the least overhead.
        assert_eq!(worst_frame(Cell::default(), 64, 9_216, 20), (9_216, 9_216));
        assert_eq!(most_occupied(Cell::of(420), 8_400, 64, 9_216, 20), 100 * 420);
        assert_eq!(most_occupied(Cell::of(420), 8_483, 64, 9_216, 20), 100 * 420);
    }

    proptest! {
        /// The most that frames can occupy, found by trying all sums, is never above the bound and
        /// at most one of the worst frames below it.
        #[test]
        fn the_bound_holds_and_is_reached(
            cell in 2u16..600,
            wire in 0usize..5_000,
            smallest in 64u16..200,
            longer in 0u16..1_500,
            overhead in 0u16..24,
        ) {
            let (cell, largest) = (Cell::of(cell), smallest + longer);
            let mut most = vec![0u64; wire + 1];
            for filled in 1..=wire {
                most[filled] = most[filled - 1];
                for frame in smallest..=largest {
                    let takes = usize::from(frame + overhead);
                    if takes > filled {
                        break;
                    }
                    let with = most[filled - takes] + u64::from(cell.occupied(frame));
                    most[filled] = most[filled].max(with);
                }
            }
            let bound = most_occupied(cell, wire as u64, smallest, largest, overhead);
            let worst = worst_frame(cell, smallest, largest, overhead).0 * cell.bytes();
            prop_assert!(most[wire] <= bound, "{} {bound}", most[wire]);
            prop_assert!(bound < most[wire] + worst + cell.bytes(), "{} {bound}", most[wire]);
        }
    }
}
