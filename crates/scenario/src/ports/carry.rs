//! Messages that take several ports, or another GPU of the server on their way: each is made of several flows, and
//! what waited for the message waits for these.
//!
//! With `stripe`, a message is cut into as many equal parts as there are ports to choose from. With `pxn`, a message to
//! a GPU in another server at another rail crosses NVLink to the GPU of the own server at that rail, which sends it on
//! (PCI x NVLink of NCCL 2.12). It is cut into chunks, so that the second half of the way begins with the first chunk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use floodway_model::program::{Action, Edge, Step};
use floodway_model::{Duration, FlowId, FlowSpec, Graph, NodeId, Operation, Program, Trigger};
use floodway_sim::distances::Between;

use super::{Ports, pair, rule};
use crate::document::Document;
use crate::workload::collective::schedule::part;
use crate::workload::{Surroundings, Traffic, Workload};

/// The path of a message: the ports at both ends of each of its flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Parts that are sent side by side, one by each of these pairs of ports.
    Striped(Vec<(NodeId, NodeId)>),
    /// Chunks that are sent one after the other to another host, which sends each of them on.
    Relayed([(NodeId, NodeId); 2]),
}

/// What a message was made of: consecutive flows.
#[derive(Clone, Copy, Debug)]
struct Parts {
    first: u32,
    count: u32,
    relayed: bool,
}

impl Parts {
    fn flows(self, from: u32, to: u32) -> impl Iterator<Item = FlowId> {
        (self.first + from..self.first + to).map(FlowId)
    }

    /// All flows.
    fn all(self) -> impl Iterator<Item = FlowId> {
        self.flows(0, self.count)
    }

    /// Those that the sender of the message sends.
    fn sent(self) -> impl Iterator<Item = FlowId> {
        self.flows(0, if self.relayed { self.count / 2 } else { self.count })
    }

    /// Those that begin with the message.
    fn begin(self) -> impl Iterator<Item = FlowId> {
        self.flows(0, if self.relayed { 1 } else { self.count })
    }

    /// Those that the sender has handed over when it has handed over the message; others are before them.
    fn end(self) -> impl Iterator<Item = FlowId> {
        let half = self.count / 2;
        if self.relayed { self.flows(half - 1, half) } else { self.flows(0, self.count) }
    }

    /// Those with which the message has arrived.
    fn arrive(self) -> impl Iterator<Item = FlowId> {
        self.flows(if self.relayed { self.count / 2 } else { 0 }, self.count)
    }
}

/// Whether a rule makes several flows of a message.
pub(super) fn divides(rule: Ports) -> bool {
    matches!(rule, Ports::Stripe | Ports::Pxn)
}

/// By workload, how its messages are divided: the rule, and with PXN the chunks. Workloads with others send other flows.
pub fn divisions(settings: &Document) -> Vec<Option<(Ports, u64)>> {
    let of = |(number, _)| {
        let rule = rule(settings, number);
        let chunk = if rule == Ports::Pxn { settings.host.pxn_chunk.0 } else { 0 };
        divides(rule).then_some((rule, chunk))
    };
    (0..).zip(&settings.workload).map(of).collect()
}

/// Makes the flows of all messages whose workloads divide them, with their ports.
pub fn carry(traffic: &mut Traffic, settings: &Document, graph: &Graph) {
    let of_workload = |flow: &FlowSpec| rule(settings, flow.workload);
    if !graph.has_several_ports() || !traffic.flows.iter().any(|flow| divides(of_workload(flow))) {
        return;
    }
    let ways = Ways::new(graph);
    let mut known: BTreeMap<(NodeId, NodeId, bool), Option<Way>> = BTreeMap::new();
    let chunk = settings.host.pxn_chunk.0.max(1);
    let messages = std::mem::take(&mut traffic.flows);
    let mut parts = Vec::with_capacity(messages.len());
    let mut chained: Vec<Trigger> = Vec::new();
    for message in &messages {
        let rule = of_workload(message);
        let key = (message.src, message.dst, rule == Ports::Pxn);
        let way = match divides(rule) {
            true => known.entry(key).or_insert_with(|| ways.of((message.src, message.dst), rule)),
            false => &None,
        };
        parts.push(add(message, way.as_ref(), chunk, (&mut traffic.flows, &mut chained)));
    }
    let host = |flow: FlowId| graph.host_of(messages[flow.index()].src);
    let of = |flow: FlowId| parts[flow.index()];
    let triggers = std::mem::take(&mut traffic.triggers);
    for Trigger { after, begins, delay } in triggers {
        let here = host(begins) == host(after);
        let events: Vec<FlowId> =
            if here { of(after).end().collect() } else { of(after).arrive().collect() };
        for begins in of(begins).begin() {
            let triggers = events.iter().map(|&after| Trigger { after, begins, delay });
            traffic.triggers.extend(triggers);
        }
    }
    traffic.triggers.extend(chained);
    for Operation { flows, .. } in &mut traffic.operations {
        *flows = flows.iter().flat_map(|&flow| of(flow).all()).collect();
    }
    for program in &mut traffic.programs {
        *program = divided(program, of);
    }
    // Workloads that divide messages have no connections; those of others only get other numbers.
    for reuse in &mut traffic.reuses {
        reuse.flow = FlowId(of(reuse.flow).first);
        reuse.of = FlowId(of(reuse.of).first);
    }
}

