//! Charts over time, of the first replication.

use floodway_report::chart::{Axis, Line, Lines};
use floodway_report::entries::Window;
use floodway_report::study::Exhibit;

use crate::evidence::{Case, Evidence, Facts};

/// A number of what happened in one window of time, over all workloads.
type OfWindow = fn(&[&Window]) -> f64;

/// The facts of the first replication.
fn first(evidence: &Evidence, case: Case) -> Option<&Facts> {
    evidence.runs(case).next().map(|(_, facts)| facts)
}

/// What a number was over time, of some workloads.
fn points(facts: &Facts, of: impl Fn(u64) -> bool, number: OfWindow) -> Vec<(f64, f64)> {
    let workloads: Vec<&Vec<Window>> =
        facts.entries.iter().filter(|(at, _)| of(**at)).map(|(_, windows)| windows).collect();
    let longest = workloads.iter().map(|windows| windows.len()).max().unwrap_or(0);
    let point = |at: usize| {
        let windows: Vec<&Window> = workloads.iter().filter_map(|of| of.get(at)).collect();
        (windows[0].time_ns, number(&windows))
    };
    (0..longest).map(point).filter(|point| point.1.is_finite()).collect()
}

/// Throughput and largest response times over time, for these cases with labels and looks.
pub fn exhibit(
    evidence: &Evidence,
    (name, caption, note): (&str, &str, &str),
    cases: &[(Case, &str, usize)],
) -> Exhibit {
    let chart = |heading: &str, y: Axis, number: OfWindow| {
        let line = |(case, label, look): &(Case, &str, usize)| {
            let facts = first(evidence, *case)?;
            let points = points(facts, |_| true, number);
            Some(Line { series: *look, points, tooltip: (*label).to_owned(), ..Line::default() })
        };
        Lines {
            title: format!("{heading} over time"),
            heading: heading.to_owned(),
            x: Axis::linear("time", "ns"),
            y,
            lines: cases.iter().filter_map(line).collect(),
            height: 260.0,
            ..Lines::default()
        }
    };
    Exhibit::Lines {
        name: name.to_owned(),
        caption: caption.to_owned(),
        legend: cases.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: vec![
            chart("throughput", Axis::linear("entries completed", "b/s"), |windows| {
                windows.iter().map(|window| window.throughput_bps).sum()
            }),
            chart("largest response time", Axis::log("logarithmic", "ns"), |windows| {
                windows.iter().map(|window| window.max_ns).fold(f64::NAN, f64::max)
            }),
        ],
        columns: 2,
        note: note.to_owned(),
    }
}

/// The memory that data takes over time, each point the mean of some samples.
pub fn memory(
    evidence: &Evidence,
    (name, caption, note): (&str, &str, &str),
    cases: &[(Case, &str, usize)],
) -> Exhibit {
    let line = |(case, label, look): &(Case, &str, usize)| {
        let facts = first(evidence, *case)?;
        let mean = |samples: &[(f64, f64)]| {
            let of = |number: fn(&(f64, f64)) -> f64| {
                samples.iter().map(number).sum::<f64>() / samples.len() as f64
            };
            (of(|sample| sample.0), of(|sample| sample.1))
        };
        let width = facts.memory.len().div_ceil(POINTS).max(1);
        let points = facts.memory.chunks(width).map(mean).collect();
        Some(Line { series: *look, points, tooltip: (*label).to_owned(), ..Line::default() })
    };
    Exhibit::Lines {
        name: name.to_owned(),
        caption: caption.to_owned(),
        legend: cases.iter().map(|(_, label, look)| (*look, (*label).to_owned())).collect(),
        charts: vec![Lines {
            title: caption.to_owned(),
            x: Axis::linear("time", "ns"),
            y: Axis::linear("in use", "bytes"),
            lines: cases.iter().filter_map(line).collect(),
            height: 260.0,
            ..Lines::default()
        }],
        columns: 1,
        note: note.to_owned(),
    }
}

/// The most points of a line.
const POINTS: usize = 200;
