//! What types cannot express: whether the numbers fit together. Every finding has the numbers in
//! it and a remedy.

mod buffer;
mod drc;
mod errors;
mod failure;
mod feedback;
pub(crate) mod files;
mod headroom_pool;
mod host;
mod inert;
mod line;
mod linux;
mod lossless;
mod measured;
mod network;
pub(crate) mod pausing;
pub(crate) mod pools;
mod ports;
pub(crate) mod sizes;
mod switch;
pub(crate) mod traffic;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use floodway_model::check::{self, Finding, Severity, Sink, rough_bytes, rough_time};
use floodway_model::packet::length;
use floodway_model::{Duration, Graph, NodeId, Rate};
use floodway_sim::host::Profile;
use floodway_sim::switch::check::Facts;

use crate::document::Document;
use crate::files::Files;
use crate::read;
use crate::sampling;
use crate::scenario::Variant;
use crate::text::{Item, Problem};
use crate::workload::Ready;

pub use drc::headroom_above_stop;
pub use headroom_pool::headroom_pool;
pub use network::{MOST_NODES, MOST_PORTS};
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
    let mut findings = Problems { document, files, problems: Vec::new() };
    findings.problems.extend(files::read_network(document, settings, files));
    findings.problems.extend(files::read_traces(document, settings, files));
    let settings = &*settings;
    names_and_times(settings, &mut findings.within(""));
    measured::check(settings, &mut findings);
    sampling::check(settings, &mut findings);
    let largest_frame = host::check(settings, &mut findings);
    let workloads = traffic::check(settings, &mut findings);
    let (host, profiles) = (settings.host.spec(), settings.profiles());
    let facts = Facts {
        switch: &settings.switch,
        host: &host,
        profiles: &profiles,
        largest_frame,
        wire_overhead: settings.wire_overhead,
        limit: settings.limit,
        departures: settings.departures,
        has_sizes: traffic::has_sizes(settings),
    };
    host.check_beside(&facts, &mut findings.within("host"));
    switch::check(settings, &facts, &mut findings);
    feedback::check(settings, &mut findings);
    linux::check(settings, &mut findings);
    // Sums below are safe only where each part is within its bounds.
    let bounded = !findings.problems.iter().any(is_error);
    inert::check(settings, &mut findings);
    let graph = network::check(settings, &mut findings);
    if let (true, Some(graph), Some(frame)) = (bounded, &graph, largest_frame) {
        check_record(settings, graph, &mut findings);
        check_explained(settings, &mut findings);
        buffer::check_names(settings, graph, frame, &mut findings);
        switch::check_on(settings, &facts, graph, &mut findings);
        if let Some(pausing) = Pausing::of(settings) {
            pausing.check(settings, graph, frame, &mut findings);
        }
        lossless::check(settings, &mut findings);
        drc::check(settings, graph, &mut findings);
        failure::check(settings, graph, &mut findings);
        line::check(settings, graph, &mut findings);
        errors::check(settings, graph, frame, &mut findings);
        ports::check(settings, graph, &mut findings);
        host::check_on(settings, graph, frame, &workloads, &mut findings);
        traffic::check_on(settings, graph, &workloads, &mut findings);
        if !findings.problems.iter().any(is_error) {
            linux::check_on(settings, graph, &workloads, &mut findings);
            ports::check_reach(settings, graph, &workloads, &mut findings);
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

/// The network of a document; none if it cannot be built.
pub fn network_of(document: &Item, settings: &mut Document, files: &Files) -> Option<Graph> {
    let mut findings = Problems { document, files, problems: Vec::new() };
    findings.problems.extend(files::read_network(document, settings, files));
    let graph = network::check(settings, &mut findings);
    graph.filter(|_| !findings.problems.iter().any(is_error))
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

/// Problems, placed where the values that they are about were written.
pub(crate) struct Problems<'a> {
    document: &'a Item,
    files: &'a Files,
    problems: Vec<Problem>,
}

impl Problems<'_> {
    /// For what is found in the table at a path.
    pub(crate) fn within(&mut self, table: impl Into<String>) -> check::Findings<'_> {
        check::Findings::new(table, self)
    }

    /// A reason not to run, at the first of `paths` that was written, or else where the first
    /// would have been.
    fn error(&mut self, paths: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.within("").error(paths, message, help);
    }

    /// A reason to think again, placed likewise.
    fn warn(&mut self, paths: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.within("").warn(paths, message, help);
    }

    /// The text that a path's place stands in, for files named there.
    fn source_name(&self) -> String {
        // The root is the scenario file, whatever overlays its parts come from.
        self.document.place.source.name().to_owned()
    }
}

