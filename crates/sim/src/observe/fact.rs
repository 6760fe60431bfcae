//! The facts that nodes and links state.

use floodway_model::{Class, Instant, NodeId, Packet, PortIx};

use crate::link::Transmitter;
use crate::switch::port::DropReason;

/// Something that has happened at a node.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// The first bit of a frame is put on the wire.
    Sent {
        /// The port.
        port: usize,
        /// The node and port at the other end of the link.
        to: (NodeId, PortIx),
        /// The frame, with the class and port by which it came in.
        packet: &'a Packet,
        /// The class in which it is sent.
        class: Class,
        /// When it is handled there: after its last bit has arrived and the latencies have passed.
        handled_at: Instant,
        /// Whether the link loses it.
        is_lost: bool,
    },
    /// A frame has arrived and is handled.
    Arrived {
        /// The frame.
        packet: &'a Packet,
    },
    /// A packet joins a queue of a switch, where it waits.
    Joined {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet with data is about to leave the head of a data queue of a switch. Stated by switches whose packets all
    /// join a queue, which [`Spec::departures`](crate::Spec::departures) makes them do.
    Leaves {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// Packets in the queue, it included.
        length: u64,
        /// When it joined.
        since: Instant,
    },
    /// A switch drops a packet that was bound for a queue, or is in it.
    Dropped {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// Why.
        reason: DropReason,
        /// The packet.
        packet: &'a Packet,
    },
    /// A switch trims a packet that was bound for a queue.
    Trimmed {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// The packet as it was.
        packet: &'a Packet,
        /// What is left of it.
        header: &'a Packet,
        /// Whether it had joined the queue.
        waited: bool,
    },
    /// A sender has made a packet.
    Departed(&'a Departure),
    /// A receiver has taken a packet with data, or the header of a trimmed one.
    Delivered(&'a Delivery<'a>),
    /// A receiving host has made a credit frame.
    Granted {
        /// The frame.
        credit: &'a Packet,
    },
    /// A pause has ended, or would go on when the run ends.
    PauseEnded {
        /// The port that was paused.
        port: usize,
        /// The class that it was not to send.
        class: usize,
        /// From when on.
        since: Instant,
        /// Until when.
        until: Instant,
    },
    /// The state of a port at a sample. Those of a node are stated in order of ports.
    Sampled {
        /// The number of the sample.
        sample: usize,
        /// The port.
        port: usize,
        /// Ports of the node.
        ports: usize,
        /// Its sending end.
        tx: &'a Transmitter,
        /// What waits, by data queue, bytes.
        backlogs: &'a [u64],
    },
}

/// A sender has made a packet.
#[derive(Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// The class in which its flow begins.
    pub home: Class,
    /// Bits per second on the wire that congestion control allows from now on; `None` for no limit.
    pub rate: Option<f64>,
    /// Payload bytes that congestion control allows to be in flight; `None` for no limit.
    pub window: Option<u64>,
    /// Probes that TCP has sent so far, which no window limits; timeouts of RoCEv2, each of which may be
    /// followed by a packet without credit.
    pub probes: u64,
}

/// A receiver has taken a packet with data, or the header of a trimmed one.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The packet, after what layer 2 indicated has become CE.
    pub packet: &'a Packet,
    /// When it was sent; `None` of a header.
    pub sent_at: Option<Instant>,
    /// Whether a congestion notification packet answers it.
    pub notified: bool,
    /// The packet before which everything is acknowledged or, in a NAK, has arrived.
    pub answered: Option<u32>,
    /// Whether the message is complete with it.
    pub completes: bool,
    /// Payload bytes that count as delivered.
    pub delivered: u64,
}

/// A set of kinds of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// None.
    pub const NONE: Self = Self(0);
    /// [`Fact::Sent`].
    pub const SENT: Self = Self(1);
    /// [`Fact::Arrived`].
    pub const ARRIVED: Self = Self(1 << 1);
    /// [`Fact::Joined`].
    pub const JOINED: Self = Self(1 << 2);
    /// [`Fact::Leaves`].
    pub const LEAVES: Self = Self(1 << 3);
    /// [`Fact::Dropped`].
    pub const DROPPED: Self = Self(1 << 4);
    /// [`Fact::Trimmed`].
    pub const TRIMMED: Self = Self(1 << 5);
    /// [`Fact::Departed`].
    pub const DEPARTED: Self = Self(1 << 6);
    /// [`Fact::Delivered`].
    pub const DELIVERED: Self = Self(1 << 7);
    /// [`Fact::Granted`].
    pub const GRANTED: Self = Self(1 << 8);
    /// [`Fact::PauseEnded`].
    pub const PAUSE_ENDED: Self = Self(1 << 9);
    /// [`Fact::Sampled`].
    pub const SAMPLED: Self = Self(1 << 10);

    /// Those of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has one of the others.
    #[inline(always)]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl Fact<'_> {
    /// What kind of fact it is.
    #[inline(always)]
    pub const fn kind(&self) -> Kinds {
        match self {
            Self::Sent { .. } => Kinds::SENT,
            Self::Arrived { .. } => Kinds::ARRIVED,
            Self::Joined { .. } => Kinds::JOINED,
            Self::Leaves { .. } => Kinds::LEAVES,
            Self::Dropped { .. } => Kinds::DROPPED,
            Self::Trimmed { .. } => Kinds::TRIMMED,
            Self::Departed(_) => Kinds::DEPARTED,
            Self::Delivered(_) => Kinds::DELIVERED,
            Self::Granted { .. } => Kinds::GRANTED,
            Self::PauseEnded { .. } => Kinds::PAUSE_ENDED,
            Self::Sampled { .. } => Kinds::SAMPLED,
        }
    }
}
