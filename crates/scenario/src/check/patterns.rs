//! Whether patterns of messages between hosts that are named are possible: permutations, collectives,
//! and calls.

use floodway_model::{Bytes, Duration};

use super::named::{ends_of, numbers};
use super::{Findings, LONGEST_RUN, rough_time, sizes};
use crate::document::Document;
use crate::workload::all_reduce::{self, Algorithm};
use crate::workload::{Distribution, Ends, Hosts, all_to_all, permutation, rpc};

/// Calls that one client has under way. Each is a chain of flows.
const MOST_OUTSTANDING: u32 = 1_000_000;

/// The hosts of a pattern, if there are at least two.
fn several(
    path: &str,
    field: &str,
    hosts: &Hosts,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    let numbers = numbers(path, field, hosts, settings, findings)?;
    if numbers.len() < 2 {
        findings.error(
            &[&format!("{path}.{field}"), path],
            "one host has nobody to send to",
            format!("name at least 2 hosts in `{field}`"),
        );
        return None;
    }
    Some(numbers)
}

/// Whether messages begin in time, and are measured.
fn begins(
    path: &str,
    start: Duration,
    sized: bool,
    settings: &Document,
    findings: &mut Findings<'_>,
) {
    let field = format!("{path}.start");
    if start >= settings.arrivals {
        findings.error(
            &[&field, path],
            format!("it starts ({start}) when the arrivals are over ({})", settings.arrivals),
            "start it earlier or raise `arrivals`",
        );
    } else if sized && start < settings.warmup {
        findings.warn(
            &[&field, path],
            format!(
                "it starts ({start}) during the warm-up ({}) and is not measured",
                settings.warmup
            ),
            "start it after the warm-up if its completion times matter",
        );
    }
}

fn no_bytes(path: &str, help: &str, findings: &mut Findings<'_>) {
    findings.error(&[&format!("{path}.bytes")], "messages would have 0 bytes", help);
}

/// Checks a permutation: its hosts, if it has them.
pub fn permutation(
    path: &str,
    spec: &permutation::Spec,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    if spec.bytes == Some(Bytes(0)) {
        no_bytes(path, "write a size, or remove it for flows that never end", findings);
    }
    begins(path, spec.start, spec.bytes.is_some(), settings, findings);
    if let Some(stop) = spec.stop {
        let field = format!("{path}.stop");
        if spec.bytes.is_some() {
            findings.error(
                &[&field],
                "its flows have a size (`bytes`) and an end in time (`stop`)",
                "keep one of the two: without `bytes` they send as fast as they may until `stop`",
            );
        } else if stop <= spec.start {
            findings.error(
                &[&field],
                format!("it stops ({stop}) before it sends anything (start: {})", spec.start),
                "make `stop` later than `start`",
            );
        }
    }
    let hosts = several(path, "hosts", &spec.hosts, settings, findings)?;
    let count = hosts.len();
    if spec.shift.is_some_and(|shift| (shift as usize).is_multiple_of(count)) {
        findings.error(
            &[&format!("{path}.shift")],
            format!("{} places after each of {count} hosts is itself", spec.shift.unwrap_or(0)),
            format!("write a number from 1 to {}", count - 1),
        );
    }
    Some(hosts)
}

/// Checks messages from all to all: their hosts, if it has them.
pub fn all_to_all(
    path: &str,
    spec: &all_to_all::Spec,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    if spec.bytes == Bytes(0) {
        no_bytes(path, "write the size of each message, for example \"64KB\"", findings);
    }
    if spec.at_once == Some(0) {
        findings.error(
            &[&format!("{path}.at_once")],
            "a host would send 0 messages at the same time",
            "write at least 1, or remove it to send all at once",
        );
    }
    begins(path, spec.start, true, settings, findings);
    several(path, "hosts", &spec.hosts, settings, findings)
}

/// Checks an all-reduce: its ranks, if it has them.
pub fn all_reduce(
    path: &str,
    spec: &all_reduce::Spec,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    let field = |name: &str| format!("{path}.{name}");
    if spec.rounds == 0 {
        let help = "write at least 1, or remove the workload";
        findings.error(&[&field("rounds")], "there are 0 rounds", help);
    }
    if spec.compute > LONGEST_RUN {
        let message = format!("`compute` is {}", rough_time(spec.compute));
        let help = format!("at most {LONGEST_RUN} are possible, which is longer than any run");
        findings.error(&[&field("compute")], message, help);
    }
    // Later rounds may be measured.
    begins(path, spec.start, spec.rounds == 1, settings, findings);
    let ranks = several(path, "ranks", &spec.ranks, settings, findings)?;
    let chunks = match (spec.algorithm, spec.chunks) {
        (Algorithm::Ring, None) => ranks.len() as u64,
        (Algorithm::Ring, Some(_)) => {
            findings.error(
                &[&field("chunks")],
                format!("a ring of {} ranks has {0} chunks", ranks.len()),
                "remove `chunks`, or choose algorithm = \"tree\"",
            );
            return None;
        }
        (Algorithm::Tree, chunks) => chunks.unwrap_or(1).into(),
    };
    if chunks == 0 {
        findings.error(&[&field("chunks")], "there are 0 chunks", "write at least 1");
    } else if spec.bytes.0 < chunks {
        findings.error(
            &[&field("bytes")],
            format!("{} cannot be cut into {chunks} chunks", spec.bytes),
            format!("write at least \"{chunks}B\""),
        );
    }
    Some(ranks)
}

/// Checks calls: their hosts and the sizes of requests and responses, if it has them.
pub fn rpc(
    path: &str,
    spec: &rpc::Spec,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<(Ends, Distribution, Distribution)> {
    let field = |name: &str| format!("{path}.{name}");
    if spec.outstanding == 0 {
        let help = "write at least 1, or remove the workload";
        findings.error(&[&field("outstanding")], "0 calls would be outstanding", help);
    } else if spec.outstanding > MOST_OUTSTANDING {
        findings.error(
            &[&field("outstanding")],
            format!("{} calls would be outstanding at once", spec.outstanding),
            format!("at most {MOST_OUTSTANDING} are possible"),
        );
    }
    for (name, time) in [("service", spec.service), ("think", spec.think)] {
        if time > LONGEST_RUN {
            let message = format!("`{name}` is {}", rough_time(time));
            let help = format!("at most {LONGEST_RUN} are possible, which is longer than any run");
            findings.error(&[&field(name)], message, help);
        }
    }
    if spec.start >= settings.arrivals {
        begins(path, spec.start, false, settings, findings);
    } else if spec.jitter.0 >= settings.arrivals.0 - spec.start.0 {
        findings.error(
            &[&field("jitter")],
            format!(
                "a first call could begin {} later, but the arrivals end {} after the start",
                spec.jitter,
                Duration(settings.arrivals.0 - spec.start.0)
            ),
            "make `jitter` shorter than that",
        );
    }
    let names = ["clients", "servers"];
    let ends = ends_of(path, names, [&spec.clients, &spec.servers], settings, findings);
    if let Some(ends) = &ends
        && let Some(host) = ends.from.iter().find(|&&host| ends.receivers(host).next().is_none())
    {
        findings.error(
            &[&field("servers"), &field("clients"), path],
            format!("host {host} calls, and is the only one to answer"),
            "add another host to `servers`, or remove it from `clients`",
        );
    }
    let mut of = |name, written| sizes::check(path, name, written, None, None, findings);
    let (request, response) = (of("request", &spec.request), of("response", &spec.response));
    Some((ends?, request?, response?))
}
