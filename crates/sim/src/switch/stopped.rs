//! The wait-for graph for deadlock detection, as seen by one switch: which of its ports are stopped
//! by neighbors, and what the neighbors that it has stopped depend on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use floodway_model::{FlowId, Instant, NodeId, Packet};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Switch;
use super::fabric::Waiting;
use super::flow_control::pausing::{Held, Source, source_of};
use super::queue::Queue;

/// A port and class that has packets queued and is paused. PAUSE stops a port as a whole,
/// represented here as class 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Egress port.
    pub port: usize,
    /// Class.
    pub class: usize,
    /// The node that paused it.
    pub peer: NodeId,
    /// The ingress port and class at that node.
    pub source: Source,
    /// When this pause began.
    pub since: Instant,
    /// Bytes queued.
    pub backlog: u64,
    /// The bytes by flow.
    pub flows: BTreeMap<FlowId, u64>,
}

/// An egress port and class.
pub type Place = (usize, usize);

/// What a paused source depends on in this switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Bytes that keep the source paused, each with the egress ports and classes that keep these
    /// bytes here while any of them is stopped: the one that the bytes are bound for, and those
    /// that the frames ahead of them at the input of a crossbar are blocked on.
    pub behind: Vec<(Vec<Place>, u64)>,
    /// The source is resumed when at most this many of these bytes are left.
    pub goes_on_at: u64,
}

impl Switch {
    /// The ports and classes of this switch that are paused.
    pub fn stopped(&self, now: Instant) -> Vec<Stopped> {
        let mut stopped = Vec::new();
        for (number, port) in self.ports.iter().enumerate() {
            let link = port.tx.link();
            for class in 0..self.pausable() {
                let queues = self.queues_of(number, class);
                let backlog: u64 = queues.iter().map(Queue::backlog).sum();
                let pause = &port.tx.pauses()[class];
                if backlog > 0 && pause.until > now {
                    let here = (number, class);
                    let packets = queues.iter().flat_map(Queue::iter);
                    let crossbar = self.crossbar.iter().flat_map(|crossbar| crossbar.frames());
                    let bound = crossbar.filter(|frame| self.place_of(frame) == here);
                    let packets = packets.chain(bound.map(|frame| &frame.queued.packet));
                    let mut flows = BTreeMap::new();
                    for packet in packets {
                        *flows.entry(packet.flow).or_insert(0) += u64::from(packet.bytes);
                    }
                    stopped.push(Stopped {
                        port: number,
                        class,
                        peer: link.peer,
                        source: Source::new(link.peer_port.index(), class),
                        since: pause.since(),
                        backlog,
                        flows,
                    });
                }
            }
        }
        stopped
    }

    /// What the neighbor that is `source` here depends on: all of the returned entries. `None` if
    /// this switch has not paused it, or has resumed it by a frame that may still be on the wire.
    pub fn holds_up(&self, source: Source) -> Option<Vec<Waits>> {
        let held = self.mechanisms.held(source, &self.buffer)?;
        Some(self.waits(source, held))
    }

    fn waits(&self, source: Source, held: Held) -> Vec<Waits> {
        match held {
            Held::ByItsBytes(goes_on_at) => {
                let own = |_, packet: &Packet| self.is_of(source, source_of(packet));
                vec![Waits { behind: self.kept(own), goes_on_at }]
            }
            Held::ByMemory(goes_on_at) => {
                vec![Waits { behind: self.kept(|_, _| true), goes_on_at }]
            }
            Held::ByPlaces(numbers, goes_on_at) => {
                let of = |number| {
                    let place = (number / self.pausable(), number % self.pausable());
                    Waits { behind: self.kept(|at, _| at == place), goes_on_at }
                };
                numbers.into_iter().map(of).collect()
            }
        }
    }

