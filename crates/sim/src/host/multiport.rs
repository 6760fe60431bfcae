//! Hosts with several ports. Each port is a [`Host`] of its own, with its NIC, senders, receivers and timers. All
//! ports together are one node of the engine, because what arrives at one may start a flow at another at the same
//! time: they share the dependencies between flows, and the programs of ranks.

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_engine::Node;
use floodway_model::{
    Body, FlowId, FlowSpec, Graph, Instant, NodeId, Packet, PortIx, Program, Progressions,
    SharedList, Trigger,
};

use super::dependencies::Dependencies;
use super::{Host, Shared};
use crate::context::Context;

/// Which ports belong to which host, and where the flows of a port stand among those of its host.
#[derive(Debug)]
pub struct Several {
    /// By node: the first port of its host.
    hosts: Vec<NodeId>,
    /// By node: number of outgoing and incoming flows of the ports of its host before this one.
    first: Vec<(u32, u32)>,
}

impl Several {
    /// For these flows; `None` if all hosts have one port.
    pub fn of(graph: &Graph, flows: &Progressions<FlowSpec>) -> Option<Box<Self>> {
        if !graph.has_several_ports() {
            return None;
        }
        let mut counts = vec![(0, 0); graph.nodes.len()];
        for flow in flows.each() {
            counts[flow.src.index()].0 += 1;
            counts[flow.dst.index()].1 += 1;
        }
        let mut first = vec![(0, 0); graph.nodes.len()];
        for host in graph.first_ports() {
            let mut before = (0, 0);
            for port in graph.ports_of(host) {
                first[port.index()] = before;
                let (sent, received) = counts[port.index()];
                before = (before.0 + sent, before.1 + received);
            }
        }
        let hosts = graph.ids().map(|node| graph.host_of(node)).collect();
        Some(Box::new(Self { hosts, first }))
    }
}

impl Shared {
    /// The first port of the host that a port belongs to.
    pub fn host_of(&self, port: NodeId) -> NodeId {
        self.several.as_ref().map_or(port, |several| several.hosts[port.index()])
    }

    /// Number of outgoing and incoming flows of the ports of the same host before this one.
    #[inline]
    pub fn first_of(&self, port: NodeId) -> (u32, u32) {
        self.several.as_ref().map_or((0, 0), |several| several.first[port.index()])
    }

    /// The index of a flow among the outgoing flows of the host that sends it, and among the incoming flows of the
    /// host that receives it; of hosts with several ports port by port.
    #[inline]
    pub fn places_at_host(&self, flow: FlowId) -> (u32, u32) {
        let (sent, received) = self.places.at(flow.index());
        match &self.several {
            None => (sent, received),
            Some(several) => {
                let FlowSpec { src, dst, .. } = self.flows.at(flow.index());
                (several.first[src.index()].0 + sent, several.first[dst.index()].1 + received)
            }
        }
    }
}

/// A host with several ports.
#[derive(Debug)]
pub struct MultiportHost {
    /// Its ports, in order.
    ports: Vec<Host>,
    /// Dependencies between all of its flows, if there are any: here, except while a port handles an event.
    dependencies: Option<Box<Dependencies>>,
    /// Which ports stand in for others; `None` if none ever does.
    failover: Option<Box<Failover>>,
}

/// Ports that stand in for others, whose links are known to be down. Such a port lends its transmitter: while another
/// one handles an event or sends, that has it instead of its own, so that both share a wire with its pauses.
#[derive(Debug)]
struct Failover {
    /// When this changes, ascending: by port, the port that stands in for it.
    changes: VecDeque<(Instant, Vec<Option<usize>>)>,
    /// By port, the one that stands in for it now.
    stands_in: Vec<Option<usize>>,
    /// The port that goes first if several may send at the same time: the one after the last that has sent.
    turn: usize,
}

