//! Severities, frames, factors and the order of service, each checked with values computed by hand.

use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowId, Graph, Instant, NodeId, Rate};
use proptest::prelude::*;

use super::*;
use crate::routing::Routes;
use crate::switch::path;

/// With a buffer of 1000 bytes per port, the thresholds are 250, 500 and 750, left below 200, 450
/// and 700.
fn feedback(ports: usize) -> Feedback {
    Feedback::new(&Spec::default(), Bytes(1_000), ports)
}

fn ns(ns: u64) -> Instant {
    Instant(ns * 1_000)
}

/// The ports for which a frame is to be queued for the wire.
fn ready(feedback: &mut Feedback, now: Instant) -> Vec<usize> {
    std::iter::from_fn(|| feedback.next(now)).collect()
}

/// Group and severities of a departing frame.
fn says(body: Body) -> (u16, Vec<(usize, u8)>) {
    let Body::Drc { group, mask: u8::MAX, statuses } = body else { panic!("{body:?}") };
    let severity = |place| (place, Statuses(statuses).severity(place));
    (group, (0..DIRECTIONS).map(severity).filter(|(_, severity)| *severity > 0).collect())
}

#[test]
fn severities_rise_at_once_and_fall_with_hysteresis() {
    let mut feedback = feedback(2);
    let steps = [
        (249, 0),
        (250, 1),
        (200, 1),
        (199, 0),
        // Crosses two thresholds at once.
        (600, 2),
        (450, 2),
        (449, 1),
        (750, 3),
        (700, 3),
        (699, 2),
        (0, 0),
        (u64::MAX, 3),
        (300, 1),
    ];
    for (bytes, severity) in steps {
        let before = feedback.severity(1);
        assert_eq!(feedback.observe(1, bytes, ns(0)), before != severity, "{bytes}");
        assert_eq!(feedback.severity(1), severity, "{bytes}");
        assert_eq!(feedback.severity(0), 0);
    }
}

#[test]
fn frames_keep_their_distance_and_say_what_is_so_when_they_leave() {
    let mut feedback = feedback(2);
    assert!(feedback.observe(0, 300, ns(100)));
    assert_eq!(ready(&mut feedback, ns(100)), [0, 1]);
    // The severity changes while the frames are queued for the wire: no second frame.
    assert!(feedback.observe(0, 600, ns(120)));
    assert_eq!(ready(&mut feedback, ns(120)).len(), 0);
    assert_eq!(says(feedback.leave(0, ns(150))), (0, vec![(0, 2)]));
    assert!(feedback.observe(1, 800, ns(160)));
    assert_eq!(says(feedback.leave(1, ns(200))), (0, vec![(0, 2), (1, 3)]));
    // The first neighbor has not been notified of the second port: this happens 1230 ns after its
    // last frame.
    assert_eq!(feedback.next_due(), ns(1_380));
    assert_eq!(ready(&mut feedback, Instant(ns(1_380).0 - 1)).len(), 0);
    assert_eq!(ready(&mut feedback, ns(1_380)), [0]);
    assert_eq!(says(feedback.leave(0, ns(1_380))), (0, vec![(0, 2), (1, 3)]));
    assert_eq!((feedback.next_due(), feedback.frames), (ns(10_000), 3));
}

#[test]
fn all_is_repeated_and_groups_take_turns() {
    let mut feedback = feedback(33);
    assert!(feedback.observe(32, 500, ns(9_000)));
    assert_eq!(ready(&mut feedback, ns(9_000)).len(), 33);
    assert_eq!(says(feedback.leave(5, ns(9_000))), (1, vec![(0, 2)]));
    assert_eq!(feedback.next_due(), ns(10_000));
    feedback.repeat(ns(10_000));
    // The gap has not ended where a frame has left; the others still have one queued for the wire.
    assert_eq!((ready(&mut feedback, ns(10_000)), feedback.next_due()), (vec![], ns(10_230)));
    assert_eq!(ready(&mut feedback, ns(10_230)), [5]);
    assert_eq!(says(feedback.leave(5, ns(10_250))), (0, vec![]));
    assert_eq!(feedback.next_due(), ns(11_480));
    assert_eq!(ready(&mut feedback, ns(11_480)), [5]);
    assert_eq!(says(feedback.leave(5, ns(11_480))), (1, vec![(0, 2)]));
    assert_eq!(feedback.next_due(), ns(20_000));
}

