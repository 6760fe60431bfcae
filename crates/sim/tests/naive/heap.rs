//! The event heap of the whole network.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use floodway_model::{Instant, NodeId};

use super::dcqcn::Timer;
use super::frame::{Frame, Kind};

/// What happens at a node.
#[derive(Clone, Debug)]
pub enum Event {
    /// A timer of a flow's rate control expires.
    Rate(Timer, u32),
    /// A flow begins.
    Start(u32),
    /// A flow in this slot of its host may have waited too long.
    Timeout { slot: usize, flow: u32 },
    /// A port may be able to send.
    Send(usize),
    /// The pause of a class at a port may have to be refreshed.
    Refresh { port: usize, class: usize },
    /// A frame has arrived.
    Arrival { port: usize, frame: Frame },
}

impl Event {
    /// The order of simultaneous events at a node: what it does by itself, then what arrives
    /// (decision 2), pause frames first, each by port.
    fn rank(&self) -> (u8, usize, usize) {
        match self {
            Self::Rate(timer, flow) => (*timer as u8, *flow as usize, 0),
            Self::Start(flow) => (10, *flow as usize, 0),
            Self::Timeout { slot, flow } => (11, *slot, *flow as usize),
            Self::Send(port) => (12, *port, 0),
            Self::Refresh { port, class } => (13, *port, *class),
            Self::Arrival { port, frame } => match frame.kind {
                Kind::Pause { .. } => (14, *port, 0),
                _ => (15, *port, 0),
            },
        }
    }
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    node: NodeId,
    number: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> (Instant, NodeId, (u8, usize, usize), u64) {
        (self.at, self.node, self.event.rank(), self.number)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, which a [`BinaryHeap`] gives first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// All events to come.
#[derive(Debug, Default)]
pub struct Heap {
    entries: BinaryHeap<Entry>,
    pushed: u64,
    /// The time of the last event.
    now: Instant,
}

impl Heap {
    pub fn push(&mut self, at: Instant, node: NodeId, event: Event) {
        assert!(at >= self.now, "an event in the past");
        self.pushed += 1;
        self.entries.push(Entry { at, node, number: self.pushed, event });
    }

    /// The next event, if it is before `end`.
    pub fn pop_before(&mut self, end: Instant) -> Option<(Instant, NodeId, Event)> {
        let entry = self.entries.pop().filter(|entry| entry.at < end)?;
        self.now = entry.at;
        Some((entry.at, entry.node, entry.event))
    }
}
