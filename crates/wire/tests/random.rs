//! What is written is read again, whatever it is, and what is read never panics.

use floodway_wire::cim::{self, Cim};
use floodway_wire::cnm::{self, Cnm};
use floodway_wire::experimental::Experimental;
use floodway_wire::mac_control::{Drc, MacControl, Pause, Pfc};
use floodway_wire::roce::{Aeth, Bth, Packet, Reth};
use floodway_wire::sfc::Sfc;
use floodway_wire::tcp::Segment;
use floodway_wire::{Invalid, Mac, telemetry};
use proptest::prelude::*;

/// Fields lie within their format and do not overlap.
#[test]
fn fields_keep_apart() {
    use floodway_wire::{ethernet, experimental, mac_control, roce};
    for (fields, length) in [
        (ethernet::Header::FIELDS, ethernet::Header::LEN),
        (ethernet::Tag::FIELDS, ethernet::Tag::LEN),
        (Pause::FIELDS, Pause::LEN),
        (mac_control::PfcHeader::FIELDS, mac_control::PfcHeader::LEN),
        (Drc::FIELDS, Drc::LEN),
        (cnm::CnTag::FIELDS, cnm::CnTag::LEN),
        (cnm::Pdu::FIELDS, cnm::Pdu::LEN),
        (cim::Pdu::FIELDS, cim::Pdu::LEN),
        (Sfc::FIELDS, Sfc::LEN),
        (Bth::FIELDS, Bth::LEN),
        (Reth::FIELDS, Reth::LEN),
        (Aeth::FIELDS, Aeth::LEN),
        (roce::Credit::FIELDS, roce::Credit::LEN),
        (telemetry::Header::FIELDS, telemetry::Header::LEN),
        (telemetry::Hop::FIELDS, telemetry::Hop::LEN),
        (experimental::Backpressure::FIELDS, experimental::Backpressure::LEN),
        (experimental::Credit::FIELDS, experimental::Credit::LEN),
        (experimental::Indication::FIELDS, experimental::Indication::LEN),
        (experimental::Data::FIELDS, experimental::Data::LEN),
    ] {
        let mut taken = vec![0_u8; length];
        for field in fields {
            assert_eq!(field.get(&taken), 0, "{field:?}");
            field.set(&mut taken, u64::MAX >> (64 - field.width));
        }
    }
}

fn mac() -> impl Strategy<Value = Mac> {
    any::<[u8; 6]>().prop_map(Mac)
}

proptest! {
    #[test]
    fn mac_control_is_read_again(
        quanta: u16, enabled: u8, times: [u16; 8], statuses: u64, mask: u8, group: u16,
        from in mac(), damaged in 0_usize..512,
    ) {
        for control in [
            MacControl::Pause(Pause { quanta }),
            MacControl::Pfc(Pfc { enabled, quanta: times }),
            MacControl::Drc(Drc { statuses, mask, group }),
        ] {
            let mut frame = control.frame(from);
            prop_assert_eq!(frame.len(), 64);
            prop_assert_eq!(MacControl::parse(&frame), Ok(control));
            frame[damaged / 8] ^= 1 << (damaged % 8);
            prop_assert_eq!(MacControl::parse(&frame), Err(Invalid::Fcs));
        }
    }

    #[test]
    fn notifications_are_read_again(
        addresses in [mac(), mac(), mac()], flow: u16, feedback in 0_u8..64, cpid: u64,
        offset: i16, delta: i16, priorities in (0_u8..8, 0_u8..8),
        sampled in proptest::collection::vec(any::<u8>(), 0..=64),
    ) {
        let [destination, source, of] = addresses;
        let pdu = cnm::Pdu {
            feedback, cpid, offset, delta, priority: priorities.1, destination: of,
            octets: sampled.len() as u16,
        };
        let cnm = Cnm { destination, source, priority: priorities.0, flow, pdu, sampled };
        prop_assert_eq!(Cnm::parse(&cnm.frame()), Ok(cnm));
    }

    #[test]
    fn isolation_messages_are_read_again(
        addresses in [mac(), mac(), mac(), mac()], vlan in 0_u16..4096,
        msdu in proptest::collection::vec(any::<u8>(), 0..=512),
    ) {
        let [destination, source, to, from] = addresses;
        let pdu = cim::Pdu { destination, source, vlan, octets: msdu.len() as u16 };
        let cim = Cim { pdu, msdu };
        prop_assert_eq!(Cim::parse(&cim.frame(to, from)), Ok(cim));
    }

    #[test]
    fn no_octets_make_a_reader_panic(octets in proptest::collection::vec(any::<u8>(), 0..160)) {
        let _ = (Cnm::parse(&octets), Cim::parse(&octets), MacControl::parse(&octets));
        let _ = (Experimental::parse(&octets), Sfc::parse_datagram(&octets), telemetry::parse(&octets));
        let _ = (Packet::parse(&octets), Segment::parse(&octets), Cim::parse_pdu(&octets));
        // Behind a sound FCS and a sound beginning too.
        let mut frame = [&[0; 12], octets.as_slice()].concat();
        frame.extend(floodway_wire::ethernet::fcs(&frame));
        let _ = (Cnm::parse(&frame), Cim::parse(&frame), MacControl::parse(&frame), Experimental::parse(&frame));
        let mut datagram = [&[0x45], octets.as_slice()].concat();
        datagram.resize(datagram.len().max(44), 0);
        let _ = (Packet::parse(&datagram), Segment::parse(&datagram));
    }
}
