//! The buffer of a switch: admission of packets, and accounting of the bytes that they occupy.
//!
//! Every queued data packet is counted twice, as in 802.1Q and in switch chips: in the ingress
//! accounting, by its ingress port and class, and in the egress accounting, by its queue. The buffer
//! keeps the ingress accounting and the state of shared pools; queues count their own bytes.

#[cfg(test)]
mod conformance;
pub mod per_port;
mod per_queue;
pub mod shared;

use floodway_model::check::Findings;
use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Packet, Rate};

use super::QueueSpec;
use super::cell::Cell;
use super::check::Facts;
use super::flow_control::pausing::{Source, source_of};
use super::port::{DropReason, Port};
use super::queue::Queue;

floodway_model::family! {
    /// How the memory of a switch is divided.
    "switch.buffer" with Sharing {
        new(switch: &super::Spec, rates: &[Rate]);
        parameters {
            limit(queue: &QueueSpec) -> Limit;
            pools() -> Option<&shared::Spec>;
            at(switch: &str) -> Option<Spec>;
            check_beside(facts: &Facts<'_>, findings: &mut Findings<'_>);
        }
        state {
            admit(place: Place<'_>, bytes: u64) -> Result<(), DropReason>;
            share(source: Source, held: u64) -> Share;
            headroom_pool() -> Option<&shared::HeadroomPool>;
            audit(held: &[u64], backlogs: impl Iterator<Item = u64>, wrong: &mut Vec<String>);
        }
        mut state {
            join(source: Source, held: u64, queue: (usize, u64), bytes: u64);
            leave(source: Source, held: u64, queue: (usize, u64), bytes: u64);
            pass(source: Source, held: u64, bytes: u64);
        }
    }
    PerQueue = "per_queue" in per_queue:
        "Every egress queue, or ingress port and class, has `switch.queue.size` of its own.",
    PerPort = "per_port" in per_port:
        "Every egress port, or ingress port, has memory of its own that its queues share.",
    Shared = "shared" in shared:
        "One memory for all, shared by dynamic thresholds (Choudhury and Hahne, 1998).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::PerQueue(per_queue::Spec::default())
    }
}

/// Decides whether the buffer of a switch has room for a packet. Its state is kept in addition to the
/// ingress accounting of [`Buffer`].
pub trait Sharing {
    /// Its parameters.
    type Spec;

    /// The limit of each queue, of each port or of the switch, for checks and memory budgets.
    fn limit(spec: &Self::Spec, queue: &QueueSpec) -> Limit;

    /// Its pools, if queues of all ports share them.
    fn pools(_spec: &Self::Spec) -> Option<&shared::Spec> {
        None
    }

    /// The buffer of the switch of this name, if not all switches have the same.
    fn at(_spec: &Self::Spec, _switch: &str) -> Option<Spec> {
        None
    }

    /// Checks that it is compatible with the rest of the scenario. Whether a frame fits into the limit
    /// is checked elsewhere.
    fn check_beside(_spec: &Self::Spec, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// The state of an empty switch with ports of these rates.
    fn new(spec: &Self::Spec, switch: &super::Spec, rates: &[Rate]) -> Self;

    /// Whether there is room for a frame of `bytes`.
    fn admit(&self, place: Place<'_>, bytes: u64) -> Result<(), DropReason>;

    /// An admitted frame joins. `held`, the bytes of its source, and those of its queue, which come
    /// with its number, do not include it.
    #[inline]
    fn join(&mut self, _source: Source, _held: u64, _queue: (usize, u64), _bytes: u64) {}

    /// A frame has left. `held` and the bytes of its queue still include it.
    #[inline]
    fn leave(&mut self, _source: Source, _held: u64, _queue: (usize, u64), _bytes: u64) {}

    /// An admitted frame goes straight onto the wire. `held` does not include it.
    #[inline]
    fn pass(&mut self, _source: Source, _held: u64, _bytes: u64) {}

    /// The quantities that PFC compares if it is measured on the ingress pool. `source` holds `held`
    /// bytes.
    #[inline]
    fn share(&self, _source: Source, held: u64) -> Share {
        Share { held, in_headroom: 0, threshold: f64::INFINITY }
    }

    /// Its pool of headroom, if it has one.
    fn headroom_pool(&self) -> Option<&shared::HeadroomPool> {
        None
    }

    /// Appends errors of the accounting, given the bytes of all sources and of all data queues, port
    /// by port.
    fn audit(&self, _held: &[u64], _backlogs: impl Iterator<Item = u64>, _wrong: &mut Vec<String>) {
    }
}

/// A limit of queued bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part of the buffer that it limits.
    pub of: Holder,
    /// Maximum number of bytes; `None` if it depends on the other queues.
    pub bytes: Option<Bytes>,
    /// The field of a scenario that sets it.
    pub field: &'static str,
}

/// A part of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// An egress queue, or an ingress port and class.
    Queue,
    /// An egress port, or an ingress port.
    Port,
    /// All queues of a switch together.
    Switch,
}

/// The source of a frame, and the queue that it is bound for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The ingress port and class.
    pub source: Source,
    /// Bytes of all sources.
    pub ingress: &'a Ingress,
    /// The egress port.
    pub port: &'a Port,
    /// The queue there.
    pub queue: &'a Queue,
    /// Its number.
    pub number: usize,
}

/// The ingress accounting: bytes by [`Source`], including headroom.
#[derive(Debug)]
pub struct Ingress(Vec<u64>);

