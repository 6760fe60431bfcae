//! Numbers: completion times, counters, and SQL.

use std::collections::BTreeMap;

use floodway_model::{Bytes, Duration, Rate};
use floodway_report::statistics::Scale;
use floodway_scenario::claims::{self, Flows, Kind, Measure};
use floodway_scenario::suggest;
use toml::Spanned;

use crate::evidence::{Case, Evidence, Facts};
use crate::flows::{FlowGroup, Quantile};
use crate::measure::{Measured, estimate};
use crate::plan::name;
use crate::sql::Shape;

use super::Compiler;

/// All measured flows.
const ALL: FlowGroup = FlowGroup::all("all flows");

/// The groups of flows that are asked for.
pub fn groups(flows: &BTreeMap<String, Flows>) -> Vec<FlowGroup> {
    let group = |(label, of): (&String, &Flows)| FlowGroup {
        label: name(label),
        from: of.from.map_or(0, |bytes| bytes.0),
        below: of.below.map(|bytes| bytes.0),
        workload: of.workload,
    };
    flows.iter().map(group).chain([ALL]).collect()
}

/// Where a value lies on an axis: a number as it is, a size in bytes, a rate in b/s, a time in ns.
pub fn position(text: &str) -> Option<f64> {
    let bytes = || text.parse::<Bytes>().ok().map(|of| of.0 as f64);
    let rate = || text.parse::<Rate>().ok().map(|of| of.0 as f64);
    let time = || text.parse::<Duration>().ok().map(|of| of.0 as f64 / 1e3);
    text.parse().ok().or_else(bytes).or_else(rate).or_else(time)
}

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The mean of completion times, or a quantile.
    Fct(FlowGroup, Option<Quantile>),
    /// A counter.
    Counter(&'static str),
    /// Jain's index in windows of so many nanoseconds.
    Fairness(f64),
    /// The statement with this number.
    Sql(usize),
}

/// A measure, ready to be taken.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    asked: Asked,
    /// What a change starts from; none of a number of one case.
    from: Option<Case>,
    of: Case,
    kind: Kind,
    unit: &'static str,
    per: f64,
    scale: Scale,
}

impl Compiler<'_> {
    /// Checks how a number is measured.
    pub fn measure(&mut self, of: &Spanned<Measure>) -> Option<Compiled> {
        self.measure_of(of, None)
    }

    /// The same of any of the experiments of a varied one: its name stands for `first`.
    pub fn measure_of(
        &mut self,
        measure: &Spanned<Measure>,
        varied: Option<(&str, &'static str)>,
    ) -> Option<Compiled> {
        let (of, range) = (measure.get_ref(), measure.span());
        let asked = self.asked(measure)?;
        let mut case = |text: &Spanned<String>| match varied {
            Some((label, first)) => {
                let rest = text.get_ref().strip_prefix(label).filter(|rest| rest.starts_with('/'));
                let text = match rest {
                    Some(rest) => Spanned::new(text.span(), format!("{first}{rest}")),
                    None => text.clone(),
                };
                self.case(&text)
            }
            None => self.case(text),
        };
        let (from, to) = match (&of.of, &of.from, &of.to) {
            (Some(of), None, None) => (None, case(of)?),
            (None, Some(from), Some(to)) => {
                let (from, to) = (case(from), case(to));
                (Some(from?), to?)
            }
            _ => {
                let message = "a measure is `of` one case, or leads `from` one `to` another";
                self.wrong(range, message, self.kind.help_of());
                return None;
            }
        };
        if let (Some(kind), None) = (&of.kind, from) {
            let message = "`as` says what is measured of two cases, and there is one";
            self.wrong(
                kind.span(),
                message,
                "leave it out, or write `from` and `to` in place of `of`",
            );
            return None;
        }
        let unit = match asked {
            Asked::Fct(..) => "ns",
            _ => match (of.unit.as_deref(), of.scale) {
                (None, claims::Scale::Share) => "% of the whole",
                (unit, _) => unit.map_or("", name),
            },
        };
        let scale = match of.scale {
            claims::Scale::Amount => Scale::NON_NEGATIVE,
            claims::Scale::Share => Scale::SHARE,
            claims::Scale::Real => Scale::REAL,
        };
        let kind = of.kind.as_ref().map_or(Kind::Change, |kind| *kind.get_ref());
        if let (Some(_), Asked::Fct(..)) = (of.per, asked) {
            let help = "leave it out: completion times are in nanoseconds, and shown in the unit that fits";
            self.wrong(range, "`per` is for counters and SQL", help);
            return None;
        }
        let per = of.per.unwrap_or(1.0);
        Some(Compiled { asked, from, of: to, kind, unit, per, scale })
    }

    fn asked(&mut self, measure: &Spanned<Measure>) -> Option<Asked> {
        let of = measure.get_ref();
        if let (Some(flows), None) = (&of.flows, &of.fct) {
            let help = "in SQL, choose flows by WHERE";
            self.wrong(flows.span(), "`flows` is for completion times (`fct`)", help);
            return None;
        }
        match (&of.fct, &of.counter, &of.fairness, &of.sql) {
            (Some(statistic), None, None, None) => self.fct(statistic, of.flows.as_ref()),
            (None, Some(counter), None, None) => Some(Asked::Counter(name(counter.get_ref()))),
            (None, None, Some(window), None) => self.fairness(window),
            (None, None, None, Some(sql)) => self.query(sql, Shape::Number).map(Asked::Sql),
            _ => {
                let message = "a measure has exactly one of `fct`, `counter`, `fairness` and `sql`";
                self.wrong(measure.span(), message, "for example fct = \"mean\"");
                None
            }
        }
    }

    fn fairness(&mut self, window: &Spanned<Duration>) -> Option<Asked> {
        if *window.get_ref() == Duration::ZERO {
            let help = "give windows a length in which many packets of each flow arrive, as in fairness = \"1ms\"";
            self.wrong(window.span(), "the windows of `fairness` have no length", help);
            return None;
        }
        Some(Asked::Fairness(window.get_ref().as_ns()))
    }

    fn fct(
        &mut self,
        statistic: &Spanned<String>,
        flows: Option<&Spanned<String>>,
    ) -> Option<Asked> {
        let group = match flows {
            None => Some(ALL),
            Some(label) => {
                let groups = groups(self.flows);
                let found = groups.iter().find(|group| group.label == label.get_ref());
                if found.is_none() {
                    let names: Vec<&str> = self.flows.keys().map(String::as_str).collect();
                    let message = format!("there is no group of flows `{}`", label.get_ref());
                    self.wrong(
                        label.span(),
                        message,
                        suggest::remedy(label.get_ref(), "groups", &names),
                    );
                }
                found.copied()
            }
        };
        let text = statistic.get_ref();
        let quantile = Quantile::ALL.into_iter().find(|quantile| quantile.name() == text);
        if quantile.is_none() && text != "mean" {
            let message = format!("`{text}` is no statistic of completion times");
            let names: Vec<&str> =
                Quantile::ALL.iter().map(|quantile| quantile.name()).chain(["mean"]).collect();
            self.wrong(statistic.span(), message, suggest::remedy(text, "statistics", &names));
            return None;
        }
        Some(Asked::Fct(group?, quantile))
    }
}

