//! Parameters of queue managements and schedulers, each by a network in which its effect can be
//! computed by hand: two hosts send datagrams at line rate to a third, so that its queue grows by one
//! frame in the time of a frame, and the head has waited for half of the time.

mod common;

use common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::switch::aqm::{
    self, codel, coupled, curvy_red, dualpi2, dualq, pi2, pie, ramp, red,
};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::classify::ecn::{self, Scalable};
use floodway_sim::switch::flow_control::{bfc, drc, pfc, qcn, source_flow_control};
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Spec};

/// A full datagram in bytes as queues count it, and its time on a wire of 100 Gb/s in microseconds.
const FRAME: u64 = 1_518;
const T: f64 = 0.123_04;

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// Datagrams with this ECN field at line rate.
fn datagrams(spec: &mut Spec, workload: usize, field: udp::Field) {
    let udp = udp::Spec { ecn: field, ..Default::default() };
    spec.profiles[workload].transport = transport::Spec::Udp(udp);
    spec.profiles[workload].congestion = congestion::Spec::LineRate(Default::default());
}

/// Hosts 0 and 1 send ECN-capable datagrams to host 2 for ever. In n frame times 2n arrive and n leave;
/// the two of pair n find about n in the queue, and the n-th that leaves has waited n/2 frame times.
fn overload(aqm: aqm::Spec, end: Duration) -> Spec {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    datagrams(&mut spec, 0, udp::Field::Ect0);
    (spec.end, spec.switch.aqm) = (end, aqm);
    spec
}

/// The same in the low latency queue of two, the other of which is empty.
fn low_latency(aqm: aqm::Spec, end: Duration) -> Spec {
    let mut spec = overload(aqm, end);
    two_queues(&mut spec, Scalable::EcnCapable);
    spec
}

