//! The auditor checks the invariants of a simulation at every event.
//!
//! It is independent of what it checks. It keeps its own counters from what it observes (frames that
//! are sent, arrive, join a queue or are dropped) and computes limits from the [`Spec`] alone. It calls
//! no code of switches, hosts or links, so an error there cannot hide itself. Two numbers cannot be
//! derived from outside and are taken from congestion control: the rate and the window that it allows.
//!
//! - [`network`]: links: serialization, delay, failures, and frames in flight
//! - [`pauses`]: from when to when each class of a port is paused
//! - [`queues`]: egress queues, buffer limits, and which packets may be dropped
//! - [`thresholds`]: pause frames that a switch must send, and those that it must not
//! - [`scheduler`]: strict priority, and the fairness bounds of DRR and WRR
//! - [`trims`]: which packets may lose their payload, and what is left of them
//! - [`marks`]: what may change in a packet on its path
//! - [`credit`]: what receivers may ask for, and what senders may send for it
//! - [`link_credit`]: credit-based flow control of links
//! - [`switch`], [`host`]: the events of nodes; [`flows`]: senders and receivers
//!
//! It is on in builds with debug assertions and, in others, if [`Simulation::audited`] asks for it.
//! Its memory is bounded by what the network holds: it copies queues and frames in flight, and keeps a
//! few numbers for each flow.
//!
//! [`Spec`]: crate::Spec
//! [`Simulation::audited`]: crate::Simulation::audited

mod credit;
mod flows;
mod host;
mod link_credit;
mod marks;
mod network;
mod pace;
mod pauses;
mod queues;
mod retry;
mod scheduler;
mod switch;
mod tags;
#[cfg(test)]
mod tests;
mod thresholds;
mod trims;

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::{Body, Class, FlowId, Graph, Instant, NodeId, Packet, PortIx};

use crate::csig::Tag;
use crate::observe::{At, Fact, Kinds, Observer, Setup};
use crate::telemetry::Record;
use host::Host;
pub use network::Network;
use switch::Switch;

/// Maximum number of violations of a run that are reported in full.
pub const MOST: usize = 30;

/// The auditor of the nodes of one thread.
#[derive(Debug)]
pub struct Auditor {
    network: Arc<Network>,
    /// Counters by node, if the node belongs to this thread.
    nodes: Vec<Node>,
    /// Violations found.
    pub findings: Findings,
}

#[derive(Debug)]
enum Node {
    Elsewhere,
    Switch(Box<Switch>),
    Host(Box<Host>),
}

/// Violations: the first [`MOST`] of them, by time and node, and their total number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    kept: BTreeSet<(Instant, NodeId, String)>,
    count: u64,
}

impl Findings {
    fn add(&mut self, at: Instant, node: NodeId, text: String) {
        self.count += 1;
        self.kept.insert((at, node, text));
        if self.kept.len() > MOST {
            self.kept.pop_last();
        }
    }

    /// Adds the violations of another thread.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.kept.extend(other.kept);
        while self.kept.len() > MOST {
            self.kept.pop_last();
        }
    }

    /// One sentence per violation, with time and node.
    pub fn messages(&self, graph: &Graph) -> Vec<String> {
        let message = |(at, node, text): &(Instant, NodeId, String)| {
            format!("{} at {}: {text}", graph.node(*node).name, time(*at))
        };
        let mut messages: Vec<String> = self.kept.iter().map(message).collect();
        let more = self.count - self.kept.len() as u64;
        if more > 0 {
            messages.push(format!("and {more} more violations of invariants"));
        }
        messages
    }
}

/// Reports violations, with the time and the node of the event.
pub struct Log<'a> {
    findings: &'a mut Findings,
    now: Instant,
    node: NodeId,
}

impl Log<'_> {
    /// Reports a violation about a port.
    fn port(&mut self, port: usize, text: impl AsRef<str>) {
        self.add(format!("port {port}: {}", text.as_ref()));
    }

    /// Reports a violation about a queue, or class, of a port.
    fn queue(&mut self, port: usize, queue: usize, text: impl AsRef<str>) {
        self.add(format!("port {port}, queue {queue}: {}", text.as_ref()));
    }

    /// Reports a violation about a flow.
    fn flow(&mut self, flow: FlowId, text: impl AsRef<str>) {
        self.add(format!("flow {}: {}", flow.0, text.as_ref()));
    }

    fn add(&mut self, text: String) {
        self.findings.add(self.now, self.node, text);
    }
}

/// A time, for messages.
fn time(at: Instant) -> String {
    if at == Instant::NEVER {
        return "never".to_owned();
    }
    format!("{}.{:03}ns", at.0 / 1_000, at.0 % 1_000)
}

impl Auditor {
    /// An auditor of these nodes.
    pub fn of(network: &Arc<Network>, own: &[NodeId]) -> Self {
        let graph = &network.spec.graph;
        let mut nodes: Vec<Node> = graph.nodes.iter().map(|_| Node::Elsewhere).collect();
        for &id in own {
            nodes[id.index()] = match graph.node(id).kind {
                NodeKind::Host => Node::Host(Box::default()),
                NodeKind::Switch { .. } => Node::Switch(Box::new(Switch::new(id, network))),
            };
        }
        Self { network: Arc::clone(network), nodes, findings: Findings::default() }
    }

    fn at(&mut self, node: NodeId, now: Instant) -> (&Network, &mut Node, Log<'_>) {
        let log = Log { findings: &mut self.findings, now, node };
        (&self.network, &mut self.nodes[node.index()], log)
    }

