//! Links with bit errors and with a link-level retry, in frames that take w = 100 ns on links of 100 Gb/s with a
//! delay of 200 ns.
//!
//! The loop of a link is the time from the last bit of a frame to its answer: 400 ns, twice the delay, if nothing
//! else is written. After an error in a frame, everything behind it is late by w + loop: the time of the
//! transmission that failed, and the time until the sender knows.

use std::sync::atomic::AtomicBool;

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Instant, NodeId, PortIx};
use floodway_sim::delays::Sample;
use floodway_sim::errors::Errors;
use floodway_sim::failure::Failure;
use floodway_sim::retry;
use floodway_sim::simulation::Run;
use floodway_sim::switch::flow_control::{cbfc, pfc};
use floodway_sim::{Outcome, Sent, Simulation, Spec};

/// No time but that of propagation, and as much room as a loop needs.
const SIMPLE: retry::Spec = retry::Spec {
    buffer: Bytes(7 * FRAME),
    count: 1,
    processing: Duration::ZERO,
    timer: Duration(2 * ns(400)),
    spacing: Bytes(0),
    overhead: Bytes(0),
};

/// The same errors and the same retry on all links, in both directions.
fn everywhere(spec: &mut Spec, rate: f64, retry: Option<retry::Spec>) {
    let ends = spec.graph.ids().flat_map(|node| {
        let ports = spec.graph.node(node).ports.len() as u16;
        (0..ports).map(move |port| (node, PortIx(port)))
    });
    let of = |(node, port)| Errors { node, port, rate, frames: Vec::new(), retry };
    spec.errors = ends.map(of).collect();
}

/// Host 0 sends so many full frames to host 1 by a switch, node 2. Of those that the host sends, the listed
/// transmissions have an error.
fn one_flow(frames: u64, listed: &[u64], retry: retry::Spec) -> Spec {
    let mut spec = full_frames(star(2), vec![flow(0, 1, frames * PAYLOAD, 0)]);
    let frames = listed.to_vec();
    let (node, port) = (NodeId(0), PortIx(0));
    spec.errors = vec![Errors { node, port, rate: 0.0, frames, retry: Some(retry) }];
    spec
}

/// When frames have arrived at the switch.
fn arrivals(spec: Spec) -> Vec<u64> {
    let (_, sent) = traced(spec);
    data_to(&sent, 2, 0).map(|frame| frame.handled_at.0).collect()
}

/// Frame i arrives at 300 ns + 100 i ns, or later by what `late` says of it.
fn on_paper(frames: u64, late: impl Fn(u64) -> u64) -> Vec<u64> {
    (0..frames).map(|i| ns(300) + i * ns(100) + late(i)).collect()
}

fn counts(outcome: &Outcome) -> [u64; 3] {
    ["corrupted_frames", "replayed_frames", "lost_to_errors"].map(|name| outcome.counter(name))
}

/// Frame 3 ends at 400 ns and its NACK arrives at 800 ns. By then frames 4 to 7 have been sent, which are sent
/// again after it: five replays. Everything from frame 3 on is late by 500 ns, and in order.
#[test]
fn an_error_costs_a_loop() {
    let spec = one_flow(20, &[3], SIMPLE);
    let late = |i| if i < 3 { 0 } else { ns(500) };
    assert_eq!(arrivals(spec.clone()), on_paper(20, late));
    let (outcome, sent) = traced(spec);
    assert_eq!(counts(&outcome), [1, 5, 0]);
    // From 800 to 1300 ns the port sends the five again, and then takes frame 8 from its queue.
    let begun: Vec<u64> = data_to(&sent, 2, 0).map(begun).collect();
    let expected = |i: u64| if i < 8 { i * ns(100) } else { i * ns(100) + ns(500) };
    assert_eq!(begun, (0..20).map(expected).collect::<Vec<_>>());
    // All at 100 Gb/s: the wire of host 0 was busy for 20 frames and for 5 again.
    let used = outcome.table("links").f64s("utilization")[0];
    let busy = used * outcome.simulated.0 as f64;
    assert!((busy - (25 * ns(100)) as f64).abs() < 1.0, "{busy}");
}

