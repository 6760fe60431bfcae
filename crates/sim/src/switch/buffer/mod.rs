//! The memory of a switch: how much of it a packet may take, and who holds what.
//!
//! Every data packet that waits is counted twice, as 802.1Q and switch chips see it: in the ingress
//! book, by the port and class in which it came, and in the egress book, by the queue in which it
//! waits. The buffer keeps the ingress book and what memory shares; queues count their own bytes.

pub mod per_port;
mod per_queue;
pub mod shared;

use floodway_model::id::CLASSES;
use floodway_model::{Packet, Rate};

use super::flow_control::pausing::{Source, source_of};
use super::port::{DropReason, Port};
use super::queue::Queue;

floodway_model::family! {
    /// How the memory of a switch is divided.
    "switch.buffer":
    PerQueue = "per_queue" (per_queue::Spec):
        "Every egress queue, or ingress port and class, has `switch.queue.size` of its own.",
    PerPort = "per_port" (per_port::Spec):
        "Every egress port, or ingress port, has memory of its own that its queues share.",
    Shared = "shared" (shared::Spec):
        "One memory for all, shared by dynamic thresholds (Choudhury and Hahne, 1998).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::PerQueue(per_queue::Spec::default())
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Buffer {
    /// Bytes by [`Source`], headroom included: the ingress book.
    ingress: Vec<u64>,
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    PerQueue(per_queue::Memory),
    PerPort(per_port::Memory),
    Shared(shared::Memory),
}

/// What PFC compares, of one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Bytes held, headroom included.
    pub held: u64,
    /// Bytes of these in the headroom.
    pub in_headroom: u64,
    /// The most bytes that may be held outside the headroom now, by the dynamic threshold; infinite
    /// if no pool limits the ingress.
    pub threshold: f64,
}

impl Buffer {
    /// The empty memory of a switch with ports of these rates.
    pub fn new(spec: &super::Spec, rates: &[Rate]) -> Self {
        let memory = match &spec.buffer {
            Spec::PerQueue(_) => Memory::PerQueue(per_queue::Memory::new(spec)),
            Spec::PerPort(port) => Memory::PerPort(per_port::Memory::new(port, spec)),
            Spec::Shared(shared) => Memory::Shared(shared::Memory::new(shared, spec, rates)),
        };
        Self { ingress: vec![0; rates.len() * CLASSES], memory }
    }

    /// Whether a frame of `source` finds room to wait in a queue of `port`.
    #[inline]
    pub fn admit(
        &self,
        source: Source,
        port: &Port,
        queue: usize,
        bytes: u16,
    ) -> Result<(), DropReason> {
        let (queue, bytes) = (&port.queues[queue], u64::from(bytes));
        match &self.memory {
            Memory::PerQueue(memory) => memory.admit(source, self, queue.backlog(), bytes),
            Memory::PerPort(memory) => {
                memory.admit(self.held_of_port(source.port()), port.occupancy.bytes(), bytes)
            }
            Memory::Shared(memory) => {
                memory.admit(source, self.held(source), queue.backlog(), bytes)
            }
        }
    }

    /// An admitted frame of `source` is about to join `queue`.
    #[inline]
    pub fn join(&mut self, source: Source, queue: &Queue, bytes: u16) {
        let (held, bytes) = (&mut self.ingress[source.index()], u64::from(bytes));
        if let Memory::Shared(memory) = &mut self.memory {
            memory.join(source, *held, queue.backlog(), bytes);
        }
        *held += bytes;
    }

    /// A frame of `source` has left `queue`.
    #[inline]
    pub fn leave(&mut self, source: Source, queue: &Queue, bytes: u16) {
        let (held, bytes) = (&mut self.ingress[source.index()], u64::from(bytes));
        if let Memory::Shared(memory) = &mut self.memory {
            memory.leave(source, *held, queue.backlog() + bytes, bytes);
        }
        *held -= bytes;
    }

    /// Bytes that `source` holds, headroom included.
    #[inline]
    pub fn held(&self, source: Source) -> u64 {
        self.ingress[source.index()]
    }

    /// Bytes that came in by `port`, of all classes, headroom included.
    pub fn held_of_port(&self, port: usize) -> u64 {
        let first = Source::new(port, 0).index();
        self.ingress[first..first + CLASSES].iter().sum()
    }

    /// What PFC compares if it is measured on the pool of the ingress.
    #[inline]
    pub fn share(&self, source: Source) -> Share {
        let held = self.held(source);
        match &self.memory {
            Memory::PerQueue(_) | Memory::PerPort(_) => {
                Share { held, in_headroom: 0, threshold: f64::INFINITY }
            }
            Memory::Shared(memory) => memory.share(source, held),
        }
    }

    /// What is wrong with the books, in a sentence each: they must agree with the packets in the
    /// first `queues` queues of the ports, those of data, and at the inputs of a crossbar.
    pub fn audit<'a>(
        &self,
        ports: &[Port],
        queues: usize,
        at_inputs: impl Iterator<Item = &'a Packet>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let data = || ports.iter().flat_map(|port| &port.queues[..queues]);
        let mut found = vec![0; self.ingress.len()];
        let mut count = |packet: &Packet| {
            found[source_of(packet).index()] += u64::from(packet.bytes);
        };
        data().flat_map(Queue::iter).for_each(|queued| count(&queued.packet));
        at_inputs.for_each(count);
        let egress: u64 = data().map(Queue::backlog).sum();
        let ingress: u64 = self.ingress.iter().sum();
        if egress != ingress {
            wrong
                .push(format!("the ingress book has {ingress} bytes and the egress book {egress}"));
        } else if found != self.ingress {
            wrong.push("the ingress book charges ports and classes with bytes of others".into());
        }
        if let Memory::Shared(memory) = &self.memory {
            memory.audit(&self.ingress, data().map(Queue::backlog), &mut wrong);
        }
        wrong
    }
}
