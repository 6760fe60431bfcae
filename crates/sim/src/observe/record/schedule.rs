//! Selection of samples if their number is bounded: at first all are kept. When the limit is
//! reached, every second one is discarded and from then on only every second one is kept, then
//! every fourth, and so on. The rule depends only on the number of the sample, so all nodes keep
//! the same ones.

use serde::{Deserialize, Serialize};

use crate::metric::Sampling;

/// State of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Maximum number of samples.
    limit: usize,
    /// Distance between kept samples: a power of two.
    every: usize,
    /// Number of samples kept.
    kept: usize,
}

/// What to do with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Discard every second of the kept samples; the first of them stays.
    pub thins: bool,
    /// Keep this sample.
    pub keeps: bool,
}

impl Schedule {
    /// A selection of at most `limit` samples, at least two.
    pub fn new(limit: u32) -> Self {
        Self { limit: limit as usize, every: 1, kept: 0 }
    }

    /// Decides on a sample. Samples must come in order.
    pub fn take(&mut self, sample: usize) -> Fate {
        let due = sample.is_multiple_of(self.every);
        let thins = due && self.kept == self.limit;
        if thins {
            self.kept = self.kept.div_ceil(2);
            self.every *= 2;
        }
        let keeps = due && sample.is_multiple_of(self.every);
        self.kept += usize::from(keeps);
        Fate { thins, keeps }
    }

    /// Distance between kept samples.
    pub fn every(&self) -> usize {
        self.every
    }

    /// The next sample after this one that may be kept, if there is one.
    pub fn next_after(&self, sample: usize, sampling: &Sampling) -> Option<usize> {
        let next = (sample / self.every + 1) * self.every;
        (next < sampling.count).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::{Duration, Instant};

    use super::*;

    #[test]
    fn the_next_sample_is_a_multiple_of_what_is_kept() {
        let measured_until = Instant::NEVER;
        let interval = Duration(10);
        let sampling = Sampling { from: Instant(5), interval, count: 13, measured_until };
        let mut schedule = Schedule::new(2);
        assert_eq!(schedule.next_after(0, &sampling), Some(1));
        (0..=4).for_each(|sample| _ = schedule.take(sample));
        assert_eq!(schedule.every(), 4);
        assert_eq!(schedule.next_after(4, &sampling), Some(8));
        assert_eq!(schedule.next_after(8, &sampling), Some(12));
        assert_eq!(schedule.next_after(12, &sampling), None);
    }
}
