//! A frame as it crosses the network. It is 40 bytes and passed by value, because moving it is
//! cheaper than looking it up.
//!
//! Other header fields (addresses, ports, the exact header stack) follow from the flow; the lengths
//! here are those of the real encapsulations.

pub mod length;
#[cfg(test)]
mod tests;
mod uet;
mod words;

use serde::Serialize;

use crate::id::{Class, FlowId, NodeId, PortIx};
use crate::units::Instant;
pub use uet::{Answered, Entropy, bitmap_base};
pub use words::WORDS;

/// The ECN field of the IP header (RFC 3168 section 5, RFC 9331 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: loss is the only congestion signal.
    #[default]
    NotEct = 0,
    /// ECT(1): scalable congestion control (RFC 9331).
    Ect1 = 1,
    /// ECT(0): classic congestion control.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether a queue may mark the packet instead of dropping it.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// The differentiated services code point of the IP header (RFC 2474), six bits, set by the sending
/// host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dscp(pub u8);

impl Dscp {
    /// Default forwarding (RFC 2474 section 4.1).
    pub const DEFAULT: Self = Self(0);
    /// AF21, low-latency data (RFC 4594 section 4.7): marks short flows.
    pub const LOW_LATENCY: Self = Self(18);
}

/// The second byte of the IP header (RFC 3168 section 22): DSCP and ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tos(u8);

impl Tos {
    /// Combines a DSCP and an ECN field.
    #[inline]
    pub const fn new(dscp: Dscp, ecn: Ecn) -> Self {
        Self(dscp.0 << 2 | ecn as u8)
    }

