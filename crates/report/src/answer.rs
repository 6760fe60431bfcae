//! The answer in a sentence.

use crate::summary::{Measure, Summary};
use crate::words;

/// One sentence for each variant after the baseline: `ci against without-ci: mice (<100 KB)
/// -63 % [-70, -55], all flows -38 % [-45, -30] mean completion time; pause frames …`.
pub(crate) fn sentences(summary: &Summary) -> Vec<String> {
    let Some(baseline) = summary.baseline() else { return Vec::new() };
    let others = summary.order.iter().skip(1);
    others.map(|name| format!("{name} against {baseline}: {}", parts(summary, name))).collect()
}

fn parts(summary: &Summary, name: &str) -> String {
    let mut parts = Vec::new();
    let times: Vec<String> = headline_classes(summary)
        .into_iter()
        .filter_map(|(key, label)| {
            let class = summary.class(name, key)?;
            let change = class.mean_ns.change?;
            Some(format!("{label} {}", words::change(&change, "ns")))
        })
        .collect();
    if !times.is_empty() {
        parts.push(format!(
            "mean completion time of {}{}",
            times.join(", of "),
            basis(summary, name)
        ));
    }
    for (key, label) in [("pause_frames", "pause frames"), ("dropped_packets", "dropped packets")] {
        let happens = |of: &String| {
            summary.counter(of, key).and_then(|counter| counter.measure.estimate.mean) > Some(0.0)
        };
        if let Some(text) = summary.counter(name, key).and_then(|c| change(&c.measure, &c.unit))
            && summary.order.iter().any(happens)
        {
            parts.push(format!("{label} {text}"));
        }
    }
    if parts.is_empty() { "nothing to compare".to_string() } else { parts.join("; ") }
}

/// On which flows the changes rest, if not on all.
fn basis(summary: &Summary, name: &str) -> String {
    let all = summary.classes.last().and_then(|class| summary.class(name, &class.key));
    match all.and_then(|class| class.paired) {
        Some(paired) if !paired.is_all() => {
            let [flows, of] = [paired.flows, paired.of].map(|flows| words::count(flows as f64));
            format!(" (over the {flows} of {of} flows that finished in both)")
        }
        _ => String::new(),
    }
}

fn change(measure: &Measure, unit: &str) -> Option<String> {
    measure.change.map(|change| words::change(&change, unit))
}

/// The classes that the answer speaks of: the smallest flows and all of them.
fn headline_classes(summary: &Summary) -> Vec<(&str, String)> {
    let mut classes = Vec::new();
    if let [first, .., last] = summary.classes.as_slice() {
        classes.push((first.key.as_str(), format!("mice ({})", first.label)));
        classes.push((last.key.as_str(), last.label.clone()));
    }
    classes
}
