//! The congestion notification message, octet by octet.
//!
//! | octets | field |
//! | --- | --- |
//! | 0–5 | destination: the source of the sampled frame |
//! | 6–11 | source: the address of the congestion point |
//! | 12–15 | VLAN tag: 0x8100, then the priority of messages in three bits, and VLAN 0 |
//! | 16–19 | CN-TAG: 0x22E9, and the flow of the sampled frame, by which its source finds the reaction point |
//! | 20–21 | EtherType 0x22E7 |
//! | 22–23 | version 0 in four bits, six bits that are 0, and six bits of feedback |
//! | 24–31 | CPID: identifier of the congestion point |
//! | 32–33 | QOffset: Q_eq minus the length of the queue, in units of 64 octets, two's complement |
//! | 34–35 | QDelta: the growth of the queue since the last sample, likewise |
//! | 36–37 | priority of the sampled frame, in the three most significant bits |
//! | 38–43 | destination of the sampled frame |
//! | 44–45 | number of octets of the sampled frame that follow |
//! | 46–    | these octets, 0 to 64, starting with its EtherType |
//! |        | padding to 60 octets, and the FCS |
//!
//! Octets 22 to 45 and those that follow are the PDU, 24 to 88 octets. Numbers are big-endian; the
//! FCS is sent least significant octet first, as on the wire. On a real wire data frames would
//! carry a CN-TAG too; here their length does not include it, nor a VLAN tag.

use std::fmt;

use floodway_model::packet::length;

use super::super::drc::frame::crc32;
use super::MOST;

/// Octets before those of the sampled frame.
const HEADER: usize = 46;
/// The most octets of the sampled frame.
const MOST_OCTETS: usize = 64;
const VLAN: [u8; 2] = [0x81, 0x00];
const CN_TAG: [u8; 2] = [0x22, 0xe9];
const TYPE: [u8; 2] = [0x22, 0xe7];
const FCS: usize = 4;

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cnm {
    /// MAC address of the source of the sampled frame.
    pub destination: [u8; 6],
    /// MAC address of the congestion point.
    pub source: [u8; 6],
    /// Priority of the message, 0 to 7; 6 by default (clause 32).
    pub priority: u8,
    /// The flow of the sampled frame.
    pub flow: u16,
    /// The feedback, 0 to 63.
    pub feedback: u8,
    /// The congestion point.
    pub cpid: u64,
    /// Q_eq minus the length of the queue, in units of 64 octets.
    pub offset: i16,
    /// Growth of the queue since the last sample, in units of 64 octets.
    pub delta: i16,
    /// Priority of the sampled frame, 0 to 7.
    pub sampled_priority: u8,
    /// Destination of the sampled frame.
    pub sampled_destination: [u8; 6],
    /// The octets of the sampled frame that are sent back, at most 64.
    pub octets: Vec<u8>,
}

/// Why octets are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// There are fewer than 64, or not as many as the fields indicate.
    Length,
    /// The FCS does not match the other octets.
    Fcs,
    /// Tags, type or version differ.
    Type,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the length is not that of a congestion notification message",
            Self::Fcs => "the FCS is not that of the octets before it",
            Self::Type => "tags, type or version are not those of the message",
        })
    }
}

impl std::error::Error for Invalid {}

