//! Fat-trees of htsim (`.topo`), wired as its `fat_tree_topology.cpp` does it.
//!
//! Every edge switch of a pod has `Bundle` (of tier 1) parallel links to every aggregation switch of
//! the pod. Of A aggregation switches per pod the j-th of every pod has `Bundle` (of tier 2) links
//! to the core switches j, A + j, 2 A + j and so on. With two tiers there is one pod, and no core.

use std::sync::Arc;

use floodway_model::check::{FASTEST, LONGEST_LATENCY};
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, Graph, NodeId, Rate};

use super::{Network, finish};
use crate::check::MOST_NODES;
use crate::files::{Word, lines};
use crate::text::{Place, Problem, Source, suggest};

/// A number, and the word that it is written in.
type Number<'a> = Option<(u64, Word<'a>)>;

/// What the file says before its tiers.
const HEADER: [&str; 3] = ["Nodes", "Tiers", "Podsize"];

/// What it says of a tier.
const KEYS: [&str; 9] = [
    "Downlink_speed_Gbps",
    "Radix_Down",
    "Radix_Up",
    "Downlink_Latency_ns",
    "Switch_Latency_ns",
    "Oversubscribed",
    "Bundle",
    "Queue_Down",
    "Queue_Up",
];
const SPEED: usize = 0;
const DOWN: usize = 1;
const UP: usize = 2;
const LATENCY: usize = 3;
const SWITCH: usize = 4;
const OVERSUBSCRIBED: usize = 5;
const BUNDLE: usize = 6;

/// A tier: the values of [`KEYS`], and the word that begins it.
#[derive(Clone, Copy)]
struct Tier<'a> {
    values: [Number<'a>; KEYS.len()],
    begin: Word<'a>,
}

impl<'a> Tier<'a> {
    /// A number that has to be there, above zero.
    fn needed(&self, key: usize) -> Result<(u64, Word<'a>), Problem> {
        let name = KEYS[key];
        match self.values[key] {
            None => Err(self.begin.problem(
                format!("the tier has no `{name}`"),
                format!("add a line, like {name} {}", if key == LATENCY { 1000 } else { 8 }),
            )),
            Some((0, word)) => Err(word.problem(format!("`{name}` is 0"), "write at least 1")),
            Some(number) => Ok(number),
        }
    }

    /// A number that is 1 unless it is written.
    fn or_one(&self, key: usize) -> Result<(u64, Word<'a>), Problem> {
        match self.values[key] {
            None => Ok((1, self.begin)),
            Some(_) => self.needed(key),
        }
    }

    fn rate(&self) -> Result<Rate, Problem> {
        let (speed, word) = self.needed(SPEED)?;
        match speed.checked_mul(1_000_000_000).map(Rate) {
            Some(rate) if rate <= FASTEST => Ok(rate),
            _ => {
                let message = format!("links of {speed}Gbps are not possible");
                Err(word.problem(message, format!("at most {FASTEST} are")))
            }
        }
    }

    fn delay(&self) -> Result<Duration, Problem> {
        let (ns, word) = self.needed(LATENCY)?;
        match ns.checked_mul(1_000).map(Duration) {
            Some(delay) if delay <= LONGEST_LATENCY => Ok(delay),
            _ => {
                let help = format!("at most {LONGEST_LATENCY} is possible");
                Err(word.problem(format!("a delay of {ns} ns is too long"), help))
            }
        }
    }
}

