//! The stream table of Congestion Isolation (IEEE 802.1Q clause 49): how long its entries live, how many
//! congestion isolation messages (CIMs) there are for one, and which packets the curve selects. Flows of
//! datagrams that cannot be marked, so that it does not matter who marks.

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::Sent;
use floodway_sim::switch::aqm::ramp;
use floodway_sim::switch::flow_control::congestion_isolation::{Signal, Spec as Isolation};
use floodway_sim::switch::scheduler;
use floodway_sim::{Simulation, Spec};

/// Selects every packet that finds more than so many full frames, and no other.
fn above(frames: u64) -> ramp::Spec {
    let kmin = frames * FRAME;
    ramp::Spec { kmin: Bytes(kmin), kmax: Bytes(kmin + 1), ..Default::default() }
}

/// Two queues, of which the monitored one goes first, and this isolation.
fn isolating(graph: Graph, flows: Vec<FlowSpec>, isolation: Isolation) -> Spec {
    let mut spec = full_frames(graph, flows);
    spec.switch.queue.count = 2;
    spec.switch.scheduler = scheduler::Spec::Strict(Default::default());
    spec.switch.flow_control.congestion_isolation = Some(isolation);
    spec
}

/// Frames of flow 0 from the host `sender` come to the port of the last host, 10 Gb/s, at 5 us and every 5
/// us after that. At 9020 ns six frames of the host `burst` arrive there. The first is on the wire until
/// 10020 ns; the others find 0 to 4 frames. Frame 1 of flow 0, at 10 us, finds 5 and is the only one that
/// is selected. It waits for the monitored queue, which is empty from 14020 ns on: it leaves at 15020 ns.
/// Frame 2, at 15 us, joins it and leaves at 16020 ns, when the congesting queue becomes empty. From frame
/// 3 on, at 20 us, every frame leaves at once.
fn one_is_selected(graph: Graph, sender: (u32, u64), from: u32, isolation: Isolation) -> Spec {
    let receiver = graph.hosts().last().unwrap().0;
    let (sender, way) = sender;
    let first = flow(sender, receiver, 9 * PAYLOAD, 5_000 - way);
    let flows = vec![FlowSpec { workload: 1, ..first }, burst(from, receiver, 6, 9_020)];
    isolating(graph, flows, Isolation { curve: above(4), ..isolation })
}

/// In which classes the frames of flow 0 are sent to a node.
fn classes(sent: &[Sent], node: u32) -> Vec<u8> {
    data_to(sent, node, 0).map(|frame| frame.class.0).collect()
}

/// When CIMs are sent to a node, in picoseconds.
fn cims(sent: &[Sent], node: u32) -> Vec<u64> {
    let mine = sent.iter().filter(|frame| frame.to.0.0 == node && frame.packet.body == Body::Cim);
    mine.map(begun).collect()
}

/// Frame 3 comes 3980 ns after the congesting queue has become empty, and every later one 5 us after the
/// one before it, which has left the congesting queue empty again.
#[test]
fn a_local_entry_lives_on_beside_an_empty_queue() {
    for (life, isolated) in [(0, 2), (3_000, 2), (4_000, 3), (4_900, 3), (5_100, 8)] {
        let isolation = Isolation {
            signal: Signal::Off,
            local_entry_life: for_ns(life),
            cim_entry_life: Duration::ZERO,
            ..Default::default()
        };
        let spec = one_is_selected(slow_star(3), (0, WAY_NS), 1, isolation);
        let (outcome, sent) = traced(spec);
        let expected: Vec<u8> = (0..9).map(|n| u8::from(n >= 1 && n <= isolated)).collect();
        assert_eq!(classes(&sent, 2), expected, "{life}");
        let left: Vec<u64> = data_to(&sent, 2, 0).map(begun).collect();
        assert_eq!(left[..4], [5_000, 15_020, 16_020, 20_000].map(ns));
        assert_eq!(outcome.counter("isolations"), 1);
    }
}

