//! Numbers of several settings, taken together.

use std::collections::BTreeMap;

use floodway_report::statistics::Scale;
use floodway_scenario::claims::{Kind, Together};

use super::measure::{Cases, Compiled};
use crate::evidence::{Case, Evidence};
use crate::measure::{Logs, Measured, estimate, geometric, percent_of_logs};

impl Compiled {
    /// Those of its combinations of settings that count, and whether they are evidence: all of them, or those that were
    /// run.
    pub(super) fn counting(&self, evidence: &Evidence) -> Vec<Cases> {
        let all = self.cases.iter().copied();
        if self.cases.len() == 1 {
            return all.collect();
        }
        let has = |of: &Cases| of.all().all(|case| evidence.has(case));
        if !self.every {
            return all.filter(has).collect();
        }
        // What is asked for and was not run is no evidence.
        let run = |of: &Cases| of.all().all(|case| evidence.runs(case).next().is_some());
        let run: Vec<Cases> = all.filter(run).collect();
        if run.len() < self.cases.len() && !self.shown_in_part { Vec::new() } else { run }
    }

    /// Over all settings.
    pub(super) fn over(&self, evidence: &Evidence) -> Measured {
        if self.kind == Kind::Ratio {
            return self.ratio(evidence);
        }
        let numbers = || self.counting(evidence).into_iter().map(|of| self.of(of, evidence));
        match self.together {
            Together::Mean => self.mean(evidence),
            Together::Largest => largest(numbers(), self.unit),
            Together::Farthest => {
                Measured { unit: self.unit, ..farthest(&numbers().collect::<Vec<_>>()) }
            }
            Together::Within(factor) => within(numbers(), factor, self.unit),
            Together::Exponent => self.exponent(evidence),
        }
    }

    /// The number of all second cases as a multiple of that of all first ones.
    fn ratio(&self, evidence: &Evidence) -> Measured {
        let side = |of: fn(&Cases) -> Option<Case>| {
            let cases = self.cases.iter().filter_map(of).map(|of| Cases { from: None, of });
            let mut side = self.clone();
            (side.cases, side.kind) = (cases.collect(), Kind::Change);
            side.measure(evidence).value
        };
        let value = side(|of| Some(of.of)).zip(side(|of| of.from)).map(|(to, from)| to / from);
        Measured { value, unit: self.unit, ..Measured::default() }
    }

    /// The mean over settings, in replications that all of them have: of changes and of ratios the geometric mean.
    fn mean(&self, evidence: &Evidence) -> Measured {
        let by_run = |cases: Cases| match cases.from {
            Some(_) => self.logs(cases, evidence),
            None if self.geometric => self.ratio_logs(cases.of, evidence),
            None => evidence.runs(cases.of).map(|(at, of)| (at, self.number(of))).collect(),
        };
        let mut all: Vec<Logs> = self.counting(evidence).into_iter().map(by_run).collect();
        if self.geometric {
            // Where nothing was delivered there is no ratio.
            all.retain(|logs| !logs.is_empty());
        }
        let mut sums = Logs::new();
        for (at, value) in all.iter().flatten() {
            *sums.entry(*at).or_default() += value;
        }
        sums.retain(|at, _| all.iter().all(|values| values.contains_key(at)));
        let means = sums.into_values().map(|sum| sum / all.len() as f64);
        match self.is_of_two() {
            true => percent_of_logs(means),
            false if self.geometric => geometric(means, self.unit),
            false => estimate(means, self.scale, self.unit),
        }
    }

    /// A point for each of its settings: what is asked and the number, means over replications.
    pub fn cloud(&self, evidence: &Evidence) -> Vec<(f64, f64)> {
        let mean = |values: Vec<f64>| {
            let measured = match self.geometric {
                true => geometric(values.into_iter().map(libm::log), ""),
                false => estimate(values, self.scale, ""),
            };
            measured.value
        };
        let point = |cases: Cases| {
            let runs = evidence.runs(cases.of).filter_map(|(_, facts)| self.point(facts));
            let (x, y): (Vec<f64>, Vec<f64>) = runs.unzip();
            mean(x).zip(mean(y))
        };
        self.counting(evidence).into_iter().filter_map(point).collect()
    }

