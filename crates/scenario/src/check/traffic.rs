//! Whether the workloads fit the network and the times.

use floodway_model::check::Check;
use floodway_model::graph::Attachment;
use floodway_model::{Bytes, Duration, Graph, Rate};
use floodway_sim::host::{Profile, application};

use super::{MOST_SAMPLES, Problems, rough_bytes, rough_time, wire_factor};
use crate::document::Document;
use crate::loads::{self, Framed};
use crate::ports;
use crate::read;
use crate::workload::{self, Demand, Ready, Workload};

/// Flows are numbered in 32 bits; this leaves room for chance.
const MOST_FLOWS: f64 = 4e9;

/// What a long-lived flow takes in memory, its place in the results included (measured).
pub const BYTES_PER_FLOW: f64 = 700.0;

/// What the flows of these workloads take in memory, in bytes, and how many are expected.
pub fn flows<'a>(
    workloads: impl Iterator<Item = (&'a dyn Workload, workload::Surroundings<'a>)>,
    settings: &Document,
) -> (f64, f64) {
    workloads.fold((0.0, 0.0), |(bytes, flows), of| {
        let more = ports::flows(of, settings);
        (bytes + more * of.0.bytes_per_flow(), flows + more)
    })
}

/// From how many flows on that is worth a word: three gigabytes and a half.
const MANY_FLOWS: f64 = 5e6;

/// Each waits for its turn and is a row of a table.
const MOST_ENTRIES: f64 = 1e7;

/// The workloads that can be made ready; all of them if nothing was found.
pub fn check(settings: &Document, findings: &mut Problems<'_>) -> Vec<Ready> {
    if settings.workload.is_empty() {
        let help = "add one: [[workload]] and below it [workload.many_to_many]";
        findings.error(&["workload"], "there is no workload", help);
    }
    if settings.workload.len() > usize::from(u16::MAX) {
        let message = format!("there are {} workloads", settings.workload.len());
        findings.error(&["workload"], message, "at most 65535 are possible");
    }
    for (number, entry) in settings.workload.iter().enumerate() {
        if let Some(cause) = entry.name.as_deref().and_then(read::bad_name) {
            findings.error(
                &[&format!("workload.{number}.name")],
                format!("the workload's name {cause}"),
                "name it with letters, digits, `-`, `_` and `.`, or remove the name",
            );
        }
        let digits = |name: &&str| name.parse::<usize>().is_ok();
        if let Some(name) = entry.name.as_deref().filter(digits) {
            findings.error(
                &[&format!("workload.{number}.name")],
                format!("the workload's name `{name}` is a number"),
                format!("`workload.{name}` is the workload of that number: add a letter, or remove the name"),
            );
        }
    }
    let ready = settings.workload.iter().enumerate().filter_map(|(number, entry)| {
        let of_entry = &mut findings.within(format!("workload.{number}"));
        entry.traffic.check(of_entry);
        if let workload::Spec::Voice(_) = &entry.traffic {
            workload::voice::Spec::check_sending(entry, of_entry);
        }
        if let workload::Spec::Web(_) = &entry.traffic {
            workload::web::Spec::check_sending(entry, of_entry);
        }
        let path = format!("workload.{number}.{}", entry.traffic.name());
        let member = entry.traffic.member();
        let short = settings.rounds_made(number).and_then(|rounds| member.with_rounds(rounds));
        short.as_deref().unwrap_or(member).ready(&path, settings, findings)
    });
    ready.collect()
}

/// Whether any flow may have a size, as far as that is known.
pub fn has_sizes(settings: &Document) -> bool {
    let sized = |entry: &workload::Entry| {
        use workload::Spec::{Linux, LongFlows, Ping, Voice, Web};
        !matches!(entry.traffic, LongFlows(_) | Linux(_) | Ping(_) | Voice(_) | Web(_))
    };
    settings.workload.is_empty() || settings.workload.iter().any(sized)
}

/// Checks what needs the network.
pub fn check_on(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    // Problems so far may have left some out.
    if workloads.len() < settings.workload.len()
        || !check_hosts(settings, graph, workloads, findings)
    {
        return;
    }
    // Of each link the faster direction, because it is not known here which one a flow takes.
    let faster = |end: &Attachment| end.rate.max(graph.rate_to(end));
    let Some(slowest) = graph.ends().map(faster).min() else { return };
    check_flow_numbers(settings, graph, workloads, findings);
    check_loads(settings, workloads, findings);
    check_links(settings, graph, workloads, findings);
    check_flow_samples(settings, workloads, findings);
    check_entries(settings, workloads, findings);
    for (number, (workload, profile)) in workloads.iter().zip(settings.profiles()).enumerate() {
        check_losses(number, &**workload, settings, &profile, findings);
        check_acknowledgements(number, &**workload, settings, &profile, findings);
        check_largest(number, &**workload, settings, &profile, slowest, findings);
    }
}

