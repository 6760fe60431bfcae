//! Statistics and charts of reports, for what is compared in Python: the same intervals as everywhere
//! else, not a second kind of them.

use floodway_report::better::Better;
use floodway_report::chart::{Axis, Group, Line, Lines, Mark, Row, Rows};
use floodway_report::statistics::{Change, Domain, Scale};
use floodway_report::study::{Exhibit, Section};
use floodway_scenario::suggest;
use floodway_scenario::sweep::levels;
use pyo3::prelude::*;

use crate::chart::Picture;
use crate::error;
use crate::experiment::pictures;

/// The change over pairs of (baseline, other), one per replication, as the JSON of a
/// [`Change`]; `null` of no pairs. `resolution` is the relative width of the bins from which values are read. Of the unit
/// `MOS` it is in points.
#[pyfunction]
#[pyo3(signature = (pairs, resolution, unit = ""))]
pub fn change(pairs: Vec<(f64, f64)>, resolution: f64, unit: &str) -> String {
    let scale = match Domain::of_unit(unit) {
        Domain::Score => Scale::SCORE,
        _ => Scale { resolution, ..Scale::NON_NEGATIVE },
    };
    let change = Change::of(pairs, scale);
    serde_json::to_string(&change).expect("a change is JSON")
}

/// Whether `less` or `more` of a metric is better; none where neither is.
#[pyfunction]
pub fn better(metric: &str) -> Option<&'static str> {
    Some(match Better::of(metric)? {
        Better::Less => "less",
        Better::More => "more",
    })
}

/// What to write instead of a name that is not known: the closest one, and all of them.
#[pyfunction]
pub fn remedy(word: &str, noun: &str, known: Vec<String>) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    suggest::remedy(word, noun, &known)
}

/// The values that `PATH=FROM..TO/STEPS`, `PATH=FROM..TO/STEPSlog` or `PATH=V1,V2,…` stands for.
#[pyfunction]
#[pyo3(name = "levels")]
pub fn levels_of(py: Python<'_>, argument: &str) -> PyResult<Vec<String>> {
    levels(argument).map_err(|refused| error::scenario(py, &refused))
}

/// A row of a chart: label, value in percent, ends of its interval, and its figures.
type Valued = (String, Option<f64>, Option<(f64, f64)>, String);

/// Changes in percent as rows with whiskers, in groups.
#[pyfunction]
pub fn chart_of_changes(
    name: String,
    caption: String,
    label: &str,
    groups: Vec<(String, Vec<Valued>)>,
) -> Picture {
    let row = |(label, value, interval, figures): Valued| Row {
        label,
        value,
        interval,
        figures,
        ..Row::default()
    };
    let group = |(label, rows): (String, Vec<Valued>)| Group {
        label,
        rows: rows.into_iter().map(row).collect(),
    };
    let chart = Rows {
        title: caption.clone(),
        axis: Axis::linear(label, ""),
        mark: Mark::Point,
        groups: groups.into_iter().map(group).collect(),
    };
    of(Exhibit::Rows { name, caption, chart, note: String::new() })
}

/// A series of a chart: its name, its points, and whether a line joins them.
type Series = (String, Vec<(f64, f64)>, bool);

/// Points of several series over two axes, each series as points in no order or as a line.
#[pyfunction]
pub fn chart_of_points(
    name: String,
    caption: String,
    axes: (String, String),
    series: Vec<Series>,
) -> Picture {
    let legend = series.iter().enumerate().map(|(at, (name, ..))| (at, name.clone())).collect();
    let line = |(series, (name, points, joined)): (usize, Series)| Line {
        series,
        points,
        markers: true,
        scatter: !joined,
        tooltip: name,
        ..Line::default()
    };
    let chart = Lines {
        title: caption.clone(),
        x: Axis::linear(&axes.0, ""),
        y: Axis::linear(&axes.1, ""),
        lines: series.into_iter().enumerate().map(line).collect(),
        ..Lines::default()
    };
    let (charts, note) = (vec![chart], String::new());
    of(Exhibit::Lines { name, caption, legend, charts, columns: 1, note })
}

fn of(exhibit: Exhibit) -> Picture {
    let section = Section { exhibits: vec![exhibit], ..Section::default() };
    pictures(&[section]).pop().expect("rows and lines are drawn")
}
