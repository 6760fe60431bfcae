//! MAC control frames: PAUSE, PFC, and the feedback of Directional Rate Control. All have 64 octets and end at
//! the neighbor, to which their destination address leads.

use crate::Invalid;
use crate::ethernet::{Frame, Header, Mac, SHORTEST, ethertype, frame};
use crate::layout::layout;

/// Destination of MAC control frames (IEEE 802.3 annex 31B).
pub const DESTINATION: Mac = Mac([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

layout! {
    /// PAUSE (IEEE 802.3 annex 31B), after the EtherType.
    Pause[4] "PAUSE" {
        /// Pause time in quanta of 512 bit times; 0 resumes.
        quanta: u16 = (2, 0, 16),
        fixed "opcode" = (0, 0, 16) is 0x0001_u16,
    }
}

/// Priority-based flow control (IEEE 802.1Q clause 36, IEEE 802.3 annex 31D), after the EtherType: opcode 0x0101 in
/// octets 0 and 1, the enable vector in octets 2 and 3, then two octets of pause time for each of eight priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pfc {
    /// Bit n: the pause time of priority n is valid. The other eight bits of the vector are reserved.
    pub enabled: u8,
    /// Pause time of each priority, in quanta of 512 bit times; 0 resumes.
    pub quanta: [u16; 8],
}

layout! {
    /// What precedes the pause times of PFC.
    PfcHeader[4] "PFC" {
        /// Bit n: the pause time of priority n is valid.
        enabled: u8 = (3, 0, 8),
        fixed "opcode" = (0, 0, 16) is 0x0101_u16,
    }
}

impl Pfc {
    /// Number of octets.
    pub const LEN: usize = PfcHeader::LEN + 16;

    /// Its octets.
    pub fn octets(&self) -> [u8; Self::LEN] {
        let mut octets = [0; Self::LEN];
        octets[..PfcHeader::LEN].copy_from_slice(&PfcHeader { enabled: self.enabled }.octets());
        let times = octets[PfcHeader::LEN..].chunks_mut(2);
        times.zip(self.quanta).for_each(|(at, time)| at.copy_from_slice(&time.to_be_bytes()));
        octets
    }

    /// Reads it from the beginning of these octets.
    ///
    /// # Errors
    ///
    /// If there are too few, or the opcode is another one.
    pub fn parse(octets: &[u8]) -> Result<Self, Invalid> {
        crate::layout::check_length("PFC", octets, Self::LEN)?;
        let PfcHeader { enabled } = PfcHeader::parse(octets)?;
        let time = |n: usize| u16::from_be_bytes([octets[4 + 2 * n], octets[5 + 2 * n]]);
        Ok(Self { enabled, quanta: std::array::from_fn(time) })
    }
}

layout! {
    /// Feedback of Directional Rate Control, after the EtherType. The order of the fields, two bits for each direction
    /// and one for each priority are those of the deck (Wadekar, McAlpine, Gupta, 2004); opcode and group are assumed,
    /// because the deck has no numbers and one frame has no room for all ports of a large switch.
    Drc[13] "DRC feedback" {
        /// Severity of congestion of 32 directions, two bits each, the first in the most significant bits.
        statuses: u64 = (2, 0, 64),
        /// Bit c: class c is controlled.
        mask: u8 = (10, 0, 8),
        /// Number of the group of 32 directions that it reports; 0 for the first, as if it were padding.
        group: u16 = (11, 0, 16),
        fixed "opcode" = (0, 0, 16) is 0x0dc0_u16,
    }
}

/// What a MAC control frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacControl {
    /// PAUSE.
    Pause(Pause),
    /// Priority-based flow control.
    Pfc(Pfc),
    /// Feedback of Directional Rate Control.
    Drc(Drc),
}

impl MacControl {
    /// The frame from the port with this address.
    pub fn frame(&self, source: Mac) -> Vec<u8> {
        let header = Header { destination: DESTINATION, source, ethertype: ethertype::MAC_CONTROL };
        let content = match self {
            Self::Pause(pause) => pause.octets().to_vec(),
            Self::Pfc(pfc) => pfc.octets().to_vec(),
            Self::Drc(drc) => drc.octets().to_vec(),
        };
        frame(header, &[], &content, SHORTEST)
    }

    /// Reads a frame, by its opcode.
    ///
    /// # Errors
    ///
    /// If it is damaged, is of another EtherType or has an opcode that is none of these.
    pub fn parse(octets: &[u8]) -> Result<Self, Invalid> {
        let content = Frame::parse(octets)?.content_of("MAC control", ethertype::MAC_CONTROL)?;
        match content {
            [0x00, 0x01, ..] => Pause::parse(content).map(Self::Pause),
            [0x01, 0x01, ..] => Pfc::parse(content).map(Self::Pfc),
            _ => Drc::parse(content).map(Self::Drc),
        }
    }
}
