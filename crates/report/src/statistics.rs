//! Statistics: quantiles within a run, intervals across replications, and paired comparisons.
//!
//! Replication `r` of every variant carries the same traffic (common random numbers), so the
//! difference between two variants is taken within each replication first and averaged after.
//! What the traffic of a replication does to both variants alike cancels.

use serde::{Deserialize, Serialize};

/// The confidence that every interval has.
pub const CONFIDENCE: f64 = 0.95;

/// The arithmetic mean, NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The quantile `p` of values in ascending order: linear interpolation between the two nearest
/// order statistics, rank `p (n - 1)` counted from zero (type 7 of Hyndman and Fan 1996, the
/// default of NumPy, R and Julia). NaN of nothing.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let rank = p.clamp(0.0, 1.0) * last as f64;
    let below = rank as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

/// Student's t with `freedom` degrees of freedom: the `t` that a variable exceeds in magnitude
/// with probability `1 - confidence`.
///
/// The distribution function for whole degrees of freedom is a finite sum (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4); bisection inverts it to the last bits of a double.
pub fn student_t(freedom: u64, confidence: f64) -> f64 {
    assert!(freedom > 0, "Student's t needs at least one degree of freedom");
    assert!((0.0..1.0).contains(&confidence), "a confidence lies in [0, 1), not {confidence}");
    let mut high = 1.0;
    while within(high, freedom) < confidence {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability that Student's t lies in `[-t, t]`.
fn within(t: f64, freedom: u64) -> f64 {
    let angle = libm::atan(t / libm::sqrt(freedom as f64));
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2 == 1;
    // The terms of the sum: cos^1, cos^3, … for odd degrees, cos^0, cos^2, … for even ones.
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    if odd { (angle + sine * sum) / std::f64::consts::FRAC_PI_2 } else { sine * sum }
}

/// The mean of a metric over replications, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The arithmetic mean; none if no replication has the metric.
    pub mean: Option<f64>,
    /// The lower end of the 95 % interval; none of fewer than two replications.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval; none of fewer than two replications.
    pub high: Option<f64>,
    /// How many replications have the metric.
    pub n: u64,
}

impl Estimate {
    /// The mean of `values` with Student's t interval. Values that are not finite do not count.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        if values.is_empty() {
            return Self { mean: None, low: None, high: None, n: 0 };
        }
        let mean = mean(&values);
        let half = half_width(&values, mean);
        Self {
            mean: Some(mean),
            low: half.map(|half| mean - half),
            high: half.map(|half| mean + half),
            n: values.len() as u64,
        }
    }

    /// Both ends of the interval, where there is one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Half the interval in words, `± 0.9`, to stand beside the mean; empty without an interval.
    pub fn spread(&self, unit: &str) -> String {
        let of =
            |mean, (low, high): (f64, f64)| crate::words::spread(mean, (high - low) / 2.0, unit);
        self.mean.zip(self.interval()).map_or_else(String::new, |(mean, ends)| of(mean, ends))
    }
}

/// Half the width of Student's t interval for the mean; none of fewer than two values.
fn half_width(values: &[f64], mean: f64) -> Option<f64> {
    let freedom = (values.len() as u64).checked_sub(1).filter(|freedom| *freedom > 0)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = libm::sqrt(squares / freedom as f64 / values.len() as f64);
    Some(student_t(freedom, CONFIDENCE) * error)
}

/// What a metric does from the baseline to another variant, paired by replication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// All values are above zero: the geometric mean of the ratios, as a change in percent, with
    /// Student's t interval on the logarithms.
    Ratio {
        /// The change in percent: -50 is half.
        percent: f64,
        /// The lower end of the 95 % interval; none of one replication.
        low: Option<f64>,
        /// The upper end of the 95 % interval; none of one replication.
        high: Option<f64>,
        /// How many replications are paired.
        n: u64,
    },
    /// A value is zero (or negative), so that ratios do not exist: the difference of the means, in
    /// the metric's own unit.
    Difference {
        /// The baseline's mean.
        from: f64,
        /// The variant's mean.
        to: f64,
        /// The lower end of the 95 % interval of the paired difference; none of one replication.
        low: Option<f64>,
        /// The upper end of the 95 % interval of the paired difference; none of one replication.
        high: Option<f64>,
        /// How many replications are paired.
        n: u64,
    },
}