fn two_queues(spec: &mut Spec, low_latency: Scalable) {
    spec.switch.queue.count = 2;
    spec.switch.classify = classify::Spec::Ecn(ecn::Spec { low_latency });
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
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
fn ramp_from_low_to_high() {
    // 3248 frames are 4.9 MB: from 1 to 4 MB the probability goes from 0 to 0.3, above it is 1.
    let spec = ramp::Spec {
        low: Bytes(1_000_000),
        high: Bytes(4_000_000),
        max_probability: 0.3,
        ..Default::default()
    };
    let p = |pair: usize| {
        let backlog = (pair as u64 * FRAME) as f64 / 1e6;
        if backlog >= 4.0 { 1.0 } else { (0.3 * (backlog - 1.0) / 3.0).max(0.0) }
    };
    let expected = || (0..2 * IN_400_US).map(|n| p(n / 2));
    assert_expected(marks(overload(aqm::Spec::Ramp(spec.clone()), us(400))), expected());
    // The same as the curve of the ports of 100 Gb/s, where others have the default.
    let ramp::Spec { low, high, max_probability, .. } = spec;
    let of_rate = ramp::OfRate { rate: GBPS_100, low, high, max_probability };
    let spec = ramp::Spec { by_rate: vec![of_rate], ..Default::default() };
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

/// Both queues always have packets: how many of each have arrived at the end.
fn shared(scheduler: scheduler::Spec, end: Duration) -> [f64; 2] {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    (spec.end, spec.switch.scheduler) = (end, scheduler);
    delivered(&run(spec))
}

fn delivered(outcome: &Outcome) -> [f64; 2] {
    let bytes = outcome.table("flows").u64s("delivered_bytes");
    [0, 1].map(|flow| bytes[flow] as f64 / 1_472.0)
}

#[test]
fn schedulers_share_as_they_are_told() {
    // 3245 packets in 400 us less the 0.65 us of the way.
    let [low, classic] =
        shared(scheduler::Spec::Wrr(scheduler::wrr::Spec { classic_weight: 20 }), us(400));
    assert!((classic - 0.2 * (low + classic)).abs() < 1.5, "{low} {classic}");
    // The first classic packet leaves when it has waited 100 us longer than the low latency head; from
    // then on both heads grow older alike, and both queues have half of the link.
    let shift = scheduler::time_shifted::Spec { shift: us(100) };
    let [_, classic] = shared(scheduler::Spec::TimeShifted(shift), us(400));
    assert!((classic - 300.0 / 2.0 / T).abs() < 4.0, "{classic}");
    // Weights of bytes, by any quantum; a queue with priority has all.
    let drr = |weights: Vec<u32>, strict| {
        let drr = scheduler::drr::Spec { weights, strict, ..Default::default() };
        shared(scheduler::Spec::Drr(drr), us(400))
    };
    let [first, second] = drr(vec![3, 1], 0);
    assert!((first - 3.0 * second).abs() < 8.0, "{first} {second}");
    assert!(drr(vec![1, 1], 1)[1] < 2.0);
}

/// Ten packets come to each of two queues at once, and a quantum is that of five.
#[test]
fn drr_gives_a_quantum_at_a_time() {
    let flows = vec![flow(0, 2, 10 * 1_472, 0), flow(1, 2, 10 * 1_472, 0)];
    let mut spec = plain(star(3), flows);
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    let quantum = Bytes(5 * 1_538);
    spec.switch.scheduler =
        scheduler::Spec::Drr(scheduler::drr::Spec { quantum, ..Default::default() });
    let fct: Vec<u64> = fct_ps(&run(spec)).iter().map(|fct| (fct - 400_000) / 123_040).collect();
    // The first frame of the first host finds the port idle and is sent at once. When the wire is free its
    // second frame is still on the way, so the round begins with five of the other host, then five and
    // five, and four. One frame time is that of the first link.
    assert_eq!(fct, [21, 17]);
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

/// Two sources want all they can get: each has alpha / (1 + 2 alpha) of the pool, a sixth of 1.2 MB with
/// alpha 1/4, and with what the port has sent while it filled that is the deepest queue.
#[test]
fn ports_of_a_rate_have_their_share_of_the_memory() {
    let mut spec = overload(aqm::Spec::default(), us(400));
    let pool = |alpha| shared::Pool { pool: Bytes(1_200_000), guaranteed: Bytes(0), alpha };
    spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
        ingress: Some(pool(Some(1.0))),
        by_rate: vec![shared::OfRate { rate: GBPS_100, alpha: 0.25, headroom: Bytes(0) }],
        ..Default::default()
    });
    let outcome = run(spec);
    let deepest = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
    assert!((400_000 - 2 * FRAME..=400_000).contains(&deepest), "{deepest}");
}

#[test]
fn a_single_queue_has_its_number() {
    let mut spec = overload(aqm::Spec::default(), us(100));
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::Single(classify_single(1));
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("queue").iter().zip(queues.u64s("packets"));
    assert!(rows.clone().any(|(queue, packets)| *queue == 1 && *packets > 1_000));
    assert!(rows.clone().all(|(queue, packets)| *queue == 1 || *packets == 0));
}

/// The specification of one queue for all, by its name in a scenario.
fn classify_single<T: serde::de::DeserializeOwned>(queue: u8) -> T {
    serde_json::from_value(serde_json::json!({ "queue": queue })).unwrap()
}

/// Mice, shorter than 20 KB, have queue 1 of three, and the others queue 2.
#[test]
fn mice_have_the_queue_that_is_theirs() {
    let flows = vec![flow(0, 2, 14_720, 0), flow(1, 2, 29_440, 0)];
    let mut spec = plain(star(3), flows);
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::MiceElephants(classify::mice_elephants::Spec {
        below: Bytes(20_000),
        mice: 1,
        elephants: Some(2),
    });
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("packets"));
    let packets: Vec<u64> = rows.filter(|row| *row.0 == 2).map(|row| *row.1).collect();
    // 14720 bytes are 15 packets of 1024, 29440 are 29.
    assert_eq!(packets[..3], [0, 15, 29]);
}

