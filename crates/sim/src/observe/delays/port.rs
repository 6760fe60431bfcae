//! What a port has sent, and when its classes were paused: as far back as a frame that is followed
//! has waited there.

use std::collections::VecDeque;

use floodway_model::graph::Node;
use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId};

use super::part::{Kind, Part, push};

/// A frame that a port has sent.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Its first bit is put on the wire.
    pub from: Instant,
    /// Its last bit has been sent, and the interframe gap is over.
    pub to: Instant,
    /// Its flow; `None` for MAC control frames.
    pub flow: Option<FlowId>,
    /// The class in which it was sent.
    pub class: Class,
}

/// An interval in which a class of a port is paused.
#[derive(Clone, Copy, Debug)]
struct Pause {
    from: Instant,
    /// The known end; later if the pause is extended.
    to: Instant,
    /// Its number among all pauses.
    number: usize,
}

/// The log of a port.
#[derive(Debug, Default)]
pub struct Log {
    sent: VecDeque<Transmission>,
    pauses: [VecDeque<Pause>; CLASSES],
    /// Length at which the log is shortened next.
    full: usize,
}

/// Transmissions that a log holds before it is shortened for the first time.
const ROOM: usize = 64;

impl Log {
    /// Adds a frame. Frames of a flow without a gap between them become one transmission. Returns whether
    /// the log should be shortened.
    pub fn add(&mut self, transmission: Transmission) -> bool {
        if let Some(last) = self.sent.back_mut()
            && last.to == transmission.from
            && (last.flow, last.class) == (transmission.flow, transmission.class)
        {
            last.to = transmission.to;
            return false;
        }
        self.sent.push_back(transmission);
        self.sent.len() > self.full.max(ROOM)
    }

    /// Number of transmissions in it.
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    /// Forgets what ended before `horizon`.
    pub fn shorten(&mut self, horizon: Instant) {
        let old = self.sent.partition_point(|of| of.to <= horizon);
        self.sent.drain(..old);
        for pauses in &mut self.pauses {
            let old = pauses.partition_point(|pause| pause.to <= horizon);
            // The last one may be extended.
            pauses.drain(..old.min(pauses.len().saturating_sub(1)));
        }
        self.full = self.sent.len() * 2;
    }

    /// A pause of a class begins, is extended, or ends. Returns the number of the pause that it
    /// extends or ends; `number` is that of a new one.
    pub fn pause(
        &mut self,
        class: usize,
        now: Instant,
        to: Instant,
        number: usize,
    ) -> Option<usize> {
        let pauses = &mut self.pauses[class];
        if let Some(last) = pauses.back_mut().filter(|last| last.to >= now) {
            last.to = to.max(now);
            return Some(last.number);
        }
        if to > now {
            pauses.push_back(Pause { from: now, to, number });
        }
        None
    }

    /// The current pause of a class, by its number.
    pub fn paused(&self, class: usize, now: Instant) -> Option<usize> {
        self.pauses[class].back().filter(|last| last.to > now).map(|last| last.number)
    }

    /// Why a frame of a flow, sent in `class`, had to wait from `from` to `to`: appends parts without gaps.
    /// A frame of its class that is on the wire comes before a pause of the class, and that before frames
    /// of other classes.
    pub fn explain(
        &self,
        (node, port): Place,
        (flow, class): (FlowId, Class),
        (from, to): (Instant, Instant),
        parts: &mut Vec<Part>,
    ) {
        if from >= to {
            return;
        }
        let mut sent = {
            let first = self.sent.partition_point(|of| of.to <= from);
            self.sent.range(first..).copied().peekable()
        };
        let pauses = &self.pauses[usize::from(class.0)];
        let mut pauses = {
            let first = pauses.partition_point(|pause| pause.to <= from);
            pauses.range(first..).copied().peekable()
        };
        let mut now = from;
        while now < to {
            while sent.next_if(|of| of.to <= now).is_some() {}
            while pauses.next_if(|pause| pause.to <= now).is_some() {}
            let (next_frame, next_pause) = (sent.peek().copied(), pauses.peek().copied());
            let frame = next_frame.filter(|of| of.from <= now);
            let pause = next_pause.filter(|pause| pause.from <= now);
            let next_frame = next_frame.map_or(to, |of| of.from);
            let next_pause = next_pause.map_or(to, |pause| pause.from);
            let begins = |at: Instant| if at > now { at } else { to };
            let (kind, until) = match (frame, pause) {
                (Some(of), _) if of.flow.is_some() && of.class == class => {
                    let other = of.flow.expect("it has one");
                    let kind = if other == flow { Kind::OwnFlow } else { Kind::OtherFlow(other) };
                    (kind, of.to)
                }
                (_, Some(pause)) => {
                    // A frame of the class may have begun after the pause ended only.
                    (Kind::Paused(pause.number), pause.to)
                }
                (Some(of), None) => {
                    let kind = of.flow.map_or(Kind::Control, Kind::OtherClass);
                    (kind, of.to.min(begins(next_pause)))
                }
                (None, None) => (Kind::Held, begins(next_frame).min(begins(next_pause))),
            };
            let until = until.min(to);
            push(parts, Part { from: now, to: until, kind, node, port, in_window: false });
            now = until;
        }
    }
}

/// A port of a node.
pub type Place = (NodeId, usize);

/// The logs of all ports.
#[derive(Debug)]
pub struct Logs(Vec<Vec<Log>>);

impl Logs {
    /// Empty logs.
    pub fn new(nodes: &[Node]) -> Self {
        let empty = |node: &Node| node.ports.iter().map(|_| Log::default()).collect();
        Self(nodes.iter().map(empty).collect())
    }

    /// The log of a port.
    pub fn of(&self, (node, port): Place) -> &Log {
        &self.0[node.index()][port]
    }

    /// The log of a port.
    pub fn of_mut(&mut self, (node, port): Place) -> &mut Log {
        &mut self.0[node.index()][port]
    }
}
