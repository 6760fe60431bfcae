//! DCQCN with the numbers that were published or shipped: what a sender does in the time after single
//! notifications, computed by hand.

use crate::common::sending::{gaps, sent, traced};
use crate::common::{GBPS_100, control, flow, plain, rocev2};
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, dcqcn};
use floodway_sim::switch::aqm;

/// A packet of 1024 bytes with headers, preamble and gap.
const WIRE: f64 = 1_106.0;

/// A rate, Gb/s, from when on it held, us, and for how many packets.
#[derive(Debug)]
struct Step {
    rate: f64,
    from: f64,
    packets: u32,
}

/// Host 0 at 100 Gb/s and 2 us, the others at 200 Gb/s, so that nothing waits at the switch but behind
/// frames of others.
fn uneven_star() -> Graph {
    let mut graph = Graph::default();
    (0..4).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    graph.link(NodeId(0), switch, GBPS_100, Duration::from_us(2));
    let fast = Rate::from_gbps(200);
    (1..4).for_each(|host| graph.link(NodeId(host), switch, fast, Duration::from_ns(10)));
    graph
}

/// The rates of a flow at 100 Gb/s of which a packet is marked (with CNPs perhaps two) at these times (us):
/// packets that arrive during a frame of this length of another host, and find another waiting for its end.
fn steps(dcqcn: dcqcn::Spec, marks: &[(f64, u64)], end_us: u64) -> Vec<Step> {
    let mut spec: Spec = plain(uneven_star(), vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    for (at_us, bytes) in marks {
        let other = flow(2, 1, *bytes, (at_us * 1e3) as u64);
        spec.flows.push(FlowSpec { workload: 1, ..other });
    }
    // A run ends with the last flow that ends.
    spec.flows.push(FlowSpec { workload: 1, ..flow(3, 2, 1, (end_us - 1) * 1_000) });
    let by_cnps = dcqcn.notification == dcqcn::Notification::Cnp;
    control(&mut spec, congestion::Spec::Dcqcn(dcqcn));
    let of_flow = spec.profiles[0].clone();
    rocev2(&mut spec, |rocev2| rocev2.mtu = Bytes(30_000));
    spec.profiles[0] = of_flow;
    spec.profiles[1].congestion = congestion::Spec::LineRate(Default::default());
    spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(0) });
    spec.end = Duration::from_us(end_us);
    let (outcome, trace) = traced(&spec);
    let sent = sent(&trace);
    let mut steps: Vec<Step> = Vec::new();
    for (gap, (at, _)) in gaps(&sent).into_iter().zip(&sent) {
        let rate = WIRE * 8_000.0 / gap as f64;
        match steps.last_mut() {
            Some(step) if (step.rate / rate - 1.0).abs() < 2e-5 => step.packets += 1,
            _ => steps.push(Step { rate, from: *at as f64 / 1e6, packets: 1 }),
        }
    }
    let marked = outcome.counter("marked_packets");
    assert!(marked >= marks.len() as u64, "{marked}");
    // A mark in an acknowledgement is a notification each time.
    assert!(by_cnps || marked == marks.len() as u64, "{marked}");
    steps
}

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// The rate, Gb/s, and how long it held, us.
fn assert_step(steps: &[Step], number: usize, rate: f64, time: Option<f64>) {
    assert!((steps[number].rate - rate).abs() < 1e-3, "{number}: {rate} on paper, {steps:?}");
    if let Some(time) = time {
        let held = steps[number + 1].from - steps[number].from;
        assert!((held - time).abs() < 0.4, "{number}: {time} us on paper, {held}");
    }
}

/// Each increase from this rate on goes half of the way to the target, which grows by these Gb/s before.
fn assert_increases(steps: &[Step], first: usize, target: f64, growth: &[f64]) {
    let mut target = target;
    for (number, growth) in growth.iter().enumerate() {
        target += growth;
        let (from, to) = (steps[first + number].rate, steps[first + number + 1].rate);
        let aimed = 2.0 * to - from;
        assert!((aimed - target).abs() < 1.5e-3, "{number}: {aimed}, {target} on paper, {steps:?}");
    }
}

