//! Datagrams that other programs and devices have made.

use floodway_wire::cim::{self, Cim};
use floodway_wire::ip::{Ip, Ip6, Udp};
use floodway_wire::roce::{self, Aeth, Bth, Packet, Reth, opcode, syndrome};
use floodway_wire::sfc::Sfc;
use floodway_wire::tcp::{Flags, Segment, TcpOption};
use floodway_wire::{Invalid, Mac};

use crate::octets;

fn ip(source: [u8; 4], destination: [u8; 4]) -> Ip {
    Ip { source: source.into(), destination: destination.into(), dscp: 0, ecn: 0, ttl: 64 }
}

/// From the first host to the second.
fn forth() -> Ip {
    ip([10, 0, 0, 1], [10, 0, 0, 2])
}

/// And back.
fn back() -> Ip {
    ip([10, 0, 0, 2], [10, 0, 0, 1])
}

const BTH: Bth = Bth {
    opcode: opcode::ACKNOWLEDGE,
    solicited: false,
    migrated: false,
    pad: 0,
    partition: 0xffff,
    fecn: false,
    becn: false,
    queue_pair: 0x10_0005,
    ack_request: false,
    psn: 6,
};

/// Captured on a ConnectX-4 Lx; its ICRC is 0x82fd002a (tests of scapy's layer `roce`).
#[test]
fn a_congestion_notification_packet_of_a_device() {
    let captured = octets(
        "45c2003c718c400040119161 0a001101 0a001201 000012b700280000 8100ffff40000118 00000000 \
         00000000000000000000000000000000 82fd002a",
    );
    let (packet, ip) = Packet::parse(&captured).unwrap();
    assert_eq!((ip.dscp, ip.ecn, ip.ttl), (48, 2, 64));
    let bth = Bth { opcode: opcode::CNP, becn: true, queue_pair: 0x118, psn: 0, ..BTH };
    assert_eq!(packet, Packet { bth, rest: vec![0; roce::CNP_RESERVED] });
    // Written again it is the same, but for the number of the datagram, which the ICRC covers.
    let written = packet.datagram(&ip, 0);
    assert_eq!(written[12..56], captured[12..56]);
    let end = captured.len() - roce::ICRC;
    assert_eq!(roce::icrc(&captured[..end]), Ok([0x82, 0xfd, 0x00, 0x2a]));
}

/// A packet of an unreliable connection whose ICRC is 0x78f353f3 (the same tests).
#[test]
fn a_send_with_padding_and_a_udp_checksum() {
    let captured = octets(
        "45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710\
         4630818be28935d90e9a95505401be885e500000 78f353f3",
    );
    let (packet, ip) = Packet::parse(&captured).unwrap();
    let bth = Bth { opcode: 0x24, migrated: true, pad: 2, queue_pair: 211, psn: 13_571_856, ..BTH };
    assert_eq!((packet.bth, packet.rest.len(), ip.ecn), (bth, 20, 1));
}

#[test]
fn an_acknowledgement_of_rocev2() {
    let written = octets(
        "4500003000004000401126bb0a0000020a000001c00512b7001c00001100ffff00100005000000061f000001f9b80eeb",
    );
    let rest = Aeth { syndrome: syndrome::ACK, messages: 1 }.octets().to_vec();
    let packet = Packet { bth: BTH, rest };
    assert_eq!(packet.datagram(&back(), 0xc005), written);
    assert_eq!(Packet::parse(&written), Ok((packet, back())));
}

#[test]
fn a_write_with_its_extended_header() {
    let written = octets(
        "4502004400004000401126a50a0000010a000002c00512b7003000000600ffff0010000500010203\
         00000000deadbeef00001234000100000707070707070707c8f68b23",
    );
    let reth = Reth { address: 0xdead_beef, key: 0x1234, length: 65_536 };
    let rest = [reth.octets().as_slice(), &[7; 8]].concat();
    let bth = Bth { opcode: opcode::WRITE_FIRST, psn: 0x01_0203, ..BTH };
    let packet = Packet { bth, rest };
    let ip = Ip { ecn: 2, ..forth() };
    assert_eq!(packet.datagram(&ip, 0xc005), written);
    let (read, _) = Packet::parse(&written).unwrap();
    assert_eq!((Reth::parse(&read.rest), read), (Ok(reth), packet));
}

#[test]
fn a_changed_packet_has_another_icrc_and_a_changed_hop_has_not() {
    let packet = Packet { bth: BTH, rest: vec![1, 2, 3, 4] };
    let mut datagram = packet.datagram(&back(), 0xc005);
    datagram[41] ^= 1;
    assert_eq!(Packet::parse(&datagram), Err(Invalid::Icrc));
    // A mark and the time to live do not count.
    let marked = packet.datagram(&Ip { ecn: 3, ttl: 7, ..back() }, 0xc005);
    datagram[41] ^= 1;
    assert_eq!(marked[44..], datagram[44..]);
}

