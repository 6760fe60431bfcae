//! A frame as five words, the form in which it goes to another process. A frame in memory has padding, which
//! must not be read, so fields are moved one by one.

use super::{AckFlags, Answered, Body, Echo, EcnFeedback, Packet, SackBlock, SegmentFlags, Tos};
use crate::id::{Class, FlowId, NodeId, PortIx};
use crate::units::Instant;

/// Number of words.
pub const WORDS: usize = 5;

/// Fields in the low bits first.
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

impl Packet {
    /// All of it.
    pub fn to_words(&self) -> [u64; WORDS] {
        let (kind, small, large) = self.body.to_words();
        let rest = u64::from(self.bytes)
            | u64::from(self.ingress.0) << 16
            | u64::from(self.class.0) << 32
            | u64::from(self.physical_queue) << 40
            | u64::from(self.tos.0) << 48
            | u64::from(self.indicated) << 56;
        debug_assert!(small >> 56 == 0, "the kind takes the low octet");
        [
            join(self.flow.0, self.connection),
            join(self.src.0, self.dst.0),
            rest,
            u64::from(kind) | small << 8,
            large,
        ]
    }

    /// From [`Packet::to_words`]; `None` if there is no such kind of frame.
    pub fn from_words([flow, ends, rest, body, large]: [u64; WORDS]) -> Option<Self> {
        Some(Self {
            flow: FlowId(low(flow)),
            connection: high(flow),
            src: NodeId(low(ends)),
            dst: NodeId(high(ends)),
            bytes: rest as u16,
            ingress: PortIx((rest >> 16) as u16),
            class: Class((rest >> 32) as u8),
            physical_queue: (rest >> 40) as u8,
            tos: Tos((rest >> 48) as u8),
            indicated: rest >> 56 != 0,
            body: Body::from_words(body as u8, body >> 8, large)?,
        })
    }
}

impl Echo {
    fn from_bits(bits: u32) -> Self {
        Self::of(bits >> 1, bits & 1 != 0)
    }
}

impl SegmentFlags {
    fn to_bits(self) -> u64 {
        u64::from(self.window_reduced) | u64::from(self.push) << 1
    }

    fn from_bits(bits: u64) -> Self {
        Self { window_reduced: bits & 1 != 0, push: bits & 2 != 0 }
    }
}

/// In the order of their numbers.
const FEEDBACK: [EcnFeedback; 4] =
    [EcnFeedback::None, EcnFeedback::Classic, EcnFeedback::Dctcp, EcnFeedback::Accurate];

impl Body {
    /// Its kind, up to 56 bits, and up to 64.
    fn to_words(self) -> (u8, u64, u64) {
        match self {
            Self::Data { echo, psn, sent_at } => (0, echo_and(echo, psn), sent_at.0),
            Self::Segment { flags, psn, sent_at } => {
                (1, u64::from(psn) | flags.to_bits() << 32, sent_at.0)
            }
            Self::TcpAck { flags, marked, ack, sack } => {
                let small = u64::from(ack) | u64::from(marked) << 32 | u64::from(flags.0) << 48;
                let [first, second] =
                    sack.map(|SackBlock { from, count }| u32::from(from) | u32::from(count) << 16);
                (2, small, join(first, second))
            }
            Self::Syn { feedback } => (3, feedback as u64, 0),
            Self::SynAck { feedback } => (4, feedback as u64, 0),
            Self::Ack { echo, psn, sent_at } => (5, echo_and(echo, psn), sent_at.0),
            Self::Nak { echo, psn, arrived } => (6, echo_and(echo, psn), arrived.into()),
            Self::Trimmed { echo, psn, sent_at } => (7, echo_and(echo, psn), sent_at.0),
            Self::TrimNak { echo, psn, sent_at } => (8, echo_and(echo, psn), sent_at.0),
            Self::Credit { number } => (9, number.into(), 0),
            Self::Cnp => (10, 0, 0),
            Self::Indication { severity } => (11, severity.into(), 0),
            Self::Cnm { feedback, offset, delta } => {
                let signed = u64::from(offset as u16) << 8 | u64::from(delta as u16) << 24;
                (12, u64::from(feedback) | signed, 0)
            }
            Self::Sfc { towards, class, pause_ns } => {
                (13, class.0.into(), join(towards.0, pause_ns))
            }
            Self::Pfc { classes, quanta, resumed } => {
                let masks = u64::from(classes) | u64::from(resumed) << 8;
                (14, masks | u64::from(quanta) << 16, 0)
            }
            Self::Pause { quanta } => (15, quanta.into(), 0),
            Self::Cim => (16, 0, 0),
            Self::Bfc { class, physical_queue, stop } => {
                let queue = u64::from(class) | u64::from(physical_queue) << 8;
                (17, queue | u64::from(stop) << 16, 0)
            }
            Self::Drc { group, mask, statuses } => {
                (18, u64::from(group) | u64::from(mask) << 16, statuses)
            }
            Self::LinkCredit { class, limit } => (19, class.into(), limit),
            // The octets are in the process of the kernel, so such hosts run in one process.
            Self::Octets { number, sent_at } => (20, number.into(), sent_at.0),
            Self::UetAck { received, about, ack, bitmap } => {
                let small = u64::from(ack) | u64::from(about.0) << 32 | u64::from(received) << 48;
                (21, small, bitmap)
            }
            Self::Request { target } => (22, target.into(), 0),
        }
    }

