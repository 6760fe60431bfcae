//! Captures that are read, sound and damaged.

use floodway_wire::capture::{Fault, Frame, link, read};
use floodway_wire::pcapng::{Captured, Direction, Interface, Writer};
use proptest::prelude::*;

use crate::octets;

/// What is kept of a frame: number, interface, time, link, octets, length.
type Kept = (u64, u32, u64, i32, Vec<u8>, u32);

fn frames(file: &[u8]) -> (Vec<Kept>, Result<(), Fault>) {
    let mut frames = Vec::new();
    let result = read(file, |frame: Frame<'_>| {
        let Frame { number, interface, at_ns, link, octets, length } = frame;
        frames.push((number, interface, at_ns, link, octets.to_vec(), length));
    });
    (frames, result)
}

/// A file of the older format by hand, in either order of octets, with microseconds or nanoseconds.
#[test]
fn both_orders_and_both_units_of_pcap() {
    for (magic, fraction, at) in
        [("d4c3b2a1", "05000000", 1_000_005_000), ("4d3cb2a1", "05000000", 1_000_000_005)]
    {
        let file = format!(
            "{magic} 0200 0400 00000000 00000000 ffff0000 01000000 01000000 {fraction} 03000000 40000000 010203"
        );
        let kept = (1, 0, at, link::ETHERNET, vec![1, 2, 3], 64);
        assert_eq!(frames(&octets(&file)), (vec![kept], Ok(())), "{magic}");
    }
    let file = "a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000065 00000001 00000005 00000003 00000040 010203";
    let kept = (1, 0, 1_000_005_000, link::RAW, vec![1, 2, 3], 64);
    assert_eq!(frames(&octets(file)), (vec![kept], Ok(())));
}

fn written(frames: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, "test", "").unwrap();
    for name in ["a", "b"] {
        let interface = Interface { name, description: "", mac: None, rate: None, most: 100 };
        writer.interface(&interface).unwrap();
    }
    for number in 0..frames {
        let frame = Captured {
            interface: number as u32 % 2,
            at_ns: 1_000 * number as u64 + 7,
            octets: &[number as u8; 5],
            length: 60,
            direction: Direction::Inbound,
            queue: None,
            comment: "",
        };
        writer.frame(&frame).unwrap();
    }
    writer.statistics(0, 1, (frames as u64, 0)).unwrap();
    file
}

#[test]
fn what_is_written_is_read() {
    let kept = |n: u64| (n + 1, n as u32 % 2, 1_000 * n + 7, link::ETHERNET, vec![n as u8; 5], 60);
    let expected: Vec<Kept> = (0..200).map(kept).collect();
    assert_eq!(frames(&written(200)), (expected, Ok(())));
    // Sections follow each other, and count their interfaces anew.
    let (all, result) = frames(&[written(2), written(1)].concat());
    assert_eq!((all.len(), all[2].1, result), (3, 2, Ok(())));
}

#[test]
fn a_file_that_is_cut_says_where() {
    let whole = written(3);
    let (all, result) = frames(&whole[..whole.len() - 60]);
    assert_eq!(result, Err(Fault::Cut(all.len() as u64)));
    assert!(!all.is_empty());
    assert_eq!(Fault::Cut(2).to_string(), "it ends in the middle of a block, after frame 2");
    for (file, fault) in
        [("", Fault::Format), ("0a0d0d0a", Fault::Format), ("00112233445566778899", Fault::Format)]
    {
        assert_eq!(frames(&octets(file)), (Vec::new(), Err(fault)), "{file}");
    }
}

#[test]
fn times_before_1970_and_unknown_interfaces_are_faults() {
    // An interface whose times begin a second before 1970 (option 14, if_tsoffset).
    let section = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000";
    let interface =
        "01000000 24000000 0100 0000 00000000 0e00 0800 ffffffffffffffff 00000000 24000000";
    let packet = |id: &str| {
        format!("06000000 24000000 {id} 00000000 01000000 01000000 01000000 aa 000000 24000000")
    };
    let file = format!("{section} {interface} {}", packet("00000000"));
    assert_eq!(frames(&octets(&file)).1, Err(Fault::Time(1)));
    let file = format!("{section} {interface} {}", packet("05000000"));
    assert_eq!(frames(&octets(&file)).1, Err(Fault::Interface { frame: 1, interface: 5 }));
}

proptest! {
    #[test]
    fn nothing_makes_the_reader_panic(at in 0_usize..1_000, octet: u8, cut in 0_usize..1_000) {
        let mut file = written(4);
        let place = at % file.len();
        file[place] = octet;
        let _ = frames(&file);
        file.truncate(cut % file.len());
        let _ = frames(&file);
    }
}
