//! The feedback frame, octet by octet: a MAC control frame of 64 octets.
//!
//! | octets | field |
//! | --- | --- |
//! | 0–5 | destination: the address of MAC control, 01-80-C2-00-00-01 |
//! | 6–11 | source: the address of the port that sends it |
//! | 12–15 | DRC type: MAC control 0x8808, and an opcode of its own (assumed: 0x0DC0) |
//! | 16–23 | direction statuses: two bits each, that of the first direction in the two most significant bits of octet 16 |
//! | 24 | priority mask: bit c, counted from the least significant, is set if class c is controlled |
//! | 25–26 | the number of the group of 32 directions that it reports (assumed: one frame has no room for all ports of a large switch); 0 for the first, as if it were padding |
//! | 27–59 | padding, zero |
//! | 60–63 | FCS: CRC-32 of octets 0 to 59 (IEEE 802.3 clause 3.2.9) |
//!
//! The order of the fields, the two bits for each direction and the one for each priority are those
//! of the deck. Numbers are big-endian, the FCS goes least significant octet first, as on the wire.

use std::fmt;

use floodway_model::packet::length;

use super::Statuses;

/// Octets of the frame, FCS included.
pub const OCTETS: usize = length::SHORTEST_FRAME as usize;

/// Destination of MAC control frames: the next hop only.
const MAC_CONTROL: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// EtherType of MAC control, and the opcode.
const TYPE: [u8; 4] = [0x88, 0x08, 0x0d, 0xc0];
const FCS_AT: usize = OCTETS - 4;

/// Content of a feedback frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// MAC address of the port that sends it.
    pub source: [u8; 6],
    /// Number of the group: it covers 32 directions, starting with this number times 32.
    pub group: u16,
    /// The severity of congestion in each.
    pub statuses: Statuses,
    /// Bit c: class c is controlled.
    pub mask: u8,
}

/// Why octets are not a valid feedback frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The length is not 64.
    Length,
    /// The FCS does not match the other octets.
    Fcs,
    /// Destination or type differ.
    Type,
    /// The padding is not zero.
    Padding,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "a feedback frame has 64 octets",
            Self::Fcs => "the FCS is not that of the octets before it",
            Self::Type => "destination and type are not those of a feedback frame",
            Self::Padding => "the padding is not zero",
        })
    }
}

impl std::error::Error for Invalid {}

impl Feedback {
    /// Encodes the frame.
    pub fn encode(&self) -> [u8; OCTETS] {
        let mut frame = [0; OCTETS];
        frame[..6].copy_from_slice(&MAC_CONTROL);
        frame[6..12].copy_from_slice(&self.source);
        frame[12..16].copy_from_slice(&TYPE);
        frame[16..24].copy_from_slice(&self.statuses.0.to_be_bytes());
        frame[24] = self.mask;
        frame[25..27].copy_from_slice(&self.group.to_be_bytes());
        let fcs = crc32(&frame[..FCS_AT]);
        frame[FCS_AT..].copy_from_slice(&fcs.to_le_bytes());
        frame
    }

    /// Decodes a frame.
    ///
    /// # Errors
    ///
    /// If it is not a feedback frame, or is damaged.
    pub fn decode(octets: &[u8]) -> Result<Self, Invalid> {
        let frame: &[u8; OCTETS] = octets.try_into().map_err(|_| Invalid::Length)?;
        if frame[FCS_AT..] != crc32(&frame[..FCS_AT]).to_le_bytes() {
            return Err(Invalid::Fcs);
        }
        if frame[..6] != MAC_CONTROL || frame[12..16] != TYPE {
            return Err(Invalid::Type);
        }
        if frame[27..FCS_AT].iter().any(|&octet| octet != 0) {
            return Err(Invalid::Padding);
        }
        let mut source = [0; 6];
        source.copy_from_slice(&frame[6..12]);
        let mut statuses = [0; 8];
        statuses.copy_from_slice(&frame[16..24]);
        Ok(Self {
            source,
            group: u16::from_be_bytes([frame[25], frame[26]]),
            statuses: Statuses(u64::from_be_bytes(statuses)),
            mask: frame[24],
        })
    }
}

