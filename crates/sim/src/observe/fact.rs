//! The facts that nodes and links report to observers.

use std::sync::Arc;

use floodway_model::{Class, FlowId, Instant, NodeId, Packet, PortIx};

use crate::link::Transmitter;
use crate::switch::{self, port::DropReason};
use crate::telemetry::Record;

/// An event at a node.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// The first bit of a frame is put on the wire.
    Sent {
        /// The port.
        port: usize,
        /// The node and port at the other end of the link.
        to: (NodeId, PortIx),
        /// The frame, with the class and ingress port with which it arrived here.
        packet: &'a Packet,
        /// The class in which it is sent.
        class: Class,
        /// When its first bit is put on the wire for the last time: now, or later if a retry sends it again.
        begins: Instant,
        /// The end of this transmission, interframe gap included.
        until: Instant,
        /// When it is handled there: after its last bit has arrived and the latencies have elapsed.
        handled_at: Instant,
        /// Why the link loses it, if it does.
        lost: Option<DropReason>,
        /// Its telemetry, with the entry of this port.
        telemetry: Option<&'a Record>,
    },
    /// A frame occupies a link. Unlike all other facts it is reported for the node at the other end, and of every frame
    /// it says the least: it is for logs.
    Occupied {
        /// The port at the other end.
        port: PortIx,
        /// The flow; `None` for frames that end at the other end.
        flow: Option<FlowId>,
        /// The class in which it is sent.
        class: Class,
        /// The end of its transmission, interframe gap included.
        until: Instant,
    },
    /// A frame has arrived and is handled.
    Arrived {
        /// The frame.
        packet: &'a Packet,
    },
    /// A packet joins a queue of a switch.
    Joined {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// The packet.
        packet: &'a Packet,
        /// The frame that the port sends meanwhile.
        on_wire: OnWire,
    },
    /// A data packet is about to leave the head of a data queue of a switch. Reported by switches
    /// in which all packets join a queue; [`Spec::departures`](crate::Spec::departures) enforces
    /// that.
    Leaves {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// Packets in the queue, this one included.
        length: u64,
        /// When it joined.
        since: Instant,
    },
    /// A switch drops a packet that is bound for a queue or is in it.
    Dropped {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// The reason.
        reason: DropReason,
        /// The packet.
        packet: &'a Packet,
    },
    /// A switch trims a packet bound for a queue.
    Trimmed {
        /// The egress port.
        port: usize,
        /// The queue there.
        queue: usize,
        /// The packet before trimming.
        packet: &'a Packet,
        /// The header that remains.
        header: &'a Packet,
        /// Whether the packet had joined the queue.
        waited: bool,
    },
    /// A flow has begun.
    Began {
        /// The flow.
        flow: FlowId,
        /// The class in which it sends at first.
        class: Class,
        /// The flow that it waited for, if it depends on others: the one that decided when it began.
        after: Option<FlowId>,
        /// The frame that the port of the host sends meanwhile.
        on_wire: OnWire,
    },
    /// A flow sends in another class from now on.
    Reclassified {
        /// The flow.
        flow: FlowId,
        /// The class.
        class: Class,
    },
    /// A sender has generated a packet.
    Departed(&'a Departure),
    /// A receiver has accepted a data packet, or the header of a trimmed one.
    Delivered(&'a Delivery<'a>),
    /// A receiving host has generated a credit frame.
    Granted {
        /// The frame.
        credit: &'a Packet,
    },
    /// A pause of classes of a port begins, is extended or ends.
    Paused {
        /// The port that is paused.
        port: usize,
        /// Bit n: class n.
        classes: u8,
        /// Its end as far as it is known; now if the pause is revoked.
        until: Instant,
    },
    /// A physical queue of a port is paused, or resumed, by Backpressure Flow Control.
    QueuePaused {
        /// The port.
        port: usize,
        /// The class.
        class: usize,
        /// The physical queue.
        queue: u8,
        /// Whether it is paused.
        stop: bool,
    },
    /// A switch pauses a class of a neighbor, or does not give it any more credit.
    Pauses {
        /// The port to the neighbor.
        port: usize,
        /// The class.
        class: usize,
        /// The egress port and class with most of the bytes because of which it does.
        queue: (usize, usize),
        /// The flows in that queue with their bytes, the one with most first.
        flows: &'a [(FlowId, u64)],
        /// Whether the neighbor knows already: the sender of a link counts its credit itself.
        is_known: bool,
    },
    /// A switch pauses a physical queue of a neighbor.
    PausesQueue {
        /// The port to the neighbor.
        port: usize,
        /// The class.
        class: usize,
        /// The physical queue of the neighbor.
        theirs: u8,
        /// The egress port and class, and the physical queue there, because of which it does.
        queue: (usize, usize, u8),
        /// The flow that fills it.
        flow: FlowId,
    },
    /// A switch pauses a class of a neighbor because of congestion elsewhere.
    PausesFor {
        /// The port to the neighbor.
        port: usize,
        /// The class.
        class: usize,
        /// The destination that cannot take more.
        towards: NodeId,
        /// The flow that is notified.
        flow: FlowId,
    },
    /// A pause has ended, or is cut off by the end of the run.
    PauseEnded {
        /// The port that was paused.
        port: usize,
        /// The paused class.
        class: usize,
        /// Start of the pause.
        since: Instant,
        /// End of the pause.
        until: Instant,
    },
    /// The queue management of a switch changes.
    Changed {
        /// The parameters of the switch from now on.
        switch: &'a Arc<switch::Spec>,
    },
    /// The state of a port at a sample. The ports of a node are reported in port order.
    Sampled {
        /// The number of the sample.
        sample: usize,
        /// The port.
        port: usize,
        /// Number of ports of the node.
        ports: usize,
        /// Its transmitter.
        tx: &'a Transmitter,
        /// Backlog by data queue, in bytes.
        backlogs: &'a [u64],
        /// Physical queues, directions and destinations that are held back there.
        held: u64,
    },
}

