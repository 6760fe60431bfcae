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
    /// Long-lived flows that it sends from the start of the command on; `None` if it cannot be asked for any.
    pub long_flows: Option<Vec<LongFlow>>,
    /// Ports of TCP on which it takes long-lived flows.
    pub takes: Vec<Port>,
}

/// The setting that chooses the congestion control of TCP.
pub const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

impl Kernel {
    /// Long-lived flows that it sends from the beginning on.
    pub fn first_flows(&self) -> &[LongFlow] {
        self.long_flows.as_deref().unwrap_or_default()
    }

    /// The congestion control of TCP that is set; `None` for the one that the kernel has by itself.
    pub fn congestion(&self) -> Option<&str> {
        self.sysctl.get(CONGESTION).map(String::as_str)
    }
}

/// A port on which a kernel takes long-lived flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Port {
    /// Its number.
    pub number: u16,
    /// The congestion control of its connections; `None` for that of the kernel.
    pub congestion: Option<String>,
}

/// A long-lived flow: a connection of TCP on which a kernel sends as much as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LongFlow {
    /// The kernel that takes it.
    pub to: NodeId,
    /// The port that it comes from, by which it is known to its kernel.
    pub source: u16,
    /// The port that it goes to.
    pub port: u16,
}

impl LongFlow {
    /// The number of the `n`-th port from which long-lived flows of a kernel come; `None` if there are no more. Programs get
    /// others from Linux, from 32768 on.
    pub fn source(n: usize) -> Option<u16> {
        let source = n.checked_add(20_000)?;
        u16::try_from(source).ok().filter(|source| *source < 32_768)
    }

    /// The port to which the flows of a workload go.
    pub fn port(workload: u16) -> u16 {
        workload.saturating_add(6_001)
    }

    /// Its frames, as [`Header::connection`] has it.
    pub(crate) fn connection(&self) -> u64 {
        connection(protocol::TCP, (self.source, self.port))
    }
}

/// Protocols that have ports (RFC 1700).
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
}

/// The number of a connection: see [`Header::connection`].
pub fn connection(protocol: u8, (source, destination): (u16, u16)) -> u64 {
    u64::from(protocol) << 32 | u64::from(source) << 16 | u64::from(destination)
}

/// What the simulation asks of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// To send a long-lived flow from now on.
    Start(LongFlow),
    /// To send nothing more of one, which ends its connection.
    Stop(LongFlow),
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

    /// A long-lived flow starts or stops.
    fn order(&mut self, order: Order, now: Instant);

    /// A step of a session has ended. What has gone wrong in the kernel without having failed is reported now, instead of at
    /// the end.
    fn look(&mut self) {}
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
    /// Protocol and ports, as a number: frames with the same between two hosts belong to one connection ([`connection`]).
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
