//! What a metric does from a baseline to something else, paired by replication.

use serde::{Deserialize, Serialize};

use super::domain::{Domain, Scale};
use super::estimate::{Estimate, NoInterval};
use super::{CONFIDENCE, are_equal, deviation, mean, student_p, student_t};

/// How a change is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All values are above zero: the geometric mean of the ratios of the pairs.
    Ratio,
    /// Some value is zero: the ratio of the means.
    Means,
    /// The baseline is zero in all replications: there is no ratio.
    FromZero,
    /// Scores: the mean of the differences of the pairs, in points.
    Difference,
}

/// The change of a score in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// The mean difference.
    pub value: f64,
    /// The lower end of its 95 % interval, where there is one.
    pub low: Option<f64>,
    /// The upper end of its 95 % interval, where there is one.
    pub high: Option<f64>,
}

/// The change of a metric from a baseline, paired by replication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// How it is expressed.
    pub kind: Kind,
    /// The mean of the baseline over the pairs.
    pub from: f64,
    /// The mean of the other side over the pairs.
    pub to: f64,
    /// The change in percent, -50 for half; none from zero, and none of scores.
    pub percent: Option<f64>,
    /// The lower end of its 95 % interval in percent, where there is one.
    pub low: Option<f64>,
    /// The upper end of its 95 % interval in percent, where there is one.
    pub high: Option<f64>,
    /// The change of a score, which has no percent: half of 4 is not half as good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Points>,
    /// How many replications are paired.
    pub n: u64,
    /// The probability of a change at least as large if there were none; none of one replication.
    pub p: Option<f64>,
    /// Why there is no interval; none if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<NoInterval>,
}