#[test]
fn a_syn_that_offers_ecn() {
    let written = octets(
        "4500003c00004000400626ba0a0000010a000002c00513890000000000000000a0c2ffff52ba0000\
         020405a80402080a000000070000000003030e01",
    );
    let segment = Segment {
        source_port: 49_157,
        destination_port: 5_001,
        sequence: 0,
        acknowledgment: 0,
        flags: Flags { syn: true, cwr: true, ece: true, ..Flags::default() },
        window: 65_535,
        options: vec![
            TcpOption::Mss(1_448),
            TcpOption::SackPermitted,
            TcpOption::Timestamps(7, 0),
            TcpOption::WindowScale(14),
            TcpOption::Nop,
        ],
    };
    assert_eq!(segment.datagram(&forth(), &[]), written);
    assert_eq!(Segment::parse(&written), Ok((segment, forth(), &[][..])));
}

#[test]
fn an_acknowledgement_with_a_block() {
    let written = octets(
        "4502004000004000400626b40a0000020a0000011389c0050000000100000b51b010ffff1ac80000\
         0101080a00000009000000080101050a000016a100001c49",
    );
    let segment = Segment {
        source_port: 5_001,
        destination_port: 49_157,
        sequence: 1,
        acknowledgment: 2_897,
        flags: Flags { ack: true, ..Flags::default() },
        window: 65_535,
        options: vec![
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Timestamps(9, 8),
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Sack(vec![(5_793, 7_241)]),
        ],
    };
    let ip = Ip { ecn: 2, ..back() };
    assert_eq!(segment.datagram(&ip, &[]), written);
    assert_eq!(Segment::parse(&written), Ok((segment, ip, &[][..])));
}

/// RFC 9768 figure 5: AccECN0 has kind 172, length 11 and three counters of 24 bits.
#[test]
fn accurate_ecn_counts_in_24_bits() {
    let flags = Flags { ack: true, ..Flags::default() }.with_ace(0b110);
    assert_eq!((flags.ae, flags.cwr, flags.ece), (true, true, false));
    let segment = Segment {
        source_port: 1,
        destination_port: 2,
        sequence: 0,
        acknowledgment: 0,
        flags,
        window: 0,
        options: vec![TcpOption::Nop, TcpOption::Accurate0(vec![1, 0x01_0203, 0xff_ffff])],
    };
    let datagram = segment.datagram(&forth(), &[]);
    assert_eq!(datagram[40..], octets("01 ac0b 000001 010203 ffffff"));
    // AE is the least significant bit of the octet with the header length, CWR and ACK are in the next one.
    assert_eq!(datagram[32..34], [0x81, 0x90]);
    assert_eq!(Segment::parse(&datagram).unwrap().0, segment);
}

#[test]
fn a_message_of_source_flow_control() {
    let sfc = Sfc {
        dscp: 18,
        protocol: 17,
        class: 5,
        source: [10, 0, 0, 2].into(),
        destination: [10, 0, 0, 9].into(),
        source_port: 49_157,
        destination_port: 4_791,
        pause_ns: 3_000,
    };
    let payload = octets("10 48 11 a0 0a000002 0a000009 c005 12b7 00000bb8 0000000000000000");
    assert_eq!(sfc.octets()[..], payload);
    let datagram = sfc.datagram(&forth());
    assert_eq!(Sfc::parse_datagram(&datagram), Ok(sfc));
    let other = forth().udp((1, 2), &payload);
    assert_eq!(
        Sfc::parse_datagram(&other).unwrap_err().to_string(),
        "source flow control message: destination port is 0x2 and not 0xc5fc"
    );
}

#[test]
fn udp_over_ipv4() {
    let written = octets(
        "45b8003800004000401125fb0a0000010a000002c5fcc5fc0024a8e5000102030405060708090a0b\
         0c0d0e0f101112131415161718191a1b",
    );
    let payload: Vec<u8> = (0..28).collect();
    let ip = Ip { dscp: 46, ..forth() };
    assert_eq!(ip.udp((0xc5fc, 0xc5fc), &payload), written);
    let udp = Udp::parse(&written).unwrap();
    assert_eq!((udp.ip, udp.source_port, udp.payload), (ip, 0xc5fc, payload.as_slice()));
    for at in [9, 20, 40] {
        let mut damaged = written.clone();
        damaged[at] ^= 1;
        Udp::parse(&damaged).unwrap_err();
    }
}

#[test]
fn isolation_over_ip() {
    let pdu = cim::Pdu { destination: Mac([1; 6]), source: Mac([2; 6]), vlan: 7, octets: 4 };
    let cim = Cim { pdu, msdu: b"abcd".to_vec() };
    let datagram = cim.datagram(&forth(), 50_000);
    let udp = Udp::parse(&datagram).unwrap();
    assert_eq!((udp.destination_port, Cim::parse_pdu(udp.payload)), (50_000, Ok(cim.clone())));
    // Of scapy: the same headers with four octets of payload.
    let address = |last: u16| [0xfd00, 0, 0, 0, 0, 0, 0, last].into();
    let ip =
        Ip6 { source: address(1), destination: address(2), traffic_class: 0xc0, hop_limit: 64 };
    let written = octets(
        "6c000000000c1140fd000000000000000000000000000001fd000000000000000000000000000002\
         c350c350000cba6961626364",
    );
    assert_eq!(ip.udp((50_000, 50_000), b"abcd"), written);
    assert_eq!(cim.datagram6(&ip, 50_000)[48..], cim.octets());
}