/// A network of two switches, with hosts 0 and 1 at ports 0 and 1 of the first: the regulator of
/// the second.
fn regulator(spec: &Spec) -> Regulator {
    let mut graph = Graph::default();
    let [a, b] = ["host 0", "host 1"].map(|name| graph.add(name.to_owned(), NodeKind::Host));
    let [first, second] =
        ["first", "second"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    for (from, to) in [(a, first), (b, first), (first, second)] {
        graph.link(from, to, Rate::from_gbps(10), Duration::from_ns(5));
    }
    let routes = Routes::of(&graph).swap_remove(0);
    Regulator::new(spec, 4, Arc::new(Peer::new(first, routes, path::Spec::default())))
}

fn tell(regulator: &mut Regulator, severity: u8, now: Instant) {
    let mut statuses = Statuses::default();
    statuses.set(1, severity);
    regulator.on_feedback(0, 1, statuses, now);
}

#[test]
fn the_direction_is_the_port_of_the_peer() {
    let regulator = regulator(&Spec::default());
    assert_eq!([0, 1].map(|host| regulator.direction(NodeId(host), FlowId(7))), [0, 1]);
}

#[test]
fn a_factor_falls_at_most_once_per_interval_and_recovers_step_by_step() {
    let mut regulator = regulator(&Spec::default());
    let mut factors = Vec::new();
    for (severity, at) in [
        (1, 0),
        (2, 100),
        // Within 10 us of the last decrease.
        (2, 5_000),
        (3, 10_099),
        (2, 10_100),
        (1, 30_000),
        (0, 40_000),
        (0, 41_000),
        (3, 42_000),
        (0, 43_000),
    ] {
        tell(&mut regulator, severity, ns(at));
        factors.push(regulator.factor(1));
        assert_eq!(regulator.stops(1), severity == 3);
        assert_eq!((regulator.factor(0), regulator.holds_back(0)), (1.0, false));
    }
    // x 1.25 + 0.01 at severity 0.
    let expected = [1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.3225, 0.413_125, 0.206_562_5, 0.268_203_125];
    for (factor, expected) in factors.iter().zip(expected) {
        assert!((factor - expected).abs() < 1e-12, "{factors:?}");
    }
    assert_eq!(regulator.cuts, 3);
    // From 10099 to 10100 ns, and for 1 us.
    assert_eq!(regulator.stopped_at(ns(50_000)), Duration::from_ns(1_001));
    // 0.2682, 0.3453, 0.4416, 0.5620, 0.7125, 0.9006, 1.
    let more = (0..6).take_while(|_| {
        tell(&mut regulator, 0, ns(44_000));
        regulator.factor(1) < 1.0
    });
    assert_eq!((more.count(), regulator.factor(1)), (5, 1.0));
}

#[test]
fn an_empty_port_is_not_congested_however_small_its_memory() {
    let spec = Spec { hysteresis: 0.2499, ..Spec::default() };
    for memory in [1, 2, 3, 1_000] {
        assert!(spec.rises(Bytes(memory))[0] >= 1 && spec.falls(Bytes(memory))[0] >= 1);
        let mut feedback = Feedback::new(&spec, Bytes(memory), 2);
        feedback.observe(0, 2_000, ns(1));
        feedback.observe(0, 0, ns(2));
        assert_eq!(feedback.severity(0), 0, "{memory}");
    }
}

#[test]
fn the_least_factor_and_no_stop() {
    let spec = Spec { stop: false, min_factor: 0.2, ..Spec::default() };
    let mut regulator = regulator(&spec);
    for cut in 0..5 {
        tell(&mut regulator, 3, ns(cut * 10_000));
        assert!(!regulator.stops(1));
    }
    assert_eq!(regulator.factor(1), 0.2);
    // Five times as long as the frame itself.
    assert_eq!(regulator.spacing(1, Duration(1_000)), Duration(5_000));
    assert_eq!(regulator.spacing(0, Duration(1_001)), Duration(1_001));
    assert_eq!(regulator.stopped_at(ns(50_000)), Duration::ZERO);
}

#[test]
fn a_direction_that_may_not_send_is_passed_over_and_keeps_its_place() {
    let mut regulator = regulator(&Spec::default());
    tell(&mut regulator, 0, ns(0));
    let mut queues = Directions::new(3);
    for (direction, frame) in [(0, 'a'), (1, 'b'), (1, 'c'), (2, 'd'), (0, 'e')] {
        queues.push(direction, frame);
    }
    let next = |queues: &mut Directions<char>, regulator: &Regulator, now| {
        queues.settle(0, regulator, ns(now)).then(|| queues.pop().unwrap().1)
    };
    assert_eq!(next(&mut queues, &regulator, 0), Some('a'));
    queues.defer(0, ns(50));
    tell(&mut regulator, 3, ns(0));
    // Stopped: the next direction is served, and then direction 0 is limited by its eligible time.
    assert_eq!(next(&mut queues, &regulator, 0), Some('d'));
    assert_eq!((next(&mut queues, &regulator, 49), queues.next(0, &regulator)), (None, ns(50)));
    assert_eq!(next(&mut queues, &regulator, 50), Some('e'));
    assert_eq!(
        (next(&mut queues, &regulator, 99), queues.next(0, &regulator)),
        (None, Instant::NEVER)
    );
    // In a class that is not controlled it could be sent.
    assert_eq!(queues.next(1, &regulator), Instant::ZERO);
    queues.push(2, 'f');
    tell(&mut regulator, 2, ns(100));
    // It kept its place at the front all the time.
    assert_eq!(next(&mut queues, &regulator, 100), Some('b'));
    assert_eq!(next(&mut queues, &regulator, 100), Some('f'));
    assert_eq!(next(&mut queues, &regulator, 100), Some('c'));
    assert!(queues.is_consistent() && queues.iter().count() == 0);
}

#[test]
fn headroom_by_hand() {
    let hop = |ports, latency| Hop {
        rate: Rate::from_gbps(10),
        delay: Duration::from_ns(5),
        largest_frame: 1_518,
        wire_overhead: 20,
        ports,
        latency: Duration::from_ns(latency),
    };
    let headroom = |ports, latency| Spec::default().headroom(&hop(ports, latency)).0;
    // 1230 ns, a frame of 1230.4 ns, 67.2 ns, 5 ns, another frame, 5 ns: 3768 ns are 4710 bytes,
    // three times 1538 and 96, in which a frame of 76 fits; plus a whole frame for the overshoot.
    assert_eq!(headroom(32, 0), 4 * 1_518 + 76);
    // Another group: 4998 ns are 6247 bytes, four times 1538 and 95.
    assert_eq!(headroom(33, 0), 5 * 1_518 + 75);
    // A switch with a latency of 1.16 us: 4928 ns are 6160 bytes, four times 1538 and 8; 10 ns
    // less: 6147, three times 1538 and 1533.
    assert_eq!(headroom(32, 1_160), 5 * 1_518);
    assert_eq!(headroom(32, 1_150), 4 * 1_518 + 1_513);
}

proptest! {
    #[test]
    fn every_direction_keeps_its_order(
        steps in proptest::collection::vec((0u16..4, 0u8..3, 0u64..40), 1..200),
    ) {
        let mut regulator = regulator(&Spec::default());
        let mut queues = Directions::new(4);
        let (mut pushed, mut popped) = ([0; 4], [0; 4]);
        let mut now = Instant::ZERO;
        for (direction, what, time) in steps {
            now += Duration(time);
            match what {
                0 => {
                    queues.push(direction, pushed[usize::from(direction)]);
                    pushed[usize::from(direction)] += 1;
                }
                1 => tell(&mut regulator, direction as u8, now),
                _ => {
                    let next = queues.next(0, &regulator);
                    prop_assert_eq!(queues.settle(0, &regulator, now), next <= now);
                    if let Some((from, frame)) = queues.pop() {
                        prop_assert!(!regulator.stops(from));
                        prop_assert_eq!(frame, popped[usize::from(from)]);
                        popped[usize::from(from)] += 1;
                        queues.defer(from, now + Duration(3 * time));
                    }
                }
            }
            let waits: u32 = pushed.iter().sum::<u32>() - popped.iter().sum::<u32>();
            prop_assert_eq!(queues.iter().count(), waits as usize);
            prop_assert!(queues.is_consistent());
        }
    }
}

proptest::proptest! {
    #[test]
    fn statuses_keep_apart(severities in proptest::collection::vec(0u8..4, 32)) {
        let mut statuses = Statuses(u64::MAX);
        for (place, &severity) in severities.iter().enumerate() {
            statuses.set(place, severity);
        }
        let read: Vec<u8> = (0..32).map(|place| statuses.severity(place)).collect();
        proptest::prop_assert_eq!(read, severities);
    }
}
