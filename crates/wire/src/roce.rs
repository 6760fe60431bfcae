//! RoCEv2: packets of InfiniBand in UDP over IPv4 (InfiniBand Architecture Specification volume 1, chapter 9 and annex
//! A17). Layout as in the published notes and in the drivers of Linux, not checked against the specification; checked
//! against Wireshark and scapy.

use crate::Invalid;
use crate::ip::{Ip, Udp};
use crate::layout::{check_length, layout};

layout! {
    /// The base transport header.
    Bth[12] "BTH" {
        /// The kind of packet, an [`opcode`].
        opcode: u8 = (0, 0, 8),
        /// Solicited event: the receiver's application is woken.
        solicited: bool = (1, 0, 1),
        /// Migration state.
        migrated: bool = (1, 1, 1),
        /// Number of octets by which the payload is padded to a multiple of four.
        pad: u8 = (1, 2, 2),
        /// Partition key.
        partition: u16 = (2, 0, 16),
        /// Forward congestion notification, which RoCEv2 leaves to the ECN field.
        fecn: bool = (4, 0, 1),
        /// Backward congestion notification: set in a congestion notification packet.
        becn: bool = (4, 1, 1),
        /// The queue pair at the destination.
        queue_pair: u32 = (5, 0, 24),
        /// Whether an acknowledgement is requested.
        ack_request: bool = (8, 0, 1),
        /// Packet sequence number.
        psn: u32 = (9, 0, 24),
        fixed "transport version" = (1, 4, 4) is 0_u8,
    }
}

layout! {
    /// The RDMA extended transport header, of the first packet of an RDMA WRITE.
    Reth[16] "RETH" {
        /// Virtual address.
        address: u64 = (0, 0, 64),
        /// Remote key.
        key: u32 = (8, 0, 32),
        /// Length of the message.
        length: u32 = (12, 0, 32),
    }
}

layout! {
    /// The ACK extended transport header.
    Aeth[4] "AETH" {
        /// What it says: a [`syndrome`].
        syndrome: u8 = (0, 0, 8),
        /// Message sequence number: number of messages that are complete.
        messages: u32 = (1, 0, 24),
    }
}

/// Opcodes of reliable connections, and of congestion notification.
pub mod opcode {
    /// SEND, first packet of several.
    pub const SEND_FIRST: u8 = 0x00;
    /// SEND, neither first nor last.
    pub const SEND_MIDDLE: u8 = 0x01;
    /// SEND, last packet of several.
    pub const SEND_LAST: u8 = 0x02;
    /// SEND, only packet.
    pub const SEND_ONLY: u8 = 0x04;
    /// RDMA WRITE, first packet of several, with RETH.
    pub const WRITE_FIRST: u8 = 0x06;
    /// Acknowledgement or NAK, with AETH.
    pub const ACKNOWLEDGE: u8 = 0x11;
    /// Congestion notification packet (annex A17).
    pub const CNP: u8 = 0x81;
    /// Of floodway's own, among those for manufacturers: credit of a receiver, with [`Credit`](super::Credit).
    pub const CREDIT: u8 = 0xc1;
    /// Of floodway's own: a packet arrived trimmed, with AETH.
    pub const TRIMMED: u8 = 0xc2;
}

/// Values of [`Aeth::syndrome`].
pub mod syndrome {
    /// Acknowledgement without end-to-end credit.
    pub const ACK: u8 = 0x1f;
    /// NAK: packet sequence error.
    pub const SEQUENCE_ERROR: u8 = 0x60;
}

layout! {
    /// Credit of a receiver's congestion control (the pull of NDP, SIGCOMM 2017), which has no published format over
    /// RoCEv2.
    Credit[4] "receiver credit" {
        /// Number of packets that the receiver has requested so far, modulo 2^32.
        number: u32 = (0, 0, 32),
    }
}

/// Reserved octets of a congestion notification packet after its BTH.
pub const CNP_RESERVED: usize = 16;

/// The UDP destination port of RoCEv2.
pub const PORT: u16 = 4791;

/// Length of the invariant CRC.
pub const ICRC: usize = 4;

/// The invariant CRC of a packet in UDP over IPv4 (annex A17): the CRC-32 of Ethernet over eight octets of ones and
/// the datagram, in which the fields that may change on the path are ones: type of service, time to live, both
/// checksums, and octet 4 of the BTH. `datagram` ends where the CRC begins, and its lengths include it. As it is sent.
///
/// # Errors
///
/// If the datagram has no room for a BTH.
pub fn icrc(datagram: &[u8]) -> Result<[u8; ICRC], Invalid> {
    let udp = usize::from(datagram.first().unwrap_or(&0) & 0xf) * 4;
    let bth = udp + 8;
    check_length("RoCEv2 packet", datagram, (bth + Bth::LEN).max(40))?;
    let mut header = [0xff; 60 + 8 + Bth::LEN];
    let header = &mut header[..bth + Bth::LEN];
    header.copy_from_slice(&datagram[..bth + Bth::LEN]);
    for masked in [1, 8, 10, 11, udp + 6, udp + 7, bth + 4] {
        header[masked] = 0xff;
    }
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[0xff; 8]);
    crc.update(header);
    crc.update(&datagram[bth + Bth::LEN..]);
    Ok(crc.finalize().to_le_bytes())
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The BTH.
    pub bth: Bth,
    /// What follows the BTH before the ICRC: further headers, payload, padding.
    pub rest: Vec<u8>,
}

impl Packet {
    /// The datagram. RoCEv2 sends no UDP checksum.
    pub fn datagram(&self, ip: &Ip, source_port: u16) -> Vec<u8> {
        let mut payload = self.bth.octets().to_vec();
        payload.extend(&self.rest);
        payload.extend([0; ICRC]);
        let mut datagram = ip.udp_unchecked((source_port, PORT), &payload);
        let at = datagram.len() - ICRC;
        let sum = icrc(&datagram[..at]).expect("it has a BTH");
        datagram[at..].copy_from_slice(&sum);
        datagram
    }

    /// Reads a datagram; what follows it is padding.
    ///
    /// # Errors
    ///
    /// If a header is malformed, or the ICRC is wrong.
    pub fn parse(octets: &[u8]) -> Result<(Self, Ip), Invalid> {
        let udp = Udp::parse(octets)?;
        Invalid::unless("RoCEv2 packet", "destination port", udp.destination_port, PORT)?;
        check_length("RoCEv2 packet", udp.payload, Bth::LEN + ICRC)?;
        let end = udp.payload.len() - ICRC;
        // The datagram begins where its headers do, which may have options.
        let all = usize::from(octets[0] & 0xf) * 4 + 8 + end;
        if icrc(&octets[..all])? != udp.payload[end..] {
            return Err(Invalid::Icrc);
        }
        let bth = Bth::parse(udp.payload)?;
        Ok((Self { bth, rest: udp.payload[Bth::LEN..end].to_vec() }, udp.ip))
    }
}
