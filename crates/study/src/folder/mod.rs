//! Studies that are no part of the program: a folder with `study.toml`, its scenarios, and points to lay over.
//!
//! - `document`: the file
//! - `measure`: numbers, by completion times, counters and SQL
//! - `chart`: sections with charts
//!
//! A study that is loaded is kept as long as the program runs, like those that are part of it.

mod chart;
mod document;
mod measure;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use floodway_model::family::Entry;
use floodway_scenario::{Error, Place, Problem, Source, suggest};

use crate::claim::{Claim, GIVEN, Row};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{moves, number};
use crate::flows::FlowGroup;
use crate::plan::{Experiment, Level, name};
use crate::readings::{Choice, Factor, Judged, Network, Readings};
use crate::sql::Query;
use crate::{Library, Study};

use document::{Document, Number, Vary};

/// The file of a study.
pub const FILE: &str = "study.toml";

/// An experiment with the names of its cases.
struct Known {
    /// The names of the experiments: several if a setting varies.
    names: Vec<&'static str>,
    /// Where they lie on an axis.
    at: Vec<f64>,
    /// The settings that differ.
    vary: Vec<Option<String>>,
    /// The variants that it runs.
    variants: Vec<&'static str>,
    /// The path of its scenario.
    file: &'static str,
}

/// A study while it is checked.
struct Loading<'a> {
    source: Arc<Source>,
    document: &'a Document,
    experiments: BTreeMap<&'a str, Known>,
    queries: Vec<Query>,
    problems: Vec<Problem>,
}

/// Something that lives as long as the program.
fn kept<T>(of: T) -> &'static T {
    Box::leak(Box::new(of))
}

/// Some of them.
fn all<T>(of: Vec<T>) -> &'static [T] {
    Box::leak(of.into_boxed_slice())
}

/// Reads the study of a folder. Fails with everything that is wrong with its file, or with the first scenario that cannot
/// run.
pub fn load(folder: &Path) -> Result<&'static Study, Error> {
    let path = folder.join(FILE);
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let place = Place::whole(&Arc::new(Source::new(&shown, String::new())));
        let help = format!(
            "a study is a folder with a file {FILE}; `floodway list study` shows those that are part of the program"
        );
        Error::from(Problem::error(place, format!("{shown} cannot be read: {error}"), help))
    })?;
    let source = Arc::new(Source::new(&shown, text));
    let document: Document = toml::from_str(source.inner()).map_err(|error| {
        let place = match error.span() {
            Some(range) => Place::at(&source, range),
            None => Place::whole(&source),
        };
        let help = "see docs/own-study.md for what a study can have";
        Error::from(Problem::error(place, error.message(), help))
    })?;
    let mut loading = Loading {
        source: Arc::clone(&source),
        document: &document,
        experiments: BTreeMap::new(),
        queries: Vec::new(),
        problems: Vec::new(),
    };
    loading.experiments(folder)?;
    let study = loading.study(folder);
    match Error::of(loading.problems) {
        Some(error) => Err(error),
        None => Ok(study),
    }
}

impl<'a> Loading<'a> {
    /// Something is wrong there.
    fn wrong(&mut self, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let place = Place::at(&self.source, range);
        self.problems.push(Problem::error(place, message, help));
    }

    /// Reads the scenarios, for their variants.
    fn experiments(&mut self, folder: &Path) -> Result<(), Error> {
        let document = self.document;
        for (label, of) in &document.experiment {
            let path = folder.join(of.scenario.get_ref());
            let file = name(&path.display().to_string());
            if !path.is_file() {
                let message = format!("there is no file {}", path.display());
                self.wrong(
                    of.scenario.span(),
                    message,
                    format!("scenarios are named from where {FILE} is"),
                );
                continue;
            }
            let (names, at, vary) = match &of.vary {
                None => (vec![name(label)], vec![0.0], vec![None]),
                Some(vary) => self.varied(label, vary.get_ref(), vary.span()),
            };
            let set =
                document.set.iter().chain(&of.set).chain(vary.iter().flatten().take(1)).cloned();
            let first = Experiment { set: set.collect(), ..Experiment::new(name(label), file) };
            let scenario = first.scenario(&Library::Folder(""), &[])?;
            let there: Vec<&'static str> =
                scenario.variants().iter().map(|variant| name(&variant.name)).collect();
            let mut variants = Vec::new();
            for wanted in &of.variants {
                match there.iter().find(|known| **known == wanted.get_ref().as_str()) {
                    Some(known) => variants.push(*known),
                    None => {
                        let message = format!("{file} has no variant `{}`", wanted.get_ref());
                        self.wrong(
                            wanted.span(),
                            message,
                            suggest::remedy(wanted.get_ref(), "variants", &there),
                        );
                    }
                }
            }
            if of.variants.is_empty() {
                variants = there;
            }
            self.experiments.insert(label, Known { names, at, vary, variants, file });
        }
        Ok(())
    }

