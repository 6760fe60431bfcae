//! Parameters of queue managements, each by a network in which its effect can be computed by hand: two
//! hosts send datagrams at line rate to a third, so that its queue grows by one frame in the time of a
//! frame, and the head has waited for half of the time.

use crate::common::overload::*;
use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::udp;
use floodway_sim::switch::aqm::{
    self, codel, coupled, curvy_red, dualpi2, dualq, pi2, pie, ramp, red,
};
use floodway_sim::switch::classify::ecn::Scalable;

/// The same in the low latency queue of two, the other of which is empty.
fn low_latency(aqm: aqm::Spec, end: Duration) -> Spec {
    let mut spec = overload(aqm, end);
    two_queues(&mut spec, Scalable::EcnCapable);
    spec
}

fn marks(spec: Spec) -> f64 {
    let outcome = run(spec);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    outcome.counter("marked_packets") as f64
}

/// Within five standard deviations of a sum of independent packets with these probabilities.
#[track_caller]
fn assert_expected(found: f64, probabilities: impl Iterator<Item = f64>) {
    let (mut mean, mut variance) = (0.0, 0.0);
    for p in probabilities {
        mean += p;
        variance += p * (1.0 - p);
    }
    // Two frames are begun at the ends.
    let most = 5.0 * variance.sqrt() + 2.0;
    assert!((found - mean).abs() <= most, "{found}, {mean} +- {most} on paper");
}

/// Packets in 400 us less the 0.32 us of the first link: as many leave, and twice as many arrive.
const IN_400_US: usize = 3_248;

#[test]
fn ramp_from_kmin_to_kmax() {
    // 3248 frames are 4.9 MB: from 1 to 4 MB the probability goes from 0 to 0.3, above it is 1.
    let spec = ramp::Spec {
        kmin: Bytes(1_000_000),
        kmax: Bytes(4_000_000),
        pmax: 0.3,
        at: ramp::At::Arrival,
        ..Default::default()
    };
    let p = |pair: usize| {
        let backlog = (pair as u64 * FRAME) as f64 / 1e6;
        if backlog >= 4.0 { 1.0 } else { (0.3 * (backlog - 1.0) / 3.0).max(0.0) }
    };
    let expected = || (0..2 * IN_400_US).map(|n| p(n / 2));
    assert_expected(marks(overload(aqm::Spec::Ramp(spec.clone()), us(400))), expected());
    // The same as the curve of the ports of 100 Gb/s, where others have the default.
    let ramp::Spec { kmin, kmax, pmax, .. } = spec;
    let of_rate = ramp::OfRate { rate: GBPS_100, kmin, kmax, pmax };
    let spec = ramp::Spec { by_rate: vec![of_rate], at: ramp::At::Arrival, ..Default::default() };
    assert_expected(marks(overload(aqm::Spec::Ramp(spec), us(400))), expected());
}

#[test]
fn codel_marks_above_its_second_threshold() {
    // All that have waited for more than 100 us: those that leave after 200 us.
    let spec = codel::Spec { ce_threshold: Some(us(100)), ..Default::default() };
    let found = marks(overload(aqm::Spec::Codel(spec), us(400)));
    assert_expected(found, (0..IN_400_US).map(|n| f64::from(u8::from(n as f64 * T > 200.0))));
}

#[test]
fn coupled_by_size_and_by_time() {
    // 3248 frames are 4.9 MB of 10 MB; the last waits 200 us of 400 us.
    for measure in [coupled::Measure::Size, coupled::Measure::Time] {
        for (scalable, power) in [(Scalable::EcnCapable, 1), (Scalable::Ect1, 2)] {
            let spec = coupled::Spec {
                scalable,
                measure,
                full_size: Bytes(10_000_000),
                full_time: us(400),
                coupling: 0.8,
            };
            let found = marks(overload(aqm::Spec::Coupled(spec), us(400)));
            let full = match measure {
                coupled::Measure::Size => (n_frames(10_000_000), 1.0),
                coupled::Measure::Time => (400.0 / T, 0.5),
            };
            // What is left behind the n-th that leaves is n frames.
            let p = |n: usize| n as f64 * full.1 / full.0;
            let of = |n| if power == 1 { p(n) } else { (p(n) / 0.8).powi(2) };
            assert_expected(found, (0..IN_400_US).map(of));
        }
    }
}

