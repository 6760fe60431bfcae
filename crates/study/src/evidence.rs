//! What is kept of the runs of a study, by experiment, variant and replication.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_report::metrics::flow_times;
use floodway_report::scalars::scalars;
use floodway_report::{INTERRUPTED, Run};
use floodway_scenario::{Scenario, Variant, suggest};

use crate::Study;
use crate::claim::Row;
use crate::deliveries::Deliveries;
use crate::distribution::Distribution;
use crate::flows::{Flow, FlowGroup, Summary};
use crate::histogram::Histogram;
use crate::measure::Measured;
use crate::plan::Level;
use crate::sql::{Answer, Asking, Query};

/// A variant of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The experiment.
    pub experiment: &'static str,
    /// The variant.
    pub variant: &'static str,
}

/// What is kept of one run.
#[derive(Clone, Debug)]
pub struct Facts {
    /// How many flows were measured.
    pub measured: u64,
    /// How many of them had not finished when the run ended.
    pub unfinished: u64,
    /// What is kept of the groups of flows of the study.
    groups: Vec<(FlowGroup, Summary)>,
    /// The measured flows themselves by number; empty if the study does not keep them.
    pub flows: Vec<Flow>,
    /// Counters and other numbers about the run.
    pub scalars: BTreeMap<String, f64>,
    /// What arrived of single flows over time; none if the run followed none.
    pub deliveries: Option<Deliveries>,
    /// The answers to the queries of the study.
    answers: Vec<Answer>,
}

impl Facts {
    /// Of a run.
    fn of(run: &Run, study: &Study, experiment: &str, variant: Option<&Variant>) -> Self {
        let flows = flow_times(run.tables, run.simulated_ns);
        let summary = |group: &FlowGroup| {
            (*group, Summary::of(flows.iter().filter(|flow| group.holds(flow))))
        };
        Self {
            measured: flows.len() as u64,
            unfinished: flows.iter().filter(|flow| !flow.finished).count() as u64,
            groups: study.groups.iter().map(summary).collect(),
            scalars: scalars(run.tables).into_iter().map(|(name, of)| (name, of.value)).collect(),
            deliveries: Deliveries::of(run.tables),
            flows: if study.keeps_flows { flows } else { Vec::new() },
            answers: answers(run, study, experiment, variant),
        }
    }

    /// The answer to a query of the study that asks for one number; NaN if it is empty.
    pub fn answer(&self, query: usize) -> f64 {
        self.answers[query].first().map_or(f64::NAN, |[number, ..]| *number)
    }

    /// All rows of the answer to one.
    pub fn rows(&self, query: usize) -> &Answer {
        &self.answers[query]
    }

    /// The answer to one that asks for points: a line, or one for each value of a third column.
    pub fn lines(&self, query: usize) -> Vec<Vec<(f64, f64)>> {
        let of = self.answers[query].iter();
        let known: Vec<&[f64; 3]> = of.filter(|[x, y, _]| x.is_finite() && y.is_finite()).collect();
        let mut lines: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for [x, y, line] in known {
            lines.entry(line.to_bits()).or_default().push((*x, *y));
        }
        lines.into_values().collect()
    }

    /// The flows of a group, one of the study's.
    pub fn group(&self, group: FlowGroup) -> &Summary {
        let found = self.groups.iter().find(|(of, _)| *of == group);
        &found.unwrap_or_else(|| panic!("{group:?} is not among the groups of the study")).1
    }

    /// Jain's fairness index of the flows that the run followed, in windows of this length in
    /// nanoseconds (see [`Deliveries::fairness`]); NaN if there is none.
    pub fn fairness(&self, window_ns: f64) -> f64 {
        let index = self.deliveries.as_ref().and_then(|of| of.fairness(window_ns));
        index.unwrap_or(f64::NAN)
    }

    /// The number of this name; 0 for one that the run does not know, because reasons and queues
    /// are named only where something happened. See [`Evidence::knows`] for names that no run has.
    pub fn number(&self, name: &str) -> f64 {
        self.scalars.get(name).copied().unwrap_or(0.0)
    }
}

