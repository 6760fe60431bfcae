//! Distributions: values, and how many each of them stands for.

use crate::histogram;

/// How many different values are kept of a run. More are kept in bins of 2.3 %, so that any number of flows takes bounded
/// memory.
const KEPT: usize = 4_096;
/// How many are drawn: twice the pixels of a chart, or so.
const DRAWN: usize = 1_000;
/// What is too large to be known: the edge of a last bin.
const UNKNOWN: f64 = u64::MAX as f64;

/// A distribution. Those of several runs add up to that of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Values in ascending order, and how many there are of each. Infinite: larger than all that are known.
    values: Vec<(f64, f64)>,
}

impl Distribution {
    /// Of rows with a value and how many it stands for. Empty values are left out.
    pub fn of(rows: &[[f64; 3]]) -> Self {
        let known = rows.iter().filter(|[value, number, _]| !value.is_nan() && *number > 0.0);
        let known = known.map(|[value, number, _]| match *value >= UNKNOWN {
            true => (f64::INFINITY, *number),
            false => (*value, *number),
        });
        Self::merged(known.collect()).within(KEPT)
    }

    /// Its rows.
    pub fn rows(&self) -> Vec<[f64; 3]> {
        self.values.iter().map(|(value, number)| [*value, *number, f64::NAN]).collect()
    }

    /// Equal values as one.
    fn merged(mut values: Vec<(f64, f64)>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        Self { values }
    }

    /// In bins if it has more than so many values.
    fn within(self, most: usize) -> Self {
        if self.values.len() <= most {
            return self;
        }
        let binned = self.values.iter().map(|(value, number)| match *value {
            value if value > 0.0 && value.is_finite() => (histogram::rounded_up(value), *number),
            value => (value, *number),
        });
        Self::merged(binned.collect())
    }

    /// The share of values that are larger than so much, at each value that there is.
    pub fn larger(&self) -> Vec<(f64, f64)> {
        let of = self.clone().within(DRAWN);
        let total: f64 = of.values.iter().map(|(_, number)| number).sum();
        let mut above = total;
        let mut points = Vec::new();
        for (value, number) in &of.values {
            above -= number;
            // The largest is exceeded by none, and what is unknown has no place.
            if value.is_finite() && above > 1e-9 * total {
                points.push((*value, above / total));
            }
        }
        points
    }

    /// The share of values in each of this many bins of the same width up to a value, from the first that holds any to the
    /// last, as steps. A step begins at the lower edge of a bin, which it does not hold, and lasts until the next; the
    /// last goes down to zero. What is larger is in no bin, so that shares need not add up to 1.
    pub fn shares(&self, bins: usize, up_to: f64) -> Vec<(f64, f64)> {
        let width = up_to / bins as f64;
        let mut held = vec![0.0; bins];
        for (value, number) in &self.values {
            // Zero is in the first.
            let bin = libm::ceil(value / width - 1e-9).max(1.0);
            if bin <= bins as f64 {
                held[bin as usize - 1] += number;
            }
        }
        let Some(first) = held.iter().position(|number| *number > 0.0) else { return Vec::new() };
        let last = held.iter().rposition(|number| *number > 0.0).unwrap_or(first);
        let total: f64 = self.values.iter().map(|(_, number)| number).sum();
        let at = |bin: usize| (bin as f64 * width, held[bin] / total);
        let mut steps = vec![(first as f64 * width, 0.0)];
        steps.extend((first..=last).map(at));
        steps.push(((last + 1) as f64 * width, 0.0));
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(f64, f64)]) -> Distribution {
        let rows: Vec<[f64; 3]> = rows.iter().map(|(a, b)| [*a, *b, f64::NAN]).collect();
        Distribution::of(&rows)
    }

    #[test]
    fn shares_above_are_exact_at_each_value() {
        let queue = of(&[(0.0, 90.0), (2e3, 3.0), (1e3, 4.0), (1e3, 2.0), (UNKNOWN, 1.0)]);
        assert_eq!(queue.larger(), [(0.0, 0.1), (1e3, 0.04), (2e3, 0.01)]);
        assert_eq!(of(&[(f64::NAN, 1.0), (5.0, 0.0)]), Distribution::default());
        // None is larger than the largest.
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0)]).larger(), [(1.0, 0.5)]);
    }

    #[test]
    fn many_values_are_kept_in_bins() {
        let times: Vec<[f64; 3]> = (1..=100_000).map(|at| [f64::from(at), 1.0, f64::NAN]).collect();
        let times = Distribution::of(&times);
        assert!(times.values.len() < KEPT);
        // At the edge 10^4 of a bin the share is exact.
        let at = times.larger().into_iter().find(|point| point.0 >= 9_999.0).unwrap();
        assert!((at.0 - 1e4).abs() < 1e-6 && (at.1 - 0.9).abs() < 1e-12, "{at:?}");
    }

    #[test]
    fn bins_of_the_same_width_hold_their_upper_edge() {
        let queue = of(&[(1.0, 2.0), (5.0, 3.0), (6.0, 4.0), (99.0, 1.0)]);
        // Up to 5, and above 5 up to 10; 99 lies beyond.
        assert_eq!(queue.shares(4, 20.0), [(0.0, 0.0), (0.0, 0.5), (5.0, 0.4), (10.0, 0.0)]);
        assert!(Distribution::default().shares(4, 20.0).is_empty());
    }
}
