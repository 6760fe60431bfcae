//! What a packet occupies on an access line: overhead, framing and a smallest size, as tc-cake(8) defines them. Links with
//! such a framing carry these bytes, and the shaper of CAKE counts them for a line that is behind a modem.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Bytes of the frame check sequence, which Linux does not count.
pub const FCS: u64 = 4;
/// Bytes of a frame around its IP packet: Ethernet header and FCS.
const AROUND_IP: u64 = 14 + FCS;

/// How the line divides packets.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Packets as they are.
    None,
    /// ATM: cells of 53 bytes, of which 48 are payload. The last one is padded.
    Atm,
    /// PTM, as VDSL2 has it: 65 bytes for each 64 bytes or part of them.
    Ptm,
}

/// A kind of line, with the overhead, the framing and the smallest size that tc-cake(8) has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// Frames as the kernel counts them: with the Ethernet header and without FCS.
    Raw,
    /// 48 bytes of overhead and ATM cells: more than any line has.
    Conservative,
    /// Ethernet: 38 bytes (header, FCS, preamble, gap), at least 84 in all.
    Ethernet,
    /// Ethernet with a VLAN tag: 42 bytes, at least 84 in all.
    EtherVlan,
    /// A cable modem: 18 bytes, at least 64 in all.
    Docsis,
    /// VDSL2 with PPPoE: 30 bytes, PTM.
    PppoePtm,
    /// VDSL2: 22 bytes, PTM.
    BridgedPtm,
    /// ADSL with PPPoA and VC multiplexing: 10 bytes, ATM.
    PppoaVcmux,
    /// ADSL with PPPoA and LLC: 14 bytes, ATM.
    PppoaLlc,
    /// ADSL with PPPoE and VC multiplexing: 32 bytes, ATM.
    PppoeVcmux,
    /// ADSL with PPPoE and LLC/SNAP: 40 bytes, ATM.
    PppoeLlcsnap,
    /// ADSL, bridged with VC multiplexing: 24 bytes, ATM.
    BridgedVcmux,
    /// ADSL, bridged with LLC/SNAP: 32 bytes, ATM.
    BridgedLlcsnap,
    /// ADSL with IP over ATM and VC multiplexing: 8 bytes, ATM.
    IpoaVcmux,
    /// ADSL with IP over ATM and LLC/SNAP: 16 bytes, ATM.
    IpoaLlcsnap,
}

/// How bytes of a packet are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Counting {
    /// Bytes beyond the IP packet; `None`: the frame without its FCS.
    pub overhead: Option<i64>,
    /// Smallest size before framing.
    pub mpu: u64,
    /// Framing.
    pub framing: Framing,
}

impl Line {
    /// What tc-cake(8) says of it.
    pub const fn counting(self) -> Counting {
        use Framing::{Atm, None as Plain, Ptm};
        let (overhead, mpu, framing) = match self {
            Self::Raw => return Counting { overhead: None, mpu: 0, framing: Plain },
            Self::Conservative => (48, 0, Atm),
            Self::Ethernet => (38, 84, Plain),
            Self::EtherVlan => (42, 84, Plain),
            Self::Docsis => (18, 64, Plain),
            Self::PppoePtm => (30, 0, Ptm),
            Self::BridgedPtm => (22, 0, Ptm),
            Self::PppoaVcmux => (10, 0, Atm),
            Self::PppoaLlc => (14, 0, Atm),
            Self::PppoeVcmux => (32, 0, Atm),
            Self::PppoeLlcsnap => (40, 0, Atm),
            Self::BridgedVcmux => (24, 0, Atm),
            Self::BridgedLlcsnap => (32, 0, Atm),
            Self::IpoaVcmux => (8, 0, Atm),
            Self::IpoaLlcsnap => (16, 0, Atm),
        };
        Counting { overhead: Some(overhead), mpu, framing }
    }
}

impl Counting {
    /// What counts at most as much as any other whose overhead is not negative: the IP packet alone.
    pub const LEAST: Self = Self { overhead: Some(0), mpu: 0, framing: Framing::None };