impl Ingress {
    /// Bytes of `source`.
    #[inline]
    pub fn held(&self, source: Source) -> u64 {
        self.0[source.index()]
    }

    /// Bytes that arrived by `port`, in all classes.
    pub fn held_of_port(&self, port: usize) -> u64 {
        let first = Source::new(port, 0).index();
        self.0[first..first + CLASSES].iter().sum()
    }
}

/// The buffer of one switch.
#[derive(Debug)]
pub struct Buffer {
    ingress: Ingress,
    state: State,
    /// Whether ports and classes share a pool of headroom.
    has_headroom_pool: bool,
}

/// The quantities of one source that PFC compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Bytes held, including headroom.
    pub held: u64,
    /// Bytes of these in the headroom.
    pub in_headroom: u64,
    /// Current dynamic threshold of the bytes outside the headroom; infinite if there is no ingress
    /// pool.
    pub threshold: f64,
}

impl Buffer {
    /// An empty buffer of a switch with ports of these rates.
    pub fn new(spec: &super::Spec, rates: &[Rate]) -> Self {
        let ingress = Ingress(vec![0; rates.len() * CLASSES]);
        let state = State::new(&spec.buffer, spec, rates);
        let has_headroom_pool = state.headroom_pool().is_some();
        Self { ingress, state, has_headroom_pool }
    }

    /// Whether there is room for a frame of `source` in a queue of `port`.
    #[inline(always)]
    pub fn admit(
        &self,
        source: Source,
        port: &Port,
        queue: usize,
        bytes: u16,
    ) -> Result<(), DropReason> {
        let State::PerQueue(state) = &self.state else {
            return self.admit_to_shared(source, port, queue, bytes);
        };
        let (ingress, of) = (&self.ingress, &port.queues[queue]);
        state.admit(Place { source, ingress, port, queue: of, number: queue }, bytes.into())
    }

    /// The same where queues share memory. Not inlined, so that its arguments stay in registers.
    #[inline(never)]
    fn admit_to_shared(
        &self,
        source: Source,
        port: &Port,
        queue: usize,
        bytes: u16,
    ) -> Result<(), DropReason> {
        let place = Place {
            source,
            ingress: &self.ingress,
            port,
            queue: &port.queues[queue],
            number: queue,
        };
        self.state.admit(place, bytes.into())
    }

    /// An admitted frame of `source` is about to join a queue of this number.
    #[inline]
    pub fn join(&mut self, source: Source, number: usize, queue: &Queue, bytes: u16) {
        let (held, bytes) = (&mut self.ingress.0[source.index()], u64::from(bytes));
        self.state.join(source, *held, (number, queue.backlog()), bytes);
        *held += bytes;
    }

    /// An admitted frame of `source` goes straight onto the wire.
    #[inline]
    pub fn pass(&mut self, source: Source, bytes: u16) {
        if self.has_headroom_pool {
            self.pass_by_pool(source, bytes);
        }
    }

    #[cold]
    fn pass_by_pool(&mut self, source: Source, bytes: u16) {
        self.state.pass(source, self.ingress.held(source), bytes.into());
    }

    /// A frame of `source` has left a queue of this number.
    #[inline]
    pub fn leave(&mut self, source: Source, number: usize, queue: &Queue, bytes: u16) {
        let (held, bytes) = (&mut self.ingress.0[source.index()], u64::from(bytes));
        self.state.leave(source, *held, (number, queue.backlog() + bytes), bytes);
        *held -= bytes;
    }

    /// Bytes that `source` holds, including headroom.
    #[inline]
    pub fn held(&self, source: Source) -> u64 {
        self.ingress.held(source)
    }

    /// Bytes that arrived by `port`, in all classes, including headroom.
    pub fn held_of_port(&self, port: usize) -> u64 {
        self.ingress.held_of_port(port)
    }

    /// The quantities that PFC compares if it is measured on the ingress pool.
    #[inline]
    pub fn share(&self, source: Source) -> Share {
        self.state.share(source, self.held(source))
    }

    /// The pool of headroom, if ports and classes share one.
    pub fn headroom_pool(&self) -> Option<&shared::HeadroomPool> {
        self.state.headroom_pool()
    }

    /// Errors of the accounting, one sentence each. It must agree with the packets in the data
    /// queues of the ports, which are the first `queues`, and at the inputs of a crossbar.
    pub fn audit<'a>(
        &self,
        ports: &[Port],
        queues: usize,
        at_inputs: impl Iterator<Item = &'a Packet>,
        cell: Cell,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let data = || ports.iter().flat_map(|port| &port.queues[..queues]);
        let mut found = vec![0; self.ingress.0.len()];
        let mut count = |packet: &Packet| {
            found[source_of(packet).index()] += u64::from(cell.occupied(packet.bytes));
        };
        data().flat_map(Queue::iter).for_each(&mut count);
        at_inputs.for_each(count);
        let egress: u64 = data().map(Queue::backlog).sum();
        let ingress: u64 = self.ingress.0.iter().sum();
        if egress != ingress {
            wrong.push(format!(
                "the ingress accounting has {ingress} bytes and the egress accounting {egress}"
            ));
        } else if found != self.ingress.0 {
            wrong.push(
                "the ingress accounting charges ports and classes with bytes of others".into(),
            );
        }
        self.state.audit(&self.ingress.0, data().map(Queue::backlog), &mut wrong);
        wrong
    }
}
