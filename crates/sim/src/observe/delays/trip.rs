//! A frame of a followed flow on its way from its sender to its receiver.

use floodway_model::{Class, FlowId, Instant, NodeId};

use super::part::{self, Kind, Part, push};
use super::port::{Hold, Logs, Place, What, push_held};

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Trip {
    /// Parts of its first hops, once these have been explained; without a gap.
    parts: Vec<Part>,
    /// The hops after them.
    hops: Vec<Hop>,
    /// The egress port in the second node, once it has left that.
    pub second_port: Option<Place>,
    /// Number of hops so far.
    count: usize,
    /// The node at which it is, or to which it is on the way.
    pub node: NodeId,
    /// When it is handled there.
    pub at: Instant,
    /// The port at which it waits in a queue of a switch.
    pub waits_at: Option<Place>,
    /// What tells an acknowledgement without a time from others of its flow.
    pub ack: u64,
    /// The port at which a switch has marked it.
    pub marked_at: Option<Place>,
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
    /// The physical queue, with Backpressure Flow Control.
    pub queue: u8,
    /// Its first bit is put on the wire.
    pub sent: Instant,
    /// The same for the last time, if a retry sends it again.
    pub begins: Instant,
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
        Self {
            parts,
            hops,
            second_port: None,
            count: 0,
            node,
            at,
            waits_at: None,
            ack: 0,
            marked_at: None,
            is_over: false,
        }
    }

    /// Its room for hops, emptied.
    pub fn into_room(mut self) -> Vec<Hop> {
        self.hops.clear();
        self.hops
    }

    /// The frame is put on the wire to `next`.
    pub fn hop(
        &mut self,
        (port, class, queue): (usize, Class, u8),
        (sent, begins, until, handled): (Instant, Instant, Instant, Instant),
        next: NodeId,
        answers: bool,
    ) {
        let (node, from) = (self.node, self.at);
        self.count += 1;
        if self.count == 2 {
            self.second_port = Some((node, port));
        }
        self.hops.push(Hop {
            port,
            class,
            queue,
            sent,
            begins,
            until,
            handled,
            answers,
            node,
            from,
        });
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
        for (place, hop) in self.hops.iter().enumerate() {
            if hop.from < to && hop.handled > from {
                let next = self.hops.get(place + 1).map(Hop::place);
                hop.explain(flow, logs, (from, to), next, &mut parts);
            }
        }
        parts
    }

    /// Explains all hops, so that logs are no longer needed for them.
    pub fn settle(&mut self, flow: FlowId, logs: &Logs) {
        let hops = std::mem::take(&mut self.hops);
        for (place, hop) in hops.iter().enumerate() {
            let next = hops.get(place + 1).map(Hop::place);
            hop.explain(flow, logs, (hop.from, hop.handled), next, &mut self.parts);
        }
    }
}

impl Hop {
    fn place(&self) -> Place {
        (self.node, self.port)
    }

    /// `next` is the egress port in the next node, if the frame has left it already.
    fn explain(
        &self,
        flow: FlowId,
        logs: &Logs,
        (from, to): (Instant, Instant),
        next: Option<Place>,
        parts: &mut Vec<Part>,
    ) {
        let place = self.place();
        let cut = |start: Instant, end: Instant| (start.max(from), end.min(to));
        let add = |parts: &mut Vec<Part>, (from, to), kind| {
            let (node, port) = place;
            push(parts, Part { from, to, kind, node, port, in_window: false });
        };
        let waited = cut(self.from, self.sent);
        match self.answers {
            true => add(parts, waited, Kind::Answer),
            false if logs.hold_nothing() && !logs.by_direction => {
                logs.of(place).explain(place, (flow, self.class), waited, parts);
            }
            false => {
                let mut wait = Vec::new();
                logs.of(place).explain(place, (flow, self.class), waited, &mut wait);
                let (class, what) = (self.class.index(), What::Queue(self.queue));
                let held = logs.held(&Hold { node: self.node, port: self.port, class, what });
                for part in wait {
                    match (part.kind, next) {
                        // A packet of the flow is sent from the same queue before it is paused.
                        (Kind::OwnFlow, _) => push(parts, part),
                        (Kind::Held, Some((node, port))) if logs.by_direction => {
                            push(parts, Part { kind: Kind::HeldFor(node, port), ..part });
                        }
                        _ => push_held(parts, part, held),
                    }
                }
            }
        }
        add(parts, cut(self.sent, self.begins), Kind::Held);
        add(parts, cut(self.begins, self.until), Kind::Serialization);
        add(parts, cut(self.until, self.handled), Kind::Propagation);
    }
}