    /// The same with what is given in place of its own.
    #[must_use]
    pub fn with(self, overhead: Option<i64>, mpu: Option<Bytes>, framing: Option<Framing>) -> Self {
        Self {
            overhead: overhead.or(self.overhead),
            mpu: mpu.map_or(self.mpu, |mpu| mpu.0),
            framing: framing.unwrap_or(self.framing),
        }
    }

    /// Bytes on the line of a frame, which has its FCS.
    pub fn bytes(self, frame: u16) -> u64 {
        let frame = u64::from(frame);
        let packet = match self.overhead {
            None => frame.saturating_sub(FCS),
            Some(overhead) => frame.saturating_sub(AROUND_IP).saturating_add_signed(overhead),
        };
        let bytes = packet.max(self.mpu);
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand. A full frame of 1518 bytes has an IP packet of 1500, the smallest of 64 has one of 46.
    #[test]
    fn bytes_on_the_line_are_those_of_each_kind_of_line() {
        let of = |line: Line| [1_518, 64].map(|frame| line.counting().bytes(frame));
        assert_eq!(of(Line::Raw), [1_514, 60]);
        assert_eq!(of(Line::Ethernet), [1_538, 84]);
        assert_eq!(of(Line::EtherVlan), [1_542, 88]);
        assert_eq!(of(Line::Docsis), [1_518, 64]);
        // 1530 bytes are 23 times 64 and 58, so that 24 are added; 76 are one and a part.
        assert_eq!(of(Line::PppoePtm), [1_554, 78]);
        assert_eq!(of(Line::BridgedPtm), [1_522 + 24, 68 + 2]);
        // 1540 bytes are 32 cells and 4 bytes: 33 cells. 86 bytes are two cells.
        assert_eq!(of(Line::PppoeLlcsnap), [33 * 53, 2 * 53]);
        // 1510 bytes are 31 cells and 22 bytes; 56 bytes are two cells.
        assert_eq!(of(Line::PppoaVcmux), [32 * 53, 2 * 53]);
        assert_eq!(of(Line::PppoaLlc), [32 * 53, 2 * 53]);
        assert_eq!(of(Line::PppoeVcmux), [32 * 53, 2 * 53]);
        assert_eq!(of(Line::BridgedVcmux), [32 * 53, 2 * 53]);
        assert_eq!(of(Line::BridgedLlcsnap), [32 * 53, 2 * 53]);
        // 1508 bytes are 31 cells and 20 bytes; 54 bytes are two cells, and 62 too.
        assert_eq!(of(Line::IpoaVcmux), [32 * 53, 2 * 53]);
        assert_eq!(of(Line::IpoaLlcsnap), [32 * 53, 2 * 53]);
        // 1548 bytes are 32 cells and 12 bytes; 94 bytes are two cells.
        assert_eq!(of(Line::Conservative), [33 * 53, 2 * 53]);
    }

    /// At the edges of cells and blocks, by hand: 48 bytes are one cell and 49 are two; 64 bytes are one block and 65 are
    /// two.
    #[test]
    fn a_byte_more_is_a_cell_more() {
        let of = |framing, bytes: u16| {
            Counting { overhead: Some(0), mpu: 0, framing }.bytes(bytes + AROUND_IP as u16)
        };
        assert_eq!([47, 48, 49].map(|bytes| of(Framing::Atm, bytes)), [53, 53, 106]);
        assert_eq!([63, 64, 65].map(|bytes| of(Framing::Ptm, bytes)), [64, 65, 67]);
    }

    #[test]
    fn overhead_may_be_negative_and_the_smallest_size_is_before_framing() {
        let counting = Counting { overhead: Some(-10), mpu: 49, framing: Framing::Atm };
        // 46 - 10 = 36, at least 49: two cells.
        assert_eq!(counting.bytes(64), 106);
        let counting = Counting { overhead: Some(-100), mpu: 0, framing: Framing::None };
        assert_eq!(counting.bytes(64), 0);
    }
}
