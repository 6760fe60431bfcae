//! Directional Rate Control in a network: what goes to a congested port is held back by exactly the
//! rate factor, what goes elsewhere is not, and nothing is lost with the computed headroom. Order
//! and books are checked by `common::run`.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::switch::flow_control::drc::{Hop, Spec as Drc};
use floodway_sim::switch::flow_control::{self, pause, pfc};
use floodway_sim::{Outcome, Simulation, Spec};
use proptest::prelude::*;

/// A packet of RoCEv2 with 1024 bytes and its 82 of headers and gap at 80 ps each.
const PACKET_PS: u64 = (1_024 + 82) * 80;
/// One way of a link of [`common`].
const WAY_PS: u64 = 200_000;

fn pauses(xoff: u64) -> pause::Spec {
    let measured_on = pause::MeasuredOn::EgressPort;
    pause::Spec { xoff: Bytes(xoff), xon: Bytes(4_000), measured_on, ..Default::default() }
}

fn directional(drc: Drc) -> flow_control::Spec {
    flow_control::Spec { drc: Some(drc), ..Default::default() }
}

/// Hosts 0 to 2 on a switch, hosts 3 to 6 on another, and a link between the two.
fn two_switches() -> Graph {
    let mut graph = Graph::default();
    (0..7).for_each(|host| {
        graph.add(format!("host {host}"), NodeKind::Host);
    });
    let [a, b] = ["a", "b"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    (0..3).for_each(|host| graph.link(NodeId(host), a, GBPS_100, NS_200));
    (3..7).for_each(|host| graph.link(NodeId(host), b, GBPS_100, NS_200));
    graph.link(a, b, GBPS_100, NS_200);
    graph
}

/// Severity 2 as soon as a frame waits; a single cut, from which nothing recovers.
fn cut_once(factor: f64) -> Drc {
    Drc {
        thresholds: [0.0005, 0.001, 1.0],
        buffer: Some(Bytes(1_000_000)),
        hysteresis: 0.0,
        interval: Duration::from_ms(50),
        min_gap: Duration::ZERO,
        decrease: factor,
        min_factor: factor,
        increase: 1.0,
        increment: 0.0,
        ..Drc::default()
    }
}

/// At the beginning two packets meet at the port to host 3; 10 us later these flows begin.
fn after_a_cut(drc: Drc, flows: &[FlowSpec]) -> Outcome {
    let mut all = vec![flow(4, 3, 1_024, 0), flow(5, 3, 1_024, 0)];
    all.extend_from_slice(flows);
    let mut spec = plain(two_switches(), all);
    spec.switch.flow_control = directional(drc);
    run(spec)
}

#[test]
fn after_a_cut_the_rate_is_the_factor_times_that_of_the_line() {
    let time = |drc, dst| fct_ps(&after_a_cut(drc, &[flow(0, dst, 100 * 1_024, 10_000)]))[2];
    let paced = |gap: u64| 99 * gap + 3 * PACKET_PS + 3 * WAY_PS;
    for (factor, gap) in [(0.5, 2), (0.25, 4), (0.01, 100)] {
        assert_eq!(time(cut_once(factor), 3), paced(gap * PACKET_PS), "{factor}");
        // To another port, and in a class that is not controlled, nothing is held back.
        assert_eq!(time(cut_once(factor), 6), paced(PACKET_PS), "{factor}");
        let other = Drc { classes: vec![1], ..cut_once(factor) };
        assert_eq!(time(other, 3), paced(PACKET_PS), "{factor}");
    }
}

#[test]
fn a_direction_is_the_uplink_that_the_flow_will_take() {
    // At the beginning a packet each from hosts 0 and 1, which meet at an uplink of their leaf or
    // not; 10 us later 100 packets from host 2. Flows within leaf 1 only change
    // the number of the last one, by which ECMP chooses.
    let mut seen = [0, 0];
    for others in 0..24 {
        let mut all = vec![flow(0, 3, 1_024, 0), flow(1, 3, 1_024, 0)];
        all.extend((0..others).map(|_| flow(4, 5, 1, 0)));
        all.push(flow(2, 5, 100 * 1_024, 10_000));
        let mut spec = plain(clos(2, 2, 3), all);
        spec.host.buffer = Some(Bytes(10_000));
        spec.switch.flow_control = directional(cut_once(0.25));
        let outcome = run(spec);
        let links = outcome.table("links");
        let rows = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
        let up = rows.filter(|((node, peer), _)| *node == "leaf 0" && peer.starts_with("spine"));
        let up: Vec<u64> = up.map(|(_, frames)| *frames).collect();
        // Feedback goes to both: with the packets of hosts 0 and 1 in the same one there are 102
        // more there than in the other.
        let shares = up[0].abs_diff(up[1]) == 102;
        let gap = if shares { 4 } else { 1 };
        let expected = 99 * gap * PACKET_PS + 4 * PACKET_PS + 4 * WAY_PS;
        assert_eq!(*fct_ps(&outcome).last().unwrap(), expected, "{others}");
        seen[usize::from(shares)] += 1;
    }
    assert!(seen[0] >= 3 && seen[1] >= 3, "{seen:?}");
}

#[test]
fn the_rest_of_the_link_is_for_the_other_directions() {
    // One of four packets goes to host 3, so host 6 has three quarters of the link: its 300 packets
    // take the time of 400 and not of 600, with a packet more or less at either end.
    let flows = [flow(0, 3, 1_024_000, 10_000), flow(1, 6, 300 * 1_024, 10_000)];
    let time = fct_ps(&after_a_cut(cut_once(0.25), &flows))[3];
    let packets = (time - 3 * WAY_PS) as f64 / PACKET_PS as f64;
    assert!((400.0..=404.0).contains(&packets), "{packets}");
}

/// Host 1 sends to host 0, to which eight others send too, and to host 10, to which none does, all
/// from NICs with a memory: what each of the two flows gets of the 100 Gb/s.
fn beside_an_incast(flow_control: flow_control::Spec) -> [f64; 2] {
    let persistent = |src, dst| flow(src, dst, FlowSpec::PERSISTENT, 0);
    let mut flows = vec![persistent(1, 0), persistent(1, 10)];
    flows.extend((2..10).map(|src| persistent(src, 0)));
    let mut spec = plain(star(11), flows);
    spec.host.buffer = Some(Bytes(64_000));
    spec.switch.flow_control = flow_control;
    spec.end = Duration::from_ms(2);
    let outcome = run(spec);
    let delivered = outcome.table("flows").u64s("delivered_bytes");
    // What one flow alone would get in 2 ms: 1024 bytes every 88.48 ns.
    [delivered[0], delivered[1]].map(|bytes| bytes as f64 / (1024.0 * 2e6 / 88.48))
}

#[test]
fn what_goes_to_a_free_port_does_not_wait_in_the_nic() {
    let drc = |stop| directional(Drc { buffer: Some(Bytes(400_000)), stop, ..Drc::default() });
    for stop in [true, false] {
        let [congested, free] = beside_an_incast(drc(stop));
        // The incast has the ninth part of its link, more or less, and the other flow has all the
        // rest of the NIC's.
        assert!((0.05..0.2).contains(&congested), "{congested}");
        assert!((congested + free - 1.0).abs() < 0.01, "{congested} and {free}");
    }
    // A pause stops the memory, first in, first out.
    let pause = Some(pauses(50_000));
    let [congested, free] = beside_an_incast(flow_control::Spec { pause, ..Default::default() });
    assert!((free - congested).abs() < 0.01 && free < 1.0 / 8.0, "{free} and {congested}");
}

#[test]
fn feedback_is_repeated() {
    let mut spec = plain(star(4), vec![flow(0, 1, 1_024, 1_000_000)]);
    spec.switch.flow_control = directional(Drc::default());
    spec.end = Duration::from_us(105);
    // Every 10 us to four neighbors.
    assert_eq!(run(spec).counter("drc_feedback_frames"), 4 * 10);
}

#[test]
fn feedback_does_not_keep_an_empty_queue_busy_for_red() {
    // Two to one for 20 us, which leaves an average where every packet is marked, and 20 ms later one
    // packet, which finds that it has decayed.
    let fill =
        |src| FlowSpec { stop: Instant(20_000_000), ..flow(src, 2, FlowSpec::PERSISTENT, 0) };
    let mut spec = plain(star(3), vec![fill(0), fill(1), flow(0, 2, 1_024, 20_000_000)]);
    spec.switch.aqm = aqm::Spec::Red(aqm::red::Spec {
        min: Bytes(10_000),
        max: Bytes(30_000),
        burst: 20,
        bandwidth: floodway_model::Rate::from_gbps(10),
        ..Default::default()
    });
    for drc in [None, Some(Drc { buffer: Some(Bytes(1_000_000)), ..Drc::default() })] {
        spec.switch.flow_control.drc = drc;
        let outcome = run(spec.clone());
        let marked = outcome.table("flows").u64s("marked_packets");
        assert!(marked[0] > 10);
        assert_eq!(marked[2], 0);
    }
}

const SENDERS: u32 = 15;
/// The length of every data frame here.
const FRAME: u64 = 1_086;

/// Hosts 1 to 15 send to host 0 as fast as they can, until they are stopped at 20 KB; hosts 16 to 30
/// keep the wires back to them busy.
fn incast(drc: &Drc, headroom: u64) -> Spec {
    let persistent = |src, dst| flow(src, dst, FlowSpec::PERSISTENT, 0);
    let to_one = (1..=SENDERS).map(|src| persistent(src, 0));
    let back = (1..=SENDERS).map(|dst| persistent(SENDERS + dst, dst));
    let mut spec = plain(star(2 * SENDERS + 1), to_one.chain(back).collect());
    spec.host.buffer = Some(Bytes(10_000));
    spec.switch.queue.size = Bytes(20_000 + headroom);
    spec.switch.flow_control = directional(drc.clone());
    spec.end = Duration::from_us(300);
    spec
}

/// No cut: only stops hold anything back.
fn only_stops(min_gap: Duration) -> Drc {
    Drc {
        buffer: Some(Bytes(40_000)),
        thresholds: [0.1, 0.2, 0.5],
        decrease: 1.0,
        min_gap,
        ..Drc::default()
    }
}

#[test]
fn nothing_is_lost_with_the_computed_headroom_and_something_with_less() {
    let hop = Hop {
        rate: GBPS_100,
        delay: NS_200,
        largest_frame: 1_086,
        wire_overhead: 20,
        ports: 2 * SENDERS as usize + 1,
        latency: Duration::ZERO,
    };
    for (min_gap, frames, rest) in [(Duration::ZERO, 7, 724), (Duration::from_ns(300), 10, 1_072)] {
        let drc = only_stops(min_gap);
        // 6.72 + 88.48 + 6.72 + 200 + 88.48 + 200 = 590.4 ns are 7380 bytes, six times 1106, and 744,
        // in which a frame of 724 fits; and one for the overshoot. With a gap of 300 ns in place of
        // the first 6.72 they are 11046 bytes, nine times 1106, and 1092.
        assert_eq!(drc.headroom(&hop), Bytes(frames * FRAME + rest));
        // Here all frames have the same length, and the rest has no room for another.
        for needed in [frames * FRAME + rest, frames * FRAME] {
            let enough = run(incast(&drc, needed * u64::from(SENDERS)));
            assert_eq!(enough.counter("dropped_packets"), 0);
            assert!(enough.counter("drc_stopped_ns") > 0);
        }
        // In the worst case all need it at once; half of it is too little in any.
        let less = run(incast(&drc, frames * FRAME * u64::from(SENDERS) / 2));
        assert!(less.counter("dropped_packets") > 0, "{min_gap}");
    }
}

#[test]
fn a_loss_is_a_violation_if_it_is_declared_lossless() {
    let with = |lossless, classes, headroom| {
        let drc = Drc { lossless, classes, ..only_stops(Duration::ZERO) };
        Simulation::new(incast(&drc, headroom * u64::from(SENDERS))).run()
    };
    let declared = with(true, vec![], 3_000);
    let lost = declared.counter("dropped_packets");
    assert!(lost > 0);
    let violation = format!("switch: {lost} packets of lossless classes were dropped");
    assert_eq!(declared.violations, [violation]);
    // Not declared, the same happens and is no fault.
    let accepted = with(false, vec![], 3_000);
    assert_eq!(accepted.violations, Vec::<String>::new());
    assert_eq!(accepted.fingerprint, declared.fingerprint);
    // Of classes that are not controlled nothing is declared.
    let other = with(true, vec![1], 3_000);
    assert!(other.counter("dropped_packets") > 0);
    assert_eq!(other.violations, Vec::<String>::new());
    // And with the headroom nothing is lost.
    assert_eq!(with(true, vec![], 7 * FRAME + 724).violations, Vec::<String>::new());
}

/// A 12:1 incast that never ends among 32 hosts, and short and long flows at random.
fn busy() -> Spec {
    let mut spec = plain(clos(8, 4, 4), busy_flows());
    spec.host.buffer = Some(Bytes(16_000));
    spec.switch.flow_control = directional(Drc { buffer: Some(Bytes(100_000)), ..Drc::default() });
    spec.end = Duration::from_ms(1);
    spec
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let on = |threads| -> Outcome {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(busy()).run_with(&run)
    };
    let one = on(1);
    assert_eq!(one.violations, Vec::<String>::new());
    for counter in ["drc_feedback_frames", "drc_cuts", "drc_stopped_ns"] {
        assert!(one.counter(counter) > 0, "no {counter}: the run proves nothing");
    }
    for threads in [2, 3] {
        let other = on(threads);
        assert_eq!(format!("{:?}", one.tables), format!("{:?}", other.tables), "{threads}");
        assert_eq!(one.fingerprint, other.fingerprint, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn order_and_books_hold_and_all_arrives(
        seed: u64,
        memory in 3_000u64..100_000,
        nic in 1_086u64..20_000,
        queues in 1u8..3,
        stop: bool,
        one_class: bool,
        beside in 0..3,
    ) {
        let mut rng = Stream::named(seed, "flows");
        let mut flows: Vec<FlowSpec> = (0..120)
            .map(|_| {
                let (src, hop) = (rng.below(8) as u32, 1 + rng.below(7) as u32);
                // Half of them to one host.
                let dst = if rng.bernoulli(0.5) && src != 0 { 0 } else { (src + hop) % 8 };
                let (bytes, start) = (1 + rng.below(100_000), rng.below(100_000_000));
                let (src, dst) = (NodeId(src), NodeId(dst));
                FlowSpec { src, dst, bytes, start: Instant(start), stop: Instant::NEVER, workload: 0, in_turn: false }
            })
            .collect();
        flows.sort_by_key(|flow| (flow.start, flow.src));
        let count = flows.len();
        let mut spec = plain(clos(4, 2, 2), flows);
        spec.seed = seed;
        spec.host.buffer = Some(Bytes(nic));
        spec.switch.queue.count = queues;
        if queues == 2 {
            spec.switch.classify =
                floodway_sim::switch::classify::Spec::DestinationHash(Default::default());
        }
        let classes = if one_class { vec![0] } else { Vec::new() };
        let buffer = Some(Bytes(memory));
        spec.switch.flow_control = directional(Drc { buffer, stop, classes, ..Drc::default() });
        let flow_control = &mut spec.switch.flow_control;
        match beside {
            0 => {}
            1 => {
                let pfc = pfc::Spec { xoff: Bytes(20_000), ..prompt_pfc() };
                flow_control.pfc = Some(pfc);
            }
            _ => flow_control.pause = Some(pauses(20_000)),
        }
        let outcome = run(spec);
        // Queues have no limit: whatever waits is sent in the end.
        prop_assert_eq!(outcome.table("flows").f64s("fct_ns").iter().filter(|t| t.is_finite()).count(), count);
    }
}
