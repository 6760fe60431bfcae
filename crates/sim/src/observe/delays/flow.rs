//! A flow that is followed: its frames on their way, and what its sender waited for.

use std::collections::BTreeMap;

use floodway_model::{Body, FlowId, FlowSpec, Instant, NodeId, Packet};

use super::Story;
use super::part::{self, Kind, Part, push};
use crate::switch::port::DropReason;

/// A transmission of a packet: when it left the sender, and its number. In an acknowledgement, the
/// transmission that it answers and the number that it acknowledges.
pub type Key = (Instant, u32);

/// The transmission that a data frame is.
pub fn data_key(packet: &Packet) -> Option<Key> {
    match packet.body {
        Body::Data { psn, sent_at, .. }
        | Body::Segment { psn, sent_at, .. }
        | Body::Trimmed { psn, sent_at } => Some((sent_at, psn)),
        _ => None,
    }
}

/// The transmission that an acknowledgement answers.
pub fn answer_key(packet: &Packet) -> Option<Key> {
    match packet.body {
        Body::Ack { psn, sent_at, .. } => Some((sent_at, psn)),
        _ => None,
    }
}

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Trip {
    /// Its parts so far, without a gap.
    pub parts: Vec<Part>,
    /// The node at which it is, or to which it is on the way.
    pub node: NodeId,
    /// When it is handled there.
    pub at: Instant,
    /// Where and why it was lost.
    pub lost: Option<(NodeId, DropReason)>,
    /// Whether it has arrived or was lost.
    pub is_over: bool,
}

impl Trip {
    /// A frame that a host has made.
    pub fn new(node: NodeId, at: Instant) -> Self {
        Self { parts: Vec::new(), node, at, lost: None, is_over: false }
    }
}

/// Transmissions of a flow that are remembered. Those that a sender may still wait for are among
/// them, except with windows of more packets: of such a packet only that the sender waited for it is
/// known.
const KEPT: usize = 4_096;

/// A flow that is followed.
#[derive(Debug)]
pub struct Flow {
    /// Its source.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// When it began; `None` until then.
    pub began: Option<Instant>,
    /// When its last packet left the sender; at first its start.
    pub emitted: Instant,
    /// When the rate allowed the next packet.
    eligible: Instant,
    /// Acknowledgements that have arrived since its last packet left.
    pub arrived: Vec<(Instant, Key)>,
    /// The number of the first packet that was never sent.
    unsent: u32,
    /// Its data packets on their way, and those that have arrived not long ago.
    pub trips: BTreeMap<Key, Trip>,
    /// Its acknowledgements, likewise.
    pub answers: BTreeMap<Key, Trip>,
    /// Parts of the time of the sender.
    source: Vec<Part>,
    /// Why each retransmitted packet was sent again.
    pub losses: Vec<(u32, NodeId, DropReason)>,
    /// The result.
    pub story: Option<Story>,
}

impl Flow {
    /// A flow that has not begun.
    pub fn new(spec: &FlowSpec) -> Self {
        Self {
            src: spec.src,
            dst: spec.dst,
            began: None,
            emitted: spec.start,
            eligible: spec.start,
            arrived: Vec::new(),
            unsent: 0,
            trips: BTreeMap::new(),
            answers: BTreeMap::new(),
            source: Vec::new(),
            losses: Vec::new(),
            story: None,
        }
    }

    /// It begins.
    pub fn begin(&mut self, now: Instant) {
        self.began = Some(now);
        (self.emitted, self.eligible) = (now, now);
    }

    /// A packet leaves the sender now, which had something to send from `ready` on, and the next one
    /// may follow at `eligible`. `waited` says what the port of the host did since the one before.
    pub fn on_departed(
        &mut self,
        key: Key,
        waited: Vec<Part>,
        (ready, now, eligible): (Instant, Instant, Instant),
    ) {
        let is_repeated = key.1 < self.unsent;
        let by = self.arrived.iter().rev().find(|by| by.0 == ready).map(|by| by.1);
        self.arrived.clear();
        let ready = ready.clamp(self.emitted, now);
        let allowed = self.eligible.clamp(self.emitted, now);
        for part in waited {
            if part.kind == Kind::OwnFlow {
                push(&mut self.source, Part { kind: Kind::Serialization, ..part });
                continue;
            }
            let cut = |from: Instant, to: Instant| (part.from.max(from), part.to.min(to));
            let add = |parts: &mut Vec<Part>, (from, to), kind| {
                push(parts, Part { from, to, kind, ..part });
            };
            add(&mut self.source, cut(Instant::ZERO, allowed), Kind::Rate);
            let (from, to) = cut(allowed, ready);
            if is_repeated {
                add(&mut self.source, (from, to), Kind::Recovery);
            } else if from < to {
                let part = Part { from, to, kind: Kind::Window, ..part };
                self.round_trip(part, by);
            }
            add(&mut self.source, cut(allowed.max(ready), Instant::NEVER), part.kind);
        }
        if is_repeated
            && let Some((node, reason)) =
                self.trips.iter().rev().find_map(|(of, trip)| trip.lost.filter(|_| of.1 == key.1))
        {
            self.losses.push((key.1, node, reason));
        }
        if let Some((answered, _)) = by {
            self.trips = self.trips.split_off(&(answered, 0));
            self.answers = self.answers.split_off(&(answered, 0));
        }
        while self.trips.len() > KEPT {
            self.trips.pop_first();
        }
        while self.answers.len() > KEPT {
            self.answers.pop_first();
        }
        self.unsent = self.unsent.max(key.1 + 1);
        (self.emitted, self.eligible) = (now, eligible);
    }

    /// A wait for a window is that part of the round trip of the packet whose acknowledgement ended
    /// it, as far as that is known.
    fn round_trip(&mut self, wait: Part, by: Option<Key>) {
        let answer = by.and_then(|key| self.answers.get(&key));
        let data =
            by.and_then(|(sent_at, _)| self.trips.range((sent_at, 0)..=(sent_at, u32::MAX)).next());
        let mut from = wait.from;
        if let (Some(answer), Some((_, data))) = (answer, data) {
            let all = part::clip(&data.parts, wait.from, wait.to);
            let all = all.chain(part::clip(&answer.parts, wait.from, wait.to));
            for piece in all {
                push(&mut self.source, Part { from, to: piece.from, ..wait });
                // What two trips overlap in belongs to the first.
                let begin = piece.from.max(from);
                push(&mut self.source, Part { from: begin, in_window: true, ..piece });
                from = from.max(piece.to);
            }
        }
        push(&mut self.source, Part { from, ..wait });
    }

    /// The packet that completes the flow has arrived.
    pub fn complete(&mut self, flow: FlowId, key: Key, now: Instant) {
        let (Some(began), Some(trip)) = (self.began, self.trips.get(&key)) else { return };
        let made = trip.parts.first().map_or(now, |first| first.from);
        let mut parts: Vec<Part> = Vec::new();
        part::clip(&self.source, began, made).for_each(|part| push(&mut parts, part));
        trip.parts.iter().for_each(|part| push(&mut parts, *part));
        let losses = std::mem::take(&mut self.losses);
        self.story = Some(Story {
            flow,
            src: self.src,
            dst: self.dst,
            began,
            completed: now,
            parts,
            losses,
        });
        (self.trips, self.answers, self.source) = Default::default();
    }
}
