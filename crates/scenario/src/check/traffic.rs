//! Whether the workloads fit the network and the times.

use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Graph, Rate};

use super::{Findings, MOST_SAMPLES, mtu, rough_bytes, rough_time};
use crate::document::Document;
use crate::text::{Place, Problem, Source, suggest};
use crate::workload::{Distribution, Ready, Sampling, Spec, builtin, incast, many_to_many};

/// Flows are numbered in 32 bits; this leaves room for chance.
const MOST_FLOWS: f64 = 4e9;

/// The workloads that can be made ready; all of them if nothing was found.
pub fn check(settings: &Document, findings: &mut Findings<'_>) -> Vec<Ready> {
    if settings.workload.is_empty() {
        let help = "add one: [[workload]] and below it [workload.many_to_many]";
        findings.error(&["workload"], "there is no workload", help);
    }
    if settings.workload.len() > usize::from(u16::MAX) {
        let message = format!("there are {} workloads", settings.workload.len());
        findings.error(&["workload"], message, "at most 65535 are possible");
    }
    let numbered = settings.workload.iter().enumerate();
    let ready = numbered.filter_map(|(number, spec)| match spec {
        Spec::ManyToMany(spec) => {
            let sizes =
                check_many_to_many(&format!("workload.{number}.many_to_many"), spec, findings);
            sizes.map(|sizes| Ready::ManyToMany(spec.clone(), sizes))
        }
        Spec::Incast(spec) => {
            check_incast(&format!("workload.{number}.incast"), spec, settings, findings);
            Some(Ready::Incast(spec.clone()))
        }
    });
    ready.collect()
}

fn check_many_to_many(
    path: &str,
    spec: &many_to_many::Spec,
    findings: &mut Findings<'_>,
) -> Option<Distribution> {
    let field = |name: &str| format!("{path}.{name}");
    if !(spec.load > 0.0 && spec.load <= 1.0) {
        findings.error(
            &[&field("load")],
            format!("a load of {} is not possible", spec.load),
            "write the part of each host's link that payload is to take: above 0, at most 1",
        );
    }
    if spec.clusters == 0 {
        findings.error(&[&field("clusters")], "there are 0 clusters", "write at least 1");
    }
    if spec.cluster_size < 2 {
        let message = format!("a cluster of {} cannot send to itself", spec.cluster_size);
        findings.error(&[&field("cluster_size")], message, "write at least 2 hosts per cluster");
    }
    if spec.max_size == Some(Bytes(0)) {
        let help = "write the largest flow, for example \"30MB\", or remove it";
        findings.error(&[&field("max_size")], "all flows would be cut to 0 bytes", help);
        return None;
    }
    let sizes = match sizes(&spec.sizes, spec.sampling, &findings.source_name()) {
        Ok(sizes) => sizes,
        Err(SizesError::Name { message, help }) => {
            findings.error(&[&field("sizes")], message, help);
            return None;
        }
        Err(SizesError::Table(problem)) => {
            findings.problems.push(*problem);
            return None;
        }
    };
    Some(match spec.max_size {
        Some(most) => sizes.capped(most.0),
        None => sizes,
    })
}

enum SizesError {
    /// The name stands for nothing.
    Name { message: String, help: String },
    /// The file is not a table.
    Table(Box<Problem>),
}

/// The distribution that `text` names: a built-in one, one size, or a file beside the scenario.
fn sizes(text: &str, rule: Option<Sampling>, scenario: &str) -> Result<Distribution, SizesError> {
    if let Some(builtin) = builtin::find(text) {
        return Ok(builtin.distribution(rule));
    }
    if text.to_ascii_lowercase().ends_with(".csv") {
        return table(text, rule.unwrap_or_default(), scenario);
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return match Bytes::from_str(text) {
            Ok(Bytes(0)) => Err(SizesError::Name {
                message: "flows would have 0 bytes".to_owned(),
                help: "write at least \"1B\"".to_owned(),
            }),
            Ok(bytes) => Ok(Distribution::fixed(bytes.0)),
            Err(error) => Err(SizesError::Name {
                message: error.to_string(),
                help: "write one size like \"64KB\", or a distribution's name".to_owned(),
            }),
        };
    }
    let names: Vec<_> = builtin::BUILTINS.iter().map(|builtin| builtin.name).collect();
    Err(SizesError::Name {
        message: format!("there is no flow-size distribution `{text}`"),
        help: format!(
            "{}; or write one size (\"64KB\") or a file (\"sizes.csv\")",
            suggest::remedy(text, "distributions", &names)
        ),
    })
}