    /// The DSCP field.
    #[inline]
    pub const fn dscp(self) -> Dscp {
        Dscp(self.0 >> 2)
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(self) -> Ecn {
        match self.0 & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// One frame.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The flow that the frame belongs to, or that a notification is about.
    pub flow: FlowId,
    /// The connection at the destination host, in the role of the RoCEv2 destination queue pair: an
    /// index into that host's receivers (data) or senders (feedback).
    pub connection: u32,
    /// The sending host. Meaningless for one-hop frames.
    pub src: NodeId,
    /// The destination host. Meaningless for one-hop frames.
    pub dst: NodeId,
    /// Frame length in bytes, from destination address to FCS: at least 64, unless the transport
    /// model omits padding.
    pub bytes: u16,
    /// Ingress port at the node that holds the frame; set by the link.
    pub ingress: PortIx,
    /// Traffic class on the current link: the egress queue from which the frame was sent.
    pub class: Class,
    /// Physical queue within its class from which the frame was sent, if flow control is per
    /// physical queue; otherwise 0.
    pub physical_queue: u8,
    /// DSCP and ECN field: see [`Packet::dscp`] and [`Packet::ecn`].
    pub tos: Tos,
    /// Layer 2 congestion indication: a switch on the path has detected congestion. It is signaled
    /// without inspecting the IP header.
    pub indicated: bool,
    /// Payload of the frame.
    pub body: Body,
}

/// The content of a frame beyond its addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Part of a message.
    Data {
        /// RoCEv2: reference to the packet's telemetry record. Ultra Ethernet: its entropy.
        echo: Echo,
        /// Packet sequence number within the flow, from 0.
        psn: u32,
        /// Time at which its first bit left the sender.
        sent_at: Instant,
    },
    /// A TCP segment: part of a message, numbered in segments instead of bytes. Retransmissions
    /// have the same segment boundaries as the original transmission.
    Segment {
        /// Header flags.
        flags: SegmentFlags,
        /// Number of the segment within the flow, from 0.
        psn: u32,
        /// Time at which its first bit left the sender.
        sent_at: Instant,
    },
    /// A frame of a host that is run outside the simulation, in octets, which are kept beside the packet.
    Octets {
        /// Its number among the frames of its source.
        number: u32,
        /// Time at which the source handed it to its NIC.
        sent_at: Instant,
    },
    /// TCP acknowledgement without data.
    TcpAck {
        /// Header flags.
        flags: AckFlags,
        /// Number of segments that have arrived with CE, modulo 65,536. It stands for the packet
        /// counter that accurate ECN feedback carries in three bits, and for the byte counters of
        /// its option, which resolve the ambiguity of the packet counter (RFC 9768).
        marked: u16,
        /// The next segment that the receiver expects: everything below has arrived.
        ack: u32,
        /// Selective acknowledgements, with the block of the most recent segment first (RFC 2018).
        /// There is room for two blocks beside timestamps and the accurate ECN option.
        sack: [SackBlock; 2],
    },
    /// TCP handshake, from the sender of the message to its receiver: offers a mode of ECN
    /// feedback.
    Syn {
        /// The offered ECN feedback.
        feedback: EcnFeedback,
    },
    /// Reply to a SYN: the agreed mode.
    SynAck {
        /// The agreed ECN feedback.
        feedback: EcnFeedback,
    },
    /// Everything below `psn` has arrived (RoCEv2 acknowledge).
    Ack {
        /// For the packet that is acknowledged: whether it had CE, and its telemetry record.
        echo: Echo,
        /// The next packet sequence number that the receiver expects.
        psn: u32,
        /// Time at which the acknowledged packet left its sender.
        sent_at: Instant,
    },
    /// Packet `psn` is missing although a later one has arrived (RoCEv2 NAK, PSN sequence error).
    Nak {
        /// As in [`Body::Ack`].
        echo: Echo,
        /// The packet sequence number that the receiver expects: everything below has arrived.
        psn: u32,
        /// The packet whose arrival revealed the gap: the selective acknowledgement of IRN (Mittal
        /// et al., SIGCOMM 2018, section 3.1), which plain RoCEv2 does not carry.
        arrived: u32,
    },
    /// The header of a data packet that a switch has trimmed.
    Trimmed {
        /// Ultra Ethernet: the entropy of the data packet.
        echo: Echo,
        /// Packet sequence number of the data packet.
        psn: u32,
        /// Time at which the first bit of the data packet left the sender.
        sent_at: Instant,
    },
    /// Packet `psn` has arrived trimmed and must be retransmitted: the negative acknowledgement of
    /// a single packet (NDP, SIGCOMM 2017, section 3.2), which acknowledges nothing.
    TrimNak {
        /// Whether the header arrived with CE, and with Ultra Ethernet its entropy.
        echo: Echo,
        /// The packet sequence number of the trimmed packet.
        psn: u32,
        /// Time at which that packet left its sender; identifies which transmission of it was
        /// trimmed.
        sent_at: Instant,
    },
    /// Acknowledgement of Ultra Ethernet, cumulative and selective (Ultra Ethernet 1.0, section 3.5:
    /// ACK_CC).
    UetAck {
        /// Number of packets that have arrived, each counted once, modulo 256. It stands for the
        /// counter of received bytes, which has 24 bits.
        received: u8,
        /// The packet that it answers, and what is said about it.
        about: Answered,
        /// Everything below has arrived.
        ack: u32,
        /// Bit n set: packet [`bitmap_base`] + n has arrived. A bit that is not set says nothing.
        bitmap: u64,
    },
    /// Credit from the receiver's half of congestion control: an NDP pull (SIGCOMM 2017, section 3.2),
    /// or credit of Ultra Ethernet (RCCC).
    Credit {
        /// NDP: total number of packets that the receiver has requested from the flow so far. RCCC:
        /// total credit of the flow in bytes, modulo 2^32. It is cumulative, so a later credit makes
        /// up for a lost one.
        number: u32,
    },
    /// Request of a sender that can send nothing else, for an acknowledgement and for credit (Ultra
    /// Ethernet; RTS in uet-htsim).
    Request {
        /// Total credit that the sender asks for, in bytes modulo 2^32; 0 without receiver credit.
        target: u32,
    },
    /// Congestion notification packet of RoCEv2: a marked packet of the flow arrived.
    Cnp,
    /// Layer 2 congestion indication, backward: from a congested switch to the source of a packet
    /// of the flow (US patent 7,474,616).
    Indication {
        /// Buffer occupancy: n stands for n/256 to (n + 1)/256 of the buffer.
        severity: u8,
    },
    /// Congestion notification message (IEEE 802.1Q clause 33), from a congestion point to the source
    /// of a sampled frame of the flow.
    Cnm {
        /// Severity of congestion, 1 to 63.
        feedback: u8,
        /// Setpoint of the queue length minus its actual length, in units of 64 bytes.
        offset: i16,
        /// Growth of the queue since the previous sample, in units of 64 bytes.
        delta: i16,
    },
    /// Source flow control message (project P802.1Qdw), from a congested switch to a source.
    Sfc {
        /// The host that the congested queue leads to.
        towards: NodeId,
        /// The class in which the flow that fills the queue starts, by its destination and DSCP.
        class: Class,
        /// Time for which the source must not send traffic to that host that starts in that class,
        /// in nanoseconds from the arrival of the message.
        pause_ns: u32,
    },
    // One-hop frames follow; a single comparison distinguishes them from all others.
    /// Priority-based flow control (IEEE 802.1Q clause 36), one hop.
    Pfc {
        /// Bit n set: the pause time of class n is valid, and is `quanta`.
        classes: u8,
        /// Pause time, in quanta of 512 bit times; 0 resumes.
        quanta: u16,
        /// Bit n set: the pause time of class n is valid, and is 0. No class is in both masks.
        resumed: u8,
    },
    /// PAUSE (IEEE 802.3 annex 31B), one hop: pauses everything but MAC control frames.
    Pause {
        /// Pause time, in quanta of 512 bit times; 0 resumes.
        quanta: u16,
    },
    /// Congestion isolation message (IEEE 802.1Q clause 49), one hop: the flow contributes to
    /// congestion.
    Cim,
    /// Backpressure Flow Control (Goyal et al., NSDI 2022), one hop: stops or resumes one physical
    /// queue.
    Bfc {
        /// The class that the physical queue belongs to.
        class: u8,
        /// Its number within the class.
        physical_queue: u8,
        /// Whether the queue must stop or may resume.
        stop: bool,
    },
    /// Directional Rate Control (Wadekar, McAlpine, Gupta, 2004), one hop: severity of congestion
    /// at output ports of the sender.
    Drc {
        /// Group of 32 ports that the frame covers; the first is this number times 32.
        group: u16,
        /// Bit n set: class n is controlled.
        mask: u8,
        /// Severity for each port, two bits each, the first port in the most significant bits.
        statuses: u64,
    },
    /// Credit-based flow control, one hop: how much of a class the receiver of this frame may send.
    LinkCredit {
        /// The class.
        class: u8,
        /// The most bytes of the class that may be sent on the link, counted from the start of the run.
        limit: u64,
    },
}

/// Data that a sender needs back from a data packet, in three bytes: the number of its telemetry
/// record, from 1 (RoCEv2), or its entropy (Ultra Ethernet), and in replies whether the packet
/// arrived with CE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo([u8; 3]);

impl Echo {
    /// Largest record number.
    pub const MOST: u32 = (1 << 22) - 1;

