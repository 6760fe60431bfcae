//! Whether the workloads fit the network and the times.

use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::host::{Profile, application};

use super::sizes::{SizesError, sizes};
use super::{Findings, MOST_SAMPLES, files, list, named, rough_bytes, rough_time, wire_factor};
use crate::document::Document;
use crate::workload::{
    self, Distribution, Ready, Sampling, Spec, incast, incast_series, many_to_many,
};

/// Flows are numbered in 32 bits; this leaves room for chance.
const MOST_FLOWS: f64 = 4e9;

/// What a flow takes in memory, its place in the results included (measured), and from how many on
/// that is worth a word.
const BYTES_PER_FLOW: f64 = 300.0;
const MANY_FLOWS: f64 = 1e8;

/// Each waits for its turn and is a row of a table.
const MOST_ENTRIES: f64 = 1e7;

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
    let ready = numbered.filter_map(|(number, entry)| match &entry.traffic {
        Spec::ManyToMany(spec) => {
            let sizes =
                check_many_to_many(&format!("workload.{number}.many_to_many"), spec, findings);
            sizes.map(|sizes| Ready::ManyToMany(spec.clone(), sizes))
        }
        Spec::Incast(spec) => {
            check_incast(&format!("workload.{number}.incast"), spec, settings, findings);
            Some(Ready::Incast(spec.clone()))
        }
        Spec::IncastSeries(spec) => {
            check_incast_series(&format!("workload.{number}.incast_series"), spec, findings);
            Some(Ready::IncastSeries(spec.clone()))
        }
        Spec::List(spec) => {
            list::check(&format!("workload.{number}.list.flow"), spec, settings, findings);
            Some(Ready::List(spec.clone()))
        }
        Spec::File(spec) => {
            let path = format!("workload.{number}.file");
            files::check_flows(&path, spec, settings, findings).map(Ready::List)
        }
        Spec::LongFlows(spec) => {
            let path = format!("workload.{number}.long_flows");
            let ends = named::ends(&path, &spec.from, &spec.to, settings, findings);
            named::check_long_flows(&path, spec, ends.as_ref(), settings, findings);
            ends.map(|ends| Ready::LongFlows(spec.clone(), ends))
        }
        Spec::Poisson(spec) => {
            let path = format!("workload.{number}.poisson");
            let ends = named::ends(&path, &spec.from, &spec.to, settings, findings);
            named::check_poisson(&path, spec, ends.as_ref(), findings);
            let sizes = check_sizes(&path, &spec.sizes, spec.sampling, spec.max_size, findings);
            sizes.zip(ends).map(|(sizes, ends)| Ready::Poisson(spec.clone(), sizes, ends))
        }
        Spec::Saturated(spec) => {
            let path = format!("workload.{number}.saturated");
            let ends = named::ends(&path, &spec.from, &spec.to, settings, findings);
            named::check_saturated(&path, spec, ends.as_ref(), findings);
            let sizes = check_sizes(&path, &spec.sizes, spec.sampling, spec.max_size, findings);
            sizes.zip(ends).map(|(sizes, ends)| Ready::Saturated(spec.clone(), sizes, ends))
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
    check_load(&field("load"), spec.load, findings);
    if spec.clusters == 0 {
        findings.error(&[&field("clusters")], "there are 0 clusters", "write at least 1");
    }
    if spec.cluster_size < 2 {
        let message = format!("a cluster of {} cannot send to itself", spec.cluster_size);
        findings.error(&[&field("cluster_size")], message, "write at least 2 hosts per cluster");
    }
    check_sizes(path, &spec.sizes, spec.sampling, spec.max_size, findings)
}

/// The distribution that a workload names.
fn check_sizes(
    path: &str,
    name: &str,
    sampling: Option<Sampling>,
    max_size: Option<Bytes>,
    findings: &mut Findings<'_>,
) -> Option<Distribution> {
    let field = |name: &str| format!("{path}.{name}");
    if max_size == Some(Bytes(0)) {
        let help = "write the largest flow, for example \"30MB\", or remove it";
        findings.error(&[&field("max_size")], "all flows would be cut to 0 bytes", help);
        return None;
    }
    let scenario = findings.source_name();
    let sizes = match sizes(name, sampling, &scenario, findings.files) {
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
    Some(match max_size {
        Some(most) => sizes.capped(most.0),
        None => sizes,
    })
}

fn check_load(path: &str, load: f64, findings: &mut Findings<'_>) {
    if !(load > 0.0 && load <= 1.0) {
        findings.error(
            &[path],
            format!("a load of {load} is not possible"),
            "write the part of each host's link that payload is to take: above 0, at most 1",
        );
    }
}

fn check_incast_series(path: &str, spec: &incast_series::Spec, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    check_load(&field("load"), spec.load, findings);
    if spec.senders == 0 {
        findings.error(&[&field("senders")], "an incast has 0 senders", "write at least 1");
    } else if spec.senders >= spec.hosts {
        let needs = u64::from(spec.senders) + 1;
        findings.error(
            &[&field("senders")],
            format!(
                "incasts of {}:1 need {needs} hosts, and `hosts` is {}",
                spec.senders, spec.hosts
            ),
            "lower `senders` or raise `hosts`",
        );
    }
    if spec.bytes == Bytes(0) {
        let help = "write the size of each sender's message, for example \"256KB\"";
        findings.error(&[&field("bytes")], "flows would have 0 bytes", help);
    }
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
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    // Findings so far may have left some out.
    if workloads.len() < settings.workload.len() || !check_hosts(settings, graph, findings) {
        return;
    }
    let Some(slowest) = graph.links().map(|(_, _, end)| end.rate).min() else { return };
    check_flow_numbers(settings, graph, workloads, findings);
    check_loads(settings, findings);
    named::check_links(settings, graph, workloads, findings);
    check_flow_samples(settings, workloads, findings);
    check_entries(settings, workloads, findings);
    for (number, (workload, profile)) in workloads.iter().zip(settings.profiles()).enumerate() {
        check_largest(number, workload.largest_flow(), settings, &profile, slowest, findings);
    }
}

/// Whether there are enough hosts for all workloads.
fn check_hosts(settings: &Document, graph: &Graph, findings: &mut Findings<'_>) -> bool {
    let hosts = graph.hosts().count() as u64;
    let mut taken: u64 = 0;
    let mut enough = true;
    for (number, entry) in settings.workload.iter().enumerate() {
        let spec = &entry.traffic;
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
            Spec::IncastSeries(spec) => {
                (spec.hosts.into(), format!("incasts of {}:1", spec.senders), "hosts")
            }
            Spec::List(spec) => {
                enough &= list::check_hosts(
                    &format!("workload.{number}.list.flow"),
                    spec,
                    hosts,
                    findings,
                );
                continue;
            }
            // Looked for when they were made ready.
            Spec::File(_) | Spec::LongFlows(_) | Spec::Poisson(_) | Spec::Saturated(_) => continue,
        };
        if needs > hosts - taken {
            let left = match taken {
                0 => format!("the network has {hosts}"),
                _ => format!("of the network's {hosts} only {} are left", hosts - taken),
            };
            let help = "make the workload smaller or the topology larger";
            findings.error(
                &[&format!("workload.{number}.{}.{field}", spec.name())],
                format!("{needs} hosts are needed for {what}, and {left}"),
                if settings.share_hosts {
                    help.to_owned()
                } else {
                    format!("{help}; workloads share no hosts unless `share_hosts` is true")
                },
            );
            return false;
        }
        if !settings.share_hosts {
            taken += needs;
        }
    }
    enough
}

fn check_flow_numbers(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    let order = settings.placement.order(graph, settings.seed);
    let seed = settings.seed;
    let shares = workload::surroundings(workloads, settings, graph, &order, seed);
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
    } else if flows > MANY_FLOWS {
        findings.warn(
            &["arrivals"],
            format!("about {flows:.1e} flows would start in {}", settings.arrivals),
            format!(
                "they take about {:.0} GB of memory: shorten `arrivals`, lower the load or take \
                 larger flows",
                flows * BYTES_PER_FLOW / 1e9
            ),
        );
    }
}

/// Whether the hosts' links can carry what is offered: by each workload, or by all if they share
/// their hosts, of which the first in order then send for every workload.
fn check_loads(settings: &Document, findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    let load = |spec: &Spec| match spec {
        Spec::ManyToMany(spec) => Some(spec.load),
        Spec::IncastSeries(spec) => Some(spec.load),
        Spec::Incast(_)
        | Spec::File(_)
        | Spec::List(_)
        | Spec::LongFlows(_)
        | Spec::Poisson(_)
        | Spec::Saturated(_) => None,
    };
    let (mut sum, mut wire_sum) = (0.0, 0.0);
    for (number, entry) in settings.workload.iter().enumerate() {
        let spec = &entry.traffic;
        let Some(load) = load(spec) else { continue };
        let path = format!("workload.{number}.{}.load", spec.name());
        let wire_factor = wire_factor(settings, &profiles[number]);
        if !settings.share_hosts {
            check_wire_load(&path, load, load * wire_factor, findings);
            continue;
        }
        let wire_before = wire_sum;
        wire_sum += load * wire_factor;
        // To nine digits, so that tenths add up.
        sum = ((sum + load) * 1e9).round() / 1e9;
        if sum > 1.0 {
            findings.error(
                &[&path],
                format!("with the workloads before it, which share its hosts, the load is {sum}"),
                "at most 1 is possible: lower the loads, or remove `share_hosts`",
            );
            return;
        }
        // Said once, of the workload with which it begins.
        if wire_before <= 1.0 {
            check_wire_load(&path, sum, wire_sum, findings);
        }
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

/// Whether all entries can be kept that come by the clock, or are under way at once.
fn check_entries(settings: &Document, workloads: &[Ready], findings: &mut Findings<'_>) {
    let profiles = settings.profiles();
    for (number, (workload, profile)) in workloads.iter().zip(&profiles).enumerate() {
        let Some(application::Spec::Entries(spec)) = &profile.application else { continue };
        let flows = workload.persistent_flows();
        let path = |field: &str| format!("workload.{number}.application.entries.{field}");
        let (field, of_one, when) = match (spec.interval, spec.outstanding) {
            (Some(interval), _) => (
                "interval",
                settings.arrivals.0 as f64 / interval.0.max(1) as f64,
                format!("come in {}", settings.arrivals),
            ),
            (None, Some(count)) => ("outstanding", count.into(), "be under way at once".to_owned()),
            (None, None) => continue,
        };
        let entries = of_one * flows as f64;
        if entries > MOST_ENTRIES {
            findings.error(
                &[&path(field)],
                format!("about {entries:.1e} entries would {when} on {flows} connections"),
                match field {
                    "interval" => format!(
                        "at most {MOST_ENTRIES:.0e} are kept: raise `interval` or shorten \
                         `arrivals`"
                    ),
                    _ => format!("at most {MOST_ENTRIES:.0e} are kept: lower `outstanding`"),
                },
            );
        }
    }
}

/// Payload at a load of 1 does not fit beside its headers.
fn check_wire_load(path: &str, load: f64, wire_load: f64, findings: &mut Findings<'_>) {
    if load <= 1.0 && wire_load > 1.0 {
        findings.warn(
            &[path],
            format!("with headers a payload load of {load} is {wire_load:.3} of the link"),
            format!("queues grow without end: stay below {:.3}", load / wire_load),
        );
    }
}

/// Where a workload may say how large its largest flow is.
fn size_paths(number: usize, spec: &Spec) -> Vec<String> {
    let path = |field: &str| format!("workload.{number}.{}.{field}", spec.name());
    match spec {
        Spec::ManyToMany(_) | Spec::Poisson(_) | Spec::Saturated(_) => {
            vec![path("max_size"), path("sizes")]
        }
        Spec::Incast(_) | Spec::IncastSeries(_) => vec![path("bytes")],
        Spec::File(_) => vec![path("path")],
        // Its flows have no size.
        Spec::LongFlows(_) => vec![path("count")],
        Spec::List(list) => {
            let largest = (0..list.flow.len()).max_by_key(|&flow| list.flow[flow].bytes);
            vec![path(&format!("flow.{}.bytes", largest.unwrap_or(0)))]
        }
    }
}

/// Whether the largest flow can be numbered, and can end in time.
fn check_largest(
    number: usize,
    largest: u64,
    settings: &Document,
    profile: &Profile,
    slowest: Rate,
    findings: &mut Findings<'_>,
) {
    let mtu = profile.transport.payload();
    let paths = size_paths(number, &settings.workload[number].traffic);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let packets = largest.div_ceil(mtu);
    if packets >= u64::from(u32::MAX) {
        findings.error(
            &paths,
            format!("a flow of {} has {packets} packets", rough_bytes(Bytes(largest))),
            format!("fewer than {} can be numbered: cut it with `max_size`", u32::MAX),
        );
        return;
    }
    let headers = u64::from(profile.transport.largest_frame()) - mtu;
    let per_packet = headers + settings.wire_overhead.0;
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