/// Whether there are enough hosts for all workloads.
fn check_hosts(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) -> bool {
    let hosts = graph.first_ports().count() as u64;
    let mut taken = workload::linux::all(settings).len() as u64;
    let mut enough = true;
    for (number, (workload, entry)) in workloads.iter().zip(&settings.workload).enumerate() {
        let path = format!("workload.{number}.{}", entry.traffic.name());
        for (field, host) in workload.unknown_hosts(hosts) {
            enough = false;
            findings.error(
                &[&format!("{path}.{field}")],
                format!("there is no host {host}: the network has {hosts} hosts"),
                format!("they have the numbers 0 to {}", hosts.saturating_sub(1)),
            );
        }
        let needs = workload.hosts();
        if needs > hosts - taken {
            let left = match taken {
                0 => format!("the network has {hosts}"),
                _ => format!("of the network's {hosts} only {} are left", hosts - taken),
            };
            let help = "make the workload smaller or the topology larger";
            let (what, field) = workload.takes();
            findings.error(
                &[&format!("{path}.{field}")],
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
    findings: &mut Problems<'_>,
) {
    let order = workload::order(settings, graph, settings.seed);
    let seed = settings.seed;
    let shares = workload::surroundings(workloads, settings, graph, &order, seed);
    let flows = |(workload, around): (&Ready, workload::Surroundings<'_>)| {
        ports::flows((&**workload, around), settings) + workload.persistent_flows() as f64
    };
    let by_workload: Vec<f64> = shares.map(flows).collect();
    let of_each = workloads.iter().map(|workload| workload.bytes_per_flow());
    let bytes: f64 = by_workload.iter().zip(of_each).map(|(flows, each)| flows * each).sum();
    let flows: f64 = by_workload.iter().sum();
    if flows > MOST_FLOWS {
        findings.error(
            &["arrivals"],
            format!("about {flows:.1e} flows would start in {}", settings.arrivals),
            "at most 4e9 are possible: shorten `arrivals`, lower the load or take larger flows",
        );
    } else if flows > MANY_FLOWS {
        let most =
            (0..by_workload.len()).max_by(|&a, &b| by_workload[a].total_cmp(&by_workload[b]));
        let most = most.expect("there is a workload");
        // Calls that wait for each other are all made before the run.
        let (what, remedy) = match settings.workload[most].traffic {
            workload::Spec::Rpc(_) => ("may", "lower `outstanding`, raise `think`"),
            workload::Spec::Web(_) => ("may", "lower `pages`, raise `think`"),
            _ => ("would", "lower the load"),
        };
        let of_one = by_workload[most];
        let most = format!("workload.{most}.{}", settings.workload[most].traffic.name());
        let whose = match by_workload.len() {
            1 => String::new(),
            _ => format!(", {of_one:.1e} of them of [{most}]"),
        };
        findings.warn(
            &["arrivals", &most],
            format!("about {flows:.1e} flows {what} start in {}{whose}", settings.arrivals),
            format!(
                "they take about {} of memory, {:.0} B each: shorten `arrivals`, {remedy}, or take \
                 larger flows",
                rough_bytes(Bytes(bytes as u64)),
                bytes / flows
            ),
        );
    }
}

/// Whether the hosts' links can carry what is offered: by each workload, or by all if they share
/// their hosts, of which the first in order then send for every workload.
fn check_loads(settings: &Document, workloads: &[Ready], findings: &mut Problems<'_>) {
    let profiles = settings.profiles();
    let (mut sum, mut wire_sum) = (0.0, 0.0);
    for (number, (workload, entry)) in workloads.iter().zip(&settings.workload).enumerate() {
        let Some(load) = workload.load() else { continue };
        let path = format!("workload.{number}.{}.load", entry.traffic.name());
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
fn check_flow_samples(settings: &Document, workloads: &[Ready], findings: &mut Problems<'_>) {
    let Some(interval) = settings.flow_samples.filter(|&interval| interval > Duration::ZERO) else {
        return;
    };
    let flows: u64 = workloads.iter().map(|workload| workload.persistent_flows()).sum();
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
fn check_entries(settings: &Document, workloads: &[Ready], findings: &mut Problems<'_>) {
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
fn check_wire_load(path: &str, load: f64, wire_load: f64, findings: &mut Problems<'_>) {
    if load <= 1.0 && wire_load > 1.0 {
        findings.warn(
            &[path],
            format!("with headers a payload load of {load} is {wire_load:.3} of the link"),
            format!("queues grow without end: stay below {:.3}", load / wire_load),
        );
    }
}

/// Whether what others wait for can be lost for good.
fn check_losses(
    number: usize,
    workload: &dyn Workload,
    settings: &Document,
    profile: &Profile,
    findings: &mut Problems<'_>,
) {
    let repeats = profile.transport.repeats();
    let control = &settings.switch.flow_control;
    let lossless = control.pfc.is_some() || control.pause.is_some() || control.drc.is_some();
    if repeats || lossless || !workload.waits_for_arrivals() {
        return;
    }
    let member = settings.workload[number].traffic.name();
    findings.warn(
        &[&format!("workload.{number}.{member}")],
        format!(
            "messages wait for others to arrive, and `{}` does not repeat what is lost",
            profile.transport.name()
        ),
        "what waits for a lost message never begins: choose [host.transport.rocev2] or another \
         that repeats, or [switch.flow_control.pfc]",
    );
}

/// Whether what begins with an acknowledgement ever does.
fn check_acknowledgements(
    number: usize,
    workload: &dyn Workload,
    settings: &Document,
    profile: &Profile,
    findings: &mut Problems<'_>,
) {
    let Some(field) = workload.waits_for_acknowledgements() else { return };
    if profile.transport.repeats() {
        return;
    }
    let member = settings.workload[number].traffic.name();
    findings.error(
        &[&format!("workload.{number}.{member}.{field}")],
        format!("`{}` acknowledges nothing", profile.transport.name()),
        "choose another transport, like [host.transport.rocev2], or sends = \"handed_over\"",
    );
}

/// Whether the largest flow can be numbered, and can end in time.
fn check_largest(
    number: usize,
    workload: &dyn Workload,
    settings: &Document,
    profile: &Profile,
    slowest: Rate,
    findings: &mut Problems<'_>,
) {
    let mtu = profile.transport.payload();
    let member = settings.workload[number].traffic.name();
    let can_cut = workload.size_fields().iter().any(|field| field == "max_size");
    let path = |field: String| format!("workload.{number}.{member}.{field}");
    let paths: Vec<String> = workload.size_fields().into_iter().map(path).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let largest = workload.largest_flow();
    let packets = largest.div_ceil(mtu);
    if packets >= u64::from(u32::MAX) {
        findings.error(
            &paths,
            format!("a flow of {} has {packets} packets", rough_bytes(Bytes(largest))),
            format!(
                "fewer than {} can be numbered: {}",
                u32::MAX,
                if can_cut { "cut it with `max_size`" } else { "make it smaller" }
            ),
        );
        return;
    }
    let headers = u64::from(profile.transport.largest_frame()) - mtu;
    let per_packet = headers + settings.wire_overhead.0;
    let alone = slowest.time_for(Bytes(largest + packets * per_packet));
    let (start, after) = match workload.largest_start() {
        Some(start) => (start, "it starts"),
        None => (settings.arrivals, "the last arrival"),
    };
    let left = Duration(settings.limit.0.saturating_sub(start.0));
    if alone > left && left > Duration::ZERO {
        findings.warn(
            &paths,
            format!(
                "a flow of {} takes {} on an idle link of {slowest}, but the run ends {} after \
                 {after}",
                rough_bytes(Bytes(largest)),
                rough_time(alone),
                rough_time(left)
            ),
            match can_cut {
                true => {
                    "the largest flows will not finish: raise `limit`, or cut them with `max_size`"
                }
                false => "the largest flows will not finish: raise `limit`",
            },
        );
    }
}

/// Whether every link carries what arrivals at random put on it.
fn check_links(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Problems<'_>,
) {
    if workloads.iter().all(|workload| workload.offers().is_none()) {
        return;
    }
    let profiles = settings.profiles();
    let order = workload::order(settings, graph, settings.seed);
    let shares = workload::surroundings(workloads, settings, graph, &order, settings.seed);
    let mut demands: Vec<Demand> = Vec::new();
    for ((workload, around), profile) in shares.zip(&profiles) {
        let Some(field) = workload.offers() else { continue };
        let factor = wire_factor(settings, profile);
        let rule = ports::rule(settings, around.number);
        let more = ports::spread(graph, workload.demands(around), rule);
        demands.extend(more.into_iter().map(|demand| demand.times(factor)));
        let Some((load, link)) = busiest(graph, &demands, Framed::of(settings)) else { return };
        if load > 1.0 {
            let number = around.number;
            let member = settings.workload[usize::from(number)].traffic.name();
            findings.warn(
                &[&format!("workload.{number}.{member}.{field}")],
                format!("with headers the load of the link from {link} is {load:.3}"),
                format!("queues grow without end: lower `{field}`"),
            );
            return;
        }
    }
}

/// The load of the link that has most of it, and the names of its ends. `None` if the network is
/// too large for the sum.
fn busiest(graph: &Graph, demands: &[Demand], framed: Framed) -> Option<(f64, String)> {
    let loads = loads::of_links(graph, demands)?;
    let of_links = graph.nodes.iter().zip(&loads).flat_map(|(node, loads)| {
        node.ports.iter().zip(loads).map(move |(end, bits)| (framed.load(end, *bits), node, end))
    });
    let (load, node, end) = of_links.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((load, format!("{} to {}", node.name, graph.node(end.peer).name)))
}
