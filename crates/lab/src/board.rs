//! Progress of the runs of an experiment.

use std::sync::{Mutex, MutexGuard};

use floodway_model::Instant;
use floodway_sim::Progress;

/// Progress of one run.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    now_ns: f64,
    /// Latest possible end.
    end_ns: f64,
    hops: u64,
    done: bool,
}

/// Progress of all runs, updated by their threads.
#[derive(Debug)]
pub struct Board {
    runs: Mutex<Vec<Reached>>,
}

impl Board {
    /// For this number of runs, none of which has begun.
    pub fn new(runs: usize) -> Self {
        Self { runs: Mutex::new(vec![Reached::default(); runs]) }
    }

    /// Records the progress of a run.
    pub fn reached(&self, place: usize, progress: Progress) {
        let Progress { now, end, hops, .. } = progress;
        let (now_ns, end_ns) = (nanoseconds(now), nanoseconds(end));
        self.lock()[place] = Reached { now_ns, end_ns, hops, done: false };
    }

    /// Records that a run has ended at this simulated time, after `hops` packet-hops.
    pub fn done(&self, place: usize, now_ns: f64, hops: u64) {
        self.lock()[place] = Reached { now_ns, end_ns: now_ns, hops, done: true };
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Reached>> {
        self.runs.lock().expect("no thread panics while it holds this")
    }

    /// Totals over all runs.
    pub fn total(&self) -> Total {
        let runs = self.lock();
        let ended: Vec<_> = runs.iter().filter(|run| run.done).collect();
        // A run ends when its flows have completed, usually well before the time limit. The end
        // times of completed runs are therefore the better estimate.
        let usual = ended.iter().map(|run| run.now_ns).sum::<f64>() / ended.len() as f64;
        let part = |run: &Reached| match run {
            run if run.done => 1.0,
            run if run.end_ns == 0.0 => 0.0,
            run if ended.is_empty() => run.now_ns / run.end_ns,
            run => (run.now_ns / usual).min(0.99),
        };
        Total {
            runs: runs.len(),
            ended: ended.len(),
            part: runs.iter().map(part).sum::<f64>() / runs.len() as f64,
            simulated_ns: runs.iter().map(|run| run.now_ns).sum(),
            hops: runs.iter().map(|run| run.hops).sum(),
        }
    }
}

/// Totals over all runs.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that have ended.
    pub ended: usize,
    /// Estimated fraction of the work that is done, from 0 to 1.
    pub part: f64,
    /// Simulated time of all runs, in nanoseconds.
    pub simulated_ns: f64,
    /// Packet-hops of all runs.
    pub hops: u64,
}

/// A time in nanoseconds, the unit of the tables.
pub fn nanoseconds(at: Instant) -> f64 {
    at.0 as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(now_ms: u64, hops: u64) -> Progress {
        let ms = |ms: u64| Instant(ms * 1_000_000_000);
        Progress { now: ms(now_ms), end: ms(10), hops, flows: (0, 1) }
    }

    #[test]
    fn what_has_ended_tells_how_long_the_others_take() {
        let board = Board::new(4);
        board.reached(0, progress(2, 100));
        let total = board.total();
        assert_eq!((total.ended, total.hops), (0, 100));
        assert!((total.part - 0.05).abs() < 1e-12, "a fifth of one of four: {}", total.part);

        // The first run ended after half of its limit; the second is halfway to that time.
        board.lock()[0] = Reached { now_ns: 5e6, end_ns: 5e6, hops: 300, done: true };
        board.reached(1, Progress { now: Instant(2_500_000_000), ..progress(0, 100) });
        let total = board.total();
        assert!((total.part - 0.375).abs() < 1e-12, "{}", total.part);
        assert_eq!((total.runs, total.ended, total.hops), (4, 1, 400));
        assert!((total.simulated_ns - 7.5e6).abs() < 1e-6);
    }
}
