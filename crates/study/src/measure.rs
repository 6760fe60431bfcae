//! Numbers with intervals, from the evidence.
//!
//! Replication `r` has the same traffic in all experiments on the same network and load, so that
//! variants are compared within replications, and across experiments too.

use std::collections::{BTreeMap, BTreeSet};

use floodway_report::statistics::{
    self, Change, Estimate, NoInterval, Points, Scale, least_values,
};
use floodway_report::summary::Basis;

use crate::evidence::{Case, Evidence, Facts};
use crate::flows::{Flow, FlowGroup, Quantile, by_number};

/// A number with its 95 % interval, or with the reason why it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The number; none if there is nothing to measure it by.
    pub value: Option<f64>,
    /// The lower end of its interval, where there is one.
    pub low: Option<f64>,
    /// The upper end of its interval, where there is one.
    pub high: Option<f64>,
    /// The unit of all three.
    pub unit: &'static str,
    /// Why there is no interval; none if there is one, and of a number that is not a mean over
    /// replications.
    pub no_interval: Option<NoInterval>,
    /// Whether the number is certain although it has no interval: it is the same in all replications,
    /// or it is zero in all replications of the second case and clearly was not in the first.
    pub certain: bool,
    /// Flows that had not finished, before and after, where there are any: they count with the time
    /// that they had taken, so that the number of their side is a lower bound.
    pub unfinished: Option<(u64, u64)>,
}

impl Measured {
    /// A number that has no uncertainty.
    pub fn exactly(value: f64, unit: &'static str) -> Self {
        Self { value: Some(value), unit, ..Self::default() }
    }

    /// Both ends of the interval, where there is one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Between which numbers it lies: the ends of the interval, or twice the number if it is certain.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.interval().or_else(|| self.value.filter(|_| self.certain).map(|value| (value, value)))
    }

    /// The number alone: one that is chosen from several, or formed from them, has no interval.
    pub fn alone(self) -> Self {
        Self { low: None, high: None, no_interval: None, certain: false, ..self }
    }

    /// The same without an interval, for this reason if there is one.
    fn refused(self, why: Option<NoInterval>) -> Self {
        match why {
            Some(_) => Self { no_interval: why, ..self.alone() },
            None => self,
        }
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64, unit: &'static str) -> Self {
        let scale = |value: Option<f64>| value.map(|value| value * factor);
        let ends = [scale(self.low), scale(self.high)];
        let [low, high] = if factor < 0.0 { [ends[1], ends[0]] } else { ends };
        Self { value: scale(self.value), low, high, unit, ..self }
    }
}

/// The mean over replications, with its interval on the scale of the quantity.
pub fn estimate(
    values: impl IntoIterator<Item = f64>,
    scale: Scale,
    unit: &'static str,
) -> Measured {
    let Estimate { mean, low, high, no_interval, .. } = Estimate::of(values, scale);
    let certain = no_interval == Some(NoInterval::AllEqual);
    Measured { value: mean, low, high, unit, no_interval, certain, unfinished: None }
}

/// The geometric mean over replications of numbers above zero, given as logarithms.
pub fn geometric(logs: impl IntoIterator<Item = f64>, unit: &'static str) -> Measured {
    of_logs(estimate(logs, Scale::REAL, unit), libm::exp)
}

/// What is measured of logarithms, transformed back; without its interval if an end is infinite.
fn of_logs(measured: Measured, back: impl Fn(f64) -> f64) -> Measured {
    let [value, low, high] =
        [measured.value, measured.low, measured.high].map(|log| log.map(&back));
    let infinite = high.is_some_and(f64::is_infinite).then_some(NoInterval::TooVaried);
    Measured { value, low, high, ..measured }.refused(infinite)
}

/// The change over pairs of one replication each, in percent: the geometric mean of the ratios, or the
/// ratio of the means where a value is zero ([`Change`]). If the first is zero in all of them it is the
/// difference of the means, as a plain number.
pub fn change(pairs: impl IntoIterator<Item = (f64, f64)>) -> Measured {
    change_on(Scale::NON_NEGATIVE, pairs)
}

