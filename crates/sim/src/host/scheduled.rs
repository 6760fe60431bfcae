//! Things that are due at times, the first one first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_model::Instant;

/// A priority queue. The time of the first entry is kept beside it, because it is read for every packet.
#[derive(Debug)]
pub(super) struct Scheduled<T> {
    next: Instant,
    entries: BinaryHeap<Reverse<(Instant, T)>>,
}

impl<T: Copy + Ord> Scheduled<T> {
    /// Without entries.
    pub fn new() -> Self {
        Self { next: Instant::NEVER, entries: BinaryHeap::new() }
    }

    /// When the first one is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Schedules something.
    #[inline]
    pub fn push(&mut self, at: Instant, what: T) {
        self.next = self.next.min(at);
        self.entries.push(Reverse((at, what)));
    }

    /// Removes the first entry if it is due, and when it was due.
    #[inline(always)]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.next > now { None } else { self.pop() }
    }

    fn pop(&mut self) -> Option<(Instant, T)> {
        let Reverse(first) = self.entries.pop()?;
        self.find_next();
        Some(first)
    }

    /// Removes all entries for which this is false.
    pub fn retain(&mut self, keep: impl Fn(Instant, T) -> bool) {
        self.entries.retain(|Reverse((at, what))| keep(*at, *what));
        self.find_next();
    }

    fn find_next(&mut self) {
        self.next = self.entries.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_of_time_and_then_of_what_they_are() {
        let mut scheduled = Scheduled::new();
        assert_eq!((scheduled.next(), scheduled.pop_due(Instant(9))), (Instant::NEVER, None));
        for (at, what) in [(5, 2), (3, 7), (5, 1), (8, 0)] {
            scheduled.push(Instant(at), what);
        }
        assert_eq!((scheduled.next(), scheduled.pop_due(Instant(2))), (Instant(3), None));
        assert_eq!(scheduled.pop_due(Instant(3)), Some((Instant(3), 7)));
        assert_eq!(scheduled.pop_due(Instant(3)), None);
        scheduled.retain(|_, what| what != 1);
        let left: Vec<_> = std::iter::from_fn(|| scheduled.pop_due(Instant(9))).collect();
        assert_eq!(left, [(Instant(5), 2), (Instant(8), 0)]);
        assert_eq!((scheduled.next(), scheduled.len()), (Instant::NEVER, 0));
    }
}