/// The first CNP halves, as alpha is 1; so does a second one 51 us later, before an increase (55 us), and
/// the target is the 50 Gb/s before it. Five increases go half of the way to it, then it grows by 40 Mb/s
/// each time. The third CNP comes 600 us after the second, in which alpha has decayed ten times.
#[test]
fn paper() {
    let spec = dcqcn::Spec {
        variant: dcqcn::Variant::Paper,
        notification: dcqcn::Notification::Cnp,
        cnp_interval: us(50),
        g: 1.0 / 256.0,
        alpha_timer: us(55),
        cut_interval: us(4),
        increase_timer: us(55),
        byte_counter: Bytes(10_000_000),
        fast_recovery: 5,
        additive_increase: Rate::from_mbps(40),
        hyper_increase: Rate::from_mbps(200),
        reference_rate: None,
        min_rate: Rate::from_mbps(100),
        initial_alpha: 1.0,
        min_decrease_factor: 0.5,
        clamp_target: false,
        window: None,
        window_follows_rate: false,
    };
    assert_eq!(spec, dcqcn::Spec::default());
    let steps = steps(spec, &[(20.0, 6_000), (71.0, 9_000), (671.0, 15_000)], 700);
    assert_step(&steps, 0, 100.0, None);
    assert_step(&steps, 1, 50.0, Some(51.3));
    (2..12).for_each(|number| assert_step(&steps, number, steps[number].rate, Some(55.0)));
    assert_step(&steps, 2, 25.0, None);
    assert_step(&steps, 3, 37.5, None);
    assert_step(&steps, 7, 50.0 - 25.0 / 32.0, None);
    let additive = [0.0, 0.0, 0.0, 0.0, 0.0, 0.04, 0.04, 0.04, 0.04, 0.04];
    assert_increases(&steps, 2, 50.0, &additive);
    let left = 1.0 - (255.0f64 / 256.0).powi(10) / 2.0;
    assert_step(&steps, 13, steps[12].rate * left, None);
}

/// A grid of 4 us that begins with the first CNP, the first cut one period later by an alpha that has
/// decayed four times. After an increase a second CNP comes 306.5 us after the first: alpha is updated by it
/// at 307 us, and the cut is at 308 us. The target is the rate before it.
///
/// Then bytes and time increase in turns. A byte counter expires with the 1897th packet. The first of each
/// is fast recovery, the second of one of them additive increase, and from the second of both on it is
/// hyper increase: 5 and 50 Mb/s.
#[test]
fn nvidia() {
    let spec = dcqcn::Spec {
        variant: dcqcn::Variant::Periodic,
        notification: dcqcn::Notification::Cnp,
        cnp_interval: us(4),
        g: 5.0 / 1_024.0,
        alpha_timer: us(1),
        cut_interval: us(4),
        increase_timer: us(300),
        byte_counter: Bytes(32_767 * 64),
        fast_recovery: 1,
        additive_increase: Rate::from_mbps(5),
        hyper_increase: Rate::from_mbps(50),
        reference_rate: None,
        min_rate: Rate::from_mbps(1),
        initial_alpha: 1_023.0 / 1_024.0,
        min_decrease_factor: 0.5,
        clamp_target: false,
        window: None,
        window_follows_rate: false,
    };
    let steps = steps(spec, &[(20.0, 6_000), (326.5, 9_000)], 1_100);
    let kept = 1_019.0f64 / 1_024.0;
    let cut = 100.0 * (1.0 - 1_023.0 / 1_024.0 * kept.powi(4) / 2.0);
    assert_step(&steps, 0, 100.0, Some(22.65 + 4.0));
    assert_step(&steps, 1, cut, Some(300.0));
    let target = (cut + 100.0) / 2.0;
    assert_step(&steps, 2, target, Some(4.0));
    let alpha = (1_023.0 / 1_024.0 * kept.powi(307) + 5.0 / 1_024.0) * kept;
    assert_step(&steps, 3, target * (1.0 - alpha / 2.0), None);
    assert_increases(&steps, 3, target, &[0.0, 0.0, 0.005, 0.05, 0.05]);
    // By bytes, time, bytes, time.
    let packets = |steps: &[Step]| steps.iter().map(|step| step.packets).sum::<u32>();
    assert!(packets(&steps[3..4]).abs_diff(1_897) < 2 && packets(&steps[4..6]).abs_diff(1_897) < 2);
    let from_cut = |number: usize| steps[number].from - steps[3].from;
    assert!((from_cut(5) - 300.0).abs() < 0.4 && (from_cut(7) - 600.0).abs() < 0.4, "{steps:?}");
}

