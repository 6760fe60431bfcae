//! `study.toml`: a study as a file.

mod numbers;
mod sections;

use std::collections::BTreeMap;

use floodway_model::family::Entry;
use floodway_scenario::claims::{Claim, Flows, Measure, Rule};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::plan::{Level, name};
pub use sections::*;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What it asks, in one sentence.
    pub question: String,
    /// What it is, in a line of a list; by default the question.
    pub summary: Option<String>,
    /// What it answers: sentences in which `{ID}` or `{ID/part}` stands for a measured number.
    #[serde(default)]
    pub answer: Vec<Spanned<String>>,
    /// Settings of all experiments.
    #[serde(default)]
    pub set: Vec<String>,
    /// What differs by level.
    #[serde(default)]
    pub level: BTreeMap<Rank, Thoroughness>,
    /// Groups of flows, by their names.
    #[serde(default)]
    pub flows: BTreeMap<String, Flows>,
    /// Lists of settings, by their names: what experiments are run over.
    #[serde(default)]
    pub settings: BTreeMap<String, Vec<Setting>>,
    /// The same of values of one setting.
    #[serde(default)]
    pub values: BTreeMap<String, Values>,
    /// Statements that stand for tables in SQL, by their names.
    #[serde(default)]
    pub view: BTreeMap<String, String>,
    /// Files of comma-separated values beside it, by the names of the tables that they are in SQL.
    #[serde(default)]
    pub table: BTreeMap<String, Spanned<String>>,
    /// What is measured, by name: measures without cases.
    #[serde(default)]
    pub quantity: BTreeMap<String, Spanned<Measure>>,
    /// Numbers for sentences, by their names.
    #[serde(default)]
    pub measure: BTreeMap<String, Named>,
    /// Scenarios that are not run: facts may be asked of them too.
    #[serde(default)]
    pub scenarios: Vec<Spanned<String>>,
    /// The experiments, by their names, in the order of the file.
    pub experiment: InOrder<Experiment>,
    /// Names for the first of some experiments that was run: the largest of a level.
    #[serde(default)]
    pub first_run: BTreeMap<String, Vec<Spanned<String>>>,
    /// What the source leaves open.
    #[serde(default)]
    pub factor: Vec<Factor>,
    /// The experiments that are run in every reading, if there are factors.
    #[serde(default)]
    pub readings_of: Vec<Spanned<String>>,
    /// The numbers of the source, for the search for the reading that comes nearest to all of them.
    pub closest: Option<Closest>,
    /// Readings that are experiments of their own: the main one, and then those that make one other choice each.
    #[serde(default)]
    pub reading: Vec<Reading>,
    /// The claims.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Numbers that are no claims: what the set-up must have, or what cannot fail.
    #[serde(default)]
    pub check: Vec<Check>,
    /// Charts that several sections have, by their names, with `{LIST}` for a setting.
    #[serde(default)]
    pub chart: BTreeMap<String, Chart>,
    /// What the page shows.
    #[serde(default)]
    pub section: Vec<Section>,
}

/// Tables by their names, in the order of the file.
#[derive(Debug)]
pub struct InOrder<T>(pub Vec<(String, T)>);

impl<T> InOrder<T> {
    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, of)| of)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let all = BTreeMap::<Spanned<String>, T>::deserialize(from)?;
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(name, _)| name.span().start);
        Ok(Self(all.into_iter().map(|(name, of)| (name.into_inner(), of)).collect()))
    }
}

/// A number that is no claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name; by default its number among the checks.
    pub id: Option<String>,
    /// Which part of that it is.
    #[serde(default)]
    pub part: String,
    /// What the number is, in words.
    pub metric: String,
    /// What the source says of it.
    #[serde(default)]
    pub claimed: String,
    /// Where.
    #[serde(default)]
    pub source: String,
    /// Whether it checks the set-up; facts of scenarios always do.
    #[serde(default)]
    pub set_up: bool,
    /// What it must be.
    pub rule: Rule,
    /// How it is measured.
    pub measure: Spanned<Measure>,
}

/// Readings: over lists of settings one for each combination.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// What it is called; by default as the settings of its lists are.
    pub label: Option<String>,
    /// Which experiment stands in it for which of the claims: `"mix-{cubic}" = "paced-{cubic}"` for each setting of the
    /// list. None: all experiments that stand for no other.
    #[serde(default)]
    pub stands_for: BTreeMap<Spanned<String>, Spanned<String>>,
    /// The lists, with `{LIST}` for a setting in the names of experiments.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// Settings of these lists that are left out.
    #[serde(default)]
    pub except: Vec<Spanned<String>>,
}

/// A level, by its name.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// See [`Level::Quick`].
    Quick,
    /// See [`Level::Standard`].
    Standard,
    /// See [`Level::Full`].
    Full,
}

impl From<Rank> for Level {
    fn from(rank: Rank) -> Self {
        match rank {
            Rank::Quick => Self::Quick,
            Rank::Standard => Self::Standard,
            Rank::Full => Self::Full,
        }
    }
}

/// What all experiments have at a level.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thoroughness {
    /// Settings.
    #[serde(default)]
    pub set: Vec<String>,
    /// Runs of every variant, unless an experiment has its own number.
    pub replications: Option<u32>,
    /// What experiments have in readings in place of these.
    pub readings: Option<OfReadings>,
}

/// What all experiments have in readings at a level.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfReadings {
    /// Settings.
    #[serde(default)]
    pub set: Vec<String>,
    /// Runs of every variant.
    pub replications: Option<u32>,
}

