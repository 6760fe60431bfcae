//! Which nodes run which windows next.
//!
//! In one order, all nodes run a window, and then all run the next one. In a network whose blocks of
//! nodes have two sides, every link between two blocks joins one side with the other, so a block depends
//! on its own side only through the other. A block may then run a window as soon as the other side has
//! run the one before: the first side runs windows 2r and 2r + 1, one block after the other, while the
//! second side stands before window 2r + 1; then the second side runs windows 2r + 1 and 2r + 2. The state
//! of a block is brought into the caches once for two windows.
//!
//! If a frame between two blocks takes at least m windows, because the links within a block, such as those of hosts, are
//! shorter, a side may be m windows ahead: a stretch is 2m windows, which a block runs one after the other.

use std::ops::Range;

/// Windows that the nodes of a side, or all nodes, run before threads synchronize again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The side; `None` for all nodes.
    pub side: Option<usize>,
    pub windows: Range<u64>,
}

/// How far the nodes have come.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    has_sides: bool,
    /// The windows by which a side may be ahead, at least 1: so many after it was sent, or more, a frame arrives
    /// in another block.
    reach: u64,
    /// The first window that has not been run, by side.
    at: [u64; 2],
}

impl Schedule {
    /// Before the first window.
    pub const fn new(has_sides: bool, reach: u64) -> Self {
        Self { has_sides, reach, at: [0; 2] }
    }

    /// Windows of a stretch that is not cut short.
    const fn period(&self) -> u64 {
        2 * self.reach
    }

    /// The first window that the nodes of each side have not run.
    pub fn at(&self) -> [u64; 2] {
        self.at
    }

    /// The first window that no node has run.
    pub fn reached(&self) -> u64 {
        self.at[0].max(self.at[1])
    }

    /// End of what has been simulated, as a window: with two sides it is a multiple of the longest stretch, whatever was
    /// skipped since the last one.
    pub fn simulated(&self) -> u64 {
        if self.has_sides { self.reached().next_multiple_of(self.period()) } else { self.reached() }
    }

    /// Whether all nodes have run the same windows. `next` is the first window in which anything is left
    /// to do.
    pub fn has_met(&self, next: u64) -> bool {
        self.at[0] == self.at[1] || next > self.reached()
    }

    /// Whether the end of flows may have effects here, between two windows: anywhere without sides, otherwise
    /// only before a window whose number is a multiple of the longest stretch (an even number if it has two windows),
    /// and at the end of the run, before window `last`. There the first side, which has all hosts, has run nothing
    /// further.
    pub fn counts_flows(&self, next: u64, last: u64) -> bool {
        if !self.has_sides {
            return true;
        }
        let reached = self.reached();
        if self.has_met(next) {
            return reached <= next - next % self.period() || reached >= last;
        }
        self.at[0] == reached && (reached.is_multiple_of(self.period()) || reached >= last)
    }

    /// What is run after all nodes have run the same windows, but nothing from window `until` on.
    pub fn after_meeting(&mut self, next: u64, until: u64) -> Stretch {
        self.at = [next; 2];
        if !self.has_sides {
            return self.run(Stretch { side: None, windows: next..next + 1 });
        }
        // Stretches of the first side begin with a multiple of the period, those of the second side in the middle
        // between two. The side whose stretch ends first begins.
        let end = (next + 1).next_multiple_of(self.reach);
        let side = usize::from(!end.is_multiple_of(self.period()));
        self.run(Stretch { side: Some(side), windows: next..end.min(until) })
    }

    /// What the side that is behind runs: as far as the other one if they are to meet there, and otherwise
    /// as much further as it may, but nothing from window `until` on.
    pub fn catch_up(&mut self, meets: bool, until: u64) -> Stretch {
        let (side, ahead) = (usize::from(self.at[1] < self.at[0]), self.reached());
        let end = if meets { ahead } else { (ahead + self.reach).min(until) };
        self.run(Stretch { side: Some(side), windows: self.at[side]..end })
    }

