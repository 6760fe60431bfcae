//! Claims as files write them, checked and made into rows: those of a study in a folder, and those of a scenario.

pub mod lists;
pub mod measure;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use floodway_scenario::claims::{self, Flows, Measure, Number};
use floodway_scenario::{Place, Problem, Source, suggest};
use toml::Spanned;

use crate::claim::{Claim, GIVEN, Row, Rule, SET_UP};
use crate::evidence::Case;
use crate::plan::name;
use crate::sql::{self, Query, Shape};

use lists::{Named, Pick};

/// Something that lives as long as the program.
pub fn kept<T>(of: T) -> &'static T {
    Box::leak(Box::new(of))
}

/// Some of them.
pub fn all<T>(of: Vec<T>) -> &'static [T] {
    Box::leak(of.into_boxed_slice())
}

/// What a case is called in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cases {
    /// `experiment/variant`.
    OfExperiments,
    /// A variant, of a single scenario.
    Variants,
}

impl Cases {
    /// What is wrong with a name that no case has, and what such names are called.
    fn unknown(self, text: &str) -> (String, &'static str) {
        match self {
            Self::OfExperiments => (
                format!(
                    "there is no case `{text}`; a case is an experiment and one of its variants"
                ),
                "cases",
            ),
            Self::Variants => (format!("the scenario has no variant `{text}`"), "variants"),
        }
    }

    /// How a measure says what it is of.
    fn help_of(self) -> &'static str {
        match self {
            Self::OfExperiments => "write of = \"experiment/variant\", or both from and to",
            Self::Variants => "write of = \"variant\", or both from and to",
        }
    }
}

/// Claims while they are checked.
pub struct Compiler<'a> {
    source: Arc<Source>,
    flows: &'a BTreeMap<String, Flows>,
    kind: Cases,
    /// Lists of settings by name; a scenario has none.
    pub lists: BTreeMap<String, Vec<Named>>,
    /// The cases that there are, by name.
    pub cases: Vec<(String, Case)>,
    /// What is measured, by name; a scenario has none.
    pub quantities: BTreeMap<String, Spanned<Measure>>,
    /// Statements that stand for tables, by name; a scenario has none.
    pub views: BTreeMap<String, String>,
    /// The files of the scenarios that facts are asked of; a scenario with claims has none.
    pub files: Vec<&'static str>,
    /// What runs are asked in SQL.
    pub queries: Vec<Query>,
    /// The place of each among them, as files write it. Views are known before the first.
    written: BTreeMap<(String, Shape), usize>,
    /// The counters that are asked for.
    pub counters: BTreeSet<&'static str>,
    /// Whether anything is asked of the same flow in two runs.
    pub keeps_flows: bool,
    /// The experiments that each of these statements is asked of.
    pub asked_of: Vec<BTreeSet<&'static str>>,
    /// What was found to be wrong.
    pub problems: Vec<Problem>,
}