impl Failover {
    /// When it changes next.
    fn next_change(&self) -> Instant {
        self.changes.front().map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// The port whose wire a port uses.
    fn wire(&self, port: usize) -> usize {
        self.stands_in[port].unwrap_or(port)
    }
}

impl MultiportHost {
    /// A host with these ports, with the triggers that start its flows and the indices of its programs.
    pub fn new(
        ports: Vec<Host>,
        triggers: &Progressions<Trigger>,
        (programs, here): (&SharedList<Program>, &[u32]),
        shared: &Arc<Shared>,
    ) -> Self {
        let outgoing: Progressions<FlowId> =
            ports.iter().flat_map(|port| port.outgoing.each()).collect();
        let incoming = ports.iter().map(|port| port.receivers.len()).sum();
        let flows = (&outgoing, incoming);
        let dependencies = Dependencies::of(flows, triggers, (programs, here), shared);
        let mut host = Self { ports, dependencies, failover: None };
        for port in 0..host.ports.len() {
            host.lend(port, |port| {
                port.set_started(port.next_free(0));
                port.set_wake();
            });
        }
        host
    }

    /// Its node in the engine: that of its first port in the graph.
    pub fn id(&self) -> NodeId {
        self.ports[0].id()
    }

    /// Its ports, in order.
    pub fn ports(&self) -> &[Host] {
        &self.ports
    }

    /// The same, to be changed before the run.
    pub fn ports_mut(&mut self) -> &mut [Host] {
        &mut self.ports
    }

    /// Its ports, after a run.
    pub fn into_ports(mut self) -> Vec<Host> {
        if let Some(dependencies) = self.dependencies {
            let (first, others) = self.ports.split_at_mut(1);
            others.iter_mut().for_each(|port| port.dependencies = Some(dependencies.times()));
            first[0].dependencies = Some(dependencies);
        }
        self.ports
    }

    /// A port does something, for which it has the dependencies of the host.
    fn lend(&mut self, port: usize, act: impl FnOnce(&mut Host)) {
        let port = &mut self.ports[port];
        port.dependencies = self.dependencies.take();
        act(port);
        self.dependencies = port.dependencies.take();
    }

    /// Other ports stand in for some at these times, ascending: by port, the one that does.
    pub fn fail_over(&mut self, changes: VecDeque<(Instant, Vec<Option<usize>>)>) {
        if changes.is_empty() {
            return;
        }
        let stands_in = vec![None; self.ports.len()];
        self.failover = Some(Box::new(Failover { changes, stands_in, turn: 0 }));
    }

    /// The same as [`Self::lend`], with the transmitter of the port that stands in for this one, if one does.
    fn lend_wire(&mut self, port: usize, act: impl FnOnce(&mut Host)) {
        let stands_in = self.failover.as_ref().and_then(|failover| failover.stands_in[port]);
        self.swap_wires(port, stands_in);
        self.lend(port, act);
        self.swap_wires(port, stands_in);
    }

    fn swap_wires(&mut self, port: usize, with: Option<usize>) {
        let Some(with) = with else { return };
        if let Ok([port, with]) = self.ports.get_disjoint_mut([port, with]) {
            std::mem::swap(&mut port.nic.tx, &mut with.nic.tx);
        }
    }

    /// After an event at a port: all that share its wire send what they may, and know when the wire is free.
    fn share_wire(&mut self, port: usize, now: Instant, context: &mut Context) {
        let Some(failover) = &self.failover else { return };
        let (wire, turn, count) = (failover.wire(port), failover.turn, self.ports.len());
        if failover.stands_in.iter().all(|stands_in| *stands_in != Some(wire)) {
            return;
        }
        for other in (turn..turn + count).map(|place| place % count) {
            if self.failover.as_ref().is_some_and(|failover| failover.wire(other) == wire) {
                let frames = self.ports[wire].nic.tx.frames;
                self.lend_wire(other, |port| {
                    port.send_next(now, context);
                    port.set_wake();
                });
                self.served(other, wire, frames);
            }
        }
    }

    /// The port after this one goes first next, if this one has sent since its wire had carried so many frames.
    fn served(&mut self, port: usize, wire: usize, frames: u64) {
        if self.ports[wire].nic.tx.frames != frames
            && let Some(failover) = &mut self.failover
        {
            failover.turn = (port + 1) % self.ports.len();
        }
    }