    /// The experiments of a setting with several values.
    fn varied(
        &mut self,
        label: &str,
        vary: &Vary,
        range: Range<usize>,
    ) -> (Vec<&'static str>, Vec<f64>, Vec<Option<String>>) {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Float(value) => value.to_string(),
            toml::Value::Integer(value) => value.to_string(),
            other => format!("{other:?}"),
        };
        let mut at = Vec::new();
        for (place, value) in vary.values.iter().enumerate() {
            let given = vary.at.as_ref().map(|at| at.get(place).copied());
            match given.unwrap_or_else(|| measure::position(&text(value))) {
                Some(value) => at.push(value),
                None => {
                    let message = format!("`{}` has no place on an axis", text(value));
                    self.wrong(range.clone(), message, "give a number for each value in `at`");
                    at.push(0.0);
                }
            }
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
        let slug = |text: String| -> String {
            text.chars().map(|letter| if plain(letter) { letter } else { '-' }).collect()
        };
        let names = vary.values.iter().map(|value| name(&format!("{label}-{}", slug(text(value)))));
        let set = vary.values.iter().map(|value| Some(format!("{}={}", vary.path, text(value))));
        (names.collect(), at, set.collect())
    }

    /// The experiments of a level.
    fn plan(&self) -> impl Fn(Level) -> Vec<Experiment> + Sync + use<> {
        let mut all = Vec::new();
        for (label, of) in &self.document.experiment {
            let Some(known) = self.experiments.get(label.as_str()) else { continue };
            let from = of.from.map_or(Level::Quick, Level::from);
            for (name, vary) in known.names.iter().zip(&known.vary) {
                let set = self.document.set.iter().chain(&of.set).chain(vary).cloned();
                let experiment = Experiment {
                    variants: known.variants.clone(),
                    set: set.collect(),
                    ..Experiment::new(name, known.file)
                };
                all.push((from, of.replications, experiment));
            }
        }
        let at_level = self.at_level();
        move |level| {
            let there = all.iter().filter(|(from, ..)| *from <= level);
            let with_level = |(_, own, experiment): &(Level, Option<u32>, Experiment)| {
                let (set, replications) = at_level(level);
                let mut of = experiment.clone();
                of.set.extend(set);
                match own.or(replications) {
                    Some(number) => of.replications(number),
                    None => of,
                }
            };
            there.map(with_level).collect()
        }
    }

    /// The settings and the replications of a level.
    fn at_level(&self) -> impl Fn(Level) -> (Vec<String>, Option<u32>) + Sync + use<> {
        let levels: Vec<(Level, Vec<String>, Option<u32>)> = self
            .document
            .level
            .iter()
            .map(|(rank, of)| ((*rank).into(), of.set.clone(), of.replications))
            .collect();
        move |level| {
            let of = levels.iter().find(|(of, ..)| *of == level);
            of.map_or((Vec::new(), None), |(_, set, replications)| (set.clone(), *replications))
        }
    }

