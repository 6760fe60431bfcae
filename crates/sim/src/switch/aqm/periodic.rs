//! Periodic work without a timer: it catches up at the next event. This is as exact as a timer if
//! its inputs are known for all times in between.

use floodway_model::{Duration, Instant};

/// The time of the next update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periodic {
    next: Instant,
}

impl Periodic {
    /// Due for the first time after one `period`, which must not be zero.
    pub fn every(period: Duration) -> Self {
        Self { next: Instant::ZERO + period }
    }

    /// Due for the first time one `period` after this time, at which nothing has been due yet.
    pub fn start_at(&mut self, period: Duration, now: Instant) {
        self.next = now + period;
    }

    /// Calls `update` for every time up to `now` at which it was due. When `update` returns that it
    /// has settled, so that it would change nothing until the next event, the remaining times are
    /// skipped.
    #[inline]
    pub fn catch_up(
        &mut self,
        period: Duration,
        now: Instant,
        mut update: impl FnMut(Instant) -> bool,
    ) {
        while self.next <= now {
            let settled = update(self.next);
            self.next += period;
            if settled && self.next <= now {
                let missed = now.since(self.next).0 / period.0 + 1;
                self.next += period * missed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_ms(1);

    fn at_ms(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn every_time_is_caught_up_on_once() {
        let mut periodic = Periodic::every(MS * 2);
        let mut times = Vec::new();
        for now in [0, 1, 2, 2, 3, 7, 8] {
            periodic.catch_up(MS * 2, at_ms(now), |at| {
                times.push(at);
                false
            });
        }
        assert_eq!(times, [2, 4, 6, 8].map(at_ms));
    }

    #[test]
    fn what_is_settled_is_passed_over_in_step() {
        let mut periodic = Periodic::every(MS * 2);
        let mut times = Vec::new();
        // Hours, in two calls; afterwards it continues at the even milliseconds.
        for now in [36_000_001, 36_000_005] {
            periodic.catch_up(MS * 2, at_ms(now), |at| {
                times.push(at);
                at == at_ms(4)
            });
        }
        assert_eq!(times, [2, 4, 36_000_002, 36_000_004].map(at_ms));
    }
}
