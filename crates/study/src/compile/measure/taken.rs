//! A measure, taken of the evidence.

use floodway_report::statistics::Scale;
use floodway_scenario::claims::{Kind, Runs};

use super::{Asked, Cases, Compiled};
use crate::evidence::{Case, Evidence, Facts};
use crate::flows::FlowGroup;
use crate::measure::{
    Logs, Measured, contrast, estimate, geometric, magnitudes, percent_of_logs, unpaired_contrast,
};
use crate::sql::{self, Answer, Asking, Query};

/// More replications than any case has.
const MOST_RUNS: u32 = 100_000;

impl Compiled {
    /// The number.
    pub fn measure(&self, evidence: &Evidence) -> Measured {
        if let Asked::Fact(fact) = self.asked {
            return fact.measure(evidence);
        }
        if let Asked::Pooled(rows, query) = self.asked {
            return self.of_pool(rows, query, evidence);
        }
        if let Asked::Changed(group) = self.asked {
            return self.changed(group, evidence);
        }
        if let Some((than, paired)) = &self.than {
            return self.compared(than, *paired, evidence);
        }
        let measured = match (self.runs, self.cases.as_slice()) {
            _ if self.kind == Kind::Apart => self.apart(evidence),
            (Runs::Mean, [cases]) => self.of(*cases, evidence),
            (Runs::Mean, _) => self.over(evidence),
            _ => self.of_all_runs(evidence),
        };
        match (self.asked, self.kind) {
            // A name that no run has is no number, and not one that is 0 everywhere.
            (Asked::Counter(counter), _) if !evidence.knows(counter) => {
                Measured { unit: self.unit, ..Measured::default() }
            }
            (_, Kind::Decrease) => measured.scaled(-1.0, measured.unit),
            _ => measured,
        }
    }

    /// Of one case, or of two.
    pub(in crate::compile) fn of(&self, cases: Cases, evidence: &Evidence) -> Measured {
        let Cases { from, of } = cases;
        match (self.asked, from, self.kind) {
            (_, Some(from), Kind::Ratio) => {
                let value = |of| self.of(Cases { from: None, of }, evidence).value;
                let value = value(of).zip(value(from)).map(|(of, from)| of / from);
                Measured { value, unit: self.unit, ..Measured::default() }
            }
            (Asked::Fct(group, None), None, _) => evidence.fct(of, group),
            (Asked::Fct(group, Some(quantile)), None, _) => {
                evidence.fct_quantile(of, group, quantile)
            }
            (Asked::Fct(group, quantile), Some(from), Kind::FlowByFlow) => {
                evidence.flow_by_flow(from, of, group, quantile)
            }
            (Asked::Fct(group, None), Some(from), Kind::Difference) => {
                evidence.fct_difference(from, of, group)
            }
            (Asked::Fct(group, None), Some(from), _) => evidence.fct_change(from, of, group),
            (
                Asked::Fct(group, Some(quantile)),
                Some(from),
                Kind::Change | Kind::Decrease | Kind::Apart,
            ) => evidence.quantile_change(from, of, group, quantile),
            (Asked::Counter(counter), None, _) => {
                // What no run of a case knows did not happen there.
                let mut runs = evidence.runs(of);
                match runs.any(|(_, facts)| facts.scalars.contains_key(counter)) {
                    true => self.of_runs(cases, evidence),
                    false => Measured { unit: self.unit, ..Measured::default() },
                }
            }
            _ => self.of_runs(cases, evidence),
        }
    }