/// The congesting queue is empty from 16020 ns on. The entry is released when the table is looked through
/// next, at a multiple of the interval, and frame n comes at 5 (n + 1) us.
#[test]
fn an_entry_is_released_when_the_table_is_looked_through() {
    for (interval, last) in [(0, 2), (12_000, 3), (18_000, 2), (24_000, 3), (36_000, 6)] {
        let isolation = Isolation {
            signal: Signal::Off,
            release_interval: for_ns(interval),
            ..Default::default()
        };
        let spec = one_is_selected(slow_star(3), (0, WAY_NS), 1, isolation);
        let (_, sent) = traced(spec);
        let expected: Vec<u8> = (0..9).map(|n| u8::from(n >= 1 && n <= last)).collect();
        assert_eq!(classes(&sent, 2), expected, "{interval}");
    }
}

/// The table distinguishes two of 64 flows with keys of one bit, four with two, eight with three.
#[test]
fn keys_of_so_many_bits_tell_so_many_flows() {
    for (key_bits, isolated) in [(1, 2), (2, 4), (3, 8)] {
        let flows = (0..64).map(|_| flow(0, 2, 20 * PAYLOAD, 5_000)).collect();
        let isolation = Isolation {
            key_bits,
            signal: Signal::Off,
            local_entry_life: Duration::from_ms(1_000),
            curve: above(0),
            ..Default::default()
        };
        let (outcome, _) = traced(isolating(slow_star(3), flows, isolation));
        assert_eq!(outcome.counter("isolations"), isolated, "{key_bits} bits");
    }
}

/// The CIM about frame 1, 84 bytes, leaves at 10 us and arrives at the sender 104 x 80 ps + 200 ns later,
/// at 10208 ns. Frame n leaves the sender at 5000 n + 4700 ns, so the first after it is frame 2.
#[test]
fn a_host_isolates_a_flow_for_the_life_of_the_entry() {
    for (life, until) in [(4_000, 1), (5_000, 2), (10_000, 3), (20_000, 5)] {
        let isolation = Isolation {
            signal: Signal::Isolation,
            max_cims: 1,
            cim_entry_life: for_ns(life),
            ..Default::default()
        };
        let (_, sent) = traced(one_is_selected(slow_star(3), (0, WAY_NS), 1, isolation));
        assert_eq!(cims(&sent, 0), [ns(10_000)]);
        let expected: Vec<u8> = (0..9).map(|n| u8::from(n >= 2 && n <= until)).collect();
        assert_eq!(classes(&sent, 3), expected, "{life}");
    }
}

