//! What the types cannot tell: whether the numbers fit together. Every finding has the numbers in
//! it and a remedy.

mod aqm;
mod buffer;
mod congestion_indication;
mod coupled;
mod custom;
mod discipline;
mod drc;
mod fabric;
mod failure;
mod feedback;
pub(crate) mod files;
mod flow_control;
mod host;
mod inert;
mod isolation;
pub(crate) mod list;
mod measured;
pub(crate) mod named;
mod network;
mod overflow;
mod path;
pub(crate) mod patterns;
mod pausing;
mod pools;
mod qcn;
pub(crate) mod sizes;
mod source_flow_control;
mod switch;
pub(crate) mod traffic;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, NodeId, Rate};
use floodway_sim::host::Profile;

use crate::document::Document;
use crate::files::Files;
use crate::read;
use crate::scenario::Variant;
use crate::text::{Item, Place, Problem};
use crate::workload::Ready;

pub use custom::MOST_TIERS;
pub use drc::headroom_above_stop;
pub use network::MOST_NODES;
pub use pausing::Pausing;
pub use pools::{above_xoff, shared_bytes};

/// What the checks have made on the way.
pub struct Checked {
    /// The network.
    pub graph: Graph,
    /// The workloads, their sizes read.
    pub workloads: Vec<Ready>,
}

/// Checks one variant: what it is made into if nothing is wrong, and all findings.
pub fn check(
    document: &Item,
    settings: &mut Document,
    files: &Files,
) -> (Option<Checked>, Vec<Problem>) {
    let mut findings = Findings { document, files, problems: Vec::new() };
    findings.problems.extend(files::read_network(document, settings, files));
    let settings = &*settings;
    names_and_times(settings, &mut findings);
    measured::check(settings, &mut findings);
    let largest_frame = host::check(settings, &mut findings);
    let workloads = traffic::check(settings, &mut findings);
    switch::check(settings, largest_frame, &mut findings);
    feedback::check(settings, &mut findings);
    path::check(settings, &mut findings);
    buffer::check(settings, largest_frame, &mut findings);
    fabric::check(settings, largest_frame, &mut findings);
    // Sums below are safe only where each part is within its bounds.
    let bounded = !findings.problems.iter().any(is_error);
    inert::check(settings, &mut findings);
    let graph = network::check(settings, &mut findings);
    if let (true, Some(graph), Some(frame)) = (bounded, &graph, largest_frame) {
        check_record(settings, graph, &mut findings);
        buffer::check_names(settings, graph, frame, &mut findings);
        switch::check_thresholds(settings, graph, &mut findings);
        path::check_on(settings, graph, &mut findings);
        flow_control::check(settings, graph, frame, &mut findings);
        failure::check(settings, graph, &mut findings);
        host::check_on(settings, graph, frame, &workloads, &mut findings);
        traffic::check_on(settings, graph, &workloads, &mut findings);
        if !findings.problems.iter().any(is_error) {
            measured::check_on(settings, graph, &workloads, &mut findings);
        }
    }
    let sound = findings.problems.iter().all(|problem| !is_error(problem));
    let checked = match graph {
        Some(graph) if sound => Some(Checked { graph, workloads }),
        _ => None,
    };
    (checked, findings.problems)
}

/// Checks the variants against each other.
pub fn between(document: &Item, variants: &[Variant]) -> Vec<Problem> {
    let same = same_settings(document, variants);
    same.chain(other_flows(document, variants)).chain(other_interval(document, variants)).collect()
}

/// Variants that are measured over different times cannot be compared in what is counted.
fn other_interval(document: &Item, variants: &[Variant]) -> Option<Problem> {
    let (first, others) = variants.split_first()?;
    let times = |of: &Variant| (of.settings.warmup, of.settings.limit, of.measured());
    let differs = others.iter().find(|other| times(other) != times(first))?;
    Some(Problem::warning(
        document.locate("variants"),
        format!(
            "the variants `{}` and `{}` have different warm-ups, limits or measured intervals",
            first.name, differs.name
        ),
        "counters then cover different times, and flows that do not complete count with different \
         times; keep `warmup`, `limit` and `measure_until` the same",
    ))
}

/// Variants with the same settings have the same runs.
fn same_settings(document: &Item, variants: &[Variant]) -> impl Iterator<Item = Problem> {
    let variants = if variants.len() > 1 { variants } else { &[] };
    // Only those whose text has the same hash are compared: there may be thousands.
    let mut known: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut earlier = |(at, variant): (usize, &Variant)| {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(&variant.settings).expect("settings are JSON").hash(&mut hasher);
        let alike = known.entry(hasher.finish()).or_default();
        let same = alike.iter().find(|&&other| variants[other].settings == variant.settings);
        let names = same.map(|&other| (variant.name.clone(), variants[other].name.clone()));
        alike.push(at);
        names
    };
    let pairs: Vec<_> = variants.iter().enumerate().filter_map(&mut earlier).collect();
    pairs.into_iter().map(|(name, same)| {
        Problem::warning(
            document.locate("variants"),
            format!(
                "the variants `{same}` and `{name}` have the same settings, and so the same runs"
            ),
            "remove one, or change in it what is to be compared",
        )
    })
}

