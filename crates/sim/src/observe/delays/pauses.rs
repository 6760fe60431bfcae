//! Pauses with their causes: each is caused by a queue of the node that asked for it, and that
//! queue may be paused in turn. The root of a chain of pauses is the queue that is not paused. Source flow
//! control names the destination only: its root is the queue that leads to that host.

use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId};
use rustc_hash::FxHashMap;

use super::port::{self, Log};

/// A pause of a class at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The node that is paused.
    pub node: NodeId,
    /// The port there.
    pub port: usize,
    /// The class.
    pub class: usize,
    /// Its start.
    pub from: Instant,
    /// Its end, or the end of the run.
    pub to: Instant,
    /// The queue that caused it; `None` if a host asked for it.
    pub cause: Option<Queue>,
    /// The queue at the root; the same as `cause` if that is not paused.
    pub root: Option<Queue>,
    /// Number of pauses from this one to the root, at least 1.
    pub depth: usize,
}

/// A queue that fills up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue {
    /// The switch.
    pub node: NodeId,
    /// The egress port.
    pub port: usize,
    /// The class.
    pub class: usize,
    /// The flow with most bytes in it when the pause was requested.
    pub flow: FlowId,
}

/// All pauses of a run, in order of their start.
#[derive(Debug, Default)]
pub struct Pauses {
    /// The pauses.
    pub all: Vec<Pause>,
    /// The latest cause of a pause that a node requests at a port, by class.
    causes: FxHashMap<(NodeId, usize, usize), (Queue, Queue, usize)>,
    /// By host, destination and class: when source flow control held traffic back, with the numbers of
    /// these pauses.
    held: FxHashMap<(NodeId, NodeId, Class), Vec<Held>>,
}

/// A time in which a host held back traffic to a destination, with the number of the pause.
pub type Held = (Instant, Instant, usize);

impl Pauses {
    /// A node is about to pause the neighbor at `port`, because of a queue. `log` is that of the
    /// port of the queue.
    pub fn caused(
        &mut self,
        (node, port, class): (NodeId, usize, usize),
        queue: Queue,
        log: &Log<'_>,
        now: Instant,
    ) {
        let behind = log.paused(queue.class, now).map(|number| self.all[number]);
        let (root, depth) = match behind.and_then(|pause| Some((pause.root?, pause.depth))) {
            Some((root, depth)) => (root, depth + 1),
            None => (queue, 1),
        };
        self.causes.insert((node, port, class), (queue, root, depth));
    }

    /// A node is about to pause the neighbor at `port`, because of a queue elsewhere.
    pub fn causes(&mut self, place: (NodeId, usize, usize), queue: Queue) {
        self.causes.insert(place, (queue, queue, 1));
    }

    /// A host holds back what it sends to a destination, in the class in which it begins.
    pub fn holds(
        &mut self,
        place: (NodeId, NodeId, Class),
        queue: Queue,
        (from, to): (Instant, Instant),
    ) {
        let held = self.held.entry(place).or_default();
        match held.last_mut().filter(|last| last.1 >= from) {
            Some((_, end, number)) => {
                *end = to.max(*end);
                self.all[*number].to = *end;
            }
            None => {
                held.push((from, to, self.all.len()));
                let (cause, root) = (Some(queue), Some(queue));
                let (node, class) = (place.0, place.2.index());
                self.all.push(Pause { node, port: 0, class, from, to, cause, root, depth: 1 });
            }
        }
    }

    /// When a host held back traffic to a destination in a class, in order.
    pub fn held(&self, place: (NodeId, NodeId, Class)) -> &[Held] {
        self.held.get(&place).map_or(&[], Vec::as_slice)
    }

    /// A pause of classes of a port begins, is extended or ends, at the request of `peer`.
    pub fn paused(
        &mut self,
        (node, port): (NodeId, usize),
        classes: u8,
        (now, to): (Instant, Instant),
        peer: (NodeId, usize),
        log: &mut port::Pauses,
    ) {
        for class in (0..CLASSES).filter(|class| classes & 1 << class != 0) {
            if let Some(number) = log.pause(class, now, to, self.all.len()) {
                self.all[number].to = to.max(now);
            } else if to > now {
                let cause = |class| self.causes.get(&(peer.0, peer.1, class)).copied();
                // PAUSE stops all classes, and its cause is stated for class 0.
                let cause = cause(if classes == u8::MAX { 0 } else { class });
                self.all.push(Pause {
                    node,
                    port,
                    class,
                    from: now,
                    to,
                    cause: cause.map(|(cause, _, _)| cause),
                    root: cause.map(|(_, root, _)| root),
                    depth: cause.map_or(1, |(_, _, depth)| depth),
                });
            }
        }
    }

    /// The run has ended.
    pub fn finish(&mut self, now: Instant) {
        for pause in &mut self.all {
            pause.to = pause.to.min(now);
        }
    }
}