    /// The bit that distinguishes entropy from a record number.
    const ENTROPY: u32 = 1 << 23;

    /// With this record number, 0 for none.
    #[inline]
    pub const fn of(record: u32, marked: bool) -> Self {
        let [a, b, c, _] = (record << 1 | marked as u32).to_le_bytes();
        Self([a, b, c])
    }

    #[inline]
    const fn bits(self) -> u32 {
        let [a, b, c] = self.0;
        u32::from_le_bytes([a, b, c, 0])
    }

    /// The record number; `None` if there is no record.
    #[inline]
    pub const fn record(self) -> Option<u32> {
        match self.bits() >> 1 {
            0 => None,
            _ if self.bits() & Self::ENTROPY != 0 => None,
            number => Some(number),
        }
    }

    /// With this entropy, and without a mark.
    #[inline]
    pub const fn of_entropy(entropy: Entropy) -> Self {
        Self::of(Self::ENTROPY >> 1 | entropy.bits(), false)
    }

    /// The entropy; `None` for a packet without it.
    #[inline]
    pub const fn entropy(self) -> Option<Entropy> {
        let bits = self.bits();
        if bits & Self::ENTROPY == 0 {
            return None;
        }
        Some(Entropy::from_bits(bits >> 1))
    }

    /// Whether the acknowledged packet had CE.
    #[inline]
    pub const fn marked(self) -> bool {
        self.bits() & 1 != 0
    }

    /// The same record in the reply to a packet with this ECN field.
    #[inline]
    pub const fn answering(self, ecn: Ecn) -> Self {
        Self::of(self.bits() >> 1, matches!(ecn, Ecn::Ce))
    }
}

/// Flags of a TCP segment with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentFlags {
    /// CWR: the sender has reduced its window (RFC 3168 section 6.1.2).
    pub window_reduced: bool,
    /// PSH: the last segment of the data that the application handed over in one call.
    pub push: bool,
}

/// Flags of a TCP acknowledgement, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFlags(u8);

impl AckFlags {
    const CONGESTION: u8 = 1;
    const DUPLICATE: u8 = 2;

    /// Combines these flags.
    #[inline]
    pub const fn new(congestion: bool, duplicate: bool) -> Self {
        Self(congestion as u8 * Self::CONGESTION + duplicate as u8 * Self::DUPLICATE)
    }

    /// ECE: congestion was experienced, as defined by RFC 3168 or by RFC 8257.
    #[inline]
    pub const fn congestion(self) -> bool {
        self.0 & Self::CONGESTION != 0
    }

