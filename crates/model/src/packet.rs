//! A frame as it crosses the network, by value: 40 bytes, so that moving it is cheaper than
//! finding it.
//!
//! What a header would say beyond this (addresses, ports, the exact header stack) follows from
//! the flow; the lengths here are those of the real encapsulations.

use crate::id::{Class, FlowId, NodeId, PortIx};
use crate::units::Instant;

/// The ECN field of the IP header (RFC 3168 section 5, RFC 9331 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: congestion is told by loss.
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
    /// Whether a queue may mark instead of drop.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// The differentiated services code point of the IP header (RFC 2474): what the sending host says
/// about the flow, six bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(pub u8);

impl Dscp {
    /// Nothing is said (RFC 2474 section 4.1, default forwarding).
    pub const DEFAULT: Self = Self(0);
    /// AF21, low-latency data (RFC 4594 section 4.7): the flow is a short one.
    pub const LOW_LATENCY: Self = Self(18);
}

/// The second byte of the IP header (RFC 3168 section 22): DSCP and ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tos(u8);

impl Tos {
    /// These two.
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
    /// The flow to which it belongs, or which a notification is about.
    pub flow: FlowId,
    /// The connection at the destination host, as a RoCEv2 destination queue pair names it: an
    /// index into that host's receiving (data) or sending (feedback) side.
    pub connection: u32,
    /// The host that sent it. Meaningless for frames of one hop.
    pub src: NodeId,
    /// The host it goes to. Meaningless for frames of one hop.
    pub dst: NodeId,
    /// Frame length in bytes, destination address to FCS: at least 64, unless a transport knows no
    /// padding.
    pub bytes: u16,
    /// The port by which it came into the node that holds it; set by the link.
    pub ingress: PortIx,
    /// The traffic class it has on the present link: the egress queue it was sent from.
    pub class: Class,
    /// The physical queue within its class that it was sent from, with flow control by physical
    /// queues; else 0.
    pub lane: u8,
    /// DSCP and ECN field: see [`Packet::dscp`] and [`Packet::ecn`].
    pub tos: Tos,
    /// Layer 2 congestion indication: a switch on the way has found congestion, which it tells
    /// without a look at the IP header.
    pub indicated: bool,
    /// What it carries.
    pub body: Body,
}