fn n_frames(bytes: u64) -> f64 {
    bytes as f64 / FRAME as f64
}

/// At update i, every 40 us, the head has waited 20 us times i. With target 20 us and gains of 500 per
/// second the base probability grows by 0.01 (i - 1) + 0.01, so it is 0.005 i (i + 1).
fn base(i: usize) -> f64 {
    0.005 * (i * (i + 1)) as f64
}

#[test]
fn pi2_integrates_and_couples() {
    let spec = |scalable| pi2::Spec {
        scalable,
        target: us(20),
        update_interval: us(40),
        alpha: 500.0,
        beta: 500.0,
        coupling: 1.5,
    };
    for (scalable, classic) in [(Scalable::EcnCapable, false), (Scalable::Ect1, true)] {
        let found = marks(overload(aqm::Spec::Pi2(spec(scalable)), us(400)));
        let p = |n: usize| {
            let base = base(((n / 2) as f64 * T / 40.0) as usize);
            if classic { base * base } else { 1.5 * base }
        };
        assert_expected(found, (0..2 * IN_400_US).map(p));
    }
}

fn dualpi2(alpha: f64, low_latency: dualpi2::low_latency::Spec) -> aqm::Spec {
    aqm::Spec::DualPi2(dualpi2::Spec {
        target: us(20),
        update_interval: us(40),
        alpha,
        beta: alpha,
        coupling: 1.5,
        low_latency,
        ..Default::default()
    })
}

#[test]
fn dualpi2_couples_and_squares() {
    let native = dualpi2::low_latency::Spec::default;
    let at = |n: usize| base((n as f64 * T / 40.0) as usize);
    let found = marks(low_latency(dualpi2(500.0, native()), us(400)));
    assert_expected(found, (0..IN_400_US).map(|n| 1.5 * at(n)));
    let mut classic = overload(dualpi2(500.0, native()), us(400));
    two_queues(&mut classic, Scalable::Ect1);
    assert_expected(marks(classic), (0..IN_400_US).map(|n| at(n) * at(n)));
}

#[test]
fn dualpi2_marks_its_low_latency_queue_by_itself() {
    use dualpi2::low_latency::{Ramp, Spec, Step, StepPackets};
    let certain = |marked: bool| f64::from(u8::from(marked));
    // The n-th waits n/2 frame times, and leaves n others.
    let step = Spec::Step(Step { threshold: us(100) });
    let found = marks(low_latency(dualpi2(0.0, step), us(400)));
    assert_expected(found, (0..IN_400_US).map(|n| certain(n as f64 * T > 200.0)));
    let step = Spec::StepPackets(StepPackets { threshold: 1_000 });
    let found = marks(low_latency(dualpi2(0.0, step), us(400)));
    assert_expected(found, (0..IN_400_US).map(|n| certain(n > 1_000)));
    for least_packets in [2, 2_000] {
        let ramp = Spec::Ramp(Ramp { low: us(50), range: us(200), least_packets });
        let found = marks(low_latency(dualpi2(0.0, ramp), us(400)));
        let p = |n: usize| ((n as f64 * T / 2.0 - 50.0) / 200.0).max(0.0);
        let p = |n: usize| if n < least_packets as usize { 0.0 } else { p(n) };
        assert_expected(found, (0..IN_400_US).map(p));
    }
}