/// Host 0 at switch 3, host 1 and the receiver, host 2 with 10 Gb/s, at switch 4.
fn behind_a_switch() -> Graph {
    let mut graph = Graph::default();
    (0..3).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let [a, b] = ["a", "b"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    graph.link(NodeId(0), a, GBPS_100, NS_200);
    graph.link(NodeId(1), b, GBPS_100, NS_200);
    graph.link(NodeId(2), b, Rate::from_gbps(10), NS_200);
    graph.link(a, b, GBPS_100, NS_200);
    graph
}

/// The CIM arrives at the upstream switch at 10208.32 ns. Its congesting queue is empty, so the life of the
/// entry begins then, and again when a frame has left that queue. Frame 2 is there at 14700 ns, 4491.68 ns
/// later, and every further one 5 us after the one before.
#[test]
fn a_switch_isolates_a_flow_for_the_life_of_the_entry() {
    for (life, until) in [(4_491, 1), (4_492, 2), (4_600, 2), (5_001, 8)] {
        let isolation = Isolation {
            signal: Signal::Isolation,
            max_cims: 1,
            cim_entry_life: for_ns(life),
            hosts: false,
            ..Default::default()
        };
        let (_, sent) = traced(one_is_selected(behind_a_switch(), (0, 2 * WAY_NS), 1, isolation));
        assert_eq!(cims(&sent, 3), [ns(10_000)]);
        let expected: Vec<u8> = (0..9).map(|n| u8::from(n >= 2 && n <= until)).collect();
        assert_eq!(classes(&sent, 4), expected, "{life}");
        // The host has not been told.
        assert_eq!(classes(&sent, 3), [0; 9]);
    }
}

/// The sender is 20 us away, so that its frames come in the monitored class until a CIM is 40 us old, and
/// every one of them is an occasion for another: frame 1 at 10 us, and so on every 5 us. With an interval
/// of 8 us every second is taken.
#[test]
fn messages_for_an_entry_are_few_and_apart() {
    for (interval, most, expected) in [
        (8_000, 3, &[10_000, 20_000, 30_000][..]),
        (8_000, 2, &[10_000, 20_000]),
        (10_001, 2, &[10_000, 25_000]),
        (5_000, 4, &[10_000, 15_000, 20_000, 25_000]),
        (10_000, 9, &[10_000, 20_000, 30_000, 40_000]),
    ] {
        let mut graph = Graph::default();
        (0..3).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
        let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
        graph.link(NodeId(0), switch, GBPS_100, Duration::from_us(20));
        graph.link(NodeId(1), switch, GBPS_100, NS_200);
        graph.link(NodeId(2), switch, Rate::from_gbps(10), NS_200);
        let isolation = Isolation {
            signal: Signal::Isolation,
            cim_interval: for_ns(interval),
            max_cims: most,
            local_entry_life: Duration::from_ms(1),
            ..Default::default()
        };
        let mut spec = one_is_selected(graph, (0, 0), 1, isolation);
        // All is later by the way of the first frame, 20100 ns.
        spec.flows[1].start += for_ns(20_100);
        let (outcome, sent) = traced(spec);
        let expected: Vec<u64> = expected.iter().map(|at| ns(at + 20_100)).collect();
        assert_eq!(cims(&sent, 0), expected, "{interval} {most}");
        assert_eq!(outcome.counter("cims_sent"), expected.len() as u64);
    }
}

/// Six frames are before the port of 10 Gb/s. The first frame of host 0 finds five of them and is selected;
/// all that follow it, 100 ns apart, join the congesting queue with it, which cannot send yet. The first to
/// make it deeper than the depth for signals causes the CIM.
#[test]
fn a_deep_congesting_queue_signals() {
    for (depth, frames) in [(3 * FRAME + FRAME / 2, 4), (4 * FRAME, 5), (7 * FRAME, 8)] {
        let isolation = Isolation {
            curve: above(4),
            signal: Signal::CongestingQueue,
            signal_depth: Bytes(depth),
            max_cims: 1,
            ..Default::default()
        };
        let flows = vec![burst(0, 2, 12, 1_620), burst(1, 2, 6, 1_000)];
        let (_, sent) = traced(isolating(slow_star(3), flows, isolation));
        assert_eq!(cims(&sent, 0), [ns(1_620 + 100 * (frames - 1))], "{depth}");
    }
}

/// Two hosts send one frame each of very many flows, back to back: in t frame times 2 t arrive. Those that
/// the curve does not select fill the monitored queue, of which t leave, so that t less the depth of that
/// queue are isolated. Above `kmin` the depth x beyond it grows by 1 - 2 p x / (kmax - kmin) in a frame time:
/// after s frame times it is (kmax - kmin) / 2p (1 - exp(-2 p s / (kmax - kmin))).
#[test]
fn the_curve_selects_in_proportion_to_the_depth() {
    let selected = |curve: ramp::Spec, frames: u32| {
        let one = |n: u32| flow(n % 2, 2, PAYLOAD, 0);
        let flows = (0..2 * frames).map(one).collect();
        let isolation = Isolation { curve, signal: Signal::Off, ..Default::default() };
        let mut spec = isolating(star(3), flows, isolation);
        spec.end = for_ns(u64::from(frames) * 100 + WAY_NS);
        let outcome = Simulation::new(spec).run();
        assert_eq!(outcome.violations, Vec::<String>::new());
        outcome.counter("isolations") as f64
    };
    let frames = |frames: u64| Bytes(frames * FRAME);
    let expected = |span: f64, p: f64, beyond: f64| {
        beyond - span / (2.0 * p) * (1.0 - (-2.0 * p * beyond / span).exp())
    };
    // Each is selected or not by a chance of its own, and every selection makes the next less likely: the
    // variance is at most the number.
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} {expected}");
    };
    let of_all =
        ramp::Spec { kmin: Bytes(0), kmax: frames(2_000), pmax: 0.5, ..Default::default() };
    near(selected(of_all, 2_000), expected(2_000.0, 0.5, 2_000.0));
    // The same for ports of this rate, from 500 frames on.
    let (kmin, kmax) = (frames(500), frames(2_500));
    let of_rate = ramp::OfRate { rate: GBPS_100, kmin, kmax, pmax: 0.5 };
    let by_rate = ramp::Spec { by_rate: vec![of_rate], ..Default::default() };
    near(selected(by_rate, 2_500), expected(2_000.0, 0.5, 2_000.0));
}
