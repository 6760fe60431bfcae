//! Chooses how many of a run's threads work, to maximize the work simulated per second of wall-clock
//! time.
//!
//! Threads synchronize after every window, so all of them wait while one of them lacks a core. On a
//! machine that is busy with other work, two threads can be many times slower than one. The governor
//! does not query the load of the machine. Instead, when threads wait a lot for each other, or fewer
//! work than are available, it tries another number for an interval, and keeps that number if it did
//! more work than the one before.

use std::time::Duration;

/// Cumulative measurements since the beginning of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Wall-clock time.
    pub wall: Duration,
    /// Amount simulated: packet-hops plus windows.
    pub work: u64,
    /// Total time that all threads have waited for each other.
    pub waited: Duration,
}

/// Chooses how many threads work.
#[derive(Debug)]
pub struct Governor {
    most: usize,
    active: usize,
    /// Whether the threads may not all have begun since the number changed, so that the current interval has not begun.
    begins: bool,
    /// Reading at the beginning of the current interval.
    begin: Reading,
    /// During a trial: the previous number of threads, and its work per second.
    trial: Option<(usize, f64)>,
    /// Wall-clock time of the next trial.
    next_trial: Duration,
    /// Delay before the last trial.
    patience: Duration,
    /// Whether the next trial uses fewer threads.
    fewer: bool,
}

impl Governor {
    /// Begins with all `most` threads.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            active: most,
            begins: true,
            begin: Reading::default(),
            trial: None,
            next_trial: Duration::ZERO,
            patience: PATIENCE[0],
            fewer: true,
        }
    }

    /// Returns the new number of working threads if it changes. Before the first call, and the first after a change, all of
    /// them have run a window together. Until then a thread may have had to start or to wake up, which may take some
    /// hundredths of a second and says nothing of how fast they work.
    pub fn look(&mut self, now: Reading) -> Option<usize> {
        if std::mem::take(&mut self.begins) {
            self.begin = now;
        }
        let wall = now.wall.saturating_sub(self.begin.wall);
        if self.most == 1 || wall < INTERVAL {
            return None;
        }
        let rate = (now.work - self.begin.work) as f64 / wall.as_secs_f64();
        let waited = now.waited.saturating_sub(self.begin.waited);
        self.begin = now;
        let before = self.active;
        if let Some((settled, its_rate)) = self.trial.take() {
            if rate > its_rate {
                self.patience = PATIENCE[0];
            } else {
                self.active = settled;
                self.patience = (2 * self.patience).min(PATIENCE[1]);
                self.fewer = !self.fewer;
            }
            self.next_trial = now.wall + self.patience;
        } else if now.wall >= self.next_trial && self.may_be_better(wall, waited) {
            self.fewer = (self.fewer || self.active == self.most) && self.active > 1;
            self.trial = Some((self.active, rate));
            self.active = match self.fewer {
                true => self.active / 2,
                false => (2 * self.active).min(self.most),
            };
        }
        self.begins = self.active != before;
        self.begins.then_some(self.active)
    }

    /// Whether another number of threads may be better.
    fn may_be_better(&self, wall: Duration, waited: Duration) -> bool {
        self.active < self.most || 4 * waited > wall * self.active as u32
    }
}

/// Measurement interval of one number of threads: a few time slices of an operating system
/// scheduler with more threads to run than cores.
const INTERVAL: Duration = Duration::from_millis(20);

/// Shortest and longest delay between trials.
const PATIENCE: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(1_600)];

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the governor for a number of milliseconds and calls it in each. `rates` is the work in a millisecond by number of
    /// threads, while either all but one of the threads wait or none does. Before another number of threads does anything,
    /// it takes `begin` to begin, while one thread waits. Returns how many milliseconds each number worked.
    fn govern_from(
        governor: &mut Governor,
        now: &mut Reading,
        milliseconds: usize,
        (rates, waits): (&[u64], bool),
        begin: Duration,
    ) -> Vec<usize> {
        let mut active = vec![0; rates.len()];
        for _ in 0..milliseconds {
            if governor.begins {
                now.wall += begin;
                now.waited += begin;
            }
            active[governor.active] += 1;
            now.wall += MILLISECOND;
            now.work += rates[governor.active];
            if waits {
                now.waited += MILLISECOND * (governor.active as u32 - 1);
            }
            governor.look(*now);
        }
        active
    }

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// The same where threads begin at once.
    fn govern(
        governor: &mut Governor,
        now: &mut Reading,
        milliseconds: usize,
        rates: &[u64],
        waits: bool,
    ) -> Vec<usize> {
        govern_from(governor, now, milliseconds, (rates, waits), Duration::ZERO)
    }

    #[test]
    fn all_threads_work_while_they_do_not_wait() {
        let (mut governor, mut now) = (Governor::new(2), Reading::default());
        assert_eq!(govern(&mut governor, &mut now, 20_000, &[0, 100, 190], false), [0, 0, 20_000]);
    }

    #[test]
    fn one_thread_works_where_two_are_slower_and_two_are_seldom_tried() {
        let (mut governor, mut now) = (Governor::new(2), Reading::default());
        // Ten seconds. Two threads are tried after 0.1, 0.2, 0.4, 0.8 and then every 1.6 seconds.
        let active = govern(&mut governor, &mut now, 10_000, &[0, 100, 10], true);
        assert!((20..=250).contains(&active[2]), "{active:?}");
        // The machine is idle again: two threads work after at most 1.6 seconds.
        let active = govern(&mut governor, &mut now, 10_000, &[0, 100, 190], false);
        assert!(active[1] <= 1_650, "{active:?}");
    }

    #[test]
    fn where_two_wait_and_are_faster_one_is_seldom_tried() {
        let (mut governor, mut now) = (Governor::new(2), Reading::default());
        let active = govern(&mut governor, &mut now, 10_000, &[0, 100, 110], true);
        assert!((20..=250).contains(&active[1]), "{active:?}");
    }

    #[test]
    fn of_eight_threads_it_finds_the_four_that_are_fastest() {
        let (mut governor, mut now) = (Governor::new(8), Reading::default());
        let rates = [0, 100, 190, 0, 350, 0, 0, 0, 20];
        let active = govern(&mut governor, &mut now, 20_000, &rates, true);
        assert!(active[4] > 18_000, "{active:?}");
    }

    #[test]
    fn time_to_begin_is_no_time_of_work() {
        let (mut governor, mut now) = (Governor::new(2), Reading::default());
        let begin = Duration::from_millis(30);
        let rates: &[u64] = &[0, 100, 190];
        // They take 30 ms to begin, and then do not wait: one thread is never tried.
        let active = govern_from(&mut governor, &mut now, 1_000, (rates, false), begin);
        assert_eq!(active, [0, 0, 1_000]);
        // Two are slow for a while. When they no longer are, the first time that they are tried they are kept, although it
        // takes 30 ms until they work.
        govern_from(&mut governor, &mut now, 1_000, (&[0, 100, 10], true), begin);
        govern_from(&mut governor, &mut now, 2_000, (rates, false), begin);
        let active = govern_from(&mut governor, &mut now, 1_000, (rates, false), begin);
        assert_eq!(active, [0, 0, 1_000]);
    }
}