/// The same of values on another scale: of a share, or of what was read from a histogram. Changes of scores are in points.
pub fn change_on(scale: Scale, pairs: impl IntoIterator<Item = (f64, f64)>) -> Measured {
    let Some(of) = Change::of(pairs, scale) else {
        return Measured { unit: "%", ..Measured::default() };
    };
    if let Some(Points { value, low, high }) = of.points {
        let (value, no_interval) = (Some(value), of.no_interval);
        let certain = no_interval == Some(NoInterval::AllEqual);
        return Measured {
            value,
            low,
            high,
            unit: "points",
            no_interval,
            certain,
            unfinished: None,
        };
    }
    match of.percent {
        Some(_) => {
            let certain = match of.no_interval {
                Some(NoInterval::AllEqual) => true,
                Some(NoInterval::NoRatio) => of.is_clear() == Some(true),
                _ => false,
            };
            let Change { percent: value, low, high, no_interval, .. } = of;
            Measured { value, low, high, unit: "%", no_interval, certain, unfinished: None }
        }
        // Nothing before and nothing after: there was nothing to change.
        None if of.to == 0.0 => Measured { unit: "%", ..Measured::default() },
        None => Measured {
            value: Some(of.to - of.from),
            no_interval: of.no_interval,
            ..Measured::default()
        },
    }
}

/// The geometric mean of factors, given as logarithms, as a change in percent.
pub fn percent_of_logs(logs: impl IntoIterator<Item = f64>) -> Measured {
    change(logs.into_iter().map(|log| (1.0, libm::exp(log))))
}

/// Logarithms of ratios by replication.
pub type Logs = BTreeMap<u32, f64>;

impl Evidence {
    /// Mean completion times of a group in two cases, in nanoseconds by replication.
    fn fct_means(&self, from: Case, to: Case, group: FlowGroup) -> BTreeMap<u32, (f64, f64)> {
        let mean = |facts: &Facts| facts.group(group).fct.mean;
        self.pairs(from, to).map(|(at, a, b)| (at, (mean(a), mean(b)))).collect()
    }

    /// The change of the mean completion time of a group.
    pub fn fct_change(&self, from: Case, to: Case, group: FlowGroup) -> Measured {
        let measured = change(self.fct_means(from, to, group).into_values());
        Measured { unfinished: self.unfinished_of(from, to, group), ..measured }
    }

    /// Flows of a group that had not finished in two cases, if there are any.
    fn unfinished_of(&self, from: Case, to: Case, group: FlowGroup) -> Option<(u64, u64)> {
        let left =
            |case| -> u64 { self.runs(case).map(|(_, facts)| facts.group(group).unfinished).sum() };
        Some((left(from), left(to))).filter(|left| *left != (0, 0))
    }

    /// The logarithms of the same.
    pub fn fct_logs(&self, from: Case, to: Case, group: FlowGroup) -> Logs {
        let log = |(at, (a, b)): (u32, (f64, f64))| (at, libm::log(b / a));
        self.fct_means(from, to, group).into_iter().map(log).collect()
    }

    /// The difference of mean completion times of a group, in microseconds.
    pub fn fct_difference(&self, from: Case, to: Case, group: FlowGroup) -> Measured {
        let differences = self.fct_means(from, to, group).into_values().map(|(a, b)| (b - a) / 1e3);
        let measured = estimate(differences, Scale::REAL, "us");
        Measured { unfinished: self.unfinished_of(from, to, group), ..measured }
    }

    /// The mean of the differences of the completion times of the same flow of a group, or a quantile, over the flows that
    /// completed in both cases, in microseconds. Only of a study that keeps its flows.
    pub fn flow_by_flow(
        &self,
        from: Case,
        to: Case,
        group: FlowGroup,
        quantile: Option<Quantile>,
    ) -> Measured {
        let of_pair = |(_, a, b): (u32, &Facts, &Facts)| {
            let others = by_number(&b.flows);
            let finished = |flow: &&Flow| flow.finished;
            let difference = |flow: &Flow| {
                let other = others.get(&flow.flow).copied().filter(finished)?;
                Some((other.fct_ns - flow.fct_ns) / 1e3)
            };
            let mine = a.flows.iter().filter(|flow| group.holds(flow)).filter(finished);
            let mut differences: Vec<f64> = mine.filter_map(difference).collect();
            differences.sort_by(f64::total_cmp);
            match quantile {
                Some(of) => statistics::quantile(&differences, of.share()),
                None => differences.iter().sum::<f64>() / differences.len() as f64,
            }
        };
        estimate(self.pairs(from, to).map(of_pair), Scale::REAL, "us")
    }

