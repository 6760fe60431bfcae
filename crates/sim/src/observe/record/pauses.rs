//! The pauses of a run, with start and end; only the earliest if there are many.
//!
//! Every thread keeps the earliest of its own pauses, so the earliest of all are among them,
//! however the nodes are distributed over threads.

use floodway_model::{Instant, NodeId};
use serde::{Deserialize, Serialize};

/// Maximum number of pauses kept in a run.
pub const MOST: usize = 100_000;

/// An interval in which a port was not allowed to send a class. The ordering is by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pause {
    /// Start of the pause.
    pub since: Instant,
    /// The port, by node.
    pub port: (NodeId, usize),
    /// The paused class.
    pub class: usize,
    /// End of the pause.
    pub until: Instant,
}

/// Pauses, added as they end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pauses {
    /// The earliest pauses, and further ones added since the last selection.
    some: Vec<Pause>,
    /// Number of all pauses.
    count: u64,
}

impl Pauses {
    /// A pause has ended.
    pub fn add(&mut self, pause: Pause) {
        self.count += 1;
        self.some.push(pause);
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

    /// Adds the pauses of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.some.extend(&other.some);
        self.drop_late();
    }

    /// The earliest pauses in order of time, and the number of all others.
    pub fn earliest(&self) -> (Vec<Pause>, u64) {
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

    fn pause(since: u64) -> Pause {
        let (since, until) = (Instant(since), Instant(since + 5));
        Pause { since, port: (NodeId(0), 0), class: 0, until }
    }

    #[test]
    fn the_earliest_are_kept_in_whatever_order_they_came_and_by_whichever_thread() {
        // 350 000 pauses, of which every 7th is on another thread: those with odd times first.
        const ALL: u64 = 350_000;
        let (mut one, mut other) = (Pauses::default(), Pauses::default());
        for since in (1..ALL).step_by(2).chain((0..ALL).step_by(2)) {
            let of = if since % 7 == 0 { &mut other } else { &mut one };
            of.add(pause(since));
        }
        assert!(one.some.len() < 2 * MOST);
        one.merge(&other);
        let (kept, left_out) = one.earliest();
        assert!(kept.iter().map(|pause| pause.since.0).eq(0..MOST as u64));
        assert_eq!(left_out, ALL - MOST as u64);
    }

    #[test]
    fn none_is_left_out_of_few() {
        let mut some = Pauses::default();
        [30, 10, 20].into_iter().for_each(|since| some.add(pause(since)));
        assert_eq!(some.earliest(), ([10, 20, 30].map(pause).to_vec(), 0));
    }
}
