//! Layer 2 congestion indication in whole simulations: forward it is as good as a mark, backward it
//! is earlier, and traffic without TCP can be kept from losing anything.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::table::fingerprint;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Rate};
use floodway_sim::host::Profile;
use floodway_sim::host::congestion::{self, indicated_rate};
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, MeasuredOn, bernoulli, codel, red, step};
use floodway_sim::switch::congestion_indication::Spec as Indication;
use floodway_sim::{Outcome, Simulation, Spec};

const FORWARD: Indication = Indication { forward: true, backward: false, gap: Duration(0) };

/// Told backward with the default gap.
fn backward() -> Indication {
    Indication { forward: false, backward: true, ..Indication::default() }
}

/// TCP with Reno and this feedback.
fn reno(ecn: tcp::Feedback) -> Profile {
    Profile {
        transport: transport::Spec::Tcp(tcp::Spec { ecn: Some(ecn), ..Default::default() }),
        congestion: congestion::Spec::Reno(Default::default()),
        ..Default::default()
    }
}

/// Datagrams.
fn udp(congestion: congestion::Spec) -> Profile {
    let transport = transport::Spec::Udp(Default::default());
    Profile { transport, congestion, ..Default::default() }
}

/// RED that marks from 30 packets on, and drops nothing.
fn red() -> aqm::Spec {
    aqm::Spec::Red(red::Spec {
        limit: Bytes(1_000_000_000),
        min: Bytes(45_000),
        max: Bytes(450_000),
        burst: 50,
        bandwidth: Rate::from_gbps(30),
        probability: 0.1,
        ..Default::default()
    })
}

/// The same for CoDel, in a network of microseconds.
fn codel() -> aqm::Spec {
    let (target, interval) = (Duration::from_us(2), Duration::from_us(20));
    aqm::Spec::Codel(codel::Spec { target, interval, ..Default::default() })
}

/// Six hosts send to a seventh under this queue management, each a little later, but so that their
/// SYNs find no queue. The way back is never congested.
fn six_to_one(profile: Profile, aqm: aqm::Spec) -> Spec {
    let flows = (0..6).map(|src| flow(src, 6, 3_000_000, u64::from(src) * 50)).collect();
    let mut spec = plain(star(7), flows);
    spec.profiles = vec![profile; 2];
    spec.switch.aqm = aqm;
    spec
}

fn indicating(mut spec: Spec, indication: Indication) -> Outcome {
    spec.switch.congestion_indication = Some(indication);
    run(spec)
}

fn flows(outcome: &Outcome) -> u64 {
    fingerprint(std::slice::from_ref(outcome.table("flows")))
}

fn largest_backlog(outcome: &Outcome) -> u64 {
    outcome.table("queues").u64s("max_backlog_bytes").iter().copied().max().unwrap()
}

#[test]
fn forward_is_as_good_as_a_mark() {
    let rocev2 = Profile::default();
    for (profile, aqm) in [
        (reno(tcp::Feedback::Classic), red()),
        (reno(tcp::Feedback::Classic), codel()),
        (reno(tcp::Feedback::Accurate), red()),
        (rocev2.clone(), red()),
        (rocev2, codel()),
    ] {
        let name = format!("{} under {}", profile.transport.name(), aqm.name());
        let spec = six_to_one(profile, aqm);
        let (marked, indicated) = (run(spec.clone()), indicating(spec, FORWARD));
        let count = marked.counter("marked_packets");
        assert!(count > 0, "{name}");
        assert_eq!(flows(&indicated), flows(&marked), "{name}");
        let counters = ["indicated_packets", "indications_mapped", "indications_passed"];
        assert_eq!(counters.map(|name| indicated.counter(name)), [count, count, 0], "{name}");
        let others = ["marked_packets", "indications_sent", "indications_received"];
        assert_eq!(others.map(|name| indicated.counter(name)), [0; 3], "{name}");
        let by_queue: u64 = indicated.table("queues").u64s("marked_packets").iter().sum();
        assert_eq!(by_queue, count);
    }
}

