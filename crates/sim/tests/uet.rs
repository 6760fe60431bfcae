//! Ultra Ethernet in a network, with what can be computed by hand. A full packet has 4160 bytes, 4180 with preamble and
//! gap, which take 334.4 ns at 100 Gb/s. Between two hosts with a switch and links of 200 ns, the round trip of a packet
//! and of its acknowledgement, 94 bytes, is 2 · (334.4 + 200) + 2 · (7.52 + 200) = 1483.84 ns: 4.44 packets.

use std::collections::BTreeSet;

use crate::common::timeline::traced;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx, Rate};
use floodway_sim::delays::Sample;
use floodway_sim::failure::Failure;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, uet};
use floodway_sim::switch::aqm::{self, ramp};
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::{Sent, Spec};

const MTU: u64 = 4_096;
const FULL: u64 = 4_180 * 80;
const DELAY: u64 = 200_000;

/// Flows of Ultra Ethernet at line rate.
fn ultra(graph: Graph, flows: Vec<FlowSpec>, change: impl Fn(&mut uet::Spec)) -> Spec {
    let mut spec = plain(graph, flows);
    for profile in &mut spec.profiles {
        let mut transport = uet::Spec::default();
        change(&mut transport);
        profile.transport = transport::Spec::Uet(transport);
    }
    spec
}

fn nscc(spec: &mut Spec) {
    control(spec, congestion::Spec::Nscc(Default::default()));
}

/// Switches mark from a fifth to four fifths of the bandwidth-delay product, and trim above it.
fn marked_and_trimmed(spec: &mut Spec, bdp: u64) {
    spec.switch.aqm = aqm::Spec::Ramp(ramp::Spec {
        kmin: Bytes(bdp / 5),
        kmax: Bytes(bdp * 4 / 5),
        pmax: 1.0,
        ..Default::default()
    });
    let threshold = Some(Bytes(bdp));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec { threshold, ..Default::default() });
}

/// Acknowledgements that reach this host.
fn acks(sent: &[Sent], host: u32) -> usize {
    let is_ack = |frame: &&Sent| {
        frame.to.0 == NodeId(host) && matches!(frame.packet.body, Body::UetAck { .. })
    };
    sent.iter().filter(is_ack).count()
}

/// The n-th packet leaves after n - 1 others, and takes two links. At line rate the window does not matter; with NSCC
/// it is 1.5 round trips and fills the path, if every packet is acknowledged.
#[test]
fn a_flow_alone_takes_as_long_as_its_packets() {
    for packets in [1, 4, 10, 100] {
        let expected = (packets - 1) * FULL + 2 * (FULL + DELAY);
        let alone =
            |change: fn(&mut uet::Spec)| ultra(star(2), vec![flow(0, 1, packets * MTU, 0)], change);
        let (outcome, sent) = traced(alone(|_| ()));
        assert_eq!(fct_ps(&outcome), [expected]);
        // One acknowledgement for four packets, and for the last one, before which the run may end.
        let count = packets.div_ceil(4);
        assert!((count - 1..=count).contains(&(acks(&sent, 0) as u64)));
        let mut spec = alone(|uet| uet.ack_trigger = Bytes(0));
        nscc(&mut spec);
        let (outcome, sent) = traced(spec);
        assert_eq!(fct_ps(&outcome), [expected]);
        assert!((packets - 1..=packets).contains(&(acks(&sent, 0) as u64)));
    }
}