    /// A case by its name.
    fn case(&mut self, of: &toml::Spanned<String>) -> Option<Case> {
        let text = of.get_ref();
        let all: Vec<Case> = self
            .experiments
            .values()
            .flat_map(|known| {
                known.names.iter().flat_map(|name| {
                    known.variants.iter().map(move |variant| Case { experiment: name, variant })
                })
            })
            .collect();
        let found = text.rsplit_once('/').and_then(|(experiment, variant)| {
            all.iter().find(|case| case.experiment == experiment && case.variant == variant)
        });
        if found.is_none() {
            let names: Vec<String> =
                all.iter().map(|case| format!("{}/{}", case.experiment, case.variant)).collect();
            let message = format!(
                "there is no case `{text}`; a case is an experiment and one of its variants"
            );
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.wrong(of.span(), message, suggest::remedy(text, "cases", &names));
        }
        found.copied()
    }

    /// A statement, as one of those that runs are asked.
    fn query(&mut self, sql: &toml::Spanned<String>, columns: usize) -> Option<usize> {
        match Query::new(sql.get_ref(), columns) {
            Ok(query) => {
                let known = self.queries.iter().position(|other| *other == query);
                Some(known.unwrap_or_else(|| {
                    self.queries.push(query);
                    self.queries.len() - 1
                }))
            }
            Err(message) => {
                let help = "tables and columns are in the reference; `times` has the completion times of measured \
                            flows, and quantile(x, p) is there beside SQLite's functions";
                self.wrong(sql.span(), format!("this SQL cannot be asked: {message}"), help);
                None
            }
        }
    }

    /// The number of a claim, or a check.
    fn row(
        &mut self,
        id: &'static str,
        source: &str,
        of: &'a Number,
        is_check: bool,
    ) -> Option<Row> {
        let measure = self.measure(&of.measure)?;
        Some(Row {
            id,
            part: name(&of.part),
            metric: name(&of.metric),
            claimed: name(&of.claimed),
            source: name(source),
            rule: of.rule.into(),
            expected: if is_check { GIVEN } else { name(&of.expected) },
            measure: kept(move |evidence: &Evidence| measure.measure(evidence)),
        })
    }

