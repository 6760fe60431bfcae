//! Counters and samples that are summed across nodes during a run.
//!
//! Every thread has its own [`Metrics`]. They contain only sums and maxima of integers, so that
//! merging them in any order gives the same result. Counters of a single port or flow are kept
//! there instead.

mod depth;
mod sojourn;
mod tally;

pub use depth::{BINS, bin_edge, bin_of};
pub use sojourn::{fine_bin, fine_edge, sojourn_bin};
pub use tally::Tally;

use floodway_model::id::CLASSES;
use floodway_model::{Duration, Instant};
use serde::{Deserialize, Serialize};

use crate::switch::occupancy::Scope;

/// The sampling schedule.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sampling {
    /// The first sample.
    pub from: Instant,
    /// Interval between samples.
    pub interval: Duration,
    /// Maximum number of samples.
    pub count: usize,
    /// End of the measured interval. Earlier samples belong to the measurement; later ones only
    /// show the rest of the run. [`Instant::NEVER`] while flows are awaited.
    pub measured_until: Instant,
}

impl Sampling {
    /// Number of samples that are due before `at`.
    fn before(&self, at: Instant) -> usize {
        let before = at.since(self.from).0.div_ceil(self.interval.0);
        before.min(self.count as u64) as usize
    }

    /// Number of samples in a run that ended at `end`.
    pub fn taken(&self, end: Instant) -> u64 {
        self.before(end) as u64
    }

    /// Number of samples in the measured interval of a run that ended at `end`.
    pub fn measured(&self, end: Instant) -> u64 {
        self.before(end.min(self.measured_until)) as u64
    }

    /// Whether sample `index` belongs to the measured interval.
    #[inline]
    pub fn measures(&self, index: usize) -> bool {
        self.at(index) < self.measured_until
    }

    /// Whether this time belongs to the measured interval.
    #[inline]
    pub fn measures_at(&self, at: Instant) -> bool {
        self.from <= at && at < self.measured_until
    }

    /// When sample `index` is due.
    pub fn at(&self, index: usize) -> Instant {
        self.from + self.interval * index as u64
    }
}

/// All queues with the same number, at one sample.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Sum of the backlogs, in bytes.
    pub sum: u64,
    /// Largest backlog, in bytes.
    pub max: u64,
    /// Change in the number of ports for which this class is paused.
    paused_change: i64,
}

/// Sums over the nodes of one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metrics {
    sampling: Sampling,
    queues: usize,
    hops: u64,
    flows_done: u64,
    /// Of these, awaited flows, whose completion extends the measured interval.
    awaited_done: u64,
    /// `timeline[sample * queues + queue]`.
    timeline: Vec<Sample>,
    /// `depths[(tier * queues + queue) * BINS + bin]`: number of samples.
    depths: Vec<u64>,
    /// `occupancy[(tier * 2 + scope) * BINS + bin]`: number of samples.
    occupancy: Vec<u64>,
    /// Tallies at the beginning and at the end of the measured interval, once taken.
    pub tallies: [Option<Tally>; 2],
}

impl Metrics {
    /// Empty counters, for switches of `tiers` tiers with `queues` queues per port.
    pub fn new(sampling: Sampling, tiers: usize, queues: usize) -> Self {
        Self {
            sampling,
            queues,
            hops: 0,
            flows_done: 0,
            awaited_done: 0,
            timeline: vec![Sample::default(); sampling.count * queues],
            depths: vec![0; tiers * queues * BINS],
            occupancy: vec![0; tiers * Scope::ALL.len() * BINS],
            tallies: [None, None],
        }
    }

    /// Counts a frame that is sent on a link.
    #[inline]
    pub fn count_hop(&mut self) {
        self.hops += 1;
    }

    /// Counts a flow with a size that has completed, awaited or not.
    pub fn count_flow_done(&mut self, awaited: bool) {
        self.count_flows_lost(1, awaited);
    }

    /// Counts flows with a size that will not begin in this run.
    pub fn count_flows_lost(&mut self, flows: u32, awaited: bool) {
        self.flows_done += u64::from(flows);
        if awaited {
            self.awaited_done += u64::from(flows);
        }
    }

    /// Number of awaited flows that have ended so far.
    pub fn awaited_done(&self) -> u64 {
        self.awaited_done
    }

    /// Ends the measured interval at `until`, because all awaited flows have ended.
    pub fn end_measurement(&mut self, until: Instant) {
        self.sampling.measured_until = until;
    }