    fn from_words(kind: u8, small: u64, large: u64) -> Option<Self> {
        let (psn, sent_at) = (low(small), Instant(large));
        let echo = Echo::from_bits(high(small));
        let block = |word: u32| SackBlock { from: word as u16, count: (word >> 16) as u16 };
        let feedback = || FEEDBACK.get(small as usize).copied();
        Some(match kind {
            0 => Self::Data { echo, psn, sent_at },
            1 => Self::Segment { flags: SegmentFlags::from_bits(small >> 32), psn, sent_at },
            2 => Self::TcpAck {
                flags: AckFlags((small >> 48) as u8),
                marked: (small >> 32) as u16,
                ack: low(small),
                sack: [block(low(large)), block(high(large))],
            },
            3 => Self::Syn { feedback: feedback()? },
            4 => Self::SynAck { feedback: feedback()? },
            5 => Self::Ack { echo, psn, sent_at },
            6 => Self::Nak { echo, psn, arrived: low(large) },
            7 => Self::Trimmed { echo, psn, sent_at },
            8 => Self::TrimNak { echo, psn, sent_at },
            9 => Self::Credit { number: low(small) },
            10 => Self::Cnp,
            11 => Self::Indication { severity: small as u8 },
            12 => Self::Cnm {
                feedback: small as u8,
                offset: (small >> 8) as u16 as i16,
                delta: (small >> 24) as u16 as i16,
            },
            13 => Self::Sfc {
                towards: NodeId(low(large)),
                class: Class(small as u8),
                pause_ns: high(large),
            },
            14 => Self::Pfc {
                classes: small as u8,
                quanta: (small >> 16) as u16,
                resumed: (small >> 8) as u8,
            },
            15 => Self::Pause { quanta: small as u16 },
            16 => Self::Cim,
            17 => Self::Bfc {
                class: small as u8,
                physical_queue: (small >> 8) as u8,
                stop: small >> 16 != 0,
            },
            18 => Self::Drc { group: small as u16, mask: (small >> 16) as u8, statuses: large },
            19 => Self::LinkCredit { class: small as u8, limit: large },
            20 => Self::Octets { number: low(small), sent_at: Instant(large) },
            21 => Self::UetAck {
                received: (small >> 48) as u8,
                about: Answered((small >> 32) as u16),
                ack: low(small),
                bitmap: large,
            },
            22 => Self::Request { target: low(small) },
            _ => return None,
        })
    }
}

fn echo_and(echo: Echo, psn: u32) -> u64 {
    join(psn, echo.bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Dscp, Ecn};

    /// Every kind of frame, with fields that have their first and last bits set.
    fn bodies() -> Vec<Body> {
        let (echo, psn, sent_at) =
            (Echo::of(Echo::MOST, true), u32::MAX - 6, Instant(u64::MAX - 5));
        let flags = SegmentFlags { window_reduced: true, push: false };
        let sack = [SackBlock { from: 65_535, count: 1 }, SackBlock { from: 2, count: 40_000 }];
        let mut bodies = vec![
            Body::Data { echo, psn, sent_at },
            Body::Octets { number: psn, sent_at },
            Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO },
            Body::Segment { flags, psn, sent_at },
            Body::Segment {
                flags: SegmentFlags { window_reduced: false, push: true },
                psn,
                sent_at,
            },
            Body::TcpAck { flags: AckFlags::new(true, true), marked: 65_535, ack: psn, sack },
            Body::Ack { echo, psn, sent_at },
            Body::Nak { echo: Echo::of(1, false), psn, arrived: u32::MAX },
            Body::Trimmed { echo, psn, sent_at },
            Body::TrimNak { echo, psn, sent_at },
            Body::TrimNak { echo: Echo::default(), psn, sent_at },
            Body::UetAck { received: 255, about: Answered(0x8003), ack: psn, bitmap: u64::MAX - 1 },
            Body::Credit { number: u32::MAX },
            Body::Request { target: u32::MAX - 1 },
            Body::Cnp,
            Body::Indication { severity: 255 },
            Body::Cnm { feedback: 63, offset: -1, delta: i16::MIN },
            Body::Cnm { feedback: 1, offset: i16::MAX, delta: -77 },
            Body::Sfc { towards: NodeId(u32::MAX), class: Class(7), pause_ns: u32::MAX - 1 },
            Body::Pfc { classes: 0x81, quanta: 65_535, resumed: 0x7e },
            Body::Pause { quanta: 65_534 },
            Body::Cim,
            Body::Bfc { class: 7, physical_queue: 255, stop: true },
            Body::Bfc { class: 0, physical_queue: 1, stop: false },
            Body::Drc { group: 65_535, mask: 255, statuses: u64::MAX - 2 },
            Body::LinkCredit { class: 7, limit: u64::MAX },
        ];
        bodies.extend(FEEDBACK.map(|feedback| Body::Syn { feedback }));
        bodies.extend(FEEDBACK.map(|feedback| Body::SynAck { feedback }));
        bodies
    }

    #[test]
    fn every_kind_of_frame_comes_back_from_its_words() {
        let mut kinds = std::collections::BTreeSet::new();
        for body in bodies() {
            let packet = Packet {
                flow: FlowId(u32::MAX),
                connection: 1,
                src: NodeId(2),
                dst: NodeId(u32::MAX - 3),
                bytes: 65_535,
                ingress: PortIx(16_000),
                class: Class(7),
                physical_queue: 255,
                tos: Tos::new(Dscp(63), Ecn::Ce),
                indicated: true,
                body,
            };
            let words = packet.to_words();
            kinds.insert(words[3] as u8);
            let back = Packet::from_words(words).unwrap();
            assert_eq!(format!("{back:?}"), format!("{packet:?}"));
        }
        // Every kind that can be read was written.
        let readable = (0..=255).filter(|&kind| Body::from_words(kind, 0, 0).is_some());
        assert_eq!(kinds, readable.collect());
        assert!(Packet::from_words([0, 0, 0, 3 | 4 << 8, 0]).is_none(), "no such feedback");
    }
}
