//! Captures: the frames at chosen ports, from which files for packet analyzers are made.
//!
//! A port sees a frame that it sends when the first bit is put on the wire, and one that arrives when the last bit is
//! there, before the latency of the node. Packets that are dropped in a switch were bound for a port, and are kept
//! apart from those that it sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_model::{Class, FlowId, Instant, NodeId, Packet, PortIx};

use super::{At, Fact, Kinds, Observer, Setup};
use crate::Spec;
use crate::kernel::Octets;
use crate::switch::port::DropReason;
use crate::telemetry::Record;

/// What is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The ports, each once.
    pub ports: Vec<(NodeId, PortIx)>,
    /// The most frames of each port: its first ones. As many dropped packets are kept.
    pub most: usize,
    /// Only frames of these flows and messages about them, with all frames that end at the neighbor; `None` for all.
    pub flows: Option<BTreeSet<FlowId>>,
}

/// What happens to a frame at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is sent.
    Sent {
        /// Why the link loses it, if it does.
        lost: Option<DropReason>,
    },
    /// It arrives.
    Arrived,
    /// It was bound for the port and is dropped.
    Dropped {
        /// The queue of the port.
        queue: usize,
        /// Why.
        reason: DropReason,
    },
}

/// A frame at a port.
#[derive(Clone, Debug)]
pub struct Frame {
    /// When.
    pub at: Instant,
    /// What happens to it.
    pub seen: Seen,
    /// The class in which it crosses the link, or in which a dropped packet arrived.
    pub class: Class,
    /// The frame.
    pub packet: Packet,
    /// Its telemetry.
    pub telemetry: Option<Box<Record>>,
    /// Its octets as its source has sent them, if that is a kernel.
    pub octets: Option<Arc<[u8]>>,
}

/// The first frames of one kind at a port, in order of time.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// The frames that are kept.
    pub kept: Vec<Frame>,
    /// How many there were.
    pub count: u64,
}

impl Frames {
    fn add(&mut self, most: usize, frame: impl FnOnce() -> Frame) {
        self.count += 1;
        if self.kept.len() < most {
            self.kept.push(frame());
        }
    }

    /// Adds others, and keeps the first ones of all. What arrives comes before what is sent in the same instant, which may be
    /// the answer to it: a host without latency acknowledges data when its last bit is there.
    fn merge(&mut self, others: Self, most: usize) {
        self.count += others.count;
        self.kept.extend(others.kept);
        self.kept.sort_by_key(|frame| (frame.at, frame.seen != Seen::Arrived));
        self.kept.truncate(most);
    }

    /// Those that are left by the end of the run.
    fn until(&mut self, end: Instant) {
        let before = self.kept.len();
        self.kept.retain(|frame| frame.at <= end);
        self.count -= (before - self.kept.len()) as u64;
    }
}

/// What a port has seen.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// Frames sent and frames that arrived, in order of time.
    pub on_wire: Frames,
    /// Packets that were dropped instead of sent there, in order of time.
    pub dropped: Frames,
}

/// The capture of a thread, or of a run.
#[derive(Debug)]
pub struct Capture {
    wanted: Wanted,
    /// By node and port: the place of the port among those that are wanted, plus one; 0 if it is not.
    places: Vec<Box<[u32]>>,
    /// By wanted port: frames sent, arrived, dropped.
    lanes: Vec<[Frames; 3]>,
    /// By wanted port: the delay of its link, which an arriving frame has crossed.
    delays: Vec<floodway_model::Duration>,
    /// Octets of frames of kernels.
    octets: Option<Arc<Octets>>,
}

const SENT: usize = 0;
const ARRIVED: usize = 1;
const DROPPED: usize = 2;

impl Capture {
    fn of(spec: &Spec, wanted: &Wanted, octets: Option<&Arc<Octets>>) -> Self {
        let nodes = spec.graph.nodes.iter();
        let mut places: Vec<Box<[u32]>> =
            nodes.map(|node| vec![0; node.ports.len()].into()).collect();
        for (place, (node, port)) in (1..).zip(&wanted.ports) {
            places[node.index()][port.index()] = place;
        }
        let delay = |&(node, port): &(NodeId, PortIx)| spec.graph.node(node).ports[port.index()];
        Self {
            wanted: wanted.clone(),
            places,
            lanes: wanted.ports.iter().map(|_| Default::default()).collect(),
            delays: wanted.ports.iter().map(|port| delay(port).delay).collect(),
            octets: octets.cloned(),
        }
    }

    fn place(&self, node: NodeId, port: usize) -> Option<usize> {
        self.places[node.index()][port].checked_sub(1).map(|place| place as usize)
    }

    fn is_wanted(&self, packet: &Packet) -> bool {
        let flows = self.wanted.flows.as_ref();
        flows.is_none_or(|flows| packet.is_one_hop() || flows.contains(&packet.flow))
    }

    fn octets_of(&self, packet: &Packet) -> Option<Arc<[u8]>> {
        Some(self.octets.as_ref()?.get(packet)?.octets)
    }

    fn add(&mut self, place: Option<usize>, lane: usize, frame: impl FnOnce() -> Frame) {
        if let Some(place) = place {
            self.lanes[place][lane].add(self.wanted.most, frame);
        }
    }

    /// By wanted port, in their order: what it has seen.
    pub fn into_ports(self) -> Vec<Port> {
        let most = self.wanted.most;
        let port = |[mut on_wire, arrived, dropped]: [Frames; 3]| {
            on_wire.merge(arrived, most);
            Port { on_wire, dropped }
        };
        self.lanes.into_iter().map(port).collect()
    }
}

impl Observer for Capture {
    const WANTS: Kinds = Kinds::SENT.and(Kinds::DROPPED);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.captured.map(|wanted| Self::of(setup.spec, wanted, setup.octets))
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        match *fact {
            Fact::Sent { port, to, packet, class, until, lost, telemetry, .. }
                if self.is_wanted(packet) =>
            {
                let here = self.place(at.node, port);
                let there = self.place(to.0, to.1.index()).filter(|_| lost.is_none());
                let octets = self.octets_of(packet);
                let frame = |at, seen| {
                    let telemetry = telemetry.copied().map(Box::new);
                    let octets = octets.clone();
                    Frame { at, seen, class, packet: *packet, telemetry, octets }
                };
                self.add(here, SENT, || frame(at.now, Seen::Sent { lost }));
                let arrives = there.map_or(until, |there| until + self.delays[there]);
                self.add(there, ARRIVED, || frame(arrives, Seen::Arrived));
            }
            Fact::Dropped { port, queue, reason, packet } if self.is_wanted(packet) => {
                let (now, class) = (at.now, packet.class);
                let place = self.place(at.node, port);
                let seen = Seen::Dropped { queue, reason };
                let (telemetry, octets) = (None, self.octets_of(packet));
                let frame = || Frame { at: now, seen, class, packet: *packet, telemetry, octets };
                self.add(place, DROPPED, frame);
            }
            _ => {}
        }
    }

    /// What would arrive after the end of the run has not arrived.
    fn finish(&mut self, now: Instant) {
        self.lanes.iter_mut().for_each(|lanes| lanes[ARRIVED].until(now));
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.lanes.iter_mut().zip(other.lanes) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.merge(theirs, self.wanted.most);
            }
        }
    }
}
