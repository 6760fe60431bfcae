//! Which nodes run which windows next.
//!
//! In one order, all nodes run a window, and then all run the next one. In a network whose blocks of
//! nodes have two sides, every link between two blocks joins one side with the other, so a block depends
//! on its own side only through the other. A block may then run a window as soon as the other side has
//! run the one before: the first side runs windows 2r and 2r + 1, one block after the other, while the
//! second side stands before window 2r + 1; then the second side runs windows 2r + 1 and 2r + 2. The state
//! of a block is brought into the caches once for two windows.

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
    /// The first window that has not been run, by side. They differ by at most one.
    at: [u64; 2],
}

impl Schedule {
    /// Before the first window.
    pub const fn new(has_sides: bool) -> Self {
        Self { has_sides, at: [0; 2] }
    }

    /// The first window that the nodes of each side have not run.
    pub fn at(&self) -> [u64; 2] {
        self.at
    }

    /// The first window that no node has run.
    pub fn reached(&self) -> u64 {
        self.at[0].max(self.at[1])
    }

    /// End of what has been simulated, as a window: with two sides it has an even number, whatever was
    /// skipped since the last one.
    pub fn simulated(&self) -> u64 {
        if self.has_sides { self.reached().next_multiple_of(2) } else { self.reached() }
    }

    /// Whether all nodes have run the same windows. `next` is the first window in which anything is left
    /// to do.
    pub fn has_met(&self, next: u64) -> bool {
        self.at[0] == self.at[1] || next > self.reached()
    }

    /// Whether the end of flows may have effects here, between two windows: anywhere without sides, otherwise
    /// only before a window with an even number, and at the end of the run, before window `last`. There the
    /// first side, which has all hosts, has run nothing further.
    pub fn counts_flows(&self, next: u64, last: u64) -> bool {
        if !self.has_sides {
            return true;
        }
        let reached = self.reached();
        if self.has_met(next) {
            return reached <= next & !1 || reached >= last;
        }
        self.at[0] == reached && (reached.is_multiple_of(2) || reached >= last)
    }

    /// What is run after all nodes have run the same windows.
    pub fn after_meeting(&mut self, next: u64) -> Stretch {
        self.at = [next; 2];
        // Then the first side begins its next stretch with an even number.
        let side = self.has_sides.then_some(usize::from(next.is_multiple_of(2)));
        self.run(Stretch { side, windows: next..next + 1 })
    }

    /// What the side that is behind runs: as far as the other one if they are to meet there, and otherwise
    /// a window further, but not beyond the end of the run.
    pub fn catch_up(&mut self, meets: bool, last: u64) -> Stretch {
        let (side, ahead) = (usize::from(self.at[1] < self.at[0]), self.reached());
        let end = if meets { ahead } else { (ahead + 1).min(last) };
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
        let mut schedule = Schedule::new(false);
        for next in [0, 1, 7] {
            assert!(schedule.has_met(next) && schedule.counts_flows(next, 100));
            let stretch = Stretch { side: None, windows: next..next + 1 };
            assert_eq!(schedule.after_meeting(next), stretch);
            assert_eq!((schedule.at(), schedule.simulated()), ([next + 1; 2], next + 1));
        }
    }

    #[test]
    fn sides_run_two_windows_and_meet_where_they_are_asked_to() {
        let mut schedule = Schedule::new(true);
        let side = |side, windows| Stretch { side: Some(side), windows };
        // The second side begins, so that the first one stops before even numbers.
        assert_eq!(schedule.after_meeting(0), side(1, 0..1));
        assert_eq!(schedule.catch_up(false, 100), side(0, 0..2));
        assert_eq!(schedule.catch_up(false, 100), side(1, 1..3));
        assert_eq!(schedule.catch_up(false, 100), side(0, 2..4));
        // The first side leads and stands before window 4, where flows count.
        assert!(!schedule.has_met(4) && schedule.counts_flows(4, 100));
        assert_eq!(schedule.catch_up(true, 100), side(1, 3..4));
        assert!(schedule.has_met(4) && schedule.counts_flows(4, 100));
        assert_eq!(schedule.after_meeting(4), side(1, 4..5));
        // The second side leads.
        assert!(!schedule.has_met(5) && !schedule.counts_flows(5, 100));
        assert_eq!(schedule.catch_up(true, 100), side(0, 4..5));
        assert!(schedule.has_met(5) && !schedule.counts_flows(5, 100));
        assert_eq!(schedule.simulated(), 6);
        // Before an odd number the first side begins.
        assert_eq!(schedule.after_meeting(5), side(0, 5..6));
        assert_eq!(schedule.catch_up(false, 100), side(1, 5..7));
        assert_eq!(schedule.catch_up(false, 100), side(0, 6..8));
        // Nothing is left to do before window 13: they have met, and have passed window 12.
        assert!(schedule.has_met(13) && schedule.counts_flows(13, 100));
        assert_eq!(schedule.after_meeting(13), side(0, 13..14));
        // The run ends before window 15.
        assert_eq!(schedule.catch_up(false, 15), side(1, 13..15));
        assert_eq!(schedule.catch_up(false, 15), side(0, 14..15));
        assert!(schedule.has_met(14) && schedule.counts_flows(14, 15));
    }
}
