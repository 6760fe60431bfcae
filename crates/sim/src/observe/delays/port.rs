//! What a port has sent while frames that are followed waited there, and when its classes were paused.

use std::collections::VecDeque;

use floodway_model::graph::{Node, NodeKind};
use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId};
use rustc_hash::FxHashMap;

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

/// A transmission, packed: a port has many.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its start in ps. The upper three bits are its class.
    from: u64,
    /// Its length in ps.
    length: u32,
    /// The number of its flow, or [`CONTROL`].
    flow: u32,
}

/// In place of the flow of MAC control frames.
const CONTROL: u32 = u32::MAX;
const CLASS_SHIFT: u32 = 61;

impl Entry {
    fn from(self) -> Instant {
        Instant(self.from & ((1 << CLASS_SHIFT) - 1))
    }

    fn to(self) -> Instant {
        Instant(self.from().0 + u64::from(self.length))
    }

    fn class(self) -> Class {
        Class((self.from >> CLASS_SHIFT) as u8)
    }
}

impl From<Entry> for Transmission {
    fn from(entry: Entry) -> Self {
        let flow = (entry.flow != CONTROL).then_some(FlowId(entry.flow));
        Self { from: entry.from(), to: entry.to(), flow, class: entry.class() }
    }
}

/// What a port has sent.
#[derive(Debug)]
struct Sent {
    entries: Vec<Entry>,
    /// Number of entries above which the log is shortened when it has no more room.
    full: usize,
}

/// The pauses of a port by class.
#[derive(Debug, Default)]
pub struct Pauses([VecDeque<Pause>; CLASSES]);

/// Transmissions that a log holds before it is shortened for the first time.
const ROOM: usize = 32;

impl Sent {
    /// Adds a frame, if there is room. Frames of a flow without a gap between them become one transmission. Returns
    /// whether it was added.
    #[inline(always)]
    fn add(&mut self, transmission: Transmission) -> bool {
        let Transmission { from, to, flow, class } = transmission;
        let flow = flow.map_or(CONTROL, |flow| flow.0);
        let length = to.0 - from.0;
        let packed = from.0 | u64::from(class.0) << CLASS_SHIFT;
        if let Some(last) = self.entries.last_mut()
            && last.from + u64::from(last.length) == packed
            && last.flow == flow
            && let whole = u64::from(last.length) + length
            && whole <= u64::from(u32::MAX)
        {
            last.length = whole as u32;
            return true;
        }
        if self.entries.len() == self.entries.capacity() || length > u64::from(u32::MAX) {
            return false;
        }
        self.entries.push(Entry { from: packed, length: length as u32, flow });
        true
    }

    /// Adds a frame, and makes room for it. One that lasts longer than an entry can say, on a link of some megabits
    /// per second, becomes several.
    fn push(&mut self, transmission: Transmission) {
        let Transmission { from, to, flow, class } = transmission;
        let flow = flow.map_or(CONTROL, |flow| flow.0);
        let (mut from, end) = (from.0, to.0);
        while from < end {
            let length = (end - from).min(u64::from(u32::MAX));
            let packed = from | u64::from(class.0) << CLASS_SHIFT;
            self.entries.push(Entry { from: packed, length: length as u32, flow });
            from += length;
        }
    }

    /// Forgets what ended before `horizon`.
    fn shorten(&mut self, horizon: Instant) {
        let old = self.entries.partition_point(|of| of.to() <= horizon);
        self.entries.drain(..old);
        self.full = (self.entries.len() * 2).max(ROOM);
    }
}

impl Pauses {
    /// Forgets what ended before `horizon`.
    fn shorten(&mut self, horizon: Instant) {
        for pauses in &mut self.0 {
            let old = pauses.partition_point(|pause| pause.to <= horizon);
            // The last one may be extended.
            pauses.drain(..old.min(pauses.len().saturating_sub(1)));
        }
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
        let pauses = &mut self.0[class];
        if let Some(last) = pauses.back_mut().filter(|last| last.to >= now) {
            last.to = to.max(now);
            return Some(last.number);
        }
        if to > now {
            pauses.push_back(Pause { from: now, to, number });
        }
        None
    }
}

/// What is held back apart from classes of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The node.
    pub node: NodeId,
    /// The port there.
    pub port: usize,
    /// The class.
    pub class: usize,
    /// What exactly.
    pub what: What,
}

/// A part of the traffic of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// What is bound for a host (Source Flow Control).
    Destination(NodeId),
    /// A physical queue (Backpressure Flow Control).
    Queue(u8),
}

/// A time in which something is held back, with the number of the pause.
pub type Held = (Instant, Instant, usize);

impl Hold {
    /// The port.
    pub fn place(&self) -> Place {
        (self.node, self.port)
    }
}

/// Appends a part, of which what lies in these times is a pause.
pub fn push_held(parts: &mut Vec<Part>, part: Part, held: &[Held]) {
    let mut from = part.from;
    let first = held.partition_point(|held| held.1 <= from);
    for &(since, until, pause) in held[first..].iter().take_while(|held| held.0 < part.to) {
        push(parts, Part { from, to: since, ..part });
        from = from.max(since);
        push(parts, Part { from, to: until.min(part.to), kind: Kind::Paused(pause), ..part });
        from = from.max(until);
    }
    push(parts, Part { from, ..part });
}

/// The log of a port.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    sent: &'a [Entry],
    pauses: &'a [VecDeque<Pause>; CLASSES],
}