    /// Whether the acknowledged segment was a duplicate (RFC 2883; the sender does not need to know
    /// which one).
    #[inline]
    pub const fn duplicate(self) -> bool {
        self.0 & Self::DUPLICATE != 0
    }
}

/// A block of segments that have arrived above the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First segment of the block, relative to the cumulative acknowledgement. Blocks that begin
    /// more than 65,535 segments above it are not reported.
    pub from: u16,
    /// Number of segments; 0 if there is no block.
    pub count: u16,
}

/// How a TCP receiver reports ECN marks to the sender, as agreed in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnFeedback {
    /// No feedback: segments are not ECN-capable.
    #[default]
    None,
    /// ECE is set from a mark until the sender has responded with CWR (RFC 3168 section 6.1).
    Classic,
    /// ECE is the mark of the last segment; each change is acknowledged at once (RFC 8257 section
    /// 3.2).
    Dctcp,
    /// Counters of marked segments (RFC 9768).
    Accurate,
}

impl Packet {
    /// The DSCP field. Switches can classify by it, since they cannot know the size of a flow.
    #[inline]
    pub const fn dscp(&self) -> Dscp {
        self.tos.dscp()
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        self.tos.ecn()
    }

    /// The number of its telemetry record, in the store of the thread that has the packet; `None` if it
    /// has none.
    #[inline]
    pub const fn record(&self) -> Option<u32> {
        match self.body {
            Body::Data { echo, .. } | Body::Ack { echo, .. } | Body::Nak { echo, .. } => {
                echo.record()
            }
            _ => None,
        }
    }

    /// The entropy value over which switches hash; 0 for a packet without it. Acknowledgements of Ultra
    /// Ethernet take the path of their flow.
    #[inline]
    pub const fn entropy(&self) -> u16 {
        let (Body::Data { echo, .. } | Body::Trimmed { echo, .. } | Body::TrimNak { echo, .. }) =
            self.body
        else {
            return 0;
        };
        match echo.entropy() {
            Some(entropy) => entropy.value,
            None => 0,
        }
    }

    /// Changes the number of its telemetry record. Panics if a frame of its kind cannot have one.
    pub fn set_record(&mut self, number: u32) {
        match &mut self.body {
            Body::Data { echo, .. } | Body::Ack { echo, .. } | Body::Nak { echo, .. } => {
                *echo = Echo::of(number, echo.marked());
            }
            body => panic!("{body:?} has no telemetry"),
        }
    }

    /// Sets CE.
    #[inline]
    pub fn mark(&mut self) {
        self.tos = Tos::new(self.dscp(), Ecn::Ce);
    }

    /// Whether it carries part of a message.
    #[inline]
    pub const fn is_data(&self) -> bool {
        matches!(self.body, Body::Data { .. } | Body::Segment { .. } | Body::Octets { .. })
    }

    /// Whether it carries part of a message or is the header of a trimmed packet, so that its loss
    /// is the loss of a packet of its flow.
    #[inline]
    pub const fn is_of_message(&self) -> bool {
        self.is_data() || matches!(self.body, Body::Trimmed { .. })
    }

    /// Whether it is feedback of RoCEv2 or Ultra Ethernet, a notification, or the header of a trimmed
    /// packet. These use the control queue of a port unless `switch.feedback` assigns them another. TCP
    /// acknowledgements are queued with the data, as in any switch that looks at classes only.
    #[inline]
    pub const fn is_control(&self) -> bool {
        !matches!(
            self.body,
            Body::Data { .. }
                | Body::Segment { .. }
                | Body::Octets { .. }
                | Body::TcpAck { .. }
                | Body::Syn { .. }
                | Body::SynAck { .. }
        )
    }

    /// Whether it ends at the neighbor instead of being forwarded.
    #[inline]
    pub const fn is_one_hop(&self) -> bool {
        match self.body {
            Body::Pfc { .. }
            | Body::Pause { .. }
            | Body::Cim
            | Body::Bfc { .. }
            | Body::Drc { .. }
            | Body::LinkCredit { .. } => true,
            Body::Data { .. }
            | Body::Segment { .. }
            | Body::Octets { .. }
            | Body::TcpAck { .. }
            | Body::Syn { .. }
            | Body::SynAck { .. }
            | Body::Ack { .. }
            | Body::Nak { .. }
            | Body::Trimmed { .. }
            | Body::TrimNak { .. }
            | Body::UetAck { .. }
            | Body::Credit { .. }
            | Body::Request { .. }
            | Body::Cnp
            | Body::Indication { .. }
            | Body::Cnm { .. }
            | Body::Sfc { .. } => false,
        }
    }
}