/// A message of QCN has so many octets of the frame that was sampled.
#[test]
fn messages_of_qcn_carry_headers() {
    let length = |header_octets| {
        let mut spec = overload(aqm::Spec::default(), us(200));
        control(&mut spec, congestion::Spec::Qcn(Default::default()));
        spec.switch.flow_control.qcn = Some(qcn::Spec { header_octets, ..Default::default() });
        let outcome = run(spec);
        let links = outcome.table("links");
        let rows = links.texts("node").iter().zip(links.texts("peer"));
        let row = rows.into_iter().position(|row| row.0 == "switch" && row.1 == "host 0").unwrap();
        assert!(links.u64s("frames")[row] > 3);
        links.u64s("bytes")[row] / links.u64s("frames")[row]
    };
    assert_eq!(length(100) - length(60), 40);
}

/// Two flows have a physical queue each, which may hold what half of the port sends in a hop round trip of 2
/// us and tau of 2 us: 25 KB. Until the pause acts, at most 1 us later, 6 KB more come to each.
#[test]
fn backpressure_begins_at_its_threshold() {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.flow_control.bfc =
        Some(bfc::Spec { tau: us(2), hop_rtt: Some(us(2)), ..Default::default() });
    spec.end = us(400);
    let outcome = run(spec);
    let deepest = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
    assert!((50_000..62_000).contains(&deepest), "{deepest}");
}

/// Acknowledgements, 66 bytes each, come every 88.48 ns to a port that sends datagrams of 123.04 ns: two wait
/// now and then, but never four. They go before the datagrams, so more room than for two is never needed.
#[test]
fn feedback_has_the_room_that_is_its_own() {
    let dropped = |control_size| {
        let flows = vec![flow(0, 1, FlowSpec::PERSISTENT, 0), flow(2, 0, FlowSpec::PERSISTENT, 0)];
        let mut spec = plain(star(3), flows);
        spec.flows[1].workload = 1;
        datagrams(&mut spec, 1, udp::Field::NotEct);
        (spec.end, spec.switch.queue.control_size) = (us(200), Bytes(control_size));
        run(spec).counter("dropped_packets")
    };
    assert!(dropped(100) > 100);
    assert_eq!(dropped(200), 0);
}

/// Two links of 100 Gb/s into one: messages of QCN come all the time and take both senders down to the least
/// rate, 60 Gb/s, which still is too much. From 1 to 2 ms 2 x 4876 frames of 1538 bytes leave the hosts.
#[test]
fn qcn_goes_no_lower_than_its_least_rate() {
    let frames = |end| {
        let mut spec = overload(aqm::Spec::default(), us(end));
        let least = Rate::from_gbps(60);
        control(
            &mut spec,
            congestion::Spec::Qcn(congestion::qcn::Spec { min_rate: least, ..Default::default() }),
        );
        spec.switch.flow_control.qcn = Some(qcn::Spec::default());
        let outcome = run(spec);
        let links = outcome.table("links");
        let row = links.texts("node").iter().position(|node| node == "host 0").unwrap();
        links.u64s("frames")[row] as f64
    };
    let found = frames(2_000) - frames(1_000);
    assert!((found / 4_876.0 - 1.0).abs() < 0.02, "{found}");
}

/// Ten frames come to each of two queues at once, and the classic one has a tenth of the link. Its first frame
/// finds the wire free when no other is there. Then the credit is that of 80 full frames and grows by ten
/// with each low latency frame: nine go first, which are all that are left.
#[test]
fn wrr_begins_with_the_low_latency_queue() {
    let mut spec = plain(star(3), vec![flow(0, 2, 14_720, 0), flow(1, 2, 14_720, 0)]);
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    spec.switch.scheduler = scheduler::Spec::Wrr(scheduler::wrr::Spec { classic_weight: 10 });
    let fct: Vec<u64> = fct_ps(&run(spec)).iter().map(|fct| (fct - 400_000) / 123_040).collect();
    assert_eq!(fct, [12, 21]);
}

