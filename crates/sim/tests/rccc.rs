//! Receiver credit of Ultra Ethernet in a network, with what can be computed by hand. A full packet has 4160 bytes, 4180
//! with preamble and gap, which take 334.4 ns at 100 Gb/s, and 337.778 ns at 0.99 of that; credit has 84, 6.72 ns.

use std::sync::atomic::AtomicBool;

use crate::common::timeline::traced;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx, Rate};
use floodway_sim::failure::Failure;
use floodway_sim::host::congestion::{self, rccc};
use floodway_sim::host::transport::{self, uet};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, ramp};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::{Outcome, Sent, Simulation, Spec};

const MTU: u64 = 4_096;
const WIRE: u64 = 4_180;
const FULL: u64 = WIRE * 80;
/// A packet at the pace of credit, rounded up to picoseconds.
const PACED: u64 = 337_778;
const CREDIT: u64 = 84 * 80;
const DELAY: u64 = 200_000;
/// From the beginning of a packet to its arrival, and from the beginning of a packet to the arrival of credit for it.
const WAY: u64 = 2 * (FULL + DELAY);
const LOOP: u64 = WAY + 2 * (CREDIT + DELAY);

fn ultra(graph: Graph, flows: Vec<FlowSpec>, rccc: rccc::Spec) -> Spec {
    let mut spec = plain(graph, flows);
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Uet(uet::Spec::default());
        profile.congestion = congestion::Spec::Rccc(rccc.clone());
    }
    spec
}

fn with_nscc() -> rccc::Spec {
    rccc::Spec { nscc: Some(Default::default()), ..Default::default() }
}

/// Switches trim beyond so many bytes.
fn trimming(spec: &mut Spec, threshold: u64) {
    let threshold = Some(Bytes(threshold));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec { threshold, ..Default::default() });
}

/// Switches mark from a fifth to four fifths of the bandwidth-delay product, but not at ports to hosts.
fn marking(spec: &mut Spec, bdp: u64) {
    spec.switch.aqm = aqm::Spec::Ramp(ramp::Spec {
        kmin: Bytes(bdp / 5),
        kmax: Bytes(bdp * 4 / 5),
        pmax: 1.0,
        ..Default::default()
    });
    spec.switch.marks_to_hosts = false;
}

fn nothing_is_lost(outcome: &Outcome) {
    let none = ["timeouts", "dropped_packets", "flows_unfinished"];
    assert_eq!(none.map(|name| outcome.counter(name)), [0; 3]);
}

/// When data leaves a host for its switch.
fn departures(sent: &[Sent], switch: NodeId, flow: u32) -> Vec<u64> {
    let of = sent.iter().filter(|frame| frame.packet.is_data() && frame.to.0 == switch);
    of.filter(|frame| frame.packet.flow.0 == flow).map(|frame| frame.at.0).collect()
}