/// What differs for an experiment in readings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InReadings {
    /// The variants to run; by default those of the experiment.
    #[serde(default)]
    pub variants: Vec<Spanned<String>>,
    /// The least thorough level at which it is run in readings; by default that of the experiment.
    pub from: Option<Rank>,
    /// Settings of choices that begin so mean nothing in it.
    #[serde(default)]
    pub without: Vec<String>,
}

/// What the search for the nearest reading is to come near to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closest {
    /// The variants that the source may mean: `{variant}` stands for each of them in the cases of its numbers.
    pub variants: Spanned<Vec<Spanned<String>>>,
    /// At most so many experiments are run in search.
    pub most: usize,
    /// The numbers of the source.
    pub number: Vec<Claimed>,
}

/// A number of the source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    /// What it is of.
    pub label: String,
    /// The change that the source gives, in percent, above -100.
    #[serde(deserialize_with = "numbers::change")]
    pub claimed: f64,
    /// How it is measured: a change.
    pub measure: Spanned<Measure>,
}

/// One of a list of settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// A short name, fit for a directory.
    pub name: Spanned<String>,
    /// What it is called on the page; by default its name.
    pub label: Option<String>,
    /// The settings that make it, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Where it lies on the axis of a chart.
    pub at: Option<f64>,
    /// Which of the looks it has in charts of numbers; by default that of the series.
    pub look: Option<usize>,
    /// Other names: `{LIST.KEY}` in the names of cases.
    #[serde(default)]
    pub also: BTreeMap<String, String>,
    /// The least thorough level at which experiments are run with it.
    pub from: Option<Rank>,
}

/// A list of settings that are values of one setting, or of none: then experiments have their names in `set`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The setting.
    pub path: Option<String>,
    /// Its values, which are the names of the settings.
    pub names: Vec<Spanned<String>>,
    /// What they are called on the page; by default their names.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Where they lie on the axis of a chart.
    #[serde(default)]
    pub at: Vec<f64>,
}

impl Document {
    /// Its entry among studies, under this name.
    pub fn entry(&self, label: &str) -> Entry {
        let summary = self.summary.as_ref().unwrap_or(&self.question);
        Entry { family: "study", name: name(label), summary: name(summary) }
    }

    /// With lists of values as lists of settings.
    pub fn with_values(mut self) -> Self {
        for (list, of) in std::mem::take(&mut self.values) {
            let setting = |(place, name): (usize, Spanned<String>)| Setting {
                label: of.labels.get(place).cloned(),
                at: of.at.get(place).copied(),
                look: None,
                also: BTreeMap::new(),
                from: None,
                set: of.path.iter().map(|path| format!("{path}={}", name.get_ref())).collect(),
                name,
            };
            let settings = of.names.iter().cloned().enumerate().map(setting).collect();
            self.settings.insert(list, settings);
        }
        self
    }
}

/// A number for sentences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Lists of settings: a number for each combination, of which sentences say where it falls and rises.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// Settings of these lists that are left out.
    #[serde(default)]
    pub except: Vec<Spanned<String>>,
    /// Whether it is measured in every reading, of which sentences say likewise in how many.
    #[serde(default)]
    pub in_readings: bool,
    /// How it is measured.
    pub measure: Spanned<Measure>,
}

/// What differs for an experiment at a level.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtLevel {
    /// The experiments that are run, of those over lists; by default all.
    #[serde(default)]
    pub only: Vec<Spanned<String>>,
    /// The variants to run; by default those of the experiment.
    #[serde(default)]
    pub variants: Vec<Spanned<String>>,
    /// Settings more.
    #[serde(default)]
    pub set: Vec<String>,
    /// Runs of every variant.
    pub replications: Option<u32>,
}

/// What differs for the combinations on the axes of a grid: those in which at most one list has another than its first
/// setting.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// The variants to run; by default those of the experiment.
    #[serde(default)]
    pub variants: Vec<Spanned<String>>,
    /// Runs of every variant.
    pub replications: Option<u32>,
    /// The least thorough level at which they are run.
    pub from: Option<Rank>,
    /// What differs by level.
    #[serde(default)]
    pub level: BTreeMap<Rank, AtLevel>,
}

/// An experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The scenario file, from where `study.toml` is. `{LIST}` is the name of a setting.
    pub scenario: Spanned<String>,
    /// The variants to run; all if there are none.
    #[serde(default)]
    pub variants: Vec<Spanned<String>>,
    /// Settings, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Runs of every variant.
    pub replications: Option<u32>,
    /// The least thorough level at which it is run.
    pub from: Option<Rank>,
    /// What differs by level.
    #[serde(default)]
    pub level: BTreeMap<Rank, AtLevel>,
    /// A setting with several values: an experiment for each.
    pub vary: Option<Spanned<Vary>>,
    /// Lists of settings: an experiment for each combination. In its own name `{LIST}` is that of a setting:
    /// `{control}-{memory}`.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// Settings of these lists, or whole combinations, that are left out.
    #[serde(default)]
    pub except: Vec<Spanned<String>>,
    /// What differs on the axes of the grid of these combinations.
    pub axes: Option<Axes>,
    /// What differs in readings, if it is run in every one.
    pub readings: Option<InReadings>,
}

/// A setting with several values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// The setting.
    pub path: String,
    /// Its values.
    pub values: Vec<toml::Value>,
    /// Where they lie on the axis of a chart; by default numbers as they are, sizes in bytes, rates in b/s and times in
    /// ns.
    pub at: Option<Vec<f64>>,
}

/// Something that a source leaves open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// In a few words.
    pub name: String,
    /// Two or four choices, the main reading's first.
    pub choice: Spanned<Vec<Choice>>,
}

/// One choice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// In a word or two.
    pub name: String,
    /// Who chooses so.
    pub source: String,
    /// The settings that make it.
    #[serde(default)]
    pub set: Vec<String>,
}
