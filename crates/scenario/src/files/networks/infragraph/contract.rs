//! From components to hosts, switches and links.
//!
//! A GPU (`xpu`) is a host. Of an instance without GPUs, each `nic` is one. A `switch` is a switch, and so is the `cpu` of an
//! instance that has ports and nothing else. Components that a link
//! without a bandwidth joins are one: ports and their switch, or a GPU and its NICs. Another component between two links
//! joins them to one, with the lower rate and the sum of the delays; without a second link it is left out. Processors and
//! memories are left out with their links: they neither send nor forward here.

use std::collections::BTreeSet;
use std::fmt;

use floodway_model::check::{FASTEST, LONGEST_LATENCY};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};

use super::document::{Bandwidth, BandwidthUnit, Choice, LatencyUnit, Link};
use super::expand::{Expanded, Node, Wrong};
use crate::files::networks::Rates;
use crate::ports;

/// A link between two sets of components.
#[derive(Clone, Copy, Debug)]
struct Joined {
    ends: [usize; 2],
    rate: Rate,
    delay: Duration,
    /// Whether it is within an instance.
    inside: bool,
    is_there: bool,
}

/// What a set of components is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Host,
    Switch,
    /// Between links, if it has two.
    Between,
}

/// The network of a graph, with the rates of links that have others than the file says, or none.
pub(super) fn network(from: &Expanded<'_>, rates: &Rates) -> Result<Graph, Wrong> {
    let names: BTreeSet<&str> = from.edges.iter().map(|(.., link)| link.name.as_str()).collect();
    if let Some(name) = rates.keys().find(|name| !names.contains(name.as_str())) {
        let names: Vec<&str> = names.into_iter().collect();
        return Err((
            format!("`rates` has a link `{name}`, which no edge has"),
            format!("the links are: {}", names.join(", ")),
        ));
    }
    let kinds = kinds(from);
    let sets = sets(from, &kinds, rates);
    let roles = roles(from, &kinds, &sets)?;
    let links = links(from, rates, (&sets, &roles))?;
    // By set, the node that it is called after: its GPU, switch or NIC, or else the first.
    let mut called: Vec<usize> = (0..sets.len()).collect();
    let order = [Choice::Nic, Choice::Switch, Choice::Xpu];
    for kind in order {
        let of_kind = (0..sets.len()).rev().filter(|&node| kinds[node] == kind);
        of_kind.for_each(|node| called[sets[node]] = node);
    }
    let name = |set: usize| from.nodes[called[set]].name.as_str();
    build(&roles, &links, name)
}

/// What the nodes are. Where an instance has neither GPUs nor NICs nor switches, its `cpu` is a switch: that is what the
/// switches of the package's own blueprints have.
fn kinds(from: &Expanded<'_>) -> Vec<Choice> {
    let instances = from.nodes.iter().map(|node| node.instance + 1).max().unwrap_or(0);
    let mut is_server = vec![false; instances];
    for node in &from.nodes {
        is_server[node.instance] |=
            matches!(node.kind, Choice::Xpu | Choice::Nic | Choice::Switch | Choice::Memory);
    }
    let kind = |node: &Node| match node.kind {
        Choice::Cpu if !is_server[node.instance] => Choice::Switch,
        kind => kind,
    };
    from.nodes.iter().map(kind).collect()
}

fn kept(kind: Choice) -> bool {
    !matches!(kind, Choice::Cpu | Choice::Memory)
}

/// The rate of a link; `None` without a bandwidth.
fn rate(link: &Link, rates: &Rates) -> Result<Option<Rate>, Wrong> {
    if let Some(rate) = rates.get(&link.name) {
        // One that is not possible is reported with the scenario.
        return Ok(Some(Rate(rate.0.clamp(1, FASTEST.0))));
    }
    let Some(bandwidth) = link.physical.as_ref().and_then(|of| of.bandwidth.as_ref()) else {
        return Ok(None);
    };
    let given = [
        (bandwidth.gigabits_per_second, BandwidthUnit::GigabitsPerSecond),
        (bandwidth.gigabytes_per_second, BandwidthUnit::GigabytesPerSecond),
        (bandwidth.gigatransfers_per_second, BandwidthUnit::GigatransfersPerSecond),
    ];
    chosen(link, "bandwidth", bandwidth.choice, given)?;
    // Gigabytes are 10^9 bytes here, as gigabits are 10^9 bits (assumed: the schema does not say).
    let bits = match (bandwidth.gigabits_per_second, bandwidth.gigabytes_per_second) {
        (Some(bits), None) => bits,
        (None, Some(bytes)) => 8.0 * bytes,
        _ if bandwidth.gigatransfers_per_second.is_some() => {
            return Err((
                format!("link `{}` has a bandwidth in gigatransfers per second", link.name),
                "how many bits a transfer has depends on the lanes: write gigabits_per_second"
                    .to_owned(),
            ));
        }
        // The blueprints of the package name a unit and give no value.
        (None, None) => return Ok(None),
        _ => {
            return Err((
                format!("link `{}` has a bandwidth of several values", link.name),
                "write one: {choice: gigabits_per_second, gigabits_per_second: 400}".to_owned(),
            ));
        }
    };
    let rate = Rate((bits * 1e9).round() as u64);
    if !bits.is_finite() || rate == Rate(0) || rate > FASTEST {
        return Err((
            format!("link `{}` has {bits} Gb/s", link.name),
            format!("write a bandwidth above zero and at most {FASTEST}"),
        ));
    }
    Ok(Some(rate))
}

