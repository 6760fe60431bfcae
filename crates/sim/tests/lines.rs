//! Links of an access network, by arithmetic: rates that differ by direction, framing, random loss.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::line::{Counting, Line};
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, PortIx, Rate};
use floodway_sim::distances::Distances;
use floodway_sim::host::congestion::{self, reno};
use floodway_sim::host::transport::{self, tcp, udp};
use floodway_sim::loss::Loss;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};

const MSS: u64 = 1_448;
/// The switch of the server; its second port is that of the line.
const LEFT: NodeId = NodeId(2);
const MS: u64 = 1_000_000_000;
/// Picoseconds of a byte at 1 Gb/s, at 50 and at 10 Mb/s.
const FAST: u64 = 8_000;
const DOWN: u64 = 160_000;
const UP: u64 = 800_000;

/// A server, host 0, and a home, host 1, each a millisecond from its switch, and between the switches a
/// line of another millisecond with these rates down and up.
fn line(down: Rate, up: Rate) -> Graph {
    let mut graph = Graph::default();
    let [server, home] = ["server", "home"].map(|name| graph.add(name, NodeKind::Host));
    let [left, right] = ["left", "right"].map(|name| graph.add(name, NodeKind::Switch { tier: 0 }));
    graph.link(server, left, Rate::from_gbps(1), Duration(MS));
    graph.link(home, right, Rate::from_gbps(1), Duration(MS));
    graph.link_each_way(left, right, [down, up], Duration(MS));
    graph
}

/// 50 Mb/s down and 10 up.
fn uneven() -> Graph {
    line(Rate::from_mbps(50), Rate::from_mbps(10))
}

fn tcp(graph: Graph, flows: Vec<FlowSpec>, change: impl Fn(&mut tcp::Spec)) -> Spec {
    let mut spec = plain(graph, flows);
    let mut tcp = tcp::Spec::default();
    change(&mut tcp);
    spec.profiles[0].transport = transport::Spec::Tcp(tcp);
    spec.profiles[0].congestion = congestion::Spec::Reno(reno::Spec::default());
    spec.end = Duration::from_ms(20_000);
    spec.measured_until = spec.end;
    spec.sample_interval = Duration::from_ms(1_000);
    spec
}

fn slowdown(outcome: &Outcome) -> f64 {
    outcome.table("flows").f64s("slowdown")[0]
}

#[test]
fn a_packet_takes_the_rate_of_its_direction() {
    for (src, dst, of_line) in [(0, 1, DOWN), (1, 0, UP)] {
        let mut spec = plain(uneven(), vec![flow(src, dst, 1_000, 0)]);
        spec.profiles[0].transport = transport::Spec::Ethernet(Default::default());
        let outcome = run(spec);
        // 1018 bytes with header and FCS, and 20 of preamble and gap.
        assert_eq!(fct_ps(&outcome), [1_038 * (2 * FAST + of_line) + 3 * MS]);
        assert_eq!(slowdown(&outcome), 1.0);
    }
}

/// The SYN crosses the line in one direction and its answer in the other; then come the segments, which
/// follow each other on the line.
#[test]
fn a_handshake_takes_both_rates() {
    for (src, dst, of_line) in [(0, 1, DOWN), (1, 0, UP)] {
        for segments in [1, 3, 10] {
            let outcome = run(tcp(uneven(), vec![flow(src, dst, segments * MSS, 0)], |_| {}));
            let handshake = 98 * (4 * FAST + DOWN + UP) + 6 * MS;
            let data = 1_538 * (2 * FAST + segments * of_line) + 3 * MS;
            assert_eq!(fct_ps(&outcome), [handshake + data], "{src} {segments}");
            assert_eq!(slowdown(&outcome), 1.0, "{src} {segments}");
        }
    }
}