    fn study(&mut self, folder: &Path) -> &'static Study {
        let document = self.document;
        let groups: Vec<FlowGroup> = measure::groups(document);
        let mut rows = Vec::new();
        let mut claims = Vec::new();
        let mut ids = BTreeSet::new();
        for claim in &document.claim {
            let id = name(claim.id.get_ref());
            if !ids.insert(id) {
                let help = "each claim has a name of its own; parts of a claim are its numbers";
                self.wrong(claim.id.span(), format!("there are two claims `{id}`"), help);
            }
            claims.push(Claim {
                id,
                quotation: name(&claim.quotation),
                result: None,
                parts_differ_in: claim.parts_differ_in.as_deref().map(name),
            });
            for of in &claim.number {
                rows.extend(self.row(id, &claim.source, of, false));
            }
        }
        for (at, of) in document.check.iter().enumerate() {
            rows.extend(self.row(name(&format!("check {}", at + 1)), "", of, true));
        }
        let readings = self.readings();
        let plan = self.plan();
        let plan = move |level: Level| {
            let mut all = plan(level);
            if let Some(readings) = readings {
                let of = |reading| readings.experiments(reading, level);
                all.extend(readings.all().iter().flat_map(of));
            }
            all
        };
        let rows = all(rows);
        let answer = self.answer(rows);
        let sections = self.sections(folder);
        let judged = move |evidence: &Evidence| match readings {
            Some(readings) => readings.judged(evidence),
            None => Judged::main_only(evidence),
        };
        let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let label = own.file_name().map_or("study".into(), |name| name.to_string_lossy());
        kept(Study {
            entry: Entry { family: "study", name: name(&label), summary: name(&document.question) },
            title: name(&document.title),
            question: name(&document.question),
            library: Library::Folder(name(&folder.display().to_string())),
            groups: all(groups),
            keeps_flows: false,
            queries: all(std::mem::take(&mut self.queries)),
            plan: kept(plan),
            claims: all(claims),
            rows: all(vec![rows]),
            readings: kept(judged),
            closest: None,
            answer: kept(answer),
            sections: kept(sections),
        })
    }

    /// The readings, if anything is left open.
    fn readings(&mut self) -> Option<&'static Readings> {
        let document = self.document;
        let mut factors = Vec::new();
        for factor in &document.factor {
            let choices = factor.choice.get_ref();
            if ![2, 4].contains(&choices.len()) {
                let message = format!("`{}` has {} choices", factor.name, choices.len());
                let help = "a factor has two or four: so every pair of choices of two factors is run equally often";
                self.wrong(factor.choice.span(), message, help);
            }
            let choice = |of: &document::Choice| Choice {
                name: name(&of.name),
                source: name(&of.source),
                set: all(of.set.iter().map(|set| name(set)).collect()),
            };
            factors.push(Factor {
                name: name(&factor.name),
                choices: all(choices.iter().map(choice).collect()),
            });
        }
        let mut networks = Vec::new();
        for wanted in &document.readings_of {
            let names: Vec<&str> = self.experiments.keys().copied().collect();
            let Some(known) = self.experiments.get(wanted.get_ref().as_str()) else {
                let message = format!("there is no experiment `{}`", wanted.get_ref());
                self.wrong(
                    wanted.span(),
                    message,
                    suggest::remedy(wanted.get_ref(), "experiments", &names),
                );
                continue;
            };
            let of = &document.experiment[wanted.get_ref()];
            let network = Network {
                stands_for: known.names[0],
                file: known.file,
                variants: all(known.variants.clone()),
                with_ramp: &[],
                without: &[],
                from: of.from.map_or(Level::Quick, Level::from),
            };
            if of.vary.is_some() || !of.set.is_empty() {
                let message = format!("`{}` has settings of its own", wanted.get_ref());
                let help = "an experiment that is run in every reading is as its scenario has it: move its settings there";
                self.wrong(wanted.span(), message, help);
            }
            networks.push(network);
        }
        if factors.is_empty() && networks.is_empty() {
            return None;
        }
        if networks.is_empty() || factors.is_empty() {
            let range = 0..0;
            let message = "`factor` and `readings_of` go together, and one of them is missing";
            self.wrong(range, message, "name the experiments that are run in every reading, as in readings_of = [\"main\"]");
            return None;
        }
        if !self.problems.is_empty() {
            return None;
        }
        let (set, at_level) = (document.set.clone(), self.at_level());
        let common = move |level: Level| {
            let (more, replications) = at_level(level);
            let number = replications.map(|number| format!("replications={number}"));
            set.iter().cloned().chain(more).chain(number).collect()
        };
        Some(kept(Readings {
            factors: all(factors),
            networks: all(networks),
            common: kept(common),
        }))
    }

    /// The sentences of the answer, with numbers in them; by default what became of each number.
    fn answer(&mut self, rows: &'static [Row]) -> impl Fn(&Evidence) -> Vec<String> + Sync + use<> {
        let names = |row: &Row| match row.part {
            "" => row.id.to_owned(),
            part => format!("{}/{part}", row.id),
        };
        let known: Vec<String> = rows.iter().map(names).collect();
        for sentence in &self.document.answer {
            for used in placeholders(sentence.get_ref()) {
                if !known.iter().any(|name| name == used) && self.problems.is_empty() {
                    let names: Vec<&str> = known.iter().map(String::as_str).collect();
                    let message = format!("`{{{used}}}` is no number of a claim");
                    self.wrong(sentence.span(), message, suggest::remedy(used, "numbers", &names));
                }
            }
        }
        let sentences: Vec<String> =
            self.document.answer.iter().map(|sentence| sentence.get_ref().clone()).collect();
        move |evidence| {
            if sentences.is_empty() {
                let judged = rows.iter().filter(|row| !row.is_check());
                let of = judged.map(|row| (row, (row.measure)(evidence)));
                let told = |(row, measured): (&Row, crate::Measured)| match measured.unit {
                    "%" => format!("{}: {} {}.", names(row), row.metric, moves(&measured)),
                    _ => format!("{}: {}: {}.", names(row), row.metric, number(&measured)),
                };
                return of.map(told).collect();
            }
            let fill = |sentence: &String| {
                let mut text = sentence.clone();
                for row in rows {
                    let place = format!("{{{}}}", names(row));
                    if text.contains(&place) {
                        text = text.replace(&place, &number(&(row.measure)(evidence)));
                    }
                }
                text
            };
            sentences.iter().map(fill).collect()
        }
    }
}

/// What stands in braces.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}
