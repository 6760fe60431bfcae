//! `study.toml`: a study as a file.

use std::collections::BTreeMap;

use floodway_scenario::claims::{Claim, Flows, Measure, Rule};
use serde::{Deserialize, Deserializer};
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
    /// The same of values of one setting.
    #[serde(default)]
    pub values: BTreeMap<String, Values>,
    /// Statements that stand for tables in SQL, by their names.
    #[serde(default)]
    pub view: BTreeMap<String, String>,
    /// What is measured, by name: measures without cases.
    #[serde(default)]
    pub quantity: BTreeMap<String, Spanned<Measure>>,
    /// Numbers for sentences, by their names.
    #[serde(default)]
    pub measure: BTreeMap<String, Named>,
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
    /// With lists of values as lists of settings.
    pub fn with_values(mut self) -> Self {
        for (list, of) in std::mem::take(&mut self.values) {
            let setting = |(place, name): (usize, Spanned<String>)| Setting {
                label: of.labels.get(place).cloned(),
                at: of.at.get(place).copied(),
                look: None,
                also: BTreeMap::new(),
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
    /// Paragraphs, with numbers like those of the answer.
    #[serde(default)]
    pub text: Vec<Spanned<String>>,
    /// Cases whose flows that had not completed are named in a last paragraph.
    #[serde(default)]
    pub unfinished: Vec<Spanned<String>>,
    /// The claims that it bears on.
    #[serde(default)]
    pub claims: Vec<Spanned<String>>,
    /// Charts of the whole file, before its own.
    #[serde(default)]
    pub shared: Vec<Shared>,
    /// Its charts.
    #[serde(default)]
    pub chart: Vec<Chart>,
}

/// A chart of the whole file in a section.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Its name.
    pub chart: Spanned<String>,
    /// The settings for which its `{LIST}` stand there.
    #[serde(default)]
    pub with: BTreeMap<String, Spanned<String>>,
}

/// A chart.
#[derive(Clone, Debug, Deserialize)]
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
    /// The least thorough level at which it is shown.
    pub from: Option<Rank>,
    /// Lists of settings for each combination of which there is such a chart, with `{LIST}` for a setting in names and in
    /// texts.
    #[serde(default)]
    pub each: Vec<Spanned<String>>,
    /// Lists of settings, with `{LIST}` for a setting in the names of cases and in labels.
    #[serde(default)]
    pub over: Vec<Spanned<String>>,
    /// Settings of these lists, or whole combinations, that are left out.
    #[serde(default)]
    pub except: Vec<Spanned<String>>,
    /// The horizontal axis; of bars the only one. A table has none.
    pub x: Option<Axis>,
    /// The vertical axis, of lines and heat maps.
    pub y: Option<Axis>,
    /// The scale of the colors, of heat maps.
    pub z: Option<Axis>,
    /// What the columns of a grid differ in.
    #[serde(default)]
    pub across: String,
    /// What its rows differ in.
    #[serde(default)]
    pub down: String,
    /// Whether the sides of a heat map or a grid have the labels of settings, and not their names.
    #[serde(default)]
    pub labels: bool,
    /// How many bins a chart of shares has. Default 50. A grid with bins is one of shares.
    pub bins: Option<usize>,
    /// What it shows, one thing after the other.
    #[serde(default)]
    pub series: Vec<Series>,
    /// Several charts of the same lines, beside each other.
    #[serde(default)]
    pub panel: Vec<Panel>,
    /// How many of them stand beside each other; by default all.
    pub columns: Option<usize>,
    /// Whether points keep a value until the next one.
    #[serde(default)]
    pub steps: bool,
    /// How high lines are drawn, in pixels.
    pub height: Option<f64>,
    /// The rows of a table, for each setting.
    #[serde(default)]
    pub row: Vec<Line>,
    /// The columns of a table.
    #[serde(default)]
    pub column: Vec<Column>,
}

/// One of several charts of the same lines. What its measure says is for all series, which say the rest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Its heading.
    pub heading: String,
    /// What it shows, for those who cannot see it; by default caption and heading.
    pub title: Option<String>,
    /// The horizontal axis; by default that of the chart.
    pub x: Option<Axis>,
    /// The vertical axis; by default that of the chart.
    pub y: Option<Axis>,
    /// How its lines are measured, as far as series do not say.
    pub measure: Option<Spanned<Measure>>,
}

/// A row of a table: a case, or an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it is called.
    pub label: String,
    /// The case; or an experiment, if the measures of the columns name its variants. With `{LIST}` it is that of each
    /// column: a column says which setting, or is over the list.
    pub of: Option<Spanned<String>>,
    /// The experiment that stands for it with variants that it does not run.
    #[serde(rename = "else")]
    pub otherwise: Option<Spanned<String>>,
    /// What stands in it, in place of what the columns measure.
    #[serde(default)]
    pub cell: Vec<Cell>,
}

/// A cell of a row of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Words.
    #[serde(default)]
    pub text: String,
    /// Or a number.
    pub measure: Option<Spanned<Measure>>,
    /// Whether a change stands there in whole percent.
    #[serde(default)]
    pub short: bool,
}

/// A column of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub label: String,
    /// A number of the case of the row: a measure without `of`. Of an experiment, a measure of its variants.
    pub measure: Option<Spanned<Measure>>,
    /// The settings of this column, by their lists, for rows with `{LIST}`.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// Whether a change stands there in whole percent, without its sign of percent.
    #[serde(default)]
    pub short: bool,
    /// Something else about that case.
    pub shows: Option<Spanned<Shows>>,
    /// The group of flows that it shows this of; by default all.
    pub flows: Option<Spanned<String>>,
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
    /// Small charts of points or shares over two lists of settings, likewise.
    Grid,
}

/// An axis.
#[derive(Clone, Debug, Deserialize)]
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
    /// Values that a line marks.
    #[serde(default)]
    pub marks: Vec<Marked>,
}

/// A value of an axis that a line marks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marked {
    /// The value.
    pub at: f64,
    /// What it is.
    pub label: String,
}

/// A law to compare numbers with: `factor * x^exponent` between two values of `x`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// The factor.
    pub factor: f64,
    /// The exponent.
    #[serde(default)]
    pub exponent: f64,
    /// The values of `x`.
    pub between: [f64; 2],
}

/// Something that a chart shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What it is called.
    pub label: String,
    /// How it is measured, as far as panels do not say. Of a curve without lists, the experiment of its cases has `vary`.
    pub measure: Option<Spanned<Measure>>,
    /// Which of the looks it has, counted from 0; by default as many as stand before it.
    pub look: Option<usize>,
    /// A law, in place of a measure.
    pub law: Option<Law>,
    /// Whether its values may lie beyond the vertical axis, which fits those of the other series.
    #[serde(default)]
    pub aside: bool,
    /// The number that was claimed, of a chart of numbers.
    pub claimed: Option<f64>,
    /// A file beside `study.toml` with points to lay over: a line of the names of two columns, then two numbers a line,
    /// with a comma between them.
    pub points: Option<Spanned<String>>,
}