/// A frame that comes alone waits for nothing but its own replay, and the one after it for nothing.
#[test]
fn an_error_of_the_last_frame_is_repaired() {
    assert_eq!(arrivals(one_flow(1, &[0], SIMPLE)), on_paper(1, |_| ns(500)));
    let mut spec = one_flow(1, &[0], SIMPLE);
    spec.flows.push(FlowSpec { start: Instant(ns(5_000)), ..flow(0, 1, PAYLOAD, 0) });
    let (_, sent) = traced(spec);
    assert_eq!(
        data_to(&sent, 2, 1).map(|frame| frame.handled_at.0).collect::<Vec<_>>(),
        [ns(5_300)]
    );
}

/// The fourth transmission is frame 3, and the fifth its replay, which fails too: 1000 ns. With a count of 1 the
/// frame is given up then, and frame 4 comes when it would have begun: late by 1000 ns less its own place.
#[test]
fn a_frame_that_fails_too_often_is_lost() {
    let twice = retry::Spec { count: 2, ..SIMPLE };
    let late = |i| if i < 3 { 0 } else { ns(1_000) };
    assert_eq!(arrivals(one_flow(20, &[3, 4], twice)), on_paper(20, late));
    let spec = one_flow(20, &[3, 4], SIMPLE);
    let late = |i| if i < 3 { 0 } else { ns(900) };
    let mut expected = on_paper(20, late);
    let mut found = arrivals(spec.clone());
    // The trace has the frame that does not arrive, with the time of its replay.
    assert_eq!(found.remove(3), ns(1_100));
    expected.remove(3);
    assert_eq!(found, expected);
    let outcome = run(spec);
    assert_eq!(counts(&outcome)[0], 2);
    assert_eq!((counts(&outcome)[2], drops(&outcome, "corrupted")), (1, 1));
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [19 * PAYLOAD]);
    assert_eq!(outcome.table("flows").u64s("lost_packets"), [1]);
    // With a count of 0 nothing is sent again, and what follows still waits for the NACK.
    let outcome = run(one_flow(20, &[3], retry::Spec { count: 0, ..SIMPLE }));
    assert_eq!(counts(&outcome), [1, 4, 1]);
}

/// Without a retry a frame with an error is lost, and nothing else changes.
#[test]
fn without_a_retry_an_error_is_a_loss() {
    let mut spec = one_flow(20, &[3, 7], SIMPLE);
    spec.errors[0].retry = None;
    assert_eq!(arrivals(spec.clone()), on_paper(20, |_| 0));
    let outcome = run(spec);
    assert_eq!(counts(&outcome), [2, 0, 2]);
    assert_eq!(drops(&outcome, "corrupted"), 2);
    assert_eq!((outcome.counter("lost_on_links"), outcome.counter("dropped_packets")), (0, 0));
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [18 * PAYLOAD]);
}

/// The other direction has room for an answer every 2048 bytes, 163.84 ns. Frame 3 has arrived at 600 ns, and 50 ns
/// later the NACK is ready: at 655.36 ns it leaves, after four of these times, and it arrives at 855.36 ns. The
/// loop is 455.36 ns.
#[test]
fn answers_leave_where_the_line_code_has_room() {
    let retry = retry::Spec {
        spacing: Bytes(2_048),
        processing: Duration::from_ns(50),
        buffer: Bytes(9 * FRAME),
        ..SIMPLE
    };
    let late = |i| if i < 3 { 0 } else { ns(100) + 455_360 };
    assert_eq!(arrivals(one_flow(20, &[3], retry)), on_paper(20, late));
}

