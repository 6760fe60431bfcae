//! Completion times of any number of flows in bounded memory.

use std::collections::BTreeMap;

/// Bins to a decade: each is 2.3 % wide.
const BINS_PER_DECADE: i32 = 100;

/// How many values lie in which of bins that have the same width on a logarithmic axis. Shares are
/// exact at the edges of bins, and histograms of several runs add up to that of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Counts by bin. The bin `i` holds what is above the edge `i - 1` and not above the edge `i`.
    bins: BTreeMap<i32, u64>,
    /// Values that are not known, but larger than any that is asked for: flows that had not
    /// finished.
    unfinished: u64,
}

/// The upper edge of a bin.
fn edge(bin: i32) -> f64 {
    libm::pow(10.0, f64::from(bin) / f64::from(BINS_PER_DECADE))
}

/// The bin of a value above zero.
fn bin(value: f64) -> i32 {
    let near = libm::ceil(libm::log10(value) * f64::from(BINS_PER_DECADE)) as i32;
    // The logarithm may be off by its last bit, and the edges decide.
    let around = [near - 1, near, near + 1];
    around.into_iter().find(|bin| value <= edge(*bin)).unwrap_or(near + 1)
}

/// A value above zero as the upper edge of its bin.
pub(crate) fn rounded_up(value: f64) -> f64 {
    edge(bin(value))
}

impl Histogram {
    /// Of values above zero in ascending order, and a number of flows that had not finished.
    pub fn of_sorted(values: &[f64], unfinished: u64) -> Self {
        let mut bins = BTreeMap::new();
        let mut rest = values;
        while let Some(first) = rest.first() {
            let bin = bin(*first);
            let held = rest.partition_point(|value| *value <= edge(bin)).max(1);
            *bins.entry(bin).or_default() += held as u64;
            rest = &rest[held..];
        }
        Self { bins, unfinished }
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        for (bin, count) in &other.bins {
            *self.bins.entry(*bin).or_default() += count;
        }
        self.unfinished += other.unfinished;
    }

    /// How many values, those of flows that had not finished included.
    pub fn count(&self) -> u64 {
        self.bins.values().sum::<u64>() + self.unfinished
    }

    /// The share of values that are larger than so much, as far as there are any, at the edges of
    /// all bins that hold values. Flows that had not finished are larger than everything.
    pub fn larger(&self) -> Vec<(f64, f64)> {
        let total = self.count();
        let (mut above, mut last) = (total, None);
        let mut points = Vec::new();
        let share = |above: u64| above as f64 / total as f64;
        for (bin, count) in &self.bins {
            if last != Some(bin - 1) {
                points.push((edge(bin - 1), share(above)));
            }
            above -= count;
            if above > 0 {
                points.push((edge(*bin), share(above)));
            }
            last = Some(*bin);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_upper_edge() {
        for power in 0..12 {
            let value = libm::pow(10.0, f64::from(power));
            assert_eq!(bin(value), power * 100);
            assert_eq!(bin(value * (1.0 + 1e-12)), power * 100 + 1);
        }
        for at in -500..1_200 {
            assert_eq!((bin(edge(at)), bin(edge(at) * 1.001)), (at, at + 1));
        }
    }

    #[test]
    fn shares_are_exact_at_the_edges() {
        // 90 of 10, 9 of 1000 and one that never ends.
        let values: Vec<f64> = [vec![10.0; 90], vec![1_000.0; 9]].concat();
        let histogram = Histogram::of_sorted(&values, 1);
        assert_eq!(histogram.count(), 100);
        let points = histogram.larger();
        let near = |at: usize, value: f64, share: f64| {
            let (x, y) = points[at];
            assert!((x / value - 1.0).abs() < 1e-12 && (y - share).abs() < 1e-12, "{points:?}");
        };
        assert_eq!(points.len(), 4);
        near(0, libm::pow(10.0, 0.99), 1.0);
        near(1, 10.0, 0.1);
        near(2, libm::pow(10.0, 2.99), 0.1);
        near(3, 1_000.0, 0.01);
    }

    #[test]
    fn a_share_of_zero_is_not_drawn() {
        let points = Histogram::of_sorted(&[10.0], 0).larger();
        assert_eq!((points.len(), points[0].1), (1, 1.0));
        assert_eq!(Histogram::default().larger(), []);
    }

    #[test]
    fn many_values_take_little_and_add_up() {
        // A million values over five decades.
        let million: Vec<f64> = (1..=1_000_000).map(|at| f64::from(at) / 10.0).collect();
        let mut sum = Histogram::of_sorted(&million, 0);
        assert!(sum.bins.len() <= 601, "{}", sum.bins.len());
        let other = Histogram::of_sorted(&[0.5, 3e4], 2);
        sum.add(&other);
        assert_eq!(sum.count(), 1_000_004);
        // Of the million a hundredth is larger than 99 000, besides two that are larger than all.
        let points = sum.larger();
        let (at, share) = points.iter().copied().find(|(at, _)| *at >= 9.9e4).unwrap();
        let exact = libm::floor(1e6 - at * 10.0) + 2.0;
        assert!((share * 1_000_004.0 - exact).abs() <= 1.0, "{share} larger than {at}");
    }
}