fn table(file: &str, rule: Sampling, scenario: &str) -> Result<Distribution, SizesError> {
    let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(file);
    let text = fs::read_to_string(&path).map_err(|error| SizesError::Name {
        message: match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file `{file}`"),
            std::io::ErrorKind::InvalidData => format!("`{file}` is not text in UTF-8"),
            _ => format!("`{file}` cannot be read: {error}"),
        },
        help: format!(
            "the path is relative to the scenario's directory: `{}` was sought",
            path.display()
        ),
    })?;
    Distribution::from_csv(&text, rule).map_err(|error| {
        let source = Arc::new(Source::new(path.display().to_string(), text));
        let place = Place::line(&source, error.line);
        SizesError::Table(Box::new(Problem::error(place, error.cause, error.remedy)))
    })
}

fn check_incast(path: &str, spec: &incast::Spec, settings: &Document, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    if spec.sets == 0 {
        let help = "write at least 1, or remove the workload";
        findings.error(&[&field("sets")], "there are 0 incasts", help);
    }
    if spec.senders == 0 {
        findings.error(&[&field("senders")], "an incast has 0 senders", "write at least 1");
    }
    if spec.bytes == Some(Bytes(0)) {
        let help = "write a size, or remove it for flows that never end";
        findings.error(&[&field("bytes")], "flows would have 0 bytes", help);
    }
    if spec.start >= settings.limit {
        findings.error(
            &[&field("start")],
            format!("the incast starts ({}) when the run stops ({})", spec.start, settings.limit),
            "start it earlier or raise `limit`",
        );
    } else if spec.bytes.is_some() && spec.start < settings.warmup {
        findings.warn(
            &[&field("start"), path],
            format!(
                "the incast starts ({}) during the warm-up ({}) and is not measured",
                spec.start, settings.warmup
            ),
            "start it after the warm-up if its completion times matter",
        );
    }
}

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    largest_frame: u16,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    // Findings so far may have left some out.
    if workloads.len() < settings.workload.len() || !check_hosts(settings, graph, findings) {
        return;
    }
    let Some(slowest) = graph.hosts().map(|host| graph.node(host).ports[0].rate).min() else {
        return;
    };
    check_flow_numbers(settings, graph, workloads, findings);
    check_flow_samples(settings, workloads, findings);
    for (number, workload) in workloads.iter().enumerate() {
        let path = format!("workload.{number}");
        if let Spec::ManyToMany(spec) = &settings.workload[number] {
            check_wire_load(&path, spec.load, settings, largest_frame, findings);
        }
        check_largest(&path, workload.largest_flow(), settings, slowest, findings);
    }
}

/// Whether there are enough hosts for all workloads.
fn check_hosts(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) -> bool {
    let hosts = graph.hosts().count() as u64;
    let mut taken: u64 = 0;
    for (number, spec) in settings.workload.iter().enumerate() {
        let (needs, what, field) = match spec {
            Spec::ManyToMany(spec) => (
                u64::from(spec.clusters) * u64::from(spec.cluster_size),
                match spec.clusters {
                    1 => format!("a cluster of {}", spec.cluster_size),
                    clusters => format!("{clusters} clusters of {}", spec.cluster_size),
                },
                "clusters",
            ),
            Spec::Incast(spec) => (
                u64::from(spec.sets) * spec.hosts_per_set(),
                match spec.sets {
                    1 => format!("an incast of {}:1", spec.senders),
                    sets => format!("{sets} incasts of {}:1", spec.senders),
                },
                "senders",
            ),
        };
        if needs > hosts - taken {
            let left = match taken {
                0 => format!("the network has {hosts}"),
                _ => format!("of the network's {hosts} only {} are left", hosts - taken),
            };
            findings.error(
                &[&format!("workload.{number}.{}.{field}", spec.name())],
                format!("{needs} hosts are needed for {what}, and {left}"),
                "make the workload smaller or the topology larger; workloads share no hosts",
            );
            return false;
        }
        taken += needs;
    }
    true
}