/// The answers of a run to the queries of a study. They were checked when the study was loaded, so that one fails
/// only by an error of arithmetic in the data, which gives no number.
fn answers(run: &Run, study: &Study, experiment: &str, variant: Option<&Variant>) -> Vec<Answer> {
    let asked: Vec<&Query> = study.queries.iter().filter(|of| of.is_of(experiment)).collect();
    if asked.is_empty() {
        return vec![Answer::new(); study.queries.len()];
    }
    let asking = Asking::new(&asked, run.tables, run.simulated_ns, variant);
    let mut asking = asking.expect("the tables of a run fit into memory twice");
    let answer = |query: &Query| match query.is_of(experiment) {
        true => asking.ask(query).unwrap_or_default(),
        false => Answer::new(),
    };
    study.queries.iter().map(answer).collect()
}

/// The runs of an experiment, by variant and replication.
type Variants = BTreeMap<String, BTreeMap<u32, Facts>>;

/// The runs of a study as they come in.
#[derive(Debug)]
pub struct Evidence {
    /// The study.
    pub study: &'static Study,
    /// How thorough the study is.
    pub level: Level,
    /// Settings that were changed for all experiments.
    pub settings: Vec<String>,
    /// By experiment, variant and replication.
    runs: Arc<BTreeMap<String, Variants>>,
    scenarios: Arc<BTreeMap<String, Scenario>>,
    /// If it is that of a reading: which experiment stands for which. Others were not run in it.
    stands_for: Option<Vec<(&'static str, &'static str)>>,
    /// Experiments of it that an earlier reading has too.
    shared: BTreeSet<&'static str>,
    /// What was asked for since the last number was measured.
    asked: Cell<Asked>,
}

/// Cases that a number was measured of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Of how many cases runs were asked for.
    cases: u32,
    /// Of how many of them there were any.
    found: u32,
    /// How many of those found belong to an experiment that no earlier reading has.
    own: u32,
}

impl Asked {
    /// Whether all was run that was asked for.
    pub fn all_run(self) -> bool {
        self.cases > 0 && self.cases == self.found
    }

    /// Whether any of it is not what an earlier reading has.
    pub fn any_own(self) -> bool {
        self.own > 0
    }
}

impl Evidence {
    /// No runs yet.
    pub fn new(study: &'static Study, level: Level, settings: &[String]) -> Self {
        Self {
            study,
            level,
            settings: settings.to_vec(),
            runs: Arc::default(),
            scenarios: Arc::default(),
            stands_for: None,
            shared: BTreeSet::new(),
            asked: Cell::default(),
        }
    }

    /// The evidence of one reading: pairs of an experiment and of the one that stands for it there;
    /// of several the first that has the variant that is asked for. No other experiment is known to
    /// it.
    pub fn of_reading(&self, stands_for: &[(&'static str, &'static str)]) -> Self {
        Self {
            settings: self.settings.clone(),
            runs: Arc::clone(&self.runs),
            scenarios: Arc::clone(&self.scenarios),
            stands_for: Some(stands_for.to_vec()),
            shared: BTreeSet::new(),
            asked: Cell::default(),
            ..*self
        }
    }

    /// The same, where an earlier reading has these experiments too.
    pub fn sharing(self, shared: BTreeSet<&'static str>) -> Self {
        Self { shared, ..self }
    }

    /// A number, and which of the cases it is of were run: there may be runs and no number, because
    /// nothing of the kind happened in them.
    pub fn measure(&self, row: &Row) -> (Measured, Asked) {
        self.asked.set(Asked::default());
        let measured = (row.measure)(self);
        (measured, self.asked.get())
    }

