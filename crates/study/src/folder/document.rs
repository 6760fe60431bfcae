//! `study.toml`: a study as a file.

use std::collections::BTreeMap;

use floodway_scenario::claims::{Claim, Flows, Measure, Number};
use serde::Deserialize;
use toml::Spanned;

use crate::plan::Level;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What it asks, in one sentence.
    pub question: String,
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
    /// The experiments, by their names.
    pub experiment: BTreeMap<String, Experiment>,
    /// What the source leaves open.
    #[serde(default)]
    pub factor: Vec<Factor>,
    /// The experiments that are run in every reading, if there are factors.
    #[serde(default)]
    pub readings_of: Vec<Spanned<String>>,
    /// The claims.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Numbers that are no claims: what the set-up must have, or what cannot fail.
    #[serde(default)]
    pub check: Vec<Number>,
    /// What the page shows.
    #[serde(default)]
    pub section: Vec<Section>,
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
}

/// An experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The scenario file, beside `study.toml`.
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
    /// A setting with several values: an experiment for each.
    pub vary: Option<Spanned<Vary>>,
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

/// A section of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// A short name, fit for an anchor.
    pub name: String,
    /// Its heading.
    pub heading: String,
    /// Paragraphs.
    #[serde(default)]
    pub text: Vec<String>,
    /// The claims that it bears on.
    #[serde(default)]
    pub claims: Vec<Spanned<String>>,
    /// Its charts.
    #[serde(default)]
    pub chart: Vec<Chart>,
}

/// A chart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// A short name, fit for a file name.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// How to read it.
    #[serde(default)]
    pub note: String,
    /// What it looks like.
    pub kind: Look,
    /// The horizontal axis; of bars the only one.
    pub x: Axis,
    /// The vertical axis, of lines.
    pub y: Option<Axis>,
    /// What it shows, one thing after the other.
    pub series: Vec<Series>,
}

/// What a chart looks like.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Numbers with their intervals along one axis.
    Numbers,
    /// Numbers against the values of a varied setting.
    Curve,
    /// Points that SQL gives: a distribution, something over time.
    Points,
}

/// An axis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// The unit of its values.
    #[serde(default)]
    pub unit: String,
    /// Whether it is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The least and the greatest value; by default as the data has it.
    pub limits: Option<[f64; 2]>,
}

/// Something that a chart shows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What it is called.
    pub label: String,
    /// How it is measured. Of a curve, the experiment of its cases has `vary`.
    pub measure: Option<Spanned<Measure>>,
    /// The number that was claimed, of a chart of numbers.
    pub claimed: Option<f64>,
    /// A file beside `study.toml` with points to lay over: a line of the names of two columns, then two numbers a line,
    /// with a comma between them.
    pub points: Option<Spanned<String>>,
}
