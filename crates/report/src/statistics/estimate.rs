//! A quantity over replications.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::domain::{Domain, Scale};
use super::{CONFIDENCE, are_equal, deviation, mean, student_t};

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoInterval {
    /// There is one replication.
    OneReplication,
    /// All replications have the same value, so that nothing is known of how it varies.
    AllEqual,
    /// An end of the interval would be infinite.
    TooVaried,
    /// It is zero on both sides in all replications but one.
    Seldom,
    /// It is zero in all replications of one side of the comparison, so that there is no ratio.
    NoRatio,
    /// It is a percentile that lies among flows that had not completed, so that only a bound is known.
    Bound,
    /// It is a percentile of fewer flows than it has parts: the 99.9th of fewer than 1,000.
    FewFlows {
        /// Flows that a replication must have.
        needed: u64,
        /// Flows of the replication that has fewest.
        least: u64,
    },
    /// It is an estimate of all rounds of a job from too few of them.
    FewRounds {
        /// Rounds after the warm-up that it needs.
        needed: u64,
        /// Rounds that were simulated after it.
        least: u64,
    },
    /// All simulated rounds of a job are the same, which does not prove that the others are.
    EqualRounds,
    /// Rounds of a job depend on each other for longer than were simulated.
    CorrelatedRounds,
    /// Rounds of a job become longer or shorter.
    Trend,
    /// What other traffic offers during a few rounds of a job does not stand for what it offers during the others.
    UnlikeRounds,
}

impl NoInterval {
    /// In two or three words, for a cell of a table.
    pub fn brief(&self) -> String {
        match self {
            Self::OneReplication => "one replication".to_owned(),
            Self::AllEqual => "all equal".to_owned(),
            Self::Seldom => "one replication".to_owned(),
            Self::NoRatio => "no ratio".to_owned(),
            Self::Bound => "a bound".to_owned(),
            Self::TooVaried => "too varied".to_owned(),
            Self::FewFlows { needed, .. } => {
                format!("needs {} flows", crate::words::count(*needed as f64))
            }
            Self::FewRounds { needed, .. } => format!("needs {needed} rounds"),
            Self::EqualRounds => "equal rounds".to_owned(),
            Self::CorrelatedRounds => "correlated".to_owned(),
            Self::Trend => "a trend".to_owned(),
            Self::UnlikeRounds => "unlike rounds".to_owned(),
        }
    }
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneReplication => f.write_str("one replication"),
            Self::AllEqual => f.write_str("the same in all replications"),
            Self::TooVaried => f.write_str("replications differ too much"),
            Self::Seldom => f.write_str("nonzero in one replication only"),
            Self::NoRatio => f.write_str("zero in all replications of one side"),
            Self::Bound => f.write_str("a bound, because flows had not completed"),
            Self::FewFlows { needed, least } => {
                write!(f, "needs at least {needed} flows in every replication; one has {least}")
            }
            Self::FewRounds { needed, least } => write!(
                f,
                "needs at least {needed} simulated rounds after the warm-up, and there are {least}: raise `sampling.rounds`"
            ),
            Self::EqualRounds => f.write_str(
                "the same in all simulated rounds, which does not prove that it is in the others: raise `sampling.rounds`",
            ),
            Self::CorrelatedRounds => f.write_str(
                "rounds depend on each other for longer than were simulated: raise `sampling.rounds`",
            ),
            Self::Trend => f.write_str(
                "simulated rounds become longer or shorter: raise `sampling.warmup_rounds`, or simulate all rounds",
            ),
            Self::UnlikeRounds => f.write_str(
                "what other traffic offers changes from round to round so that a few do not stand for the others: raise \
                 `sampling.rounds`, or `arrivals` if it ends before the job",
            ),
        }
    }
}

/// Why intervals are missing, each reason once, in a sentence; none if there is no reason.
pub fn refused(reasons: impl IntoIterator<Item = NoInterval>) -> Option<String> {
    let mut least: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
    let mut texts = std::collections::BTreeSet::new();
    for reason in reasons {
        match reason {
            NoInterval::FewFlows { needed, least: flows } => {
                let known = least.entry(needed).or_insert(flows);
                *known = flows.min(*known);
            }
            other => {
                texts.insert(other.to_string());
            }
        }
    }
    let few = least.into_iter().map(|(needed, least)| NoInterval::FewFlows { needed, least });
    let texts: Vec<String> = texts.into_iter().chain(few.map(|few| few.to_string())).collect();
    (!texts.is_empty()).then(|| format!("Without an interval: {}.", texts.join("; ")))
}

