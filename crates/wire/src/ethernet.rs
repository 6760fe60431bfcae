//! Ethernet frames with their frame check sequence (IEEE 802.3 clause 3), and the tag of IEEE 802.1Q clause 9.
//!
//! The header is in the same form as the tags and messages below, which no library has.

use std::fmt;

use crate::Invalid;
use crate::layout::{Value, check_length, layout};

/// A MAC address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Value for Mac {
    fn to_bits(self) -> u64 {
        self.0.iter().fold(0, |all, &octet| all << 8 | u64::from(octet))
    }

    fn from_bits(bits: u64, _: u32) -> Self {
        let [_, _, octets @ ..] = bits.to_be_bytes();
        Self(octets)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

layout! {
    /// The header of a frame (IEEE 802.3 clause 3.2).
    Header[14] "Ethernet header" {
        /// Destination address.
        destination: Mac = (0, 0, 48),
        /// Source address.
        source: Mac = (6, 0, 48),
        /// EtherType of what follows.
        ethertype: u16 = (12, 0, 16),
    }
}

layout! {
    /// The VLAN tag, after the source address (IEEE 802.1Q clause 9.6).
    Tag[4] "802.1Q tag" {
        /// Priority code point.
        priority: u8 = (2, 0, 3),
        /// Drop eligible indicator.
        drop_eligible: bool = (2, 3, 1),
        /// VLAN identifier; 0 for a tag that has a priority only.
        vlan: u16 = (2, 4, 12),
        fixed "tag protocol identifier" = (0, 0, 16) is 0x8100_u16,
    }
}

/// EtherTypes.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// The tag of IEEE 802.1Q.
    pub const VLAN: u16 = 0x8100;
    /// MAC control: PAUSE, PFC and Directional Rate Control.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// Local experimental EtherType 1 of IEEE 802, for formats of floodway's own.
    pub const EXPERIMENTAL: u16 = 0x88b5;
    /// Congestion notification message.
    pub const CNM: u16 = 0x22e7;
    /// CN-TAG.
    pub const CN_TAG: u16 = 0x22e9;
    /// Congestion isolation message.
    pub const CIM: u16 = 0x89a2;
}

/// Length of the frame check sequence.
pub const FCS: usize = 4;

/// Length of the shortest frame, FCS included.
pub const SHORTEST: usize = 64;

/// The frame check sequence of these octets, as it is sent (IEEE 802.3 clause 3.2.9).
pub fn fcs(octets: &[u8]) -> [u8; FCS] {
    crc32fast::hash(octets).to_le_bytes()
}

/// A frame of a header, perhaps tags, and content, padded to `least` octets, and its FCS.
pub fn frame(header: Header, tags: &[u8], content: &[u8], least: usize) -> Vec<u8> {
    let Header { destination, source, ethertype } = header;
    let mut frame = Vec::with_capacity(Header::LEN + tags.len() + content.len() + FCS);
    frame.extend(destination.0);
    frame.extend(source.0);
    frame.extend(tags);
    frame.extend(ethertype.to_be_bytes());
    frame.extend(content);
    frame.resize(frame.len().max(least.saturating_sub(FCS)), 0);
    frame.extend(fcs(&frame));
    frame
}

/// What a frame has between its addresses and its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Destination address, source address, and the EtherType after the tag, if there is one.
    pub header: Header,
    /// The VLAN tag.
    pub tag: Option<Tag>,
    /// What follows the EtherType, padding included.
    pub content: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame whose last octets are its FCS.
    ///
    /// # Errors
    ///
    /// If it is shorter than its headers, or damaged.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Invalid> {
        check_length("Ethernet frame", octets, Header::LEN + FCS)?;
        let (octets, sum) = octets.split_at(octets.len() - FCS);
        if *sum != fcs(octets) {
            return Err(Invalid::Fcs);
        }
        let mut header = Header::parse(octets)?;
        let mut at = Header::LEN;
        let mut tag = None;
        if header.ethertype == ethertype::VLAN {
            check_length("802.1Q tag", octets, at + Tag::LEN)?;
            tag = Some(Tag::parse(&octets[at - 2..])?);
            header.ethertype = u16::from_be_bytes([octets[at + 2], octets[at + 3]]);
            at += Tag::LEN;
        }
        Ok(Self { header, tag, content: &octets[at..] })
    }

    /// What follows the EtherType, which must be this one.
    ///
    /// # Errors
    ///
    /// If it is another one.
    pub fn content_of(&self, format: &'static str, ethertype: u16) -> Result<&'a [u8], Invalid> {
        Invalid::unless(format, "EtherType", self.header.ethertype, ethertype)?;
        Ok(self.content)
    }
}
