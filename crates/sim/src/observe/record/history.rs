//! The ports of a node over time: bytes sent, time paused and backlogs of each, at a bounded number
//! of samples.
//!
//! The [`Schedule`] decides which samples are kept. Counters are stored as totals, so the change
//! between two samples is their difference, no matter which samples in between were discarded.

use floodway_model::Instant;
use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use crate::link::Transmitter;

/// The state of all ports of a node at the kept samples.
#[derive(Debug, Serialize, Deserialize)]
pub struct History {
    schedule: Schedule,
    /// Whether the latest sample is kept.
    keeps: bool,
    /// Number of data queues, or classes, of a port.
    classes: usize,
    /// Number of values per sample.
    width: usize,
    /// By sample, then by port: bytes sent, time on the wire, time paused, what is held back, and the
    /// backlog of each data queue.
    numbers: Vec<u64>,
}

/// The state of a port at a sample, or its change between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot<'a> {
    /// Bytes of the frames whose transmission has begun.
    pub bytes: u64,
    /// Time on the wire of these frames, in ps.
    pub busy: u64,
    /// Time paused, summed over data classes, in ps.
    pub paused: u64,
    /// Physical queues, directions and destinations that are held back, at the sample.
    pub held: u64,
    /// Backlog by data queue, in bytes.
    pub backlogs: &'a [u64],
}

/// Number of values before the backlogs.
const COUNTERS: usize = 4;

impl History {
    /// An empty history of a node with this many ports and data queues, for at most `limit`
    /// samples.
    pub fn new(limit: u32, ports: usize, classes: usize) -> Self {
        Self {
            schedule: Schedule::new(limit),
            keeps: false,
            classes,
            width: ports * (COUNTERS + classes),
            numbers: Vec::new(),
        }
    }

    /// Adds a port at a sample. Samples are added in order, and within each the ports.
    pub fn add(
        &mut self,
        (sample, port): (usize, usize),
        tx: &Transmitter,
        (backlogs, held): (&[u64], u64),
        now: Instant,
    ) {
        if port == 0 {
            let fate = self.schedule.take(sample);
            if fate.thins {
                self.thin();
            }
            self.keeps = fate.keeps;
        }
        if self.keeps {
            let paused = tx.pauses()[..self.classes].iter().map(|pause| pause.total_at(now).0);
            let busy = tx.busy.0 - tx.unfinished(now).0;
            self.numbers.extend([tx.bytes, busy, paused.sum(), held]);
            self.numbers.extend(&backlogs[..self.classes]);
        }
    }

    /// Discards every second sample.
    fn thin(&mut self) {
        let kept = self.samples().div_ceil(2);
        for sample in 1..kept {
            let from = 2 * sample * self.width;
            self.numbers.copy_within(from..from + self.width, sample * self.width);
        }
        self.numbers.truncate(kept * self.width);
    }

    /// Number of kept samples.
    pub fn samples(&self) -> usize {
        self.numbers.len() / self.width.max(1)
    }

    /// Distance between kept samples.
    pub fn every(&self) -> usize {
        self.schedule.every()
    }

    /// A port at a kept sample.
    pub fn at(&self, sample: usize, port: usize) -> Snapshot<'_> {
        let from = sample * self.width + port * (COUNTERS + self.classes);
        let numbers = &self.numbers[from..from + COUNTERS + self.classes];
        let (counters, backlogs) = numbers.split_at(COUNTERS);
        let [bytes, busy, paused, held] = *counters else { unreachable!("there are {COUNTERS}") };
        Snapshot { bytes, busy, paused, held, backlogs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;

    fn idle() -> Transmitter {
        Transmitter::new(Link::PLAIN)
    }

    /// The kept samples out of a total number, identified by the backlog of the second of two
    /// ports.
    fn kept(limit: u32, samples: u64) -> Vec<u64> {
        let mut history = History::new(limit, 2, 1);
        for sample in 0..samples {
            history.add((sample as usize, 0), &idle(), (&[7], 0), Instant::ZERO);
            history.add((sample as usize, 1), &idle(), (&[sample], sample), Instant::ZERO);
        }
        let samples = 0..history.samples();
        assert!(samples.clone().all(|sample| history.at(sample, 0).backlogs == [7]));
        samples.map(|sample| history.at(sample, 1).backlogs[0]).collect()
    }

    #[test]
    fn every_second_sample_is_dropped_when_there_are_too_many() {
        assert!(kept(8, 0).is_empty());
        assert_eq!(kept(8, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(kept(8, 9), [0, 2, 4, 6, 8]);
        assert_eq!(kept(8, 15), [0, 2, 4, 6, 8, 10, 12, 14]);
        // Full at sample 8 when it keeps every sample, at 16 when it keeps every second, at 32
        // every fourth, and at 64 every eighth.
        assert_eq!(kept(8, 100), [0, 16, 32, 48, 64, 80, 96]);
        assert_eq!(kept(5, 6), [0, 2, 4]);
        assert_eq!(kept(2, 1_000), [0, 512]);
    }

    #[test]
    fn there_are_between_half_the_limit_and_the_limit() {
        for limit in 2..40 {
            for samples in u64::from(limit)..400 {
                let kept = kept(limit, samples).len() as u32;
                assert!(limit.div_ceil(2) <= kept && kept <= limit, "{limit} {samples}: {kept}");
            }
        }
    }
}
