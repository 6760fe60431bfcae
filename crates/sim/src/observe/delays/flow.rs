//! A flow that is followed: its frames on their way, and what its sender waited for.

use std::collections::BTreeMap;

use floodway_model::{Body, Class, FlowId, Instant, NodeId, Packet, Rate};

use super::Story;
use super::cuts::{Cuts, Reason};
use super::frames::Frames;
use super::part::{self, Kind, Part, push};
use super::port::{Hold, Logs, Place, push_held};
use super::trip::Trip;
use crate::switch::port::DropReason;

/// A transmission of a packet: when it left the sender, and its number. In an acknowledgement, the
/// transmission that it answers and the number that it acknowledges.
pub type Key = (Instant, u32);

/// The transmission that a data frame is.
pub fn data_key(packet: &Packet) -> Option<Key> {
    match packet.body {
        Body::Data { psn, sent_at, .. }
        | Body::Segment { psn, sent_at, .. }
        | Body::Trimmed { psn, sent_at, .. } => Some((sent_at, psn)),
        _ => None,
    }
}

/// What tells an acknowledgement of TCP or Ultra Ethernet from others of its flow: what it acknowledges, and the count
/// of packets that have come, without which those behind a gap would all be alike.
fn told_apart(packet: &Packet) -> Option<u64> {
    match packet.body {
        Body::TcpAck { ack, .. } => Some(u64::from(ack) << 8),
        Body::UetAck { ack, received, .. } => Some(u64::from(ack) << 8 | u64::from(received)),
        _ => None,
    }
}

/// Whether a frame is an acknowledgement that is followed.
pub fn is_answer(packet: &Packet) -> bool {
    matches!(packet.body, Body::Ack { .. } | Body::TcpAck { .. } | Body::UetAck { .. })
}

/// Transmissions of a flow that are remembered. Those that a sender may still wait for are among
/// them, except with windows of more packets: of such a packet only that the sender waited for it is
/// known.
const KEPT: usize = 4_096;

/// Packets of a flow that are explained one by one.
const MOST_PACKETS: usize = 100_000;

/// A flow that is followed.
#[derive(Debug)]
pub struct Flow {
    flow: FlowId,
    /// Its source.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// When it began; `None` until then.
    pub began: Option<Instant>,
    /// When its last packet left the sender; at first its start.
    emitted: Instant,
    /// When the rate allowed the next packet.
    eligible: Instant,
    /// The class of that packet.
    class: Class,
    /// The flow that it waited for before it began.
    after: Option<FlowId>,
    /// What the port of the host did since the last packet left, until `waited_until`.
    waited: Vec<Part>,
    waited_until: Instant,
    /// Acknowledgements that have arrived since its last packet left, with the transmissions that
    /// they answer.
    arrived: Vec<(Instant, Key)>,
    /// The number of the first packet that was never sent.
    unsent: u32,
    /// Whether the last packet had been sent before.
    repeats: bool,
    /// Its data packets on their way, and those that have arrived not long ago.
    trips: Frames,
    /// Its acknowledgements, likewise.
    answers: Frames,
    /// The SYN and the SYN-ACK of the handshake, those that were sent last.
    pub handshake: [Option<Trip>; 2],
    /// The data packet that was the last to arrive.
    newest: Option<(Key, Instant)>,
    /// Where and why packets were lost that have not been sent again.
    lost: BTreeMap<u32, (NodeId, DropReason)>,
    /// What logs are needed for from earlier than `settled`.
    settled: Instant,
    floor: Instant,
    /// Parts of the time of the sender.
    source: Vec<Part>,
    losses: Vec<(u32, NodeId, DropReason)>,
    marks: BTreeMap<Place, u64>,
    /// What lowered its rate and its window.
    pub cuts: Cuts,
    /// The number of measured flows that it stands for.
    stands_for: f64,
    /// Whether its packets are explained one by one, and what each that has arrived spent its time on.
    pub by_packet: bool,
    packets: Vec<(u32, Vec<Part>)>,
    /// The result.
    pub story: Option<Story>,
}

impl Flow {
    /// A flow that has not begun.
    pub fn new(flow: FlowId, (src, dst): (NodeId, NodeId), line: Rate, stands_for: f64) -> Self {
        Self {
            flow,
            src,
            dst,
            began: None,
            emitted: Instant::ZERO,
            eligible: Instant::ZERO,
            class: Class(0),
            after: None,
            waited: Vec::new(),
            waited_until: Instant::ZERO,
            arrived: Vec::new(),
            unsent: 0,
            repeats: false,
            trips: Frames::default(),
            answers: Frames::default(),
            handshake: [None, None],
            newest: None,
            lost: BTreeMap::new(),
            settled: Instant::ZERO,
            floor: Instant::NEVER,
            source: Vec::new(),
            losses: Vec::new(),
            marks: BTreeMap::new(),
            cuts: Cuts::new(line.0 as f64),
            stands_for,
            by_packet: false,
            packets: Vec::new(),
            story: None,
        }
    }