    /// How many flows of a group do not have the same completion time in both cases, to the picosecond, in all replications
    /// together; none without a replication of both. Only of a study that keeps its flows.
    pub fn changed_flows(&self, from: Case, to: Case, group: FlowGroup) -> Option<f64> {
        let changed = |(_, a, b): (u32, &Facts, &Facts)| {
            let times = |facts: &Facts| -> BTreeMap<u64, u64> {
                let held = facts.flows.iter().filter(|flow| group.holds(flow));
                held.map(|flow| (flow.flow, flow.fct_ns.to_bits())).collect()
            };
            let (a, b) = (times(a), times(b));
            let all: BTreeSet<u64> = a.keys().chain(b.keys()).copied().collect();
            all.into_iter().filter(|flow| a.get(flow) != b.get(flow)).count() as f64
        };
        self.pairs(from, to).map(changed).reduce(|sum, of| sum + of)
    }

    /// The change of a quantile of the completion times of a group: quantiles within each
    /// replication, then the geometric mean of their ratios.
    pub fn quantile_change(
        &self,
        from: Case,
        to: Case,
        group: FlowGroup,
        quantile: Quantile,
    ) -> Measured {
        let of = |facts: &Facts| quantile.of(&facts.group(group).fct);
        let basis = self.basis(&[from, to], group, quantile);
        let left = self.unfinished_of(from, to, group);
        let changed = self.change(from, to, of);
        let changed =
            if changed.value.is_some() { changed.refused(basis.refusal()) } else { changed };
        Measured { unfinished: left.filter(|_| basis.bound), ..changed }
    }

    /// What a quantile of a group rests on, in all replications of these cases.
    fn basis(&self, cases: &[Case], group: FlowGroup, quantile: Quantile) -> Basis {
        let facts = || cases.iter().flat_map(|case| self.runs(*case));
        let summaries = || facts().map(|(_, facts)| facts.group(group));
        Basis {
            bound: summaries().any(|summary| summary.fct.is_bound(quantile)),
            needed: least_values(quantile.share()),
            least: summaries().map(|summary| summary.flows()).min().unwrap_or(0),
        }
    }

    /// The mean completion time of a group in one case, in nanoseconds.
    pub fn fct(&self, case: Case, group: FlowGroup) -> Measured {
        self.number(case, "ns", |facts| facts.group(group).fct.mean)
    }

    /// A quantile of the completion times of a group in one case, in nanoseconds: the mean of the
    /// quantiles of its replications.
    pub fn fct_quantile(&self, case: Case, group: FlowGroup, quantile: Quantile) -> Measured {
        let of = self.number(case, "ns", |facts| quantile.of(&facts.group(group).fct));
        let refusal = self.basis(&[case], group, quantile).refusal();
        if of.value.is_some() { of.refused(refusal) } else { of }
    }

    /// How many measured flows had not finished, and how many there were, over all replications.
    pub fn unfinished(&self, case: Case) -> (u64, u64) {
        let sum = |(left, all), facts: &Facts| (left + facts.unfinished, all + facts.measured);
        self.runs(case).map(|(_, facts)| facts).fold((0, 0), sum)
    }

