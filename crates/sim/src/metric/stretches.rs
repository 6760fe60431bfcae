//! The pauses of a run from their beginning to their end, the earliest of them if there are many.
//!
//! Every thread keeps those that came first among its own, so those that came first of all are among
//! what the threads keep, however the nodes are shared out.

use floodway_model::{Instant, NodeId, PortIx};

/// Pauses that are kept of a run.
pub const MOST: usize = 100_000;

/// A time during which a port was not allowed to send a class. In order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    /// From then on.
    pub since: Instant,
    /// The other end of the port's link, which names it.
    pub peer: (NodeId, PortIx),
    /// Which class.
    pub class: usize,
    /// Until then.
    pub until: Instant,
}

/// Pauses, as they end.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    /// The earliest, and some that came since they were looked for.
    some: Vec<Stretch>,
    /// How many there have been.
    count: u64,
}

impl Stretches {
    /// A pause has ended.
    pub fn add(&mut self, stretch: Stretch) {
        self.count += 1;
        self.some.push(stretch);
        if self.some.len() == 2 * MOST {
            self.drop_late();
        }
    }

    fn drop_late(&mut self) {
        if self.some.len() > MOST {
            self.some.select_nth_unstable(MOST);
            self.some.truncate(MOST);
        }
    }

    /// Adds those of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.some.extend(&other.some);
        self.drop_late();
    }

    /// The earliest in order of time, and how many others there were.
    pub fn earliest(&self) -> (Vec<Stretch>, u64) {
        let mut some = self.some.clone();
        some.sort_unstable();
        some.truncate(MOST);
        let left_out = self.count - some.len() as u64;
        (some, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(since: u64) -> Stretch {
        let (since, until) = (Instant(since), Instant(since + 5));
        Stretch { since, peer: (NodeId(0), PortIx(0)), class: 0, until }
    }

    #[test]
    fn the_earliest_are_kept_in_whatever_order_they_came_and_by_whichever_thread() {
        // 350 000 of them, of which every 7th is with another thread: those of an odd time first.
        const ALL: u64 = 350_000;
        let (mut one, mut other) = (Stretches::default(), Stretches::default());
        for since in (1..ALL).step_by(2).chain((0..ALL).step_by(2)) {
            let of = if since % 7 == 0 { &mut other } else { &mut one };
            of.add(stretch(since));
        }
        assert!(one.some.len() < 2 * MOST);
        one.merge(&other);
        let (kept, left_out) = one.earliest();
        assert!(kept.iter().map(|stretch| stretch.since.0).eq(0..MOST as u64));
        assert_eq!(left_out, ALL - MOST as u64);
    }

    #[test]
    fn none_is_left_out_of_few() {
        let mut some = Stretches::default();
        [30, 10, 20].into_iter().for_each(|since| some.add(stretch(since)));
        assert_eq!(some.earliest(), ([10, 20, 30].map(stretch).to_vec(), 0));
    }
}