#[test]
fn without_ecn_nobody_heeds_what_comes_forward() {
    for aqm in [red(), codel(), aqm::Spec::Step(step::Spec { threshold: Bytes(30_000) })] {
        let of = |aqm| six_to_one(reno(tcp::Feedback::Off), aqm);
        let plain = run(of(aqm::Spec::default()));
        let indicated = indicating(of(aqm.clone()), FORWARD);
        // As if there were no queue management: what is not ECN-capable is passed too.
        assert_eq!(flows(&indicated), flows(&plain), "{}", aqm.name());
        let count = indicated.counter("indicated_packets");
        assert!(count > 0, "{}", aqm.name());
        assert_eq!(indicated.counter("indications_passed"), count);
        assert_eq!(indicated.counter("indications_mapped"), 0);
        // While marks would have been drops.
        assert!(run(of(aqm)).counter("dropped_packets") > 0);
    }
}

#[test]
fn what_queue_management_wants_dropped_is_dropped() {
    let red = |limit| match red() {
        aqm::Spec::Red(red) => aqm::Spec::Red(red::Spec { limit: Bytes(limit), ..red }),
        other => other,
    };
    let dropped = |aqm| {
        let spec = six_to_one(reno(tcp::Feedback::Classic), aqm);
        indicating(spec, FORWARD).counter("dropped_packets")
    };
    assert_eq!(dropped(red(1_000_000_000)), 0);
    assert!(dropped(red(100_000)) > 0);
}

/// Delay of the link of [`narrow`]'s sender, and of that of its receiver.
const NEAR: u64 = 10_000_000_000;
const FAR: u64 = 15_000_000_000;
const US: u64 = 1_000_000;