fn check_flow_numbers(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    let order = settings.placement.order(graph, settings.seed);
    let shares =
        crate::workload::surroundings(workloads, graph, &order, settings.arrivals, settings.seed);
    let flows: f64 = shares
        .map(|(workload, around)| {
            workload.expected_flows(around) + workload.persistent_flows() as f64
        })
        .sum();
    if flows > MOST_FLOWS {
        findings.error(
            &["arrivals"],
            format!("about {flows:.1e} flows would start in {}", settings.arrivals),
            "at most 4e9 are possible: shorten `arrivals`, lower the load or take larger flows",
        );
    }
}

/// Whether what flows deliver can be kept.
fn check_flow_samples(settings: &Document, workloads: &[Ready], findings: &mut Findings<'_>) {
    let Some(interval) = settings.flow_samples.filter(|&interval| interval > Duration::ZERO) else {
        return;
    };
    let flows: u64 = workloads.iter().map(Ready::persistent_flows).sum();
    let samples = settings.limit.0 / interval.0;
    let rows = samples.saturating_mul(flows);
    if flows == 0 {
        findings.warn(
            &["flow_samples"],
            "every flow has a size, and only flows that have none are sampled",
            "remove `flow_samples`, or leave out `bytes` in an incast",
        );
    } else if rows > MOST_SAMPLES {
        findings.error(
            &["flow_samples"],
            format!(
                "{samples} samples in {} of {flows} flows without a size make {rows} rows",
                settings.limit
            ),
            format!("at most {MOST_SAMPLES} are kept: sample less often"),
        );
    }
}

/// Payload at a load of 1 does not fit beside its headers.
fn check_wire_load(
    path: &str,
    load: f64,
    settings: &Document,
    largest_frame: u16,
    findings: &mut Findings<'_>,
) {
    let wire = f64::from(largest_frame) + settings.wire_overhead.0 as f64;
    let wire_load = load * wire / mtu(settings).0 as f64;
    if load <= 1.0 && wire_load > 1.0 {
        findings.warn(
            &[&format!("{path}.many_to_many.load")],
            format!("with headers a payload load of {load} is {wire_load:.3} of the link"),
            format!("queues grow without end: stay below {:.3}", load / wire_load),
        );
    }
}

/// Whether the largest flow can be numbered, and can end in time.
fn check_largest(
    path: &str,
    largest: u64,
    settings: &Document,
    slowest: Rate,
    findings: &mut Findings<'_>,
) {
    let mtu = mtu(settings).0;
    let fields = ["many_to_many.max_size", "many_to_many.sizes", "incast.bytes"];
    let paths = fields.map(|field| format!("{path}.{field}"));
    let paths = [&*paths[0], &*paths[1], &*paths[2]];
    let packets = largest.div_ceil(mtu);
    if packets >= u64::from(u32::MAX) {
        findings.error(
            &paths,
            format!("a flow of {} has {packets} packets", rough_bytes(Bytes(largest))),
            format!("fewer than {} can be numbered: cut it with `max_size`", u32::MAX),
        );
        return;
    }
    let per_packet = u64::from(length::ROCE_OVERHEAD) + settings.wire_overhead.0;
    let alone = slowest.time_for(Bytes(largest + packets * per_packet));
    let left = Duration(settings.limit.0.saturating_sub(settings.arrivals.0));
    if alone > left && left > Duration::ZERO {
        findings.warn(
            &paths,
            format!(
                "a flow of {} takes {} on an idle link of {slowest}, but the run ends {} after the \
                 last arrival",
                rough_bytes(Bytes(largest)),
                rough_time(alone),
                rough_time(left)
            ),
            "the largest flows will not finish: raise `limit`, or cut them with `max_size`",
        );
    }
}
