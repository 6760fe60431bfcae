//! Sections of the page, and their charts.

use std::collections::BTreeMap;

use floodway_scenario::claims::Measure;
use serde::Deserialize;
use toml::Spanned;

use super::{Rank, numbers};

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
    /// What a table has a row for, or a chart of numbers a group: in place of settings, something about readings.
    pub rows_of: Option<Spanned<RowsOf>>,
    /// The heading of the first column of a table.
    #[serde(default)]
    pub corner: String,
    /// Whether numbers are drawn as bars.
    #[serde(default)]
    pub bars: bool,
    /// How many bins a chart of shares has, 1 to 10,000. Default 50. A grid with bins is one of shares.
    #[serde(default, deserialize_with = "numbers::bins")]
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
    /// How high lines are drawn, in pixels, 50 to 2,000.
    #[serde(default, deserialize_with = "numbers::height")]
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
    /// The case that changes of it start from, in columns with `change`.
    pub from: Option<Spanned<String>>,
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
    /// Whether it is the change to the case of the row from the one that the row names so.
    #[serde(default)]
    pub change: bool,
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
    /// Who makes the choice of the row.
    Source,
}

/// What a table or a chart of numbers is about, if that is readings.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RowsOf {
    /// The choices but the first of each factor: main effects, compared with the first one.
    Choices,
    /// The readings that were run.
    Readings,
    /// The twelve of these that come nearest to the numbers of the source.
    Closest,
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
    #[serde(default, deserialize_with = "numbers::limits")]
    pub limits: Option<[f64; 2]>,
    /// Whether the places of points have labels, and no others. For lines.
    #[serde(default)]
    pub at_points: bool,
    /// Values that a line marks.
    #[serde(default)]
    pub marks: Vec<Marked>,
}

/// A value of an axis that a line marks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marked {
    /// The value.
    #[serde(deserialize_with = "numbers::finite")]
    pub at: f64,
    /// What it is.
    pub label: String,
}

/// A law to compare numbers with: `factor * x^exponent` between two values of `x`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// The factor.
    #[serde(deserialize_with = "numbers::finite")]
    pub factor: f64,
    /// The exponent.
    #[serde(default, deserialize_with = "numbers::finite")]
    pub exponent: f64,
    /// The values of `x`.
    #[serde(deserialize_with = "numbers::between")]
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
    /// The same of a chart over lists, by the names of settings.
    #[serde(default)]
    pub claimed_of: BTreeMap<String, Spanned<f64>>,
    /// What stands in the names of cases that panels name for `{KEY}`.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// A file beside `study.toml` with points to lay over: a line of the names of two columns, then two numbers a line,
    /// with a comma between them.
    pub points: Option<Spanned<String>>,
}
