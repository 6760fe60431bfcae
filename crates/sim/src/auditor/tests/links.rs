//! Frames on links, and links that fail.

use super::*;
use crate::failure::Failure;

#[test]
fn frames_take_their_time_and_do_not_overlap() {
    let mut stand = stand(|_| {});
    let to = (SWITCH, PortIx(1));
    let mut send = |psn, at, arrives| {
        stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), Some(Instant(arrives)));
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
    stand.0.sent(to, &one, Class(0), Instant(T), Some(Instant(T + HOP)));
    stand.0.sent(to, &other, Class(0), Instant(T + FRAME), Some(Instant(T + FRAME + HOP)));
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
        stand.0.sent(to, &packet(1, psn), Class(0), Instant(at), arrives);
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
