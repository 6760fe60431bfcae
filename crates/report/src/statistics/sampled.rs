//! Estimates of all rounds of a job from its first ones.
//!
//! The first rounds are those of the run of all rounds, so what is estimated is a number of a run, not the mean of a
//! distribution: the sum of what was simulated, and a prediction of the rest. The interval is one for such a prediction
//! (Hahn and Meeker, *Statistical Intervals*, Wiley, 1991, section 4.7): of the mean of `M` further values from `n`, with
//! the standard error `s √(1/n + 1/M)` and Student's t, on the scale of logarithms as for other times.
//!
//! Two things make such an interval too narrow, and both are measured:
//!
//! - **Rounds that are not independent.** With at least [`LEAST_CORRELATED`] rounds the variance is multiplied by
//!   `(1 + r)/(1 - r)`, with their autocorrelation `r` at lag 1 (of an AR(1) process; Law, section 4.4), corrected for its
//!   bias (Marriott and Pope, Biometrika 41, 1954), and Student's t has as many degrees of freedom less.
//! - **Other traffic that is not the same in all rounds.** What it offers in every round is known before the run. For each
//!   `n` consecutive rounds of this series the same interval is computed, and [`Critical`] is what must be in the
//!   place of Student's t for 95 % of these to contain the mean of the others. Bursts, slow changes and an end of the
//!   traffic make it larger (calibration, after Loh, "Calibrating confidence coefficients", JASA 82, 1987).

use super::{CONFIDENCE, NoInterval, deviation, mean, quantile, student_t};

/// Rounds from which on their autocorrelation is estimated.
pub const LEAST_CORRELATED: usize = 8;

/// Rounds from which on they are tested for a trend.
pub const LEAST_TREND: usize = 6;

/// How many times Student's t the factor of an interval may be. Beyond it, rounds do not stand for each other.
const MOST_CRITICAL: f64 = 5.0;

/// Deviations from no trend beyond which there is one: a normal variable exceeds them in 1 % of cases.
const TREND: f64 = 2.576;

/// What takes the place of Student's t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Critical(Result<f64, NoInterval>);

impl Critical {
    /// For `n` rounds after `before` others, beside traffic that offers so many bytes in each round of the whole job;
    /// without such traffic it is Student's t.
    pub fn of(loads: &[f64], (before, n): (usize, usize)) -> Self {
        let student = student_t(n.max(2) as u64 - 1, CONFIDENCE);
        let loads = loads.get(before..).unwrap_or_default();
        let sum: f64 = loads.iter().sum();
        if sum == 0.0 || loads.len() <= n || n < 2 {
            return Self(Ok(student));
        }
        let rest = (loads.len() - n) as f64;
        let error = libm::sqrt(1.0 / n as f64 + 1.0 / rest);
        let ratio = |window: &[f64]| {
            let own: f64 = window.iter().sum();
            let miss = (own / n as f64 - (sum - own) / rest).abs();
            // Of loads that are all the same but for rounding none misses.
            if miss <= 1e-9 * sum { 0.0 } else { miss / (deviation(window).unwrap_or(0.0) * error) }
        };
        let mut ratios: Vec<f64> = loads.windows(n).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        // An order statistic, so that one that is infinite remains so.
        let at = libm::ceil(CONFIDENCE * ratios.len() as f64) as usize;
        let calibrated = ratios[at.clamp(1, ratios.len()) - 1];
        match calibrated <= MOST_CRITICAL * student {
            true => Self(Ok(calibrated.max(student))),
            false => Self(Err(NoInterval::UnlikeRounds)),
        }
    }

    /// Whether it is much more than Student's t.
    fn is_raised(self, n: usize) -> bool {
        self.0.is_ok_and(|critical| critical > 2.0 * student_t(n.max(2) as u64 - 1, CONFIDENCE))
    }
}

/// Values of the first rounds of a job.
#[derive(Clone, Copy, Debug)]
pub struct Rounds<'a> {
    /// Of the warm-up, whose rounds stand for no others.
    pub before: &'a [f64],
    /// Of the simulated rounds after it.
    pub steady: &'a [f64],
    /// Rounds of the whole job.
    pub of: usize,
    /// What takes the place of Student's t.
    pub critical: Critical,
}