fn other_flows(document: &Item, variants: &[Variant]) -> Option<Problem> {
    let (first, others) = variants.split_first()?;
    let differs = others.iter().find(|other| !other.shares_traffic_with(first))?;
    Some(Problem::warning(
        document.locate("workload"),
        format!("the variants `{}` and `{}` do not send the same flows", first.name, differs.name),
        "their differences cannot be paired flow by flow and need more replications; to pair \
         them, keep topology, placement, arrivals and workloads the same",
    ))
}

fn is_error(problem: &Problem) -> bool {
    problem.severity == miette::Severity::Error
}

/// Findings, placed where the values that they are about were written.
pub(crate) struct Findings<'a> {
    document: &'a Item,
    files: &'a Files,
    problems: Vec<Problem>,
}

impl Findings<'_> {
    /// A reason not to run, at the first of `paths` that was written, or else where the first
    /// would have been.
    fn error(&mut self, paths: &[&str], message: impl Into<String>, help: impl Into<String>) {
        let place = self.place(paths);
        self.problems.push(Problem::error(place, message, help));
    }

    /// A reason to think again, placed likewise.
    fn warn(&mut self, paths: &[&str], message: impl Into<String>, help: impl Into<String>) {
        let place = self.place(paths);
        self.problems.push(Problem::warning(place, message, help));
    }

    fn place(&self, paths: &[&str]) -> Place {
        let written = paths.iter().find_map(|path| self.document.written(path));
        written.unwrap_or_else(|| self.document.locate(paths[0]))
    }

    /// The text that a path's place stands in, for files named there.
    fn source_name(&self) -> String {
        // The root is the scenario file, whatever overlays its parts come from.
        self.document.place.source.name().to_owned()
    }

    fn positive(&mut self, path: &str, value: Duration) {
        if value == Duration::ZERO {
            self.error(&[path], format!("`{path}` is zero"), "write a time above zero");
        }
    }

    fn link_rate(&mut self, path: &str, rate: Rate) {
        const HELP: &str = "write a rate like \"100Gbps\"";
        if rate == Rate(0) {
            self.error(&[path], format!("`{path}` is zero"), HELP);
        } else if rate > FASTEST {
            self.error(&[path], format!("`{path}` is {rate}, above {FASTEST}"), HELP);
        }
    }

    /// A time that signals or switches take.
    fn latency(&mut self, path: &str, value: Duration) {
        if value > LONGEST_LATENCY {
            let message = format!("`{path}` is {}", rough_time(value));
            let help = format!("at most {LONGEST_LATENCY} is possible: 200 km of fibre take 1ms");
            self.error(&[path], message, help);
        }
    }

    fn probability(&mut self, path: &str, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            let message = format!("`{path}` is {}, not a probability", number(value));
            self.error(&[path], message, "write a number from 0 to 1; 1 % is 0.01");
        }
    }
}

/// Above this a frame takes so little time that picoseconds are too coarse.
pub const FASTEST: Rate = Rate::from_gbps(100_000);

/// Longer than any way on earth.
pub const LONGEST_LATENCY: Duration = Duration::from_ms(1_000);

/// More than a day; picoseconds are counted in 64 bits.
const LONGEST_RUN: Duration = Duration::from_ms(100_000_000);

/// The most samples in one run: each is a row per queue number in the results. Also the most rows
/// about what flows have delivered.
const MOST_SAMPLES: u64 = 10_000_000;

/// The most replications: each has a directory of its own.
const MOST_REPLICATIONS: u32 = 1_000_000;

/// Rows of the record: a gigabyte or two while its tables are made.
const MOST_ROWS: u64 = 10_000_000;