impl Sink for Problems<'_> {
    fn add(&mut self, finding: Finding) {
        let Finding { severity, paths, message, remedy } = finding;
        let problem = match severity {
            Severity::Idle => {
                let Some(place) = self.document.written_itself(&paths[0]) else { return };
                let idle = Some(Arc::new(paths[0].clone()));
                Problem { idle, ..Problem::warning(place, message, remedy) }
            }
            severity => {
                let written = paths.iter().find_map(|path| self.document.written(path));
                let place = written.unwrap_or_else(|| self.document.locate(&paths[0]));
                match severity {
                    Severity::Error => Problem::error(place, message, remedy),
                    _ => Problem::warning(place, message, remedy),
                }
            }
        };
        self.problems.push(problem);
    }

    fn count(&self) -> usize {
        self.problems.len()
    }
}

/// The most samples in one run: each is a row per queue number in the results. Also the most rows
/// about what flows have delivered.
const MOST_SAMPLES: u64 = 10_000_000;

/// The most replications: each has a directory of its own.
const MOST_REPLICATIONS: u32 = 1_000_000;

/// Rows of the record: a gigabyte or two while its tables are made.
const MOST_ROWS: u64 = 10_000_000;

fn names_and_times(settings: &Document, findings: &mut check::Findings<'_>) {
    let Document { arrivals, warmup, limit, .. } = *settings;
    if let Some(cause) = read::bad_name(&settings.name) {
        let help = "name it with letters, digits, `-`, `_` and `.`: it becomes a directory";
        findings.error("name", format!("the scenario's name {cause}"), help);
    }
    let why = "10 give a confidence interval worth having";
    findings.range("replications", settings.replications, 1..=MOST_REPLICATIONS, why);
    findings.positive("arrivals", arrivals, "");
    if arrivals > Duration::ZERO {
        let help = "nothing would be measured: make `warmup` shorter or `arrivals` longer";
        findings.below(("warmup", warmup), ("arrivals", arrivals), help);
    }
    if limit <= arrivals {
        findings.error(
            "limit",
            format!("the run stops ({limit}) before the last flows have come ({arrivals})"),
            "leave time to finish: set `limit` well above `arrivals`",
        );
    }
    findings.within_a_run("limit", limit);
    let interval = settings.sample_interval();
    findings.positive("sample_interval", interval, "");
    let samples = limit.0.checked_div(interval.0).unwrap_or(0);
    if samples > MOST_SAMPLES {
        findings.error(
            "sample_interval",
            format!("a sample every {interval} makes {samples} samples in {limit}"),
            format!("at most {MOST_SAMPLES} are kept: sample less often"),
        );
    }
    findings.positive("flow_samples", settings.flow_samples, "");
}

/// Whether the record can be kept.
fn check_record(settings: &Document, graph: &Graph, findings: &mut Problems<'_>) {
    let (samples, most) = (u64::from(settings.record), most_samples(graph));
    if samples == 1 {
        findings.error(
            &["record"],
            "a record of one sample shows nothing that happens over time",
            "write 2 or more, such as 200, or 0 for no record",
        );
    } else if samples > most {
        let ports = ports(graph);
        findings.error(
            &["record"],
            format!("{samples} samples of {ports} ports make {} rows", samples * ports),
            format!("at most {MOST_ROWS} are kept: write at most {most}"),
        );
    }
}

/// Whether a share of the flows can be explained.
fn check_explained(settings: &Document, findings: &mut Problems<'_>) {
    let share = settings.explained_share;
    if !(share > 0.0 && share <= 1.0) {
        findings.error(
            &["explained_share"],
            format!("{share} is not a share above 0 and at most 1"),
            "0.05 explains flows with a twentieth of the bytes; for none set `explained_flows` to 0",
        );
    } else if settings.explained_flows == 0 && share != Document::EXPLAINED_SHARE {
        findings.warn(
            &["explained_share", "explained_flows"],
            "no flows are explained, so `explained_share` has no effect",
            "set `explained_flows`, for example to 1000, or run with --why",
        );
    }
}

/// The most samples that a record of this network can have.
pub(crate) fn most_samples(graph: &Graph) -> u64 {
    MOST_ROWS / ports(graph).max(1)
}

fn ports(graph: &Graph) -> u64 {
    graph.nodes.iter().map(|node| node.ports.len() as u64).sum()
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
