//! Readers of captures and of frames.

use floodway_model::Duration;
use floodway_scenario::import::pcap;
use floodway_wire::cim::{self, Cim};
use floodway_wire::cnm::{self, Cnm};
use floodway_wire::ethernet::{self, ethertype};
use floodway_wire::experimental::{self, Experimental};
use floodway_wire::ip::Ip;
use floodway_wire::mac_control::{MacControl, Pfc};
use floodway_wire::sfc::Sfc;
use floodway_wire::{Mac, pcapng, roce, tcp, telemetry};

/// A capture, which as a scenario is valid, in memory and not in files.
pub fn import_pcap(bytes: &[u8]) {
    match pcap::import_from(bytes, "imported", Duration::from_ms(1_000)) {
        Ok(imported) => {
            assert!(!imported.flows.is_empty() && imported.hosts.len() > 1);
            let account = imported.account;
            let left_out: u64 = account.left_out().iter().map(|(count, _)| count).sum();
            assert_eq!(left_out + account.of_flows, account.frames, "{account:?}");
        }
        Err(pcap::Unfit(problem)) => assert!(problem.contains(' ')),
    }
}

/// A frame or a datagram of any kind. What is read is written again, and is equal to itself.
pub fn frames(bytes: &[u8]) {
    // A changed frame has another FCS, and all that is behind it would not be attacked.
    let sealed = [bytes, &ethernet::fcs(bytes)].concat();
    for octets in [bytes, &sealed] {
        if let Ok(cnm) = Cnm::parse(octets) {
            assert_eq!(Cnm::parse(&cnm.frame()), Ok(cnm));
        }
        if let Ok(cim) = Cim::parse(octets) {
            assert_eq!(Cim::parse(&cim.frame(Mac::default(), Mac::default())), Ok(cim));
        }
        if let Ok(control) = MacControl::parse(octets) {
            assert_eq!(MacControl::parse(&control.frame(Mac::default())), Ok(control));
        }
        if let Ok(own) = Experimental::parse(octets) {
            assert_eq!(Experimental::parse(&own.frame(Mac::default(), Mac::default(), 0)), Ok(own));
        }
        for datagram in [octets, octets.get(ethernet::Header::LEN..).unwrap_or_default()] {
            if let Ok((packet, ip)) = roce::Packet::parse(datagram) {
                assert_eq!(roce::Packet::parse(&packet.datagram(&ip, 1)), Ok((packet, ip)));
            }
            if let Ok((segment, ip, payload)) = tcp::Segment::parse(datagram) {
                let written = segment.datagram(&ip, payload);
                assert_eq!(tcp::Segment::parse(&written), Ok((segment, ip, payload)));
            }
            let _ = (Sfc::parse_datagram(datagram), telemetry::parse(datagram));
        }
    }
}

/// Captures of the two formats, with a flow of each transport.
pub fn captures() -> Vec<Vec<u8>> {
    let frames = one_of_each();
    let mut ng = Vec::new();
    let mut writer = pcapng::Writer::new(&mut ng, "attack", "").expect("memory takes it");
    for name in ["a", "b"] {
        let interface =
            pcapng::Interface { name, description: "", mac: None, rate: None, most: 2_000 };
        writer.interface(&interface).expect("memory takes it");
    }
    for (number, octets) in frames.iter().enumerate() {
        let captured = pcapng::Captured {
            interface: number as u32 % 2,
            at_ns: 1_000 * number as u64,
            octets,
            length: octets.len() as u32,
            direction: pcapng::Direction::Outbound,
            queue: None,
            comment: "attacked",
        };
        writer.frame(&captured).expect("memory takes it");
    }
    let mut old = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    old.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for (number, octets) in frames.iter().enumerate() {
        let length = octets.len() as u32;
        let header = [1, 10 * number as u32, length, length];
        old.extend(header.into_iter().flat_map(u32::to_le_bytes));
        old.extend(octets);
    }
    vec![ng, old]
}

/// A frame of each kind.
pub fn one_of_each() -> Vec<Vec<u8>> {
    let (a, b) = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
    let ip = Ip {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        dscp: 0,
        ecn: 2,
        ttl: 64,
    };
    let header = ethernet::Header { destination: b, source: a, ethertype: ethertype::IPV4 };
    let bth = roce::Bth {
        opcode: roce::opcode::SEND_FIRST,
        solicited: false,
        migrated: false,
        pad: 0,
        partition: 0xffff,
        fecn: false,
        becn: false,
        queue_pair: 17,
        ack_request: false,
        psn: 3,
    };
    let segment = tcp::Segment {
        source_port: 50_000,
        destination_port: 80,
        sequence: 1,
        acknowledgment: 1,
        flags: tcp::Flags { ack: true, ..Default::default() },
        window: 1_000,
        options: vec![tcp::TcpOption::Timestamps(1, 2), tcp::TcpOption::Sack(vec![(5, 9)])],
    };
    let datagrams = [
        roce::Packet { bth, rest: vec![7; 40] }.datagram(&ip, 50_000),
        segment.datagram(&ip, &[7; 40]),
        ip.udp((50_000, 7), &[7; 40]),
    ];
    let frames = datagrams.iter().map(|datagram| ethernet::frame(header, &[], datagram, 64));
    let pdu = cim::Pdu { destination: a, source: b, vlan: 0, octets: 3 };
    let sampled = cnm::Pdu {
        feedback: 7,
        cpid: 1,
        offset: -1,
        delta: 1,
        priority: 2,
        destination: b,
        octets: 2,
    };
    let cnm =
        Cnm { destination: a, source: b, priority: 6, flow: 1, pdu: sampled, sampled: vec![8, 0] };
    let others = [
        Cim { pdu, msdu: vec![1, 2, 3] }.frame(a, b),
        cnm.frame(),
        MacControl::Pfc(Pfc { enabled: 3, quanta: [9; 8] }).frame(a),
        Experimental::Credit(experimental::Credit { class: 1, limit: 9 }).frame(a, b, 64),
    ];
    frames.chain(others).collect()
}