fn names_and_times(settings: &Document, findings: &mut Findings<'_>) {
    let Document { arrivals, warmup, limit, .. } = *settings;
    if let Some(cause) = read::bad_name(&settings.name) {
        let help = "name it with letters, digits, `-`, `_` and `.`: it becomes a directory";
        findings.error(&["name"], format!("the scenario's name {cause}"), help);
    }
    if settings.replications == 0 {
        let help = "write at least 1; 10 give a confidence interval worth having";
        findings.error(&["replications"], "there are 0 replications", help);
    }
    if settings.replications > MOST_REPLICATIONS {
        let message = format!("{} replications are too many", settings.replications);
        let help = format!(
            "at most {MOST_REPLICATIONS} are possible; 10 give a confidence interval worth having"
        );
        findings.error(&["replications"], message, help);
    }
    findings.positive("arrivals", arrivals);
    if arrivals > Duration::ZERO && warmup >= arrivals {
        findings.error(
            &["warmup"],
            format!("the warm-up ({warmup}) lasts until the arrivals end ({arrivals})"),
            "nothing would be measured: make `warmup` shorter or `arrivals` longer",
        );
    }
    if limit <= arrivals {
        findings.error(
            &["limit"],
            format!("the run stops ({limit}) before the last flows have come ({arrivals})"),
            "leave time to finish: set `limit` well above `arrivals`",
        );
    }
    if limit > LONGEST_RUN {
        let message = format!("a run of {} is too long", rough_time(limit));
        findings.error(&["limit"], message, format!("at most {LONGEST_RUN} are possible"));
    }
    let interval = settings.sample_interval();
    findings.positive("sample_interval", interval);
    if interval > Duration::ZERO && limit.0 / interval.0 > MOST_SAMPLES {
        let samples = limit.0 / interval.0;
        findings.error(
            &["sample_interval"],
            format!("a sample every {interval} makes {samples} samples in {limit}"),
            format!("at most {MOST_SAMPLES} are kept: sample less often"),
        );
    }
    if let Some(interval) = settings.flow_samples {
        findings.positive("flow_samples", interval);
    }
}

/// Whether the record can be kept.
fn check_record(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) {
    let (moments, most) = (u64::from(settings.record), most_moments(graph));
    if moments == 1 {
        findings.error(
            &["record"],
            "a record of one sample shows nothing that happens over time",
            "write 2 or more, such as 200, or 0 for no record",
        );
    } else if moments > most {
        let ports = ports(graph);
        findings.error(
            &["record"],
            format!("{moments} moments of {ports} ports make {} rows", moments * ports),
            format!("at most {MOST_ROWS} are kept: write at most {most}"),
        );
    }
}

/// The most moments that a record of this network can have.
pub(crate) fn most_moments(graph: &Graph) -> u64 {
    MOST_ROWS / ports(graph).max(1)
}

fn ports(graph: &Graph) -> u64 {
    graph.nodes.iter().map(|node| node.ports.len() as u64).sum()
}

/// A number of a scenario for reading: as it is, or with an exponent where it would have many zeros.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 && size.is_finite() || (size > 0.0 && size < 1e-9) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A size for reading, to three digits.
fn rough_bytes(bytes: Bytes) -> String {
    rough(bytes.0 as f64, &["B", "KB", "MB", "GB", "TB"])
}

/// A time for reading, to three digits.
fn rough_time(time: Duration) -> String {
    rough(time.0 as f64, &["ps", "ns", "us", "ms", "s"])
}

fn rough(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value >= 99.95 || value.fract() == 0.0 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {}", units[unit])
}

/// Wire bytes of a full packet over its payload.
pub fn wire_factor(settings: &Document, profile: &Profile) -> f64 {
    let wire = f64::from(profile.transport.largest_frame()) + settings.wire_overhead.0 as f64;
    wire / profile.transport.payload() as f64
}

/// The longest frame on any link, for payloads that fit.
pub fn largest_frame(settings: &Document) -> u16 {
    let profiles = settings.profiles();
    let frames = profiles.iter().map(|profile| profile.transport.largest_frame());
    frames.max().unwrap_or(length::SHORTEST_FRAME)
}

/// The kinds of links that end at a switch, each with the name of one end.
pub fn links_to_switches(graph: &Graph) -> BTreeMap<(Rate, Duration), String> {
    let kinds = links_to(graph, graph.switches()).into_iter();
    kinds.map(|(kind, [from, to])| (kind, format!("{from} to {to}"))).collect()
}

/// The kinds of links that end at some switches, each with the names of the ends of one such link.
fn links_to(
    graph: &Graph,
    switches: impl Iterator<Item = NodeId>,
) -> BTreeMap<(Rate, Duration), [&str; 2]> {
    let mut kinds = BTreeMap::new();
    for switch in switches {
        let node = graph.node(switch);
        for end in &node.ports {
            let names = || [&*graph.node(end.peer).name, &*node.name];
            kinds.entry((end.rate, end.delay)).or_insert_with(names);
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_with_many_zeros_have_an_exponent() {
        for (value, text) in [
            (1.01, "1.01"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (1e14, "100000000000000"),
            (1e308, "1e308"),
            (-1.5e300, "-1.5e300"),
            (1e-300, "1e-300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