/// 1 Gb/s down and 1 Mb/s up: an acknowledgement of 90 bytes takes 720 us, and there is one for two
/// segments. The window of 64 segments is full after some rounds; from then on every acknowledgement lets
/// two segments go. The first 16 segments are acknowledged one by one. The last 64 of 2000 segments are
/// sent when 1936 are acknowledged, which takes 16 + 960 acknowledgements.
#[test]
fn acknowledgements_on_the_slow_side_limit_goodput() {
    let times = |up: Rate| {
        let graph = line(Rate::from_gbps(1), up);
        let window = |tcp: &mut tcp::Spec| tcp.receive_window = Some(Bytes(64 * MSS));
        let outcome = run(tcp(graph, vec![flow(0, 1, 2_000 * MSS, 0)], window));
        fct_ps(&outcome)[0] as f64 / MS as f64
    };
    let limited = times(Rate::from_mbps(1));
    let expected = 976.0 * 0.72;
    // The handshake, the round trip of the first acknowledgement and the way of the last segment.
    assert!((expected..expected + 25.0).contains(&limited), "{limited} ms for {expected}");
    // Where they are fast, the window of 64 segments in a round trip of some 6 ms limits it.
    let open = times(Rate::from_gbps(1));
    assert!(open < expected / 2.5, "{open} ms");
}

#[test]
fn the_longest_round_trip_has_full_packets_in_the_slow_direction() {
    let spec = plain(uneven(), Vec::new());
    // RoCEv2 frames of 1086 and 66 bytes, 20 more on the wire: data up, acknowledgements down.
    let wire = 1_106 * (2 * FAST + UP) + 86 * (2 * FAST + DOWN);
    assert_eq!(Distances::of(&spec).longest_round_trip, Duration(wire + 6 * MS));
}

/// Each transmitter reports its own rate, and the time on the wire at that rate.
#[test]
fn links_report_the_rate_and_the_use_of_their_direction() {
    let mut spec = plain(uneven(), vec![flow(0, 1, 100_000, 0), flow(1, 0, 100_000, 0)]);
    let udp = || transport::Spec::Udp(Default::default());
    spec.profiles.iter_mut().for_each(|profile| profile.transport = udp());
    let outcome = run(spec);
    let links = outcome.table("links");
    let (rates, busy) = (links.f64s("rate_gbps"), links.f64s("utilization"));
    let of = |rate: f64| {
        let rows: Vec<usize> = (0..links.rows()).filter(|&row| rates[row] == rate).collect();
        assert_eq!(rows.len(), 1, "{rates:?}");
        busy[rows[0]]
    };
    let ratio = of(0.01) / of(0.05);
    assert!((ratio - 5.0).abs() < 1e-9, "{ratio}");
}

/// The line of [`uneven`] with a framing.
fn framed(counting: Counting) -> Graph {
    let mut graph = uneven();
    graph.frame((LEFT, PortIx(1)), counting);
    graph
}

/// By hand, for an IP packet of 1500 bytes and for the shortest frame, with 46: on ADSL with PPPoE and LLC/SNAP 1540
/// bytes are 33 cells of 53, 1749 bytes, and 86 bytes are 2 cells; on VDSL2 with PPPoE 1530 bytes have 24 more, and
/// 76 have 2; a cable modem has 18 bytes, and at least 64 in all.
#[test]
fn a_frame_takes_the_time_of_its_framed_length() {
    let lines = [
        (Line::PppoeLlcsnap, [1_749, 106]),
        (Line::PppoePtm, [1_554, 78]),
        (Line::Docsis, [1_518, 64]),
        (Line::Ethernet, [1_538, 84]),
    ];
    for (line, lengths) in lines {
        for (payload, ethernet, length) in [(1_500, 1_538, lengths[0]), (46, 84, lengths[1])] {
            for (src, dst, of_line) in [(0, 1, DOWN), (1, 0, UP)] {
                let graph = framed(line.counting());
                let mut spec = plain(graph, vec![flow(src, dst, payload, 0)]);
                spec.profiles[0].transport = transport::Spec::Ethernet(Default::default());
                let outcome = run(spec);
                let expected = ethernet * 2 * FAST + length * of_line + 3 * MS;
                assert_eq!(fct_ps(&outcome), [expected], "{line:?} {payload}");
                assert_eq!(slowdown(&outcome), 1.0, "{line:?} {payload}");
            }
        }
    }
}

