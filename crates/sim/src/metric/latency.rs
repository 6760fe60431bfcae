//! How long packets took from the memory of the source to that of the destination: in the bins of
//! sojourn times, and in each the sum of those that are in it, so that means are exact.

use floodway_model::Duration;

use super::{sojourn_bin, sojourn_edge};

/// A histogram of times.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// By bin: how many, and the sum of their times in ps.
    bins: Vec<(u64, u128)>,
}

impl Latencies {
    /// A packet took so long.
    pub fn count(&mut self, latency: Duration) {
        let bin = sojourn_bin(latency);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, (0, 0));
        }
        self.bins[bin].0 += 1;
        self.bins[bin].1 += u128::from(latency.0);
    }

    /// Adds those that another host has counted.
    pub fn add(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), (0, 0));
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// The bins that occurred: (upper edge in ns, packets, sum of their times in ps).
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u128)> + '_ {
        let filled = self.bins.iter().enumerate().filter(|(_, (count, _))| *count > 0);
        filled.map(|(bin, &(count, total))| (sojourn_edge(bin), count, total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_counts_and_sums() {
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        [1, 1_999, 2_000].iter().for_each(|&ps| one.count(Duration(ps)));
        [1_500, 1_000_000].iter().for_each(|&ps| other.count(Duration(ps)));
        one.add(&other);
        // From 512 ns on a bin has eight of them: 1000 ns are in that of 1000 to 1007 ns.
        let bins: Vec<_> = one.bins().collect();
        assert_eq!(bins, [(1, 1, 1), (2, 3, 5_499), (1_007, 1, 1_000_000)]);
    }
}
