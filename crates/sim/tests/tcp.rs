//! TCP in whole simulations, by arithmetic: the handshake, rounds of slow start, delayed
//! acknowledgements, and what each loss costs.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion::{self, constant_rate, reno};
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::{Outcome, Spec};

const MSS: u64 = 1_448;
/// A SYN or SYN/ACK, a full segment and an acknowledgement without options at 100 Gb/s, with
/// preamble and gap: 80 ps a byte.
const SYN: u64 = (78 + 20) * 80;
const FULL: u64 = (1_518 + 20) * 80;
const ACK: u64 = (70 + 20) * 80;
/// The delay of each link of [`far`].
const FAR: u64 = 1_000_000_000;
const MS: u64 = 1_000_000_000;

/// A star with links of a millisecond.
fn far(hosts: u32) -> Graph {
    let mut graph = Graph::default();
    for host in 0..hosts {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    (0..hosts).for_each(|host| graph.link(NodeId(host), switch, GBPS_100, Duration(FAR)));
    graph
}

/// Flows of workload 0 are TCP with Reno, those of workload 1 datagrams.
fn network(graph: Graph, flows: Vec<FlowSpec>, change: impl Fn(&mut tcp::Spec)) -> Spec {
    let mut spec = plain(graph, flows);
    let mut tcp = tcp::Spec::default();
    change(&mut tcp);
    spec.profiles[0].transport = transport::Spec::Tcp(tcp);
    spec.profiles[0].congestion = congestion::Spec::Reno(reno::Spec::default());
    spec.profiles[1].transport = transport::Spec::Udp(Default::default());
    spec.end = Duration::from_ms(10_000);
    spec.measured_until = spec.end;
    spec.sample_interval = Duration::from_ms(1_000);
    spec
}

fn sums(outcome: &Outcome) -> [u64; 4] {
    let names = ["data_packets_sent", "retransmitted_packets", "timeouts"];
    let [sent, again, timeouts] = names.map(|name| outcome.counter(name));
    [sent, again, timeouts, outcome.table("flows").u64s("lost_packets").iter().sum()]
}

/// SYN and SYN/ACK over two hops each.
fn handshake(delay: u64) -> u64 {
    4 * (SYN + delay)
}

#[test]
fn a_short_message_takes_a_round_trip_more_than_its_segments() {
    for (segments, delay) in [(1, 200_000), (3, 200_000), (3, FAR), (10, FAR)] {
        let graph = if delay == FAR { far(2) } else { star(2) };
        let outcome = run(network(graph, vec![flow(0, 1, segments * MSS, 5)], |_| {}));
        let expected = handshake(delay) + (segments + 1) * FULL + 2 * delay;
        assert_eq!(fct_ps(&outcome), [expected], "{segments} segments");
        assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
        assert_eq!(sums(&outcome), [segments, 0, 0, 0]);
    }
}

#[test]
fn the_last_segment_is_as_short_as_the_message() {
    // One byte in a frame of 71.
    let outcome = run(network(star(2), vec![flow(0, 1, MSS + 1, 0)], |_| {}));
    let expected = handshake(200_000) + 2 * FULL + (71 + 20) * 80 + 2 * 200_000;
    assert_eq!(fct_ps(&outcome), [expected]);
    assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
}

#[test]
fn switch_latency_counts_for_the_handshake_too() {
    let mut spec = network(star(2), vec![flow(0, 1, MSS, 0)], |_| {});
    spec.switch.latency = Duration::from_ns(400);
    let outcome = run(spec);
    assert_eq!(fct_ps(&outcome), [handshake(200_000) + 2 * FULL + 400_000 + 3 * 400_000]);
    assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
}

/// From the sending of a segment to its acknowledgement, if that comes at once.
const ROUND_TRIP: u64 = 2 * (FULL + FAR) + 2 * (ACK + FAR);

#[test]
fn slow_start_takes_four_rounds_for_a_hundred_segments() {
    // 10, 20, 40 and 30 of them. Within a round they are back to back, because acknowledgements
    // come as fast and each lets two follow, or four for two. The first sixteen are acknowledged
    // one by one, the others in pairs, 16 and 17, ..., 30 and 31: so the last round begins when
    // segment 31 is acknowledged, the second of its round. It ends 29 segments later.
    let outcome = run(network(far(2), vec![flow(0, 1, 100 * MSS, 0)], |_| {}));
    let last_is_sent = handshake(FAR) + 3 * ROUND_TRIP + (1 + 29) * FULL;
    assert_eq!(fct_ps(&outcome), [last_is_sent + 2 * (FULL + FAR)]);
    assert_eq!(sums(&outcome), [100, 0, 0, 0]);
}

#[test]
fn a_segment_alone_is_acknowledged_after_a_while_unless_it_is_among_the_first() {
    // The window is one segment, so that the second waits for the acknowledgement of the first.
    let fct = |quick_acks, ack_every| {
        let spec = network(far(2), vec![flow(0, 1, 2 * MSS, 0)], |tcp| {
            (tcp.initial_window, tcp.quick_acks, tcp.ack_every) = (1, quick_acks, ack_every);
        });
        let outcome = run(spec);
        assert_eq!(sums(&outcome), [2, 0, 0, 0]);
        fct_ps(&outcome)[0]
    };
    let at_once = handshake(FAR) + ROUND_TRIP + 2 * (FULL + FAR);
    assert_eq!([fct(16, 2), fct(1, 2), fct(0, 1)], [at_once; 3]);
    assert_eq!(fct(0, 2), at_once + 40 * MS);
}

#[test]
fn a_receiver_without_room_is_waited_for() {
    // Four segments per round trip. The flow is stopped in the middle of its eleventh, when two are
    // sent.
    let begin = handshake(FAR);
    let stop = Instant(begin + 10 * ROUND_TRIP + FULL * 3 / 2);
    let flows = vec![FlowSpec { stop, ..flow(0, 1, FlowSpec::PERSISTENT, 0) }];
    let spec = network(far(2), flows, |tcp| {
        (tcp.receive_window, tcp.ack_every) = (Some(Bytes(4 * MSS + 1)), 1);
    });
    let outcome = run(spec);
    assert_eq!(sums(&outcome), [42, 0, 0, 0]);
    assert_eq!(outcome.table("flows").u64s("delivered_bytes"), [42 * MSS]);
    // It never completes, and the network is idle: 42 segments and two frames of the handshake in
    // both directions, each over two links.
    assert_eq!(outcome.hops, 2 * 2 * (42 + 1));
    assert_eq!(outcome.counter("flows_unfinished"), 0);
}

#[test]
fn a_flow_that_is_stopped_before_it_is_established_sends_nothing() {
    let stop = Instant(handshake(FAR) - 1);
    let flows = vec![FlowSpec { stop, ..flow(0, 1, FlowSpec::PERSISTENT, 0) }];
    let outcome = run(network(far(2), flows, |_| {}));
    assert_eq!((sums(&outcome), outcome.hops), ([0; 4], 4));
}

/// When the message of [`unlucky`] starts.
const START: u64 = 1_000_000;

/// A message of one segment from host 0 to host 2. Frames that it sends so much after its start,
/// and that take so long, find the port busy with a datagram, and the queue full with another.
fn unlucky(frames: impl IntoIterator<Item = (u64, u64)>) -> Outcome {
    let mut flows = vec![FlowSpec { start: Instant(START), ..flow(0, 2, MSS, 0) }];
    for (sent, takes) in frames {
        // Datagrams take as long as a full segment: they come to the port 10 ns before the frame.
        let start = Instant(START + sent + takes - FULL - 10_000);
        flows.extend([1, 3].map(|src| FlowSpec { start, workload: 1, ..flow(src, 2, 1_472, 0) }));
    }
    flows.sort_by_key(|flow| flow.start);
    let mut spec = network(far(4), flows, |_| {});
    spec.switch.queue.size = Bytes(1_518);
    run(spec)
}

/// The completion time of the only TCP flow.
fn fct_of_message(outcome: &Outcome) -> u64 {
    let place = outcome.table("flows").u64s("src").iter().position(|src| *src == 0).unwrap();
    fct_ps(outcome)[place]
}

#[test]
fn lost_syns_cost_a_second_then_two() {
    let alone = handshake(FAR) + 2 * (FULL + FAR);
    let times = [0, 1_000 * MS, 3_000 * MS];
    for lost in 0..times.len() {
        let outcome = unlucky(times[..lost].iter().map(|time| (*time, SYN)));
        assert_eq!(fct_of_message(&outcome), times[lost] + alone, "{lost} lost");
        // A SYN is no data packet; the datagrams are.
        let lost = lost as u64;
        assert_eq!(sums(&outcome), [1 + 2 * lost, 0, lost, 0]);
    }
}

#[test]
fn the_loss_of_the_only_segment_costs_a_timeout_that_doubles() {
    // The round-trip time of the handshake is all that is known: RTO = SRTT + 200 ms. A probe would
    // wait for two of them and 200 ms, so it goes when the timer expires instead. It is a repetition
    // without a timeout; the timer begins again.
    let rto = handshake(FAR) + 200 * MS;
    let times = [0, 1, 2, 4, 8].map(|timeouts| handshake(FAR) + timeouts * rto);
    for lost in 0..times.len() {
        let outcome = unlucky(times[..lost].iter().map(|time| (*time, FULL)));
        assert_eq!(fct_of_message(&outcome), times[lost] + 2 * (FULL + FAR), "{lost} lost");
        let lost = lost as u64;
        assert_eq!(sums(&outcome), [1 + 3 * lost, lost, lost.saturating_sub(1), lost]);
    }
}

/// Hosts at 100 Gb/s and a link of 1 Gb/s between them, each a millisecond long.
fn bottleneck() -> Graph {
    let mut graph = Graph::default();
    let hosts = ["left host", "right host"].map(|name| graph.add(name, NodeKind::Host));
    let tier = NodeKind::Switch { tier: 0 };
    let switches = ["left", "right"].map(|name| graph.add(name, tier));
    for (host, switch) in hosts.into_iter().zip(switches) {
        graph.link(host, switch, GBPS_100, Duration(FAR));
    }
    graph.link(switches[0], switches[1], Rate::from_gbps(1), Duration(FAR));
    graph
}

#[test]
fn lost_ends_are_found_by_a_probe_and_others_by_what_comes_after_them() {
    // Ten segments come to the bottleneck while the first is sent: there is room for some.
    let sent = |room: u64| {
        let mut spec = network(bottleneck(), vec![flow(0, 1, 10 * MSS, 0)], |_| {});
        spec.switch.queue.size = Bytes(room * 1_518);
        let outcome = run(spec);
        (sums(&outcome), fct_ps(&outcome)[0])
    };
    let slow = FULL * 100;
    let handshake = 2 * (2 * SYN + 100 * SYN + 3 * FAR);
    let (all, without) = sent(9);
    assert_eq!(all, [10, 0, 0, 0]);
    assert_eq!(without, handshake + 2 * FULL + 10 * slow + 3 * FAR);
    let costs = |room: u64, lost: u64| {
        let (sums, late) = sent(room);
        assert_eq!(sums, [10 + lost, lost, 0, lost]);
        late - without
    };
    // The smoothed round-trip time is 6 ms and what the queue adds, less than 10 * 12.3 us. The
    // last one alone: 3 ms until the acknowledgement of the others is there, the timer, which is as
    // early as a probe, and 3 ms for the repetition.
    let last = costs(8, 1);
    assert!((212 * MS..212 * MS + MS / 2).contains(&last), "{last} ps");
    // The last two: two round trips after the acknowledgement a probe repeats the last, which tells
    // that the other is lost; so it comes a round trip after the probe. Of more than that one goes
    // at first and the others, one or two, when that has been acknowledged.
    for (lost, round_trips) in [(2, 4), (3, 5), (4, 5)] {
        let several = costs(9 - lost, lost);
        let expected = round_trips * 6 * MS;
        assert!((expected..expected + MS / 2).contains(&several), "{lost} lost: {several} ps");
    }
}

#[test]
fn datagrams_go_at_their_rate_whatever_happens() {
    let mut flows = vec![flow(0, 1, 10 * 1_472, 0)];
    flows[0].workload = 1;
    let mut spec = network(star(2), flows, |_| {});
    let rate = Rate::from_gbps(1);
    spec.profiles[1].congestion = congestion::Spec::ConstantRate(constant_rate::Spec { rate });
    // 1538 bytes at 1 Gb/s are 12.304 us.
    let outcome = run(spec);
    assert_eq!(fct_ps(&outcome), [9 * 12_304_000 + 2 * (FULL + 200_000)]);
    // The idle network would have let them go at once.
    let ideal = outcome.table("flows").f64s("ideal_fct_ns")[0];
    assert_eq!(ideal * 1e3, (11 * FULL + 400_000) as f64);
}