/// A number of a whole job, with its interval or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// The estimate.
    pub value: f64,
    /// The ends of the 95 % interval; both are the value if nothing is left to be estimated.
    pub interval: Result<[f64; 2], NoInterval>,
}

impl Predicted {
    /// What is known.
    fn exact(value: f64) -> Self {
        Self { value, interval: Ok([value; 2]) }
    }
}

impl Rounds<'_> {
    /// Rounds that are not simulated.
    fn rest(&self) -> usize {
        self.of.saturating_sub(self.before.len() + self.steady.len())
    }

    /// The mean over all rounds; `None` without a round after the warm-up, unless all are simulated.
    pub fn mean(&self) -> Option<Predicted> {
        let known: f64 = self.before.iter().chain(self.steady).sum();
        let (rest, of) = (self.rest(), self.of as f64);
        if rest == 0 {
            return Some(Predicted::exact(known / of));
        }
        if self.steady.is_empty() {
            return None;
        }
        let center = mean(self.steady);
        let whole = |of_rest: f64| (known + rest as f64 * of_rest) / of;
        let factor = self.factor(center, deviation(self.steady));
        Some(Predicted {
            value: whole(center),
            interval: factor.map(|factor| [whole(center / factor), whole(center * factor)]),
        })
    }

    /// The ratio of the sum of these values to that of others, round by round.
    pub fn ratio(&self, below: &Rounds<'_>) -> Option<Predicted> {
        let sum = |of: &Rounds<'_>| of.before.iter().chain(of.steady).sum::<f64>();
        if self.rest() == 0 {
            return Some(Predicted::exact(sum(self) / sum(below)));
        }
        let (above, under) = (mean(self.steady), mean(below.steady));
        if self.steady.is_empty() || under.is_nan() || under <= 0.0 {
            return None;
        }
        let ratio = above / under;
        let residuals: Vec<f64> = self
            .steady
            .iter()
            .zip(below.steady)
            .map(|(above, under)| above - ratio * under)
            .collect();
        // Of the ratio (Cochran, Sampling Techniques, 3rd edition, 1977, section 6.4).
        let deviation = deviation(&residuals).map(|deviation| deviation / under);
        let factor = self.factor(ratio, deviation);
        Some(Predicted {
            value: ratio,
            interval: factor.map(|factor| [ratio / factor, ratio * factor]),
        })
    }

    /// The quantile `p` of the rounds: the interval is between two order statistics (Hahn and Meeker, section 5.2).
    pub fn quantile(&self, p: f64) -> Option<Predicted> {
        if self.rest() == 0 {
            let mut all: Vec<f64> = self.before.iter().chain(self.steady).copied().collect();
            all.sort_by(f64::total_cmp);
            return Some(Predicted::exact(quantile(&all, p)));
        }
        let mut sorted = self.steady.to_vec();
        sorted.sort_by(f64::total_cmp);
        let value = quantile(&sorted, p);
        let n = sorted.len();
        let interval = match ends(n, p) {
            _ if n == 0 => return None,
            _ if self.is_equal() => Err(NoInterval::EqualRounds),
            _ if self.trend() => Err(NoInterval::Trend),
            _ if self.critical.0.is_err() => Err(NoInterval::UnlikeRounds),
            _ if self.critical.is_raised(n) || inflation(self.steady) > 2.0 => {
                Err(NoInterval::CorrelatedRounds)
            }
            Some((low, high)) => Ok([sorted[low], sorted[high]]),
            None => Err(NoInterval::FewRounds {
                needed: (1..).find(|&n| ends(n, p).is_some()).unwrap_or(0) as u64,
                least: n as u64,
            }),
        };
        Some(Predicted { value, interval })
    }

    fn is_equal(&self) -> bool {
        super::are_equal(self.steady)
    }

    /// What both ends of the interval of the mean of the other rounds differ by from `center`, which has this standard
    /// deviation from round to round.
    fn factor(&self, center: f64, deviation: Option<f64>) -> Result<f64, NoInterval> {
        let n = self.steady.len() as f64;
        let least = |needed| NoInterval::FewRounds { needed, least: self.steady.len() as u64 };
        let deviation = deviation.ok_or(least(2))?;
        if self.is_equal() || deviation <= 1e-12 * center.abs() {
            return Err(NoInterval::EqualRounds);
        }
        let critical = self.critical.0?;
        if self.trend() {
            return Err(NoInterval::Trend);
        }
        let inflation = inflation(self.steady);
        if inflation > n / 4.0 && inflation > 1.0 {
            return Err(NoInterval::CorrelatedRounds);
        }
        // As many degrees of freedom as so many independent values would have.
        let freedom = ((n / inflation) as u64).saturating_sub(1).max(1);
        let critical = critical.max(student_t(freedom, CONFIDENCE));
        // A mean of correlated values varies more, and their deviation is smaller than that of the process.
        let squared = (deviation / center) * (deviation / center) * (n - 1.0) / (n - inflation);
        let of_means = inflation * (1.0 / n + 1.0 / self.rest() as f64);
        let skewed = squared * squared / (2.0 * (n - 1.0));
        let factor = libm::exp(critical * libm::sqrt(squared * of_means + skewed));
        if factor.is_finite() { Ok(factor) } else { Err(NoInterval::TooVaried) }
    }

    /// Whether rounds become longer or shorter (Mann 1945, with the variance of Hamed and Rao 1998 for correlated values).
    fn trend(&self) -> bool {
        let n = self.steady.len();
        if n < LEAST_TREND {
            return false;
        }
        let sign = |from: f64, to: f64| i64::from(to > from) - i64::from(to < from);
        let pairs = self.steady.iter().enumerate();
        let sum: i64 = pairs
            .map(|(at, from)| self.steady[at + 1..].iter().map(|to| sign(*from, *to)).sum::<i64>())
            .sum();
        let n = n as f64;
        let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * inflation(self.steady);
        (sum.abs() as f64 - 1.0) / libm::sqrt(variance) > TREND
    }
}