/// The mean of a metric over replications, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The arithmetic mean; none if no replication has the metric.
    pub mean: Option<f64>,
    /// The lower end of the 95 % interval, where there is one.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval, where there is one.
    pub high: Option<f64>,
    /// How many replications have the metric.
    pub n: u64,
    /// Why there is no interval; none if there is one, and of no replication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<NoInterval>,
}

impl Estimate {
    /// The mean of `values`, one of each replication, with its interval on their scale. Values that
    /// are not finite do not count.
    ///
    /// The interval is symmetric on the scale of the domain: on the logarithm of a number that is zero
    /// or more, on the logit of a share. Its half width is Student's t times the standard error of the
    /// mean, transformed by the delta method. For a logarithm that is `sqrt(c²/n + c⁴/(2(n - 1)))`
    /// with the coefficient of variation `c`; the second term is from the mean of a log-normal
    /// variable, with `c²` for the variance of its logarithm (Olsson, "Confidence intervals for the
    /// mean of a log-normal distribution", Journal of Statistics Education 13, 2005), and makes up for
    /// skewed values. A histogram bin widens the interval: the standard deviation is at least that of
    /// its rounding error, and the lower end is one bin lower, because values are upper edges.
    pub fn of(values: impl IntoIterator<Item = f64>, scale: Scale) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let n = values.len() as u64;
        if values.is_empty() {
            return Self { mean: None, low: None, high: None, n: 0, no_interval: None };
        }
        let center = mean(&values);
        match interval(&values, center, scale) {
            Ok((low, high)) => {
                Self { mean: Some(center), low: Some(low), high: Some(high), n, no_interval: None }
            }
            Err(why) => Self { mean: Some(center), ..Self::without_interval(n, why) },
        }
    }

    fn without_interval(n: u64, why: NoInterval) -> Self {
        Self { mean: None, low: None, high: None, n, no_interval: Some(why) }
    }

    /// The same of a single run, with the interval that this has by itself or the reason why it has none.
    pub fn of_one_run(self, interval: Result<[f64; 2], NoInterval>) -> Self {
        match interval {
            Ok([low, high]) => Self { low: Some(low), high: Some(high), no_interval: None, ..self },
            Err(why) => self.refuse(why),
        }
    }

    /// The same without its interval, for this reason.
    pub fn refuse(self, why: NoInterval) -> Self {
        Self { mean: self.mean, ..Self::without_interval(self.n, why) }
    }

    /// Both ends of the interval, where there is one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

