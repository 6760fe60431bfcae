//! Statistics: quantiles within a run, intervals across replications, and paired comparisons.
//!
//! Replication `r` of every variant and of every point of a sweep carries the same traffic (common
//! random numbers), so two of them are compared within each replication first and averaged after.
//! What the traffic of a replication does to both alike cancels.
//!
//! Every interval is formed on the scale of its quantity ([`Domain`]), so that it never contains a
//! value that the quantity cannot take. `docs/statistics.md` states the methods, their references,
//! and how often their intervals contain the true value.

mod change;
mod domain;
mod estimate;
mod holm;
mod proportion;
mod sampled;

pub use change::{Change, Kind, Points};
pub use domain::{Domain, Scale};
pub use estimate::{Estimate, NoInterval, refused};
pub use holm::holm;
pub use proportion::{Proportion, Quotient};
pub use sampled::{Critical, Predicted, Rounds};

use statrs::distribution::{ContinuousCDF, StudentsT};

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
    let (below, above, part) = ranks(last, p);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

/// The ranks, counted from zero, between which the quantile `p` of values up to rank `last` lies,
/// and how far it is from the first to the second.
pub fn ranks(last: usize, p: f64) -> (usize, usize, f64) {
    let rank = p.clamp(0.0, 1.0) * last as f64;
    let below = rank as usize;
    (below, (below + 1).min(last), rank - below as f64)
}

/// How many values a sample must have for its quantile `p` to lie within it: `1 / (1 - p)`, 100 for
/// the 99th percentile. With fewer, the quantile is the largest value by another name.
pub fn least_values(p: f64) -> u64 {
    libm::round(1.0 / (1.0 - p)) as u64
}

/// The `t` that a variable of Student's distribution with `freedom` degrees of freedom exceeds in
/// magnitude with probability `1 - confidence`.
pub fn student_t(freedom: u64, confidence: f64) -> f64 {
    assert!((0.0..1.0).contains(&confidence), "a confidence lies in [0, 1), not {confidence}");
    students_t(freedom).inverse_cdf(0.5 + confidence / 2.0)
}

/// The probability that a variable of Student's distribution exceeds `t` in magnitude.
fn student_p(freedom: u64, t: f64) -> f64 {
    2.0 * students_t(freedom).sf(t.abs())
}

fn students_t(freedom: u64) -> StudentsT {
    assert!(freedom > 0, "Student's t needs at least one degree of freedom");
    StudentsT::new(0.0, 1.0, freedom as f64).expect("degrees of freedom are above zero")
}

/// The standard deviation of a sample; none of fewer than two values.
fn deviation(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some(libm::sqrt(squares / freedom as f64))
}

/// Whether all values are the same but for rounding in the last digits of a double.
fn are_equal(values: &[f64]) -> bool {
    let near = |value: &f64| (value - values[0]).abs() <= 1e-12 * values[0].abs();
    values.iter().all(near)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!((student_t(freedom, confidence) - t).abs() < 0.0006, "{freedom} {confidence}");
            assert!((student_p(freedom, t) - (1.0 - confidence)).abs() < 1e-4);
        }
        assert!((student_t(100_000, 0.95) - 1.95998).abs() < 1e-4);
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
    fn a_percentile_needs_as_many_flows_as_it_has_parts() {
        assert_eq!([0.5, 0.95, 0.99, 0.999].map(least_values), [2, 20, 100, 1_000]);
    }
}
