//! Credit of links: what ports may send, and what switches may announce.

use super::*;
use crate::switch::flow_control::cbfc;

/// Room for two frames of 1086 bytes by each port.
fn credit_for_two() -> Stand {
    let cbfc = cbfc::Spec { buffer: Bytes(2_200), ..Default::default() };
    stand(|spec| spec.switch.flow_control.cbfc = Some(cbfc))
}

fn announces(stand: &mut Stand, limit: u64, at: u64) {
    let frame = Packet { ingress: PortIx(0), ..control(Body::LinkCredit { class: 0, limit }) };
    let (to, due) = ((NodeId(1), PortIx(0)), Instant(at + 84 * 80 + 200_000));
    stand.sent(to, &frame, Class(1), Instant(at), Some(due));
    stand.0.arrives(NodeId(1), &frame, due);
}

#[test]
fn a_host_sends_what_it_has_credit_for() {
    let mut stand = credit_for_two();
    for psn in 0..3 {
        stand.comes(&packet(1, psn), T + u64::from(psn) * FRAME);
        stand.leaves(0, 0, &packet(1, psn), T + u64::from(psn) * FRAME);
    }
    stand.finds(&[
        "host 1 at 888.480ns: port 0, queue 0: 1086 bytes are sent with credit for 28",
        "host 1 at 888.480ns: port 0, queue 0: a packet is sent while paused until never",
    ]);
}

#[test]
fn credit_lets_a_host_go_on() {
    let mut stand = credit_for_two();
    for psn in 0..2 {
        stand.comes(&packet(1, psn), T + u64::from(psn) * FRAME);
        stand.leaves(0, 0, &packet(1, psn), T + u64::from(psn) * FRAME);
    }
    announces(&mut stand, 2_172 + 2_200, T + FRAME);
    stand.comes(&packet(1, 2), 3 * T);
    stand.leaves(0, 0, &packet(1, 2), 3 * T);
    stand.finds(&[]);
}

#[test]
fn a_switch_announces_no_more_than_it_has_room_for() {
    let mut stand = credit_for_two();
    stand.waits(0, &packet(1, 0), T);
    // Of 1086 bytes that have arrived none has left: 2200 is the limit from the beginning.
    announces(&mut stand, 2_200, T);
    announces(&mut stand, 2_201, T + FRAME);
    stand.finds(&[
        "switch at 1088.480ns: port 1, queue 0: credit up to byte 2201 is announced after 1086 bytes, of which 1086 fill 2200",
    ]);
}

#[test]
fn a_buffer_holds_no_more_than_was_announced() {
    let mut stand = credit_for_two();
    stand.pauses(60_000, T / 2);
    for psn in 0..3 {
        stand.waits(0, &packet(1, psn), T + u64::from(psn) * FRAME);
    }
    stand.finds(&[
        "host 1 at 888.480ns: port 0, queue 0: 1086 bytes are sent with credit for 28",
        "host 1 at 888.480ns: port 0, queue 0: a packet is sent while paused until never",
        "switch at 1176.960ns: port 1, queue 0: 3258 bytes wait that came in by one port and class, beyond 2.2KB",
    ]);
}