/// PIE with updates every 40 us: the delay of the last that left grows by 20 us in each. The first
/// step, 500000 / s of 20 us less the target of 20 us and 200000 / s of its growth by 20 us, is 4, and
/// a probability of 0 takes 1/2048 of it. The second is 10 + 4, of which a probability of 0.00195 takes
/// 1/8: 1.75, so everything is marked from there on. A burst of 120 us is spared.
#[test]
fn pie_by_its_first_steps() {
    let spec = |alpha: f64, max_burst, mark_ecnth| {
        aqm::Spec::Pie(pie::Spec {
            target: us(20),
            tupdate: us(40),
            alpha,
            beta: 200_000.0,
            max_burst,
            ecn: true,
            mark_ecnth,
        })
    };
    let after = |from: f64| move |n: usize| f64::from(u8::from((n / 2) as f64 * T >= from));
    let found = marks(overload(spec(500_000.0, us(120), 1.0), us(400)));
    assert_expected(found, (0..2 * IN_400_US).map(after(120.0 - 0.323)));
    // With 60000 / s the second step is 1.2 + 4: 0.652, and every further one adds 0.02. From 0.425 to
    // 0.85 every second packet after a mark is the first that can be one, so that marks are 1 + 1/p
    // apart; above that they are independent.
    let found = marks(overload(spec(60_000.0, us(20), 1.0), us(400)));
    let p = |n: usize| match ((n / 2) as f64 * T / 40.0) as usize {
        0 | 1 => 0.0,
        i => 1.0 / (1.0 + 1.0 / (0.652 + 0.02 * (i as f64 - 2.0))),
    };
    assert_expected(found, (0..2 * IN_400_US).map(p));
    // Above its threshold for marks it drops.
    let outcome = run(overload(spec(60_000.0, us(20), 0.6), us(400)));
    assert!(outcome.counter("marked_packets") <= 3);
    assert!(outcome.counter("dropped_packets") > 1_500);
}

/// A queue that does not change: 400 frames come at once from each of two hosts, and then as
/// much arrives as leaves.
fn steady(aqm: aqm::Spec, end: Duration) -> Spec {
    let mut spec = overload(aqm, end);
    // A flow that ends would end the run.
    spec.flows[1].stop = Instant(400 * 123_040 - 1);
    spec
}

fn red() -> red::Spec {
    red::Spec {
        limit: Bytes(10_000_000),
        min: Bytes(200_000),
        max: Bytes(1_000_000),
        avpkt: Bytes(1_500),
        burst: 200,
        bandwidth: Rate::from_mbps(30_000),
        probability: 0.2,
        ..Default::default()
    }
}

#[test]
fn red_marks_by_the_average_and_drops_at_its_limit() {
    // The queue is 400 frames, 607 KB. Marks are 1 to 1/p packets apart, (1 + 1/p) / 2 on average, with p
    // = 0.2 (607 - 200) / 800 = 0.102: in 1600 us 2401 of 13004. Their distance has a standard deviation of
    // 1/(p sqrt(12)), which makes 49 marks 0.54 sqrt(2401) = 26 of them; the average needs 600 us, in which
    // marks are fewer.
    let measured = |end| marks(steady(aqm::Spec::Red(red()), us(end)));
    let found = measured(3_000) - measured(1_400);
    let p = 0.2 * (400.0 * FRAME as f64 - 200e3) / 800e3;
    let expected = 1_600.0 / T / ((1.0 + 1.0 / p) / 2.0);
    assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");
    // No more than the limit waits.
    let limited = red::Spec { limit: Bytes(300_000), ..red() };
    let outcome = run(overload(aqm::Spec::Red(limited), us(400)));
    let deepest = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
    assert!((300_000 - FRAME..=300_000).contains(&deepest), "{deepest}");
}

/// The average of a steady queue of q approaches it by 2^-W per packet, so it is at q/2 after ln 2 / 2^-W
/// packets; from there on everything is marked. By the rule of `tc` W is the smallest with burst + 1 -
/// min/avpkt <= (1 - (1 - 2^-W)^burst) / 2^-W: with burst 200, min 200 KB and avpkt 1500 B the left side is
/// 67.7; for W = 6 the right is 61.3, for W = 7 101.3. So W = 7, and ln 2 / 2^-7 = 88.7 packets.
#[test]
fn red_averages_as_tc_computes() {
    for (avpkt, burst, wlog) in [(1_500, 200, 7), (2_500, 200, 8), (1_500, 400, 9)] {
        let half = 400 * FRAME / 2;
        let spec = red::Spec {
            min: Bytes(200_000),
            max: Bytes(half),
            avpkt: Bytes(avpkt),
            burst,
            probability: 1e-3,
            ..red()
        };
        // In the first 49.2 us the queue grows: the average of what is linear lags by 2^W packets.
        let (mut average, mut expected) = (0.0, 0);
        let weight = 0.5_f64.powi(wlog);
        let in_400_us = 400 + IN_400_US;
        for n in 0..in_400_us {
            let pair = if n < 800 { n / 2 } else { 400 };
            average += weight * ((pair as u64 * FRAME) as f64 - average);
            expected += usize::from(average >= half as f64);
        }
        let found = marks(steady(aqm::Spec::Red(spec), us(400)));
        assert!((found - expected as f64).abs() <= 6.0, "{avpkt} {burst}: {found} {expected}");
    }
}

