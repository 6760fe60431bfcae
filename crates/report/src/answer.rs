//! The answer in a sentence.

use crate::entries;
use crate::latency;
use crate::operations;
use crate::pings;
use crate::summary::{Measure, Summary};
use crate::throughput::{self, Shown};
use crate::words;

/// One sentence for each variant after the baseline: `ci vs. without-ci: mice (<100 KB)
/// -63 % [-70, -55], all flows -38 % [-45, -30] mean completion time; pause frames …`.
pub(crate) fn sentences(summary: &Summary) -> Vec<String> {
    let Some(baseline) = summary.baseline() else { return Vec::new() };
    let others = summary.order.iter().skip(1);
    let sentence = |name: &String| match &summary.variant(name).same_as {
        Some(other) => format!(
            "{name} vs. {other}: these are the same runs, to the bit: what differs between them never \
             acted"
        ),
        None => format!("{name} vs. {baseline}: {}", parts(summary, name)),
    };
    others.map(sentence).collect()
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
    parts.extend(throughput_parts(summary, name));
    // What is dropped is how classic senders learn of congestion, where nothing has to complete.
    let told = if parts.is_empty() || summary.has_flows() { &COUNTED[..] } else { &COUNTED[..1] };
    for &(key, label) in told {
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

/// What happens beside, of which less is better.
const COUNTED: [(&str, &str); 2] =
    [("xoff_frames", "XOFF frames"), ("dropped_packets", "dropped packets")];

/// What is delivered and how long packets take, where that is known; what flows without a size get
/// and how long packets wait, if there are no flows with a size.
fn throughput_parts(summary: &Summary, name: &str) -> Vec<String> {
    let of = |what: &str, shown: Vec<Shown>| {
        let changes = shown.into_iter().filter_map(|shown| {
            let counter = summary.counter(name, &shown.key)?;
            Some(format!("{} {}", shown.label, change(&counter.measure, &counter.unit)?))
        });
        let changes: Vec<String> = changes.collect();
        (!changes.is_empty())
            .then(|| format!("{what} {}", changes.join(", of ")).trim_start().to_owned())
    };
    let mut parts = vec![
        of("throughput of", latency::delivered(summary)),
        of("mean latency of", latency::means(summary)),
        of("mean time of calls, collectives and jobs of", operations::means_of(summary)),
    ];
    let under_load = pings::headlines(summary);
    if !summary.has_flows() && !under_load.is_empty() {
        parts.extend(under_load.into_iter().map(|shown| of("", vec![shown])));
    } else if !summary.has_flows() {
        parts.push(of("mean goodput of", throughput::goodputs_of(summary)));
        parts.push(of("mean response time of", entries::mean_responses_of(summary)));
        parts.push(of("throughput of entries of", entries::throughputs_of(summary)));
        parts.push(of("mean queueing delay of", throughput::mean_waits_of(summary)));
    }
    parts.into_iter().flatten().collect()
}

/// On which flows the changes rest, if not on all.
fn basis(summary: &Summary, name: &str) -> String {
    let all = summary.classes.last().and_then(|class| summary.class(name, &class.key));
    match all.and_then(|class| class.paired) {
        Some(paired) if !paired.is_all() => {
            let [flows, of] = [paired.flows, paired.of].map(|flows| words::count(flows as f64));
            format!(" (over the {flows} of {of} flows that began in both)")
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