impl<'a> Compiler<'a> {
    /// Of a file with these groups of flows; no cases yet.
    pub fn new(source: &Arc<Source>, flows: &'a BTreeMap<String, Flows>, kind: Cases) -> Self {
        Self {
            source: Arc::clone(source),
            flows,
            kind,
            lists: BTreeMap::new(),
            cases: Vec::new(),
            quantities: BTreeMap::new(),
            views: BTreeMap::new(),
            files: Vec::new(),
            queries: Vec::new(),
            written: BTreeMap::new(),
            counters: BTreeSet::new(),
            keeps_flows: false,
            asked_of: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The file.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Something is wrong there.
    pub fn wrong(
        &mut self,
        range: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let place = Place::at(&self.source, range);
        self.problems.push(Problem::error(place, message, help));
    }

    /// A case by its name.
    pub fn case(&mut self, of: &Spanned<String>) -> Option<Case> {
        let text = of.get_ref();
        let found = self.cases.iter().find(|(name, _)| name == text).map(|(_, case)| *case);
        if found.is_none() {
            let (message, noun) = self.kind.unknown(text);
            let names: Vec<&str> = self.cases.iter().map(|(name, _)| name.as_str()).collect();
            let help = suggest::remedy(text, noun, &names);
            self.wrong(of.span(), message, help);
        }
        found
    }

    /// Some experiments are asked for the answer to a statement.
    pub fn asks(&mut self, query: usize, experiments: Vec<&'static str>) {
        self.asked_of[query].extend(experiments);
    }

    /// A statement, as one of those that runs are asked.
    pub fn query(&mut self, sql: &Spanned<String>, shape: Shape) -> Option<usize> {
        // A quantity is asked for many times, and to find the views of a statement and to check it takes long.
        let written = (sql.get_ref().clone(), shape);
        if let Some(known) = self.written.get(&written) {
            return Some(*known);
        }
        let text = sql::with_views(sql.get_ref(), &self.views);
        if let Some(known) = self.queries.iter().position(|query| query.is(&text, shape)) {
            self.written.insert(written, known);
            return Some(known);
        }
        match Query::new(&text, shape) {
            Ok(query) => {
                self.queries.push(query);
                self.asked_of.push(BTreeSet::new());
                self.written.insert(written, self.queries.len() - 1);
                Some(self.queries.len() - 1)
            }
            Err(message) => {
                let help = "tables and columns are in the reference; docs/own-study.md has those that are made of them, \
                            such as `times`, and the functions beside SQLite's, such as quantile(x, p)";
                self.wrong(sql.span(), format!("this SQL cannot be asked: {message}"), help);
                None
            }
        }
    }

    /// The claims of a file, and their numbers with the cases that each is of.
    pub fn claims(&mut self, written: &[claims::Claim]) -> (Vec<Claim>, Vec<(Row, Vec<Case>)>) {
        let mut claims = Vec::new();
        let mut rows = Vec::new();
        let mut ids = BTreeSet::new();
        for claim in written {
            let id = name(claim.id.get_ref());
            if !ids.insert(id) {
                let help = "each claim has a name of its own; parts of a claim are its numbers";
                self.wrong(claim.id.span(), format!("there are two claims `{id}`"), help);
            }
            if claim.number.is_empty() {
                let help = "say what is measured in `[[claim.number]]`";
                self.wrong(claim.id.span(), format!("the claim `{id}` has no numbers"), help);
            }
            claims.push(Claim {
                id,
                quotation: name(&claim.quotation),
                result: None,
                parts_differ_in: claim.parts_differ_in.as_deref().map(name),
            });
            rows.extend(self.rows_of(id, claim));
        }
        (claims, rows)
    }

    /// The numbers of a claim: of each combination of its lists of settings, if it is over any.
    fn rows_of(&mut self, id: &'static str, claim: &claims::Claim) -> Vec<(Row, Vec<Case>)> {
        let Some(picks) = self.picks(&claim.over, &claim.except) else { return Vec::new() };
        let mut rows = Vec::new();
        for pick in &picks {
            for of in &claim.number {
                self.known_expectations(of, &picks);
                let expected = of.expected_of.get(&pick.name());
                let filled = Number {
                    part: pick.labels(&of.part),
                    metric: pick.labels(&of.metric),
                    claimed: pick.labels(&of.claimed),
                    expected: expected.map_or_else(|| &of.expected, |own| own.get_ref()).clone(),
                    expected_of: BTreeMap::new(),
                    source: None,
                    rule: of.rule,
                    measure: pick.measure(&of.measure),
                };
                let source = of.source.as_ref().unwrap_or(&claim.source);
                rows.extend(self.row(id, source, &filled, None));
            }
        }
        rows
    }

    /// Refuses an expectation of a setting that is not there.
    fn known_expectations(&mut self, of: &Number, picks: &[Pick]) {
        for (name, text) in &of.expected_of {
            if !picks.iter().any(|pick| pick.name() == *name) {
                let names: Vec<String> = picks.iter().map(Pick::name).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("`expected_of` has `{name}`, which the claim is not about");
                let place = Place::at(&self.source, text.span());
                let problem =
                    Problem::error(place, message, suggest::remedy(name, "settings", &names));
                // It is found once for each combination.
                if !self.problems.contains(&problem) {
                    self.problems.push(problem);
                }
            }
        }
    }

    /// The number of a claim, or a check; of a check, whether it is one of the set-up. Facts always are.
    pub fn row(
        &mut self,
        id: &'static str,
        source: &str,
        of: &Number,
        check: Option<bool>,
    ) -> Option<(Row, Vec<Case>)> {
        if let Some(problem) = Rule::from(of.rule).cannot_be_met() {
            let help = "write a number, or the lower limit first";
            self.wrong(of.measure.span(), format!("the rule of this number {problem}"), help);
        }
        let measure = self.measure(&of.measure)?;
        let cases = measure.cases();
        let row = Row {
            id,
            part: name(&of.part),
            metric: name(&of.metric),
            claimed: name(&of.claimed),
            source: name(source),
            rule: of.rule.into(),
            expected: match check {
                Some(of_set_up) if of_set_up || measure.is_fact() => SET_UP,
                Some(_) => GIVEN,
                None => name(&of.expected),
            },
            measure: kept(move |evidence: &crate::Evidence| measure.measure(evidence)),
        };
        Some((row, cases))
    }
}

impl From<claims::Rule> for Rule {
    fn from(rule: claims::Rule) -> Self {
        use claims::Rule as Written;
        match rule {
            Written::Effect([low, high]) => Self::Effect(low, high),
            Written::Less(least) => Self::Less(least),
            Written::More(least) => Self::More(least),
            Written::None(within) => Self::None(within),
            Written::NotAbove(most) => Self::NotAbove(most),
            Written::AtMost(most) => Self::AtMost(most),
            Written::Between([low, high]) => Self::Between(low, high),
            Written::Within([low, high]) => Self::Within(low, high),
            Written::Exactly(value) => Self::Exactly(value),
            Written::Never => Self::Never,
            Written::Described => Self::Described,
        }
    }
}
