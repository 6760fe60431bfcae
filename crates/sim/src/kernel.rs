//! Hosts that are real operating system kernels: what the simulation says of them, and the backend through which it talks to
//! them. This crate has no kernel, and knows neither formats of frames nor an operating system: a [`Backend`] has both.
//!
//! Frames of kernels are packets with [`Body::Octets`](floodway_model::Body::Octets). What switches decide by is parsed
//! when they leave their kernel; the octets themselves wait in [`Octets`] until they are delivered or dropped.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use floodway_model::{Duration, Graph, Instant, NodeId, Packet, Tos};
use serde::Serialize;

/// A host that is a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kernel {
    /// The host.
    pub host: NodeId,
    /// The workload that made it one.
    pub workload: u16,
    /// The command that it runs, in the language of the shell; empty for none.
    pub command: String,
    /// When the command starts.
    pub start: Duration,
    /// The longest IP packet in bytes.
    pub mtu: u16,
    /// Settings below `/proc/sys`, by name, in order.
    pub sysctl: BTreeMap<String, String>,
}

/// A kernel, as the node of the simulation that stands for its host sees it. Its clock has whole nanoseconds, and is less
/// than one behind that of the simulation.
///
/// A backend that fails says so elsewhere, stops the run, and has no event from then on.
pub trait Backend: Send + Debug {
    /// Time of the kernel's next event; [`Instant::NEVER`] if it has none.
    fn next(&self) -> Instant;

    /// Runs the kernel from its next event on, until it has sent something, or its next event is not before `limit`.
    /// Adds what it has sent, in order.
    fn run(&mut self, limit: Instant, sent: &mut Vec<Outgoing>);

    /// A frame has arrived; `marked` if a switch has set CE.
    fn receive(&mut self, octets: &[u8], marked: bool, now: Instant);

    /// The oldest frame that the kernel has sent has left its NIC.
    fn transmitted(&mut self, now: Instant);
}

/// A frame that a kernel has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// When.
    pub at: Instant,
    /// From destination address to the end of the payload, without padding and FCS.
    pub octets: Box<[u8]>,
    /// What the network needs to know of it.
    pub header: Header,
}

/// What the network needs to know of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The host to which it goes: a kernel too.
    pub dst: NodeId,
    /// DSCP and ECN field.
    pub tos: Tos,
    /// Addresses, protocol and ports, as a number: frames with the same belong to one connection.
    pub connection: u64,
    /// Payload of its transport protocol, in bytes.
    pub payload: u16,
    /// TCP: the sequence number after its payload, if it has payload.
    pub end: Option<u32>,
}

/// The octets of frames on their way, by their source and number.
#[derive(Debug, Default)]
pub struct Octets {
    /// By node: the place of its frames; `u32::MAX` if it is no kernel.
    places: Vec<u32>,
    frames: Vec<Mutex<BTreeMap<u32, Held>>>,
}

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its octets.
    pub octets: Arc<[u8]>,
    /// Its payload in bytes.
    pub payload: u16,
}

impl Octets {
    /// None yet, of these kernels in a network.
    pub(crate) fn new(graph: &Graph, kernels: &[Kernel]) -> Self {
        let mut places = vec![u32::MAX; graph.nodes.len()];
        (0..).zip(kernels).for_each(|(place, kernel)| places[kernel.host.index()] = place);
        Self { places, frames: kernels.iter().map(|_| Mutex::default()).collect() }
    }

    fn of(&self, source: NodeId) -> MutexGuard<'_, BTreeMap<u32, Held>> {
        let frames = &self.frames[self.places[source.index()] as usize];
        frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a frame.
    pub(crate) fn put(&self, source: NodeId, number: u32, held: Held) {
        self.of(source).insert(number, held);
    }

    /// A frame that is kept.
    pub(crate) fn get(&self, packet: &Packet) -> Option<Held> {
        let number = number(packet)?;
        self.of(packet.src).get(&number).cloned()
    }

    /// Takes out a frame, which has arrived or was dropped.
    pub(crate) fn take(&self, packet: &Packet) -> Option<Held> {
        let number = number(packet)?;
        self.of(packet.src).remove(&number)
    }

    /// How many are kept.
    pub(crate) fn count(&self) -> usize {
        let count = |frames: &Mutex<BTreeMap<u32, Held>>| {
            frames.lock().unwrap_or_else(PoisonError::into_inner).len()
        };
        self.frames.iter().map(count).sum()
    }
}

fn number(packet: &Packet) -> Option<u32> {
    match packet.body {
        floodway_model::Body::Octets { number, .. } => Some(number),
        _ => None,
    }
}