/// TCP on ADSL: SYN, answer and segments as cells on the line, as Ethernet elsewhere. A SYN frame of 78 bytes has an IP
/// packet of 60 and is 100 bytes with PPPoE and LLC/SNAP, 3 cells.
#[test]
fn a_handshake_on_adsl_is_made_of_cells() {
    let graph = framed(Line::PppoeLlcsnap.counting());
    let outcome = run(tcp(graph, vec![flow(0, 1, 3 * MSS, 0)], |_| {}));
    let handshake = 98 * 4 * FAST + 3 * 53 * (DOWN + UP) + 6 * MS;
    let data = 1_538 * 2 * FAST + 3 * 1_749 * DOWN + 3 * MS;
    assert_eq!(fct_ps(&outcome), [handshake + data]);
    assert_eq!(slowdown(&outcome), 1.0);
}

const PACKETS: u64 = 20_000;

/// Datagrams of 1000 bytes over a line of 50 Mb/s that loses some on the way down; those lost, on how many threads.
fn losing(good: f64, bad: f64, enters: f64, leaves: f64, threads: usize) -> (u64, Outcome) {
    let mut spec = plain(uneven(), vec![flow(0, 1, PACKETS * 1_000, 0)]);
    let payload = udp::Spec { payload: Bytes(1_000), ..Default::default() };
    spec.profiles[0].transport = transport::Spec::Udp(payload);
    spec.losses = vec![Loss { node: LEFT, port: PortIx(1), good, bad, enters, leaves }];
    spec.end = Duration::from_ms(10_000);
    spec.measured_until = spec.end;
    let stop = AtomicBool::new(false);
    let run = Run { threads, stop: &stop, watch: &|_| {} };
    let outcome = Simulation::new(spec).run_with(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    let lost = drops(&outcome, "lost_on_link");
    assert_eq!(outcome.table("flows").u64s("lost_packets"), [lost]);
    (lost, outcome)
}

/// 2 % of 20,000 are 400, with a deviation of sqrt(n p (1 - p)) = 19.8. In bursts, the mean is n p / (p + r), and a
/// deviation is about sqrt(n q (1 - q) (2 - p - r) / (p + r)), with q = p / (p + r): 769 and 71.
#[test]
fn a_line_loses_what_its_probabilities_say() {
    let (lost, _) = losing(0.02, 0.0, 0.0, 0.0, 1);
    assert!((lost as f64 - 400.0).abs() < 4.0 * 19.8, "{lost}");
    let (lost, _) = losing(0.0, 1.0, 0.01, 0.25, 1);
    assert!((lost as f64 - 769.0).abs() < 4.0 * 71.0, "{lost}");
    let (lost, _) = losing(0.0, 0.0, 0.5, 0.5, 1);
    assert_eq!(lost, 0);
}

#[test]
fn losses_are_the_same_on_every_number_of_threads() {
    let of = |threads| losing(0.02, 0.5, 0.01, 0.25, threads).1.fingerprint;
    assert_eq!(of(1), of(2));
    assert_eq!(of(1), of(3));
}

/// TCP repeats what is lost, in both directions, and everything arrives.
#[test]
fn tcp_gets_over_a_line_that_loses() {
    let mut spec = tcp(uneven(), vec![flow(0, 1, 1_000 * MSS, 0)], |_| {});
    let ends = [(LEFT, PortIx(1)), (NodeId(3), PortIx(1))];
    let loss = |(node, port)| Loss { node, port, good: 0.01, bad: 0.0, enters: 0.0, leaves: 0.0 };
    spec.losses = ends.map(loss).to_vec();
    let outcome = run(spec);
    assert!(fct_ps(&outcome)[0] > 0 && drops(&outcome, "lost_on_link") > 0);
    assert!(outcome.counter("retransmitted_packets") > 0);
}