    /// It has become known that links of this host are down or work again.
    #[cold]
    fn change_wires(&mut self, now: Instant, context: &mut Context) {
        // Each with its own transmitter, to which the news are.
        self.ports.iter_mut().for_each(|port| _ = port.nic.tx.update(now, context));
        if let Some(failover) = &mut self.failover {
            while failover.next_change() <= now {
                failover.stands_in =
                    failover.changes.pop_front().map_or_else(Vec::new, |(_, of)| of);
            }
        }
        for port in 0..self.ports.len() {
            self.lend_wire(port, |port| port.act(now, context));
        }
        self.start_elsewhere(now, context);
        (0..self.ports.len()).for_each(|port| self.share_wire(port, now, context));
    }

    /// The port that handles a frame: that to which it is addressed, or that whose flow is to be isolated.
    #[cold]
    fn addressee(&self, packet: &Packet, arrives_at: usize) -> usize {
        let flow = || self.ports[0].shared.flows.at(packet.flow.index()).src;
        let port = match packet.body {
            Body::Cim => flow(),
            _ if packet.is_one_hop() => return arrives_at,
            _ => packet.dst,
        };
        let place = port.0.checked_sub(self.ports[0].id.0).map(|place| place as usize);
        place.filter(|&place| place < self.ports.len()).unwrap_or(arrives_at)
    }

    /// Starts the flows that an event at one port starts at others.
    fn start_elsewhere(&mut self, now: Instant, context: &mut Context) {
        while let Some((place, after)) =
            self.dependencies.as_mut().and_then(|of| of.elsewhere.pop_front())
        {
            let mut own = place as usize;
            let mut port = 0;
            while own >= self.ports[port].outgoing.len() {
                own -= self.ports[port].outgoing.len();
                port += 1;
            }
            self.lend_wire(port, |port| {
                port.begin(own, after, now, context);
                port.send_next(now, context);
                port.set_wake();
            });
            self.share_wire(port, now, context);
        }
    }

    /// The port that handles what is due.
    fn due(&self, now: Instant) -> Option<usize> {
        let is_due = |port: &usize| self.ports[*port].next_wake() <= now;
        match &self.failover {
            None => (0..self.ports.len()).find(is_due),
            Some(failover) => {
                let all = failover.turn..failover.turn + self.ports.len();
                all.map(|place| place % self.ports.len()).find(is_due)
            }
        }
    }
}

impl Node<Context> for MultiportHost {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        // The frame says at which port it arrives; to that it is the only one.
        let port = std::mem::replace(&mut packet.ingress, PortIx(0)).index();
        if self.failover.is_some() {
            context.arrived(self.ports[port].id, packet, now);
            let port = self.addressee(packet, port);
            self.lend_wire(port, |port| port.handle(packet, now, context));
            self.share_wire(port, now, context);
        } else {
            self.lend(port, |port| port.arrive(packet, now, context));
        }
        self.start_elsewhere(now, context);
    }

    fn next_wake(&self) -> Instant {
        let ports = self.ports.iter().map(Host::next_wake).min().unwrap_or(Instant::NEVER);
        self.failover.as_ref().map_or(ports, |failover| ports.min(failover.next_change()))
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        if self.failover.as_ref().is_some_and(|failover| failover.next_change() <= now) {
            return self.change_wires(now, context);
        }
        let Some(due) = self.due(now) else { return };
        if let Some(failover) = &self.failover {
            let wire = failover.wire(due);
            let frames = self.ports[wire].nic.tx.frames;
            if self.ports[due].is_sampled(now) {
                // The sample is about its own transmitter. What it may send it sends below.
                self.lend(due, |port| port.wake(now, context));
            } else {
                self.lend_wire(due, |port| port.wake(now, context));
            }
            self.served(due, wire, frames);
            self.share_wire(due, now, context);
        } else {
            self.lend(due, |port| port.wake(now, context));
        }
        self.start_elsewhere(now, context);
    }
}