    /// The place with most of the bytes that keep a source paused, or without credit.
    pub(super) fn fullest(&self, source: Source, is_credit: bool) -> Option<Place> {
        let held = match is_credit {
            true => Held::ByItsBytes(0),
            false => self.mechanisms.held(source, &self.buffer)?,
        };
        let most = |bytes: &mut dyn Iterator<Item = (Place, u64)>| {
            let most = bytes.max_by_key(|(place, bytes)| (*bytes, Reverse(*place)));
            most.filter(|(_, bytes)| *bytes > 0).map(|(place, _)| place)
        };
        if self.crossbar.is_some() {
            // Bytes at the inputs wait for several places; the last is the one that they are bound for.
            let waits = self.waits(source, held);
            let behind = waits.iter().flat_map(|wait| &wait.behind);
            let (places, _) = behind.max_by_key(|(places, bytes)| (*bytes, Reverse(places)))?;
            return places.last().copied();
        }
        let backlog = |place: Place| {
            let queues = self.queues_of(place.0, place.1).iter();
            (place, queues.map(Queue::backlog).sum())
        };
        match held {
            Held::ByMemory(_) => most(&mut self.places().map(backlog)),
            Held::ByPlaces(numbers, _) => {
                let classes = self.pausable();
                let places = numbers.into_iter().map(|number| (number / classes, number % classes));
                most(&mut places.map(backlog))
            }
            Held::ByItsBytes(_) => {
                let own = |place: Place| {
                    let queues = self.queues_of(place.0, place.1).iter();
                    let waiting = queues.filter(|queue| !queue.is_empty()).flat_map(Queue::iter);
                    let own = waiting.filter(|packet| self.is_of(source, source_of(packet)));
                    (place, own.map(|packet| u64::from(packet.bytes)).sum())
                };
                most(&mut self.places().map(own))
            }
        }
    }

    /// The flows with bytes bound for a place, the one with most first.
    pub(super) fn flows_at(&self, place: Place) -> Vec<(FlowId, u64)> {
        let mut bytes: FxHashMap<FlowId, u64> = FxHashMap::default();
        let queued = self.queues_of(place.0, place.1).iter().flat_map(Queue::iter);
        let crossing = self.crossbar.iter().flat_map(|crossbar| crossbar.frames());
        let crossing = crossing.filter(|frame| self.place_of(frame) == place);
        for packet in queued.chain(crossing.map(|frame| &frame.queued.packet)) {
            *bytes.entry(packet.flow).or_default() += u64::from(packet.bytes);
        }
        let mut flows: Vec<(FlowId, u64)> = bytes.into_iter().collect();
        flows.sort_unstable_by_key(|(flow, bytes)| (Reverse(*bytes), *flow));
        flows
    }

    /// The bytes of the packets for which `counted` returns true, grouped by the places that keep
    /// them here. `counted` is called with the place that the packet is bound for.
    fn kept(&self, counted: impl Fn(Place, &Packet) -> bool) -> Vec<(Vec<Place>, u64)> {
        let mut kept: BTreeMap<Vec<Place>, u64> = BTreeMap::new();
        let mut keep = |by: &BTreeSet<Place>, place, packet: &Packet| {
            if counted(place, packet) {
                let by = by.iter().copied().collect();
                *kept.entry(by).or_default() += u64::from(packet.bytes);
            }
        };
        for place in self.places() {
            let packets = self.queues_of(place.0, place.1).iter().flat_map(Queue::iter);
            packets.for_each(|packet| keep(&[place].into(), place, packet));
        }
        let Some(crossbar) = &self.crossbar else { return kept.into_iter().collect() };
        for frame in crossbar.crossing() {
            let place = self.place_of(frame);
            keep(&[place].into(), place, &frame.queued.packet);
        }
        for row in crossbar.rows() {
            // Full queues that frames ahead in this row are blocked on.
            let mut ahead = BTreeSet::new();
            for frame in row {
                let place = self.place_of(frame);
                let free = ahead.insert(place);
                keep(&ahead, place, &frame.queued.packet);
                if free && crossbar.has_room(frame.egress.into(), frame.queue.into()) {
                    ahead.remove(&place);
                }
            }
        }
        kept.into_iter().collect()
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let classes = self.pausable();
        (0..self.ports.len()).flat_map(move |port| (0..classes).map(move |class| (port, class)))
    }

    /// The egress port and class that a frame at an input is bound for.
    fn place_of(&self, frame: &Waiting) -> Place {
        let class = if self.mechanisms.stops_ports() { 0 } else { frame.queue.into() };
        (frame.egress.into(), class)
    }

    /// How many parts of a port can be stopped separately: its data classes, or 1 with PAUSE.
    fn pausable(&self) -> usize {
        if self.mechanisms.stops_ports() { 1 } else { self.control_queue() }
    }

    fn queues_of(&self, port: usize, class: usize) -> &[Queue] {
        let data = &self.ports[port].queues[..self.control_queue()];
        if self.mechanisms.stops_ports() { data } else { &data[class..=class] }
    }

    /// Whether a packet with ingress `of` is charged to `source`.
    fn is_of(&self, source: Source, of: Source) -> bool {
        source.port() == of.port()
            && (self.mechanisms.stops_ports() || source.class() == of.class())
    }
}
