//! Pauses: whether ports obey them, and whether switches send them.

use super::*;
use crate::switch::flow_control::{pause, pfc};

#[test]
fn a_pause_lasts_its_quanta_not_less_and_not_more() {
    // 100 quanta of 512 bit times at 100 Gb/s: 512 ns.
    let case = |leaves: u64| {
        let mut stand = stand(|_| {});
        stand.pauses(100, T);
        stand.waits(0, &packet(1, 0), T + FRAME);
        stand.leaves(0, 0, &packet(1, 0), leaves);
        stand.found()
    };
    assert_eq!(case(T + 512_000), Vec::<String>::new());
    assert_eq!(
        case(T + 511_999),
        ["switch at 1511.999ns: port 0, queue 0: a packet is sent while paused until 1512.000ns"]
    );
    assert_eq!(
        case(T + 513_000),
        ["switch at 1513.000ns: port 0, queue 0: 1086 bytes could have been sent since 1512.000ns"]
    );
}

#[test]
fn a_host_obeys_pauses_holds_and_stops() {
    let mut stand = stand(|_| {});
    let arrives = |stand: &mut Stand, body, at: u64| {
        let frame = Packet { ingress: PortIx(0), ..control(body) };
        let to = (NodeId(1), PortIx(0));
        let sent = Instant(at - 84 * 80 - 200_000);
        stand.sent(to, &frame, Class(1), sent, Some(Instant(at)));
        stand.0.arrives(NodeId(1), &frame, Instant(at));
    };
    arrives(&mut stand, Body::Pause { quanta: 100 }, T);
    arrives(&mut stand, Body::Bfc { class: 0, physical_queue: 0, stop: true }, T + 10_000);
    let hold = Body::Sfc { towards: NodeId(0), class: Class(0), pause_ns: 900 };
    arrives(&mut stand, hold, T + 20_000);
    let packet = packet(1, 0);
    let departure = Departure {
        packet,
        home: Class(0),
        rate: None,
        window: None,
        probes: 0,
        began: Instant::ZERO,
        ready_at: Instant::ZERO,
        eligible_at: Instant::ZERO,
    };
    stand.states(NodeId(1), &Fact::Departed(&departure), T + 511_000);
    let to = (SWITCH, PortIx(1));
    stand.sent(to, &packet, Class(0), Instant(T + 511_000), Some(Instant(T + 511_000 + HOP)));
    stand.finds(&[
        "host 1 at 1511.000ns: flow 0: a packet is sent to a destination that is held until \
         1920.000ns",
        "host 1 at 1511.000ns: flow 0: physical queue 0 of class 0 sends while it is stopped",
        "host 1 at 1511.000ns: port 0, queue 0: a packet is sent while paused until 1512.000ns",
    ]);
}

/// PFC with XOFF at 2000 and XON at 1000 bytes; packets are queued at 1 us and at 1.08848 us.
fn above_xoff() -> Stand {
    let (xoff, xon, measured_on) = (Bytes(2_000), Bytes(1_000), pfc::MeasuredOn::Ingress);
    let response = Some(Duration::ZERO);
    let pfc = pfc::Spec { xoff, xon, measured_on, quanta: 500, response, ..Default::default() };
    let mut stand = stand(|spec| spec.switch.flow_control.pfc = Some(pfc));
    stand.pauses(200, T / 2);
    stand.waits(0, &packet(1, 0), T);
    stand.waits(0, &packet(1, 1), T + FRAME);
    stand
}

#[test]
fn a_neighbor_is_paused_above_xoff_and_resumed_at_xon() {
    let pfc = |quanta| control(Body::Pfc { classes: 1, quanta, resumed: 0 });
    let mut stand = above_xoff();
    stand.leaves(1, 1, &pfc(500), T + FRAME);
    // 200 quanta are 1.024 us, until 1.524 us.
    let free = T / 2 + 1_024_000;
    stand.leaves(0, 0, &packet(1, 0), free);
    stand.leaves(1, 1, &pfc(0), free);
    stand.leaves(0, 0, &packet(1, 1), free + FRAME);
    stand.leaves(1, 1, &pfc(0), free + FRAME);
    stand.leaves(1, 1, &pfc(500), free + 2 * FRAME);
    stand.finds(&[
        "switch at 1524.000ns: port 1, queue 0: the neighbor is resumed while 1086 bytes wait that \
         have passed XOFF (2000 bytes) and not fallen to XON (1000 bytes)",
        "switch at 1700.960ns: port 1, queue 0: the neighbor is paused, and nothing is above XOFF \
         (2000 bytes)",
    ]);
}

#[test]
fn the_pause_is_the_first_frame_and_has_its_quanta() {
    let mut stand = above_xoff();
    let to_other = Packet { dst: NodeId(1), ..packet(2, 0) };
    stand.comes(&to_other, T + FRAME + 1);
    stand.leaves(1, 0, &to_other, T + FRAME + 1);
    stand.finds(&[
        "switch at 1088.481ns: port 1, queue 0: the neighbor is to be paused since 1088.480ns, and \
         is not",
    ]);
    let mut stand = above_xoff();
    stand.leaves(1, 1, &control(Body::Pfc { classes: 1, quanta: 250, resumed: 0 }), T + FRAME);
    stand.finds(&["switch at 1088.480ns: port 1, queue 0: a pause is 250 quanta, not 500"]);
}

#[test]
fn pause_is_about_what_came_by_a_port() {
    let pause = pause::Spec { xoff: Bytes(1_000), xon: Bytes(500), ..Default::default() };
    let mut stand = stand(|spec| spec.switch.flow_control.pause = Some(pause));
    stand.waits(0, &packet(1, 0), T);
    stand.leaves(1, 1, &control(Body::Pause { quanta: 0 }), T);
    stand.leaves(2, 1, &control(Body::Pause { quanta: u16::MAX }), T);
    stand.finds(&[
        "switch at 1000.000ns: port 1, queue 0: the neighbor is resumed while 1086 bytes wait that \
         have passed XOFF (1000 bytes) and not fallen to XON (500 bytes)",
        "switch at 1000.000ns: port 2, queue 0: the neighbor is paused, and nothing is above XOFF \
         (1000 bytes)",
    ]);
}