    /// It begins.
    pub fn begin(&mut self, now: Instant, class: Class, after: Option<FlowId>) {
        self.began = Some(now);
        (self.class, self.after) = (class, after);
        (self.emitted, self.eligible, self.waited_until) = (now, now, now);
    }

    /// A packet leaves the sender now, which had something to send from `ready` on, and the next one
    /// may follow at `eligible`. It was held back as `hold` says, if at all.
    pub fn on_departed(
        &mut self,
        (key, class): (Key, Class),
        (ready, now, eligible): (Instant, Instant, Instant),
        (rate, window): (Option<f64>, Option<u64>),
        hold: &Hold,
        logs: &mut Logs,
    ) {
        let place = (self.src, 0);
        let held = logs.held(hold);
        let mut waited = std::mem::take(&mut self.waited);
        let since = (self.waited_until, now);
        logs.of(place).explain(place, (self.flow, class), since, &mut waited);
        let is_first = self.unsent == 0;
        let is_repeated = key.1 < self.unsent;
        if is_repeated {
            self.cuts.learn(Reason::Lost);
        }
        self.cuts.on_departed(now, rate, window);
        let by = self.arrived.iter().rev().find(|by| by.0 == ready).map(|by| by.1);
        let ready = ready.clamp(self.emitted, now);
        let allowed = self.eligible.clamp(self.emitted, now);
        for part in &waited {
            // An idle network takes the time of a frame only once.
            if part.kind == Kind::OwnFlow {
                let kind = if self.repeats { Kind::Recovery } else { Kind::Serialization };
                push(&mut self.source, Part { kind, ..*part });
                continue;
            }
            let cut = |from: Instant, to: Instant| (part.from.max(from), part.to.min(to));
            let add = |parts: &mut Vec<Part>, (from, to), kind| {
                push(parts, Part { from, to, kind, ..*part });
            };
            add(&mut self.source, cut(Instant::ZERO, allowed), Kind::Rate);
            let (from, to) = cut(allowed, ready);
            if is_first && from < to {
                self.shake(Part { from, to, kind: Kind::Handshake, ..*part }, logs);
            } else if is_repeated {
                add(&mut self.source, (from, to), Kind::Recovery);
            } else if from < to {
                let part = Part { from, to, kind: Kind::Window, ..*part };
                self.round_trip(part, by, logs);
            }
            let (from, to) = cut(allowed.max(ready), Instant::NEVER);
            if from < to {
                push_held(&mut self.source, Part { from, to, ..*part }, held);
            }
        }
        if is_repeated && let Some((node, reason)) = self.lost.remove(&key.1) {
            self.losses.push((key.1, node, reason));
        }
        // Older transmissions than those that are answered are not waited for any more.
        let answered = self.arrived.iter().map(|by| by.1).max();
        let answered = answered.map_or(Instant::ZERO, |(answered, _)| answered);
        self.trips.forget(answered, KEPT - 1, logs);
        self.answers.forget(answered, KEPT, logs);
        waited.clear();
        self.arrived.clear();
        self.repeats = is_repeated;
        self.unsent = self.unsent.max(key.1 + 1);
        (self.emitted, self.eligible, self.class) = (now, eligible, class);
        (self.waited, self.waited_until) = (waited, now);
        // The wire may have stated before that it was sent.
        if self.trips.last() != Some(key) {
            self.trips.add(key, self.src, now);
        }
    }

    /// The frame that joins a queue of `node` or leaves it now, if it is followed.
    pub fn trip_of(&mut self, packet: &Packet, node: NodeId, now: Instant) -> Option<&mut Trip> {
        match data_key(packet) {
            Some(key) => self.trip(key, node),
            None if matches!(packet.body, Body::Syn { .. } | Body::SynAck { .. }) => {
                self.shaking(packet, node, now)
            }
            None => self.answer(packet, node, now),
        }
    }

    /// The data packet that `node` sends now.
    fn trip(&mut self, key: Key, node: NodeId) -> Option<&mut Trip> {
        if node == self.src && self.trips.last().is_none_or(|last| last < key) {
            self.trips.add(key, node, key.0);
        }
        self.trips.find(node, key).filter(|trip| !trip.is_over)
    }