/// What a frame carries beyond its addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// A piece of a message.
    Data {
        /// Of RoCEv2: where its telemetry is.
        echo: Echo,
        /// Packet sequence number within the flow, from 0.
        psn: u32,
        /// When its first bit left the sender.
        sent_at: Instant,
    },
    /// A TCP segment: a piece of a message, numbered in segments instead of bytes. What is sent
    /// again is cut as it was the first time.
    Segment {
        /// What its header says beyond the number.
        flags: SegmentFlags,
        /// Number of the segment within the flow, from 0.
        psn: u32,
        /// When its first bit left the sender.
        sent_at: Instant,
    },
    /// TCP acknowledgement without data.
    TcpAck {
        /// What its header says beyond the numbers.
        flags: AckFlags,
        /// Segments that have arrived with CE, modulo 65,536: for the packet counter that accurate
        /// ECN feedback carries in three bits, and for the byte counters of its option, which
        /// resolve its ambiguity (RFC 9768).
        marked: u16,
        /// The segment that the receiver expects: everything below has arrived.
        ack: u32,
        /// Selective acknowledgements, the one with the segment that came last first (RFC 2018);
        /// two, which is what has room beside timestamps and the accurate ECN option.
        sack: [SackBlock; 2],
    },
    /// TCP handshake, from the sender of the message to its receiver: what it offers to do with
    /// ECN.
    Syn {
        /// How it understands ECN feedback.
        feedback: EcnFeedback,
    },
    /// The answer: what both will do.
    SynAck {
        /// How ECN feedback is given.
        feedback: EcnFeedback,
    },
    /// Everything below `psn` has arrived (RoCEv2 acknowledge).
    Ack {
        /// Of the packet that it answers: whether it had CE, and its telemetry.
        echo: Echo,
        /// The next packet sequence number that the receiver expects.
        psn: u32,
        /// When the packet that it answers left its sender.
        sent_at: Instant,
    },
    /// Packet `psn` is missing although a later one has arrived (RoCEv2 NAK, PSN sequence error).
    Nak {
        /// As in [`Body::Ack`].
        echo: Echo,
        /// The packet sequence number that the receiver expects: everything below has arrived.
        psn: u32,
        /// The packet whose arrival told that: the selective acknowledgement of IRN (Mittal et al.,
        /// SIGCOMM 2018, section 3.1), which plain RoCEv2 does not carry.
        arrived: u32,
    },
    /// What is left of a data packet that a switch has trimmed: its header.
    Trimmed {
        /// Packet sequence number of the data packet.
        psn: u32,
        /// When its first bit left the sender.
        sent_at: Instant,
    },
    /// Packet `psn` has arrived trimmed and is to be sent again: the negative acknowledgement of one packet (NDP,
    /// SIGCOMM 2017, section 3.2), which acknowledges nothing.
    TrimNak {
        /// Whether the header arrived with CE.
        marked: bool,
        /// The packet sequence number of the trimmed packet.
        psn: u32,
        /// When that packet left its sender: which transmission of it was trimmed.
        sent_at: Instant,
    },
    /// Credit from the receiver's half of congestion control: an NDP pull (SIGCOMM 2017, section 3.2).
    Credit {
        /// Packets that the receiver has asked the flow for so far. It is cumulative, so that a later credit
        /// makes up for a lost one.
        number: u32,
    },
    /// Congestion notification packet of RoCEv2: a marked packet of the flow arrived.
    Cnp,
    /// Layer 2 congestion indication, backward: from a congested switch to the source of a packet
    /// of the flow (US patent 7,474,616).
    Indication {
        /// How much of the memory is taken: n stands for n/256 to (n + 1)/256 of it.
        severity: u8,
    },
    /// Congestion notification message (IEEE 802.1Q clause 33), from a congestion point to the source
    /// of a sampled frame of the flow.
    Cnm {
        /// How severe congestion is, 1 to 63.
        feedback: u8,
        /// The length at which the queue should be less that which it has, in units of 64 bytes.
        offset: i16,
        /// Growth of the queue since the last sample, in units of 64 bytes.
        delta: i16,
    },
    /// Source flow control message (project P802.1Qdw), from a congested switch to a source.
    Sfc {
        /// The host that the queue leads to.
        towards: NodeId,
        /// The class in which the flow that fills it begins, by its destination and DSCP.
        class: Class,
        /// How long the source is to send nothing there that begins in that class, in nanoseconds
        /// from the message's arrival.
        pause_ns: u32,
    },
    // From here on frames of one hop, which one comparison tells from all others.
    /// Priority-based flow control (IEEE 802.1Q clause 36), one hop.
    Pfc {
        /// Bit n set: the time of class n is valid, and is the one below.
        classes: u8,
        /// How long to pause, in quanta of 512 bit times; 0 resumes.
        quanta: u16,
        /// Bit n set: the time of class n is valid, and is 0. No class is in both.
        resumed: u8,
    },
    /// PAUSE (IEEE 802.3 annex 31B), one hop: everything but MAC control frames is to wait.
    Pause {
        /// How long, in quanta of 512 bit times; 0 resumes.
        quanta: u16,
    },
    /// Congestion isolation message (IEEE 802.1Q clause 49), one hop: the flow is congesting.
    Cim,
    /// Backpressure Flow Control (Goyal et al., NSDI 2022), one hop: about one physical queue.
    Bfc {
        /// The class that the queue is part of.
        class: u8,
        /// Its number within the class.
        lane: u8,
        /// Whether it must stop or may go on.
        stop: bool,
    },
    /// Directional Rate Control (Wadekar, McAlpine, Gupta, 2004), one hop: how severe congestion is
    /// at output ports of the sender.
    Drc {
        /// Which ports: 32, from this times 32.
        group: u16,
        /// Bit n set: class n is controlled.
        mask: u8,
        /// Severity of each port, two bits, the first port's the most significant.
        statuses: u64,
    },
}