    fn of_runs(&self, Cases { from, of }: Cases, evidence: &Evidence) -> Measured {
        let number = |facts: &Facts| self.number(facts);
        match (from, self.kind) {
            (None, _) if self.in_percent => {
                percent_of_logs(self.ratio_logs(of, evidence).into_values())
            }
            (None, _) if self.geometric => {
                geometric(self.ratio_logs(of, evidence).into_values(), self.unit)
            }
            // Shares are shown in percent, and an index is none.
            (None, _)
                if self.scale == Scale::SHARE && !matches!(self.asked, Asked::Fairness(_)) =>
            {
                evidence.share(of, self.unit, number)
            }
            (None, _) => evidence.on_scale(of, self.scale, self.unit, number),
            (Some(from), Kind::Difference) if self.scale != Scale::SCORE => {
                let pairs = evidence.pairs(from, of);
                let differences = pairs.map(|(_, a, b)| number(b) - number(a));
                estimate(differences, Scale::REAL, self.unit)
            }
            (Some(from), _) => evidence.change_on(from, of, self.scale, number),
        }
    }

    /// What is asked, of one run.
    pub(in crate::compile) fn number(&self, facts: &Facts) -> f64 {
        match self.asked {
            Asked::Fct(group, None) => facts.group(group).fct.mean,
            Asked::Fct(group, Some(quantile)) => quantile.of(&facts.group(group).fct),
            Asked::Counter(counter) => facts.number(counter) / self.per,
            Asked::Fairness(window_ns) => facts.fairness(window_ns) / self.per,
            Asked::Sql(query) => facts.answer(query) / self.per,
            Asked::Fact(_) | Asked::Pooled(..) | Asked::Changed(_) => f64::NAN,
        }
    }

    /// Of the rows of all replications together.
    fn of_pool(&self, rows: usize, query: &Query, evidence: &Evidence) -> Measured {
        let runs = self.cases.iter().flat_map(|cases| evidence.runs(cases.of));
        let rows: Answer = runs.flat_map(|(_, facts)| facts.rows(rows)).copied().collect();
        let asking = Asking::of(&[sql::pool(&rows)]);
        let answer = asking.and_then(|mut asking| asking.ask(query)).unwrap_or_default();
        let value = answer.first().map(|[number, ..]| number / self.per);
        let value = value.filter(|number| number.is_finite());
        Measured { value, unit: self.unit, ..Measured::default() }
    }

    /// How many flows have another completion time in the second case, over all settings.
    fn changed(&self, group: FlowGroup, evidence: &Evidence) -> Measured {
        let of =
            |Cases { from, of }: &Cases| evidence.changed_flows(from.unwrap_or(*of), *of, group);
        let all: Option<Vec<f64>> = self.counting(evidence).iter().map(of).collect();
        let value = all.filter(|all| !all.is_empty()).map(|all| all.iter().sum());
        Measured { value, unit: self.unit, ..Measured::default() }
    }

    /// The point that is asked for, of one run: of what, and the number.
    pub(in crate::compile) fn point(&self, facts: &Facts) -> Option<(f64, f64)> {
        let Asked::Sql(query) = self.asked else { return None };
        let (x, y) = facts.lines(query).into_iter().flatten().next()?;
        Some((x, y / self.per))
    }

    /// The logarithms of a ratio.
    pub(in crate::compile) fn ratio_logs(&self, of: Case, evidence: &Evidence) -> Logs {
        let log = |(at, facts)| (at, libm::log(self.number(facts)));
        evidence.runs(of).map(log).filter(|(_, log)| log.is_finite()).collect()
    }

    /// The logarithms of the ratios of two cases.
    pub(in crate::compile) fn logs(&self, Cases { from, of }: Cases, evidence: &Evidence) -> Logs {
        let from = from.unwrap_or(of);
        match self.asked {
            Asked::Fct(group, None) => evidence.fct_logs(from, of, group),
            _ => evidence.logs(from, of, |facts| self.number(facts)),
        }
    }

    /// Those of the ratios of its two cases.
    pub fn logs_of_change(&self, evidence: &Evidence) -> Logs {
        self.logs(self.cases[0], evidence)
    }