/// Hosts 0 and 1 at switch a, hosts 2 and 3 and the receiver 4 at switch b.
fn behind_a_link() -> Graph {
    let mut graph = Graph::default();
    (0..5).for_each(|host| {
        graph.add(format!("host {host}"), NodeKind::Host);
    });
    let [a, b] = ["a", "b"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    (0..2).for_each(|host| graph.link(NodeId(host), a, GBPS_100, NS_200));
    (2..5).for_each(|host| graph.link(NodeId(host), b, GBPS_100, NS_200));
    graph.link(a, b, GBPS_100, NS_200);
    graph
}

/// Frames from switch a to switch b until the end.
fn crossed(drc: drc::Spec, flows: Vec<FlowSpec>, end: Duration) -> f64 {
    let mut spec = plain(behind_a_link(), flows);
    spec.switch.flow_control.drc = Some(drc);
    spec.end = end;
    let outcome = run(spec);
    let links = outcome.table("links");
    let mut rows = links.texts("node").iter().zip(links.texts("peer"));
    let row = rows.position(|row| row.0 == "a" && row.1 == "b").unwrap();
    links.u64s("frames")[row] as f64
}

/// Severity 2 from 2 KB on and 3 only at 1 GB; feedback every 5 us.
fn law() -> drc::Spec {
    drc::Spec {
        thresholds: [1e-6, 2e-6, 1.0],
        memory: Some(Bytes(1_000_000_000)),
        hysteresis: 0.0,
        interval: us(5),
        min_gap: Duration::ZERO,
        stop: true,
        ..Default::default()
    }
}

/// Two hosts at b congest the port of the receiver for ever. What comes from a is cut to 0.8 with the first
/// feedback, after 0.7 us, and again with the first that is 18 us later: at 20.2, 40.2, 60.2 and 80.2 us. So
/// it has all of the link for 0.7 us, 0.8 of it for 19.5 us, 0.64, 0.512 and 0.41 for 20 us each, and 0.328
/// for 19.8 us: 54 us of the 88.48 ns of a frame. With a least factor of 0.6 it is 0.6 from 40.2 us on.
#[test]
fn drc_cuts_in_intervals_down_to_its_least_factor() {
    let flows = || [0, 2, 3].map(|src| flow(src, 4, FlowSpec::PERSISTENT, 0)).to_vec();
    for (min_factor, free_us) in [(0.1, 54.0), (0.6, 0.7 + 0.8 * 19.5 + 0.64 * 20.0 + 0.6 * 59.8)] {
        let (decrease, cut_interval) = (0.8, us(18));
        let found =
            crossed(drc::Spec { decrease, cut_interval, min_factor, ..law() }, flows(), us(100));
        // And 20 frames of feedback from a to b.
        let expected = free_us / 0.088_48 + 20.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }
}

/// Two frames meet at the port of the receiver, which cuts to 1/4. Nothing is congested any more, and each
/// feedback adds 0.05: the first at once, the others every 5 us. From 10 us on a flow has 0.4 of the link, and
/// 0.05 more every 5 us: in 50 us as much as the whole link in 31.25 us.
#[test]
fn drc_recovers_step_by_step() {
    let (decrease, min_factor, increase, increment) = (0.25, 0.25, 1.0, 0.05);
    let spec = drc::Spec { decrease, min_factor, increase, increment, ..law() };
    let meet = [2, 3]
        .map(|src| FlowSpec { stop: Instant(80_000), ..flow(src, 4, FlowSpec::PERSISTENT, 0) });
    let mut flows = meet.to_vec();
    flows.push(flow(0, 4, FlowSpec::PERSISTENT, 10_000));
    let found = crossed(spec, flows, us(60));
    assert!((found / (31.25 / 0.088_48) - 1.0).abs() < 0.1, "{found}");
}

/// RoCEv2 at line rate in queue 1 of three, from hosts 0 and 1 to host 2.
fn in_queue_one(end: Duration) -> Spec {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::Single(classify_single(1));
    spec.end = end;
    spec
}

/// What is for queue 1 does something where all is in queue 1.
#[test]
fn mechanisms_are_for_the_queues_that_they_name() {
    let mut spec = in_queue_one(us(200));
    spec.switch.flow_control.qcn = Some(qcn::Spec { queues: vec![1], ..Default::default() });
    assert!(run(spec).counter("cnms_sent") > 0);
    let mut spec = in_queue_one(us(200));
    spec.switch.flow_control.pfc = Some(pfc::Spec { queues: vec![1], ..Default::default() });
    assert!(run(spec).counter("xoff_frames") > 0);
    let mut spec = in_queue_one(us(200));
    let sfc = source_flow_control::Spec { queues: vec![1], ..Default::default() };
    spec.switch.flow_control.source_flow_control = Some(sfc);
    assert!(run(spec).counter("sfc_messages") > 0);
    let mut spec = in_queue_one(us(100));
    spec.graph = behind_a_link();
    spec.flows = [0, 2, 3].map(|src| flow(src, 4, FlowSpec::PERSISTENT, 0)).to_vec();
    spec.switch.flow_control.drc = Some(drc::Spec { classes: vec![1], ..law() });
    let links = run(spec).table("links").clone();
    let mut rows = links.texts("node").iter().zip(links.texts("peer"));
    let row = rows.position(|row| row.0 == "a" && row.1 == "b").unwrap();
    assert!((links.u64s("frames")[row] as f64) < 0.8 * 100.0 / 0.088_48);
}

/// Each source gets one message when its frame finds 50 KB: what is above 10 KB takes 3.2 us, of which 1 us
/// is deducted. That is 2.2 us for the one, and a frame time more for the other.
#[test]
fn source_flow_control_deducts_the_way() {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.flow_control.source_flow_control = Some(source_flow_control::Spec {
        trigger: Bytes(50_000),
        target: Bytes(10_000),
        mode: source_flow_control::Mode::Native,
        suppression: Duration::from_ms(100),
        deduct: us(1),
        ..Default::default()
    });
    spec.end = us(100);
    let held = run(spec).counter("sfc_holds_ns");
    assert!((4_400..4_800).contains(&held), "{held}");
}

/// Three flows congest a port. Until the monitored queue has 50 KB nothing is isolated; of a table with one
/// entry one flow is, and the others are refused.
#[test]
fn isolation_begins_at_its_curve_and_ends_with_its_table() {
    let flows = || [0, 1, 2].map(|src| flow(src, 3, FlowSpec::PERSISTENT, 0)).to_vec();
    let isolated = |low, high, max_entries, end| {
        let mut spec = plain(star(4), flows());
        spec.switch = isolating();
        spec.switch.queue.size = Bytes(1 << 40);
        spec.switch.flow_control.pfc = None;
        let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
        isolation.curve = ramp::Spec { low: Bytes(low), high: Bytes(high), ..Default::default() };
        isolation.max_entries = max_entries;
        spec.end = us(end);
        let outcome = run(spec);
        (outcome.counter("isolations"), outcome.counter("isolations_refused"))
    };
    // The queue grows by 25 KB in a microsecond, from 0.29 us on: 50 KB are there after 2.3 us.
    assert_eq!(isolated(50_000, 50_001, 9, 2).0, 0);
    assert!(isolated(50_000, 50_001, 9, 3).0 > 0);
    let (isolations, refused) = isolated(50_000, 50_001, 1, 20);
    assert!(isolations == 1 && refused > 10, "{isolations} {refused}");
}
