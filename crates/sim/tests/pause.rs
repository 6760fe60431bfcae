//! PAUSE against arithmetic: when it stops whom, what is on the way until then, and what waits
//! behind it.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::transport::{self, udp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::cell::Cell;
use floodway_sim::switch::classify;
use floodway_sim::switch::flow_control::pause::{MeasuredOn, Spec as Pause};
use floodway_sim::switch::flow_control::pausing::Link;
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::{Outcome, Simulation, Spec};

/// A frame of 1000 bytes, and 20 of preamble and gap, at 10 Gb/s, in picoseconds.
const T: u64 = 816_000;
/// A pause frame on the same wire: 84 bytes.
const PAUSE: u64 = 67_200;
/// One way of a link, and the time that a port takes to obey.
const DELAY: u64 = 1_000_000;
const RESPONSE: u64 = 500_000;
const GBPS_10: Rate = Rate::from_gbps(10);

/// Hosts on one switch, by the rates of their links.
fn star_of(rates: &[Rate]) -> Graph {
    let mut graph = Graph::default();
    let hosts: Vec<NodeId> =
        (0..rates.len()).map(|host| graph.add(format!("host {host}"), NodeKind::Host)).collect();
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for (&host, &rate) in hosts.iter().zip(rates) {
        graph.link(host, switch, rate, Duration(DELAY));
    }
    graph
}

fn pause() -> Pause {
    Pause {
        xoff: Bytes(4_500),
        xon: Bytes(2_000),
        response: Duration(RESPONSE),
        ..Pause::default()
    }
}

