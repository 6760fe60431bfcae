//! A capture written out, block by block.

use floodway_wire::Mac;
use floodway_wire::pcapng::{Captured, Direction, Interface, Writer};

use crate::octets;

/// By hand from the draft of the format, sections 4.1 to 4.6.
#[test]
fn every_block() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, "fw", "ab").unwrap();
    let interface = Interface {
        name: "p",
        description: "q",
        mac: Some(Mac([2, 0, 0, 0, 0, 1])),
        rate: Some(1_000),
        most: 64,
    };
    assert_eq!(writer.interface(&interface).unwrap(), 0);
    writer.names(&[([10, 0, 0, 1].into(), "host 0")]).unwrap();
    writer
        .frame(&Captured {
            interface: 0,
            at_ns: 0x1_0000_0002,
            octets: &[1, 2, 3, 4, 5],
            length: 60,
            direction: Direction::Outbound,
            queue: Some(3),
            comment: "x",
        })
        .unwrap();
    writer.statistics(0, 7, (9, 8)).unwrap();
    let written = [
        // Section header: magic, version 1.0, unknown length; comment, application.
        "0a0d0d0a 30000000 4d3c2b1a 0100 0000 ffffffffffffffff 0100 0200 6162 0000 0400 0200 6677 0000 \
         00000000 30000000",
        // Interface: Ethernet, most octets; name, description, address, rate, nanoseconds, FCS length.
        "01000000 50000000 0100 0000 40000000 0200 0100 70 000000 0300 0100 71 000000 0600 0600 \
         020000000001 0000 0800 0800 e803000000000000 0900 0100 09 000000 0d00 0100 04 000000 00000000 \
         50000000",
        // Names: IPv4, eleven octets with the zero at the end.
        "04000000 20000000 0100 0b00 0a000001 686f737420 30 00 00 00000000 20000000",
        // A frame: interface, time, kept and all octets; comment, outbound, queue.
        "06000000 44000000 00000000 01000000 02000000 05000000 3c000000 0102030405 000000 0100 0100 78 000000 \
         0200 0400 02000000 0600 0400 03000000 00000000 44000000",
        // Statistics: received, dropped.
        "05000000 34000000 00000000 00000000 07000000 0400 0800 0900000000000000 0500 0800 \
         0800000000000000 00000000 34000000",
    ];
    assert_eq!(file, octets(&written.concat()));
}
