//! Work that is due at regular times, caught up on when something happens: as exact as a timer if
//! what it depends on is known for every moment in between.

use floodway_model::{Duration, Instant};

/// When it is due next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periodic {
    next: Instant,
}

impl Periodic {
    /// Due for the first time after one `period`, which must not be zero.
    pub fn every(period: Duration) -> Self {
        Self { next: Instant::ZERO + period }
    }

    /// Calls `update` for every time up to `now` at which it was due. Once it says that it is
    /// settled, that is, that it would change nothing until something happens, the rest is passed
    /// over.
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
        // Hours, in two calls; then the even milliseconds go on.
        for now in [36_000_001, 36_000_005] {
            periodic.catch_up(MS * 2, at_ms(now), |at| {
                times.push(at);
                at == at_ms(4)
            });
        }
        assert_eq!(times, [2, 4, 36_000_002, 36_000_004].map(at_ms));
    }
}