/// Refuses a value in another unit than that of `choice`: one of the two is an error.
fn chosen<T: Copy + PartialEq + fmt::Display>(
    link: &Link,
    what: &str,
    choice: Option<T>,
    given: [(Option<f64>, T); 3],
) -> Result<(), Wrong> {
    let other =
        given.iter().find(|(value, unit)| value.is_some() && choice.is_some_and(|of| of != *unit));
    match (choice, other) {
        (Some(choice), Some((_, unit))) => Err((
            format!("link `{}` has a {what} in {unit}, and its choice is {choice}", link.name),
            "write the unit of the value as its choice".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The delay of a link; none without a latency.
fn delay(link: &Link) -> Result<Duration, Wrong> {
    let Some(latency) = link.physical.as_ref().and_then(|of| of.latency.as_ref()) else {
        return Ok(Duration::ZERO);
    };
    let given = [
        (latency.ms, LatencyUnit::Ms),
        (latency.us, LatencyUnit::Us),
        (latency.ns, LatencyUnit::Ns),
    ];
    chosen(link, "latency", latency.choice, given)?;
    let values = [(latency.ms, 1e9), (latency.us, 1e6), (latency.ns, 1e3)];
    let mut given = values.iter().filter_map(|(value, unit)| value.map(|value| value * unit));
    let ps = match (given.next(), given.next()) {
        (None, _) => return Ok(Duration::ZERO),
        (Some(ps), None) => ps,
        _ => {
            return Err((
                format!("link `{}` has a latency of several values", link.name),
                "write one: {choice: us, us: 0.5}".to_owned(),
            ));
        }
    };
    if !(0.0..=LONGEST_LATENCY.0 as f64).contains(&ps) {
        return Err((
            format!("link `{}` has a latency of {} us", link.name, ps / 1e6),
            format!("at most {LONGEST_LATENCY} is possible: 200 km of fibre take 1ms"),
        ));
    }
    Ok(Duration(ps.round() as u64))
}

/// By node, the lowest number of those that it is one with.
fn sets(from: &Expanded<'_>, kinds: &[Choice], rates: &Rates) -> Vec<usize> {
    fn root(sets: &mut [usize], mut of: usize) -> usize {
        while sets[of] != of {
            sets[of] = sets[sets[of]];
            of = sets[of];
        }
        of
    }
    let mut sets: Vec<usize> = (0..from.nodes.len()).collect();
    for &(a, b, link) in &from.edges {
        let both = kept(kinds[a]) && kept(kinds[b]);
        let without = !rates.contains_key(&link.name)
            && link
                .physical
                .as_ref()
                .and_then(|of| of.bandwidth.as_ref())
                .is_none_or(Bandwidth::is_empty);
        if both && without {
            let (a, b) = (root(&mut sets, a), root(&mut sets, b));
            sets[a.max(b)] = a.min(b);
        }
    }
    (0..sets.len()).map(|node| root(&mut sets, node)).collect()
}

/// By set, what it is; of nodes that are left out, and those that are not the first of their set, `None`.
fn roles(
    from: &Expanded<'_>,
    kinds: &[Choice],
    sets: &[usize],
) -> Result<Vec<Option<Role>>, Wrong> {
    let instances = from.nodes.iter().map(|node| node.instance + 1).max().unwrap_or(0);
    let mut has_gpus = vec![false; instances];
    for node in from.nodes.iter().filter(|node| node.kind == Choice::Xpu) {
        has_gpus[node.instance] = true;
    }
    // By set, its host and its switch.
    let mut of: Vec<[Option<usize>; 2]> = vec![[None; 2]; sets.len()];
    let mut roles = vec![None; sets.len()];
    for (number, (node, &set)) in from.nodes.iter().zip(sets).enumerate() {
        let kind = kinds[number];
        if !kept(kind) {
            continue;
        }
        roles[set].get_or_insert(Role::Between);
        let is_host = match kind {
            Choice::Xpu => true,
            Choice::Nic => !has_gpus[node.instance],
            _ => false,
        };
        let place = match (is_host, kind) {
            (true, _) => 0,
            (false, Choice::Switch) => 1,
            _ => continue,
        };
        let before = of[set][0].filter(|_| is_host).or(of[set][1 - place]);
        if let Some(before) = before {
            return Err((
                format!(
                    "`{}` and `{}` are joined by links without a bandwidth",
                    from.nodes[before].name, node.name
                ),
                "components that such links join are one host or one switch: give the link a bandwidth, here with `rates` \
                 or in the file"
                    .to_owned(),
            ));
        }
        of[set][place].get_or_insert(number);
        roles[set] = Some(if is_host { Role::Host } else { Role::Switch });
    }
    Ok(roles)
}

/// The links between hosts and switches.
fn links(
    from: &Expanded<'_>,
    rates: &Rates,
    (sets, roles): (&[usize], &[Option<Role>]),
) -> Result<Vec<Joined>, Wrong> {
    let mut links = Vec::new();
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); sets.len()];
    for &(a, b, link) in &from.edges {
        let ends = [sets[a], sets[b]];
        if ends[0] == ends[1] || ends.iter().any(|&set| roles[set].is_none()) {
            continue;
        }
        let Some(rate) = rate(link, rates)? else { continue };
        let inside = from.nodes[a].instance == from.nodes[b].instance;
        ends.iter().for_each(|&set| of[set].push(links.len()));
        links.push(Joined { ends, rate, delay: delay(link)?, inside, is_there: true });
    }
    // Those that are between links, until none is left.
    let mut open: Vec<usize> = (0..roles.len()).rev().collect();
    while let Some(set) = open.pop() {
        if roles[set] != Some(Role::Between) {
            continue;
        }
        of[set].retain(|&link| links[link].is_there && links[link].ends.contains(&set));
        let other = |link: &Joined| link.ends[usize::from(link.ends[0] == set)];
        match *of[set].as_slice() {
            [] => {}
            [one] => {
                links[one].is_there = false;
                open.push(other(&links[one]));
            }
            [one, two] => {
                let (first, second) = (links[one], links[two]);
                let ends = [other(&first), other(&second)];
                links[two].is_there = false;
                links[one] = Joined {
                    ends,
                    rate: first.rate.min(second.rate),
                    delay: first.delay + second.delay,
                    inside: first.inside && second.inside,
                    is_there: ends[0] != ends[1],
                };
                of[ends[1]].push(one);
                open.extend(ends);
            }
            _ => {
                return Err((
                    format!("`{}` joins {} links", from.nodes[set].name, of[set].len()),
                    "only a component with choice `switch` forwards between more than two: add one, or leave out \
                     the bandwidth of its links to one"
                        .to_owned(),
                ));
            }
        }
    }
    links.retain(|link| link.is_there);
    Ok(links)
}

/// The network of these hosts, switches and links. The ports of a host to other instances come first.
fn build<'a>(
    roles: &[Option<Role>],
    links: &[Joined],
    name: impl Fn(usize) -> &'a str,
) -> Result<Graph, Wrong> {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); roles.len()];
    for (number, link) in links.iter().enumerate() {
        link.ends.iter().for_each(|&set| of[set].push(number));
        if link.ends.iter().all(|&set| roles[set] == Some(Role::Host)) {
            let [one, other] = link.ends.map(&name);
            return Err((
                format!("`{one}` and `{other}` are joined without a switch"),
                "hosts do not forward: join them by a component with choice `switch`".to_owned(),
            ));
        }
    }
    let mut graph = Graph::default();
    // By link, its nodes in the order of its ends.
    let mut nodes: Vec<[NodeId; 2]> = vec![[NodeId(0); 2]; links.len()];
    let end = |link: usize, set: usize| usize::from(links[link].ends[0] != set);
    let with = |role: Role| (0..roles.len()).filter(move |&set| roles[set] == Some(role));
    for set in with(Role::Host) {
        let many = of[set].len();
        let Ok(ports) = u16::try_from(many) else {
            return Err((
                format!("`{}` has {many} links", name(set)),
                format!("at most {} are possible", u16::MAX),
            ));
        };
        if ports == 0 {
            return Err((
                format!("`{}` has no link to a switch", name(set)),
                "add one with a bandwidth; links to processors and memories do not count"
                    .to_owned(),
            ));
        }
        of[set].sort_by_key(|&link| links[link].inside);
        let first = graph.add_host(name(set), ports);
        for (port, &link) in (0..).zip(&of[set]) {
            nodes[link][end(link, set)] = NodeId(first.0 + port);
        }
    }
    for set in with(Role::Switch).filter(|&set| !of[set].is_empty()) {
        if of[set].len() > usize::from(u16::MAX) {
            return Err((
                format!("`{}` has {} links", name(set), of[set].len()),
                format!("at most {} are possible", u16::MAX),
            ));
        }
        let switch = graph.add(name(set), NodeKind::Switch { tier: 0 });
        of[set].iter().for_each(|&link| nodes[link][end(link, set)] = switch);
    }
    for (link, [a, b]) in links.iter().zip(nodes) {
        graph.link(a, b, link.rate, link.delay);
    }
    if graph.first_ports().count() < 2 {
        return Err((
            "the network has fewer than 2 hosts".to_owned(),
            "hosts are components with choice `xpu`, or `nic` where there is none".to_owned(),
        ));
    }
    match ports::hosts_apart(&graph).map(|hosts| hosts.map(|host| graph.host_name(host))) {
        None => Ok(graph),
        Some([one, other]) => Err((
            format!("there is no path between `{one}` and `{other}`"),
            "hosts do not forward, GPUs neither: join all by switches, or leave some out"
                .to_owned(),
        )),
    }
}
