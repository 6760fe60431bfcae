//! Delays of chosen flows: the time from the start of a flow to its completion, partitioned by
//! cause, without gap or overlap.
//!
//! The packet whose arrival completes the flow is followed backwards to its source: on each hop it
//! was serialized, propagated, or waited, and what the port did meanwhile is known from its
//! log (`port`). At the source, the time until it was sent consists of the gaps between the packets
//! of the flow (`flow`): a frame of the flow on the wire, the rate, the window, or the port. A wait for a
//! window is part of the round trip of the packet whose acknowledgement ended it, and is divided in
//! the same way. A pause has a cause (`pauses`), which is followed to its root.
//!
//! Logs belong to nodes, so a run that explains flows has one thread.

mod flow;
mod part;
mod pauses;
mod port;

use std::collections::BTreeSet;

use floodway_model::{Duration, FlowId, Instant, NodeId, Packet};
use rustc_hash::FxHashMap;

use super::{At, Fact, Kinds, Observer, Setup};
use crate::switch::port::DropReason;
use flow::{Flow, Trip, answer_key, data_key};
pub use part::{Kind, Part};
pub use pauses::{Pause, Queue};
use port::{Log, Transmission};

/// Why a flow took as long as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// The flow.
    pub flow: FlowId,
    /// Its source.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// Its start.
    pub began: Instant,
    /// When all of it had arrived.
    pub completed: Instant,
    /// What it spent its time on, in order.
    pub parts: Vec<Part>,
    /// Packets that were sent again: their number, and where and why they had been dropped.
    pub losses: Vec<(u32, NodeId, DropReason)>,
}

impl Story {
    /// Whether the parts cover the time of the flow without gap or overlap.
    pub fn is_exact(&self) -> bool {
        let mut now = self.began;
        let follows =
            |part: &Part| part.from == std::mem::replace(&mut now, part.to) && part.from < part.to;
        self.parts.iter().all(follows) && now == self.completed
    }

    /// The time of the parts for which `counted` returns true.
    pub fn time(&self, counted: impl Fn(&Part) -> bool) -> Duration {
        let parts = self.parts.iter().filter(|part| counted(part));
        parts.map(|part| part.to.since(part.from)).sum()
    }
}

/// Explanations of flows.
#[derive(Debug, Default)]
pub struct Explained {
    /// Of each flow that has completed, in order of flow.
    pub stories: Vec<Story>,
    /// All pauses of the run, in order of their start.
    pub pauses: Vec<Pause>,
}

/// The flows that are followed, and the logs of all ports.
#[derive(Debug)]
pub struct Delays {
    flows: FxHashMap<FlowId, Flow>,
    /// By node and port.
    logs: Vec<Vec<Log>>,
    /// By node and port: the node and port at the other end of the link.
    peers: Vec<Vec<(NodeId, usize)>>,
    /// By node: since when followed frames have been in it, or will be.
    inside: Vec<BTreeSet<(Instant, FlowId, flow::Key)>>,
    /// By node: the followed flows that start there.
    sources: Vec<Vec<FlowId>>,
    pauses: pauses::Pauses,
}

