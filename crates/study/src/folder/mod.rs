//! Studies that are no part of the program: a folder with `study.toml`, its scenarios, and points to lay over.
//!
//! - `document`: the file
//! - `chart`: sections with charts
//!
//! Its claims and their numbers are checked by [`crate::compile`].
//!
//! A study that is loaded is kept as long as the program runs, like those that are part of it.

mod chart;
mod document;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use floodway_model::family::Entry;
use floodway_scenario::{Error, Place, Problem, Source, suggest};

use crate::claim::Row;
use crate::compile::{Cases, Compiler, all, kept, measure};
use crate::evidence::{Case, Evidence};
use crate::exhibit::{moves, number};
use crate::flows::FlowGroup;
use crate::plan::{Experiment, Level, name};
use crate::readings::{Choice, Factor, Judged, Network, Readings};
use crate::{Library, Study};

use document::{Document, Vary};

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
    document: &'a Document,
    experiments: BTreeMap<&'a str, Known>,
    compiler: Compiler<'a>,
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
    let compiler = Compiler::new(&source, &document.flows, Cases::OfExperiments);
    let mut loading = Loading { document: &document, experiments: BTreeMap::new(), compiler };
    loading.experiments(folder)?;
    let study = loading.study(folder);
    match Error::of(loading.compiler.problems) {
        Some(error) => Err(error),
        None => Ok(study),
    }
}

impl<'a> Loading<'a> {
    /// Reads the scenarios, for their variants.
    fn experiments(&mut self, folder: &Path) -> Result<(), Error> {
        let document = self.document;
        for (label, of) in &document.experiment {
            let path = folder.join(of.scenario.get_ref());
            let file = name(&path.display().to_string());
            if !path.is_file() {
                let message = format!("there is no file {}", path.display());
                self.compiler.wrong(
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
                        self.compiler.wrong(
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
            for name in &names {
                let case = |variant: &&'static str| Case { experiment: name, variant };
                let named = |case: Case| (format!("{name}/{}", case.variant), case);
                self.compiler.cases.extend(variants.iter().map(case).map(named));
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
                    self.compiler.wrong(
                        range.clone(),
                        message,
                        "give a number for each value in `at`",
                    );
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

    fn study(&mut self, folder: &Path) -> &'static Study {
        let document = self.document;
        let groups: Vec<FlowGroup> = measure::groups(&document.flows);
        let (claims, rows) = self.compiler.claims(&document.claim);
        let mut rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        for (at, of) in document.check.iter().enumerate() {
            let id = name(&format!("check {}", at + 1));
            rows.extend(self.compiler.row(id, "", of, true).map(|(row, _)| row));
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
            queries: all(std::mem::take(&mut self.compiler.queries)),
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
                self.compiler.wrong(factor.choice.span(), message, help);
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
                self.compiler.wrong(
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
                self.compiler.wrong(wanted.span(), message, help);
            }
            networks.push(network);
        }
        if factors.is_empty() && networks.is_empty() {
            return None;
        }
        if networks.is_empty() || factors.is_empty() {
            let range = 0..0;
            let message = "`factor` and `readings_of` go together, and one of them is missing";
            self.compiler.wrong(range, message, "name the experiments that are run in every reading, as in readings_of = [\"main\"]");
            return None;
        }
        if !self.compiler.problems.is_empty() {
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
                if !known.iter().any(|name| name == used) && self.compiler.problems.is_empty() {
                    let names: Vec<&str> = known.iter().map(String::as_str).collect();
                    let message = format!("`{{{used}}}` is no number of a claim");
                    self.compiler.wrong(
                        sentence.span(),
                        message,
                        suggest::remedy(used, "numbers", &names),
                    );
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
