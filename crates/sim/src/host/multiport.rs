//! Hosts with several ports. Each port is a [`Host`] of its own, with its NIC, senders, receivers and timers. All
//! ports together are one node of the engine, because what arrives at one may start a flow at another at the same
//! time: they share the dependencies between flows, and the programs of ranks.

use std::sync::Arc;

use floodway_engine::Node;
use floodway_model::{
    FlowId, FlowSpec, Graph, Instant, NodeId, Packet, PortIx, Program, Progressions, SharedList,
    Trigger,
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
        let mut host = Self { ports, dependencies };
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
            self.lend(port, |port| {
                port.begin(own, after, now, context);
                port.send_next(now, context);
                port.set_wake();
            });
        }
    }
}

impl Node<Context> for MultiportHost {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        // The frame says at which port it arrives; to that it is the only one.
        let port = std::mem::replace(&mut packet.ingress, PortIx(0));
        self.lend(port.index(), |port| port.arrive(packet, now, context));
        self.start_elsewhere(now, context);
    }

    fn next_wake(&self) -> Instant {
        self.ports.iter().map(Host::next_wake).min().unwrap_or(Instant::NEVER)
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        let due = self.ports.iter().position(|port| port.next_wake() <= now);
        let Some(due) = due else { return };
        self.lend(due, |port| port.wake(now, context));
        self.start_elsewhere(now, context);
    }
}
