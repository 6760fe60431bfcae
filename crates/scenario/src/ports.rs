//! Hosts with several ports: which port a flow takes, as a scenario writes it, and what follows for its load.

mod carry;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use floodway_model::graph::NodeKind;
use floodway_model::{FlowSpec, Graph, NodeId, PortIx, Rate, Reuse, random};
use floodway_sim::distances::Between;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::document::Document;
use crate::workload::Demand;

pub(crate) use carry::{carry, divisions, flows, has_relays, without_way};

/// Which port of its host a flow takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// At random, flow by flow, as a hash of addresses would have it.
    #[default]
    Hash,
    /// One after the other, for each host and workload in order of its flows.
    RoundRobin,
    /// By the number of the destination host: all flows to a host take the same port.
    ByDestination,
    /// All: each message is cut into as many parts as there are ports to choose from, which are flows of their own.
    Stripe,
    /// As `Hash`; but a message to a GPU of another server at another rail goes by NVLink to the GPU of the own server
    /// at that rail first, chunk by chunk (PXN of NCCL).
    Pxn,
    /// The port of this number.
    Number(u16),
}

const HASH: &str = "hash";
const ROUND_ROBIN: &str = "round_robin";
const BY_DESTINATION: &str = "by_destination";
const STRIPE: &str = "stripe";
const PXN: &str = "pxn";
/// The rules that are words.
const WORDS: [&str; 5] = [HASH, ROUND_ROBIN, BY_DESTINATION, STRIPE, PXN];

impl Serialize for Ports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hash => serializer.serialize_str(HASH),
            Self::RoundRobin => serializer.serialize_str(ROUND_ROBIN),
            Self::ByDestination => serializer.serialize_str(BY_DESTINATION),
            Self::Stripe => serializer.serialize_str(STRIPE),
            Self::Pxn => serializer.serialize_str(PXN),
            Self::Number(port) => serializer.serialize_u16(*port),
        }
    }
}