    fn run(&mut self, stretch: Stretch) -> Stretch {
        match stretch.side {
            Some(side) => self.at[side] = stretch.windows.end,
            None => self.at = [stretch.windows.end; 2],
        }
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_sides_all_run_one_window() {
        let mut schedule = Schedule::new(false, 1);
        for next in [0, 1, 7] {
            assert!(schedule.has_met(next) && schedule.counts_flows(next, 100));
            let stretch = Stretch { side: None, windows: next..next + 1 };
            assert_eq!(schedule.after_meeting(next, 100), stretch);
            assert_eq!((schedule.at(), schedule.simulated()), ([next + 1; 2], next + 1));
        }
    }

    #[test]
    fn sides_run_two_windows_and_meet_where_they_are_asked_to() {
        let mut schedule = Schedule::new(true, 1);
        let side = |side, windows| Stretch { side: Some(side), windows };
        // The second side begins, so that the first one stops before even numbers.
        assert_eq!(schedule.after_meeting(0, 100), side(1, 0..1));
        assert_eq!(schedule.catch_up(false, 100), side(0, 0..2));
        assert_eq!(schedule.catch_up(false, 100), side(1, 1..3));
        assert_eq!(schedule.catch_up(false, 100), side(0, 2..4));
        // The first side leads and stands before window 4, where flows count.
        assert!(!schedule.has_met(4) && schedule.counts_flows(4, 100));
        assert_eq!(schedule.catch_up(true, 100), side(1, 3..4));
        assert!(schedule.has_met(4) && schedule.counts_flows(4, 100));
        assert_eq!(schedule.after_meeting(4, 100), side(1, 4..5));
        // The second side leads.
        assert!(!schedule.has_met(5) && !schedule.counts_flows(5, 100));
        assert_eq!(schedule.catch_up(true, 100), side(0, 4..5));
        assert!(schedule.has_met(5) && !schedule.counts_flows(5, 100));
        assert_eq!(schedule.simulated(), 6);
        // Before an odd number the first side begins.
        assert_eq!(schedule.after_meeting(5, 100), side(0, 5..6));
        assert_eq!(schedule.catch_up(false, 100), side(1, 5..7));
        assert_eq!(schedule.catch_up(false, 100), side(0, 6..8));
        // Nothing is left to do before window 13: they have met, and have passed window 12.
        assert!(schedule.has_met(13) && schedule.counts_flows(13, 100));
        assert_eq!(schedule.after_meeting(13, 100), side(0, 13..14));
        // The run ends before window 15.
        assert_eq!(schedule.catch_up(false, 15), side(1, 13..15));
        assert_eq!(schedule.catch_up(false, 15), side(0, 14..15));
        assert!(schedule.has_met(14) && schedule.counts_flows(14, 15));
    }

    #[test]
    fn a_side_is_ahead_by_as_many_windows_as_a_frame_takes() {
        let mut schedule = Schedule::new(true, 4);
        let side = |side, windows| Stretch { side: Some(side), windows };
        // Stretches of the first side begin with multiples of eight.
        assert_eq!(schedule.after_meeting(0, 100), side(1, 0..4));
        assert_eq!(schedule.catch_up(false, 100), side(0, 0..8));
        assert_eq!(schedule.catch_up(false, 100), side(1, 4..12));
        assert!(!schedule.counts_flows(8, 100));
        assert_eq!(schedule.catch_up(false, 100), side(0, 8..16));
        assert!(!schedule.has_met(12) && schedule.counts_flows(12, 100));
        // All nodes are observed before window 18.
        assert_eq!(schedule.catch_up(false, 18), side(1, 12..18));
        assert_eq!(schedule.catch_up(true, 18), side(0, 16..18));
        assert!(schedule.has_met(18) && !schedule.counts_flows(18, 100));
        assert_eq!(schedule.simulated(), 24);
        assert_eq!(schedule.after_meeting(18, 100), side(1, 18..20));
        assert_eq!(schedule.catch_up(false, 100), side(0, 18..24));
        assert_eq!(schedule.catch_up(false, 100), side(1, 20..28));
        // In the second half of a stretch of the first side, that one begins.
        assert_eq!(schedule.catch_up(true, 100), side(0, 24..28));
        assert_eq!(schedule.after_meeting(29, 100), side(0, 29..32));
        assert_eq!(schedule.catch_up(false, 34), side(1, 29..34));
    }
}