impl Change {
    /// The change over pairs of (baseline, other), one per replication, of a quantity that is zero or
    /// more. A pair in which a value is not finite does not count; none of no pairs.
    ///
    /// The interval is Student's, on the logarithms of the ratios; where a value is zero on the
    /// logarithm of the ratio of the means, by the delta method. With all replications of one side
    /// zero there is no interval, and the probability is that of Student's test of the differences.
    ///
    /// Of scores it is the difference, with Student's interval of the mean of the differences. Both scores are within the
    /// limits of the domain, so the interval ends where it would take the other side beyond them from every baseline that
    /// is within the baseline's own interval.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>, scale: Scale) -> Option<Self> {
        debug_assert!(scale.domain != Domain::Real, "differences have no ratio");
        let finite = |pair: &(f64, f64)| pair.0.is_finite() && pair.1.is_finite();
        let pairs: Vec<(f64, f64)> = pairs.into_iter().filter(finite).collect();
        if pairs.is_empty() {
            return None;
        }
        let (from, to): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (from, to) = (mean(&from), mean(&to));
        let n = pairs.len() as u64;
        let plain = Self {
            kind: Kind::Means,
            from,
            to,
            percent: (from > 0.0).then(|| (to - from) / from * 100.0),
            low: None,
            high: None,
            points: None,
            n,
            p: None,
            no_interval: None,
        };
        if scale.domain == Domain::Score {
            return Some(plain.in_points(&pairs, scale));
        }
        if from == 0.0 || to == 0.0 {
            let kind = if from == 0.0 { Kind::FromZero } else { Kind::Means };
            let no_interval = Some(NoInterval::NoRatio);
            return Some(Self { kind, p: probability(&pairs), no_interval, ..plain });
        }
        let positive = pairs.iter().all(|(from, to)| *from > 0.0 && *to > 0.0);
        let (kind, terms): (Kind, Vec<f64>) = if positive {
            (Kind::Ratio, pairs.iter().map(|(from, to)| libm::log(to / from)).collect())
        } else {
            // Pairs in which nothing happened say nothing of the ratio.
            let some: Vec<_> = pairs.iter().filter(|pair| **pair != (0.0, 0.0)).collect();
            let share = some.len() as f64 / n as f64;
            let (log, from, to) = (libm::log(to / from), from / share, to / share);
            let term = |pair: &&(f64, f64)| log + pair.1 / to - pair.0 / from;
            (Kind::Means, some.iter().map(term).collect())
        };
        let change = Self { kind, ..plain }.with(&terms, scale.resolution);
        if kind == Kind::Ratio {
            return Some(change);
        }
        // What happens seldom is judged by its differences too, of which the larger probability counts.
        let p = change.p.into_iter().chain(probability(&pairs)).reduce(f64::max);
        let seldom = terms.len() < 2;
        Some(Self {
            p: p.filter(|_| n > 1),
            no_interval: if seldom && n > 1 {
                Some(NoInterval::Seldom)
            } else {
                change.no_interval
            },
            ..change
        })
    }

    /// The difference of these pairs of scores.
    fn in_points(self, pairs: &[(f64, f64)], scale: Scale) -> Self {
        let of = Estimate::of(pairs.iter().map(|(from, to)| to - from), Scale::REAL);
        let baseline = Estimate::of(pairs.iter().map(|(from, _)| *from), scale);
        let (least, most) = baseline.interval().unwrap_or((self.from, self.from));
        let points = Points {
            value: self.to - self.from,
            low: of.low.map(|low| low.max(scale.domain.floor() - most)),
            high: of.high.map(|high| high.min(scale.domain.ceiling() - least)),
        };
        // Equal differences are known exactly.
        let p = match of.no_interval {
            Some(NoInterval::AllEqual) => {
                Some(if are_equal(&[self.from, self.to]) { 1.0 } else { 0.0 })
            }
            _ => probability(pairs),
        };
        let (kind, no_interval) = (Kind::Difference, of.no_interval);
        Self { kind, percent: None, points: Some(points), p, no_interval, ..self }
    }

    /// With the interval of the mean of these logarithms of ratios.
    fn with(self, logs: &[f64], resolution: f64) -> Self {
        let center = mean(logs);
        let percent = |log: f64| libm::expm1(log) * 100.0;
        let whole = Self { percent: Some(percent(center)), ..self };
        let Some(spread) = deviation(logs) else {
            return Self { no_interval: Some(NoInterval::OneReplication), ..whole };
        };
        let ratios: Vec<f64> = logs.iter().copied().map(libm::exp).collect();
        if are_equal(&ratios) && resolution == 0.0 {
            let p = if are_equal(&[1.0, libm::exp(center)]) { 1.0 } else { 0.0 };
            return Self { p: Some(p), no_interval: Some(NoInterval::AllEqual), ..whole };
        }
        // Both sides are rounded to their bins.
        let spread = spread.max(resolution / libm::sqrt(6.0));
        let n = logs.len() as u64;
        let error = spread / libm::sqrt(n as f64);
        let bin = -libm::log1p(-resolution);
        let half = student_t(n - 1, CONFIDENCE) * error + bin;
        let p = Some(student_p(n - 1, (center.abs() - bin).max(0.0) / error));
        let (low, high) = (percent(center - half), percent(center + half));
        if !high.is_finite() {
            return Self { p, no_interval: Some(NoInterval::TooVaried), ..whole };
        }
        Self { low: Some(low), high: Some(high), p, ..whole }
    }

    /// The same without its interval, for this reason.
    pub fn refuse(self, why: NoInterval) -> Self {
        let points = self.points.map(|of| Points { low: None, high: None, ..of });
        Self { low: None, high: None, points, p: None, no_interval: Some(why), ..self }
    }

    /// How large it is: in points of a score, or else in percent; none from zero.
    pub fn size(&self) -> Option<f64> {
        self.points.map_or(self.percent, |points| Some(points.value))
    }

    /// The ends of the interval of that, where there is one.
    pub fn ends(&self) -> [Option<f64>; 2] {
        self.points.map_or([self.low, self.high], |points| [points.low, points.high])
    }

    /// Both ends of the interval in percent.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Whether both sides are the same in every replication.
    pub fn is_none(&self) -> bool {
        self.from == self.to && self.p.is_none_or(|p| p == 1.0)
    }

    /// Whether "no change" is ruled out with the confidence of the intervals; none if that is not
    /// known.
    pub fn is_clear(&self) -> Option<bool> {
        self.p.map(|p| p <= 1.0 - CONFIDENCE)
    }
}