/// CRC-32 of IEEE 802.3: generator 0x04C11DB7, each octet least significant bit first.
pub fn crc32(octets: &[u8]) -> u32 {
    const REVERSED: u32 = 0x04c1_1db7_u32.reverse_bits();
    let step = |crc: u32, _| crc >> 1 ^ if crc & 1 == 1 { REVERSED } else { 0 };
    !octets.iter().fold(!0, |crc, &octet| (0..8).fold(crc ^ u32::from(octet), step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fcs_is_that_of_802_3() {
        // The check value of CRC-32, and the CRC of an empty input.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        // PAUSE for 65535 quanta from 02-00-00-00-00-01, with zlib.
        let mut pause = [0; 60];
        pause[..6].copy_from_slice(&MAC_CONTROL);
        (pause[6], pause[11]) = (0x02, 0x01);
        pause[12..18].copy_from_slice(&[0x88, 0x08, 0x00, 0x01, 0xff, 0xff]);
        assert_eq!(crc32(&pause), 0xffb2_7cdd);
    }

    #[test]
    fn a_frame_written_out() {
        let mut statuses = Statuses::default();
        statuses.set(0, 3);
        statuses.set(1, 1);
        statuses.set(31, 2);
        let source = [0x02, 0, 0, 0, 0, 0x01];
        let feedback = Feedback { source, group: 0, statuses, mask: 0xff };
        let mut octets = [0; 64];
        let written = [
            [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01].as_slice(),
            &source,
            &[0x88, 0x08, 0x0d, 0xc0],
            &[0b1101_0000, 0, 0, 0, 0, 0, 0, 0b10],
            &[0xff],
        ];
        octets[..25].copy_from_slice(&written.concat());
        // zlib.crc32 of the first 60 octets is 0x15a7d2a3.
        octets[60..].copy_from_slice(&[0xa3, 0xd2, 0xa7, 0x15]);
        assert_eq!(feedback.encode(), octets);
        assert_eq!(Feedback::decode(&octets), Ok(feedback));
    }

    #[test]
    fn what_is_no_feedback_frame_is_refused() {
        let feedback =
            Feedback { source: [2; 6], group: 1, statuses: Statuses(0), mask: 1 }.encode();
        let sealed = |at: usize, octet: u8| {
            let mut frame = feedback;
            frame[at] = octet;
            let fcs = crc32(&frame[..FCS_AT]);
            frame[FCS_AT..].copy_from_slice(&fcs.to_le_bytes());
            Feedback::decode(&frame).map(|_| ())
        };
        assert_eq!(Feedback::decode(&feedback[..63]), Err(Invalid::Length));
        assert_eq!(sealed(5, 2), Err(Invalid::Type));
        // Opcode of PFC.
        assert_eq!(sealed(14, 0x01), Err(Invalid::Type));
        assert_eq!(sealed(59, 1), Err(Invalid::Padding));
        assert_eq!(sealed(24, 0), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            source: [u8; 6], group: u16, statuses: u64, mask: u8, damaged in 0usize..512
        ) {
            let feedback = Feedback { source, group, statuses: Statuses(statuses), mask };
            let mut frame = feedback.encode();
            prop_assert_eq!(Feedback::decode(&frame), Ok(feedback));
            // A single bit error is always detected.
            frame[damaged / 8] ^= 1 << (damaged % 8);
            prop_assert_eq!(Feedback::decode(&frame), Err(Invalid::Fcs));
        }

        #[test]
        fn statuses_keep_apart(severities in proptest::collection::vec(0u8..4, 32)) {
            let mut statuses = Statuses(u64::MAX);
            for (place, &severity) in severities.iter().enumerate() {
                statuses.set(place, severity);
            }
            let read: Vec<u8> = (0..32).map(|place| statuses.severity(place)).collect();
            prop_assert_eq!(read, severities);
        }
    }
}