fn interval(values: &[f64], center: f64, scale: Scale) -> Result<(f64, f64), NoInterval> {
    let n = values.len() as f64;
    let deviation = deviation(values).ok_or(NoInterval::OneReplication)?;
    if are_equal(values) && (scale.resolution == 0.0 || center == scale.domain.floor()) {
        return Err(NoInterval::AllEqual);
    }
    let t = student_t(values.len() as u64 - 1, CONFIDENCE);
    // A value is anywhere in its bin: the standard deviation of a uniform distribution.
    let rounding = center * scale.resolution / libm::sqrt(12.0);
    let deviation = deviation.max(rounding);
    let error = deviation / libm::sqrt(n);
    let (low, high) = match scale.domain {
        Domain::Real => (center - t * error, center + t * error),
        Domain::Share | Domain::Score => {
            let (floor, width) =
                (scale.domain.floor(), scale.domain.ceiling() - scale.domain.floor());
            let (center, error) = ((center - floor) / width, error / width);
            let logit = libm::log(center / (1.0 - center));
            let half = t * error / (center * (1.0 - center));
            let value = |logit: f64| floor + width / (1.0 + libm::exp(-logit));
            (value(logit - half), value(logit + half))
        }
        Domain::NonNegative | Domain::AtLeastOne => {
            let floor = scale.domain.floor();
            let above = center - floor;
            let squared = (deviation / above) * (deviation / above);
            let error = libm::sqrt(squared / n + squared * squared / (2.0 * (n - 1.0)));
            let factor = libm::exp(t * error);
            (floor + above / factor, floor + above * factor)
        }
    };
    let low = match scale.resolution {
        0.0 => low,
        bin => (low * (1.0 - bin)).max(scale.domain.floor()),
    };
    // Also false of a mean below the floor, of which there is no scale.
    let sound = low <= center && center <= high && low.is_finite() && high.is_finite();
    if sound { Ok((low, high)) } else { Err(NoInterval::TooVaried) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn a_difference_has_students_interval() {
        // Mean 3, s² = 2.5, t(4) = 2.7764: half = 2.7764 √(2.5 / 5) = 1.9632.
        let estimate = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0], Scale::REAL);
        assert_eq!((estimate.mean, estimate.n), (Some(3.0), 5));
        near(estimate.low.unwrap(), 3.0 - 1.9632, 1e-4);
        near(estimate.high.unwrap(), 3.0 + 1.9632, 1e-4);
    }

    #[test]
    fn a_time_has_an_interval_of_factors() {
        // Mean 2, s = 2: c² = 1, so the error is √(1/3 + 1/4) = 0.763763.
        let estimate = Estimate::of([0.0, 2.0, 4.0], Scale::NON_NEGATIVE);
        let factor = libm::exp(4.302_653 * 0.763_763);
        near(estimate.low.unwrap(), 2.0 / factor, 1e-6);
        near(estimate.high.unwrap(), 2.0 * factor, 1e-3);
        // A slowdown of 3 is 2 above its least value.
        let slowdown = Estimate::of([1.0, 3.0, 5.0], Scale::of_unit("x"));
        near(slowdown.low.unwrap(), 1.0 + 2.0 / factor, 1e-6);
        near(slowdown.high.unwrap(), 1.0 + 2.0 * factor, 1e-3);
    }

    #[test]
    fn a_share_has_an_interval_of_odds() {
        // Mean 0.2, s = 0.1: logit -1.3863, half = 4.3027 · 0.057735 / 0.16 = 1.5526.
        let of = Estimate::of([0.1, 0.2, 0.3], Scale::SHARE);
        near(of.low.unwrap(), 1.0 / (1.0 + libm::exp(1.386_294 + 1.552_588)), 1e-6);
        near(of.high.unwrap(), 1.0 / (1.0 + libm::exp(1.386_294 - 1.552_588)), 1e-6);
        // Scores from 1 to 4.5: the same, 3.5 times as wide, from 1 on.
        let score = Estimate::of([1.35, 1.7, 2.05], Scale::of_unit("MOS"));
        near(score.low.unwrap(), 1.0 + 3.5 * of.low.unwrap(), 1e-6);
        near(score.high.unwrap(), 1.0 + 3.5 * of.high.unwrap(), 1e-6);
    }

    #[test]
    fn an_interval_is_at_least_as_wide_as_the_bin() {
        // All in the bin from 390 to 400: s = 10 / √12 = 2.886751, c = 0.00721688, the error
        // √(c²/4 + c⁴/6) = 0.00360860; and the lower end is one bin lower.
        let scale = Scale { resolution: 0.025, ..Scale::NON_NEGATIVE };
        let of = Estimate::of([400.0; 4], scale);
        let factor = libm::exp(3.182_446 * 0.003_608_6);
        near(of.low.unwrap(), 390.0 / factor, 1e-3);
        near(of.high.unwrap(), 400.0 * factor, 1e-3);
    }

    #[test]
    fn an_end_is_a_number_in_the_domain() {
        // Rounding is no variation.
        let of = Estimate::of([0.1 + 0.2, 0.3], Scale::NON_NEGATIVE);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::AllEqual)));
        let of = Estimate::of([1e308, 1e300], Scale::NON_NEGATIVE);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::TooVaried)));
        // One bin below a slowdown that is hardly above 1 is 1.
        let scale = Scale { resolution: 0.1, ..Scale::of_unit("x") };
        assert_eq!(Estimate::of([1.05, 1.15], scale).low, Some(1.0));
        assert_eq!(Estimate::of([1.0, 1.0], scale).no_interval, Some(NoInterval::AllEqual));
    }

    #[test]
    fn without_an_interval_there_is_a_reason() {
        let one = Estimate::of([2.0, f64::NAN], Scale::NON_NEGATIVE);
        assert_eq!((one.mean, one.interval(), one.n), (Some(2.0), None, 1));
        assert_eq!(one.no_interval, Some(NoInterval::OneReplication));
        let same = Estimate::of([2.0, 2.0], Scale::NON_NEGATIVE);
        assert_eq!((same.interval(), same.no_interval), (None, Some(NoInterval::AllEqual)));
        assert_eq!(Estimate::of([0.0, 0.0], Scale::SHARE).no_interval, Some(NoInterval::AllEqual));
        assert_eq!(Estimate::of([f64::NAN], Scale::REAL).mean, None);
        let few = NoInterval::FewFlows { needed: 1_000, least: 214 };
        assert_eq!(few.to_string(), "needs at least 1000 flows in every replication; one has 214");
    }
}