/// Workload 0 sends datagrams in frames of 1000 bytes, workload 1 RoCEv2.
fn spec(graph: Graph, flows: Vec<FlowSpec>, pause: Pause, end_ns: u64) -> Spec {
    let mut spec = plain(graph, flows);
    let datagrams = udp::Spec { payload: Bytes(954), ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Udp(datagrams);
    spec.switch.flow_control.pause = Some(pause);
    spec.end = Duration::from_ns(end_ns);
    spec
}

fn persistent(src: u32, dst: u32) -> FlowSpec {
    flow(src, dst, FlowSpec::PERSISTENT, 0)
}

/// One packet, at a time in picoseconds; the run does not end with it.
fn once(flow: FlowSpec, start: u64) -> FlowSpec {
    FlowSpec { start: Instant(start), stop: Instant(start + 1), ..flow }
}

/// Frames that `node` has put on its link to `peer`.
fn frames(outcome: &Outcome, node: &str, peer: &str) -> u64 {
    let links = outcome.table("links");
    let names = links.texts("node").iter().zip(links.texts("peer"));
    let row = names.into_iter().position(|(a, b)| a == node && b == peer).unwrap();
    links.u64s("frames")[row]
}

/// By host: how long it was not allowed to send, in picoseconds.
fn paused_ps(outcome: &Outcome) -> Vec<u64> {
    let pauses = outcome.table("pauses");
    let rows = pauses.u64s("tier").iter().zip(pauses.u64s("class")).zip(pauses.f64s("paused_ns"));
    let hosts = rows.filter(|((tier, class), _)| (**tier, **class) == (255, 0));
    hosts.map(|(_, ns)| (ns * 1e3).round() as u64).collect()
}

fn told(outcome: &Outcome, column: &str) -> u64 {
    outcome.table("pauses").u64s(column).iter().sum()
}

/// Host 0 sends to host 1 at 10 Gb/s over a link of 100 Mb/s there: the first frame passes and takes
/// 100 T, all others wait. Frame n, counted from 0, is here at (n + 1) T + DELAY, so number 5 is
/// the first above XOFF, at 6 T + DELAY. A frame from host 2 to host 0 has then just begun on the
/// way back, 1 ns before.
fn one_sender(end_ns: u64) -> Spec {
    let graph = star_of(&[GBPS_10, Rate::from_mbps(100), GBPS_10]);
    let back = once(persistent(2, 0), 5 * T - 1_000);
    spec(graph, vec![persistent(0, 1), back], pause(), end_ns)
}

/// When host 0 stops: after that frame, the pause frame, the way and the response.
const STOPS: u64 = 7 * T + DELAY - 1_000 + PAUSE + DELAY + RESPONSE;
/// When the switch lets it go on: 10 frames wait, two of them when the ninth leaves.
const XON: u64 = T + DELAY + 800 * T;
const GOES_ON: u64 = XON + PAUSE + DELAY + RESPONSE;

#[test]
fn stops_and_goes_on_to_the_picosecond() {
    // Number 10 has begun then, and is sent to its end.
    assert_eq!((STOPS / T, STOPS), (10, 8_278_200));
    for (end_ns, paused, sent) in [
        (8_278, 0, 11),
        (9_000, 9_000_000 - STOPS, 11),
        (600_000, 600_000_000 - STOPS, 11),
        (656_900, GOES_ON - STOPS, 12),
    ] {
        let outcome = run(one_sender(end_ns));
        assert_eq!(paused_ps(&outcome), [paused, 0, 0], "{end_ns}");
        assert_eq!(frames(&outcome, "host 0", "switch"), sent, "{end_ns}");
        let xons = u64::from(end_ns == 656_900);
        assert_eq!((told(&outcome, "xoff_frames"), told(&outcome, "xon_frames")), (1, xons));
        // One data class: paused once, not once for each class that there could be.
        assert_eq!(outcome.counter("paused_ns"), paused / 1_000);
        assert_eq!(outcome.counter("tier_0_xoff_frames"), 1);
    }
}

#[test]
fn a_record_has_the_pause_from_its_beginning_to_its_end() {
    let of = |end_ns| {
        let mut spec = one_sender(end_ns);
        (spec.record, spec.sample_interval) = (Some(100), Duration::from_us(50));
        run(spec)
    };
    let outcome = of(656_900);
    let pause_intervals = outcome.table("pause_intervals");
    assert_eq!(pause_intervals.texts("node"), ["host 0"]);
    assert_eq!((pause_intervals.u64s("port"), pause_intervals.u64s("class")), (&[0][..], &[0][..]));
    assert_eq!(pause_intervals.f64s("from_ns"), [STOPS as f64 / 1e3]);
    assert_eq!(pause_intervals.f64s("until_ns"), [GOES_ON as f64 / 1e3]);
    // It goes on for the whole of the intervals after the first, in which it begins.
    let samples = outcome.table("samples");
    let rows = samples.texts("node").iter().zip(samples.f64s("paused_ns"));
    let paused: Vec<f64> = rows.filter(|row| row.0 == "host 0").map(|row| *row.1).collect();
    assert_eq!(paused[..3], [0.0, 50_000.0 - STOPS as f64 / 1e3, 50_000.0]);
    // At 0, 50, ..., 650 us.
    assert_eq!((paused.len(), paused[13]), (14, 50_000.0));
    // One that goes on when the run ends.
    assert_eq!(of(600_000).table("pause_intervals").f64s("until_ns"), [600_000.0]);
}

#[test]
fn what_is_on_the_way_needs_headroom_and_no_more() {
    // 2 d R + response R + two frames with 20 bytes each + a pause frame: five whole frames come
    // after the decision, and 5000 bytes are there when it is made.
    let on_the_way = 2 * 1_250 + 625 + 2 * 1_020 + 84;
    assert_eq!(on_the_way / 1_020, 5);
    let with = |size: u64| {
        let mut spec = one_sender(600_000);
        spec.switch.queue.size = Bytes(size);
        Simulation::new(spec).run()
    };
    let outcome = with(10_000);
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.table("switches").u64s("max_occupancy_bytes"), [10_000]);
    assert_eq!(outcome.counter("dropped_packets"), 0);
    let outcome = with(9_999);
    assert_eq!(outcome.counter("dropped_packets"), 1);
    assert_eq!(outcome.table("drops").texts("reason"), ["headroom_exceeded"]);
    assert_eq!(outcome.violations, ["switch: 1 packets of lossless classes were dropped"]);
    // Where that is known and accepted, it is counted all the same and is no fault.
    let mut accepted = one_sender(600_000);
    accepted.switch.queue.size = Bytes(9_999);
    accepted.switch.flow_control.pause.as_mut().unwrap().lossless = false;
    let accepted = run(accepted);
    assert_eq!(accepted.violations, Vec::<String>::new());
    assert_eq!(accepted.counter("dropped_packets"), 1);
    assert_eq!(accepted.table("drops").texts("reason"), ["headroom_exceeded"]);
    assert_eq!(accepted.fingerprint, outcome.fingerprint);
    // The headroom that scenarios are checked against has room for all of it, and for a frame of 129
    // bytes in what is left of the time; with one of the whole frames less it has not.
    assert_eq!(on_the_way % 1_020, 149);
    assert_eq!(headroom(RESPONSE), Bytes(6_000 + 129));
    assert_eq!(with(4_500 + 6_129).counter("dropped_packets"), 0);
    assert_eq!(with(4_500 + 6_000).counter("dropped_packets"), 0);
    assert_eq!(with(4_500 + 5_000).counter("dropped_packets"), 1);
}