/// What congestion control of RoCEv2 wants back of a data packet, in three bytes: the number of the
/// record with its telemetry, from 1, and in answers whether the packet arrived with CE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo([u8; 3]);

impl Echo {
    /// The highest number of a record.
    pub const MOST: u32 = (1 << 23) - 1;

    /// Of this record, 0 for none.
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

    /// The record; `None` if there is none.
    #[inline]
    pub const fn record(self) -> Option<u32> {
        match self.bits() >> 1 {
            0 => None,
            number => Some(number),
        }
    }

    /// Whether the packet that is answered had CE.
    #[inline]
    pub const fn marked(self) -> bool {
        self.bits() & 1 != 0
    }

    /// The same record in an answer to a packet with this ECN field.
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
    /// PSH: the last segment of what the application handed over at once.
    pub push: bool,
}

/// Flags of a TCP acknowledgement, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFlags(u8);

impl AckFlags {
    const CONGESTION: u8 = 1;
    const DUPLICATE: u8 = 2;

    /// These flags.
    #[inline]
    pub const fn new(congestion: bool, duplicate: bool) -> Self {
        Self(congestion as u8 * Self::CONGESTION + duplicate as u8 * Self::DUPLICATE)
    }

    /// ECE: congestion was experienced, by RFC 3168 or by RFC 8257.
    #[inline]
    pub const fn congestion(self) -> bool {
        self.0 & Self::CONGESTION != 0
    }

    /// The segment that it answers had arrived before (RFC 2883; which one it was, the sender does
    /// not need to know).
    #[inline]
    pub const fn duplicate(self) -> bool {
        self.0 & Self::DUPLICATE != 0
    }
}

/// Segments that have arrived above what a TCP acknowledgement acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first of them, counted from the acknowledged one. Blocks further away than 65,535
    /// segments are not told.
    pub from: u16,
    /// How many; 0 if there is no block.
    pub count: u16,
}

/// How a TCP receiver tells the sender what it saw in the ECN field, agreed on in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnFeedback {
    /// Not at all: segments are not ECN-capable.
    #[default]
    None,
    /// ECE from a mark until the sender has answered it with CWR (RFC 3168 section 6.1).
    Classic,
    /// ECE is the mark of the last segment, with an acknowledgement at each change (RFC 8257
    /// section 3.2).
    Dctcp,
    /// By counters of marked segments (RFC 9768).
    Accurate,
}

impl Packet {
    /// The DSCP field, by which switches can classify: a switch cannot know how long a flow is.
    #[inline]
    pub const fn dscp(&self) -> Dscp {
        self.tos.dscp()
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        self.tos.ecn()
    }

    /// The telemetry record that it carries, of its source if it is data and else of its
    /// destination; `None` if it carries none.
    #[inline]
    pub const fn record(&self) -> Option<u32> {
        match self.body {
            Body::Data { echo, .. } | Body::Ack { echo, .. } | Body::Nak { echo, .. } => {
                echo.record()
            }
            _ => None,
        }
    }

    /// Sets CE: congestion was experienced.
    #[inline]
    pub fn mark(&mut self) {
        self.tos = Tos::new(self.dscp(), Ecn::Ce);
    }

    /// Whether it carries a piece of a message.
    #[inline]
    pub const fn is_data(&self) -> bool {
        matches!(self.body, Body::Data { .. } | Body::Segment { .. })
    }

    /// Whether it is a piece of a message, or what is left of one: if it is lost, a packet of its flow is.
    #[inline]
    pub const fn is_of_message(&self) -> bool {
        self.is_data() || matches!(self.body, Body::Trimmed { .. })
    }

    /// Whether it is feedback of RoCEv2, a notification, or the header of a trimmed packet, which wait in the control
    /// queue of a port unless `switch.feedback` gives them another. TCP has its acknowledgements among the data, like
    /// every switch that looks at classes only.
    #[inline]
    pub const fn is_control(&self) -> bool {
        !matches!(
            self.body,
            Body::Data { .. }
                | Body::Segment { .. }
                | Body::TcpAck { .. }
                | Body::Syn { .. }
                | Body::SynAck { .. }
        )
    }