    /// Records that a class of a port was paused from `since` to `until`.
    pub fn count_pause(&mut self, class: usize, (since, until): (Instant, Instant)) {
        if class < self.queues {
            let (first, end) = (self.sampling.before(since), self.sampling.before(until));
            for (sample, change) in [(first, 1), (end, -1)] {
                if let Some(of_sample) = self.timeline.get_mut(sample * self.queues + class) {
                    of_sample.paused_change += change;
                }
            }
        }
    }

    /// Records the backlog of a queue at sample number `sample`.
    #[inline]
    pub fn sample(&mut self, sample: usize, tier: usize, queue: usize, backlog: u64) {
        let of_sample = &mut self.timeline[sample * self.queues + queue];
        of_sample.sum += backlog;
        of_sample.max = of_sample.max.max(backlog);
        if self.sampling.measures(sample) {
            self.depths[(tier * self.queues + queue) * BINS + bin_of(backlog)] += 1;
        }
    }

    /// Records the data bytes in a port or switch at a sample of the measured interval.
    #[inline]
    pub fn sample_occupancy(&mut self, tier: usize, scope: Scope, bytes: u64) {
        let row = tier * Scope::ALL.len() + scope as usize;
        self.occupancy[row * BINS + bin_of(bytes)] += 1;
    }

    /// Packet-hops so far: frames sent on links.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Number of flows ended so far.
    pub fn flows_done(&self) -> u64 {
        self.flows_done
    }

    /// The sampling schedule.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// The samples before `end`: (time, queue, sums and maxima, paused ports).
    pub fn timeline(&self, end: Instant) -> impl Iterator<Item = (Instant, usize, Sample, u64)> {
        let mut paused = vec![0i64; self.queues];
        let until = self.sampling.before(end) * self.queues;
        self.timeline[..until].iter().enumerate().map(move |(index, of_sample)| {
            let queue = index % self.queues;
            paused[queue] += of_sample.paused_change;
            (self.sampling.at(index / self.queues), queue, *of_sample, paused[queue] as u64)
        })
    }

    /// Histogram of backlogs: (tier, queue, bin, samples), without bins that never occurred.
    pub fn depths(&self) -> impl Iterator<Item = (usize, usize, usize, u64)> {
        bins(&self.depths)
            .map(|(row, bin, samples)| (row / self.queues, row % self.queues, bin, samples))
    }

    /// Histogram of the occupancy of ports and of switches by data: (tier, scope, bin, samples),
    /// without bins that never occurred.
    pub fn occupancy(&self) -> impl Iterator<Item = (usize, Scope, usize, u64)> {
        let scopes = Scope::ALL.len();
        bins(&self.occupancy)
            .map(move |(row, bin, samples)| (row / scopes, Scope::ALL[row % scopes], bin, samples))
    }

    /// Adds the counters of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.hops += other.hops;
        self.flows_done += other.flows_done;
        self.awaited_done += other.awaited_done;
        // All threads have ended the interval at the same time.
        self.sampling.measured_until = other.sampling.measured_until;
        for (mine, theirs) in self.timeline.iter_mut().zip(&other.timeline) {
            mine.sum += theirs.sum;
            mine.max = mine.max.max(theirs.max);
            mine.paused_change += theirs.paused_change;
        }
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().add(theirs);
            }
        }
        let mine = self.depths.iter_mut().chain(&mut self.occupancy);
        for (mine, theirs) in mine.zip(other.depths.iter().chain(&other.occupancy)) {
            *mine += theirs;
        }
    }
}

/// The bins that occurred, from rows of bins: (row, bin, samples).
fn bins(rows: &[u64]) -> impl Iterator<Item = (usize, usize, u64)> {
    let some = rows.iter().enumerate().filter(|(_, samples)| **samples > 0);
    some.map(|(index, &samples)| (index / BINS, index % BINS, samples))
}

const _: () = assert!(CLASSES <= u8::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_seen_by_the_samples_that_fall_into_them() {
        let (from, interval) = (Instant(1_000), Duration(100));
        let sampling = Sampling { from, interval, count: 10, measured_until: Instant::NEVER };
        let mut metrics = Metrics::new(sampling, 1, 2);
        metrics.count_pause(1, (Instant(1_150), Instant(1_400)));
        metrics.count_pause(1, (Instant(1_300), Instant(1_301)));
        metrics.count_pause(1, (Instant(0), Instant(1_100)));
        let paused: Vec<u64> = metrics
            .timeline(Instant(1_650))
            .filter(|(_, queue, ..)| *queue == 1)
            .map(|(.., paused)| paused)
            .collect();
        // At 1000, 1100, ..., 1600.
        assert_eq!(paused, [1, 0, 1, 2, 0, 0, 0]);
    }
}