/// Adds the flows of a message.
fn add(
    message: &FlowSpec,
    way: Option<&Way>,
    chunk: u64,
    (flows, triggers): (&mut Vec<FlowSpec>, &mut Vec<Trigger>),
) -> Parts {
    let first = flows.len() as u32;
    let flow =
        |(src, dst): (NodeId, NodeId), bytes| FlowSpec { src, dst, bytes, ..message.clone() };
    match way {
        None => flows.push(message.clone()),
        Some(Way::Striped(pairs)) => {
            let count = (pairs.len() as u64).min(message.bytes);
            let bytes = |number: u64| match message.is_persistent() {
                true => message.bytes,
                false => part(message.bytes, count, number),
            };
            let pairs = (0..count).zip(pairs);
            flows.extend(pairs.map(|(number, &pair)| flow(pair, bytes(number))));
        }
        Some(Way::Relayed(ways)) => {
            let chunks = message.bytes.div_ceil(chunk);
            let bytes = |number: u64| chunk.min(message.bytes - number * chunk);
            for &way in ways {
                flows.extend((0..chunks).map(|number| flow(way, bytes(number))));
            }
            let chunks = chunks as u32;
            let after = |after: u32, begins: u32| {
                let [after, begins] = [after, begins].map(|number| FlowId(first + number));
                Trigger { after, begins, delay: Duration::ZERO }
            };
            triggers.extend((0..chunks).map(|number| after(number, chunks + number)));
            let all = [0, chunks].into_iter().flat_map(|half| half + 1..half + chunks);
            triggers.extend(all.map(|number| after(number - 1, number)));
        }
    }
    let relayed = matches!(way, Some(Way::Relayed(_)));
    Parts { first, count: flows.len() as u32 - first, relayed }
}

/// A program with a step for each flow of a message that it sends or receives. What depended on the message depends on
/// all of them.
fn divided(program: &Program, of: impl Fn(FlowId) -> Parts) -> Program {
    let mut steps = Vec::with_capacity(program.steps.len());
    let mut first = Vec::with_capacity(program.steps.len() + 1);
    for &step in &program.steps {
        first.push(steps.len() as u32);
        match step.action {
            Action::Send(flow) => {
                steps.extend(
                    of(flow).sent().map(|flow| Step { action: Action::Send(flow), ..step }),
                );
            }
            Action::Receive(flow) => {
                let flows = of(flow).arrive();
                steps.extend(flows.map(|flow| Step { action: Action::Receive(flow), ..step }));
            }
            _ => steps.push(step),
        }
    }
    first.push(steps.len() as u32);
    let range = |step: u32| first[step as usize]..first[step as usize + 1];
    let all = |edge: &Edge| {
        let (from, to, on) = (range(edge.from), range(edge.to), edge.on);
        from.flat_map(move |from| to.clone().map(move |to| Edge { from, to, on }))
    };
    let edges = program.edges.iter().flat_map(all).collect();
    let mut divided = Program { steps: steps.into(), edges, ..program.clone() };
    for node in &mut divided.nodes {
        let end = first[(node.first + node.steps) as usize];
        node.first = first[node.first as usize];
        node.steps = end - node.first;
    }
    divided.rounds.iter_mut().for_each(|end| *end = first[*end as usize]);
    divided
}