/// The headroom of a link here.
fn headroom(response: u64) -> Bytes {
    let link = Link {
        rate: GBPS_10,
        delay: Duration(DELAY),
        lossless_classes: 1,
        smallest_frame: 64,
        largest_frame: 1_000,
        wire_overhead: 20,
        latency: Duration::ZERO,
        cell: Cell::default(),
    };
    link.headroom(Duration(response))
}

/// As `one_sender`, but host 0 sends frames of these lengths after six that are the same in any
/// case: one passes, four of 1000 bytes and one of 500 reach XOFF exactly.
fn mixed(after: &[u64], response: u64, size: u64) -> Outcome {
    let graph = star_of(&[GBPS_10, Rate::from_mbps(100), GBPS_10]);
    let lengths = [1_000, 1_000, 1_000, 1_000, 1_000, 500].iter().chain(after);
    let message = |bytes: &u64| FlowSpec { in_turn: true, ..flow(0, 1, bytes - 46, 0) };
    let mut flows: Vec<FlowSpec> = lengths.map(message).collect();
    // The frame that crosses XOFF, of 1000 bytes, has left host 0 after 6 T and 520 bytes more. The
    // frame on the way back begins 1 ns before it arrives.
    flows.push(once(persistent(2, 0), 5 * T + 416_000 - 1_000));
    let pause = Pause { response: Duration(response), ..pause() };
    let mut spec = spec(graph, flows, pause, 600_000);
    spec.switch.queue.size = Bytes(size);
    Simulation::new(spec).run()
}

#[test]
fn frames_of_many_lengths_need_more_headroom_than_the_longest_alone() {
    // After the frame that crosses XOFF, host 0 may begin frames for 816 - 1 + 67.2 + 1000 + 1000 ns
    // and the response: with 500 ns, 4227.75 bytes. The first has 127 bytes and 20, then come four
    // of 1020, and the fifth begins after 4227. With 68.8 ns less, 86 bytes, it has to begin after
    // 4141: 41 bytes are too few for a frame, so one of the longest gives 23 to one of 64.
    for (response, after, together) in [
        (500_000, vec![127, 1_000, 1_000, 1_000, 1_000, 1_000], 5_127),
        (431_200, vec![64, 977, 1_000, 1_000, 1_000, 1_000], 5_041),
    ] {
        assert_eq!(after.iter().sum::<u64>(), together);
        // The frame that crosses, those that are on the way, and two that must wait.
        let after = [&[1_000], &after[..], &[1_000, 1_000]].concat();
        let headroom = headroom(response).0;
        // The two bytes are of the nanosecond, and of the part of a byte that it leaves.
        assert_eq!(headroom, 1_000 + together + 2);
        let outcome = mixed(&after, response, 4_500 + headroom);
        assert_eq!(outcome.violations, Vec::<String>::new());
        assert_eq!(outcome.counter("dropped_packets"), 0);
        let most = outcome.table("switches").u64s("max_occupancy_bytes");
        assert_eq!(most, [4_500 + 1_000 + together]);
        assert_eq!(frames(&outcome, "host 0", "switch"), 6 + 1 + 6);
        // Neither with a byte less than that nor with room for the longest frames only.
        for size in [4_500 + 1_000 + together - 1, 4_500 + 6_000] {
            let outcome = mixed(&after, response, size);
            assert_eq!(outcome.counter("dropped_packets"), 1);
            assert_eq!(outcome.table("drops").texts("reason"), ["headroom_exceeded"]);
        }
    }
}