/// One flow from a link of 1 Gb/s to one of 100 Mb/s, whose first window fills the way there and
/// back: 25 ms each way, 50 ms at 100 Mb/s are 406 segments. From then on acknowledgements come
/// without a gap, every two segments one, and the queue grows by slow start.
fn narrow(ecn: tcp::Feedback, indication: Indication, end: u64) -> Outcome {
    let mut graph = Graph::default();
    let ends = ["left", "right"].map(|name| graph.add(name, NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(ends[0], switch, Rate::from_gbps(1), Duration(NEAR));
    graph.link(ends[1], switch, Rate::from_mbps(100), Duration(FAR));
    let mut spec = plain(graph, vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    spec.profiles = vec![reno(ecn); 2];
    if let transport::Spec::Tcp(tcp) = &mut spec.profiles[0].transport {
        (tcp.initial_window, tcp.quick_acks) = (450, 0);
    }
    spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(THRESHOLD) });
    (spec.end, spec.sample_interval) = (Duration(end), Duration::from_ms(100));
    indicating(spec, indication)
}

/// More than the first window makes the queue deep.
const THRESHOLD: u64 = 650_000;

/// The first time, in picoseconds, until which `happened` in a run.
fn first(happened: impl Fn(u64) -> bool) -> u64 {
    let (mut before, mut after) = (0, 400_000 * US);
    assert!(happened(after) && !happened(before + 1));
    while after - before > 1 {
        let middle = (before + after) / 2;
        *(if happened(middle) { &mut after } else { &mut before }) = middle;
    }
    after
}

#[test]
fn backward_is_half_a_round_trip_earlier() {
    use tcp::Feedback::{Classic, Off};
    let indicated = first(|end| narrow(Off, FORWARD, end).counter("indicated_packets") > 0);
    // The frame has 64 bytes, and 20 of preamble and gap, at 1 Gb/s.
    let received = first(|end| narrow(Off, backward(), end).counter("indications_received") > 0);
    assert_eq!(received, indicated + 84 * 8_000 + NEAR);
    // Who reacts sends less than who hears nothing.
    let reacts = |ecn, indication: &Indication| {
        let sent = |ecn, indication: &Indication, end| {
            narrow(ecn, indication.clone(), end).counter("data_packets_sent")
        };
        first(|end| sent(ecn, indication, end) < sent(Off, &FORWARD, end))
    };
    let (early, late) = (reacts(Off, &backward()), reacts(Classic, &FORWARD));
    // That shows when the next acknowledgement comes, which may be a few frames later: they come
    // every two segments of 123.04 us.
    let segment = 1_538 * 80_000;
    let slack = 4 * segment;
    assert!((received..received + slack).contains(&early), "{early} after {received}");
    // The packet that is indicated waits behind 650 KB, 429 frames, and crosses the link; its
    // acknowledgement comes back, 90 bytes on the wire on either link.
    let wait = 429 * segment;
    let forth = wait + segment + FAR;
    let back = 90 * 80_000 + FAR + 90 * 8_000 + NEAR;
    let expected = indicated + forth + back;
    assert!((expected..expected + slack).contains(&late), "{late}, not {expected}");
}

#[test]
fn one_gap_lies_between_two_frames_about_a_flow() {
    // All datagrams of two flows are indicated, for a millisecond: at 0, 50, ..., 950 us and a bit.
    let of = |gap| {
        let profile = udp(congestion::Spec::LineRate(Default::default()));
        let flows = vec![flow(0, 2, FlowSpec::PERSISTENT, 0), flow(1, 2, FlowSpec::PERSISTENT, 0)];
        let mut spec = plain(star(3), flows);
        spec.profiles = vec![profile; 2];
        spec.switch.aqm = aqm::Spec::Bernoulli(bernoulli::Spec { probability: 1.0 });
        spec.end = Duration::from_ms(1);
        let outcome = indicating(spec, Indication { gap, ..backward() });
        ["indications_sent", "indications_received"].map(|name| outcome.counter(name))
    };
    assert_eq!(of(Duration::from_us(50)), [40, 40]);
    assert_eq!(of(Duration::from_us(400)), [6, 6]);
    // Of each packet: 1538 bytes at 80 ps, less the first 0.3 us, in which none is there yet.
    let [sent, received] = of(Duration::ZERO);
    assert!((2 * 8_100..2 * 8_128).contains(&sent), "{sent}");
    assert!(sent - received <= 20, "{received} of {sent}");
}

#[test]
fn datagrams_that_slow_down_lose_nothing() {
    let of = |congestion| {
        let flows = vec![flow(0, 2, FlowSpec::PERSISTENT, 0), flow(1, 2, FlowSpec::PERSISTENT, 0)];
        let mut spec = plain(star(3), flows);
        spec.profiles = vec![udp(congestion); 2];
        spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(200_000) });
        spec.switch.queue.size = Bytes(1_000_000);
        spec.end = Duration::from_ms(20);
        indicating(spec, backward())
    };
    let fixed = of(congestion::Spec::LineRate(Default::default()));
    assert!(fixed.counter("dropped_packets") > 0);
    assert!(largest_backlog(&fixed) > 998_000);
    // Twice the rate of the link fills 200 KB in 16 us. Then each flow gives up, every 50 us, half of
    // the part of 1 MB that is full: 10 % of 200 Gb/s at 0.2 MB, and what is too much fills 498 KB
    // more; 35 % of 180 at 0.7 MB, and 17 Gb/s fill 105 KB more; 40 % of 117 at 0.8 MB, which is
    // below the link's rate. On the way a frame takes less than 1 us, in which 12.5 KB come.
    let ruled = of(congestion::Spec::IndicatedRate(Default::default()));
    assert_eq!(ruled.counter("dropped_packets"), 0);
    let most = largest_backlog(&ruled);
    assert!((780_000..850_000).contains(&most), "{most}");
    // While the queue drains they give up 31 % of 70 at 0.62 MB and 15 % of 48 at 0.29 MB, and are
    // at 41 Gb/s. From there they rise by 4 Gb/s a millisecond for 14.7 ms: on average 70.5 % of
    // the link in these, and all of it in the other 5.3, which is 78 % of 20 ms.
    let bytes: u64 = ruled.table("flows").u64s("delivered_bytes").iter().sum();
    let part = bytes as f64 / (12.5e9 * 20e-3 * 1_472.0 / 1_538.0);
    assert!((0.76..0.80).contains(&part), "{part}");
}

#[test]
fn rocev2_takes_a_backward_indication_for_a_notification() {
    let spec = six_to_one(Profile::default(), red());
    let none = run(Spec {
        switch: floodway_sim::switch::Spec { aqm: Default::default(), ..spec.switch.clone() },
        ..spec.clone()
    });
    let told = indicating(spec, backward());
    assert_eq!(told.counter("cnps_sent"), 0);
    assert!(told.counter("indications_received") > 0);
    assert!(largest_backlog(&told) * 2 < largest_backlog(&none));
}