/// What the script of the HPCC authors' simulator has beside the timers.
fn of_script(alpha: u64, cut: u64, increase: u64) -> dcqcn::Spec {
    dcqcn::Spec {
        variant: dcqcn::Variant::Periodic,
        notification: dcqcn::Notification::Ack,
        cnp_interval: us(0),
        g: 1.0 / 256.0,
        alpha_timer: us(alpha),
        cut_interval: us(cut),
        increase_timer: us(increase),
        byte_counter: Bytes(0),
        fast_recovery: 1,
        additive_increase: Rate::from_mbps(5),
        hyper_increase: Rate::from_mbps(50),
        reference_rate: Some(Rate::from_gbps(25)),
        min_rate: Rate::from_gbps(1),
        initial_alpha: 1.0,
        min_decrease_factor: 0.5,
        clamp_target: false,
        window: None,
        window_follows_rate: false,
    }
}

/// As with `nvidia`, by time alone: fast recovery, one additive and then hyper increases. At 100 Gb/s they
/// are four times those of 25 Gb/s: 20 and 200 Mb/s.
#[test]
fn hpcc_simulator() {
    let steps = steps(of_script(1, 4, 300), &[(20.0, 3_600), (326.5, 8_000)], 1_600);
    let kept = 255.0f64 / 256.0;
    let cut = 100.0 * (1.0 - kept.powi(4) / 2.0);
    assert_step(&steps, 0, 100.0, Some(22.65 + 4.0));
    assert_step(&steps, 1, cut, Some(300.0));
    let target = (cut + 100.0) / 2.0;
    assert_step(&steps, 2, target, Some(4.0));
    let alpha = (kept.powi(307) + 1.0 / 256.0) * kept;
    assert_step(&steps, 3, target * (1.0 - alpha / 2.0), Some(300.0));
    (4..6).for_each(|number| assert_step(&steps, number, steps[number].rate, Some(300.0)));
    assert_increases(&steps, 3, target, &[0.0, 0.02, 0.2, 0.2]);
}

/// The first cut 50 us after the first notification, when alpha has decayed once; an increase 55 us later. A
/// second notification 120 us after the first: alpha has decayed twice and is updated by it at 150 us, when
/// the cut is.
#[test]
fn hpcc_simulator_paper() {
    let steps = steps(of_script(50, 50, 55), &[(20.0, 3_600), (140.0, 5_000)], 450);
    let kept = 255.0f64 / 256.0;
    let cut = 100.0 * (1.0 - kept / 2.0);
    assert_step(&steps, 0, 100.0, Some(22.65 + 50.0));
    assert_step(&steps, 1, cut, Some(55.0));
    let target = (cut + 100.0) / 2.0;
    assert_step(&steps, 2, target, Some(45.0));
    let alpha = kept.powi(3) + 1.0 / 256.0;
    assert_step(&steps, 3, target * (1.0 - alpha / 2.0), Some(55.0));
    assert_increases(&steps, 3, target, &[0.0, 0.02, 0.2, 0.2]);
}

/// A cut that is limited to a fifth, though alpha is 1.
#[test]
fn a_cut_is_limited() {
    let spec = dcqcn::Spec { min_decrease_factor: 0.8, ..dcqcn::Spec::default() };
    let steps = steps(spec, &[(20.0, 6_000)], 50);
    assert_step(&steps, 1, 80.0, None);
}
