//! Whether workloads that name their hosts are possible.

use floodway_model::{Duration, Graph, Rate};

use super::network::MOST_NODES;
use super::{Findings, custom, wire_factor};
use crate::document::Document;
use crate::loads;
use crate::topology;
use crate::workload::{self, Demand, Ends, Hosts, Ready, Unknown, long_flows, poisson, saturated};

/// Senders and receivers, if the network has them all. Needs no network, only its size.
pub fn ends(
    path: &str,
    from: &Hosts,
    to: &Hosts,
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Ends> {
    ends_of(path, ["from", "to"], [from, to], settings, findings)
}

/// The same with other names for the fields.
pub fn ends_of(
    path: &str,
    fields: [&str; 2],
    hosts: [&Hosts; 2],
    settings: &Document,
    findings: &mut Findings<'_>,
) -> Option<Ends> {
    let from = numbers(path, fields[0], hosts[0], settings, findings);
    let to = numbers(path, fields[1], hosts[1], settings, findings);
    Some(Ends { from: from?, to: to? })
}

/// The numbers of hosts, if the network has them all.
pub fn numbers(
    path: &str,
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
    let (message, help) = match hosts.numbers(&settings.topology) {
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
    findings.error(&[&format!("{path}.{field}")], message, help);
    None
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
            let names: Vec<_> = graph.hosts().map(|host| graph.node(host).name.clone()).collect();
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
    custom::other(name, &names).unwrap_or(all)
}

/// Checks flows without a size.
pub fn check_long_flows(
    path: &str,
    spec: &long_flows::Spec,
    ends: Option<&Ends>,
    settings: &Document,
    findings: &mut Findings<'_>,
) {
    let field = |name: &str| format!("{path}.{name}");
    if let Some(ends) = ends {
        // After so many flows the pairs come again.
        let rounds = least_common_multiple(ends.from.len(), ends.to.len());
        let pairs = spec.pairs(ends).take(rounds);
        if let Some((flow, (host, _))) = (0..).zip(pairs).find(|(_, (src, dst))| src == dst) {
            findings.error(
                &[&field("to"), &field("from"), path],
                format!("flow {flow} would go from host {host} to itself"),
                "flow n goes from the n-th host of `from` to the n-th of `to`: change their order",
            );
        }
        if spec.pairs == long_flows::Pairs::All && spec.count > 0 && spec.flow_count(ends) == 0 {
            findings.error(
                &[&field("to"), &field("from"), path],
                "no sender has another host to send to",
                "add another host to `from` or `to`",
            );
        }
    }
    let (start, jitter) = (spec.start, spec.jitter);
    if start >= settings.arrivals {
        findings.error(
            &[&field("start")],
            format!("the flows start ({start}) when the arrivals are over ({})", settings.arrivals),
            "start them earlier or raise `arrivals`",
        );
        return;
    }
    if let Some(stop) = spec.stop.filter(|&stop| stop <= start) {
        findings.error(
            &[&field("stop")],
            format!("the flows stop ({stop}) before they send anything (start: {start})"),
            "make `stop` later than `start`",
        );
        return;
    }
    let end = spec.stop.map_or(settings.arrivals, |stop| stop.min(settings.arrivals));
    let left = Duration(end.0 - start.0);
    if jitter >= left {
        findings.error(
            &[&field("jitter")],
            format!(
                "a flow could start {jitter} later, but it or the arrivals end {left} after its \
                 start"
            ),
            "make `jitter` shorter than that",
        );
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// Checks Poisson arrivals.
pub fn check_poisson(
    path: &str,
    spec: &poisson::Spec,
    ends: Option<&Ends>,
    findings: &mut Findings<'_>,
) {
    let field = |name: &str| format!("{path}.{name}");
    check_receivers(path, ends, findings);
    let positive = |value: f64| value > 0.0 && value.is_finite();
    match (spec.load, spec.flows_per_second) {
        (None, None) => findings.error(
            &[path],
            "nothing says how often flows arrive",
            "add `load`, a part of the bottleneck's rate such as 0.5, or `flows_per_second`",
        ),
        (Some(_), Some(_)) => findings.error(
            &[&field("flows_per_second")],
            "both `load` and `flows_per_second` say how often flows arrive",
            "keep one of the two",
        ),
        (Some(load), None) if !positive(load) => findings.error(
            &[&field("load")],
            format!("a load of {} is not possible", super::number(load)),
            "write the part of the bottleneck's rate that payload is to take: above 0",
        ),
        (None, Some(number)) if !positive(number) => findings.error(
            &[&field("flows_per_second")],
            format!("{} flows per second are not possible", super::number(number)),
            "write a number above 0",
        ),
        _ => {}
    }
    if spec.of == Some(Rate(0)) {
        let help = "write the rate that the load is a part of, for example \"40Mbps\"";
        findings.error(&[&field("of")], "the load would be a part of no rate at all", help);
    }
    if spec.of.is_some() && spec.load.is_none() && spec.flows_per_second.is_some() {
        let help = "remove it, or write `load` instead of `flows_per_second`";
        findings.error(&[&field("of")], "`of` is a rate that no `load` is a part of", help);
    }
}

/// Whether every sender has somebody to send to.
fn check_receivers(path: &str, ends: Option<&Ends>, findings: &mut Findings<'_>) {
    let field = |name: &str| format!("{path}.{name}");
    if let Some(ends) = ends
        && let Some(host) = ends.from.iter().find(|&&src| ends.receivers(src).next().is_none())
    {
        findings.error(
            &[&field("to"), &field("from"), path],
            format!("host {host} sends, and is the only one to receive"),
            "add another host to `to`, or remove it from `from`",
        );
    }
}

/// Checks saturated hosts.
pub fn check_saturated(
    path: &str,
    spec: &saturated::Spec,
    ends: Option<&Ends>,
    findings: &mut Findings<'_>,
) {
    check_receivers(path, ends, findings);
    let Some(ends) = ends.filter(|ends| ends.to.len() > 1) else { return };
    let mut senders = ends.from.iter().enumerate();
    if let Some((_, host)) = senders.find(|(place, src)| spec.partner(*place, ends) == Some(**src))
    {
        let field = |name: &str| format!("{path}.{name}");
        findings.error(
            &[&field("to"), &field("from"), &field("towards")],
            format!("host {host} would send to itself"),
            "the n-th of `from` sends to the one after the n-th of `to`: change their order, or \
             write towards = \"random\"",
        );
    }
}

/// Whether every link carries what arrivals at random put on it.
pub fn check_links(
    settings: &Document,
    graph: &Graph,
    workloads: &[Ready],
    findings: &mut Findings<'_>,
) {
    if workloads.iter().all(|workload| workload.offers().is_none()) {
        return;
    }
    let profiles = settings.profiles();
    let order = settings.placement.order(graph, settings.seed);
    let shares = workload::surroundings(workloads, settings, graph, &order, settings.seed);
    let mut demands: Vec<Demand> = Vec::new();
    for ((workload, around), profile) in shares.zip(&profiles) {
        let Some(field) = workload.offers() else { continue };
        let factor = wire_factor(settings, profile);
        demands.extend(workload.demands(around).into_iter().map(|demand| demand.times(factor)));
        let Some((load, link)) = busiest(graph, &demands) else { return };
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
fn busiest(graph: &Graph, demands: &[Demand]) -> Option<(f64, String)> {
    let loads = loads::of_links(graph, demands)?;
    let of_links = graph.nodes.iter().zip(&loads).flat_map(|(node, loads)| {
        node.ports.iter().zip(loads).map(move |(end, bits)| (bits / end.rate.0 as f64, node, end))
    });
    let (load, node, end) = of_links.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((load, format!("{} to {}", node.name, graph.node(end.peer).name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples() {
        for (a, b, least) in [(1, 1, 1), (2, 3, 6), (4, 6, 12), (10, 10, 10), (5, 1, 5)] {
            assert_eq!(least_common_multiple(a, b), least);
        }
    }
}