#[test]
fn pauses_are_refreshed_when_half_of_them_has_passed() {
    // 100 quanta are 5.12 us at 10 Gb/s. From the first pause to the resumption are 795 T.
    let mut spec = one_sender(656_900);
    spec.switch.flow_control.pause.as_mut().unwrap().quanta = 100;
    let outcome = run(spec);
    assert_eq!(told(&outcome, "refresh_frames"), 795 * T / 2_560_000);
    assert_eq!(paused_ps(&outcome)[0], GOES_ON - STOPS);
    assert_eq!(outcome.counter("pause_frames"), 1 + 795 * T / 2_560_000);
}

#[test]
fn a_flow_to_a_free_port_is_as_slow_as_one_to_a_congested_port() {
    // Host 0 sends alternately to host 1, over 1 Gb/s, and to host 2, over 10 Gb/s.
    const END: u64 = 5_000_000;
    let rates = [GBPS_10, Rate::from_gbps(1), GBPS_10];
    let flows = vec![persistent(0, 1), persistent(0, 2)];
    let with = |flow_control: Option<Pause>| {
        let mut spec = spec(star_of(&rates), flows.clone(), pause(), END);
        spec.switch.flow_control.pause = flow_control;
        let outcome = run(spec);
        let delivered = outcome.table("flows").u64s("delivered_bytes");
        (delivered[0] / 954, delivered[1] / 954)
    };
    let (slow, free) = with(Some(pause()));
    // The slow link is never idle: 10 T a frame, from the arrival of the first.
    assert_eq!(slow, (END * 1_000 - T - 2 * DELAY) / (10 * T));
    // Whatever waits at the switch is for host 1: at most 10,500 bytes, by the headroom above; with
    // one on the wire, one on the next and one between them.
    assert!((slow..=slow + 13).contains(&free), "{slow} and {free}");
    // Without PAUSE it has half of what host 0 can send.
    let (same, half) = with(None);
    assert_eq!((same, half), (slow, (END * 1_000 - 2 * T - 2 * DELAY) / (2 * T)));
}

#[test]
fn of_one_class_without_feedback_it_is_the_same_as_pfc() {
    let both = [false, true].map(|by_class| {
        let mut spec = one_sender(2_000_000);
        if by_class {
            let Pause { xoff, xon, response, .. } = spec.switch.flow_control.pause.take().unwrap();
            let measured_on = pfc::MeasuredOn::Ingress;
            let response = Some(response);
            let pfc = pfc::Spec { xoff, xon, response, measured_on, ..prompt_pfc() };
            spec.switch.flow_control.pfc = Some(pfc);
        }
        run(spec)
    });
    let [pause, pfc] = both.each_ref().map(|outcome| {
        let links = outcome.table("links");
        (paused_ps(outcome), told(outcome, "xoff_frames"), links.u64s("frames").to_vec())
    });
    assert!(pause.1 > 1, "{pause:?}");
    assert_eq!(pause, pfc);
}

/// As `one_sender`, while host 2 sends one packet of RoCEv2 to host 0, whose acknowledgement has to
/// pass a port that is paused.
fn acknowledging(end_ns: u64) -> Spec {
    let mut spec = one_sender(end_ns);
    spec.flows.push(FlowSpec { workload: 1, ..once(persistent(2, 0), 20_000_000) });
    spec
}

#[test]
fn acknowledgements_of_a_paused_host_wait_too() {
    assert_eq!(frames(&run(acknowledging(600_000)), "host 0", "switch"), 11);
    // When it goes on, the acknowledgement is first: 86 bytes, 68.8 ns.
    let until_data = (GOES_ON + 68_800) / 1_000;
    let outcome = run(acknowledging(until_data));
    assert_eq!(frames(&outcome, "host 0", "switch"), 12);
    assert_eq!(frames(&run(acknowledging(until_data + 1)), "host 0", "switch"), 13);
    // PFC stops data only.
    let mut spec = acknowledging(600_000);
    let Pause { xoff, xon, response, .. } = spec.switch.flow_control.pause.take().unwrap();
    let measured_on = pfc::MeasuredOn::Ingress;
    let response = Some(response);
    let by_class = pfc::Spec { xoff, xon, response, measured_on, ..prompt_pfc() };
    spec.switch.flow_control.pfc = Some(by_class);
    assert_eq!(frames(&run(spec), "host 0", "switch"), 12);
}

