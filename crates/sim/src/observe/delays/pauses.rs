//! Pauses with their causes: each is caused by a queue of the node that asked for it, and that
//! queue may be paused in turn. The root of a chain of pauses is the queue that is not paused. Source flow
//! control names the destination only: its root is the queue that leads to that host.
//!
//! With credit the sender of a link stops by itself, and the other end states the cause when the last frame for which
//! there was credit has arrived. With Backpressure Flow Control physical queues are paused one by one.

use std::sync::Arc;

use floodway_model::id::CLASSES;
use floodway_model::{FlowId, Instant, NodeId};
use rustc_hash::FxHashMap;

use super::port::{self, Held, Hold, Place};

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
    /// The queue that caused it; `None` if a host asked for it, or if credit was on its way.
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
    /// Number of the list of all flows in it, for [`Explained::filled_by`].
    ///
    /// [`Explained::filled_by`]: super::Explained::filled_by
    pub filling: u32,
}

/// Flows with their bytes, the one with most first.
pub type Filling = Arc<[(FlowId, u64)]>;

/// The reason for a pause.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Node, egress port and class of the queue.
    pub queue: (NodeId, usize, usize),
    /// The flows in it.
    pub flows: Filling,
    /// The pause of that queue, if it is paused, by its number.
    pub behind: Option<usize>,
}

/// All pauses of a run, in order of their start.
#[derive(Debug, Default)]
pub struct Pauses {
    /// The pauses.
    pub all: Vec<Pause>,
    /// The flows in queues, by the number in [`Queue::filling`].
    pub fillings: Vec<Filling>,
    /// The latest cause of a pause that a node requests at a port, by class and, with Backpressure Flow Control,
    /// physical queue.
    causes: FxHashMap<(Place, usize, Option<u8>), Cause>,
}

impl Pauses {
    /// A node is about to pause a class, or a physical queue of it, of the neighbor at its port `place`.
    pub fn requested(&mut self, place: Place, (class, queue): (usize, Option<u8>), cause: Cause) {
        self.causes.insert((place, class, queue), cause);
    }

    /// The cause of a pause that goes on is known now.
    pub fn caused(&mut self, number: usize, cause: &Cause) {
        if self.all[number].cause.is_none() {
            let (queue, root, depth) = self.chain(cause);
            let pause = &mut self.all[number];
            (pause.cause, pause.root, pause.depth) = (Some(queue), Some(root), depth);
        }
    }

    /// The queue that is the cause, the one at the root, and the number of pauses up to there.
    fn chain(&mut self, cause: &Cause) -> (Queue, Queue, usize) {
        let (node, port, class) = cause.queue;
        let filling = self.fillings.len() as u32;
        self.fillings.push(Arc::clone(&cause.flows));
        let flow = cause.flows[0].0;
        let queue = Queue { node, port, class, flow, filling };
        let behind = cause.behind.map(|number| self.all[number]);
        match behind.and_then(|pause| Some((pause.root?, pause.depth))) {
            Some((root, depth)) => (queue, root, depth + 1),
            None => (queue, queue, 1),
        }
    }

    /// A pause begins. Returns its number.
    fn begin(
        &mut self,
        (node, port): Place,
        class: usize,
        (from, to): (Instant, Instant),
        cause: Option<&Cause>,
    ) -> usize {
        let known = cause.map(|cause| self.chain(cause));
        self.all.push(Pause {
            node,
            port,
            class,
            from,
            to,
            cause: known.map(|(queue, _, _)| queue),
            root: known.map(|(_, root, _)| root),
            depth: known.map_or(1, |(_, _, depth)| depth),
        });
        self.all.len() - 1
    }

    /// A host holds back what it sends to a destination, because of a queue.
    pub fn holds(
        &mut self,
        hold: Hold,
        cause: &Cause,
        (from, to): (Instant, Instant),
        held: &mut Vec<Held>,
    ) {
        match held.last_mut().filter(|last| last.1 >= from) {
            Some((_, end, number)) => {
                *end = to.max(*end);
                self.all[*number].to = *end;
            }
            None => {
                held.push((
                    from,
                    to,
                    self.begin(hold.place(), hold.class, (from, to), Some(cause)),
                ));
            }
        }
    }

    /// A physical queue is paused or resumed by the neighbor at `peer`.
    pub fn queue_paused(
        &mut self,
        (hold, queue): (Hold, u8),
        stop: bool,
        now: Instant,
        peer: Place,
        held: &mut Vec<Held>,
    ) {
        match held.last_mut().filter(|last| last.1 > now) {
            Some((_, end, number)) if !stop => {
                *end = now;
                self.all[*number].to = now;
            }
            None if stop => {
                let cause = self.causes.get(&(peer, hold.class, Some(queue))).cloned();
                let time = (now, Instant::NEVER);
                let number = self.begin(hold.place(), hold.class, time, cause.as_ref());
                held.push((now, Instant::NEVER, number));
            }
            _ => {}
        }
    }

    /// A pause of classes of a port begins, is extended or ends, at the request of `peer`.
    pub fn paused(
        &mut self,
        place: Place,
        classes: u8,
        (now, to): (Instant, Instant),
        peer: Place,
        log: &mut port::Pauses,
    ) {
        for class in (0..CLASSES).filter(|class| classes & 1 << class != 0) {
            if let Some(number) = log.pause(class, now, to, self.all.len()) {
                self.all[number].to = to.max(now);
            } else if to > now {
                // PAUSE stops all classes, and its cause is stated for class 0.
                let stated = if classes == u8::MAX { 0 } else { class };
                let cause = self.causes.get(&(peer, stated, None)).cloned();
                self.begin(place, class, (now, to), cause.as_ref());
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