impl<'de> Deserialize<'de> for Ports {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Ports;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"hash\", \"round_robin\", \"by_destination\", \"stripe\", \"pxn\", or the number of a port, from 0",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Ports, E> {
                match text {
                    HASH => Ok(Ports::Hash),
                    ROUND_ROBIN => Ok(Ports::RoundRobin),
                    BY_DESTINATION => Ok(Ports::ByDestination),
                    STRIPE => Ok(Ports::Stripe),
                    PXN => Ok(Ports::Pxn),
                    _ => Err(E::invalid_type(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Ports, E> {
                let port = u16::try_from(number);
                port.map(Ports::Number)
                    .map_err(|_| E::invalid_type(de::Unexpected::Unsigned(number), &self))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Ports, E> {
                let port = u16::try_from(number);
                port.map(Ports::Number)
                    .map_err(|_| E::invalid_type(de::Unexpected::Signed(number), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Ports {
    fn schema_name() -> Cow<'static, str> {
        "Ports".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": WORDS },
                { "type": "integer", "minimum": 0, "maximum": 65535 },
            ],
            "description": "`hash`, `round_robin`, `by_destination`, `stripe`, `pxn`, or the number of a port, from 0",
            "examples": WORDS,
        })
    }
}

/// Gives each flow, whose ends are the first ports of hosts, its ports, unless they are parts of messages, which have theirs. Flows that use the connection of another one
/// take its ports. The sending host takes one of those from which
/// the way to the other host is shortest, by the number of switches, or the one that is named. At the other end it is
/// the port of the same number, if the way there is as short as any.
pub fn assign(
    (flows, reuses): (&mut [FlowSpec], &[Reuse]),
    settings: &Document,
    graph: &Graph,
    seed: u64,
) {
    if !graph.has_several_ports() {
        return;
    }
    let between = Between::of(graph);
    let mut numbers = vec![0; graph.nodes.len()];
    (0..).zip(graph.first_ports()).for_each(|(number, host)| numbers[host.index()] = number);
    let mut next: BTreeMap<(NodeId, u16), usize> = BTreeMap::new();
    for (flow_number, flow) in (0u64..).zip(&mut *flows) {
        let rule = rule(settings, flow.workload);
        if carry::divides(rule) {
            continue;
        }
        let of_rule = |choices: usize| match rule {
            Ports::Hash => random::mix(seed ^ random::mix(flow_number)) as usize % choices,
            Ports::RoundRobin => {
                let next = next.entry((flow.src, flow.workload)).or_default();
                *next += 1;
                (*next - 1) % choices
            }
            Ports::ByDestination => numbers[flow.dst.index()] % choices,
            Ports::Number(_) | Ports::Stripe | Ports::Pxn => 0,
        };
        let pair = pair((flow.src, flow.dst), rule, (graph, &between), of_rule);
        if let Some((src, dst)) = pair {
            (flow.src, flow.dst) = (src, dst);
        }
    }
    // Each after the flow whose connection it uses.
    for &Reuse { flow, of } in reuses {
        let FlowSpec { src, dst, .. } = flows[of.index()];
        let flow = &mut flows[flow.index()];
        let same = graph.host_of(flow.src) == graph.host_of(src);
        (flow.src, flow.dst) = if same { (src, dst) } else { (dst, src) };
    }
}

/// The ports of two hosts between which a flow goes; `None` if there is no path. `of_rule` makes the choice among a
/// number of ports.
fn pair(
    (src, dst): (NodeId, NodeId),
    rule: Ports,
    (graph, between): (&Graph, &Between),
    of_rule: impl FnOnce(usize) -> usize,
) -> Option<(NodeId, NodeId)> {
    let switches = |from: NodeId, to: NodeId| Some(between.switches(from, to)).filter(|&of| of > 0);
    // By port of the sender: the switches on the shortest way from it.
    let shortest = |from: NodeId| graph.ports_of(dst).filter_map(|to| switches(from, to)).min();
    let named = |port: &(usize, NodeId)| match rule {
        Ports::Number(number) => port.0 == usize::from(number),
        _ => true,
    };
    let ways: Vec<(usize, NodeId, u8)> = graph
        .ports_of(src)
        .enumerate()
        .filter(named)
        .filter_map(|(number, from)| Some((number, from, shortest(from)?)))
        .collect();
    let least = ways.iter().map(|way| way.2).min()?;
    let choices: Vec<_> = ways.into_iter().filter(|way| way.2 == least).collect();
    let (number, from, _) = choices[of_rule(choices.len())];
    let ends: Vec<(usize, NodeId)> = graph
        .ports_of(dst)
        .enumerate()
        .filter(|(_, to)| switches(from, *to) == Some(least))
        .collect();
    let same = ends.iter().find(|end| end.0 == number).or(ends.get(number % ends.len()));
    same.map(|end| (from, end.1))
}

/// The ports by which a host reaches more than what is at one switch: all, if none of them does.
pub fn network_ports(graph: &Graph, host: NodeId) -> Vec<NodeId> {
    let ports = graph.ports_of(host);
    if ports.len() == 1 {
        return vec![host];
    }
    let leads_on = |port: &NodeId| {
        let edge = graph.node(graph.node(*port).ports[0].peer);
        edge.ports.iter().any(|end| graph.node(end.peer).kind != NodeKind::Host)
    };
    let further: Vec<NodeId> = ports.clone().filter(leads_on).collect();
    if further.is_empty() { ports.collect() } else { further }
}

/// The rate at which a host sends into the network, by all its [`network_ports`] together.
pub fn rate(graph: &Graph, host: NodeId) -> Rate {
    let ports = network_ports(graph, host);
    Rate(ports.into_iter().map(|port| graph.node(port).ports[0].rate.0).sum())
}

/// The shortest path between ports of two hosts, given the first ones: egress ports in order. `None` if there is none.
pub fn path(graph: &Graph, src: NodeId, dst: NodeId) -> Option<Vec<(NodeId, PortIx)>> {
    let pairs = graph.ports_of(src).flat_map(|from| graph.ports_of(dst).map(move |to| (from, to)));
    pairs.filter_map(|(from, to)| graph.path(from, to)).min_by_key(Vec::len)
}

/// Which port the flows of a workload take.
pub fn rule(settings: &Document, workload: u16) -> Ports {
    let entry = settings.workload.get(usize::from(workload));
    entry.and_then(|entry| entry.ports).unwrap_or(settings.host.ports)
}

/// Demands between hosts as demands between their ports: as much from each of the [`network_ports`] of a host, or all
/// from the one that the rule names, to that of the same place at the other end, counted from the first again if it
/// has fewer.
pub fn spread(graph: &Graph, demands: Vec<Demand>, rule: Ports) -> Vec<Demand> {
    if !graph.has_several_ports() {
        return demands;
    }
    let ports = |host: NodeId| -> Vec<NodeId> {
        match rule {
            Ports::Number(number) => {
                let all = graph.ports_of(host).len();
                graph.ports_of(host).nth(usize::from(number) % all).into_iter().collect()
            }
            _ => network_ports(graph, host),
        }
    };
    let spread = |demand: Demand| -> Vec<Demand> {
        let from: Vec<_> = demand.from.iter().map(|&(host, rate)| (ports(host), rate)).collect();
        let to: Vec<_> = demand.to.iter().map(|&host| ports(host)).collect();
        let most = from.iter().map(|(ports, _)| ports.len()).max().unwrap_or(0);
        let of_place = |place: usize| Demand {
            from: from
                .iter()
                .filter_map(|(ports, rate)| Some((*ports.get(place)?, rate / ports.len() as f64)))
                .collect(),
            to: to.iter().map(|ports| ports[place % ports.len()]).collect(),
        };
        (0..most).map(of_place).collect()
    };
    demands.into_iter().flat_map(spread).collect()
}

/// Two hosts without a path between them: no part of the network (`Graph::parts_of_switches`) has a port of both. Hosts do not
/// forward.
pub fn hosts_apart(graph: &Graph) -> Option<[NodeId; 2]> {
    let parts = graph.parts_of_switches();
    let in_part = |port: NodeId| parts[graph.node(port).ports[0].peer.index()];
    let mut sets: BTreeMap<BTreeSet<u32>, NodeId> = BTreeMap::new();
    for host in graph.first_ports() {
        sets.entry(graph.ports_of(host).map(in_part).collect()).or_insert(host);
    }
    // Usually one part has all hosts, and sets, of which there may be one for each host, need not be compared.
    let mut shared: Option<BTreeSet<u32>> = None;
    for set in sets.keys() {
        shared = Some(shared.map_or_else(|| set.clone(), |of| &of & set));
    }
    if shared.is_none_or(|of| !of.is_empty()) {
        return None;
    }
    let all: Vec<(&BTreeSet<u32>, &NodeId)> = sets.iter().collect();
    all.iter().enumerate().find_map(|(place, (parts, host))| {
        let other = all[..place].iter().find(|(others, _)| parts.is_disjoint(others))?;
        Some([*other.1, **host])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Spec;

    fn graph(text: &str) -> Graph {
        let topology: Spec = serde_json::from_str(text).unwrap();
        topology.build()
    }

    /// The names of the ports that a rule chooses, if the n-th of several is to be taken.
    fn chosen(graph: &Graph, hosts: [u32; 2], rule: Ports, n: usize) -> Option<[&str; 2]> {
        let all: Vec<NodeId> = graph.first_ports().collect();
        let [src, dst] = hosts.map(|host| all[host as usize]);
        let between = Between::of(graph);
        let pair = pair((src, dst), rule, (graph, &between), |choices| n % choices)?;
        Some([pair.0, pair.1].map(|port| graph.node(port).name.as_str()))
    }

    #[test]
    fn rail_to_rail_and_nvlink_in_a_server() {
        let graph = graph(r#"{ "rails": { "servers": 2, "gpus": 2, "nvlink": {} } }"#);
        let hash = |hosts, n| chosen(&graph, hosts, Ports::Hash, n).unwrap();
        for n in 0..2 {
            // By the NVLink switch, not by two rails and a spine.
            assert_eq!(hash([0, 1], n), ["host 0.1", "host 1.1"]);
            // NVLink does not leave the server.
            assert_eq!(hash([0, 2], n), ["host 0.0", "host 2.0"]);
            assert_eq!(hash([0, 3], n), ["host 0.0", "host 3.0"]);
        }
        let named = |hosts, port| chosen(&graph, hosts, Ports::Number(port), 0);
        assert_eq!(named([0, 1], 0), Some(["host 0.0", "host 1.0"]));
        assert_eq!(named([0, 2], 1), None);
        assert_eq!(named([0, 2], 2), None);
        assert_eq!(network_ports(&graph, NodeId(2)), [NodeId(2)]);
        assert_eq!(rate(&graph, NodeId(2)), Rate::from_gbps(400));
    }

    #[test]
    fn ports_of_one_number_are_taken_at_both_ends() {
        let graph = graph(r#"{ "clos": { "leaves": 4, "ports": 2 } }"#);
        let all = |hosts| [0, 1, 2].map(|n| chosen(&graph, hosts, Ports::Hash, n).unwrap());
        let [first, second] = [["host 0.0", "host 1.0"], ["host 0.1", "host 1.1"]];
        assert_eq!(all([0, 1]), [first, second, first]);
        let [first, second] = [["host 0.0", "host 3.0"], ["host 0.1", "host 3.1"]];
        assert_eq!(all([0, 3]), [first, second, first]);
        assert_eq!(rate(&graph, NodeId(0)), Rate::from_gbps(200));
        let demand = Demand { from: vec![(NodeId(0), 8.0)], to: vec![NodeId(2), NodeId(4)] };
        let of_port = |port: u32| Demand {
            from: vec![(NodeId(port), 4.0)],
            to: [2, 4].map(|host| NodeId(host + port)).into(),
        };
        assert_eq!(spread(&graph, vec![demand.clone()], Ports::Hash), [of_port(0), of_port(1)]);
        let of_second = Demand { from: vec![(NodeId(1), 8.0)], ..of_port(1) };
        assert_eq!(spread(&graph, vec![demand], Ports::Number(1)), [of_second]);
    }

    /// A server with two ports and clients with one: the server sends half by each, and a client sends all of its
    /// traffic to the first.
    #[test]
    fn hosts_with_more_and_with_fewer_ports() {
        let graph = graph(
            r#"{ "custom": { "hosts": ["server", "a", "b"], "switches": ["s", "t"], "links": [
                { "ends": "server -- s" }, { "ends": "server -- t" }, { "ends": "a -- s" }, { "ends": "b -- t" },
                { "ends": "s -- t" }] } }"#,
        );
        let hosts: Vec<NodeId> = graph.first_ports().collect();
        let [server, a, b] = hosts[..] else { panic!("three hosts") };
        let second = NodeId(server.0 + 1);
        let down = Demand { from: vec![(server, 8.0)], to: vec![a, b] };
        let half = |port: NodeId| Demand { from: vec![(port, 4.0)], to: vec![a, b] };
        assert_eq!(spread(&graph, vec![down], Ports::Hash), [half(server), half(second)]);
        let up = Demand { from: vec![(a, 1.0), (b, 3.0)], to: vec![server] };
        assert_eq!(spread(&graph, vec![up.clone()], Ports::Hash), [up]);
        let all = Demand { from: vec![(server, 8.0), (a, 1.0)], to: vec![server, a] };
        let first = Demand { from: vec![(server, 4.0), (a, 1.0)], to: vec![server, a] };
        let other = Demand { from: vec![(second, 4.0)], to: vec![second, a] };
        assert_eq!(spread(&graph, vec![all], Ports::RoundRobin), [first, other]);
    }
}
