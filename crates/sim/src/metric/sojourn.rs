//! What is recorded of packets that leave a queue: how long the queue was, and how long they had
//! waited.
//!
//! Lengths have a bin each. Times have 64 bins per doubling of whole nanoseconds, so that a quantile
//! read from upper edges is at most 1/64 = 1.6 % too large; below 128 ns they are exact.

use floodway_model::Duration;

/// Lengths up to this have a bin of their own, above it all share one.
pub const LONGEST: u64 = 4_095;

/// Histograms of one queue, over the departures of the measurement.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    /// By length in packets, up to the longest that occurred.
    lengths: Vec<u64>,
    /// By bin of the sojourn time.
    sojourns: Vec<u64>,
    /// How many.
    pub count: u64,
    /// Sum of the sojourn times, ps.
    pub total: u128,
    /// The longest sojourn time.
    pub max: Duration,
}

impl Departures {
    /// A packet leaves after `sojourn`, at the head of a queue of `length` packets, itself included.
    pub fn count(&mut self, length: u64, sojourn: Duration) {
        count_in(&mut self.lengths, length.min(LONGEST + 1) as usize);
        count_in(&mut self.sojourns, sojourn_bin(sojourn));
        self.count += 1;
        self.total += u128::from(sojourn.0);
        self.max = self.max.max(sojourn);
    }

    /// The mean sojourn time in nanoseconds, if there were departures.
    pub fn mean_ns(&self) -> f64 {
        self.total as f64 / self.count as f64 / 1e3
    }

    /// The lengths that occurred: (packets, departures); `u64::MAX` stands for all above
    /// 4095.
    pub fn lengths(&self) -> impl Iterator<Item = (u64, u64)> {
        let edge = |length| if length > LONGEST { u64::MAX } else { length };
        filled(&self.lengths).map(move |(length, count)| (edge(length as u64), count))
    }

    /// The sojourn times that occurred: (upper edge of the bin in ns, departures).
    pub fn sojourns(&self) -> impl Iterator<Item = (u64, u64)> {
        filled(&self.sojourns).map(|(bin, count)| (sojourn_edge(bin), count))
    }
}

fn count_in(bins: &mut Vec<u64>, bin: usize) {
    if bins.len() <= bin {
        bins.resize(bin + 1, 0);
    }
    bins[bin] += 1;
}

fn filled(bins: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    bins.iter().copied().enumerate().filter(|(_, count)| *count > 0)
}

/// Bins per doubling, as a power of two.
const FINENESS: u32 = 6;

/// The bin of a sojourn time: of its nanoseconds, rounded up.
pub fn sojourn_bin(sojourn: Duration) -> usize {
    let ns = sojourn.0.div_ceil(1_000);
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(FINENESS);
    ((shift as usize) << FINENESS) + (ns >> shift) as usize
}

/// The upper edge of a bin in nanoseconds, inclusive.
pub fn sojourn_edge(bin: usize) -> u64 {
    let shift = (bin >> FINENESS).saturating_sub(1);
    let step = (bin - (shift << FINENESS)) as u64;
    ((step + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_exact() {
        for ns in 0..128 {
            let bin = sojourn_bin(Duration::from_ns(ns));
            assert_eq!((bin as u64, sojourn_edge(bin)), (ns, ns));
        }
        // Part of a nanosecond counts as a whole one.
        assert_eq!(sojourn_bin(Duration(1)), 1);
        assert_eq!(sojourn_bin(Duration(7_001)), 8);
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        // 128 ns begins the first bin of two nanoseconds, 256 ns the first of four.
        assert_eq!([127, 128, 129, 191, 192].map(sojourn_edge), [127, 129, 131, 255, 259]);
        let mut ns = 0;
        while ns < 20_000_000_000 {
            let bin = sojourn_bin(Duration::from_ns(ns));
            let (below, edge) = (bin.checked_sub(1).map(sojourn_edge), sojourn_edge(bin));
            assert!(ns <= edge && below.is_none_or(|below| ns > below), "{ns} in {bin}");
            assert!((edge - ns) * 64 <= ns, "{ns} is read as {edge}");
            assert_eq!(sojourn_bin(Duration::from_ns(edge)), bin);
            ns = ns * 101 / 100 + 1;
        }
    }

    #[test]
    fn counts_are_of_lengths_and_times() {
        let mut departures = Departures::default();
        for (length, us) in [(1, 0), (1, 3), (4_095, 6), (4_096, 1_000), (70_000, 11)] {
            departures.count(length, Duration::from_us(us));
        }
        let lengths: Vec<_> = departures.lengths().collect();
        assert_eq!(lengths, [(1, 2), (4_095, 1), (u64::MAX, 2)]);
        let times: Vec<_> = departures.sojourns().map(|(_, count)| count).collect();
        assert_eq!(times, [1, 1, 1, 1, 1]);
        assert_eq!((departures.count, departures.max), (5, Duration::from_ms(1)));
        assert_eq!(departures.mean_ns(), 204_000.0);
    }
}