impl Change {
    /// The change over pairs of (baseline, variant), one per replication. A pair in which a value
    /// is not finite does not count; none of no pairs.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let pairs: Vec<(f64, f64)> =
            pairs.into_iter().filter(|(from, to)| from.is_finite() && to.is_finite()).collect();
        let n = pairs.len() as u64;
        if n == 0 {
            return None;
        }
        if pairs.iter().all(|(from, to)| *from > 0.0 && *to > 0.0) {
            let logs: Vec<f64> = pairs.iter().map(|(from, to)| libm::log(to / from)).collect();
            let mean = mean(&logs);
            let half = half_width(&logs, mean);
            let percent = |log: f64| libm::expm1(log) * 100.0;
            return Some(Self::Ratio {
                percent: percent(mean),
                low: half.map(|half| percent(mean - half)),
                high: half.map(|half| percent(mean + half)),
                n,
            });
        }
        let differences: Vec<f64> = pairs.iter().map(|(from, to)| to - from).collect();
        let difference = mean(&differences);
        let half = half_width(&differences, difference);
        Some(Self::Difference {
            from: pairs.iter().map(|pair| pair.0).sum::<f64>() / n as f64,
            to: pairs.iter().map(|pair| pair.1).sum::<f64>() / n as f64,
            low: half.map(|half| difference - half),
            high: half.map(|half| difference + half),
            n,
        })
    }

    /// The change in percent, where the baseline is above zero.
    pub fn percent(&self) -> Option<f64> {
        match *self {
            Self::Ratio { percent, .. } => Some(percent),
            Self::Difference { from, to, .. } if from > 0.0 => Some((to - from) / from * 100.0),
            Self::Difference { .. } => None,
        }
    }

    /// Both ends of the interval: in percent of a ratio, in the metric's unit of a difference.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Ratio { low, high, .. } | Self::Difference { low, high, .. } => low.zip(high),
        }
    }

    /// Both ends of the interval of [`Self::percent`]; none of a difference, whose interval is in the
    /// metric's unit.
    pub fn percent_interval(&self) -> Option<(f64, f64)> {
        self.interval().filter(|_| matches!(self, Self::Ratio { .. }))
    }

    /// How many replications are paired.
    pub fn n(&self) -> u64 {
        match *self {
            Self::Ratio { n, .. } | Self::Difference { n, .. } => n,
        }
    }

    /// Whether the interval leaves no room for "no change"; none without an interval.
    pub fn is_clear(&self) -> Option<bool> {
        self.interval().map(|(low, high)| low > 0.0 || high < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn student_t_is_that_of_published_tables() {
        // Two-sided, NIST/SEMATECH e-Handbook 1.3.6.7.2 and Abramowitz and Stegun table 26.10.
        for (freedom, confidence, t) in [
            (1, 0.95, 12.706),
            (2, 0.95, 4.303),
            (3, 0.95, 3.182),
            (4, 0.95, 2.776),
            (5, 0.95, 2.571),
            (9, 0.95, 2.262),
            (10, 0.95, 2.228),
            (29, 0.95, 2.045),
            (30, 0.95, 2.042),
            (100, 0.95, 1.984),
            (1, 0.90, 6.314),
            (4, 0.99, 4.604),
            (10, 0.99, 3.169),
            (3, 0.998, 10.215),
        ] {
            near(student_t(freedom, confidence), t, 0.0006);
        }
        near(student_t(100_000, 0.95), 1.95998, 1e-4);
        near(student_t(7, 0.0), 0.0, 1e-12);
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 2.5);
        assert_eq!(quantile(&values, 0.9), 3.7);
        assert_eq!(quantile(&values, 1.0), 4.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn an_estimate_has_students_interval() {
        // Mean 3, s² = 2.5, t(4) = 2.7764: half = 2.7764 √(2.5 / 5) = 1.9632.
        let estimate = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((estimate.mean, estimate.n), (Some(3.0), 5));
        near(estimate.low.unwrap(), 3.0 - 1.9632, 1e-4);
        near(estimate.high.unwrap(), 3.0 + 1.9632, 1e-4);
    }

    #[test]
    fn one_replication_has_no_interval_and_none_has_no_mean() {
        let one = Estimate::of([2.0, f64::NAN]);
        assert_eq!(one, Estimate { mean: Some(2.0), low: None, high: None, n: 1 });
        assert_eq!(Estimate::of([f64::NAN]).mean, None);
        let change = Change::of([(4.0, 1.0)]).unwrap();
        assert_eq!((change.percent(), change.interval(), change.n()), (Some(-75.0), None, 1));
        assert_eq!(change.is_clear(), None);
    }

    #[test]
    fn ratios_average_geometrically() {
        // Half and double cancel.
        let change = Change::of([(2.0, 1.0), (1.0, 2.0)]).unwrap();
        near(change.percent().unwrap(), 0.0, 1e-12);
        assert_eq!(change.is_clear(), Some(false));
        // The interval is symmetric in the logarithm: ln 0.5 ± t(2) s / √3.
        let change = Change::of([(1.0, 0.4), (1.0, 0.5), (1.0, 0.625)]).unwrap();
        near(change.percent().unwrap(), -50.0, 1e-12);
        let half = 4.302_65 * libm::log(1.25) / libm::sqrt(3.0);
        let (low, high) = change.interval().unwrap();
        near(low, (0.5 * libm::exp(-half) - 1.0) * 100.0, 1e-3);
        near(high, (0.5 * libm::exp(half) - 1.0) * 100.0, 1e-3);
        assert_eq!(change.is_clear(), Some(true));
    }

    #[test]
    fn a_zero_makes_it_a_difference() {
        let change = Change::of([(0.0, 3.0), (0.0, 5.0)]).unwrap();
        let Change::Difference { from, to, low, high, n } = change else { panic!("{change:?}") };
        assert_eq!((from, to, n), (0.0, 4.0, 2));
        near(low.unwrap(), 4.0 - 12.706, 1e-3);
        near(high.unwrap(), 4.0 + 12.706, 1e-3);
        assert_eq!(change.percent(), None, "from zero there is no percentage");
        let gone = Change::of([(10.0, 0.0), (30.0, 0.0)]).unwrap();
        assert_eq!(gone.percent(), Some(-100.0));
        assert_eq!(Change::of([(0.0, 0.0)]).unwrap().percent(), None);
    }

    #[test]
    fn pairs_that_lack_a_side_do_not_count() {
        let change = Change::of([(f64::NAN, 1.0), (2.0, 1.0), (1.0, f64::INFINITY)]).unwrap();
        assert_eq!((change.percent(), change.n()), (Some(-50.0), 1));
        assert_eq!(Change::of([(f64::NAN, 1.0)]), None);
    }
}