    /// The same of a group.
    pub fn unfinished_of_group(&self, case: Case, group: FlowGroup) -> (u64, u64) {
        let of = |(_, facts): (u32, &Facts)| {
            let summary = facts.group(group);
            (summary.unfinished, summary.flows())
        };
        self.runs(case).map(of).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    /// The change of a number from one case to another.
    pub fn change(&self, from: Case, to: Case, number: impl Fn(&Facts) -> f64) -> Measured {
        change(self.pairs(from, to).map(|(_, a, b)| (number(a), number(b))))
    }

    /// The same of a number on another scale.
    pub fn change_on(
        &self,
        from: Case,
        to: Case,
        scale: Scale,
        number: impl Fn(&Facts) -> f64,
    ) -> Measured {
        change_on(scale, self.pairs(from, to).map(|(_, a, b)| (number(a), number(b))))
    }

    /// The logarithms of the ratios of a number; none if there is a replication without a ratio,
    /// because to leave out only that one would leave out the largest effect.
    pub fn logs(&self, from: Case, to: Case, number: impl Fn(&Facts) -> f64) -> Logs {
        let log = |(at, a, b): (u32, &Facts, &Facts)| (at, libm::log(number(b) / number(a)));
        let logs: Logs = self.pairs(from, to).map(log).collect();
        if logs.values().all(|log| log.is_finite()) { logs } else { Logs::new() }
    }

    /// A number of one case that is zero or more.
    pub fn number(
        &self,
        case: Case,
        unit: &'static str,
        number: impl Fn(&Facts) -> f64,
    ) -> Measured {
        self.on_scale(case, Scale::NON_NEGATIVE, unit, number)
    }

    /// A share of one case, in percent of something: `% of time`.
    pub fn share(&self, case: Case, unit: &'static str, share: impl Fn(&Facts) -> f64) -> Measured {
        self.on_scale(case, Scale::SHARE, unit, share).scaled(100.0, unit)
    }

    /// A number of one case that has another scale.
    pub fn on_scale(
        &self,
        case: Case,
        scale: Scale,
        unit: &'static str,
        number: impl Fn(&Facts) -> f64,
    ) -> Measured {
        estimate(self.runs(case).map(|(_, facts)| number(facts)), scale, unit)
    }
}

/// How one ratio compares with another, both by replication, in percent: below zero if the first
/// is the smaller.
pub fn contrast(first: &Logs, second: &Logs) -> Measured {
    percent_of_logs(first.iter().filter_map(|(at, a)| second.get(at).map(|b| a - b)))
}

/// By how much one effect is larger than another, whichever way each goes on average: the ratio of
/// the magnitudes of two ratios, in percent; above zero if the first is the larger.
pub fn magnitudes(first: &Logs, second: &Logs) -> Measured {
    let size = |logs: &Logs| -> Logs {
        let sign = logs.values().sum::<f64>().signum();
        logs.iter().map(|(at, log)| (*at, log * sign)).collect()
    };
    contrast(&size(first), &size(second))
}

/// The same as [`contrast`] for ratios that have no replications in common. The interval is the root
/// of the summed squares of both half widths, each with the t of its own sample; that is a little
/// wider than Welch's.
pub fn unpaired_contrast(first: &Logs, second: &Logs) -> Measured {
    let [a, b] = [first, second].map(|logs| estimate(logs.values().copied(), Scale::REAL, "%"));
    let Some(difference) = a.value.zip(b.value).map(|(a, b)| a - b) else {
        return Measured { unit: "%", ..Measured::default() };
    };
    let half = |of: &Measured| of.bounds().map(|(low, high)| (high - low) / 2.0);
    let half = half(&a).zip(half(&b)).map(|(a, b)| libm::sqrt(a * a + b * b));
    let certain = a.certain && b.certain;
    let ends = half.filter(|_| !certain);
    let logs = Measured {
        value: Some(difference),
        low: ends.map(|half| difference - half),
        high: ends.map(|half| difference + half),
        unit: "%",
        no_interval: ends.is_none().then(|| a.no_interval.or(b.no_interval)).flatten(),
        certain,
        unfinished: None,
    };
    of_logs(logs, |log| libm::expm1(log) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_geometric_and_differences_relative_to_the_first() {
        let halved = change([(2.0, 1.0), (8.0, 4.0)]);
        assert!((halved.value.unwrap() + 50.0).abs() < 1e-9);
        let gone = change([(10.0, 0.0), (30.0, 0.0)]);
        assert_eq!((gone.value, gone.interval()), (Some(-100.0), None));
        // Two replications that differ so much could be 0 by chance; three that hardly differ are not.
        assert_eq!((gone.no_interval, gone.bounds()), (Some(NoInterval::NoRatio), None));
        let clearly = change([(1.0, 0.0), (1.1, 0.0), (0.9, 0.0)]);
        assert_eq!((clearly.interval(), clearly.bounds()), (None, Some((-100.0, -100.0))));
        assert_eq!(change([(0.0, 0.0), (0.0, 0.0)]).value, None);
        // From nothing there are no percents: three more.
        assert_eq!((change([(0.0, 3.0)]).value, change([(0.0, 3.0)]).unit), (Some(3.0), ""));
    }

    #[test]
    fn contrasts_compare_ratios() {
        let logs = |values: &[f64]| -> Logs {
            values.iter().enumerate().map(|(at, value)| (at as u32, libm::log(*value))).collect()
        };
        // Halved against doubled: a quarter.
        let of = contrast(&logs(&[0.5, 0.5]), &logs(&[2.0, 2.0, 7.0]));
        assert!((of.value.unwrap() + 75.0).abs() < 1e-9);
        assert_eq!(contrast(&logs(&[]), &logs(&[1.0])).value, None);
        let of = unpaired_contrast(&logs(&[1.0, 1.0]), &logs(&[2.0, 2.0, 2.0]));
        assert!((of.value.unwrap() + 50.0).abs() < 1e-9);
        assert_eq!((of.interval(), of.no_interval), (None, Some(NoInterval::AllEqual)));
        assert_eq!(of.bounds(), of.value.zip(of.value));
        // Logarithms -1 and +1: mean 0, half = 12.706 * sqrt(2 / 2) = 12.706; twice, so times √2.
        let wide: Logs = Logs::from([(0, -1.0), (1, 1.0)]);
        let of = unpaired_contrast(&wide, &wide);
        let high = libm::expm1(12.706_2 * libm::sqrt(2.0)) * 100.0;
        assert!((of.high.unwrap() / high - 1.0).abs() < 1e-3, "{of:?}");
        // With a ratio that is the same in all replications the interval is that of the other.
        let of = unpaired_contrast(&wide, &logs(&[1.0, 1.0]));
        let high = libm::expm1(12.706_2) * 100.0;
        assert!((of.high.unwrap() / high - 1.0).abs() < 1e-3, "{of:?}");
        // One replication of either side is too few.
        let of = unpaired_contrast(&wide, &logs(&[1.0]));
        assert_eq!((of.bounds(), of.no_interval), (None, Some(NoInterval::OneReplication)));
    }

    #[test]
    fn intervals_are_on_the_scale_of_their_quantity() {
        // A difference may be below zero: mean 1, s = 2, half = 4.3027 · 2 / √3 = 4.9683.
        let of = estimate([-1.0, 1.0, 3.0], Scale::REAL, "us");
        assert!((of.low.unwrap() + 3.968_3).abs() < 1e-3, "{of:?}");
        // A factor is never below zero: logarithms -1 and 1, half = 12.706.
        let of = geometric([-1.0, 1.0], "x");
        assert!((of.low.unwrap() / libm::exp(-12.706_2) - 1.0).abs() < 1e-3, "{of:?}");
        assert_eq!(geometric([-100.0, 100.0], "x").no_interval, Some(NoInterval::TooVaried));
        let same = estimate([2.0, 2.0], Scale::NON_NEGATIVE, "");
        assert_eq!((same.interval(), same.bounds()), (None, Some((2.0, 2.0))));
        assert_eq!(estimate([2.0], Scale::NON_NEGATIVE, "").bounds(), None);
        assert_eq!((same.alone().bounds(), same.alone().no_interval), (None, None));
    }

    #[test]
    fn magnitudes_compare_effects_whichever_way_they_go() {
        // A half against a rise by a third: 2 against 4/3.
        let (down, up) = (libm::log(0.5), libm::log(4.0 / 3.0));
        let of = magnitudes(&Logs::from([(0, down), (1, down)]), &Logs::from([(0, up), (1, up)]));
        assert!((of.value.unwrap() - 50.0).abs() < 1e-9, "{of:?}");
    }
}