/// Credit of one packet comes 1482.24 ns after the first packet began. The first credit, 27,822 bytes, is 1.5 times the
/// round trip of a packet and its acknowledgement, 1483.84 ns. Five packets have begun by then, and the rest of the first
/// credit is thrown away. Then one packet comes for each credit, every 337.778 ns: credit for packet 5 + j comes at
/// 1482.24 ns + j · 337.778 ns. The wire is free for it at (5 + j) · 334.4 ns, which is later at first, by 189.76 ns, until
/// after 57 packets the pace has made up for that. Each packet asks for 6.66 packets in advance, and a loop of credit has
/// only 4.4, so that credit never waits for demand.
#[test]
fn a_flow_alone_is_paced_by_credit() {
    assert_eq!((WAY, LOOP), (1_068_800, 1_482_240));
    let rccc = rccc::Spec { grant: Bytes(WIRE), ..Default::default() };
    for n in [1, 2, 5, 6, 12, 13, 50, 1_000] {
        let spec = ultra(star(2), vec![flow(0, 1, n * MTU, 0)], rccc.clone());
        let (outcome, sent) = traced(spec);
        let begun = |packet: u64| match packet {
            0..=5 => packet * FULL,
            _ => (packet * FULL).max(LOOP + (packet - 5) * PACED),
        };
        let expected: Vec<u64> = (0..n).map(begun).collect();
        assert_eq!(departures(&sent, NodeId(2), 0), expected, "{n} packets");
        assert_eq!(fct_ps(&outcome), [begun(n - 1) + WAY], "{n} packets");
        nothing_is_lost(&outcome);
    }
    // A grant of 16,384 bytes comes as often as four packets are sent at the pace: packets begin at the same time or
    // up to so much earlier.
    let n = 1_000;
    let spec = ultra(star(2), vec![flow(0, 1, n * MTU, 0)], Default::default());
    let fct = fct_ps(&run(spec))[0];
    let paced = LOOP + (n - 6) * PACED + WAY;
    assert!((paced - 4 * PACED..=paced).contains(&fct), "{fct} {paced}");
    // With the window of NSCC as well, which an idle network leaves at its maximum, nothing changes. It is 38 packets on a
    // path of 26, with an acknowledgement for four.
    let [alone, both] =
        [rccc::Spec::default(), with_nscc()].map(|rccc| run(incast(1, 1_000, rccc)));
    assert_eq!(fct_ps(&alone), fct_ps(&both));
}

/// Of seven packets, more than the first credit, five have begun when the first credit of one packet comes: each packet
/// found 1438 bytes missing, and asked for a packet. Packet 5 goes behind the five, and asks for one more, the last. It
/// goes a loop of credit later.
#[test]
fn what_is_thrown_away_has_to_be_asked_for_again() {
    let spec = ultra(star(2), vec![flow(0, 1, 7 * MTU, 0)], Default::default());
    assert_eq!(fct_ps(&run(spec)), [5 * FULL + LOOP + WAY]);
}

/// Two hosts send 100 packets each to one. Their first packets arrive at the switch at the same time, so that those of the
/// second flow arrive a packet time later at the receiver, and so on: the first of flow 0 at 1068.8 ns, the first of flow 1
/// at 1403.2 ns, their second ones at 1737.6 and 2072.0 ns. Credit is one packet at a time:
///
/// - flow 0 at 1068.8, for its first packet;
/// - flow 1 at 1068.8 + 337.778 = 1406.578, since its first packet has come;
/// - flow 0 at 1744.356, since its second packet has come at 1737.6;
/// - flow 1 at 2082.134, and so on in turn: packet k of both asks for k + 1 packets, for k up to 4.
///
/// Packet 5 of flow 0, which arrives at 1068.8 + 10 · 334.4 ns, is the first that was sent without the rest of the first
/// credit, and asks for two packets more. So flow 0 is in the queue again when it gets credit number 10, at 10 · 337.778
/// ns, before packet 5 of flow 1 arrives at 11 · 334.4 ns, and it gets number 11 as well. From then on both ask for more
/// than they get, and credit alternates.
#[test]
fn credit_of_two_senders_alternates() {
    let rccc = rccc::Spec { grant: Bytes(WIRE), ..Default::default() };
    let flows = vec![flow(0, 2, 100 * MTU, 0), flow(1, 2, 100 * MTU, 0)];
    let (outcome, sent) = traced(ultra(star(3), flows, rccc));
    nothing_is_lost(&outcome);
    let mut granted = sent
        .iter()
        .filter(|frame| frame.to.0 == NodeId(3))
        .filter_map(|frame| match frame.packet.body {
            Body::Credit { number } => Some((frame.at.0, frame.packet.flow.0, number)),
            _ => None,
        })
        .collect::<Vec<_>>();
    granted.truncate(40);
    let of = |n: u64| match (n <= 10, n % 2) {
        (true, flow) => (flow, n / 2 + 1),
        (false, 0) => (1, n / 2),
        (false, _) => (0, (n + 3) / 2),
    };
    let expected: Vec<(u64, u32, u32)> =
        (0..40).map(|n| (WAY + n * PACED, of(n).0 as u32, (of(n).1 * WIRE) as u32)).collect();
    // Acknowledgements of four packets may be on the wire for 7.52 ns.
    for (found, expected) in granted.iter().zip(&expected) {
        assert_eq!((found.1, found.2), (expected.1, expected.2));
        assert!((0..7_521).contains(&(found.0 - expected.0)), "{found:?} {expected:?}");
    }
}

