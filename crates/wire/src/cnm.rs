//! The congestion notification message of QCN and the CN-TAG (IEEE 802.1Q clauses 30 to 33). Layout of the PDU from
//! the configuration manual of a switch (HPE 5940), not checked against the standard.
//!
//! Octets 22 to 45 of a tagged frame and those that follow are the PDU, 24 to 88 octets. On a real wire data frames
//! would carry a CN-TAG too; in the simulation their length does not include it, nor a VLAN tag.

use crate::Invalid;
use crate::ethernet::{Frame, Header, Mac, SHORTEST, Tag, ethertype, frame};
use crate::layout::{check_length, layout};

layout! {
    /// The CN-TAG, after the VLAN tag. The EtherType of what it tags follows.
    CnTag[4] "CN-TAG" {
        /// The flow of the sampled frame, by which its source finds the reaction point.
        flow: u16 = (2, 0, 16),
        fixed "EtherType" = (0, 0, 16) is ethertype::CN_TAG,
    }
}

layout! {
    /// The PDU, after the EtherType, without the octets of the sampled frame, which follow.
    Pdu[24] "congestion notification message" {
        /// Quantized feedback: severity of congestion, 0 to 63.
        feedback: u8 = (1, 2, 6),
        /// Identifier of the congestion point.
        cpid: u64 = (2, 0, 64),
        /// QOffset: setpoint of the queue minus its length, in units of 64 octets.
        offset: i16 = (10, 0, 16),
        /// QDelta: growth of the queue since the last sample, in units of 64 octets.
        delta: i16 = (12, 0, 16),
        /// Priority of the sampled frame, in the three most significant bits of its two octets.
        priority: u8 = (14, 0, 3),
        /// Destination of the sampled frame.
        destination: Mac = (16, 0, 48),
        /// Number of octets of the sampled frame that follow, at most 64.
        octets: u16 = (22, 0, 16),
        fixed "version" = (0, 0, 4) is 0_u8,
    }
}

/// The most octets of the sampled frame.
pub const MOST_OCTETS: usize = 64;

/// A message in its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cnm {
    /// The source of the sampled frame.
    pub destination: Mac,
    /// The congestion point.
    pub source: Mac,
    /// Priority of the message; 6 by default (clause 32).
    pub priority: u8,
    /// The flow of the sampled frame.
    pub flow: u16,
    /// The PDU.
    pub pdu: Pdu,
    /// The first octets of the sampled frame after its addresses, at most 64. `pdu.octets` is their number.
    pub sampled: Vec<u8>,
}

impl Cnm {
    /// The frame. Panics if `pdu.octets` is not the number of sampled octets, or that is too large.
    pub fn frame(&self) -> Vec<u8> {
        assert!(self.sampled.len() <= MOST_OCTETS);
        assert_eq!(usize::from(self.pdu.octets), self.sampled.len());
        let tag = Tag { priority: self.priority, drop_eligible: false, vlan: 0 };
        let tags = [tag.octets(), CnTag { flow: self.flow }.octets()].concat();
        let (destination, source) = (self.destination, self.source);
        let header = Header { destination, source, ethertype: ethertype::CNM };
        let content = [self.pdu.octets().as_slice(), &self.sampled].concat();
        frame(header, &tags, &content, SHORTEST)
    }

    /// Reads a frame.
    ///
    /// # Errors
    ///
    /// If it is damaged, lacks a tag, or is not of this kind and version.
    pub fn parse(octets: &[u8]) -> Result<Self, Invalid> {
        const NAME: &str = "congestion notification message";
        let frame = Frame::parse(octets)?;
        let content = frame.content_of("CN-TAG", ethertype::CN_TAG)?;
        let tag = frame.tag.ok_or(Invalid::Header("802.1Q tag"))?;
        check_length(NAME, content, CnTag::LEN + Pdu::LEN)?;
        let flow = u16::from_be_bytes([content[0], content[1]]);
        let tagged = u16::from_be_bytes([content[2], content[3]]);
        Invalid::unless(NAME, "EtherType", tagged, ethertype::CNM)?;
        let content = &content[CnTag::LEN..];
        let pdu = Pdu::parse(content)?;
        let (stated, left) = (usize::from(pdu.octets), &content[Pdu::LEN..]);
        if stated > MOST_OCTETS || stated > left.len() {
            return Err(Invalid::Length { format: NAME, stated, found: left.len() });
        }
        let Header { destination, source, .. } = frame.header;
        let sampled = left[..stated].to_vec();
        Ok(Self { destination, source, priority: tag.priority, flow, pdu, sampled })
    }
}
