//! Queues, buffers, marks and schedulers of switches.

use super::*;
use crate::switch::buffer::{self, shared};
use crate::switch::flow_control::pfc;
use crate::switch::{aqm, scheduler};

#[test]
fn a_queue_has_its_size_and_drops_only_what_has_no_room() {
    let mut stand = stand(|spec| spec.switch.queue.size = Bytes(2 * 1_086));
    // A pause from host 0 blocks the port.
    stand.pauses(u16::MAX, T / 2);
    for (psn, src) in [(0, 1), (1, 1)] {
        stand.waits(0, &packet(src, psn), T + u64::from(psn) * FRAME);
    }
    stand.comes(&packet(1, 2), T + 2 * FRAME);
    stand.drops(DropReason::QueueFull, &packet(1, 2), T + 2 * FRAME);
    stand.finds(&[]);
    stand.waits(0, &packet(1, 3), T + 3 * FRAME);
    stand.comes(&packet(1, 4), T + 4 * FRAME);
    stand.drops(DropReason::HeadroomExceeded, &packet(1, 4), T + 4 * FRAME);
    stand.finds(&[
        "switch at 1265.440ns: port 0, queue 0: a packet of 1086 bytes is let in to 2172 bytes, \
         without room (queue_full)",
        "switch at 1353.920ns: port 0, queue 0: a packet of 1086 bytes is dropped \
         (headroom_exceeded) from 3258 bytes, where it has room or lacks it for another reason",
    ]);
}

#[test]
fn a_shared_buffer_has_its_dynamic_threshold() {
    // One frame is guaranteed. The second uses 1086 of the pool, of which 3000 are free: an alpha of
    // 1 permits it. The third would be 2172 above the guarantee, and 1914 are free.
    let pool = shared::Pool { pool: Bytes(3_000), guaranteed: Bytes(1_086), alpha: Some(1.0) };
    let shared = shared::Spec { egress: Some(pool), ..Default::default() };
    let mut stand = stand(|spec| spec.switch.buffer = buffer::Spec::Shared(shared));
    stand.pauses(u16::MAX, T / 2);
    stand.waits(0, &packet(1, 0), T);
    stand.comes(&packet(1, 1), T + FRAME);
    stand.drops(DropReason::EgressThreshold, &packet(1, 1), T + FRAME);
    stand.waits(0, &packet(2, 0), T + FRAME);
    stand.waits(0, &packet(2, 1), T + 2 * FRAME);
    stand.finds(&[
        "switch at 1088.480ns: port 0, queue 0: a packet of 1086 bytes is dropped \
         (egress_threshold) from 1086 bytes, where it has room or lacks it for another reason",
        "switch at 1176.960ns: port 0, queue 0: a packet of 1086 bytes is let in to 2172 bytes, \
         without room (egress_threshold)",
    ]);
}

#[test]
fn a_pool_of_headroom_is_for_all_ports() {
    // A port and class has no room but its headroom of two frames, and all together three.
    let ingress = shared::Pool { pool: Bytes(1_000), guaranteed: Bytes(0), alpha: Some(1e-9) };
    let (headroom, headroom_pool) = (Bytes(2 * 1_086), Some(Bytes(3 * 1_086)));
    let ingress = Some(ingress);
    let shared = shared::Spec { ingress, headroom, headroom_pool, ..Default::default() };
    let mut stand = stand(|spec| {
        spec.switch.buffer = buffer::Spec::Shared(shared);
        spec.switch.flow_control.pfc =
            Some(pfc::Spec { response: Some(Duration::ZERO), ..Default::default() });
    });
    stand.pauses(u16::MAX, T / 2);
    for (psn, src) in [(0, 1), (0, 2)] {
        stand.waits(0, &packet(src, psn), T + u64::from(src) * FRAME);
    }
    // There is room for a third frame, and none for a fourth, although its port has one.
    stand.comes(&packet(1, 1), T + 3 * FRAME);
    stand.drops(DropReason::HeadroomExceeded, &packet(1, 1), T + 3 * FRAME);
    stand.waits(0, &packet(1, 2), T + 4 * FRAME);
    stand.waits(0, &packet(2, 1), T + 5 * FRAME);
    stand.finds(&[
        "switch at 1265.440ns: port 0, queue 0: a packet of 1086 bytes is dropped \
         (headroom_exceeded) from 2172 bytes, where it has room or lacks it for another reason",
        "switch at 1442.400ns: port 0, queue 0: a packet of 1086 bytes is let in to 3258 bytes, \
         without room (headroom_exceeded)",
    ]);
}

#[test]
fn a_port_is_not_idle_while_a_packet_waits() {
    let mut stand = stand(|_| {});
    stand.waits(0, &packet(1, 0), T);
    stand.0.finish(Instant(T + HOP));
    stand.finds(&[
        "switch at 1288.480ns: port 0, queue 0: 1086 bytes could have been sent since 1000.000ns",
    ]);
}