/// The probability of a mean difference at least as large if there were none, by Student's test of the
/// differences; none of one pair.
fn probability(pairs: &[(f64, f64)]) -> Option<f64> {
    let differences: Vec<f64> = pairs.iter().map(|(from, to)| to - from).collect();
    let spread = deviation(&differences)?;
    let mean = mean(&differences);
    if spread == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let n = pairs.len() as u64;
    Some(student_p(n - 1, mean * libm::sqrt(n as f64) / spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(pairs: &[(f64, f64)]) -> Change {
        Change::of(pairs.iter().copied(), Scale::NON_NEGATIVE).unwrap()
    }

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn ratios_average_geometrically() {
        // Half and double cancel.
        let of = change(&[(2.0, 1.0), (1.0, 2.0)]);
        near(of.percent.unwrap(), 0.0, 1e-12);
        assert_eq!((of.kind, of.is_clear()), (Kind::Ratio, Some(false)));
        // The interval is symmetric in the logarithm: ln 0.5 ± t(2) s / √3.
        let of = change(&[(1.0, 0.4), (1.0, 0.5), (1.0, 0.625)]);
        near(of.percent.unwrap(), -50.0, 1e-12);
        let half = 4.302_65 * libm::log(1.25) / libm::sqrt(3.0);
        let (low, high) = of.interval().unwrap();
        near(low, (0.5 * libm::exp(-half) - 1.0) * 100.0, 1e-3);
        near(high, (0.5 * libm::exp(half) - 1.0) * 100.0, 1e-3);
        assert_eq!(of.is_clear(), Some(true));
        // t = ln 2 / (ln 1.25 / √3) = 5.380, of which two degrees of freedom exceed 3.29 %.
        near(of.p.unwrap(), 0.032_9, 2e-4);
    }

    #[test]
    fn a_zero_makes_it_the_ratio_of_the_means() {
        // Means 4 and 2; terms ln(1/2) + to / 2 - from / 4: -0.6931 + (0 - 0.5, 0.5 - 1, 2.5 - 1.5).
        let of = change(&[(2.0, 0.0), (4.0, 1.0), (6.0, 5.0)]);
        assert_eq!((of.kind, of.percent), (Kind::Means, Some(-50.0)));
        let half = 4.302_65 * libm::sqrt(0.75) / libm::sqrt(3.0);
        near(of.low.unwrap(), (0.5 * libm::exp(-half) - 1.0) * 100.0, 1e-3);
        near(of.high.unwrap(), (0.5 * libm::exp(half) - 1.0) * 100.0, 1e-2);
    }

    #[test]
    fn what_happens_in_one_replication_has_no_interval() {
        // Only one pair says anything of the ratio; Student's t of the differences -12 and four zeros is 1,
        // which four degrees of freedom exceed in magnitude in 37 % of all cases.
        let of = change(&[(19.0, 7.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::Seldom)));
        assert_eq!(of.is_clear(), Some(false));
        near(of.p.unwrap(), 0.373_9, 1e-4);
        near(of.percent.unwrap(), 100.0 * (7.0 / 19.0 - 1.0), 1e-9);
        // Pairs of zeros add nothing: the interval is that of the two others.
        let with = change(&[(2.0, 0.0), (4.0, 3.0), (0.0, 0.0)]);
        let without = change(&[(2.0, 0.0), (4.0, 3.0)]);
        near(with.low.unwrap(), without.low.unwrap(), 1e-9);
        near(with.high.unwrap() / without.high.unwrap(), 1.0, 1e-9);
    }

    #[test]
    fn what_is_gone_has_no_interval() {
        let gone = change(&[(10.0, 0.0), (30.0, 0.0)]);
        assert_eq!(
            (gone.percent, gone.interval(), gone.is_clear()),
            (Some(-100.0), None, Some(false))
        );
        assert_eq!(gone.no_interval, Some(NoInterval::NoRatio));
        // t = 20 / 10 with one degree of freedom: 1 - 2 atan(2) / pi.
        near(gone.p.unwrap(), 1.0 - 2.0 * libm::atan(2.0) / std::f64::consts::PI, 1e-9);
        assert_eq!(change(&[(1.0, 0.0), (1.1, 0.0), (0.9, 0.0)]).is_clear(), Some(true));
        let new = change(&[(0.0, 3.0), (0.0, 5.0)]);
        assert_eq!((new.kind, new.percent, new.from, new.to), (Kind::FromZero, None, 0.0, 4.0));
        let nothing = change(&[(0.0, 0.0), (0.0, 0.0)]);
        assert_eq!((nothing.is_none(), nothing.is_clear()), (true, Some(false)));
    }

    #[test]
    fn scores_change_by_points_and_stay_scores() {
        let score = |pairs: &[(f64, f64)]| Change::of(pairs.iter().copied(), Scale::SCORE).unwrap();
        // Differences 0.5, 0.6 and 0.7: 0.6 ± t(2) 0.1 / √3 = 0.6 ± 0.2484.
        let of = score(&[(2.0, 2.5), (2.2, 2.8), (2.1, 2.8)]);
        assert_eq!((of.kind, of.percent, of.interval()), (Kind::Difference, None, None));
        near(of.size().unwrap(), 0.6, 1e-12);
        let [low, high] = of.ends().map(Option::unwrap);
        near(low, 0.6 - 0.2484, 1e-4);
        near(high, 0.6 + 0.2484, 1e-4);
        assert_eq!(of.is_clear(), Some(true));
        // Differences -0.2, 0.3 and 0.2 from 4.2 exactly: Student's interval is 0.1 ± 0.6572, and 4.5 is the best score.
        let best = score(&[(4.2, 4.0), (4.2, 4.5), (4.2, 4.4)]);
        let [low, high] = best.ends().map(Option::unwrap);
        near(low, 0.1 - 0.6572, 1e-4);
        near(high, 0.3, 1e-12);
        assert_eq!(best.is_clear(), Some(false));
        // Nor is anything below 1.
        let worst = score(&[(1.2, 1.0), (1.2, 1.3), (1.2, 1.1)]);
        near(worst.ends()[0].unwrap(), -0.2, 1e-12);
        // Where nothing differs there is no change, and no percent of one.
        let same = score(&[(4.36, 4.36), (4.3, 4.3)]);
        assert_eq!((same.is_none(), same.size(), same.ends()), (true, Some(0.0), [None, None]));
        assert_eq!(same.no_interval, Some(NoInterval::AllEqual));
        let one = score(&[(4.0, 3.5)]);
        assert_eq!((one.size(), one.no_interval), (Some(-0.5), Some(NoInterval::OneReplication)));
    }

    #[test]
    fn the_same_change_in_all_replications_has_no_width() {
        let of = change(&[(2.0, 1.0), (2.0, 1.0)]);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::AllEqual)));
        assert_eq!(of.is_clear(), Some(true));
        // A third in both, with another last digit.
        let third = change(&[(9.0, 3.0), (3.3, 1.1)]);
        assert_eq!(third.no_interval, Some(NoInterval::AllEqual));
        let same = change(&[(2.0, 2.0), (3.0, 3.0)]);
        assert_eq!((same.percent, same.is_none()), (Some(0.0), true));
        assert!(change(&[(3.0, 3.0)]).is_none() && change(&[(0.0, 0.0)]).is_none());
        let one = change(&[(4.0, 1.0)]);
        assert_eq!((one.percent, one.no_interval), (Some(-75.0), Some(NoInterval::OneReplication)));
        assert_eq!(one.is_clear(), None);
    }

    #[test]
    fn an_infinite_end_is_no_interval() {
        // Logarithms ±200: the half width is 12.7 · 200.
        let of = change(&[(1.0, libm::exp(200.0)), (1.0, libm::exp(-200.0))]);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::TooVaried)));
        assert_eq!(of.is_clear(), Some(false));
    }

    #[test]
    fn bins_widen_the_interval() {
        let scale = Scale { resolution: 0.01, ..Scale::NON_NEGATIVE };
        let of = Change::of([(100.0, 100.0); 3], scale).unwrap();
        let half = 4.302_65 * 0.01 / libm::sqrt(6.0) / libm::sqrt(3.0) - libm::log(0.99);
        near(of.high.unwrap(), libm::expm1(half) * 100.0, 1e-4);
        assert_eq!(of.is_clear(), Some(false));
    }

    #[test]
    fn pairs_that_lack_a_side_do_not_count() {
        let of = change(&[(f64::NAN, 1.0), (2.0, 1.0), (1.0, f64::INFINITY)]);
        assert_eq!((of.percent, of.n), (Some(-50.0), 1));
        assert_eq!(Change::of([(f64::NAN, 1.0)], Scale::NON_NEGATIVE), None);
    }
}
