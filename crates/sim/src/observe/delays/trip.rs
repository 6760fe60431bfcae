//! A frame of a followed flow on its way from its sender to its receiver.

use floodway_model::{Class, FlowId, Instant, NodeId};

use super::part::{self, Kind, Part, push};
use super::port::{Logs, Place};

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Trip {
    /// Parts of its first hops, once these have been explained; without a gap.
    parts: Vec<Part>,
    /// The hops after them.
    hops: Vec<Hop>,
    /// The node at which it is, or to which it is on the way.
    pub node: NodeId,
    /// When it is handled there.
    pub at: Instant,
    /// The port at which it waits in a queue of a switch.
    pub waits_at: Option<Place>,
    /// The number that a TCP acknowledgement acknowledges.
    pub ack: u32,
    /// Whether a switch has marked it.
    pub is_marked: bool,
    /// Whether it has arrived.
    pub is_over: bool,
}

/// A hop: a wait in a node, and the link to the next one.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The egress port.
    pub port: usize,
    /// The class in which it is sent.
    pub class: Class,
    /// Its first bit is put on the wire.
    pub sent: Instant,
    /// Its last bit has been sent, and the interframe gap is over.
    pub until: Instant,
    /// When the next node handles it.
    pub handled: Instant,
    /// Whether the wait is that of a receiver that has not yet answered.
    pub answers: bool,
    /// The node.
    node: NodeId,
    /// When the node handled it.
    from: Instant,
}

impl Trip {
    /// A frame that a host has made.
    pub fn new(node: NodeId, at: Instant) -> Self {
        Self::with(Vec::new(), node, at)
    }

    /// The same with this room for its hops, which is empty.
    pub fn with(hops: Vec<Hop>, node: NodeId, at: Instant) -> Self {
        let parts = Vec::new();
        Self { parts, hops, node, at, waits_at: None, ack: 0, is_marked: false, is_over: false }
    }

    /// Its room for hops, emptied.
    pub fn into_room(mut self) -> Vec<Hop> {
        self.hops.clear();
        self.hops
    }

    /// The frame is put on the wire to `next`.
    pub fn hop(
        &mut self,
        (port, class): (usize, Class),
        (sent, until, handled): (Instant, Instant, Instant),
        next: NodeId,
        answers: bool,
    ) {
        let (node, from) = (self.node, self.at);
        self.hops.push(Hop { port, class, sent, until, handled, answers, node, from });
        (self.node, self.at) = (next, handled);
    }

    /// The earliest time that its explanation needs of logs.
    pub fn needs(&self) -> Instant {
        self.hops.first().map_or(self.at, |hop| hop.from)
    }

    /// What it spent an interval on, as far as that is known.
    pub fn explain(&self, flow: FlowId, logs: &Logs, from: Instant, to: Instant) -> Vec<Part> {
        let mut parts = Vec::new();
        part::clip(&self.parts, from, to).for_each(|part| push(&mut parts, part));
        for hop in self.hops.iter().filter(|hop| hop.from < to && hop.handled > from) {
            hop.explain(flow, logs, (from, to), &mut parts);
        }
        parts
    }

    /// Explains all hops, so that logs are no longer needed for them.
    pub fn settle(&mut self, flow: FlowId, logs: &Logs) {
        for hop in std::mem::take(&mut self.hops) {
            hop.explain(flow, logs, (hop.from, hop.handled), &mut self.parts);
        }
    }
}

impl Hop {
    fn explain(
        &self,
        flow: FlowId,
        logs: &Logs,
        (from, to): (Instant, Instant),
        parts: &mut Vec<Part>,
    ) {
        let place: Place = (self.node, self.port);
        let cut = |start: Instant, end: Instant| (start.max(from), end.min(to));
        let add = |parts: &mut Vec<Part>, (from, to), kind| {
            let (node, port) = place;
            push(parts, Part { from, to, kind, node, port, in_window: false });
        };
        let waited = cut(self.from, self.sent);
        match self.answers {
            true => add(parts, waited, Kind::Answer),
            false => logs.of(place).explain(place, (flow, self.class), waited, parts),
        }
        add(parts, cut(self.sent, self.until), Kind::Serialization);
        add(parts, cut(self.until, self.handled), Kind::Propagation);
    }
}