    /// The largest difference of its settings: the rise from the smaller number to the larger.
    fn apart(&self, evidence: &Evidence) -> Measured {
        let rise = |Cases { from, of }: Cases| {
            let from = from.unwrap_or(of);
            let there = self.of(Cases { from: Some(from), of }, evidence);
            let back = self.of(Cases { from: Some(of), of: from }, evidence);
            if there.value >= back.value { there } else { back }
        };
        let rises = self.counting(evidence).into_iter().map(rise);
        let known = rises.filter(|rise| rise.value.is_some_and(|rise| !rise.is_nan()));
        let largest =
            known.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
        largest.unwrap_or_default()
    }

    /// By how much the ratio of one change is larger than that of another.
    fn compared(&self, than: &Self, paired: bool, evidence: &Evidence) -> Measured {
        // Replications of different settings stand side by side.
        let logs = |of: &Self| -> Logs {
            let all = of.cases.iter().enumerate();
            let all = all.flat_map(|(at, cases)| {
                let logs = of.logs(*cases, evidence).into_iter();
                logs.map(move |(run, log)| (run + MOST_RUNS * at as u32, log))
            });
            all.collect()
        };
        match (self.kind, paired) {
            (Kind::Size, _) => magnitudes(&logs(self), &logs(than)),
            (_, true) => contrast(&logs(self), &logs(than)),
            (_, false) => unpaired_contrast(&logs(self), &logs(than)),
        }
    }

    /// The sum or the most over all replications, and over all settings.
    fn of_all_runs(&self, evidence: &Evidence) -> Measured {
        let of = |case: Case| {
            let numbers = evidence.runs(case).map(|(_, facts)| self.number(facts));
            match self.runs {
                Runs::Most => numbers.reduce(f64::max),
                _ => evidence.has(case).then(|| numbers.sum()),
            }
        };
        let all = |cases: Vec<Case>| -> Option<f64> {
            let values: Vec<f64> = cases.into_iter().map(of).collect::<Option<_>>()?;
            match self.runs {
                Runs::Most => values.into_iter().reduce(f64::max),
                _ => (!values.is_empty()).then(|| values.iter().sum()),
            }
        };
        let to = all(self.counting(evidence).iter().map(|cases| cases.of).collect());
        let value = match self.is_of_two() {
            true => {
                let from =
                    all(self.counting(evidence).iter().filter_map(|cases| cases.from).collect());
                to.zip(from).map(|(to, from)| 100.0 * to / from).filter(|share| share.is_finite())
            }
            false => to,
        };
        Measured { value, unit: self.unit, ..Measured::default() }
    }

    /// Whether it is of two cases, and not a number of one.
    pub fn is_of_two(&self) -> bool {
        self.cases.iter().any(|cases| cases.from.is_some())
    }

    /// Whether it is a change in percent.
    pub fn is_change(&self) -> bool {
        self.is_of_two()
            && [Kind::Change, Kind::Decrease, Kind::Apart, Kind::Size].contains(&self.kind)
    }

    /// Whether a case that it is of, or leads to, was run.
    pub fn was_run(&self, evidence: &Evidence) -> bool {
        self.cases.iter().any(|cases| evidence.has(cases.of))
    }

    /// The cases that it is of.
    pub fn cases(&self) -> Vec<Case> {
        let own = self.cases.iter().flat_map(|cases| cases.from.into_iter().chain([cases.of]));
        own.chain(self.than.iter().flat_map(|(than, _)| than.cases())).collect()
    }

    /// Whether it is a fact of scenarios, not of runs.
    pub fn is_fact(&self) -> bool {
        matches!(self.asked, Asked::Fact(_))
    }

    /// The same of other experiments: each that is `one` becomes `other`.
    pub fn instead(mut self, one: &str, other: &'static str) -> Self {
        let exchanged = |case: Case| match case.experiment == one {
            true => Case { experiment: other, ..case },
            false => case,
        };
        for cases in &mut self.cases {
            *cases = Cases { from: cases.from.map(exchanged), of: exchanged(cases.of) };
        }
        self
    }
}
