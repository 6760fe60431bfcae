//! Numbers: completion times, counters, and SQL.

mod taken;

use std::collections::BTreeMap;

use floodway_model::{Bytes, Duration, Rate};
use floodway_report::statistics::Scale;
use floodway_scenario::claims::{self, Flows, Kind, Measure, Runs, Together};
use floodway_scenario::suggest;
use toml::Spanned;

use crate::evidence::Case;
use crate::facts::Fact;
use crate::flows::{FlowGroup, Quantile};
use crate::plan::name;
use crate::sql::{self, Query, Shape};

use super::{Compiler, kept};

/// Of a quantile or a mean of times of table `departures`: a bin is at most 1/64 of its upper edge wide.
const BINNED: Scale = Scale { resolution: 1.0 / 64.0, ..Scale::NON_NEGATIVE };
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
    /// How many flows do not have the same completion time in both cases.
    Changed(FlowGroup),
    /// The statement with this number.
    Sql(usize),
    /// Another statement, of the rows that this one gives of all replications.
    Pooled(usize, &'static Query),
    /// Nothing: it is a fact of scenarios.
    Fact(&'static Fact),
}

/// What it is of: a case, or two of which the first is what a change starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cases {
    pub from: Option<Case>,
    pub of: Case,
}

impl Cases {
    /// All of them.
    pub fn all(self) -> impl Iterator<Item = Case> {
        self.from.into_iter().chain([self.of])
    }
}

