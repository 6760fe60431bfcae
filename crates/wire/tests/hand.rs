//! Frames written by hand, field by field.

use floodway_wire::cim::{self, Cim};
use floodway_wire::cnm::{self, Cnm};
use floodway_wire::ethernet::{Frame, Header, Tag, ethertype, fcs, frame};
use floodway_wire::mac_control::{Drc, MacControl, Pause, Pfc};
use floodway_wire::{Invalid, Mac};

use crate::{octets, sealed};

const PORT: Mac = Mac([0x02, 0, 0, 0, 0, 0x01]);

#[test]
fn the_fcs_is_that_of_802_3() {
    // The check value of CRC-32 (Williams, "A painless guide to CRC error detection algorithms"), and of nothing.
    assert_eq!(fcs(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
    assert_eq!(fcs(b""), [0; 4]);
}

#[test]
fn pause() {
    let written = sealed("0180c2000001 020000000001 8808 0001 ffff", 64);
    // zlib.crc32 of the first 60 octets.
    assert_eq!(written[60..], 0xffb2_7cdd_u32.to_le_bytes());
    let pause = MacControl::Pause(Pause { quanta: 65_535 });
    assert_eq!(pause.frame(PORT), written);
    assert_eq!(MacControl::parse(&written), Ok(pause));
}

#[test]
fn pfc_pauses_one_class_and_resumes_another() {
    let written = sealed(
        "0180c2000001 020000000001 8808 0101 0028 0000 0000 0000 ffff 0000 0000 0000 0000",
        64,
    );
    let mut quanta = [0; 8];
    quanta[3] = 65_535;
    let pfc = MacControl::Pfc(Pfc { enabled: 0b10_1000, quanta });
    assert_eq!(pfc.frame(PORT), written);
    assert_eq!(MacControl::parse(&written), Ok(pfc));
}

#[test]
fn feedback_of_drc() {
    // Severity 3 in direction 0, 1 in direction 1, 2 in direction 31; zlib.crc32 of 60 octets is 0x15a7d2a3.
    let written = sealed("0180c2000001 020000000001 8808 0dc0 d000000000000002 ff 0000", 64);
    assert_eq!(written[60..], 0x15a7_d2a3_u32.to_le_bytes());
    let statuses = 3 << 62 | 1 << 60 | 2;
    let drc = MacControl::Drc(Drc { statuses, mask: 0xff, group: 0 });
    assert_eq!(drc.frame(PORT), written);
    assert_eq!(MacControl::parse(&written), Ok(drc));
}

#[test]
fn a_tag_has_priority_and_vlan() {
    let written = sealed("020000000003 020000000001 8100 b123 0800 45", 64);
    let tag = Tag { priority: 5, drop_eligible: true, vlan: 0x123 };
    let header =
        Header { destination: Mac([2, 0, 0, 0, 0, 3]), source: PORT, ethertype: ethertype::IPV4 };
    assert_eq!(frame(header, &tag.octets(), &[0x45], 64), written);
    let read = Frame::parse(&written).unwrap();
    assert_eq!((read.header, read.tag, read.content[0]), (header, Some(tag), 0x45));
}

fn message() -> Cnm {
    Cnm {
        destination: PORT,
        source: Mac([2, 0, 0, 0, 0, 2]),
        priority: 6,
        flow: 0x1234,
        pdu: cnm::Pdu {
            feedback: 37,
            cpid: 0x0200_0000_0002_0003,
            offset: -406,
            delta: 406,
            priority: 3,
            destination: Mac([2, 0, 0, 0, 0, 3]),
            octets: 3,
        },
        sampled: vec![0x08, 0x00, 0x45],
    }
}

#[test]
fn congestion_notification() {
    // 26,000 bytes are 406 units of 64 and a fraction; -406 is 0xfe6a.
    let written = sealed(
        "020000000001 020000000002 8100 c000 22e9 1234 22e7 0025 0200000000020003 fe6a 0196 6000 \
         020000000003 0003 080045",
        64,
    );
    // zlib.crc32 of these octets.
    assert_eq!(written[60..], 0x9570_10b7_u32.to_le_bytes());
    assert_eq!(message().frame(), written);
    assert_eq!(Cnm::parse(&written), Ok(message()));
}

#[test]
fn a_notification_has_24_to_88_octets_of_pdu() {
    // Both addresses, both tags, the type and the FCS add 26.
    for (octets, expected) in [(0, 64), (14, 64), (15, 65), (64, 26 + 88)] {
        let pdu = cnm::Pdu { octets: octets as u16, ..message().pdu };
        let cnm = Cnm { pdu, sampled: vec![7; octets], ..message() };
        assert_eq!(cnm.frame().len(), expected, "{octets}");
    }
}

#[test]
fn congestion_isolation() {
    let written = sealed(
        "020000000003 020000000001 89a2 0000 020000000009 020000000008 0000 0030 \
         450000480000400040112222 0a000001 0a000002 c00512b70034000001ffffff",
        14 + 18 + 48 + 4,
    );
    let msdu = written[32..80].to_vec();
    let pdu = cim::Pdu {
        destination: Mac([2, 0, 0, 0, 0, 9]),
        source: Mac([2, 0, 0, 0, 0, 8]),
        vlan: 0,
        octets: 48,
    };
    let cim = Cim { pdu, msdu };
    assert_eq!(cim.frame(Mac([2, 0, 0, 0, 0, 3]), PORT), written);
    assert_eq!(Cim::parse(&written), Ok(cim));
}

#[test]
fn a_damaged_frame_is_refused() {
    let mut frame = message().frame();
    frame[40] ^= 0x10;
    assert_eq!(Cnm::parse(&frame), Err(Invalid::Fcs));
    assert_eq!(Invalid::Fcs.to_string(), "the FCS is not that of the octets before it");
}

#[test]
fn what_is_of_another_kind_is_refused_with_the_reason() {
    let error = |frame: &[u8]| Cnm::parse(frame).unwrap_err().to_string();
    assert_eq!(error(&[0; 17]), "Ethernet frame: there are 17 octets, and it has at least 18");
    let pause = MacControl::Pause(Pause { quanta: 1 }).frame(PORT);
    assert_eq!(error(&pause), "CN-TAG: EtherType is 0x8808 and not 0x22e9");
    let other = sealed("020000000001 020000000002 8100 c000 22e9 1234 0800 0025", 64);
    assert_eq!(error(&other), "congestion notification message: EtherType is 0x800 and not 0x22e7");
    let version = sealed("020000000001 020000000002 8100 c000 22e9 1234 22e7 1025", 64);
    assert_eq!(error(&version), "congestion notification message: version is 0x1 and not 0x0");
    // 15 octets of the sampled frame would need a longer frame.
    let mut longer = message().frame();
    longer.truncate(60);
    longer[45] = 15;
    let sum = fcs(&longer);
    longer.extend(sum);
    assert_eq!(
        error(&longer),
        "congestion notification message: its length is 15, and there are 14 octets"
    );
    let opcode = sealed("0180c2000001 020000000001 8808 0002", 64);
    assert_eq!(
        MacControl::parse(&opcode).unwrap_err().to_string(),
        "DRC feedback: opcode is 0x2 and not 0xdc0"
    );
    assert_eq!(octets("0a 0B"), [10, 11]);
}
