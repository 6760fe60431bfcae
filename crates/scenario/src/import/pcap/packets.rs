//! What a frame of a capture carries.

use std::net::IpAddr;

use etherparse::{
    EtherType, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, TcpHeaderSlice, TransportSlice,
    UdpHeaderSlice, ip_number,
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
        link::RAW | link::RAW_BSD | link::RAW_OPENBSD | link::IPV4 | link::IPV6 => {
            LaxSlicedPacket::from_ip(frame.octets).ok()
        }
        // Four octets say which protocol follows, and the IP header says it again.
        link::NULL | link::LOOP => {
            frame.octets.get(4..).and_then(|rest| LaxSlicedPacket::from_ip(rest).ok())
        }
        // Sixteen octets, of which the last two are the EtherType (LINKTYPE_LINUX_SLL).
        link::LINUX_SLL => frame.octets.split_at_checked(16).map(|(header, rest)| {
            let ethertype = EtherType(u16::from_be_bytes([header[14], header[15]]));
            LaxSlicedPacket::from_ether_type(ethertype, rest)
        }),
        // Twenty octets, of which the first two are the EtherType (LINKTYPE_LINUX_SLL2).
        link::LINUX_SLL2 => frame.octets.split_at_checked(20).map(|(header, rest)| {
            let ethertype = EtherType(u16::from_be_bytes([header[0], header[1]]));
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
            let first = ip.extensions().clone().into_iter().all(|extension| match extension {
                Ipv6ExtensionSlice::Fragment(of) => of.fragment_offset().value() == 0,
                _ => true,
            });
            (source.into(), destination.into(), length, fragmented, first)
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
    // The header of UDP has the length of the whole datagram, of which the first fragment is a part.
    let length = match protocol {
        Header::Udp { length: all, .. } if fragmented || all <= length => all,
        Header::Udp { .. } => return Seen::Malformed,
        Header::Tcp { .. } => length,
    };
    let Some(payload) = length.checked_sub(header) else { return Seen::Malformed };
    let ends = (u32::from(ports.0), u32::from(ports.1));
    let key = Key { source, destination, transport: protocol.transport(), ends };
    protocol.packet(key, payload as u64)
}

/// A transport header, as much of it as matters.
enum Header<'a> {
    Tcp { number: u32, syn: bool, ack: bool },
    Udp { length: usize, payload: &'a [u8] },
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
            Self::Udp { payload: octets, .. } if key.ends.1 == u32::from(roce::PORT) => {
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
            let header = Header::Udp { length: udp.length().into(), payload: rest };
            Some((header, 8, (udp.source_port(), udp.destination_port())))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A datagram of UDP with 4,000 octets of payload, as far as it is in a frame behind this IP header.
    fn datagram(link: i32, ip: &[u8]) -> Seen {
        let udp = [0x30, 0x39, 0, 80, 0x0f, 0xa8, 0, 0];
        let octets = [ip, &udp, &[0; 1_472]].concat();
        let length = octets.len() as u32;
        seen(&Frame { number: 1, interface: 0, at_ns: 0, link, octets: &octets, length }).unwrap()
    }

    fn payload(seen: Seen) -> u64 {
        match seen {
            Seen::Packet(packet) => packet.payload,
            other => panic!("{other:?}"),
        }
    }

    /// 20 + 8 + 1,472 octets, of which these are flags and offset, from 10.0.0.1 to 10.0.0.2.
    fn ipv4(fragment: [u8; 2]) -> Vec<u8> {
        let [flags, offset] = fragment;
        [&[0x45, 0, 5, 0xdc, 0, 1, flags, offset, 64, 17, 0, 0][..], &[10, 0, 0, 1, 10, 0, 0, 2]]
            .concat()
    }

    #[test]
    fn the_first_fragment_has_the_length_of_the_datagram() {
        assert_eq!(payload(datagram(link::IPV4, &ipv4([0x20, 0]))), 4_000, "more fragments");
        assert_eq!(datagram(link::RAW, &ipv4([0x20, 185])), Seen::Fragment, "the second one");
        // Without fragments, UDP cannot have more than IP.
        assert_eq!(datagram(link::RAW, &ipv4([0, 0])), Seen::Malformed);
    }

    #[test]
    fn fragments_of_ipv6_are_told_by_their_extension_header() {
        let address = |last: u8| [[0xfc].as_slice(), &[0; 14], &[last]].concat();
        let ip = |offset: [u8; 2]| {
            let header = [0x60, 0, 0, 0, 5, 0xd0, 44, 64];
            let fragment = [17, 0, offset[0], offset[1], 0, 0, 0, 7];
            [&header[..], &address(1), &address(2), &fragment].concat()
        };
        assert_eq!(payload(datagram(link::IPV6, &ip([0, 1]))), 4_000, "more fragments");
        assert_eq!(datagram(link::RAW, &ip([5, 0xc9])), Seen::Fragment, "the second one");
    }

    #[test]
    fn every_link_has_its_header() {
        let whole = |before: &[u8], link| {
            // UDP with 8 octets of payload: 36 octets with both headers.
            let ip = [0x45, 0, 0, 36, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let udp = [0x30, 0x39, 0, 80, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
            let octets = [before, &ip, &udp].concat();
            let length = octets.len() as u32;
            payload(
                seen(&Frame { number: 1, interface: 0, at_ns: 0, link, octets: &octets, length })
                    .unwrap(),
            )
        };
        for raw in [link::RAW, link::RAW_BSD, link::RAW_OPENBSD, link::IPV4] {
            assert_eq!(whole(&[], raw), 8);
        }
        assert_eq!(whole(&[2, 0, 0, 0], link::NULL), 8);
        assert_eq!(whole(&[0, 0, 0, 2], link::LOOP), 8);
        let ethernet = [&[2; 12][..], &[8, 0]].concat();
        assert_eq!(whole(&ethernet, link::ETHERNET), 8);
        assert_eq!(whole(&[&[0; 14][..], &[8, 0]].concat(), link::LINUX_SLL), 8);
        assert_eq!(whole(&[&[8, 0][..], &[0; 18]].concat(), link::LINUX_SLL2), 8);
    }
}