impl Log<'_> {
    /// The current pause of a class, by its number.
    pub fn paused(&self, class: usize, now: Instant) -> Option<usize> {
        self.pauses[class].back().filter(|last| last.to > now).map(|last| last.number)
    }

    /// The same of a class that waits for credit: each credit ends a pause and soon the next one begins, so the last one
    /// counts until it is as long ago as it lasted.
    pub fn lacks_credit(&self, class: usize, now: Instant) -> Option<usize> {
        let last = self.pauses[class].back()?;
        let goes_on = last.to > now || now.since(last.to) < last.to.since(last.from);
        goes_on.then_some(last.number)
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
            let first = self.sent.partition_point(|of| of.to() <= from);
            self.sent[first..].iter().copied().map(Transmission::from).peekable()
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

/// The logs of all ports. They are found by the node and port at the other end of the link, which is what a transmitter
/// has at hand.
#[derive(Debug)]
pub struct Logs {
    sent: Vec<Sent>,
    pauses: Vec<Pauses>,
    /// By port, the number of frames that are followed and wait to be sent to this end of its link, and of flows that
    /// are followed and begin at the other end.
    watchers: Vec<u32>,
    /// When something was held back, in order.
    holds: FxHashMap<Hold, Vec<Held>>,
    /// Whether queues of ports have rates by direction (Directional Rate Control).
    pub by_direction: bool,
    /// By node, the place of its first port in lists of all ports.
    first: Vec<u32>,
    /// By port, the node and port at the other end of its link.
    ends: Vec<Place>,
    /// By node, whether it is a host.
    hosts: Vec<bool>,
}

impl Logs {
    /// Empty logs.
    pub fn new(nodes: &[Node], by_direction: bool) -> Self {
        let mut first = Vec::with_capacity(nodes.len());
        let mut ends = Vec::new();
        for node in nodes {
            first.push(ends.len() as u32);
            ends.extend(node.ports.iter().map(|end| (end.peer, end.peer_port.index())));
        }
        let sent = || Sent { entries: Vec::new(), full: ROOM };
        Self {
            sent: ends.iter().map(|_| sent()).collect(),
            pauses: ends.iter().map(|_| Pauses::default()).collect(),
            watchers: vec![0; ends.len()],
            holds: FxHashMap::default(),
            by_direction,
            first,
            ends,
            hosts: nodes.iter().map(|node| node.kind == NodeKind::Host).collect(),
        }
    }

    #[inline(always)]
    fn index(&self, (node, port): Place) -> usize {
        self.first[node.index()] as usize + port
    }

    /// The node and port at the other end of a link.
    pub fn other_end(&self, place: Place) -> Place {
        self.ends[self.index(place)]
    }

    /// Whether a port is that of a host.
    pub fn is_of_host(&self, place: Place) -> bool {
        self.hosts[place.0.index()]
    }

    /// Whether what is on its way to this end of a link is logged.
    #[inline(always)]
    pub fn are_watched(&self, end: Place) -> bool {
        self.watchers[self.index(end)] > 0
    }

    /// From now on what this port sends is logged. Returns whether it was not before.
    pub fn watch(&mut self, place: Place) -> bool {
        let index = self.index(self.other_end(place));
        self.watchers[index] += 1;
        self.watchers[index] == 1
    }

    /// One reason less to log what this port sends.
    pub fn unwatch(&mut self, place: Place) {
        let index = self.index(self.other_end(place));
        self.watchers[index] -= 1;
    }

    /// Adds a frame that is on its way to this end of a link, if there is room. Returns whether it was added.
    #[inline(always)]
    pub fn add(&mut self, end: Place, transmission: Transmission) -> bool {
        let index = self.index(end);
        self.sent[index].add(transmission)
    }

    /// Adds a frame, and makes room for it.
    pub fn push(&mut self, end: Place, transmission: Transmission) {
        let index = self.index(end);
        self.sent[index].push(transmission);
    }

    /// Whether the log of what is on its way to this end of a link should be shortened before it grows.
    pub fn is_full(&self, end: Place) -> bool {
        let sent = &self.sent[self.index(end)];
        sent.entries.len() >= sent.full
    }

    /// The log of a port.
    pub fn of(&self, place: Place) -> Log<'_> {
        let index = self.index(self.other_end(place));
        Log { sent: &self.sent[index].entries, pauses: &self.pauses[index].0 }
    }

    /// The pauses of a port.
    pub fn pauses_mut(&mut self, place: Place) -> &mut Pauses {
        let index = self.index(self.other_end(place));
        &mut self.pauses[index]
    }

    /// When this was held back.
    pub fn held(&self, hold: &Hold) -> &[Held] {
        self.holds.get(hold).map_or(&[], Vec::as_slice)
    }

    /// The same, to change it.
    pub fn held_mut(&mut self, hold: Hold) -> &mut Vec<Held> {
        self.holds.entry(hold).or_default()
    }

    /// Whether nothing is ever held back but classes of ports.
    pub fn hold_nothing(&self) -> bool {
        self.holds.is_empty()
    }

    /// Forgets what ended before `horizon`, of a port. Returns the number of transmissions that are left.
    pub fn shorten(&mut self, place: Place, horizon: Instant) -> usize {
        let index = self.index(self.other_end(place));
        self.sent[index].shorten(horizon);
        self.pauses[index].shorten(horizon);
        self.sent[index].entries.len()
    }
}