/// What a file says.
struct Text<'a> {
    nodes: (u64, Word<'a>),
    pod_size: (u64, Word<'a>),
    tiers: Vec<Tier<'a>>,
}

/// Reads a network. Empty lines and those that begin with `#` are skipped; keys are read whatever
/// their case.
pub fn read(source: &Arc<Source>) -> Result<Network, Problem> {
    let text = text(source)?;
    let counts = counts(&text)?;
    let graph = build(&text, &counts)?;
    Ok(Network { graph: finish(graph, source)?, switch_latency: switch_latency(&text)? })
}

fn text(source: &Arc<Source>) -> Result<Text<'_>, Problem> {
    let mut header: [Number<'_>; HEADER.len()] = [None; HEADER.len()];
    let mut tiers: [Option<Tier<'_>>; 3] = [None; 3];
    let mut current: Option<usize> = None;
    for line in lines(source).filter(|line| !line.all.text.starts_with('#')) {
        let words: Vec<Word<'_>> = line.words().collect();
        let key = words[0];
        let &[_, value] = words.as_slice() else {
            let message = format!("`{}` has {} values", key.text, words.len() - 1);
            return Err(line.all.problem(message, format!("write one, like {} 1", key.text)));
        };
        let number = value.whole(&format!("`{}`", key.text))?;
        let is = |name: &&str| name.eq_ignore_ascii_case(key.text);
        let twice = || key.problem(format!("`{}` is there twice", key.text), "remove one of them");
        if is(&"Tier") {
            let place = usize::try_from(number).ok().filter(|&place| place < tiers.len());
            let Some(place) = place else {
                let help = "tiers are 0 (edge), 1 (aggregation) and 2 (core)";
                return Err(value.problem(format!("there is no tier {number}"), help));
            };
            if tiers[place].is_some() {
                return Err(twice());
            }
            tiers[place] = Some(Tier { values: [None; KEYS.len()], begin: line.all });
            current = Some(place);
            continue;
        }
        let fields: (&mut [Number<'_>], &[&str]) = match current {
            None => (&mut header, &HEADER),
            Some(place) => (&mut tiers[place].as_mut().expect("it began").values, &KEYS),
        };
        let Some(field) = fields.1.iter().position(is) else {
            let message = match current {
                None => format!("the header has no `{}`", key.text),
                Some(_) => format!("a tier has no `{}`", key.text),
            };
            return Err(key.problem(message, suggest::remedy(key.text, "words", fields.1)));
        };
        if fields.0[field].replace((number, value)).is_some() {
            return Err(twice());
        }
    }
    let needed = |field: usize| match header[field] {
        Some((0, word)) => {
            Err(word.problem(format!("`{}` is 0", HEADER[field]), "write at least 1"))
        }
        Some(number) => Ok(number),
        None => Err(Problem::error(
            Place::whole(source),
            format!("the header has no `{}`", HEADER[field]),
            "begin with the lines Nodes 16, Tiers 3 and Podsize 4, with the right numbers",
        )),
    };
    let (nodes, tier_count, pod_size) = (needed(0)?, needed(1)?, needed(2)?);
    if nodes.0 > MOST_NODES {
        let message = format!("the network would have {} hosts", nodes.0);
        return Err(nodes.1.problem(message, format!("at most {MOST_NODES} are possible")));
    }
    if !(2..=3).contains(&tier_count.0) {
        let message = format!("a fat-tree of {} tiers is not possible", tier_count.0);
        return Err(tier_count.1.problem(message, "write 2 or 3"));
    }
    let wanted = tier_count.0 as usize;
    if let Some(tier) = tiers[wanted..].iter().flatten().next() {
        let message = format!("the header says {wanted} tiers, and this is another one");
        return Err(tier.begin.problem(message, "raise `Tiers`, or remove the tier"));
    }
    let mut all = Vec::new();
    for (number, tier) in tiers[..wanted].iter().enumerate() {
        let missing = || {
            tier_count.1.problem(
                format!("there is nothing about tier {number}"),
                format!("add a line Tier {number} and what belongs to it"),
            )
        };
        all.push(tier.ok_or_else(missing)?);
    }
    if let Some((_, word)) = all[wanted - 1].values[UP] {
        let help = "remove the line: there is nothing above the highest tier";
        return Err(word.problem("the highest tier has a `Radix_Up`", help));
    }
    Ok(Text { nodes, pod_size, tiers: all })
}

/// How many of everything; `cores` is 0 with two tiers.
struct Counts {
    pods: u64,
    edges_per_pod: u64,
    aggregations_per_pod: u64,
    cores: u64,
    /// Parallel links between edge and aggregation, aggregation and core.
    bundles: [u64; 2],
}

fn counts(text: &Text<'_>) -> Result<Counts, Problem> {
    let Text { nodes: (nodes, nodes_word), pod_size: (pod_size, pod_word), tiers } = text;
    let (edge, aggregation) = (&tiers[0], &tiers[1]);
    if nodes % pod_size != 0 {
        let message = format!("{nodes} hosts cannot be shared out evenly to pods of {pod_size}");
        return Err(pod_word.problem(message, "make `Nodes` a multiple of `Podsize`"));
    }
    let pods = nodes / pod_size;
    if tiers.len() == 2 && pods > 1 {
        let message = format!("with 2 tiers there is one pod, not {pods}");
        return Err(pod_word.problem(message, format!("write Podsize {nodes}")));
    }
    let (one, one_word) = edge.or_one(BUNDLE)?;
    if one != 1 {
        let help = "remove the line: a host has one link";
        return Err(one_word.problem(format!("hosts would have {one} links each"), help));
    }
    let (per_edge, per_edge_word) = edge.needed(DOWN)?;
    if pod_size % per_edge != 0 {
        let message = format!(
            "the {pod_size} hosts of a pod cannot be shared out evenly to edge switches with \
             {per_edge} each"
        );
        return Err(per_edge_word.problem(message, "make `Podsize` a multiple of `Radix_Down`"));
    }
    let edges_per_pod = pod_size / per_edge;
    let (aggregations_per_pod, to_aggregation) = shared_out(edge, aggregation)?;
    expect_down(aggregation, edges_per_pod, to_aggregation, "edge switches of its pod")?;
    check_oversubscription(edge, aggregation)?;
    let (mut cores, mut to_core) = (0, 1);
    if let Some(core) = tiers.get(2) {
        let (per_aggregation, bundle) = shared_out(aggregation, core)?;
        // Every aggregation switch of a pod has cores of its own.
        cores = aggregations_per_pod.saturating_mul(per_aggregation);
        to_core = bundle;
        expect_down(core, pods, bundle, "pods")?;
        check_oversubscription(aggregation, core)?;
    }
    let switches = pods.saturating_mul(edges_per_pod + aggregations_per_pod).saturating_add(cores);
    let most = switches.saturating_add(*nodes);
    if most > MOST_NODES {
        let message = format!("the network would have {most} hosts and switches");
        return Err(nodes_word.problem(message, format!("at most {MOST_NODES} are possible")));
    }
    let bundles = [to_aggregation, to_core];
    Ok(Counts { pods, edges_per_pod, aggregations_per_pod, cores, bundles })
}

/// To how many switches above one of `lower` has links, and how many to each.
fn shared_out(lower: &Tier<'_>, upper: &Tier<'_>) -> Result<(u64, u64), Problem> {
    let ((up, word), (bundle, _)) = (lower.needed(UP)?, upper.or_one(BUNDLE)?);
    if up % bundle != 0 {
        let message = format!("{up} links upward cannot be bundles of {bundle}");
        return Err(word.problem(message, "make `Radix_Up` a multiple of the next tier's `Bundle`"));
    }
    Ok((up / bundle, bundle))
}

/// Whether a switch has as many links downward as there are switches below it.
fn expect_down(tier: &Tier<'_>, below: u64, bundle: u64, what: &str) -> Result<(), Problem> {
    let (down, word) = tier.needed(DOWN)?;
    let needs = below.saturating_mul(bundle);
    if down == needs {
        return Ok(());
    }
    let message = format!(
        "a switch would have {down} links downward, and {below} {what} with {bundle} each need \
         {needs}"
    );
    Err(word
        .problem(message, "correct `Radix_Down`, or `Radix_Up` and `Bundle`, as htsim requires"))
}

/// Whether `Oversubscribed` is what the links make of it.
fn check_oversubscription(lower: &Tier<'_>, upper: &Tier<'_>) -> Result<(), Problem> {
    let (said, word) = lower.or_one(OVERSUBSCRIBED)?;
    let sum = |rate: Rate, links: u64| u128::from(rate.0) * u128::from(links);
    let down = sum(lower.rate()?, lower.needed(DOWN)?.0);
    let up = sum(upper.rate()?, lower.needed(UP)?.0);
    if down == up.saturating_mul(u128::from(said)) {
        return Ok(());
    }
    let ratio = down as f64 / up as f64;
    let message = format!(
        "`Oversubscribed` is {said}, and the capacity of a switch downward over that upward is \
         {ratio}"
    );
    Err(word
        .problem(message, "correct `Oversubscribed`, the radices or the speeds, as htsim requires"))
}

fn build(text: &Text<'_>, counts: &Counts) -> Result<Graph, Problem> {
    let mut graph = Graph::default();
    let mut add = |name: &str, count: u64, kind: NodeKind| -> Vec<NodeId> {
        (0..count).map(|number| graph.add(format!("{name} {number}"), kind)).collect()
    };
    let names = match text.tiers.len() {
        2 => ["leaf", "spine", ""],
        _ => ["edge", "aggregation", "core"],
    };
    let hosts = add("host", text.nodes.0, NodeKind::Host);
    let edges = add(names[0], counts.pods * counts.edges_per_pod, NodeKind::Switch { tier: 0 });
    let aggregations =
        add(names[1], counts.pods * counts.aggregations_per_pod, NodeKind::Switch { tier: 1 });
    let cores = add(names[2], counts.cores, NodeKind::Switch { tier: 2 });

    let (rate, delay) = (text.tiers[0].rate()?, text.tiers[0].delay()?);
    let per_edge = hosts.len() / edges.len();
    for (host, edge) in hosts.iter().enumerate().map(|(number, &host)| (host, number / per_edge)) {
        graph.link(host, edges[edge], rate, delay);
    }
    let (rate, delay) = (text.tiers[1].rate()?, text.tiers[1].delay()?);
    let per_pod = counts.aggregations_per_pod as usize;
    for (number, &edge) in edges.iter().enumerate() {
        let pod = number / counts.edges_per_pod as usize;
        for &aggregation in &aggregations[pod * per_pod..(pod + 1) * per_pod] {
            for _ in 0..counts.bundles[0] {
                graph.link(edge, aggregation, rate, delay);
            }
        }
    }
    let Some(core) = text.tiers.get(2) else { return Ok(graph) };
    let (rate, delay) = (core.rate()?, core.delay()?);
    for (number, &aggregation) in aggregations.iter().enumerate() {
        for &core in cores.iter().skip(number % per_pod).step_by(per_pod) {
            for _ in 0..counts.bundles[1] {
                graph.link(aggregation, core, rate, delay);
            }
        }
    }
    Ok(graph)
}

/// What all switches take to forward.
fn switch_latency(text: &Text<'_>) -> Result<Option<Duration>, Problem> {
    let written: Vec<(u64, Word<'_>)> =
        text.tiers.iter().filter_map(|tier| tier.values[SWITCH]).collect();
    let Some(&(first, word)) = written.first() else { return Ok(None) };
    // A tier that says nothing has none.
    let all = written.len() == text.tiers.len() || first == 0;
    if let Some(&(_, other)) = written.iter().find(|(ns, _)| *ns != first || !all) {
        let help = "all switches of floodway take the same time: write the same in every tier";
        return Err(other.problem("the switch latencies of the tiers differ", help));
    }
    let latency = first.checked_mul(1_000).map(Duration).filter(|&it| it <= LONGEST_LATENCY);
    let help = format!("at most {LONGEST_LATENCY} is possible");
    let too_long = || word.problem(format!("a switch latency of {first} ns is too long"), help);
    latency.map(Some).ok_or_else(too_long)
}
