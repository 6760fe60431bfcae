//! What is said while experiments run: how far they are, and a line for every run.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use floodway_lab::{Total, Watcher, words_of_others};
use floodway_report::Run;
use floodway_report::words::{large, time};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::words;
use crate::failure::runs_begin;
use crate::output;

/// What to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Nothing.
    Nothing,
    /// How far it is.
    Progress,
    /// Also a line for every run.
    Runs,
}

/// Says it on standard error, with a progress bar if that is a terminal.
pub struct Speaker {
    talk: Talk,
    bar: Option<ProgressBar>,
    begun: Instant,
    stopping: bool,
}

impl Speaker {
    /// Nothing has begun.
    pub fn new(talk: Talk) -> Self {
        Self { talk, bar: None, begun: Instant::now(), stopping: false }
    }

    /// Says something, whole lines or nothing, without disturbing the bar.
    fn say(&self, lines: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(lines)),
            None => output::say(lines),
        }
    }
}

impl Watcher for Speaker {
    fn begin(&mut self, name: Option<&str>, kept: Option<usize>, runs: usize) {
        (self.begun, self.stopping) = (Instant::now(), false);
        if kept.unwrap_or(0) < runs {
            runs_begin();
        }
        if self.talk == Talk::Nothing {
            return;
        }
        if let Some(kept) = kept {
            output::note(&words::there(kept, runs, name));
        }
        if std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{prefix}{bar:10} {percent:>3} %  {wide_msg}");
            let style = style.expect("the template is valid").progress_chars("━╸─");
            let prefix = name.map_or(String::new(), |name| format!("{name}  "));
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(STEPS), target);
            self.bar = Some(bar.with_style(style).with_prefix(prefix));
        }
    }

    fn others(&mut self, first: &Path, count: usize) {
        if self.talk > Talk::Nothing {
            output::note(&words_of_others(first, count));
        }
    }

    fn look(&mut self, total: &Total, stopping: bool) {
        if stopping && !self.stopping && self.talk > Talk::Nothing {
            self.say("stopping; what is finished is kept (again to kill)\n");
        }
        self.stopping = stopping;
        if let Some(bar) = &self.bar {
            bar.set_message(beside(total, self.begun.elapsed()));
            bar.set_position((total.part * STEPS as f64) as u64);
        }
    }

    fn ended(&mut self, run: &Run, there_already: bool) {
        if self.talk == Talk::Runs {
            self.say(&if there_already { words::reused(run) } else { words::finished(run) });
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        self.end();
    }
}

const STEPS: u64 = 1_000;

/// What stands beside the bar after this time.
fn beside(total: &Total, elapsed: Duration) -> String {
    let left = match total.part {
        part if part > 0.01 => {
            let left = elapsed.as_secs_f64() * (1.0 - part) / part;
            clock(left.ceil() as u64) + " left, "
        }
        _ => String::new(),
    };
    format!(
        "{left}{} of {} runs, {} simulated, {} hops/s",
        total.ended,
        total.runs,
        time(total.simulated_ns),
        large(total.hops as f64 / elapsed.as_secs_f64())
    )
}

/// `1:23:45`, or `0:07`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_by_what_is_done() {
        let total = Total { runs: 4, ended: 1, part: 0.375, simulated_ns: 7.5e6, hops: 400 };
        assert_eq!(
            beside(&total, Duration::from_secs(3)),
            "0:05 left, 1 of 4 runs, 7.50 ms simulated, 133 hops/s"
        );
        let total = Total { ended: 0, part: 0.001, ..total };
        assert_eq!(
            beside(&total, Duration::from_secs(4)),
            "0 of 4 runs, 7.50 ms simulated, 100 hops/s"
        );
    }

    #[test]
    fn time_left_reads_like_a_clock() {
        assert_eq!(clock(7), "0:07");
        assert_eq!(clock(83), "1:23");
        assert_eq!(clock(5_025), "1:23:45");
    }
}