    /// A frame is put on the wire from a queue, towards the given end: when it will have left, and when it will be handled
    /// there; `None` if it is lost on the link.
    fn sent(
        &mut self,
        to: (NodeId, PortIx),
        packet: &Packet,
        class: Class,
        now: Instant,
        times: (Instant, Option<Instant>),
    ) {
        let (node, port) = self.network.sender(to);
        let (network, state, mut log) = self.at(node, now);
        let packet = Packet { class, ingress: to.1, ..*packet };
        match state {
            Node::Switch(switch) => {
                let on_wire =
                    network.sent(to, &packet, switch.on_wire(port), times, port, &mut log);
                switch.sent(network, port, &packet, &mut log);
                switch.set_on_wire(port, on_wire);
            }
            Node::Host(host) => {
                host.on_wire = network.sent(to, &packet, host.on_wire, times, port, &mut log);
                host.sent(network, &packet, &mut log);
                if let Body::TcpAck { ack, .. } = packet.body {
                    let by = if network.spec.host.failover { packet.src } else { node };
                    let (network, state, mut log) = self.at(by, now);
                    if let Node::Host(host) = state {
                        host.answers(network, packet.flow, ack, &mut log);
                    }
                }
            }
            Node::Elsewhere => unreachable!("a node sends on its own thread"),
        }
    }

    /// A frame with a tag is about to be reported as sent by this node.
    fn tagged(
        &mut self,
        node: NodeId,
        (to, class): ((NodeId, PortIx), Class),
        packet: &Packet,
        tag: &Tag,
        now: Instant,
    ) {
        let (network, state, mut log) = self.at(node, now);
        if let Node::Switch(switch) = state {
            let port = network.spec.graph.node(to.0).ports[to.1.index()].peer_port.index();
            switch.tagged((port, class.index()), packet, tag, &mut log);
        }
    }

    /// A frame has arrived.
    fn arrives(&mut self, node: NodeId, packet: &Packet, now: Instant) {
        let (network, state, mut log) = self.at(node, now);
        network.arrives(node, packet, &mut log);
        match state {
            Node::Switch(switch) => switch.arrives(network, packet, &mut log),
            // It may be for another port of the host, for which this one stands in.
            Node::Host(_) if network.spec.host.failover && !packet.is_one_hop() => {
                let (network, state, mut log) = self.at(packet.dst, now);
                if let Node::Host(host) = state {
                    host.arrives(network, packet, &mut log);
                }
            }
            Node::Host(host) => host.arrives(network, packet, &mut log),
            Node::Elsewhere => unreachable!("a node receives on its own thread"),
        }
    }

    fn at_switch(&mut self, fact: &Fact<'_>, at: &At) {
        let (network, Node::Switch(switch), mut log) = self.at(at.node, at.now) else {
            return;
        };
        let log = &mut log;
        match *fact {
            Fact::Joined { port, queue, packet, .. } => {
                switch.joins(network, (port, queue), packet, log);
            }
            Fact::Dropped { port, queue, reason, packet } => {
                switch.drops(network, (port, queue), reason, packet, log);
            }
            Fact::Changed { switch: spec } => switch.changes(spec),
            Fact::Trimmed { port, queue, packet, header, waited } => {
                switch.trims(network, (port, queue), (packet, header, waited), log);
            }
            _ => {}
        }
    }

    fn at_host(&mut self, fact: &Fact<'_>, at: &At) {
        let (network, Node::Host(host), mut log) = self.at(at.node, at.now) else {
            return;
        };
        match *fact {
            Fact::Departed(departure) => host.departs(network, departure, &mut log),
            Fact::Delivered(delivery) => host.delivers(network, delivery, &mut log),
            Fact::Granted { credit } => host.grants(network, credit, &mut log),
            _ => {}
        }
    }
}

impl Observer for Auditor {
    const WANTS: Kinds = Kinds::SENT
        .and(Kinds::ARRIVED)
        .and(Kinds::JOINED)
        .and(Kinds::DROPPED)
        .and(Kinds::TRIMMED)
        .and(Kinds::CHANGED)
        .and(Kinds::DEPARTED)
        .and(Kinds::DELIVERED)
        .and(Kinds::GRANTED);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.audited.map(|network| Self::of(network, setup.nodes))
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        match *fact {
            Fact::Sent { to, packet, class, until, handled_at, lost, telemetry, .. } => {
                let times = (until, lost.is_none().then_some(handled_at));
                if let Some(tag) = telemetry.and_then(Record::tag) {
                    self.tagged(at.node, (to, class), packet, tag, at.now);
                }
                self.sent(to, packet, class, at.now, times);
            }
            Fact::Arrived { packet } => self.arrives(at.node, packet, at.now),
            Fact::Departed(_) | Fact::Delivered(_) | Fact::Granted { .. } => self.at_host(fact, at),
            _ => self.at_switch(fact, at),
        }
    }

    fn finish(&mut self, now: Instant) {
        for index in 0..self.nodes.len() {
            let (network, state, mut log) = self.at(NodeId(index as u32), now);
            match state {
                Node::Elsewhere => continue,
                Node::Switch(switch) => switch.finish(network, &mut log),
                Node::Host(_) => {}
            }
            network.finish(log.node, &mut log);
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.nodes.iter_mut().zip(other.nodes) {
            if !matches!(theirs, Node::Elsewhere) {
                *mine = theirs;
            }
        }
        self.findings.merge(other.findings);
    }
}
