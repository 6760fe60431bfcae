//! Frames on links, and links that fail.

use super::*;
use crate::failure::Failure;
use floodway_model::Rate;

use crate::errors::Errors;
use crate::pace::grants::Grants;
use crate::pace::{By, Pace, Trace};
use crate::retry;

#[test]
fn frames_take_their_time_and_do_not_overlap() {
    let mut stand = stand(|_| {});
    let to = (SWITCH, PortIx(1));
    let mut send = |psn, at, arrives| {
        stand.sent(to, &packet(1, psn), Class(0), Instant(at), Some(Instant(arrives)));
    };
    send(0, T, T + HOP);
    // The gap of 20 bytes is missing: 1086 bytes are 86.88 ns.
    send(1, T + 86_880, T + 86_880 + HOP);
    // A delay that is 2 % too long.
    send(2, 2 * T, 2 * T + HOP + 4_000);
    stand.finds(&[
        "host 1 at 1086.880ns: port 0: a frame is sent while one is on the wire until 1088.480ns",
        "host 1 at 2000.000ns: port 0: a frame of 1086 bytes is due at 2288.480ns and arrives at \
         2292.480ns",
    ]);
}

#[test]
fn every_frame_arrives_once_and_in_time() {
    let mut stand = stand(|_| {});
    let (one, other) = (packet(1, 0), packet(1, 1));
    let to = (SWITCH, PortIx(1));
    stand.sent(to, &one, Class(0), Instant(T), Some(Instant(T + HOP)));
    stand.sent(to, &other, Class(0), Instant(T + FRAME), Some(Instant(T + FRAME + HOP)));
    stand.0.arrives(SWITCH, &other, Instant(T + FRAME + HOP));
    let fact = Fact::Dropped { port: 0, queue: 0, reason: DropReason::Aqm, packet: &other };
    stand.states(SWITCH, &fact, T + FRAME + HOP);
    stand.0.arrives(SWITCH, &other, Instant(T + FRAME + HOP));
    stand.finds(&[
        "switch at 1376.960ns: port 0, queue 0: a packet is dropped (aqm) without that reason",
        "switch at 1376.960ns: port 1: a frame arrives that was not sent, or not for this time",
        "switch at 1376.960ns: port 1: a frame was due at 1288.480ns and has not arrived",
    ]);
}

#[test]
fn links_that_are_down_lose_everything_and_nothing_else_does() {
    let failure = Failure {
        node: SWITCH,
        port: PortIx(1),
        at: Instant(T),
        until: Instant(3 * T),
        detection: Duration(T / 2),
    };
    let mut stand = stand(|spec| spec.failures.push(failure));
    let to = (SWITCH, PortIx(1));
    let mut send = |psn, at, lost: bool| {
        let arrives = (!lost).then_some(Instant(at + HOP));
        stand.sent(to, &packet(1, psn), Class(0), Instant(at), arrives);
    };
    send(0, T / 2, true);
    // Its last bit would arrive after the failure.
    send(1, T - FRAME, false);
    send(2, T + 5, true);
    send(3, 2 * T, true);
    stand.finds(&[
        "host 1 at 500.000ns: port 0: a frame is lost on a link that works",
        "host 1 at 911.520ns: port 0: a frame is sent on a link that is down, and arrives",
        "host 1 at 2000.000ns: port 0: a frame is sent on a link that is known to be down",
    ]);
}

/// Host 1 sends through a shaper of 50 Gb/s, half of the rate of its link, then by a trace with an opportunity in each
/// millisecond, which a frame of 1066 bytes does not fill: it counts as 1052. At last it has grants in intervals of 1 ms, one
/// after the request: the first two frames are requested at 0, and the next ones leave in it as well, too soon.
#[test]
fn a_port_does_not_send_ahead_of_its_pace() {
    let shaper = By::Shaper { rate: Rate::from_gbps(50), burst: Bytes(0) };
    let ms = 1_000_000_000;
    let trace = By::Trace(Trace::new([Duration(ms)]).unwrap());
    let grants = By::Grants(Grants {
        interval: Duration(ms),
        delay: Duration(ms),
        proactive: Duration::ZERO,
    });
    let granted = [(0, ms + FRAME), (0, ms + 2 * FRAME)];
    for (by, times, early) in [
        (grants, granted, (T, ms + 3 * FRAME)),
        (shaper, [(T, T + FRAME), (T + 2 * FRAME, T + 3 * FRAME)], (T + 3 * FRAME, T + 4 * FRAME)),
        (trace, [(0, ms), (ms, 2 * ms)], (2 * ms, 2 * ms + FRAME)),
    ] {
        let pace = Pace { node: NodeId(1), port: PortIx(0), by };
        let mut stand = stand(|spec| spec.paces.push(pace));
        let to = (SWITCH, PortIx(1));
        let mut send = |psn, (at, left): (u64, u64)| {
            let (left, arrives) = (Instant(left), Some(Instant(left + HOP - FRAME)));
            stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), (left, arrives));
        };
        send(0, times[0]);
        send(1, times[1]);
        assert_eq!(stand.found(), Vec::<String>::new());
        let mut send = |psn, (at, left): (u64, u64)| {
            let (left, arrives) = (Instant(left), Some(Instant(left + HOP - FRAME)));
            stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), (left, arrives));
        };
        send(2, early);
        send(3, early);
        let found = stand.found().join(" ");
        assert!(found.contains("a frame is sent ahead of the pace of its port"), "{found}");
    }
}

/// Host 1 has a retry with a replay buffer of two frames, whose answers arrive 400 ns after a frame has ended.
#[test]
fn a_retry_keeps_order_and_its_replay_buffer() {
    let retry = retry::Spec {
        buffer: Bytes(2 * 1_086),
        count: 1,
        processing: Duration::ZERO,
        timer: Duration(800_000),
        spacing: Bytes(0),
        overhead: Bytes(0),
    };
    let of = |rate, frames: &[(u64, u64)]| {
        let errors = Errors {
            node: NodeId(1),
            port: PortIx(0),
            rate,
            frames: Vec::new(),
            retry: Some(retry),
        };
        let mut stand = stand(|spec| spec.errors.push(errors));
        for (psn, &(at, left)) in (0..).zip(frames) {
            let times = (Instant(left), Some(Instant(left + HOP - FRAME)));
            stand.0.sent((SWITCH, PortIx(1)), &packet(1, psn), Class(0), Instant(at), times);
        }
        stand.found()
    };
    let late = T + 4 * FRAME;
    // The second one is late, and the third would overtake it.
    assert_eq!(of(1e-6, &[(T, T + FRAME), (T + FRAME, late)]), Vec::<String>::new());
    let found = of(1e-6, &[(T, late), (T + FRAME, late + FRAME - 1)]);
    assert_eq!(
        found,
        ["host 1 at 1088.480ns: port 0: a frame ends at 1442.399ns that cannot before 1442.400ns"]
    );
    let found = of(0.0, &[(T, T + FRAME), (T + FRAME, late)]);
    assert_eq!(
        found,
        ["host 1 at 1088.480ns: port 0: a frame is sent again on a link without errors"]
    );
    // The answer to the first one is there at T + FRAME + 400 ns.
    let third = T + FRAME + 400_000;
    let two = [(T, T + FRAME), (T + FRAME, T + 2 * FRAME)];
    let then = |at| of(0.0, &[two[0], two[1], (at, at + FRAME)]);
    assert_eq!(then(third), Vec::<String>::new());
    assert_eq!(
        then(third - 1),
        ["host 1 at 1488.479ns: port 0: 3258 bytes wait for an answer in a replay buffer of 2172"]
    );
}