    /// The experiments that are meant, the first that has what is asked for; none if there is none in
    /// this reading.
    fn meant<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = |name: &'a str| {
            let own = self.stands_for.is_none().then_some(name);
            let pairs = self.stands_for.iter().flatten();
            own.into_iter().chain(pairs.filter(move |(of, _)| *of == name).map(|(_, is)| *is))
        };
        let first = self.study.first_run.iter().find(|(name, _)| *name == experiment);
        let names: Vec<&'a str> = first.map_or_else(|| vec![experiment], |(_, of)| of.clone());
        names.into_iter().flat_map(of_name)
    }

    /// An experiment begins.
    pub fn begin(&mut self, experiment: &str, scenario: &Scenario) {
        Arc::make_mut(&mut self.scenarios).insert(experiment.to_owned(), scenario.clone());
    }

    /// A run has ended. Interrupted ones do not count.
    pub fn add(&mut self, experiment: &str, run: &Run) {
        if run.stop == INTERRUPTED {
            return;
        }
        let scenario = self.scenarios.get(experiment);
        let variant = scenario.and_then(|of| of.variant(run.variant).ok());
        let variants = Arc::make_mut(&mut self.runs).entry(experiment.to_owned()).or_default();
        let replications = variants.entry(run.variant.to_owned()).or_default();
        replications.insert(run.replication, Facts::of(run, self.study, experiment, variant));
    }

    /// The scenario of an experiment that has begun.
    pub fn scenario(&self, experiment: &str) -> Option<&Scenario> {
        self.meant(experiment).find_map(|name| self.scenarios.get(name))
    }

    /// The names of all experiments that have begun.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.scenarios.keys().map(String::as_str)
    }

    /// The runs of a case by replication; none of one that was not run.
    pub fn runs(&self, case: Case) -> impl Iterator<Item = (u32, &Facts)> {
        let found = self.find(case);
        let Asked { cases, found: before, own } = self.asked.get();
        let is_own = found.is_some_and(|(name, _)| !self.shared.contains(name));
        self.asked.set(Asked {
            cases: cases + 1,
            found: before + u32::from(found.is_some()),
            own: own + u32::from(is_own),
        });
        let runs = found.map(|(_, runs)| runs);
        runs.into_iter().flatten().map(|(at, facts)| (*at, facts))
    }

    /// Whether any run of the study has a counter of this name. Reasons of drops have one only where something was dropped.
    pub fn knows(&self, counter: &str) -> bool {
        let mut facts = self.runs.values().flatten().flat_map(|(_, runs)| runs.values());
        counter.starts_with("dropped_packets_") || facts.any(|of| of.scalars.contains_key(counter))
    }

    /// What the study asks for and no run has, each in a sentence with what may be meant.
    pub fn unknown_counters(&self) -> Vec<String> {
        let unknown = self.study.counters.iter().filter(|counter| !self.knows(counter));
        let every = self.runs.values().flatten().flat_map(|(_, runs)| runs.values());
        let names: BTreeSet<&str> =
            every.flat_map(|of| of.scalars.keys()).map(String::as_str).collect();
        let sentence = |counter: &&str| {
            let hint = match suggest::closest(counter, names.iter().copied()) {
                Some(name) => format!("Did you mean `{name}`?"),
                None => "The `summary.json` of an experiment lists its counters.".to_owned(),
            };
            format!(
                "No run has the counter `{counter}`, so what asks for it is not measured. {hint}"
            )
        };
        unknown.map(sentence).collect()
    }

    /// The runs of a case, with the experiment that they are of.
    fn find(&self, case: Case) -> Option<(&str, &BTreeMap<u32, Facts>)> {
        self.meant(case.experiment).find_map(|name| {
            let runs = self.runs.get(name).and_then(|variants| variants.get(case.variant));
            runs.map(|runs| (name, runs))
        })
    }

    /// Whether a case was run.
    pub fn has(&self, case: Case) -> bool {
        self.find(case).is_some()
    }

    /// The distribution that a query of the study asks for, all replications of a case as one.
    pub fn distribution(&self, case: Case, query: usize) -> Distribution {
        let rows: Answer =
            self.runs(case).flat_map(|(_, facts)| &facts.answers[query]).copied().collect();
        Distribution::of(&rows)
    }

    /// The distribution of the completion times of a group, all replications of a case as one.
    pub fn times(&self, case: Case, group: FlowGroup) -> Histogram {
        let mut sum = Histogram::default();
        for (_, facts) in self.runs(case) {
            sum.add(&facts.group(group).times);
        }
        sum
    }

    /// Replications that two cases share, with the facts of both.
    pub fn pairs(&self, from: Case, to: Case) -> impl Iterator<Item = (u32, &Facts, &Facts)> {
        let others: BTreeMap<u32, &Facts> = self.runs(to).collect();
        self.runs(from).filter_map(move |(at, a)| others.get(&at).map(|b| (at, a, *b)))
    }
}