impl Cnm {
    /// Encodes the frame. Panics if a field does not fit.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.feedback <= MOST && self.priority < 8 && self.sampled_priority < 8);
        assert!(self.octets.len() <= MOST_OCTETS);
        let mut frame = [
            self.destination.as_slice(),
            &self.source,
            &VLAN,
            &[self.priority << 5, 0],
            &CN_TAG,
            &self.flow.to_be_bytes(),
            &TYPE,
            &[0, self.feedback],
            &self.cpid.to_be_bytes(),
            &self.offset.to_be_bytes(),
            &self.delta.to_be_bytes(),
            &[self.sampled_priority << 5, 0],
            &self.sampled_destination,
            &(self.octets.len() as u16).to_be_bytes(),
            &self.octets,
        ]
        .concat();
        frame.resize(frame.len().max(usize::from(length::SHORTEST_FRAME) - FCS), 0);
        let fcs = crc32(&frame);
        frame.extend(fcs.to_le_bytes());
        frame
    }

    /// Decodes a frame.
    ///
    /// # Errors
    ///
    /// If it is not such a message, or is damaged.
    pub fn decode(frame: &[u8]) -> Result<Self, Invalid> {
        let shortest = usize::from(length::SHORTEST_FRAME);
        let at = frame.len().checked_sub(FCS).filter(|_| frame.len() >= shortest);
        let (body, fcs) = frame.split_at(at.ok_or(Invalid::Length)?);
        if *fcs != crc32(body).to_le_bytes() {
            return Err(Invalid::Fcs);
        }
        let six = |at: usize| -> [u8; 6] { std::array::from_fn(|n| body[at + n]) };
        let two = |at: usize| [body[at], body[at + 1]];
        // Only the four version bits are checked; the reserved bits may be defined later.
        if two(12) != VLAN || two(16) != CN_TAG || two(20) != TYPE || body[22] >> 4 != 0 {
            return Err(Invalid::Type);
        }
        let count = usize::from(u16::from_be_bytes(two(44)));
        if count > MOST_OCTETS || body.len() != (HEADER + count).max(shortest - FCS) {
            return Err(Invalid::Length);
        }
        Ok(Self {
            destination: six(0),
            source: six(6),
            priority: body[14] >> 5,
            flow: u16::from_be_bytes(two(18)),
            feedback: body[23] & MOST,
            cpid: u64::from_be_bytes(std::array::from_fn(|n| body[24 + n])),
            offset: i16::from_be_bytes(two(32)),
            delta: i16::from_be_bytes(two(34)),
            sampled_priority: body[36] >> 5,
            sampled_destination: six(38),
            octets: body[HEADER..HEADER + count].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message() -> Cnm {
        Cnm {
            destination: [0x02, 0, 0, 0, 0, 0x01],
            source: [0x02, 0, 0, 0, 0, 0x02],
            priority: 6,
            flow: 0x1234,
            feedback: 37,
            cpid: 0x0200_0000_0002_0003,
            offset: -406,
            delta: 406,
            sampled_priority: 3,
            sampled_destination: [0x02, 0, 0, 0, 0, 0x03],
            octets: vec![0x08, 0x00, 0x45],
        }
    }

    /// Written by hand: 26,000 bytes are 406 units of 64 and a fraction, -406 is 0xfe6a.
    fn written() -> Vec<u8> {
        let mut octets = vec![
            0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, // addresses
            0x81, 0x00, 0xc0, 0x00, // priority 6
            0x22, 0xe9, 0x12, 0x34, 0x22, 0xe7, 0x00, 0x25, // flow, type, feedback 37
            0x02, 0, 0, 0, 0, 0x02, 0, 0x03, // CPID
            0xfe, 0x6a, 0x01, 0x96, // offset, delta
            0x60, 0x00, 0x02, 0, 0, 0, 0, 0x03, 0, 3, 0x08, 0x00, 0x45,
        ];
        octets.resize(60, 0);
        octets
    }

    #[test]
    fn a_message_written_out() {
        let frame = message().encode();
        assert_eq!((frame.len(), &frame[..60]), (64, written().as_slice()));
        // zlib.crc32 of these octets.
        assert_eq!(frame[60..], 0x9570_10b7_u32.to_le_bytes());
        assert_eq!(Cnm::decode(&frame), Ok(message()));
    }

    #[test]
    fn the_pdu_has_24_to_88_octets() {
        // Both addresses, both tags, the type and the FCS add 26.
        for (octets, expected) in [(0, 64), (14, 64), (15, 65), (64, 26 + 88)] {
            let cnm = Cnm { octets: vec![7; octets], ..message() };
            assert_eq!(cnm.encode().len(), expected, "{octets}");
            let spec = super::super::Spec { header_octets: octets as u8, ..Default::default() };
            assert_eq!(usize::from(spec.message_bytes(1_518)), expected, "{octets}");
        }
        assert_eq!(usize::from(length::CNM), 26 + 24);
        // A frame of 64 octets has 46 after its addresses and type.
        let spec = super::super::Spec { header_octets: 64, ..Default::default() };
        assert_eq!(spec.message_bytes(64), 26 + 24 + 46);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let sealed = |at: usize, octet: u8| {
            let mut frame = message().encode();
            frame[at] = octet;
            let fcs = crc32(&frame[..60]);
            frame[60..].copy_from_slice(&fcs.to_le_bytes());
            Cnm::decode(&frame).map(|_| ())
        };
        assert_eq!(Cnm::decode(&message().encode()[..63]), Err(Invalid::Length));
        assert_eq!(Cnm::decode(&[]), Err(Invalid::Length));
        for at in [12, 17, 21] {
            assert_eq!(sealed(at, 0x55), Err(Invalid::Type), "{at}");
        }
        // Another version is rejected; reserved bits are ignored.
        assert_eq!(sealed(22, 0x10), Err(Invalid::Type));
        assert_eq!(sealed(22, 0x0f), Ok(()));
        // 15 octets would need a longer frame.
        assert_eq!(sealed(45, 15), Err(Invalid::Length));
        assert_eq!(sealed(45, 14), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            addresses: [[u8; 6]; 3], flow: u16, feedback in 0u8..64, cpid: u64, offset: i16,
            delta: i16, priorities in (0u8..8, 0u8..8),
            octets in proptest::collection::vec(any::<u8>(), 0..=64), damaged: usize,
        ) {
            let [destination, source, sampled_destination] = addresses;
            let (priority, sampled_priority) = priorities;
            let cnm = Cnm {
                destination, source, sampled_destination, priority, sampled_priority, flow, feedback,
                cpid, offset, delta, octets,
            };
            let mut frame = cnm.encode();
            prop_assert_eq!(Cnm::decode(&frame), Ok(cnm));
            // A single bit error is always detected.
            let bit = damaged % (8 * frame.len());
            frame[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Cnm::decode(&frame), Err(Invalid::Fcs));
        }
    }
}