/// Finds the ways of messages.
pub(super) struct Ways<'a> {
    graph: &'a Graph,
    between: Between,
    /// By switch, the ports of hosts at it.
    at_switch: BTreeMap<NodeId, Vec<NodeId>>,
}

impl<'a> Ways<'a> {
    /// In this network.
    pub(super) fn new(graph: &'a Graph) -> Self {
        let mut at_switch: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for port in graph.hosts() {
            at_switch.entry(graph.node(port).ports[0].peer).or_default().push(port);
        }
        Self { graph, between: Between::of(graph), at_switch }
    }

    /// The way of a message between hosts; `None` if there is none.
    pub(super) fn of(&self, ends: (NodeId, NodeId), rule: Ports) -> Option<Way> {
        if rule == Ports::Pxn
            && let Some(ways) = self.relayed(ends)
        {
            return Some(Way::Relayed(ways));
        }
        let mut choices = 1;
        let number = |number: usize, choices: &mut usize| {
            pair(ends, rule, (self.graph, &self.between), |all| {
                *choices = all;
                number
            })
        };
        let first = number(0, &mut choices)?;
        // One port is enough where no message is to be cut.
        let more = if rule == Ports::Stripe { 1..choices } else { 1..1 };
        let more = more.filter_map(|place| number(place, &mut choices));
        Some(Way::Striped([first].into_iter().chain(more).collect()))
    }

    /// The way by another host that is one switch away from both; `None` if the hosts are at one switch themselves, or
    /// if there is no such host. Of several it is the one in the sender's server: by the fastest link of the sender, the
    /// switch with the fewest hosts, the last port.
    pub(super) fn relayed(&self, (src, dst): (NodeId, NodeId)) -> Option<[(NodeId, NodeId); 2]> {
        let end = |port: NodeId| self.graph.node(port).ports[0];
        let at = |host: NodeId, switch: NodeId| {
            self.graph.ports_of(host).find(|&port| end(port).peer == switch)
        };
        let near = |from: NodeId, to: NodeId| {
            let mut ports = self.graph.ports_of(from);
            ports.find_map(|from| Some((from, at(to, end(from).peer)?)))
        };
        if near(src, dst).is_some() {
            return None;
        }
        let mut ports: Vec<NodeId> = self.graph.ports_of(src).collect();
        let of_switch = |port: NodeId| &self.at_switch[&end(port).peer];
        ports.sort_by_key(|&port| (Reverse(end(port).rate), of_switch(port).len(), Reverse(port)));
        let mut first = ports
            .into_iter()
            .flat_map(|port| of_switch(port).iter().map(move |&beside| (port, beside)));
        first.find_map(|(port, beside)| {
            let host = self.graph.host_of(beside);
            let second = if host == src { None } else { near(host, dst) };
            Some([(port, beside), second?])
        })
    }
}

/// Whether a message from some host can be sent on by another one.
pub fn has_relays(graph: &Graph) -> bool {
    let ways = Ways::new(graph);
    // Of servers that are alike, one is enough.
    let mut some = graph.first_ports().take(64);
    some.any(|src| graph.first_ports().any(|dst| dst != src && ways.relayed((src, dst)).is_some()))
}

/// The first of these pairs of hosts between which there is no path under a rule.
pub fn without_way(
    graph: &Graph,
    pairs: impl Iterator<Item = (NodeId, NodeId)>,
    rule: Ports,
) -> Option<(NodeId, NodeId)> {
    let ways = Ways::new(graph);
    let pairs: BTreeSet<(NodeId, NodeId)> = pairs.collect();
    pairs.into_iter().find(|&pair| ways.of(pair, rule).is_none())
}

/// How many flows of a workload are expected, with messages that are divided.
pub fn flows((workload, around): (&dyn Workload, Surroundings<'_>), settings: &Document) -> f64 {
    let messages = workload.expected_flows(around);
    let graph = around.graph;
    messages
        * match rule(settings, around.number) {
            Ports::Stripe => {
                graph.first_ports().map(|host| graph.ports_of(host).len()).max().unwrap_or(1) as f64
            }
            Ports::Pxn => {
                2.0 * workload.largest_flow().div_ceil(settings.host.pxn_chunk.0.max(1)).max(1)
                    as f64
            }
            _ => 1.0,
        }
}