impl Observer for Delays {
    const WANTS: Kinds = Kinds::SENT
        .and(Kinds::ARRIVED)
        .and(Kinds::DROPPED)
        .and(Kinds::DEPARTED)
        .and(Kinds::DELIVERED)
        .and(Kinds::PAUSED)
        .and(Kinds::PAUSES);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let nodes = &setup.spec.graph.nodes;
        let mut sources = vec![Vec::new(); nodes.len()];
        for flow in setup.explained {
            if let Some(spec) = setup.spec.flows.get(flow.index()) {
                sources[spec.src.index()].push(*flow);
            }
        }
        let flow = |flow: &FlowId| {
            let spec = setup.spec.flows.get(flow.index())?;
            Some((*flow, Flow::new(spec)))
        };
        (!setup.explained.is_empty()).then(|| Self {
            flows: setup.explained.iter().filter_map(flow).collect(),
            logs: nodes
                .iter()
                .map(|node| node.ports.iter().map(|_| Log::default()).collect())
                .collect(),
            peers: nodes
                .iter()
                .map(|node| {
                    node.ports.iter().map(|end| (end.peer, end.peer_port.index())).collect()
                })
                .collect(),
            inside: vec![BTreeSet::new(); nodes.len()],
            sources,
            pauses: pauses::Pauses::default(),
        })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        match *fact {
            Fact::Sent { port, to, packet, class, until, handled_at, is_lost } => {
                let place = (at.node, port);
                let wire = Transmission {
                    from: at.now,
                    to: until,
                    flow: (!packet.is_one_hop()).then_some(packet.flow),
                    class,
                };
                self.on_sent(place, packet, wire, (to.0, handled_at), is_lost);
                if self.logs[at.node.index()][port].add(wire) {
                    let horizon = self.horizon(at.node, at.now);
                    self.logs[at.node.index()][port].shorten(horizon);
                }
            }
            Fact::Arrived { packet } => {
                let of = self.flows.get_mut(&packet.flow).filter(|of| of.src == at.node);
                if let Some((of, key)) = of.zip(answer_key(packet)) {
                    of.arrived.push((at.now, key));
                }
            }
            Fact::Departed(departure) => {
                let packet = &departure.packet;
                let of = self.flows.get_mut(&packet.flow).filter(|of| of.story.is_none());
                let Some((of, key)) = of.zip(data_key(packet)) else { return };
                if of.began.is_none() {
                    of.begin(departure.began);
                }
                let log = &self.logs[at.node.index()][0];
                let waited =
                    log.explain((at.node, 0), (packet.flow, packet.class), (of.emitted, at.now));
                of.on_departed(key, waited, (departure.ready_at, at.now, departure.eligible_at));
                of.trips.entry(key).or_insert_with(|| {
                    self.inside[at.node.index()].insert((at.now, packet.flow, key));
                    Trip::new(at.node, at.now)
                });
            }
            Fact::Dropped { reason, packet, .. } => {
                let trip = self.flows.get_mut(&packet.flow).zip(data_key(packet));
                if let Some(trip) = trip.and_then(|(of, key)| of.trips.get_mut(&key)) {
                    (trip.lost, trip.is_over) = (Some((at.node, reason)), true);
                    let key = data_key(packet).expect("it has a trip");
                    self.inside[trip.node.index()].remove(&(trip.at, packet.flow, key));
                }
            }
            Fact::Delivered(delivery) => {
                let packet = delivery.packet;
                let of = self.flows.get_mut(&packet.flow).filter(|of| of.story.is_none());
                let Some((of, key)) = of.zip(data_key(packet)) else { return };
                if let Some(trip) = of.trips.get_mut(&key) {
                    trip.is_over = true;
                }
                if delivery.completes {
                    of.complete(packet.flow, key, at.now);
                }
            }
            Fact::Paused { port, classes, until } => {
                let peer = self.peers[at.node.index()][port];
                let log = &mut self.logs[at.node.index()][port];
                self.pauses.paused((at.node, port), classes, (at.now, until), peer, log);
            }
            Fact::Pauses { port, class, queue: (egress, behind), flow } => {
                let queue = Queue { node: at.node, port: egress, class: behind, flow };
                let log = self.logs[at.node.index()].get(egress);
                self.pauses.caused((at.node, port, class), queue, log, at.now);
            }
            _ => {}
        }
    }

    fn finish(&mut self, now: Instant) {
        self.pauses.finish(now);
    }

    fn merge(&mut self, other: Self) {
        // There is one thread. A thread without nodes has seen nothing.
        if self.flows.values().all(|of| of.began.is_none()) {
            *self = other;
        }
    }
}

impl Delays {
    /// What is known at the end.
    pub fn into_explained(self) -> Explained {
        let mut stories: Vec<Story> = self.flows.into_values().filter_map(|of| of.story).collect();
        stories.sort_by_key(|story| story.flow);
        Explained { stories, pauses: self.pauses.all }
    }

    /// A frame is put on the wire: it has waited in the node until now.
    fn on_sent(
        &mut self,
        (node, port): (NodeId, usize),
        packet: &Packet,
        wire: Transmission,
        (to, handled_at): (NodeId, Instant),
        is_lost: bool,
    ) {
        let of = self.flows.get_mut(&packet.flow).filter(|of| of.story.is_none());
        let Some(of) = of else { return };
        let (key, trip) = match (data_key(packet), answer_key(packet)) {
            (Some(key), _) => (key, of.trips.entry(key).or_insert_with(|| Trip::new(node, key.0))),
            (None, Some(key)) => {
                let data = of.trips.range((key.0, 0)..=(key.0, u32::MAX)).next();
                let since = data.map_or(wire.from, |(_, data)| data.at.min(wire.from));
                (key, of.answers.entry(key).or_insert_with(|| Trip::new(node, since)))
            }
            (None, None) => return,
        };
        self.inside[node.index()].remove(&(trip.at, packet.flow, key));
        if trip.is_over {
            return;
        }
        let log = &self.logs[node.index()][port];
        let part = |from, to, kind| Part { from, to, kind, node, port, in_window: false };
        if node == of.dst && answer_key(packet).is_some() {
            part::push(&mut trip.parts, part(trip.at, wire.from, Kind::Answer));
        } else {
            let waited = log.explain((node, port), (packet.flow, wire.class), (trip.at, wire.from));
            waited.into_iter().for_each(|part| part::push(&mut trip.parts, part));
        }
        part::push(&mut trip.parts, part(wire.from, wire.to, Kind::Serialization));
        part::push(&mut trip.parts, part(wire.to, handled_at, Kind::Propagation));
        (trip.node, trip.at) = (to, handled_at);
        if is_lost {
            (trip.lost, trip.is_over) = (Some((node, DropReason::LostOnLink)), true);
        } else if to != packet.dst {
            self.inside[to.index()].insert((handled_at, packet.flow, key));
        }
    }

    /// The earliest time from which what a node has sent may have to be known.
    fn horizon(&self, node: NodeId, now: Instant) -> Instant {
        let inside = self.inside[node.index()].first().map(|(at, _, _)| *at);
        let sources = self.sources[node.index()].iter().filter_map(|flow| {
            let of = &self.flows[flow];
            (of.story.is_none() && of.emitted <= now).then_some(of.emitted)
        });
        sources.chain(inside).min().unwrap_or(now).min(now)
    }
}