/// An ordered set of 8 bytes takes 640 ps after every 2048 bytes sent. Frame n ends after 1250 (n + 1) bytes, which
/// have the multiples of 2048 below them.
#[test]
fn ordered_sets_take_their_time() {
    let retry = retry::Spec {
        spacing: Bytes(2_048),
        overhead: Bytes(8),
        buffer: Bytes(9 * FRAME),
        ..SIMPLE
    };
    let found = arrivals(one_flow(100, &[], retry));
    let late = |i| 1_250 * (i + 1) / 2_048 * 640;
    assert_eq!(found, on_paper(100, late));
    // 61 of them: 0.39 % of 100 frames.
    assert_eq!(late(99), 61 * 640);
}

/// With room for k frames, k of them are sent in w + loop, 500 ns: the throughput is min(1, k w / (w + loop)).
#[test]
fn throughput_is_the_replay_buffer_over_the_loop() {
    for k in 1..=6 {
        let retry = retry::Spec { buffer: Bytes(k * FRAME), ..SIMPLE };
        let of = |k| (0..100).map(|i| ns(300) + begins(i, k)).collect::<Vec<_>>();
        let expected = if k < 5 { of(k) } else { on_paper(100, |_| 0) };
        assert_eq!(arrivals(one_flow(100, &[], retry)), expected, "{k}");
        // A byte less is a frame less.
        if (2..6).contains(&k) {
            let less = retry::Spec { buffer: Bytes(k * FRAME - 1), ..SIMPLE };
            assert_eq!(arrivals(one_flow(100, &[], less)), of(k - 1), "{k}");
        }
    }
}

/// When frame i is sent if k are sent every 500 ns.
fn begins(i: u64, k: u64) -> u64 {
    i / k * ns(500) + i % k * ns(100)
}

/// What is stalled is stalled in the NIC as well: feedback of a receiver, and frames in a transmit buffer.
#[test]
fn nics_with_a_buffer_wait_too() {
    let retry = retry::Spec { buffer: Bytes(3 * FRAME), ..SIMPLE };
    let mut spec = one_flow(100, &[], retry);
    spec.host.buffer = Some(Bytes(20 * FRAME));
    let expected: Vec<u64> = (0..100).map(|i| ns(300) + begins(i, 3)).collect();
    assert_eq!(arrivals(spec), expected);
}

/// Frames of 1230 bytes have 9840 bits, and with 10^-6 each of them an error in 0.979 % of transmissions. 20,000
/// frames take 20,000 / (1 - p) = 20,198 transmissions and 198 errors, with a deviation of 14.1. Each costs w +
/// loop = 500 ns of the line. One NACK of 64 bits in 15,600 has an error, and costs 377 ns more with a timer of 777
/// ns. The port is never idle, so that the sum is exact: the goodput is 1 / (1 + e (w + loop) / w), with e errors
/// per frame.
#[test]
fn goodput_is_lower_by_a_loop_for_each_error() {
    let retry = retry::Spec { count: 20, timer: Duration(ns(777)), ..SIMPLE };
    let mut spec = one_flow(20_000, &[], retry);
    spec.errors[0].rate = 1e-6;
    let mut timers = 0;
    for seed in 1..=5 {
        spec.seed = seed;
        let outcome = run(spec.clone());
        let [errors, replays, lost] = counts(&outcome);
        assert!((errors as f64 - 198.0).abs() < 4.0 * 14.1, "{errors}");
        assert_eq!(lost, 0);
        // Two links and the switch, of which the second adds a frame.
        let idle = 20_000 * ns(100) + ns(100) + 2 * ns(200);
        let more = fct_ps(&outcome)[0] - idle - errors * ns(500);
        assert_eq!(more % ns(377), 0, "{seed}");
        timers += more / ns(377);
        // Each error repeats its frame and at most those of a loop, or of a timer.
        assert!((errors..=5 * errors + 8 * timers).contains(&replays), "{errors} {replays}");
    }
    // Of 990 NACKs.
    assert!(timers <= 2, "{timers}");
}