    /// Whether it is a multiple of something.
    pub fn is_ratio(&self) -> bool {
        self.geometric
    }

    /// The exponent of the power law through the points of its settings that fits best, in each replication.
    fn exponent(&self, evidence: &Evidence) -> Measured {
        let mut points: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for cases in self.counting(evidence) {
            for (at, facts) in evidence.runs(cases.of) {
                if let Some((x, y)) = self.point(facts) {
                    points.entry(at).or_default().push((libm::log(x), libm::log(y)));
                }
            }
        }
        estimate(points.values().filter_map(|of| slope(of)), Scale::REAL, self.unit)
    }
}

/// The largest of some numbers.
fn largest(of: impl Iterator<Item = Measured>, unit: &'static str) -> Measured {
    let known = of.filter(|of| of.value.is_some_and(f64::is_finite));
    let largest = known.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    largest.map_or(Measured { unit, ..Measured::default() }, Measured::alone)
}

/// By which factor a ratio is off from 1, either way.
fn off(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio)
}

/// By which factor the ratio that is farthest from 1 is off, either way. Its interval is above a number if that of any is
/// farther from 1, and below it if those of all are nearer: whether all are within a factor is then decided as for each by
/// itself.
fn farthest(ratios: &[Measured]) -> Measured {
    let least = |(low, high): (f64, f64)| {
        if low <= 1.0 && 1.0 <= high { 1.0 } else { off(low).min(off(high)) }
    };
    let known = || ratios.iter().filter(|of| of.value.is_some());
    let value = known().filter_map(|of| of.value.map(off)).reduce(f64::max);
    let bounds: Option<Vec<(f64, f64)>> = known().map(Measured::bounds).collect();
    let ends = bounds.unwrap_or_default().into_iter();
    let ends = ends.map(|of| (least(of), off(of.0).max(off(of.1))));
    let ends = ends.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let interval = ends.filter(|(low, high)| low < high);
    let without = known().find(|of| ends.is_some() || of.bounds().is_none());
    Measured {
        value,
        low: interval.map(|of| of.0),
        high: interval.map(|of| of.1),
        no_interval: without.filter(|_| interval.is_none()).and_then(|of| of.no_interval),
        certain: ends.is_some() && interval.is_none(),
        ..Measured::default()
    }
}

/// In how many percent of ratios they are off by a factor at most.
fn within(of: impl Iterator<Item = Measured>, factor: f64, unit: &'static str) -> Measured {
    let ratios: Vec<f64> = of.filter_map(|of| of.value).collect();
    let near = ratios.iter().filter(|ratio| off(**ratio) <= factor).count();
    let share = (!ratios.is_empty()).then(|| 100.0 * near as f64 / ratios.len() as f64);
    Measured { value: share, unit, ..Measured::default() }
}

/// The slope of the line through points by least squares; none of fewer than three.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|of| of.0), mean(|of| of.1));
    let both: f64 = points.iter().map(|of| (of.0 - x) * (of.1 - y)).sum();
    let square: f64 = points.iter().map(|of| (of.0 - x) * (of.0 - x)).sum();
    (points.len() >= 3 && square > 0.0).then(|| both / square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_by_least_squares() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 0.5), (2.0, 0.0)]), Some(-0.5));
        // Deviations -1, 0, 1 of x and -1, 2, -1 of y.
        assert_eq!(slope(&[(1.0, 0.0), (2.0, 3.0), (3.0, 0.0)]), Some(0.0));
        assert_eq!(slope(&[(0.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(slope(&[(1.0, 0.0), (1.0, 1.0), (1.0, 2.0)]), None);
    }
}