#[test]
fn red_can_be_about_the_memory() {
    // Two times 2 hosts send 100 datagrams to one: neither queue becomes deeper than 100 packets,
    // 152 KB, so that its average stays below 160 KB; together there are twice as many, and seven
    // packets are forgotten by half.
    let of = |measured_on| {
        let flows = [(0, 4), (1, 4), (2, 5), (3, 5)].map(|(src, dst)| flow(src, dst, 147_200, 0));
        let mut spec = plain(star(6), flows.to_vec());
        spec.profiles = vec![udp(congestion::Spec::LineRate(Default::default())); 2];
        spec.switch.aqm = aqm::Spec::Red(red::Spec {
            limit: Bytes(1_000_000),
            min: Bytes(160_000),
            max: Bytes(400_000),
            burst: 166,
            bandwidth: Rate::from_gbps(30),
            probability: 1.0,
            measured_on,
            ..Default::default()
        });
        let outcome = indicating(spec, FORWARD);
        assert!(largest_backlog(&outcome) > 140_000);
        outcome.table("queues").u64s("marked_packets").to_vec()
    };
    assert_eq!(of(MeasuredOn::Queue).iter().sum::<u64>(), 0);
    assert_eq!(of(MeasuredOn::Port).iter().sum::<u64>(), 0);
    let marked = of(MeasuredOn::Memory);
    assert!(marked.iter().filter(|count| **count > 0).count() == 2, "{marked:?}");
}

#[test]
fn an_empty_memory_lets_the_average_decay() {
    // As above, in bursts at these milliseconds. Nearly everything is marked while the average is
    // above 160 KB.
    let marks = |times: &[u64]| {
        let pairs = [(0, 4), (1, 4), (2, 5), (3, 5)];
        let of = |ms: &u64| pairs.map(|(src, dst)| flow(src, dst, 147_200, ms * 1_000_000));
        let mut spec = plain(star(6), times.iter().flat_map(of).collect());
        spec.profiles = vec![udp(congestion::Spec::LineRate(Default::default())); 2];
        spec.switch.aqm = aqm::Spec::Red(red::Spec {
            limit: Bytes(1_000_000),
            min: Bytes(160_000),
            max: Bytes(161_000),
            burst: 200,
            bandwidth: Rate::from_mbps(1),
            measured_on: MeasuredOn::Memory,
            ..Default::default()
        });
        spec.sample_interval = Duration::from_ms(1_000);
        (spec.end, spec.measured_until) =
            (Duration::from_ms(1_300_000), Duration::from_ms(1_300_000));
        indicating(spec, FORWARD).counter("indicated_packets")
    };
    let one = marks(&[600_000]);
    assert!(one > 0);
    // What is still remembered a millisecond later makes more of the second burst congested; after
    // ten minutes nothing is.
    let (soon, late) = (marks(&[600_000, 600_001]), marks(&[600_000, 1_200_000]));
    assert!(soon > 2 * one + 10, "{soon} and {one}");
    assert!(late.abs_diff(2 * one) <= 2, "{late} and {one}");
}

/// TCP in one queue and datagrams in the other, in a fabric, with one average for each switch.
fn busy() -> Spec {
    let mut spec = plain(clos(4, 2, 8), busy_flows());
    let rate = congestion::Spec::IndicatedRate(indicated_rate::Spec::default());
    spec.profiles = vec![udp(rate), reno(tcp::Feedback::Classic)];
    spec.switch.queue.size = Bytes(300_000);
    let aqm::Spec::Red(red) = red() else { unreachable!("it is RED") };
    spec.switch.aqm = aqm::Spec::Red(red::Spec { measured_on: MeasuredOn::Memory, ..red });
    spec.switch.congestion_indication =
        Some(Indication { backward: true, gap: Duration::from_us(10), ..Default::default() });
    spec.end = Duration::from_ms(3);
    spec
}

#[test]
fn threads_do_not_matter() {
    let on = |threads| {
        let stop = std::sync::atomic::AtomicBool::new(false);
        Simulation::new(busy()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    for counter in ["indications_mapped", "indications_passed", "indications_received"] {
        assert!(one.counter(counter) > 0, "{counter}");
    }
    for threads in [2, 3] {
        assert_eq!(on(threads).fingerprint, one.fingerprint, "{threads} threads");
    }
}
