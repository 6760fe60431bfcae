//! What a frame of a capture carries.

use std::net::IpAddr;

use etherparse::{
    EtherType, LaxNetSlice, LaxSlicedPacket, TcpHeaderSlice, TransportSlice, UdpHeaderSlice,
    ip_number,
};
use floodway_wire::capture::{Frame, link};
use floodway_wire::roce::{self, Bth, opcode};

use super::Transport;

/// One end of a connection to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub transport: Transport,
    /// Ports; of RoCEv2 the queue pair at the destination.
    pub ends: (u32, u32),
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub key: Key,
    /// Octets of payload.
    pub payload: u64,
    /// For TCP and RoCEv2, the number of its first octet or of the packet, with how many bits it has.
    pub number: Option<(u32, u32)>,
    /// Whether it opens a connection.
    pub opens: bool,
}

/// A frame, to the table of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Packet(Packet),
    Multicast,
    Fragment,
    OtherProtocol,
    NoIp,
    Malformed,
}

/// What a frame is; an error for the number of a link type that is not known.
pub fn seen(frame: &Frame<'_>) -> Result<Seen, i32> {
    let sliced = match frame.link {
        link::ETHERNET => LaxSlicedPacket::from_ethernet(frame.octets).ok(),
        link::RAW => LaxSlicedPacket::from_ip(frame.octets).ok(),
        // Sixteen octets, of which the last two are the EtherType (LINKTYPE_LINUX_SLL).
        link::LINUX_SLL => frame.octets.split_at_checked(16).map(|(header, rest)| {
            let ethertype = EtherType(u16::from_be_bytes([header[14], header[15]]));
            LaxSlicedPacket::from_ether_type(ethertype, rest)
        }),
        other => return Err(other),
    };
    Ok(sliced.map_or(Seen::Malformed, |sliced| of(&sliced)))
}

fn of(sliced: &LaxSlicedPacket<'_>) -> Seen {
    let (source, destination, length, fragmented, first) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let length = usize::from(header.total_len()).checked_sub(header.slice().len());
            let (source, destination) = (header.source_addr(), header.destination_addr());
            let first = header.fragments_offset().value() == 0;
            let fragmented = ip.is_payload_fragmented();
            (source.into(), destination.into(), length, fragmented, first)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            // The length of payload includes extension headers, of which all are there.
            let extensions = ip.extensions().slice().len();
            let length = usize::from(header.payload_length()).checked_sub(extensions);
            let (source, destination) = (header.source_addr(), header.destination_addr());
            let fragmented = ip.is_payload_fragmented();
            (source.into(), destination.into(), length, fragmented, false)
        }
        Some(LaxNetSlice::Arp(_)) => return Seen::NoIp,
        None if sliced.stop_err.is_some() => return Seen::Malformed,
        None => return Seen::NoIp,
    };
    let Some(length) = length else { return Seen::Malformed };
    if several(destination) {
        return Seen::Multicast;
    }
    if fragmented && !first {
        return Seen::Fragment;
    }
    let transport = transport(sliced);
    let Some((protocol, header, ports)) = transport else {
        let payload = sliced.net.as_ref().and_then(LaxNetSlice::ip_payload_ref);
        let known = payload
            .is_some_and(|payload| [ip_number::TCP, ip_number::UDP].contains(&payload.ip_number));
        return if known { Seen::Malformed } else { Seen::OtherProtocol };
    };
    let Some(payload) = length.checked_sub(header) else { return Seen::Malformed };
    let ends = (u32::from(ports.0), u32::from(ports.1));
    let key = Key { source, destination, transport: protocol.transport(), ends };
    protocol.packet(key, payload as u64)
}

/// A transport header, as much of it as matters.
enum Header<'a> {
    Tcp { number: u32, syn: bool, ack: bool },
    Udp { payload: &'a [u8] },
}

impl Header<'_> {
    fn transport(&self) -> Transport {
        match self {
            Self::Tcp { .. } => Transport::Tcp,
            Self::Udp { .. } => Transport::Udp,
        }
    }

    fn packet(&self, key: Key, payload: u64) -> Seen {
        match *self {
            Self::Tcp { number, syn, ack } => {
                // A SYN has a number of its own.
                let number = Some((number.wrapping_add(syn.into()), 32));
                Seen::Packet(Packet { key, payload, number, opens: syn && !ack })
            }
            Self::Udp { payload: octets } if key.ends.1 == u32::from(roce::PORT) => {
                packet_of_roce(key, payload, octets)
            }
            Self::Udp { .. } => Seen::Packet(Packet { key, payload, number: None, opens: false }),
        }
    }
}

/// The transport header with its length and ports, also of a frame whose payload was cut off.
fn transport<'a>(sliced: &LaxSlicedPacket<'a>) -> Option<(Header<'a>, usize, (u16, u16))> {
    let payload = sliced.net.as_ref()?.ip_payload_ref()?;
    match &sliced.transport {
        Some(TransportSlice::Tcp(_)) | None if payload.ip_number == ip_number::TCP => {
            let tcp = TcpHeaderSlice::from_slice(payload.payload).ok()?;
            let header =
                Header::Tcp { number: tcp.sequence_number(), syn: tcp.syn(), ack: tcp.ack() };
            Some((header, tcp.slice().len(), (tcp.source_port(), tcp.destination_port())))
        }
        Some(TransportSlice::Udp(_)) | None if payload.ip_number == ip_number::UDP => {
            let udp = UdpHeaderSlice::from_slice(payload.payload).ok()?;
            let rest = payload.payload.get(8..)?;
            Some((Header::Udp { payload: rest }, 8, (udp.source_port(), udp.destination_port())))
        }
        _ => None,
    }
}

/// A packet of RoCEv2 by its opcode. Requests and responses that carry payload have opcodes below that of the
/// acknowledgement in every kind of connection.
fn packet_of_roce(key: Key, payload: u64, octets: &[u8]) -> Seen {
    const KIND: u8 = 0x1f;
    let Ok(bth) = Bth::parse(octets) else { return Seen::Malformed };
    let around = Bth::LEN + roce::ICRC + usize::from(bth.pad);
    let kind = bth.opcode & KIND;
    let carries = kind < opcode::ACKNOWLEDGE && kind != 0x0c && bth.opcode < 0x60;
    let header = match kind {
        // RETH, and for the only packet perhaps immediate data.
        0x06 | 0x0a => 16,
        0x0b => 20,
        // Immediate data.
        0x03 | 0x05 | 0x09 => 4,
        // AETH of the first, last and only packet of a response.
        0x0d | 0x0f | 0x10 => 4,
        _ => 0,
    };
    let payload = if carries { payload.saturating_sub((around + header) as u64) } else { 0 };
    let key = Key { transport: Transport::Rocev2, ends: (0, bth.queue_pair), ..key };
    Seen::Packet(Packet { key, payload, number: Some((bth.psn, 24)), opens: false })
}

/// Whether an address is of several receivers.
fn several(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_multicast(),
    }
}