impl Compiled {
    /// The number.
    pub fn measure(&self, evidence: &Evidence) -> Measured {
        match (self.asked, self.from) {
            (Asked::Fct(group, None), None) => evidence.fct(self.of, group),
            (Asked::Fct(group, Some(quantile)), None) => {
                evidence.fct_quantile(self.of, group, quantile)
            }
            (Asked::Fct(group, quantile), Some(from)) => match (self.kind, quantile) {
                (Kind::Change, None) => evidence.fct_change(from, self.of, group),
                (Kind::Change, Some(quantile)) => {
                    evidence.quantile_change(from, self.of, group, quantile)
                }
                (Kind::Difference, None) => evidence.fct_difference(from, self.of, group),
                (Kind::Difference, Some(quantile)) => {
                    self.difference(evidence, from, |facts| quantile.of(&facts.group(group).fct))
                }
            },
            (Asked::Counter(counter), _) => {
                let cases = self.from.into_iter().chain([self.of]);
                // What no run knows is a wrong name, or did not happen anywhere.
                let mut runs = cases.flat_map(|case| evidence.runs(case));
                match runs.any(|(_, facts)| facts.scalars.contains_key(counter)) {
                    true => self.of_runs(evidence, |facts| facts.number(counter) / self.per),
                    false => Measured { unit: self.unit, ..Measured::default() },
                }
            }
            (Asked::Fairness(window_ns), _) => {
                self.of_runs(evidence, |facts| facts.fairness(window_ns) / self.per)
            }
            (Asked::Sql(query), _) => {
                self.of_runs(evidence, |facts| facts.answer(query) / self.per)
            }
        }
    }

    fn of_runs(&self, evidence: &Evidence, number: impl Fn(&Facts) -> f64) -> Measured {
        match (self.from, self.kind) {
            // Shares are shown in percent.
            (None, _) if self.scale == Scale::SHARE => evidence.share(self.of, self.unit, number),
            (None, _) => evidence.on_scale(self.of, self.scale, self.unit, number),
            (Some(from), Kind::Change) => evidence.change_on(from, self.of, self.scale, number),
            (Some(from), Kind::Difference) => self.difference(evidence, from, number),
        }
    }

    fn difference(
        &self,
        evidence: &Evidence,
        from: Case,
        number: impl Fn(&Facts) -> f64,
    ) -> Measured {
        let differences = evidence.pairs(from, self.of).map(|(_, a, b)| number(b) - number(a));
        estimate(differences, Scale::REAL, self.unit)
    }

    /// Whether it is a change or a difference, and not a number of one case.
    pub fn is_of_two(&self) -> bool {
        self.from.is_some()
    }

    /// Whether it is a change in percent.
    pub fn is_change(&self) -> bool {
        self.from.is_some() && self.kind == Kind::Change
    }

    /// Whether the case that it is of, or leads to, was run.
    pub fn was_run(&self, evidence: &Evidence) -> bool {
        evidence.has(self.of)
    }

    /// The cases that it is of.
    pub fn cases(&self) -> Vec<Case> {
        self.from.into_iter().chain([self.of]).collect()
    }

    /// The same of other experiments: each that is `one` becomes `other`.
    pub fn instead(self, one: &str, other: &'static str) -> Self {
        let exchanged = |case: Case| match case.experiment == one {
            true => Case { experiment: other, ..case },
            false => case,
        };
        Self { from: self.from.map(exchanged), of: exchanged(self.of), ..self }
    }
}