    /// The acknowledgement that leaves `node` now, and whether the receiver has just made it.
    fn answer(&mut self, packet: &Packet, node: NodeId, now: Instant) -> Option<&mut Trip> {
        let number = match packet.body {
            Body::Ack { psn, sent_at, .. } => {
                let key = (sent_at, psn);
                if node != self.dst {
                    return self.answers.find(node, key);
                }
                let data = self.trips.sent_at(sent_at);
                let since = data.map_or(now, |data| data.at.min(now));
                return Some(self.answers.add(key, node, since));
            }
            Body::TcpAck { .. } | Body::UetAck { .. } => told_apart(packet)?,
            _ => return None,
        };
        if node != self.dst {
            // Acknowledgements do not overtake each other in a node, so the first of equal ones is next.
            let waits = |trip: &Trip| trip.node == node && trip.ack == number && trip.at <= now;
            return self.answers.iter_mut().find(|trip| waits(trip));
        }
        let (key, since) = self.newest?;
        let trip = self.answers.add(key, node, since);
        trip.ack = number;
        Some(trip)
    }

    /// An acknowledgement is handled by the sender.
    pub fn on_answered(&mut self, packet: &Packet, now: Instant) {
        // Of TCP, only whether the packet that is acknowledged was marked is known, not what the sender makes of it.
        let says_marked = match packet.body {
            Body::Ack { echo, .. } => echo.marked(),
            Body::UetAck { about, .. } => about.marked(),
            _ => true,
        };
        let key = match packet.body {
            Body::Ack { psn, sent_at, .. } => Some((sent_at, psn)),
            Body::TcpAck { .. } | Body::UetAck { .. } => {
                let number = told_apart(packet);
                let is_it =
                    |trip: &Trip| (trip.node, trip.at, Some(trip.ack)) == (self.src, now, number);
                self.answers.iter().find(|(_, trip)| is_it(trip)).map(|(key, _)| *key)
            }
            _ => None,
        };
        let marked_at = key.and_then(|(sent_at, _)| self.trips.sent_at(sent_at)?.marked_at);
        if let Some(place) = marked_at.filter(|_| says_marked) {
            self.cuts.learn(Reason::Marked(place));
        }
        self.arrived.extend(key.map(|key| (now, key)));
    }

    /// The sender uses another class from now on.
    pub fn reclassify(&mut self, class: Class, now: Instant, logs: &Logs) {
        let (place, since) = ((self.src, 0), (self.waited_until, now));
        logs.of(place).explain(place, (self.flow, self.class), since, &mut self.waited);
        (self.waited_until, self.class) = (now, class);
    }

    /// A data packet, or the header of a trimmed one, is handled by the receiver.
    pub fn on_delivered(&mut self, key: Key, notified: bool, now: Instant, logs: &Logs) {
        let mut marked_at = None;
        if let Some(trip) = self.trips.find(self.dst, key) {
            (trip.is_over, marked_at) = (true, trip.marked_at);
            if self.by_packet && self.packets.len() < MOST_PACKETS {
                let parts = trip.explain(self.flow, logs, Instant::ZERO, now);
                self.packets.push((key.1, parts));
            }
        }
        if notified {
            self.cuts.notifies(marked_at);
        }
        self.newest = Some((key, now));
    }

    /// A data packet is lost.
    pub fn on_lost(&mut self, key: Key, node: NodeId, reason: DropReason, logs: &mut Logs) {
        if self.trips.remove(key, logs) {
            self.lost.insert(key.1, (node, reason));
        }
    }

    /// A switch has marked a packet that it sends from this port.
    pub fn on_marked(&mut self, place: Place) {
        *self.marks.entry(place).or_default() += 1;
    }

    /// A frame of the handshake leaves `node` now.
    fn shaking(&mut self, packet: &Packet, node: NodeId, now: Instant) -> Option<&mut Trip> {
        let trip = match packet.body {
            Body::Syn { .. } => &mut self.handshake[0],
            Body::SynAck { .. } => &mut self.handshake[1],
            _ => return None,
        };
        if node == packet.src {
            *trip = Some(Trip::new(node, now));
        }
        trip.as_mut().filter(|trip| trip.node == node)
    }

    /// The wait for the handshake consists of the delays of its two frames and of the handshake itself.
    fn shake(&mut self, wait: Part, logs: &Logs) {
        let mut from = wait.from;
        let trips = self.handshake.iter().flatten();
        let parts = trips.flat_map(|trip| trip.explain(self.flow, logs, wait.from, wait.to));
        for part in parts.filter(|part| !part.kind.is_ideal()) {
            push(&mut self.source, Part { from, to: part.from, ..wait });
            push(&mut self.source, Part { from: part.from.max(from), ..part });
            from = from.max(part.to);
        }
        push(&mut self.source, Part { from, ..wait });
    }