    /// Whether it ends at the neighbour instead of being forwarded.
    #[inline]
    pub const fn is_one_hop(&self) -> bool {
        matches!(
            self.body,
            Body::Pfc { .. } | Body::Pause { .. } | Body::Cim | Body::Bfc { .. } | Body::Drc { .. }
        )
    }
}

/// Lengths on the wire, in bytes.
pub mod length {
    /// Preamble, start delimiter and inter-frame gap: 8 + 12.
    pub const PREAMBLE_AND_GAP: u16 = 20;
    /// The shortest Ethernet frame, and the length of a MAC control frame.
    pub const SHORTEST_FRAME: u16 = 64;
    /// Ethernet 14, FCS 4.
    pub const ETHERNET_OVERHEAD: u16 = 18;
    /// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
    pub const ROCE_OVERHEAD: u16 = 62;
    /// Ethernet 14, IPv4 20, UDP 8, FCS 4.
    pub const UDP_OVERHEAD: u16 = 46;
    /// Ethernet 14, IPv4 20, TCP 20 with timestamps 12, FCS 4: of a segment with data.
    pub const TCP_OVERHEAD: u16 = 70;
    /// [`ROCE_OVERHEAD`] and AETH 4.
    pub const ROCE_ACK: u16 = 66;
    /// Telemetry in a packet of RoCEv2 and in its acknowledgement: 2 bytes, and 8 for each of 5 hops
    /// (HPCC, SIGCOMM 2019, section 4.1).
    pub const TELEMETRY: u16 = 42;
    /// [`ROCE_OVERHEAD`] and a counter of 4 bytes. The layout is assumed: that of an acknowledgement.
    pub const ROCE_CREDIT: u16 = 66;
    /// [`ROCE_OVERHEAD`] and 16 reserved bytes.
    pub const ROCE_CNP: u16 = 78;
    /// Ethernet 14, payload 18 (version, addresses, VLAN, length), 48 bytes of the packet, FCS 4.
    /// The bit layout is assumed; the 48 bytes are the default of the managed object
    /// `min-header-octets` in the 802.1Qcz YANG module.
    pub const CIM: u16 = 84;
    /// Ethernet 14, VLAN tag 4, CN-TAG 4, PDU 24, FCS 4: of a CNM with nothing of the sampled frame,
    /// before it is padded to [`SHORTEST_FRAME`].
    pub const CNM: u16 = 50;
    /// Ethernet 14, IPv4 20, UDP 8, payload 28 (version and flags, addresses, protocol, ports and
    /// DSCP of the packet, pause time), FCS 4. The layout is assumed: the project's text is not
    /// public.
    pub const SFC: u16 = 74;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_forty_bytes() {
        assert_eq!(size_of::<Packet>(), 40);
    }

    #[test]
    fn an_echo_has_a_record_and_a_mark() {
        for number in [1, 2, 255, 256, Echo::MOST] {
            let sent = Echo::of(number, false);
            assert_eq!((sent.record(), sent.marked()), (Some(number), false));
            let back = sent.answering(Ecn::Ce);
            assert_eq!((back.record(), back.marked()), (Some(number), true));
            assert_eq!(sent.answering(Ecn::Ect0), sent);
        }
        assert_eq!(Echo::default().record(), None);
        assert!(Echo::default().answering(Ecn::Ce).marked());
    }

    #[test]
    fn dscp_and_ecn_share_a_byte() {
        // RFC 3168, figure 1: ECT(1) is 01, ECT(0) is 10, CE is 11, below six bits of DSCP.
        assert_eq!(Tos::new(Dscp::LOW_LATENCY, Ecn::Ect0), Tos(0b0100_1010));
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for dscp in (0..64).map(Dscp) {
                let tos = Tos::new(dscp, ecn);
                assert_eq!((tos.dscp(), tos.ecn()), (dscp, ecn));
            }
        }
        assert_eq!(Tos::default(), Tos::new(Dscp::DEFAULT, Ecn::NotEct));
    }
}
