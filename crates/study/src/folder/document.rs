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
    /// Changes over lists of settings, by their names: sentences say with which settings they fall and rise.
    #[serde(default)]
    pub change: BTreeMap<String, Change>,
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
}

/// A change over lists of settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The lists.
    pub over: Vec<Spanned<String>>,
    /// How it is measured, `from` one case `to` another.
    pub measure: Spanned<Measure>,
}

/// What differs for an experiment at a level.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtLevel {
    /// The variants to run; by default those of the experiment.
    #[serde(default)]
    pub variants: Vec<Spanned<String>>,
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
    /// What differs by level.
    #[serde(default)]
    pub level: BTreeMap<Rank, AtLevel>,
    /// A setting with several values: an experiment for each.
    pub vary: Option<Spanned<Vary>>,
    /// Lists of settings: an experiment for each combination, called by the names of its settings: `dcqcn-shared`.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// What differs on the axes of the grid of these combinations.
    pub axes: Option<Axes>,
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
    /// The least thorough level at which it is shown.
    pub from: Option<Rank>,
    /// What came out, in a sentence like those of the answer.
    pub answer: Option<Spanned<String>>,
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
    pub kind: Spanned<Look>,
    /// Lists of settings, with `{LIST}` for a setting in the names of cases and in labels.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// The horizontal axis; of bars the only one. A table has none.
    pub x: Option<Axis>,
    /// The vertical axis, of lines and heat maps.
    pub y: Option<Axis>,
    /// The scale of the colors, of heat maps.
    pub z: Option<Axis>,
    /// How many bins a chart of shares has. Default 50.
    pub bins: Option<usize>,
    /// What it shows, one thing after the other.
    #[serde(default)]
    pub series: Vec<Series>,
    /// The rows of a table, for each setting.
    #[serde(default)]
    pub row: Vec<Line>,
    /// The columns of a table.
    #[serde(default)]
    pub column: Vec<Column>,
}

/// A row of a table: a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it is called.
    pub label: String,
    /// The case.
    pub of: Spanned<String>,
}

/// A column of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub label: String,
    /// A number of the case of the row: a measure without `of`.
    pub measure: Option<Spanned<Measure>>,
    /// Something else about that case.
    pub shows: Option<Spanned<Shows>>,
}

/// What a column shows that is no number.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// How many of the measured flows had not completed: `3 of 1200`.
    Unfinished,
}

/// What a chart looks like.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Numbers with their intervals along one axis.
    Numbers,
    /// Numbers against the values of a varied setting.
    Curve,
    /// Points that SQL gives: something over time.
    Points,
    /// The share of values that are larger than so much, of a distribution that SQL gives.
    Tail,
    /// The share of values in each of `bins` up to the end of the horizontal axis, likewise.
    Shares,
    /// Numbers in rows, a case each, and columns.
    Table,
    /// Numbers over two lists of settings: the first down, the second across.
    HeatMap,
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
    /// Which of the looks it has, counted from 0; by default as many as stand before it.
    pub look: Option<usize>,
    /// The number that was claimed, of a chart of numbers.
    pub claimed: Option<f64>,
    /// A file beside `study.toml` with points to lay over: a line of the names of two columns, then two numbers a line,
    /// with a comma between them.
    pub points: Option<Spanned<String>>,
}
