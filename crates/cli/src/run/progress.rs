//! How far an experiment has come: simulated time, rate and time left.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use floodway_report::words::{large, time};
use floodway_sim::{Outcome, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::words::nanoseconds;
use crate::output;

/// What one run has done so far.
#[derive(Clone, Copy, Default)]
struct Reached {
    now_ns: f64,
    /// When it ends at the latest.
    end_ns: f64,
    hops: u64,
    done: bool,
}

/// What all runs have done so far, written by their threads.
pub struct Board {
    runs: Mutex<Vec<Reached>>,
}

impl Board {
    /// For this many runs, none of which has begun.
    pub fn new(runs: usize) -> Self {
        Self { runs: Mutex::new(vec![Reached::default(); runs]) }
    }

    /// A run has come this far.
    pub fn reached(&self, place: usize, progress: Progress) {
        let Progress { now, end, hops, .. } = progress;
        let (now_ns, end_ns) = (nanoseconds(now), nanoseconds(end));
        self.lock()[place] = Reached { now_ns, end_ns, hops, done: false };
    }

    /// A run has ended.
    pub fn done(&self, place: usize, outcome: &Outcome) {
        let now_ns = nanoseconds(outcome.simulated);
        self.lock()[place] = Reached { now_ns, end_ns: now_ns, hops: outcome.hops, done: true };
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Reached>> {
        self.runs.lock().expect("no thread panics while it holds this")
    }

    fn total(&self) -> Total {
        let runs = self.lock();
        let ended: Vec<_> = runs.iter().filter(|run| run.done).collect();
        // Runs end when their flows have, which is mostly before the limit: those that have ended
        // tell when.
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

/// Sums over all runs.
struct Total {
    runs: usize,
    ended: usize,
    /// From 0 to 1.
    part: f64,
    simulated_ns: f64,
    hops: u64,
}

impl Total {
    /// What stands beside the bar after this time.
    fn words(&self, elapsed: Duration) -> String {
        let left = match self.part {
            part if part > 0.01 => {
                let left = elapsed.as_secs_f64() * (1.0 - part) / part;
                clock(left.ceil() as u64) + " left, "
            }
            _ => String::new(),
        };
        format!(
            "{left}{} of {} runs, {} simulated, {} hops/s",
            self.ended,
            self.runs,
            time(self.simulated_ns),
            large(self.hops as f64 / elapsed.as_secs_f64())
        )
    }
}

/// `1:23:45`, or `0:07`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The progress bar, if standard error is a terminal.
pub struct Bar {
    bar: Option<ProgressBar>,
    begun: Instant,
    stopping: bool,
    show: bool,
}

impl Bar {
    /// A bar with a label before it, or nothing unless `show`.
    pub fn new(show: bool, label: &str) -> Self {
        let style = ProgressStyle::with_template("{prefix}{bar:10} {percent:>3} %  {wide_msg}");
        let style = style.expect("the template is valid").progress_chars("━╸─");
        let prefix = if label.is_empty() { String::new() } else { format!("{label}  ") };
        let bar = (show && std::io::stderr().is_terminal()).then(|| {
            ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
                .with_style(style)
                .with_prefix(prefix)
        });
        Self { bar, begun: Instant::now(), stopping: false, show }
    }

    /// Shows how far it is, and says once that it stops.
    pub fn look(&mut self, board: &Board, stopping: bool) {
        if stopping && !self.stopping && self.show {
            self.say("stopping; what is finished is kept (again to kill)\n");
        }
        self.stopping = stopping;
        if let Some(bar) = &self.bar {
            let total = board.total();
            bar.set_message(total.words(self.begun.elapsed()));
            bar.set_position((total.part * STEPS as f64) as u64);
        }
    }

    /// Says something, whole lines or nothing, without disturbing the bar.
    pub fn say(&self, lines: &str) {
        match &self.bar {
            _ if lines.is_empty() => {}
            Some(bar) => bar.suspend(|| output::say(lines)),
            None => output::say(lines),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

const STEPS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Instant as Moment;

    fn progress(now_ms: u64, hops: u64) -> Progress {
        let ms = |ms: u64| Moment(ms * 1_000_000_000);
        Progress { now: ms(now_ms), end: ms(10), hops, flows: (0, 1) }
    }

    #[test]
    fn what_has_ended_tells_how_long_the_others_take() {
        let board = Board::new(4);
        board.reached(0, progress(2, 100));
        let total = board.total();
        assert_eq!((total.ended, total.hops), (0, 100));
        assert!((total.part - 0.05).abs() < 1e-12, "a fifth of one of four: {}", total.part);

        // The first ended after half of its limit, and the second is half way to that.
        board.lock()[0] = Reached { now_ns: 5e6, end_ns: 5e6, hops: 300, done: true };
        board.reached(1, Progress { now: Moment(2_500_000_000), ..progress(0, 100) });
        let total = board.total();
        assert!((total.part - 0.375).abs() < 1e-12, "{}", total.part);
        assert_eq!(
            total.words(Duration::from_secs(3)),
            "0:05 left, 1 of 4 runs, 7.50 ms simulated, 133 hops/s"
        );
    }

    #[test]
    fn time_left_reads_like_a_clock() {
        assert_eq!(clock(7), "0:07");
        assert_eq!(clock(83), "1:23");
        assert_eq!(clock(5_025), "1:23:45");
    }
}
