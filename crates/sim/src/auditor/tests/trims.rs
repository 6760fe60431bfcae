//! Trimmed packets.

use super::*;
use crate::host::transport::rocev2::recovery;
use crate::switch::overflow::{self, trim};

/// A switch that trims packets when two packets of selective repeat are queued, with both queued: host 0 pauses
/// data.
fn full(change: impl FnOnce(&mut trim::Spec)) -> Stand {
    let mut stand = stand(|spec| {
        spec.switch.queue.size = Bytes(2 * 1_086);
        let recovery = recovery::Spec::SelectiveRepeat(Default::default());
        let rocev2 = transport::rocev2::Spec { recovery, ..Default::default() };
        spec.profiles[0].transport = transport::Spec::Rocev2(rocev2);
        let mut trim = trim::Spec::default();
        change(&mut trim);
        spec.switch.overflow = overflow::Spec::Trim(trim);
    });
    stand.pauses(u16::MAX, T / 2);
    for psn in 0..2 {
        stand.waits(0, &packet(1, psn), T + u64::from(psn) * FRAME);
    }
    stand
}

fn header(packet: &Packet) -> Packet {
    let Body::Data { psn, sent_at, .. } = packet.body else { panic!("it is data") };
    let header = Packet {
        bytes: 64,
        body: Body::Trimmed { echo: Default::default(), psn, sent_at },
        ..*packet
    };
    marked(header, Ecn::Ce)
}

impl Stand {
    fn trims(&mut self, packet: &Packet, header: &Packet, waited: bool, at: u64) {
        let fact = Fact::Trimmed { port: 0, queue: 0, packet, header, waited };
        self.states(SWITCH, &fact, at);
    }
}

const AT: u64 = T + 2 * FRAME;
const PLACE: &str = "switch at 1176.960ns: port 0, queue 0:";

#[test]
fn what_finds_no_room_becomes_a_header() {
    let mut stand = full(|_| {});
    let third = packet(1, 2);
    stand.comes(&third, AT);
    stand.trims(&third, &header(&third), false, AT);
    stand.leaves(0, 1, &header(&third), AT);
    stand.finds(&[]);
}

#[test]
fn with_a_coin_the_last_one_may_and_no_other() {
    let mut stand = full(|trim| trim.last = 0.5);
    let [first, last, third] = [0, 1, 2].map(|psn| packet(1, psn));
    stand.comes(&third, AT);
    stand.trims(&last, &header(&last), true, AT);
    stand.leaves(0, 1, &header(&last), AT);
    stand.joins(0, &third, AT);
    stand.finds(&[]);
    let fourth = packet(1, 3);
    stand.comes(&fourth, AT + FRAME);
    stand.trims(&first, &header(&first), true, AT + FRAME);
    stand.finds(&[
        "switch at 1265.440ns: port 0, queue 0: a packet is trimmed that is not the last",
    ]);
}

#[test]
fn a_header_is_short_and_of_a_packet_that_lacks_room() {
    let third = packet(1, 2);
    for (change, found) in [
        (
            Packet { bytes: 65, ..header(&third) },
            "a header has not the length that trimming leaves, or is not shorter than its packet",
        ),
        (
            Packet { body: header(&packet(1, 7)).body, ..header(&third) },
            "a header names another packet than the one that was trimmed",
        ),
        (marked(header(&third), Ecn::NotEct), "the ECN field of a trimmed packet has changed"),
    ] {
        let mut stand = full(|_| {});
        stand.comes(&third, AT);
        stand.trims(&third, &change, false, AT);
        stand.finds(&[&format!("{PLACE} {found}")]);
    }
    let mut stand = full(|_| {});
    let twice = header(&third);
    stand.trims(&twice, &twice, false, AT);
    stand.finds(&[
        &format!("{PLACE} a packet is trimmed, and none has arrived"),
        &format!("{PLACE} something is trimmed that is no packet with data, or is trimmed twice"),
    ]);
    let mut stand = full(|_| {});
    stand.leaves(0, 0, &packet(1, 0), T + FRAME + FRAME / 2);
    stand.comes(&third, AT);
    stand.trims(&third, &header(&third), false, AT);
    assert!(stand.found().contains(&format!("{PLACE} a packet is trimmed, and there is room")));
}

#[test]
fn a_threshold_is_no_room() {
    let mut stand = full(|trim| trim.threshold = Some(Bytes(2 * 1_086)));
    let third = packet(1, 2);
    stand.comes(&third, AT);
    stand.trims(&third, &header(&third), false, AT);
    stand.finds(&[]);
}