#[test]
fn marks_are_set_on_capable_packets_where_something_marks_and_never_removed() {
    let step = aqm::Spec::Step(Default::default());
    let case = |aqm: aqm::Spec, came: Ecn, left: Ecn| {
        let mut stand = stand(|spec| spec.switch.aqm = aqm);
        stand.comes(&marked(packet(1, 0), came), T);
        stand.leaves(0, 0, &marked(packet(1, 0), left), T);
        stand.found()
    };
    let found = |text| vec![format!("switch at 1000.000ns: port 0, queue 0: {text}")];
    assert_eq!(case(step.clone(), Ecn::Ect0, Ecn::Ce), Vec::<String>::new());
    assert_eq!(
        case(step.clone(), Ecn::NotEct, Ecn::Ce),
        found("a packet is marked that is not ECN-capable")
    );
    assert_eq!(case(step, Ecn::Ce, Ecn::Ect0), found("the ECN field has become Ect0, not Ce"));
    assert_eq!(
        case(aqm::Spec::DropTail(Default::default()), Ecn::Ect0, Ecn::Ce),
        found("a packet is marked, and nothing here marks")
    );
}

#[test]
fn strict_priority_is_not_violated() {
    let strict = scheduler::Spec::Strict(Default::default());
    let mut stand = stand(|spec| {
        spec.switch.queue.count = 2;
        spec.switch.scheduler = strict;
    });
    stand.waits(0, &packet(1, 0), T);
    stand.waits(1, &packet(2, 0), T);
    stand.leaves(0, 1, &packet(2, 0), T);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 1: sends while queue 0, which is above it, could",
    ]);
}

/// Two queues with many packets; the n-th packet of the port is sent from queue `sends(n)`. Returns
/// the violations.
fn shares(scheduler: scheduler::Spec, sends: impl Fn(u32) -> u8) -> Vec<String> {
    let mut stand = stand(|spec| {
        spec.switch.queue.count = 2;
        spec.switch.scheduler = scheduler;
        spec.switch.flow_control.pfc = Some(pfc::Spec::default());
    });
    stand.pauses(u16::MAX, T);
    let frame =
        Packet { ingress: PortIx(0), ..control(Body::Pfc { classes: 3, quanta: 100, resumed: 0 }) };
    let sent = Instant(2 * T - 84 * 80 - 200_000);
    stand.sent((SWITCH, PortIx(0)), &frame, Class(2), sent, Some(Instant(2 * T)));
    stand.0.arrives(SWITCH, &frame, Instant(2 * T));
    for psn in 0..30 {
        let at = 2 * T + 1 + u64::from(psn) * FRAME;
        stand.waits(0, &packet(1, psn), at);
        stand.waits(1, &packet(2, psn), at);
    }
    let mut next = [0; 2];
    let begin = 2 * T + 30 * FRAME;
    stand.0.findings = Findings::default();
    for n in 0..20 {
        let queue = sends(n);
        let psn = &mut next[usize::from(queue)];
        stand.leaves(0, queue, &packet(u32::from(queue) + 1, *psn), begin + u64::from(n) * FRAME);
        *psn += 1;
    }
    // The idle time of the port before is not under test.
    let mut found = stand.found();
    found.retain(|text| text.contains("unfairly"));
    found
}

#[test]
fn drr_is_fair_to_a_quantum_and_two_frames() {
    let drr = || scheduler::Spec::Drr(Default::default());
    assert_eq!(shares(drr(), |n| (n % 2) as u8), Vec::<String>::new());
    // 1500 + 2 x 1106 bytes are three frames; one queue sends twice as much, so that after n rounds
    // the difference is n frames.
    let text = "port 0, queue 0: shares the link unfairly with queue 1: bytes by weight (times 1) \
                differ by 4424, and by 3712 at most while both wait";
    assert_eq!(
        shares(drr(), |n| u8::from(n % 3 == 2)),
        ["5273.760ns", "6070.080ns"].map(|at| format!("switch at {at}: {text}"))
    );
}

#[test]
fn wrr_is_fair_to_a_frame() {
    let wrr = || scheduler::Spec::Wrr(Default::default());
    assert_eq!(shares(wrr(), |n| u8::from(n % 10 == 9)), Vec::<String>::new());
    // 11 frames of the low latency queue, times the weight 10 of the other, are 110 x 1106 bytes, and
    // the bound is 100 x 1106.
    assert_eq!(shares(wrr(), |_| 0).len(), 1);
}

#[test]
fn feedback_goes_before_data() {
    let mut stand = stand(|_| {});
    let cnp = Packet { class: Class(1), body: Body::Cnp, ..packet(2, 0) };
    stand.waits(1, &cnp, T);
    stand.waits(0, &packet(1, 0), T);
    stand.leaves(0, 0, &packet(1, 0), T);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 0: data is sent while feedback waits, which goes first",
    ]);
}

#[test]
fn packets_of_a_queue_leave_in_order_and_only_those_that_came() {
    let mut stand = stand(|_| {});
    stand.waits(0, &packet(1, 0), T);
    stand.waits(0, &packet(2, 0), T);
    stand.leaves(0, 0, &packet(2, 0), T);
    stand.leaves(0, 0, &packet(2, 7), T + FRAME);
    stand.finds(&[
        "switch at 1000.000ns: port 0, queue 0: a packet overtakes 1 others",
        "switch at 1088.480ns: port 0, queue 0: a packet is sent that is not here",
        "switch at 1088.480ns: port 0, queue 0: a packet overtakes all that wait",
    ]);
}

#[test]
fn a_frame_does_not_vanish_in_a_switch() {
    let mut stand = stand(|_| {});
    stand.comes(&packet(1, 0), T);
    stand.0.finish(Instant(2 * T));
    stand.finds(&[
        "switch at 2000.000ns: flow 0: a frame has been neither queued nor sent nor dropped",
    ]);
}