/// How many times as large the variance of the mean of these values is as that of independent ones, at least 1; 1 of few.
fn inflation(values: &[f64]) -> f64 {
    let n = values.len();
    if n < LEAST_CORRELATED {
        return 1.0;
    }
    let center = mean(values);
    let product = |(a, b): (&f64, &f64)| (a - center) * (b - center);
    let variance: f64 = values.iter().zip(values).map(product).sum();
    if variance == 0.0 {
        return 1.0;
    }
    let lagged: f64 = values.iter().zip(&values[1..]).map(product).sum();
    let n = n as f64;
    let corrected = (n * lagged / variance + 1.0) / (n - 3.0);
    let correlation = corrected.clamp(0.0, 0.95);
    (1.0 + correlation) / (1.0 - correlation)
}

/// The order statistics of `n` values, counted from 0, between which the quantile `p` of their distribution lies with
/// a probability of at least 95 %, at least 97.5 % on each side; `None` if there are too few.
fn ends(n: usize, p: f64) -> Option<(usize, usize)> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // By count: the probability that so many values are below the quantile.
    let mut probabilities = vec![0.0; n + 1];
    probabilities[0] = libm::pow(1.0 - p, n as f64);
    for below in 0..n {
        let odds = (n - below) as f64 / (below + 1) as f64 * p / (1.0 - p);
        probabilities[below + 1] = probabilities[below] * odds;
    }
    // The smallest value is above the quantile if none is below.
    let mut sum = 0.0;
    let low = probabilities.iter().take_while(|of| {
        sum += **of;
        sum <= tail
    });
    let low = low.count().checked_sub(1)?;
    let mut sum = 0.0;
    let high = probabilities.iter().rev().take_while(|of| {
        sum += **of;
        sum <= tail
    });
    let high = n.checked_sub(high.count())?;
    (high < n && low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's t of three rounds.
    fn student() -> Critical {
        Critical(Ok(student_t(2, 0.95)))
    }

    fn rounds<'a>(before: &'a [f64], steady: &'a [f64], of: usize) -> Rounds<'a> {
        Rounds { before, steady, of, critical: Critical::of(&[], (before.len(), steady.len())) }
    }

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn a_prediction_by_hand() {
        // After a round of 14, three of 9, 10 and 11 stand for 96 more: mean 10, s = 1, c² = 0.01. The error is
        // √(0.01 (1/3 + 1/96) + 0.0001/4) = 0.0588430, t(2) = 4.302653, and the factor e^0.253181 = 1.288117.
        let of = rounds(&[14.0], &[9.0, 10.0, 11.0], 100);
        assert_eq!(of.critical, student());
        let mean = of.mean().unwrap();
        near(mean.value, (14.0 + 30.0 + 960.0) / 100.0, 1e-12);
        let [low, high] = mean.interval.unwrap();
        near(low, 0.44 + 9.6 / 1.288_117, 1e-5);
        near(high, 0.44 + 9.6 * 1.288_117, 1e-5);
    }

    #[test]
    fn what_is_simulated_as_a_whole_is_exact() {
        let of = rounds(&[4.0], &[1.0, 2.0, 3.0], 4);
        assert_eq!(of.mean(), Some(Predicted::exact(2.5)));
        assert_eq!(of.quantile(0.5), Some(Predicted::exact(2.5)));
        let below = rounds(&[1.0], &[1.0, 1.0, 1.0], 4);
        assert_eq!(of.ratio(&below), Some(Predicted::exact(2.5)));
    }

    #[test]
    fn without_an_interval_there_is_a_reason() {
        let why = |of: &Rounds<'_>| of.mean().unwrap().interval.unwrap_err();
        assert_eq!(why(&rounds(&[], &[3.0], 9)), NoInterval::FewRounds { needed: 2, least: 1 });
        assert_eq!(why(&rounds(&[], &[3.0, 3.0, 3.0], 9)), NoInterval::EqualRounds);
        assert_eq!(rounds(&[3.0], &[], 9).mean(), None);
        // 15 of 15 pairs rise: (15 - 1)/√(6 · 5 · 17/18) = 2.63.
        let rising = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        assert_eq!(why(&rounds(&[], &rising, 99)), NoInterval::Trend);
        assert!(rounds(&[], &[1.0, 1.1, 1.2, 1.4, 1.3, 1.5], 99).mean().unwrap().interval.is_ok());
    }

    #[test]
    fn a_ratio_by_hand() {
        // 30/15 = 2, residuals 0, 1, -1 and so s = 1, over a mean of 5: 0.2, c² = 0.01, as above.
        let below = [4.0, 5.0, 6.0];
        let (above, below) = (rounds(&[], &[8.0, 11.0, 11.0], 99), rounds(&[], &below, 99));
        let of = above.ratio(&below).unwrap();
        assert_eq!(of.value, 2.0);
        near(of.interval.unwrap()[1], 2.0 * 1.288_117, 1e-5);
    }

    #[test]
    fn order_statistics_of_published_tables() {
        // Hahn and Meeker, and Conover, Practical Nonparametric Statistics, section 3.2: the median of 10 is between the
        // 2nd and the 9th with 97.9 %.
        assert_eq!(ends(10, 0.5), Some((1, 8)));
        // 2 · 0.5^6 = 3.1 %, and 0.5^5 = 3.1 % on each side are too many.
        assert_eq!((ends(6, 0.5), ends(5, 0.5)), (Some((0, 5)), None));
        // 0.9^36 = 2.25 %, 0.9^35 = 2.503 %.
        assert!(ends(36, 0.9).is_some() && ends(35, 0.9).is_none());
        let few = rounds(&[], &[1.0, 2.0, 3.0], 99).quantile(0.9).unwrap();
        assert_eq!(few.interval, Err(NoInterval::FewRounds { needed: 36, least: 3 }));
    }

    #[test]
    fn even_traffic_leaves_students_t() {
        assert_eq!(Critical::of(&[], (1, 3)), student());
        assert_eq!(Critical::of(&[7.0; 200], (1, 3)), student());
        // Alternating loads are exchangeable enough: every three rounds have nearly the mean.
        let alternating: Vec<f64> = (0..200).map(|at| f64::from(at % 2)).collect();
        assert_eq!(Critical::of(&alternating, (1, 3)), student());
    }

    #[test]
    fn traffic_that_changes_is_refused() {
        // It ends after half of the rounds: half of all windows have no spread, and not the mean.
        let ends: Vec<f64> = (0..200).map(|at| f64::from(at < 100)).collect();
        assert_eq!(Critical::of(&ends, (1, 3)), Critical(Err(NoInterval::UnlikeRounds)));
        // A burst in every tenth round: seven of ten windows of three have none.
        let bursts: Vec<f64> = (0..200).map(|at| f64::from(at % 10 == 5)).collect();
        assert_eq!(Critical::of(&bursts, (1, 3)), Critical(Err(NoInterval::UnlikeRounds)));
        // Forty rounds have four bursts each.
        assert!(Critical::of(&bursts, (1, 40)).0.is_ok());
    }
}
