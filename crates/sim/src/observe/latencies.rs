//! Packet latencies, from the memory of the source host to that of the destination host, by
//! workload. The bins are those of sojourn times, and each bin also has the sum of its times, so
//! that means are exact.

use floodway_model::Duration;
use floodway_model::table::Table;
use floodway_model::tables::latencies;
use serde::{Deserialize, Serialize};

use super::{At, Fact, Kinds, Observer, Setup};
use crate::metric::{fine_edge, sojourn_bin};

/// A histogram of times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Histogram {
    /// By bin: the number of packets, and the sum of their times in ps.
    bins: Vec<(u64, u128)>,
}

impl Histogram {
    fn count(&mut self, latency: Duration) {
        let bin = sojourn_bin(latency);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, (0, 0));
        }
        self.bins[bin].0 += 1;
        self.bins[bin].1 += u128::from(latency.0);
    }

    fn add(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), (0, 0));
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// The bins that occurred: (upper edge in ns, packets, sum of their times in ps).
    fn bins(&self) -> impl Iterator<Item = (u64, u64, u128)> + '_ {
        let filled = self.bins.iter().enumerate().filter(|(_, (count, _))| *count > 0);
        filled.map(|(bin, &(count, total))| (fine_edge(bin), count, total))
    }
}

/// The histograms of data packets that arrive in the measured interval.
#[derive(Debug, Serialize, Deserialize)]
pub struct Latencies {
    /// The workload of each flow.
    workload_of: Vec<u16>,
    /// The histogram of each workload.
    histograms: Vec<Histogram>,
}

impl Observer for Latencies {
    const WANTS: Kinds = Kinds::DELIVERED;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.spec.latencies.then(|| Self {
            workload_of: setup.spec.flows.each().map(|flow| flow.workload).collect(),
            histograms: Vec::new(),
        })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        let Fact::Delivered(delivery) = fact else { return };
        if let Some(sent_at) = delivery.sent_at.filter(|_| at.is_measured) {
            let workload = usize::from(self.workload_of[delivery.packet.flow.index()]);
            if self.histograms.len() <= workload {
                self.histograms.resize_with(workload + 1, Histogram::default);
            }
            self.histograms[workload].count(at.now - sent_at);
        }
    }

    fn merge(&mut self, other: Self) {
        if self.histograms.len() < other.histograms.len() {
            self.histograms.resize_with(other.histograms.len(), Histogram::default);
        }
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            mine.add(theirs);
        }
    }
}

impl Latencies {
    /// Adds a flow of this workload, during a run.
    pub fn add_flow(&mut self, workload: u16) {
        self.workload_of.push(workload);
    }
}

/// Rows in order of workload and bin.
pub fn table(latencies: Option<&Latencies>) -> Table {
    let histograms = latencies.map_or(&[][..], |latencies| &latencies.histograms);
    let of = |(workload, histogram)| {
        let row = move |(up_to_ns, packets, total): (u64, u64, u128)| latencies::Row {
            workload,
            up_to_ns,
            packets,
            total_ns: total as f64 / 1e3,
        };
        Histogram::bins(histogram).map(row)
    };
    (0..).zip(histograms).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_counts_and_sums() {
        let (mut one, mut other) = (Histogram::default(), Histogram::default());
        [1, 1_999, 2_000].iter().for_each(|&ps| one.count(Duration(ps)));
        [1_500, 1_000_000].iter().for_each(|&ps| other.count(Duration(ps)));
        one.add(&other);
        // From 512 ns on a bin covers eight nanoseconds: 1000 ns belong to the bin from 1000 to
        // 1007 ns.
        let bins: Vec<_> = one.bins().collect();
        assert_eq!(bins, [(1, 1, 1), (2, 3, 5_499), (1_007, 1, 1_000_000)]);
    }
}