/// A measure, ready to be taken.
#[derive(Clone, Debug)]
pub struct Compiled {
    asked: Asked,
    /// What it is of; over lists of settings one for each combination.
    pub(super) cases: Vec<Cases>,
    /// Whether all of these must have been run.
    pub(super) every: bool,
    /// Whether there is a number all the same, that is no evidence.
    pub(super) shown_in_part: bool,
    /// How it is taken together over these.
    pub(super) together: Together,
    pub(super) kind: Kind,
    runs: Runs,
    /// The change that this one is compared with, and whether both have the same traffic.
    than: Option<(Box<Self>, bool)>,
    pub(super) unit: &'static str,
    per: f64,
    pub(super) scale: Scale,
    /// Whether means are geometric.
    pub(super) geometric: bool,
    /// Whether a ratio of one case is given as a change from 1.
    in_percent: bool,
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
        let measure = &self.with_quantity(measure)?;
        let (of, range) = (measure.get_ref(), measure.span());
        let asked = self.asked(measure)?;
        let cases = match asked {
            Asked::Fact(_) => Vec::new(),
            _ => self.cases_of(measure, varied)?,
        };
        if let Asked::Sql(query) | Asked::Pooled(query, _) = asked {
            let all = cases.iter().flat_map(|cases: &Cases| cases.all());
            self.asks(query, all.map(|case| case.experiment).collect());
        }
        let is_of_two = cases.iter().any(|cases| cases.from.is_some());
        let kind = of.kind.as_ref().map_or(Kind::Change, |kind| *kind.get_ref());
        let runs = of.runs.as_ref().map_or(Runs::Mean, |runs| *runs.get_ref());
        self.fitting(measure, is_of_two, kind, runs)?;
        self.fitting_asked(measure, asked, is_of_two)?;
        let than = match &of.than {
            None => None,
            Some(than) => {
                let alone = Measure { than: None, kind: None, unpaired: false, ..of.clone() };
                let than = Spanned::new(than.span(), than.get_ref().or(&alone));
                Some((Box::new(self.measure_of(&than, varied)?), !of.unpaired))
            }
        };
        let unit = match (asked, of.unit.as_deref(), of.scale.unwrap_or_default(), kind) {
            (Asked::Fct(..), ..) => "ns",
            (Asked::Changed(_), ..) => "flows",
            (_, Some(unit), ..) => name(unit),
            (_, None, claims::Scale::Share, _) => "% of the whole",
            (_, None, _, Kind::Share) => "% of those",
            (_, None, ..) => "",
        };
        let scale = match of.scale.unwrap_or_default() {
            claims::Scale::Amount | claims::Scale::Ratio => Scale::NON_NEGATIVE,
            claims::Scale::Binned => BINNED,
            claims::Scale::Share => Scale::SHARE,
            claims::Scale::Real => Scale::REAL,
            claims::Scale::Score => Scale::SCORE,
        };
        if let (Some(_), Asked::Fct(..)) = (of.per, asked) {
            let help = "leave it out: completion times are in nanoseconds, and shown in the unit that fits";
            self.wrong(range, "`per` is for counters and SQL", help);
            return None;
        }
        let together = of.together.as_ref().map(|together| *together.get_ref()).unwrap_or_default();
        Some(Compiled {
            asked,
            cases,
            every: of.every,
            shown_in_part: of.shown_in_part,
            together,
            kind,
            runs,
            than,
            unit,
            per: of.per.unwrap_or(1.0),
            scale,
            geometric: of.scale == Some(claims::Scale::Ratio),
            in_percent: of.kind.is_some() && !is_of_two,
        })
    }

    /// A measure with what its quantity says.
    pub fn with_quantity(&mut self, measure: &Spanned<Measure>) -> Option<Spanned<Measure>> {
        let of = measure.get_ref();
        let Some(wanted) = &of.quantity else { return Some(measure.clone()) };
        let asks = Measure { quantity: None, ..of.clone() }.asks();
        match self.quantities.get(wanted.get_ref()) {
            Some(known) if !asks => {
                let own = Measure { quantity: None, ..of.clone() };
                let both = Spanned::new(measure.span(), own.or(known.get_ref()));
                // A quantity of another one has no third.
                match &both.get_ref().quantity {
                    Some(other)
                        if self
                            .quantities
                            .get(other.get_ref())
                            .is_some_and(|of| of.get_ref().quantity.is_none()) =>
                    {
                        self.with_quantity(&both)
                    }
                    Some(other) => {
                        let message = format!(
                            "`{}` is no quantity that says itself what it asks",
                            other.get_ref()
                        );
                        let help = "a quantity may build on another one, and that on no third";
                        self.wrong(other.span(), message, help);
                        None
                    }
                    None => Some(both),
                }
            }
            Some(_) => {
                self.not_one(measure);
                None
            }
            None => {
                let names: Vec<&str> = self.quantities.keys().map(String::as_str).collect();
                let help = match names.as_slice() {
                    [] => "quantities stand in the file of a study: [quantity.NAME]".to_owned(),
                    names => suggest::remedy(wanted.get_ref(), "quantities", names),
                };
                let message = format!("there is no quantity `{}`", wanted.get_ref());
                self.wrong(wanted.span(), message, help);
                None
            }
        }
    }

    /// What a measure is of, for each combination of its lists of settings.
    fn cases_of(
        &mut self,
        measure: &Spanned<Measure>,
        varied: Option<(&str, &'static str)>,
    ) -> Option<Vec<Cases>> {
        let of = measure.get_ref();
        let picks = self.picks(&of.over, &of.except)?;
        let mut all = Vec::new();
        for pick in &picks {
            let mut case = |text: &Spanned<String>| {
                let text = pick.case(text);
                match varied {
                    Some((label, first)) => {
                        let rest = text.get_ref().strip_prefix(label);
                        let rest = rest.filter(|rest| rest.starts_with('/'));
                        let own = rest.map(|rest| format!("{first}{rest}"));
                        let own = own.unwrap_or_else(|| text.get_ref().clone());
                        self.case(&Spanned::new(text.span(), own))
                    }
                    None => self.case(&text),
                }
            };
            all.push(match (&of.of, &of.from, &of.to) {
                (Some(of), None, None) => Cases { from: None, of: case(of)? },
                (None, Some(from), Some(to)) => {
                    let (from, to) = (case(from), case(to));
                    Cases { from: Some(from?), of: to? }
                }
                _ => {
                    let message = "a measure is `of` one case, or leads `from` one `to` another";
                    self.wrong(measure.span(), message, self.kind.help_of());
                    return None;
                }
            });
        }
        Some(all)
    }

    /// Refuses what does not go together.
    fn fitting(
        &mut self,
        measure: &Spanned<Measure>,
        is_of_two: bool,
        kind: Kind,
        runs: Runs,
    ) -> Option<()> {
        let of = measure.get_ref();
        let is_ratio =
            of.scale == Some(claims::Scale::Ratio) && kind == Kind::Change && of.sql.is_some();
        let (message, help) = match (&of.kind, &of.than) {
            (Some(_), _) if !is_of_two && !is_ratio => (
                "`as` says what is measured of two cases, and there is one",
                "leave it out, or write `from` and `to` in place of `of`",
            ),
            (_, Some(_)) if !is_of_two || ![Kind::Change, Kind::Size].contains(&kind) => (
                "what is compared with another is a change",
                "write `from` and `to`, and leave `as` out or write as = \"size\"",
            ),
            (_, None) if kind == Kind::Size || of.unpaired => (
                "there is no other change to compare this one with",
                "write than = { … } with what is different",
            ),
            _ if of.scale == Some(claims::Scale::Score)
                && is_of_two
                && (![Kind::Change, Kind::Difference].contains(&kind) || of.than.is_some()) =>
            {
                (
                    "scores have no ratio: their changes are in points",
                    "leave `as` and `than` out, or write another scale",
                )
            }
            _ if of.scale == Some(claims::Scale::Score) && is_of_two && !of.over.is_empty() => (
                "changes of scores are not taken together over settings",
                "write a number for each setting: `over` of the claim in place of that of the measure",
            ),
            _ if (kind == Kind::Share) != (is_of_two && runs != Runs::Mean) => (
                "sums of two cases are a share, and a share is one of sums",
                "write both runs = \"sum\" and as = \"share\", or neither",
            ),
            _ => return Some(()),
        };
        self.wrong(measure.span(), message, help);
        None
    }

    /// Refuses what does not go with what is asked.
    fn fitting_asked(
        &mut self,
        measure: &Spanned<Measure>,
        asked: Asked,
        is_of_two: bool,
    ) -> Option<()> {
        let of = measure.get_ref();
        let is_of_flows = of.kind.as_ref().is_some_and(|kind| *kind.get_ref() == Kind::FlowByFlow);
        let (message, help) = match asked {
            Asked::Pooled(..) if is_of_two || !of.over.is_empty() || of.runs.is_some() => (
                "rows of all replications are those of one case",
                "write `of`, and leave `over` and `runs` out",
            ),
            Asked::Changed(_) if !is_of_flows => (
                "`changed` compares the same flows in two cases",
                "write as = \"flow_by_flow\", `from` and `to`",
            ),
            Asked::Changed(_) => {
                self.keeps_flows = true;
                return Some(());
            }
            Asked::Fct(..) if is_of_flows && of.over.is_empty() => {
                self.keeps_flows = true;
                return Some(());
            }
            _ if is_of_flows => (
                "flow by flow there are completion times, of two cases",
                "write fct = \"p50\" and leave `over` out, or fct = \"changed\"",
            ),
            _ => return Some(()),
        };
        self.wrong(measure.span(), message, help);
        None
    }

    fn not_one(&mut self, measure: &Spanned<Measure>) {
        let message = "a measure has exactly one of `fct`, `counter`, `fairness` and `sql`";
        self.wrong(measure.span(), message, "for example fct = \"mean\"");
    }

    fn asked(&mut self, measure: &Spanned<Measure>) -> Option<Asked> {
        let of = measure.get_ref();
        if let (Some(flows), None) = (&of.flows, &of.fct) {
            let help = "in SQL, choose flows by WHERE";
            self.wrong(flows.span(), "`flows` is for completion times (`fct`)", help);
            return None;
        }
        if let (Some(pooled), None) = (&of.pooled, &of.sql) {
            let help = "write the rows of each replication as `sql`";
            self.wrong(pooled.span(), "`pooled` asks the rows that `sql` gives", help);
            return None;
        }
        match (&of.fct, &of.counter, &of.fairness, &of.sql, &of.fact) {
            (Some(statistic), None, None, None, None) => self.fct(statistic, of.flows.as_ref()),
            (None, Some(of), None, None, None) => {
                let counter = name(of.get_ref());
                self.counters.insert(counter);
                Some(Asked::Counter(counter))
            }
            (None, None, Some(window), None, None) => self.fairness(window),
            (None, None, None, Some(sql), None) => match &of.pooled {
                Some(pooled) => self.pooled(sql, pooled),
                None => self.number_of(measure, sql).map(Asked::Sql),
            },
            (None, None, None, None, Some(fact)) => self.fact(measure, fact),
            _ => {
                self.not_one(measure);
                None
            }
        }
    }

    fn fact(&mut self, measure: &Spanned<Measure>, text: &Spanned<String>) -> Option<Asked> {
        let of = measure.get_ref();
        if of.of.is_some() || of.from.is_some() || of.to.is_some() {
            let help =
                "leave `of`, `from` and `to` out: the statement says which variant it is about";
            self.wrong(measure.span(), "a fact is of scenarios, not of a case", help);
            return None;
        }
        if self.files.is_empty() {
            let help = "write a [[check]] of a study, with the scenario as one of its experiments";
            self.wrong(text.span(), "facts are asked of the scenarios of a study", help);
            return None;
        }
        let unit = of.unit.as_deref().map_or("", name);
        let asked = sql::with_views(text.get_ref(), &self.views);
        match Fact::new(&asked, &self.files, unit) {
            Ok(fact) => Some(Asked::Fact(kept(fact))),
            Err(message) => {
                let help = "scenarios have the tables settings, derived, network_nodes, network_links and workloads: see \
                            docs/own-study.md";
                self.wrong(text.span(), format!("this SQL cannot be asked: {message}"), help);
                None
            }
        }
    }

    /// A statement for a number; for an exponent one with two columns.
    fn number_of(&mut self, of: &Spanned<Measure>, sql: &Spanned<String>) -> Option<usize> {
        let of = of.get_ref();
        let together = of.together.as_ref();
        if let (Some(together), true) = (together, of.over.is_empty()) {
            let help = "name lists of settings in `over`, or leave it out";
            self.wrong(together.span(), "`together` is for a number over settings", help);
            return None;
        }
        let is_exponent = together.is_some_and(|of| *of.get_ref() == Together::Exponent);
        self.query(sql, if is_exponent { Shape::Points } else { Shape::Number })
    }

    /// A statement of the rows that another one gives of all replications.
    fn pooled(&mut self, sql: &Spanned<String>, pooled: &Spanned<String>) -> Option<Asked> {
        let rows = self.query(sql, Shape::Points)?;
        match Query::of(pooled.get_ref(), Shape::Number, &[sql::pool(&[])]) {
            Ok(query) => Some(Asked::Pooled(rows, kept(query))),
            Err(message) => {
                let help =
                    "it asks table `pool` with the columns a, b and c: the rows that `sql` gives";
                self.wrong(pooled.span(), format!("this SQL cannot be asked: {message}"), help);
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

    /// The group of flows of this name.
    pub fn group(&mut self, label: &Spanned<String>) -> Option<FlowGroup> {
        let found = groups(self.flows).into_iter().find(|group| group.label == label.get_ref());
        if found.is_none() {
            let names: Vec<&str> = self.flows.keys().map(String::as_str).collect();
            let message = format!("there is no group of flows `{}`", label.get_ref());
            let help = suggest::remedy(label.get_ref(), "groups", &names);
            self.wrong(label.span(), message, help);
        }
        found
    }

    fn fct(
        &mut self,
        statistic: &Spanned<String>,
        flows: Option<&Spanned<String>>,
    ) -> Option<Asked> {
        let group = flows.map_or(Some(ALL), |flows| self.group(flows));
        let text = statistic.get_ref();
        if text == "changed" {
            return group.map(Asked::Changed);
        }
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