    /// A wait for a window is that part of the round trip of the packet whose acknowledgement ended
    /// it, as far as that is known.
    fn round_trip(&mut self, wait: Part, by: Option<Key>, logs: &Logs) {
        let answer = by.and_then(|key| self.answers.get(key));
        let data = by.and_then(|(sent_at, _)| self.trips.sent_at(sent_at));
        let mut from = wait.from;
        if let (Some(answer), Some(data)) = (answer, data) {
            let explain = |trip: &Trip| trip.explain(self.flow, logs, wait.from, wait.to);
            for piece in explain(data).into_iter().chain(explain(answer)) {
                push(&mut self.source, Part { from, to: piece.from, ..wait });
                // What two trips overlap in belongs to the first.
                let begin = piece.from.max(from);
                push(&mut self.source, Part { from: begin, in_window: true, ..piece });
                from = from.max(piece.to);
            }
        }
        push(&mut self.source, Part { from, ..wait });
    }

    /// The earliest time that explanations of its frames need of logs.
    pub fn needs(&self) -> Instant {
        let first = [&self.trips, &self.answers].into_iter().filter_map(Frames::first);
        let first = first.min().unwrap_or(Instant::NEVER);
        // The handshake is explained with the first packet.
        let begin = self.began.filter(|_| self.unsent == 0).unwrap_or(Instant::NEVER);
        let first = first.min(begin);
        if first < self.settled { self.floor } else { first }
    }

    /// The earliest time that the sender needs of the log of its port.
    pub fn needs_at_source(&self) -> Instant {
        self.waited_until
    }

    /// The earliest time that frames in a node need of the logs there.
    pub fn needs_in(&self, node: NodeId) -> Instant {
        let all = self.trips.iter().chain(self.answers.iter()).map(|(_, trip)| trip);
        let all = all.chain(self.handshake.iter().flatten());
        all.filter(|trip| trip.node == node && !trip.is_over)
            .map(|trip| trip.at)
            .min()
            .unwrap_or(Instant::NEVER)
    }

    /// Explains everything so far, so that logs are needed only for frames that wait. Nodes are ahead of
    /// each other by less than a window, so what a source has done is known until now only at this `node`.
    pub fn settle(&mut self, node: NodeId, now: Instant, logs: &Logs) {
        self.floor = Instant::NEVER;
        let trips = self.trips.iter_mut().chain(self.answers.iter_mut());
        for trip in trips.chain(self.handshake.iter_mut().flatten()) {
            trip.settle(self.flow, logs);
            if !trip.is_over {
                self.floor = self.floor.min(trip.needs());
            }
        }
        self.settled = now;
        if self.src == node {
            let (place, since) = ((node, 0), (self.waited_until, now));
            logs.of(place).explain(place, (self.flow, self.class), since, &mut self.waited);
            self.waited_until = now;
        }
    }

    /// The packet that completes the flow has arrived.
    pub fn complete(&mut self, key: Key, now: Instant, logs: &mut Logs) {
        let Some(began) = self.began else { return };
        let flow = self.flow;
        let Some(trip) = self.trips.get(key) else { return };
        // Until it is known otherwise, all packets of a flow take the way of the last one.
        let second = trip.second_port.filter(|_| logs.by_direction);
        let last = trip.explain(flow, logs, Instant::ZERO, now);
        let made = last.first().map_or(now, |first| first.from);
        let mut parts: Vec<Part> = Vec::new();
        for mut part in part::clip(&self.source, began, made).chain(last) {
            let at_source = part.kind == Kind::Held && part.node == self.src;
            if let Some((node, port)) = second.filter(|_| at_source) {
                part.kind = Kind::HeldFor(node, port);
            }
            push(&mut parts, part);
        }
        self.story = Some(Story {
            flow,
            src: self.src,
            dst: self.dst,
            began,
            after: self.after,
            completed: now,
            parts,
            totals: Vec::new(),
            is_detailed: false,
            wrong_at: None,
            losses: std::mem::take(&mut self.losses),
            marks: std::mem::take(&mut self.marks).into_iter().collect(),
            cuts: std::mem::take(&mut self.cuts.all),
            packets: std::mem::take(&mut self.packets),
            stands_for: self.stands_for,
        });
        logs.unwatch((self.src, 0));
        for frames in [&mut self.trips, &mut self.answers] {
            frames.forget(Instant::NEVER, 0, logs);
        }
        let shaking = self.handshake.iter_mut().flatten();
        shaking.filter_map(|trip| trip.waits_at.take()).for_each(|place| logs.unwatch(place));
        (self.trips, self.answers, self.source) = Default::default();
        (self.waited, self.lost) = Default::default();
    }
}