/// Classic datagrams at line rate and low latency datagrams at half of it, with strict priority: half of the
/// link is for classic packets, whose head has waited for half of the time.
fn coupled_queues(aqm: aqm::Spec, end: Duration) -> Vec<f64> {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect0);
    datagrams(&mut spec, 1, udp::Field::Ect1);
    let rate = Rate::from_gbps(50);
    let half = constant_rate::Spec { rate };
    spec.profiles[1].congestion = congestion::Spec::ConstantRate(half);
    two_queues(&mut spec, Scalable::Ect1);
    (spec.end, spec.switch.aqm) = (end, aqm);
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("marked_packets"));
    rows.filter(|row| *row.0 == 2).map(|row| *row.1 as f64).collect()
}

#[test]
fn dual_queues_follow_the_classic_waiting_time() {
    // In 400 us 1625 packets of each leave; the last classic one has waited 200 us.
    let waited_ns = |n: usize| n as f64 * T * 1e3;
    let packets = 0..IN_400_US / 2;
    // 2^(32 - 13) ns = 524 us and 2^(32 - 14) ns = 262 us are certain.
    let spec = dualq::Spec { s_r: 13, s_d: Some(14), ..Default::default() };
    let found = coupled_queues(aqm::Spec::DualQ(spec), us(400));
    assert_expected(found[0], packets.clone().map(|n| waited_ns(n) / 2.0_f64.powi(18)));
    assert_expected(found[1], packets.clone().map(|n| (waited_ns(n) / 2.0_f64.powi(19)).powi(2)));
    // 2^-11 s = 488 us, and half of that for low latency; smoothed over 2^3 packets, which lags by 8
    // packets.
    for curviness in [1, 2] {
        let spec = curvy_red::Spec { s_c: -11, curviness, f_c: 3, k0: 1, threshold: 5 };
        let found = coupled_queues(aqm::Spec::CurvyRed(spec), us(400));
        let full = 1e9 / 2_048.0;
        let u = i32::from(curviness);
        assert_expected(found[0], packets.clone().map(|n| (waited_ns(n) / full * 2.0).powi(u)));
        let lagged = |n: usize| waited_ns(n.saturating_sub(8)) / full;
        assert_expected(found[1], packets.clone().map(|n| lagged(n).powi(2 * u)));
    }
    // With 2^9 packets it lags by what it has not seen: x - W (1 - exp(-x / W)) of x.
    let spec = curvy_red::Spec { s_c: -11, curviness: 1, f_c: 9, k0: 1, threshold: 5 };
    let found = coupled_queues(aqm::Spec::CurvyRed(spec), us(400));
    let lagged = |n: usize| {
        let (x, w) = (n as f64, 512.0);
        (x - w * (1.0 - (-x / w).exp())) * T * 1e3 / (1e9 / 2_048.0)
    };
    assert_expected(found[1], packets.map(|n| lagged(n).powi(2)));
}

#[test]
fn low_latency_queues_have_thresholds_of_packets() {
    // The n-th leaves n others: more than 1000 from the 1002nd on.
    let certain = |n: usize| f64::from(u8::from(n > 1_000));
    let spec = dualq::Spec { threshold: 1_000, ..Default::default() };
    let found = marks(low_latency(aqm::Spec::DualQ(spec), us(400)));
    assert_expected(found, (0..IN_400_US).map(certain));
    let spec = curvy_red::Spec { threshold: 1_000, ..Default::default() };
    let found = marks(low_latency(aqm::Spec::CurvyRed(spec), us(400)));
    assert_expected(found, (0..IN_400_US).map(certain));
}

/// A steady queue of 400 frames takes 49.2 us: above a target of 40 us CoDel marks, and below one of 60 us it
/// does not.
#[test]
fn codel_aims_at_its_target() {
    let found = |target| {
        let spec = codel::Spec { target: us(target), interval: us(20), ..Default::default() };
        marks(steady(aqm::Spec::Codel(spec), us(1_000)))
    };
    assert!(found(40) > 20.0, "{}", found(40));
    assert_eq!(found(60), 0.0);
}