/// So many hosts send to the last one through links of 2 us: a round trip is 8.68 us, or 108.5 KB.
fn incast(senders: u32, packets: u64, rccc: rccc::Spec) -> Spec {
    let mut graph = Graph::default();
    for host in 0..=senders {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for host in 0..=senders {
        graph.link(NodeId(host), switch, Rate::from_gbps(100), Duration::from_us(2));
    }
    let flows = (0..senders).map(|src| flow(src, senders, packets * MTU, 0)).collect();
    let mut spec = ultra(graph, flows, rccc);
    trimming(&mut spec, 108_500);
    marking(&mut spec, 108_500);
    spec
}

/// The receiver paces all data but the first credit, which arrives at the rate of the link: the last packet arrives
/// N · W / (0.99 C) after the first, within 1 %.
///
/// Packets are trimmed because of the first credits, 38.9 packets each, of which the queue takes 26, and the link some. From then on
/// the queue is full until it has drained, and packets are trimmed only because senders overdraw: credit of 16,384 bytes is four
/// packets of 4180 for eleven times and then three, for all senders alike. That is at most one packet in excess for
/// each sender, while the queue drains, 108.5 KB at 125 bytes per microsecond.
#[test]
fn an_incast_is_paced_by_its_receiver() {
    for senders in [4, 8, 16, 32] {
        for rccc in [rccc::Spec::default(), with_nscc()] {
            let (outcome, sent) = traced(incast(senders, 800, rccc));
            nothing_is_lost(&outcome);
            let last = fct_ps(&outcome).into_iter().max().unwrap();
            let expected = u64::from(senders) * 800 * PACED;
            let ratio = last as f64 / expected as f64;
            let trimmed = outcome.counter("trimmed_packets");
            println!("{senders} senders: {ratio:.4}, {trimmed} trimmed");
            assert!((0.99..1.01).contains(&ratio), "{senders}: {ratio}");
            let most = u64::from(senders) * 39 - 26;
            assert!(trimmed > 0 && trimmed <= most, "{trimmed} of {most}");
            let headers =
                sent.iter().filter(|frame| matches!(frame.packet.body, Body::Trimmed { .. }));
            let times: Vec<u64> = headers.map(|frame| frame.at.0 / 1_000_000).collect();
            let late = times.iter().filter(|&&us| us > 3 * 9).count();
            assert!(late <= senders as usize, "{late} packets are trimmed late");
            assert!(times.iter().all(|&us| us < 868), "{times:?}");
        }
    }
}

/// The queue that the first credits leave drains at what the pace leaves of the link, 1 % of 100 Gb/s or 125 bytes per
/// microsecond. Credit is four whole packets at a time, so that no sender overdraws.
#[test]
fn the_first_queue_drains_at_the_slack() {
    let rccc = rccc::Spec { grant: Bytes(4 * WIRE), ..Default::default() };
    let (_, sent) = traced(incast(8, 1_600, rccc));
    let (switch, receiver) = (NodeId(9), NodeId(8));
    let until = |us: u64| {
        let at = us * 1_000_000;
        let is_data = |frame: &&Sent| frame.packet.is_data();
        let wire = |frame: &Sent| u64::from(frame.packet.bytes) + 20;
        // What is trimmed does not wait.
        let trimmed = |frame: &&Sent| matches!(frame.packet.body, Body::Trimmed { .. });
        let arrived = |frame: &&Sent| frame.to.0 == switch && frame.at.0 + FULL + 2_000_000 <= at;
        let left = |frame: &&Sent| frame.to.0 == receiver && frame.at.0 <= at;
        let came: u64 = sent.iter().filter(is_data).filter(arrived).map(wire).sum();
        let went: u64 = sent.iter().filter(is_data).filter(left).map(wire).sum();
        let cut = sent.iter().filter(trimmed).filter(left).count() as u64 * WIRE;
        came as f64 - went as f64 - cut as f64
    };
    let (early, late) = (until(100), until(700));
    println!("{early} and {late} bytes wait");
    // Between two moments the bursts of eight senders differ by a grant each at most.
    assert!((70_000.0..120_000.0).contains(&early), "{early}");
    let drained = (early - late) / 600.0;
    assert!((drained - 125.0).abs() < 0.1 * 125.0, "{drained} bytes per microsecond");
    // After Q0 / slack, with as much as there was, it is empty but for the packets of eight grants.
    let empty = until(100 + (early / 125.0) as u64 + 50);
    assert!(empty < 8.0 * 4.0 * WIRE as f64, "{empty}");
}

/// The link of a host loses what is on it for a nanosecond, which no node notices.
fn glitch(node: NodeId, at: u64) -> Failure {
    let (at, until) = (Instant(at), Instant(at + 1_000));
    Failure { node, port: PortIx(0), at, until, detection: Duration::from_ms(1) }
}

/// Two packets are more than the first credit of one packet: a base round-trip time of a nanosecond makes it that. Packet 0
/// asks for a packet, and the receiver sends an acknowledgement, 7.52 ns, and credit behind it. The credit arrives at the
/// switch 6.72 ns after the acknowledgement and waits there for another 0.8 ns.
///
/// If the credit is lost on the link to the switch, the sender has asked for all that it needs, and requests again when
/// nothing has come for a millisecond. The request, 84 bytes, takes 413.44 ns to the receiver, and the answer as long
/// back. It repeats the total, which has not changed. Packet 1 goes then.
#[test]
fn a_request_makes_up_for_lost_credit() {
    let rccc = rccc::Spec { base_rtt: Some(Duration::from_ns(1)), ..Default::default() };
    let two = || {
        let mut spec = ultra(star(2), vec![flow(0, 1, 2 * MTU, 0)], rccc.clone());
        for profile in &mut spec.profiles {
            let uet = uet::Spec { ack_trigger: Bytes(0), ..Default::default() };
            profile.transport = transport::Spec::Uet(uet);
        }
        spec
    };
    let (outcome, sent) = traced(two());
    let behind_ack = WAY + 2 * 7_520 + CREDIT + 2 * DELAY;
    assert_eq!(departures(&sent, NodeId(2), 0), [0, behind_ack]);
    nothing_is_lost(&outcome);
    let mut spec = two();
    spec.failures = vec![glitch(NodeId(1), WAY + 7_520 + DELAY + 1_000)];
    let (outcome, sent) = traced(spec);
    let request = 1_000_000_000;
    assert_eq!(departures(&sent, NodeId(2), 0), [0, request + 4 * (CREDIT + DELAY)]);
    let counters = ["lost_on_links", "credits_sent", "credits_received"];
    assert_eq!(counters.map(|name| outcome.counter(name)), [1, 2, 1]);
    nothing_is_lost(&outcome);
}

/// The same with what a receiver does by itself. With slow credit of a packet, it gives that a packet time at the pace
/// after the credit that is lost, since no flow waits. With a timeout of credit of 20 us it repeats the total 20 us after
/// that. Either takes 413.44 ns to the sender, which has made no request until then.
#[test]
fn a_receiver_makes_up_for_lost_credit() {
    let base = rccc::Spec { base_rtt: Some(Duration::from_ns(1)), ..Default::default() };
    let slow = rccc::Spec { slow_credit: Bytes(WIRE), grant: Bytes(WIRE), ..base.clone() };
    let timeout = rccc::Spec { credit_timeout: Some(Duration::from_us(20)), ..base };
    for (rccc, later) in [(slow, PACED), (timeout, 20_000_000)] {
        let mut spec = ultra(star(2), vec![flow(0, 1, 2 * MTU, 0)], rccc);
        for profile in &mut spec.profiles {
            let uet = uet::Spec { ack_trigger: Bytes(0), ..Default::default() };
            profile.transport = transport::Spec::Uet(uet);
        }
        spec.failures = vec![glitch(NodeId(1), WAY + 7_520 + DELAY + 1_000)];
        let (outcome, sent) = traced(spec);
        let expected = WAY + later + 2 * (CREDIT + DELAY);
        assert_eq!(departures(&sent, NodeId(2), 0), [0, expected]);
        assert_eq!(outcome.counter("lost_on_links"), 1);
        let requests = sent.iter().filter(|of| matches!(of.packet.body, Body::Request { .. }));
        assert_eq!(requests.count(), 0);
        nothing_is_lost(&outcome);
    }
}

/// Packet 0 of host 0 is on the wire of the switch for 334.4 ns. 100 ns later a packet of host 1 comes and waits, and a
/// nanosecond after that one of host 3, for which there is no room: the queue holds one packet, 4160 bytes. It is all that
/// host 3 sends, so that no packet behind it asks for credit. The first credit is thrown away when the NACK comes, which
/// makes host 3 request credit at once. So nothing takes a millisecond, the timeout.
#[test]
fn a_trimmed_packet_without_others_behind_it_is_requested() {
    let flows = vec![flow(0, 2, 2 * MTU, 0), flow(1, 2, MTU, 100), flow(3, 2, MTU, 101)];
    let mut spec = ultra(star(4), flows, Default::default());
    trimming(&mut spec, 4_160);
    let (outcome, sent) = traced(spec);
    let switch = NodeId(4);
    let requests: Vec<u32> = sent
        .iter()
        .filter(|frame| matches!(frame.packet.body, Body::Request { .. }) && frame.to.0 == switch)
        .map(|frame| frame.packet.flow.0)
        .collect();
    let retransmitted = outcome.table("flows").u64s("retransmitted_packets").to_vec();
    println!("{retransmitted:?} {requests:?}");
    nothing_is_lost(&outcome);
    // Flows 1 and 2 have one packet each, of which one waits; that of the other is trimmed.
    assert_eq!(retransmitted[1] + retransmitted[2], 1);
    assert!(requests.contains(&if retransmitted[1] == 1 { 1 } else { 2 }), "{requests:?}");
    assert!(fct_ps(&outcome).into_iter().all(|fct| fct < 10 * LOOP), "{:?}", fct_ps(&outcome));
}

/// One host sends to four. Each receiver could give it a whole link, but a sender asks for its share: no more credit is
/// out than four maxima, and the NIC is never idle: all complete when the link has carried everything.
#[test]
fn an_outcast_shares_the_link_of_its_sender() {
    let flows = (1..5).map(|dst| flow(0, dst, 200 * MTU, 0)).collect();
    let outcome = run(ultra(star(5), flows, Default::default()));
    nothing_is_lost(&outcome);
    let last = fct_ps(&outcome).into_iter().max().unwrap();
    let link = 800 * FULL + WAY - FULL;
    assert!(last >= link && last < link + link / 50, "{last} {link}");
}

/// The first packets of each port are marked or not as its switch says.
#[test]
fn ports_to_hosts_need_not_mark() {
    let marked = |marks_to_hosts| {
        let mut spec = incast(4, 100, with_nscc());
        spec.switch.marks_to_hosts = marks_to_hosts;
        run(spec).counter("marked_packets")
    };
    assert!(marked(true) > 100);
    // Only headers, which trimming marks.
    let headers = {
        let mut spec = incast(4, 100, with_nscc());
        if let overflow::Spec::Trim(trim) = &mut spec.switch.overflow {
            trim.mark = false;
        }
        run(spec).counter("marked_packets")
    };
    assert_eq!(headers, 0);
}

/// All to one and a permutation in two tiers, with packets on many paths, beside TCP and RoCEv2.
fn mixed(change: impl Fn(&mut Spec)) -> Spec {
    let packets = |packets: u64| packets * MTU;
    let mut flows: Vec<FlowSpec> =
        (0..16).map(|src| flow(src, (src + 5) % 16, packets(100), 0)).collect();
    flows.extend((0..11).map(|src| flow(src, 15, packets(40), 3_000)));
    flows.extend((1..16).map(|src| flow(src, 0, packets(3), 9_000)));
    let others =
        (0..16).map(|src| FlowSpec { workload: 1, ..flow(src, (src + 3) % 16, 200_000, 0) });
    flows.extend(others);
    flows.sort_by_key(|flow| (flow.start, flow.src));
    let mut spec = ultra(clos(4, 4, 4), flows, with_nscc());
    trimming(&mut spec, 40_000);
    marking(&mut spec, 40_000);
    change(&mut spec);
    spec
}

fn on(threads: usize, spec: Spec) -> Outcome {
    let stop = AtomicBool::new(false);
    let run = Run { threads, stop: &stop, watch: &|_| {} };
    let outcome = Simulation::new(spec).run_with(&run);
    assert_eq!(outcome.violations, Vec::<String>::new());
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    outcome
}

/// Alone and with NSCC; with trimming, with lossless classes, or with neither; beside RoCEv2 and TCP: every flow completes,
/// and results are the same on any number of threads.
#[test]
fn results_do_not_depend_on_threads() {
    let lossless = |spec: &mut Spec| {
        spec.switch.overflow = Default::default();
        spec.switch.queue.size = Bytes(1_000_000);
        spec.switch.flow_control.pfc =
            Some(pfc::Spec { xoff: Bytes(100_000), ..Default::default() });
    };
    let short = |spec: &mut Spec| {
        spec.switch.overflow = Default::default();
        spec.switch.queue.size = Bytes(60_000);
    };
    let alone = |spec: &mut Spec| control(spec, congestion::Spec::Rccc(Default::default()));
    let beside_roce = |spec: &mut Spec| {
        spec.profiles[1].transport = transport::Spec::default();
        spec.profiles[1].congestion = congestion::Spec::Dcqcn(Default::default());
    };
    let beside_tcp = |spec: &mut Spec| {
        spec.profiles[1].transport = transport::Spec::Tcp(Default::default());
        spec.profiles[1].congestion = congestion::Spec::Cubic(Default::default());
        // It waits for 200 ms after a loss.
        spec.end = Duration::from_ms(3_000);
    };
    let all: [&dyn Fn(&mut Spec); 6] =
        [&|_| (), &lossless, &short, &alone, &beside_roce, &beside_tcp];
    for (number, change) in all.into_iter().enumerate() {
        let prints = [1, 2, 3, 8].map(|threads| on(threads, mixed(change)).fingerprint);
        assert_eq!(prints, [prints[0]; 4], "{number}");
    }
}

/// Each port of a host is paced by itself: two flows over two ports take as long as one alone.
#[test]
fn ports_of_a_host_are_paced_by_themselves() {
    let mut graph = Graph::default();
    (0..2).for_each(|host| _ = graph.add_host(&format!("host {host}"), 2));
    for port in 0..2 {
        let switch = graph.add(format!("switch {port}"), NodeKind::Switch { tier: 0 });
        [0, 2]
            .into_iter()
            .for_each(|host| graph.link(NodeId(host + port), switch, GBPS_100, NS_200));
    }
    let flows = vec![flow(0, 2, 100 * MTU, 0), flow(1, 3, 100 * MTU, 0)];
    let rccc = rccc::Spec { grant: Bytes(WIRE), ..Default::default() };
    let alone = LOOP + 94 * PACED + WAY;
    assert_eq!(fct_ps(&run(ultra(graph, flows, rccc))), [alone; 2]);
}
