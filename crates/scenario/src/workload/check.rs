//! What workloads ask of their hosts and times.

use floodway_model::Duration;
use floodway_model::check::{Findings, count_of};

use super::{Ends, Hosts, Unknown};
use crate::check::MOST_NODES;
use crate::document::Document;
use crate::topology;
use crate::topology::custom::other;

/// Remedy of a size that is zero.
pub const ENDLESS: &str = "remove it for flows that never end";

/// Senders and receivers by the names of their fields, if the network has them all. Needs no network, only its
/// size.
pub fn ends(
    fields: [&str; 2],
    hosts: [&Hosts; 2],
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Ends> {
    let from = numbers(fields[0], hosts[0], settings, findings);
    let to = numbers(fields[1], hosts[1], settings, findings);
    Some(Ends { from: from?, to: to? })
}

/// The hosts of a job's ranks, one for each, from the field `ranks`; `files` is the field that names the job. All hosts of
/// the network may be more than the job has ranks.
pub fn hosts_of_ranks(
    ranks: usize,
    hosts: &Hosts,
    files: &str,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    let numbers = numbers("ranks", hosts, settings, findings)?;
    let named = numbers.len();
    if named == ranks || (named > ranks && *hosts == Hosts::All) {
        return Some(numbers);
    }
    findings.error(
        ["ranks", files],
        format!(
            "the job has {} and {}",
            count_of(ranks as u64, "rank"),
            count_of(named as u64, "host")
        ),
        match hosts {
            Hosts::All => "make the network larger, or take another job".to_owned(),
            _ => format!("name {ranks} hosts, each of which has one rank"),
        },
    );
    None
}

/// The numbers of the hosts in a field, if the network has them all.
pub fn numbers(
    field: &str,
    hosts: &Hosts,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    let size = settings.topology.size();
    let count = size.hosts;
    // Said of the network itself, which cannot be made.
    if count == 0 || count.saturating_add(size.switches) > MOST_NODES {
        return None;
    }
    let (message, remedy) = match hosts.numbers(&settings.topology) {
        // A side without hosts, which is said of the network too.
        Ok(numbers) if numbers.is_empty() => return None,
        Ok(numbers) => return Some(numbers),
        Err(Unknown::NoSides) => (
            format!("the network has no {hosts} hosts"),
            format!("only a dumbbell has sides: write numbers of hosts, like {field} = \"0-3\""),
        ),
        Err(Unknown::Number(number)) => (
            format!("there is no host {number}: the network has {count} hosts"),
            format!("they have the numbers 0 to {}", count - 1),
        ),
        Err(Unknown::Name(name)) => {
            (format!("there is no host `{name}`"), other_host(&name, &settings.topology))
        }
        Err(Unknown::Twice(number)) => {
            (format!("host {number} is named twice"), "name every host once".to_owned())
        }
    };
    findings.error(field, message, remedy);
    None
}

/// The same, if there are at least two.
pub fn several(
    field: &str,
    hosts: &Hosts,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Vec<u32>> {
    let numbers = numbers(field, hosts, settings, findings)?;
    if numbers.len() < 2 {
        let remedy = format!("name at least 2 hosts in `{field}`");
        findings.error([field, ""], "one host has nobody to send to", remedy);
        return None;
    }
    Some(numbers)
}

/// The remedy for a host of a name that is not there.
fn other_host(name: &str, network: &topology::Spec) -> String {
    let (names, all) = match network {
        topology::Spec::Custom(spec) => {
            let mut nodes = spec.nodes();
            nodes.names.truncate(nodes.hosts as usize);
            (nodes.names, format!("the hosts are: {}", spec.hosts.join(", ")))
        }
        topology::Spec::File(spec) => {
            let graph = spec.network().map(|read| &read.graph).cloned().unwrap_or_default();
            let names: Vec<_> =
                graph.first_ports().map(|host| graph.host_name(host).to_owned()).collect();
            let ends = names.first().zip(names.last()).map(|(first, last)| {
                format!("they have the numbers of the file: {first} to {last}")
            });
            (names, ends.unwrap_or_default())
        }
        _ => {
            let last = network.size().hosts - 1;
            let words = network.sides().map_or(&[][..], |_| &["left", "right"]);
            let words = words.iter().map(|&word| word.to_owned()).collect();
            (words, format!("they are called host 0 to host {last}"))
        }
    };
    other(name, &names).unwrap_or(all)
}

/// Whether every sender has somebody to send to.
pub fn receivers([from, to]: [&str; 2], ends: &Ends, findings: &mut Findings<'_>) {
    if let Some(host) = ends.from.iter().find(|&&host| ends.receivers(host).next().is_none()) {
        findings.error(
            [to, from, ""],
            format!("host {host} is in `{from}`, and nobody else is in `{to}`"),
            format!("add another host to `{to}`, or remove it from `{from}`"),
        );
    }
}

/// Whether no host would be its own server, with what a client does to a server as a verb.
pub fn others(ends: &Ends, verb: &str, findings: &mut Findings<'_>) {
    if let Some((host, _)) = ends.cycled().find(|(client, server)| client == server) {
        findings.error(
            ["servers", "clients", ""],
            format!("host {host} would {verb} itself"),
            format!("the n-th of `clients` {verb}s the n-th of `servers`: change their order"),
        );
    }
}

/// Whether flows `start` in time, and if they have sizes, are measured; true if in time.
pub fn starts(
    start: Duration,
    sized: bool,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> bool {
    let remedy = "the arrivals are over then: start earlier, or raise `arrivals`";
    findings.below(("start", start), ("/arrivals", settings.arrivals), remedy);
    measured(start, sized, settings, findings);
    start < settings.arrivals
}

/// Whether flows with sizes that `start` then are measured.
pub fn measured(start: Duration, sized: bool, settings: &Document, findings: &mut Findings<'_>) {
    let warmup = settings.warmup;
    if sized && start < warmup.min(settings.arrivals) {
        findings.warn(
            ["start", ""],
            format!("it starts ({start}) during the warm-up ({warmup}) and is not measured"),
            "start it after the warm-up if its completion times matter",
        );
    }
}

/// Whether flows `stop` after they start, and have no size then; true if after.
pub fn stops(
    stop: Option<Duration>,
    start: Duration,
    sized: bool,
    findings: &mut Findings<'_>,
) -> bool {
    let Some(stop) = stop else { return true };
    if sized {
        findings.error(
            "stop",
            "there is a size (`bytes`) and an end in time (`stop`)",
            "keep one of the two: without `bytes` flows send as fast as they may until `stop`",
        );
    } else if stop <= start {
        findings.error(
            "stop",
            format!("it stops ({stop}) before it sends anything (start: {start})"),
            "make `stop` later than `start`",
        );
    }
    stop > start
}

/// Whether flows still begin in time if they start later by as much as `jitter`; `left` is what is left then.
pub fn jitter(jitter: Duration, left: Duration, findings: &mut Findings<'_>) {
    if jitter >= left {
        findings.error(
            "jitter",
            format!(
                "a flow could start {jitter} later, but it or the arrivals end {left} after its \
                 start"
            ),
            "make `jitter` shorter than that",
        );
    }
}