/// So many hosts send to the last one through links of 2 us: the round trip is 8.68 us, or 108.5 KB.
fn incast(senders: u32, bytes: u64) -> Spec {
    let mut graph = Graph::default();
    for host in 0..=senders {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    for host in 0..=senders {
        graph.link(NodeId(host), switch, Rate::from_gbps(100), Duration::from_us(2));
    }
    let flows = (0..senders).map(|src| flow(src, senders, bytes, 0)).collect();
    let mut spec = ultra(graph, flows, |_| ());
    nscc(&mut spec);
    marked_and_trimmed(&mut spec, 108_500);
    spec
}

/// The link of the receiver cannot carry everything sooner than one packet after the other, and everything trimmed is
/// sent again once. These are exact. How far completion is above that bound is not derived: 8 % is what uet-htsim
/// (commit 40ccb05) needs at most in incasts, and 20 % for two senders is a regression value, measured here as 9 %.
/// There the flow that remains had a quarter of the link, and its window first has to grow.
#[test]
fn an_incast_keeps_the_link_busy() {
    for senders in [2, 4, 8, 16, 32] {
        let outcome = run(incast(senders, 400 * MTU));
        let bound = u64::from(senders) * 400 * FULL + 2 * 2_000_000 + FULL;
        let last = fct_ps(&outcome).into_iter().max().unwrap();
        let ratio = last as f64 / bound as f64;
        let trimmed = outcome.counter("trimmed_packets");
        println!("{senders} senders: {ratio:.4}, {trimmed} trimmed");
        let most = if senders > 2 { 1.08 } else { 1.2 };
        assert!((1.0..most).contains(&ratio), "{senders}: {ratio}");
        let names = ["retransmitted_packets", "headers_received"];
        assert_eq!(names.map(|name| outcome.counter(name)), [trimmed; 2]);
        let none = ["timeouts", "dropped_packets", "flows_unfinished"];
        assert_eq!(none.map(|name| outcome.counter(name)), [0; 3]);
    }
}

/// If both windows grow by the same amount, which is at least eta per round trip, and shrink by the same factor, the
/// difference of two windows decays with a time constant of at most window / eta round trips. A round trip is 26 packets and the queue has up to
/// as many, so a window is at most 26 on average, and eta is 0.15 · 108.5 / 150 = 0.1085 packets: 240 round trips, 2.08
/// ms. Whatever the shares are in the beginning, after 3 ms they differ by at most exp(-3 / 2.08) = 0.236, which is
/// 0.618 to 0.382.
///
/// Senders in step are trimmed unequally: the packets of one always find the queue just filled by one of the other. The
/// early share follows from the packets that each loses, which take their size off a window of 1.5 · 108.5 KB.
#[test]
fn the_shares_of_two_flows_converge() {
    let (outcome, sent) = traced(incast(2, 8_000 * MTU));
    let share = |from: u64| {
        let mut packets = [0_u32; 2];
        for frame in &sent {
            let at = frame.at.0 / 1_000_000;
            if (from..from + 1_000).contains(&at)
                && frame.to.0 == NodeId(2)
                && frame.packet.is_data()
            {
                packets[frame.packet.flow.0 as usize] += 1;
            }
        }
        f64::from(packets[0].max(packets[1])) / f64::from(packets[0] + packets[1])
    };
    // Neither has ended.
    assert!(fct_ps(&outcome).into_iter().all(|fct| fct > 4_000_000_000));
    let (early, late) = (share(0), share(3_000));
    println!("{early} {late}");
    let trimmed = outcome.table("flows").u64s("retransmitted_packets");
    let window = |packets: u64| 162_750.0 - packets as f64 * 4_180.0;
    let expected =
        window(trimmed[0]).max(window(trimmed[1])) / (window(trimmed[0]) + window(trimmed[1]));
    assert!((early - expected).abs() < 0.02, "{early} {expected} {trimmed:?}");
    assert!(late < 0.618 && late < early, "{early} {late}");
}

/// Every host of the first leaf sends to one of the second, over as many spines: the paths can carry all of it.
fn permutation(values: u32) -> (Vec<u64>, Vec<Sent>) {
    let flows = (0..8).map(|src| flow(src, 8 + src, 500 * MTU, 0)).collect();
    let mut spec = ultra(clos(2, 8, 8), flows, |uet| uet.entropy.values = values);
    nscc(&mut spec);
    marked_and_trimmed(&mut spec, 36_000);
    let (outcome, sent) = traced(spec);
    (fct_ps(&outcome), sent)
}

/// With one entropy value, flows collide by chance. If most flows at a spine are `m`, the link to it has to carry all
/// packets of these: no control can complete the last of them sooner. With 64 values it completes sooner than that, and
/// no sooner than a flow alone. How close it gets to that is measured only: 0.80.
#[test]
fn entropy_spreads_flows_over_paths() {
    let (one, sent) = permutation(1);
    // Nodes 18 to 25.
    let flows_at = |spine: u32| {
        let is_there = |frame: &&Sent| frame.to.0 == NodeId(spine) && frame.packet.is_data();
        sent.iter().filter(is_there).map(|frame| frame.packet.flow.0).collect::<BTreeSet<_>>().len()
    };
    let flows: Vec<_> = (18..26).map(flows_at).collect();
    assert_eq!(flows.iter().sum::<usize>(), 8, "one path each: {flows:?}");
    let most = *flows.iter().max().unwrap() as u64;
    assert!(most > 1, "{flows:?}");
    let through_a_link_of = |flows: u64| flows * 500 * FULL + 3 * FULL + 4 * DELAY;
    let slowest = |fct: Vec<u64>| fct.into_iter().max().unwrap();
    let (one, many) = (slowest(one), slowest(permutation(64).0));
    let (alone, collided) = (through_a_link_of(1), through_a_link_of(most));
    println!("{flows:?} {} {}", alone as f64 / many as f64, alone as f64 / one as f64);
    assert!(one >= collided, "{one} {collided}");
    assert!((alone..collided).contains(&many), "{alone} {many} {collided}");
}

/// Acknowledgements that come by several paths overtake each other, and many acknowledge the same behind a gap. Each is
/// followed by itself, so that parts add up, which the simulator checks, and following them changes nothing.
#[test]
fn delays_of_sprayed_packets_add_up() {
    let pairs = (0..32).flat_map(|src| [(src, (src + 8) % 32), (src, (src * 5 + 11) % 32)]);
    let flows = pairs.map(|(src, dst)| flow(src, dst, 100 * MTU, 0)).collect();
    let mut spec = ultra(clos(4, 4, 8), flows, |uet| uet.ack_trigger = Bytes(0));
    nscc(&mut spec);
    marked_and_trimmed(&mut spec, 36_000);
    let plain = run(spec.clone());
    assert!(plain.counter("trimmed_packets") > 0);
    spec.explained = Some(Sample { flows: 64, share: 1.0 });
    let explained = run(spec);
    assert_eq!(explained.fingerprint, plain.fingerprint);
    assert_eq!(explained.table("explained").rows(), 64);
}

/// One entropy value is the path of the flow, whatever else the packet carries: RoCEv2 takes the same.
#[test]
fn one_value_takes_the_path_of_the_flow() {
    let spines = |spec: Spec| {
        let (_, sent) = traced(spec);
        // Nodes 18 to 25.
        let is_there = |frame: &&Sent| frame.to.0 >= NodeId(18) && frame.packet.is_data();
        sent.iter().filter(is_there).map(|frame| frame.to.0).collect::<BTreeSet<_>>()
    };
    let flows = || vec![flow(0, 8, 100 * MTU, 0)];
    let own = spines(plain(clos(2, 8, 8), flows()));
    assert_eq!(own.len(), 1);
    let single = ultra(clos(2, 8, 8), flows(), |uet| uet.entropy.values = 1);
    assert_eq!(spines(single), own);
    let sprayed = ultra(clos(2, 8, 8), flows(), |_| ());
    assert_eq!(spines(sprayed).len(), 8);
}

/// A failed link loses 8 packets. Each times out 1 ms after it was sent and is sent again at once, so that the flow takes
/// 1 ms longer than without the failure.
#[test]
fn a_burst_that_was_lost_together_is_repeated_in_the_same_rhythm() {
    let mut spec = ultra(star(2), vec![flow(0, 1, 8 * MTU, 0)], |_| ());
    spec.failures = vec![Failure {
        node: NodeId(1),
        port: PortIx(0),
        at: Instant::ZERO,
        until: Instant(50_000_000),
        detection: Duration::from_us(10),
    }];
    let outcome = run(spec);
    assert_eq!(fct_ps(&outcome), [1_000_000_000 + 7 * FULL + 2 * (FULL + DELAY)]);
    let counted = ["retransmitted_packets", "timeouts", "lost_on_links"];
    assert_eq!(counted.map(|name| outcome.counter(name)), [8; 3]);
}

/// Every host sends eight packets to every other at once. Windows shrink to a packet while three are in flight that have
/// arrived, which are too few for an acknowledgement: the sender requests one, and no packet has to time out. The bound is
/// that of the links; how far completion is from it is measured only.
#[test]
fn an_all_to_all_has_no_timeout() {
    let pairs = (0..32).flat_map(|src| (0..32).map(move |dst| (src, dst)));
    let flows = pairs.filter(|(src, dst)| src != dst).map(|(src, dst)| flow(src, dst, 8 * MTU, 0));
    let mut spec = ultra(clos(4, 8, 8), flows.collect(), |_| ());
    nscc(&mut spec);
    marked_and_trimmed(&mut spec, 36_000);
    let (outcome, sent) = traced(spec);
    let none = ["timeouts", "dropped_packets", "flows_unfinished"];
    assert_eq!(none.map(|name| outcome.counter(name)), [0; 3]);
    let is_request = |frame: &&Sent| matches!(frame.packet.body, Body::Request { .. });
    let from_hosts = sent.iter().filter(is_request).filter(|frame| frame.to.0.0 < 36);
    let last = fct_ps(&outcome).into_iter().max().unwrap() as f64;
    println!("{} requests, {:.3} of the bound", from_hosts.count(), last / (31 * 8 * FULL) as f64);
    assert!(outcome.counter("trimmed_packets") > 100);
}
