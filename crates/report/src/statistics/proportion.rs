//! How often something happens: a share of replications, and a frequency per unit of time or of something else.

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::{CONFIDENCE, deviation, mean, student_t};

/// The share of independent trials in which something happened, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proportion {
    /// Trials in which it happened.
    pub count: u64,
    /// All trials.
    pub of: u64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Proportion {
    /// The exact interval of Clopper and Pearson ("The use of confidence or fiducial limits", Biometrika 26,
    /// 1934), which contains the true share with at least 95 % whatever it is. If it happened never or always, only
    /// one end can be missed, and all of the 5 % are there: with none of n the upper end is 1 - 0.05^(1/n),
    /// which is nearly 3/n, the rule of three.
    ///
    /// Panics if `count` is above `of`, or `of` is zero.
    pub fn of(count: u64, of: u64) -> Self {
        assert!(count <= of && of > 0, "{count} of {of} trials");
        let miss = 1.0 - CONFIDENCE;
        let side = if count == 0 || count == of { miss } else { miss / 2.0 };
        let end = |a: u64, b: u64, p: f64| quantile_of_beta(a as f64, b as f64, p);
        let low = if count == 0 { 0.0 } else { end(count, of - count + 1, side) };
        let high = if count == of { 1.0 } else { end(count + 1, of - count, 1.0 - side) };
        Self { count, of, low, high }
    }

    /// The share of the trials.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.of as f64
    }
}

/// By bisection: the distribution function is accurate to 1e-14, and 60 halvings are beyond that.
fn quantile_of_beta(a: f64, b: f64, p: f64) -> f64 {
    let Ok(beta) = Beta::new(a, b) else { return f64::NAN };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if beta.cdf(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Events per unit over independent replications, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quotient {
    /// Events in all replications, divided by all units; none without units.
    pub value: Option<f64>,
    /// The lower end of the 95 % interval, where there is one.
    pub low: Option<f64>,
    /// The upper end, where there is one.
    pub high: Option<f64>,
}

impl Quotient {
    /// Of the events and the units of each replication. Replications are independent, events within one need not
    /// be: the interval is that of a ratio estimator, Student's t times the standard deviation of `events - value units`
    /// over the mean of the units (Cochran, "Sampling techniques", 1977, section 6.4), not below zero. Without an event it
    /// is up to `-ln 0.05` over all units, the rule of three.
    pub fn of(replications: &[(f64, f64)]) -> Self {
        let sum = |of: fn(&(f64, f64)) -> f64| replications.iter().map(of).sum::<f64>();
        let (events, units) = (sum(|one| one.0), sum(|one| one.1));
        if units <= 0.0 {
            return Self { value: None, low: None, high: None };
        }
        let value = events / units;
        let interval = if events == 0.0 {
            Some((0.0, -libm::log(1.0 - CONFIDENCE) / units))
        } else {
            let rests: Vec<f64> =
                replications.iter().map(|(events, units)| events - value * units).collect();
            let all: Vec<f64> = replications.iter().map(|one| one.1).collect();
            deviation(&rests).map(|deviation| {
                let n = rests.len() as f64;
                let t = student_t(rests.len() as u64 - 1, CONFIDENCE);
                let half = t * deviation / (libm::sqrt(n) * mean(&all));
                ((value - half).max(0.0), value + half)
            })
        };
        Self { value: Some(value), low: interval.map(|of| of.0), high: interval.map(|of| of.1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_shares_are_those_of_published_tables() {
        // Clopper and Pearson for 10 and 30 trials, as in tables of exact binomial limits.
        for (count, of, low, high) in
            [(1, 10, 0.0025, 0.4450), (4, 20, 0.0573, 0.4366), (5, 30, 0.0564, 0.3472)]
        {
            let share = Proportion::of(count, of);
            assert!(
                (share.low - low).abs() < 5e-5 && (share.high - high).abs() < 5e-5,
                "{share:?}"
            );
            let rest = Proportion::of(of - count, of);
            assert!((1.0 - rest.low - share.high).abs() < 1e-12, "{rest:?}");
        }
    }

    #[test]
    fn none_of_many_is_the_rule_of_three() {
        // 1 - 0.05^(1/100) = 2.951 %, and 3/100.
        let none = Proportion::of(0, 100);
        assert!((none.high - 0.029_513).abs() < 1e-6 && none.low == 0.0, "{none:?}");
        let all = Proportion::of(100, 100);
        assert!((all.low - 0.970_487).abs() < 1e-6 && all.high == 1.0, "{all:?}");
    }

    #[test]
    fn a_quotient_by_hand() {
        // 2, 4 and 6 events in 10 units each: 0.4, rests of -2, 0 and 2 with a deviation of 2, and
        // t(2) = 4.3027: 4.3027 * 2 / (sqrt(3) * 10) = 0.49683.
        let of = Quotient::of(&[(2.0, 10.0), (4.0, 10.0), (6.0, 10.0)]);
        assert_eq!((of.value, of.low), (Some(0.4), Some(0.0)));
        assert!((of.high.unwrap() - 0.896_83).abs() < 1e-4, "{of:?}");
        // Events that go with the units vary not at all.
        let of = Quotient::of(&[(2.0, 10.0), (4.0, 20.0)]);
        assert_eq!((of.low, of.high), (of.value, of.value));
        // -ln 0.05 = 2.9957 over 30 units.
        let none = Quotient::of(&[(0.0, 10.0), (0.0, 20.0)]);
        assert!((none.high.unwrap() - 2.9957 / 30.0).abs() < 1e-5, "{none:?}");
        let one = Quotient::of(&[(1.0, 10.0)]);
        assert_eq!((one.value, one.low), (Some(0.1), None));
        assert_eq!(Quotient::of(&[(0.0, 0.0)]).value, None);
    }
}