/// All tables but the counters, in which the retry has some of its own. As text, because a number that is not there
/// differs from itself.
fn results(outcome: &Outcome) -> Vec<(&str, String)> {
    let others = outcome.tables.iter().filter(|table| table.name != "counters");
    others.map(|table| (&*table.name, format!("{table:?}"))).collect()
}

/// A network with PFC, an incast and flows at random.
fn busy() -> Spec {
    let flows: Vec<FlowSpec> =
        busy_flows().into_iter().filter(|flow| flow.bytes < 1 << 40).collect();
    let mut spec = plain(clos(4, 3, 8), flows);
    let pfc = pfc::Spec { xoff: Bytes(40_000), xon: Bytes(20_000), ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(pfc);
    spec.end = Duration::from_ms(20);
    spec
}

/// A replay buffer of R t_loop and two full frames, 5.0 KB of the loop of 400 ns, or with answers every 2048 bytes
/// 7.0 KB.
fn roomy(spacing: u64) -> retry::Spec {
    let buffer = Bytes(5_000 + spacing + 2 * 1_086);
    retry::Spec { buffer, spacing: Bytes(spacing), ..SIMPLE }
}

/// Without errors, a retry changes nothing, to the last bit of all tables.
#[test]
fn without_errors_a_retry_changes_nothing() {
    let without = run(busy());
    for spacing in [0, 2_048] {
        let mut spec = busy();
        everywhere(&mut spec, 0.0, Some(roomy(spacing)));
        let with = run(spec);
        assert_eq!(counts(&with), [0; 3]);
        for (one, other) in results(&without).iter().zip(results(&with)) {
            assert!(*one == other, "{spacing}: {}", one.0);
        }
        for counter in ["pause_frames", "paused_ns", "cnps_sent", "data_packets_sent", "hops"] {
            assert_eq!(without.counter(counter), with.counter(counter), "{counter}");
        }
    }
}

/// Frames of 1086 bytes have an error in 0.87 % of transmissions: without a retry thousands are lost, with one only
/// those that fail three times in a row, 6.5 in ten million.
#[test]
fn what_pfc_keeps_lossless_stays_so_with_a_retry() {
    let mut spec = busy();
    everywhere(&mut spec, 1e-6, None);
    let without = run(spec.clone());
    assert!(without.counter("lost_to_errors") > 1_000 && without.counter("naks_sent") > 100);
    everywhere(&mut spec, 1e-6, Some(retry::Spec { count: 2, ..roomy(2_048) }));
    let with = run(spec);
    let [errors, replays, lost] = counts(&with);
    assert!(errors > 1_000 && replays > errors && lost == 0, "{errors} {replays} {lost}");
    let names =
        ["dropped_packets", "reordered_packets", "naks_sent", "timeouts", "flows_unfinished"];
    assert_eq!(names.map(|name| with.counter(name)), [0; 5]);
}

#[test]
fn threads_make_no_difference() {
    for (rate, retry) in [(1e-6, None), (1e-5, Some(roomy(2_048)))] {
        let mut spec = busy();
        everywhere(&mut spec, rate, retry);
        let on = |threads| {
            let stop = AtomicBool::new(false);
            let run = Run { threads, stop: &stop, watch: &|_| {} };
            Simulation::new(spec.clone()).run_with(&run)
        };
        let one = on(1);
        assert_eq!(one.violations, Vec::<String>::new());
        assert!(one.counter("lost_to_errors") > 10);
        for threads in 2..=4 {
            assert_eq!(one.fingerprint, on(threads).fingerprint, "{threads}");
        }
    }
}

/// Host 1 sends to host 0, and host 0 to host 2, whose link is slow. Every third frame to host 0 has an error, so
/// that the port of the switch to host 0 sends again more than half of the time. Pauses for host 0 leave there as
/// soon as the wire is free of the one frame that may be on it.
#[test]
fn pauses_do_not_wait_for_replays() {
    let flows = vec![flow(1, 0, 300 * PAYLOAD, 0), flow(0, 2, 300 * PAYLOAD, 0)];
    let mut spec = full_frames(slow_star(3), flows);
    let pfc = pfc::Spec { xoff: Bytes(10 * FRAME), xon: Bytes(5 * FRAME), ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(pfc);
    let (node, port, rate) = (NodeId(3), PortIx(0), 0.0);
    let frames = (0..300).map(|n| 3 * n).collect();
    spec.errors = vec![Errors { node, port, rate, frames, retry: Some(SIMPLE) }];
    let (outcome, sent) = traced(spec);
    assert!(counts(&outcome)[1] > 300, "{:?}", counts(&outcome));
    let to_host: Vec<&Sent> = sent.iter().filter(|frame| frame.to.0 == NodeId(0)).collect();
    let pauses = to_host.iter().filter(|frame| matches!(frame.packet.body, Body::Pfc { .. }));
    let pauses: Vec<&&Sent> = pauses.collect();
    assert!(pauses.len() > 10);
    // Each is at host 0 at once: 84 bytes with preamble and gap, and the delay.
    assert!(pauses.iter().all(|pause| pause.handled_at.0 - pause.at.0 == 84 * 80 + ns(200)));
    // Many leave while the port sends again: before the last frame has ended that it took before.
    let replaying = |pause: &&&&Sent| {
        let mut before =
            to_host.iter().filter(|frame| frame.packet.is_data() && frame.at < pause.at);
        before.next_back().is_some_and(|frame| frame.handled_at.0 - ns(200) > pause.at.0)
    };
    assert!(pauses.iter().filter(replaying).count() > 3);
}

/// A switch that gives credit gets every frame once.
#[test]
fn credit_of_links_goes_together_with_a_retry() {
    let mut spec =
        full_frames(star(3), vec![flow(0, 2, 2_000 * PAYLOAD, 0), flow(1, 2, 2_000 * PAYLOAD, 0)]);
    let buffer = Bytes(20 * FRAME);
    spec.switch.flow_control.cbfc = Some(cbfc::Spec { buffer, ..Default::default() });
    everywhere(&mut spec, 1e-6, Some(retry::Spec { count: 4, ..SIMPLE }));
    let outcome = run(spec);
    assert!(counts(&outcome)[0] > 50 && counts(&outcome)[2] == 0);
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [2_000 * PAYLOAD; 2]);
}

/// What a failed link loses is lost, replays or not, and after the repair everything goes on.
#[test]
fn a_failure_takes_what_is_to_be_sent_again() {
    let mut spec = one_flow(2_000, &[100, 300, 500, 700, 900], SIMPLE);
    for at in [10_000, 30_350, 70_850] {
        let until = Instant(ns(at + 20_000));
        let (node, port, at, detection) =
            (NodeId(0), PortIx(0), Instant(ns(at)), Duration(ns(500)));
        spec.failures = vec![Failure { node, port, at, until, detection }];
        let outcome = run(spec.clone());
        let lost = outcome.counter("lost_on_links");
        assert!((5..=20).contains(&lost), "{lost}");
        let delivered = outcome.table("flows").u64s("delivered_bytes")[0];
        assert_eq!(delivered, (2_000 - lost - counts(&outcome)[2]) * PAYLOAD);
    }
}

/// The parts of explained delays add up, or the run has a violation. What a retry takes is no part of an idle network.
#[test]
fn delays_are_explained() {
    let mut spec = busy();
    everywhere(&mut spec, 1e-6, Some(retry::Spec { count: 4, ..roomy(2_048) }));
    let plain = run(spec.clone());
    spec.explained = Some(Sample { flows: 100, share: 1.0 });
    assert_eq!(run(spec).fingerprint, plain.fingerprint);
}