/// The frame that a port sends, or the last one that it has sent. Known where links report their frames.
#[derive(Clone, Copy, Debug)]
pub struct OnWire {
    /// Its flow; `None` for frames that end at the other end of the link.
    pub flow: Option<FlowId>,
    /// The class in which it is sent.
    pub class: Class,
    /// The end of its transmission, interframe gap included.
    pub until: Instant,
}

/// A sender has generated a packet.
#[derive(Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// The class in which its flow begins.
    pub home: Class,
    /// Rate on the wire that congestion control allows from now on, in bits per second; `None` for
    /// no limit.
    pub rate: Option<f64>,
    /// When the flow began.
    pub began: Instant,
    /// When the sender last got something to send after it had nothing; at first, when it began.
    pub ready_at: Instant,
    /// When the rate allows the next packet.
    pub eligible_at: Instant,
    /// Payload bytes that congestion control allows to be in flight; `None` for no limit.
    pub window: Option<u64>,
    /// Probes that TCP has sent so far, which are not limited by the window; for RoCEv2, timeouts,
    /// each of which may be followed by a packet without credit.
    pub probes: u64,
}

/// A receiver has accepted a data packet, or the header of a trimmed one.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The packet, after a layer 2 indication has been converted to CE.
    pub packet: &'a Packet,
    /// When it was sent; `None` for a header.
    pub sent_at: Option<Instant>,
    /// Whether the receiver answers it with a congestion notification packet.
    pub notified: bool,
    /// The cumulative acknowledgement of the answer: the packet number before which all are
    /// acknowledged or, in a NAK, have arrived.
    pub answered: Option<u32>,
    /// Whether it completes the message.
    pub completes: bool,
    /// Payload bytes that count as delivered.
    pub delivered: u64,
}

/// A set of kinds of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// The empty set.
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
    /// [`Fact::Paused`] and [`Fact::QueuePaused`].
    pub const PAUSED: Self = Self(1 << 11);
    /// [`Fact::Pauses`], [`Fact::PausesFor`] and [`Fact::PausesQueue`].
    pub const PAUSES: Self = Self(1 << 12);
    /// [`Fact::Began`] and [`Fact::Reclassified`].
    pub const BEGAN: Self = Self(1 << 13);
    /// [`Fact::Occupied`].
    pub const OCCUPIED: Self = Self(1 << 14);

    /// [`Fact::Changed`].
    pub const CHANGED: Self = Self(1 << 15);

    /// The union of two sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not in another set.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the two sets intersect.
    #[inline(always)]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl Fact<'_> {
    /// The kind of this fact.
    #[inline(always)]
    pub const fn kind(&self) -> Kinds {
        match self {
            Self::Sent { .. } => Kinds::SENT,
            Self::Occupied { .. } => Kinds::OCCUPIED,
            Self::Arrived { .. } => Kinds::ARRIVED,
            Self::Joined { .. } => Kinds::JOINED,
            Self::Leaves { .. } => Kinds::LEAVES,
            Self::Dropped { .. } => Kinds::DROPPED,
            Self::Changed { .. } => Kinds::CHANGED,
            Self::Trimmed { .. } => Kinds::TRIMMED,
            Self::Began { .. } | Self::Reclassified { .. } => Kinds::BEGAN,
            Self::Departed(_) => Kinds::DEPARTED,
            Self::Delivered(_) => Kinds::DELIVERED,
            Self::Granted { .. } => Kinds::GRANTED,
            Self::Paused { .. } | Self::QueuePaused { .. } => Kinds::PAUSED,
            Self::Pauses { .. } | Self::PausesFor { .. } | Self::PausesQueue { .. } => {
                Kinds::PAUSES
            }
            Self::PauseEnded { .. } => Kinds::PAUSE_ENDED,
            Self::Sampled { .. } => Kinds::SAMPLED,
        }
    }
}