/// Two switches, with hosts 0 and 3 at the left one and 1 and 2 at the right one. Host 0 sends this
/// many frames to host 1, over 100 Mb/s; host 2 one packet of RoCEv2 to host 3, which is far away:
/// when its acknowledgement comes back, after 14 us, the left switch is paused.
fn between_switches(frames: u64, quanta: u16) -> Outcome {
    let mut graph = Graph::default();
    for host in 0..4 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let [left, right] = ["left", "right"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
    let slow = Rate::from_mbps(100);
    for (host, switch, rate, delays) in
        [(0, left, GBPS_10, 1), (1, right, slow, 1), (2, right, GBPS_10, 1), (3, left, GBPS_10, 5)]
    {
        graph.link(NodeId(host), switch, rate, Duration(delays * DELAY));
    }
    graph.link(left, right, GBPS_10, Duration(DELAY));
    let message = FlowSpec { workload: 1, ..flow(2, 3, 1_024, 0) };
    let flows = vec![flow(0, 1, frames * 954, 0), message];
    run(spec(graph, flows, Pause { quanta, ..pause() }, 100_000))
}

#[test]
fn the_control_queue_of_a_paused_switch_waits_too() {
    // The first XON comes when one of the frames that wait has left, after 81.6 us more each.
    for (sent, held) in [(6, 0), (20, 1)] {
        let outcome = between_switches(sent, u16::MAX);
        let queues = outcome.table("queues");
        let rows = (0..queues.rows()).filter(|&row| queues.texts("node")[row] == "left");
        // Port 2 of the left switch is the one to the right switch.
        let at = |queue: u64| {
            let port = |row: &usize| queues.u64s("port")[*row] == 2;
            rows.clone().filter(port).find(|&row| queues.u64s("queue")[row] == queue).unwrap()
        };
        // Data waits in front of it, or there is none left: it makes no difference.
        assert_eq!(queues.u64s("max_backlog_bytes")[at(0)] > 1_000, held == 1);
        assert_eq!(queues.u64s("max_backlog_bytes")[at(1)], 66);
        assert_eq!(frames(&outcome, "right", "host 2"), 0);
    }
}

#[test]
fn an_acknowledgement_alone_leaves_when_a_pause_expires() {
    // A pause of one quantum lasts 51.2 ns, and its refresh takes 67.2 ns on the wire: between any
    // two the port may send, and is to notice it by itself.
    let outcome = between_switches(6, 1);
    assert!(told(&outcome, "refresh_frames") > 1_000);
    assert_eq!(told(&outcome, "xon_frames"), 0);
    assert_eq!(frames(&outcome, "right", "host 2"), 1);
}

#[test]
fn pause_frames_pass_a_paused_port() {
    // Both switches pause each other: each has a host that cannot take what comes. Were the frames
    // that let the other go on held up, both would wait for ever.
    let mut graph = Graph::default();
    for host in 0..4 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let [left, right] = ["left", "right"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
    let slow = Rate::from_gbps(1);
    for (host, switch, rate) in
        [(0, left, GBPS_10), (1, right, slow), (2, right, GBPS_10), (3, left, slow)]
    {
        graph.link(NodeId(host), switch, rate, Duration(DELAY));
    }
    graph.link(left, right, GBPS_10, Duration(DELAY));
    let flows = vec![persistent(0, 1), persistent(2, 3)];
    let outcome = run(spec(graph, flows, pause(), 2_000_000));
    // Neither slow link is ever idle: a frame in 10 T, after two on faster links and three ways.
    let delivered = (2_000_000_000 - 2 * T - 3 * DELAY) / (10 * T);
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [delivered * 954; 2]);
    assert!(outcome.counter("xon_frames") > 100);
}

/// Hosts 0 and 2 send as fast as they can, to host 1 over 100 Mb/s and to host 3 over 5 Gb/s. After
/// n frames of each have come, n - 1 wait for host 1 and half of n, rounded down, for host 3.
fn two_senders(measured_on: MeasuredOn, end: u64) -> Outcome {
    let rates = [GBPS_10, Rate::from_mbps(100), GBPS_10, Rate::from_gbps(5)];
    let flows = vec![persistent(0, 1), persistent(2, 3)];
    let mut spec = spec(star_of(&rates), flows, Pause { measured_on, ..pause() }, 0);
    spec.end = Duration(end);
    run(spec)
}

#[test]
fn an_egress_port_stops_those_that_send_into_it() {
    // Host 0 by the sixth frame, host 2 by the tenth of its own, four frames later.
    let stops = 6 * T + DELAY + PAUSE + DELAY + RESPONSE;
    let end = stops + 3 * T;
    assert_eq!(paused_ps(&two_senders(MeasuredOn::EgressPort, end)), [end - stops, 0, 0, 0]);
    let end = stops + 5 * T;
    assert_eq!(paused_ps(&two_senders(MeasuredOn::EgressPort, end)), [end - stops, 0, T, 0]);
    // With one port for each sender, the ingress says the same.
    assert_eq!(paused_ps(&two_senders(MeasuredOn::Ingress, end)), [end - stops, 0, T, 0]);
}

#[test]
fn a_full_memory_stops_all_that_have_bytes_in_it() {
    // Three frames wait for host 1 and two for host 3 when four of each have come.
    let stops = 4 * T + DELAY + PAUSE + DELAY + RESPONSE;
    let outcome = two_senders(MeasuredOn::Memory, stops + T);
    assert_eq!(paused_ps(&outcome), [T, 0, T, 0]);
    assert_eq!(told(&outcome, "xoff_frames"), 2);
}

/// Hosts 1 to 60 send in both classes to host 0 as fast as they can; hosts 61 to 120 keep the wires
/// back to them busy.
fn incast(headroom: Bytes) -> Spec {
    const SENDERS: u32 = 60;
    let class = |dst| {
        let hash = classify::Spec::DestinationHash(Default::default());
        hash.queue(Default::default(), Default::default(), NodeId(dst), 2)
    };
    let other = (2 * SENDERS + 1..2 * SENDERS + 9).find(|&dst| class(dst) != class(0)).unwrap();
    let senders = 1..=SENDERS;
    let into = senders.clone().flat_map(|src| [persistent(src, 0), persistent(src, other)]);
    let back = senders.map(|dst| persistent(SENDERS + dst, dst));
    let mut spec = plain(star(2 * SENDERS + 9), into.chain(back).collect());
    let pause = Pause {
        xoff: Bytes(20_000),
        xon: Bytes(10_000),
        response: Duration::from_ns(100),
        ..Pause::default()
    };
    spec.switch.queue.count = 2;
    spec.switch.queue.size = pause.xoff + headroom;
    spec.switch.classify = classify::Spec::DestinationHash(Default::default());
    spec.switch.flow_control.pause = Some(pause);
    spec.end = Duration::from_us(200);
    spec
}

#[test]
fn both_classes_of_a_port_share_its_memory_and_nothing_is_lost() {
    let link = Link {
        rate: GBPS_100,
        delay: NS_200,
        lossless_classes: 1,
        smallest_frame: 64,
        largest_frame: 1_086,
        wire_overhead: 20,
        latency: Duration::ZERO,
        cell: Cell::default(),
    };
    // 683.68 ns are 8546 bytes: seven times 1106, and 804, in which none of these frames fits.
    let whole = Bytes(8 * 1_086);
    assert_eq!(link.headroom(Duration::from_ns(100)), whole + Bytes(784));
    for headroom in [whole + Bytes(784), whole] {
        let outcome = run(incast(headroom));
        assert!(outcome.counter("xoff_frames") > 60 && outcome.counter("xon_frames") > 0);
        assert_eq!(outcome.counter("dropped_packets"), 0);
    }
    let outcome = Simulation::new(incast(whole - Bytes(1_086))).run();
    assert!(outcome.counter("dropped_packets") > 0);
    assert_eq!(outcome.violations.len(), 1);
}

#[test]
fn results_do_not_depend_on_threads() {
    for measured_on in [MeasuredOn::Ingress, MeasuredOn::EgressPort, MeasuredOn::Memory] {
        let mut spec = plain(clos(8, 4, 4), busy_flows());
        spec.switch.flow_control.pause = Some(Pause { measured_on, ..Pause::default() });
        spec.end = Duration::from_us(500);
        let on = |threads| {
            let stop = AtomicBool::new(false);
            Simulation::new(spec.clone()).run_with(&Run { threads, stop: &stop, watch: &|_| {} })
        };
        let [one, two, three] = [1, 2, 3].map(on);
        assert_eq!(one.violations, Vec::<String>::new());
        assert!(one.counter("xoff_frames") > 100, "{measured_on:?}");
        assert_eq!((one.fingerprint, one.fingerprint), (two.fingerprint, three.fingerprint));
    }
}
