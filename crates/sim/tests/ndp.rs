//! NDP: pulls of the receiver, with what can be computed by hand. A full packet of RoCEv2 has 1106 bytes on the
//! wire, 88.48 ns at 100 Gb/s; acknowledgements and pulls have 86, 6.88 ns.

use std::sync::atomic::AtomicBool;

use crate::common::timeline::traced;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Body, Bytes, Duration, FlowSpec, Graph, Instant, NodeId, PortIx};
use floodway_sim::Sent;
use floodway_sim::failure::Failure;
use floodway_sim::host::congestion::{self, ndp};
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::simulation::Run;
use floodway_sim::switch::overflow::{self, trim};
use floodway_sim::switch::path;
use floodway_sim::{Outcome, Simulation, Spec};

const FRAME: u64 = 1_086;
/// Full packets, headers and short frames on a wire of 100 Gb/s, in picoseconds.
const FULL: u64 = 1_106 * 80;
const HEADER: u64 = 84 * 80;
const ACK: u64 = 86 * 80;
/// A link's delay.
const DELAY: u64 = 200_000;
/// From the beginning of a packet to its arrival, through one switch.
const WAY: u64 = 2 * (FULL + DELAY);
/// From the beginning of a packet to the arrival of the pull that answers it, behind the acknowledgement.
const PULL: u64 = WAY + ACK + 2 * (ACK + DELAY);

/// NDP with this first window, with selective repeat, and in switches that trim beyond 8 packets (NDP, section 3.1).
fn ndp(graph: Graph, flows: Vec<FlowSpec>, initial_window: Option<u32>) -> Spec {
    let mut spec = plain(graph, flows);
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(Default::default());
    });
    control(&mut spec, congestion::Spec::Ndp(ndp::Spec { initial_window }));
    spec.switch.overflow = overflow::Spec::Trim(trim::Spec {
        threshold: Some(Bytes(8 * FRAME)),
        ..Default::default()
    });
    spec
}

fn packets(packets: u64) -> u64 {
    packets * 1_024
}

fn is_pull(frame: &Sent) -> bool {
    matches!(frame.packet.body, Body::Credit { .. })
}

fn nothing_is_lost(outcome: &Outcome) {
    let none = ["timeouts", "dropped_packets", "headers_dropped", "flows_unfinished"];
    assert_eq!(none.map(|name| outcome.counter(name)), [0; 4]);
}

/// The round trip of a packet and its acknowledgement is 990.72 ns, 11.2 packets; 12 begin in it, and one more
/// is the first window. The first pull is back after 997.60 ns, before the 13th packet has been sent, and from
/// then on one comes per packet. So the flow is as fast as at line rate.
#[test]
fn a_flow_on_an_idle_path_has_line_rate() {
    for n in [1, 12, 13, 14, 100, 1_000] {
        let outcome = run(ndp(star(2), vec![flow(0, 1, packets(n), 0)], None));
        assert_eq!(fct_ps(&outcome), [(n - 1) * FULL + WAY], "{n} packets");
        nothing_is_lost(&outcome);
        // Each packet is answered by a pull but the one that completes the message. The run ends with that.
        assert_eq!(outcome.counter("credits_sent"), n - 1);
    }
}

/// With a window of w packets that end before the first pull is back, at 997.60 ns, w are sent per round trip.
#[test]
fn a_short_first_window_sends_so_much_per_round_trip() {
    assert_eq!(PULL, 997_600);
    for (window, n) in [(1, 1), (1, 2), (1, 50), (5, 50), (11, 110)] {
        let outcome = run(ndp(star(2), vec![flow(0, 1, packets(n), 0)], Some(window as u32)));
        let (rounds, last) = ((n - 1) / window, (n - 1) % window);
        let expected = rounds * PULL + last * FULL + WAY;
        assert_eq!(fct_ps(&outcome), [expected], "{n} packets, {window} per round trip");
    }
}

/// Two hosts begin at once and fill the link from 288.48 ns on, without a gap: the last of 2n packets arrives 2n packet
/// times after that and after the delay, the last of the other flow one earlier. Pulls alternate, since packets do. With
/// 13 packets each at twice the link's rate 13 wait; here they find room.
#[test]
fn two_flows_to_one_receiver_have_half_each() {
    let n = 200;
    let flows = vec![flow(0, 2, packets(n), 0), flow(1, 2, packets(n), 0)];
    let mut spec = ndp(star(3), flows, None);
    spec.switch.overflow = overflow::Spec::default();
    let (outcome, sent) = traced(spec);
    let all = FULL + DELAY + 2 * n * FULL + DELAY;
    let mut found = fct_ps(&outcome);
    found.sort_unstable();
    assert_eq!(found, [all - FULL, all]);
    let pulls: Vec<(u32, u64)> = sent
        .iter()
        .filter(|frame| is_pull(frame) && frame.packet.src == NodeId(2) && frame.to.0 == NodeId(3))
        .map(|frame| (frame.packet.flow.0, frame.at.0))
        .collect();
    assert!(pulls.len() as u64 >= 2 * n - 2);
    assert!(pulls.windows(2).all(|pair| pair[0].0 != pair[1].0), "pulls alternate");
    assert!(pulls.windows(2).all(|pair| pair[1].1 - pair[0].1 == FULL), "one per packet time");
}

/// N hosts send 64 packets each at once to one, with a first window of W = 13, and queues of 8.
///
/// All N W packets come within 13 packet times. In the first, 9 find room: one on the wire and 8 in the queue. With
/// more than 13.2 senders headers take the whole link from then on, until they are drained. Pulls begin when the first
/// packet has arrived, so that one more packet per packet time comes from 11.3 packet times on, and is trimmed as
/// long as headers wait: x packet times, where
///
///   N W - 9 + (x - 11.3) headers of 84 bytes  =  (x - 1) full packets of 1106.
///
/// With 8 senders data has (S - 8 H) / (S - H) = 0.425 of the first 13 packet times, so 9 + 0.425 * 12 = 14.1 find room.
///
/// The link is busy from 288.48 ns to the end, with 64 N packets and the headers, but for the pulls that ask a
/// flow for more than it has: it still gets its turn while its last packets are on their way. That is 11.3 packet
/// times and 9 in the queue, in which each of the N flows has 20.3 / N turns, and one more for rounding: at most N + 21
/// packet times in all.
#[test]
fn an_incast_fills_the_link() {
    for senders in [8, 32, 128] {
        let n = u64::from(senders);
        let flows = (0..senders).map(|src| flow(src, senders, packets(64), 0)).collect();
        let mut spec = ndp(star(senders + 1), flows, None);
        spec.switch.queue.control_size = Bytes(1 << 20);
        let outcome = run(spec);
        nothing_is_lost(&outcome);
        let (full, header, first) = (1_106.0, 84.0, 13.0 * f64::from(senders));
        let expected = if senders < 13 {
            let share = (full - f64::from(senders) * header) / (full - header);
            first - 9.0 - 12.0 * share
        } else {
            let x = ((first - 9.0 - 11.3) * header + full) / (full - header);
            first - 9.0 + x - 11.3
        };
        let trimmed = outcome.counter("trimmed_packets");
        let busy = |headers: f64| (64 * n) as f64 + headers * HEADER as f64 / FULL as f64;
        let last = fct_ps(&outcome).into_iter().max().unwrap();
        // From the first bit at the switch to the last one that leaves it.
        let took = (last - (FULL + DELAY) - DELAY) as f64 / FULL as f64;
        let idle = took - busy(trimmed as f64);
        println!(
            "{senders} senders: {} ns, {trimmed} trimmed; by hand {expected:.1}, and {:.1} packet times less; idle \
             for {idle:.1}",
            last / 1_000,
            took - busy(expected)
        );
        let tolerance = 0.02 * expected + 4.0;
        assert!((trimmed as f64 - expected).abs() <= tolerance, "{trimmed}, {expected}");
        assert!((-1e-6..=(n + 21) as f64).contains(&idle), "{idle}");
        let by_hand = busy(expected - tolerance)..=busy(expected + tolerance) + (n + 21) as f64;
        assert!(by_hand.contains(&took), "{took}, not {by_hand:?}");
        assert_eq!(outcome.counter("retransmitted_packets"), trimmed);
    }
}

/// The incast of `trimming.rs`, 32 hosts with 64 packets each into a queue of 16, which the link carries in 181 us.
/// Without congestion control it takes 6.7 ms there, with DCQCN 0.34 ms. With pulls it is as above, less than 5 % more than the
/// data.
#[test]
fn pulls_save_trimming_from_congestion_collapse() {
    let spec = |congestion| {
        let flows = (0..32).map(|src| flow(src, 32, packets(64), 0)).collect();
        let mut spec = ndp(star(33), flows, None);
        spec.switch.queue.size = Bytes(16 * FRAME);
        spec.switch.overflow = overflow::Spec::Trim(Default::default());
        control(&mut spec, congestion);
        spec
    };
    let line_rate = congestion::Spec::LineRate(Default::default());
    let dcqcn = congestion::Spec::Dcqcn(Default::default());
    let with_pulls = congestion::Spec::Ndp(Default::default());
    let last = |congestion| fct_ps(&run(spec(congestion))).into_iter().max().unwrap() / 1_000;
    let [line_rate, dcqcn, with_pulls] = [line_rate, dcqcn, with_pulls].map(last);
    println!(
        "the last flow ends after {line_rate} ns, {dcqcn} ns with DCQCN, {with_pulls} ns with pulls"
    );
    let link = 32 * 64 * FULL / 1_000;
    assert!(with_pulls < link + link / 20 && with_pulls < dcqcn && dcqcn < line_rate);
}

/// Two hosts and a switch with links of 5 ns. A packet arrives 186.96 ns after it began, and its pull 217.60 ns after
/// it began. With a first window of 2 that is a pair of packets every 217.60 ns.
///
/// Packet 1 arrives at 275.44. Its acknowledgement is on the link to the switch until 287.32, its pull, the second, until
/// 294.20, and the next packet from 311.08 on. The link fails at 287.5 for 1 ns, so that pull 2 is lost and nothing else.
/// Then packet 3 is not sent at 306.08. Pull 3, of packet 2, comes at 435.20 and asks for two: packet 3 is sent
/// then, and packet 4 right after it. So packet 5 is sent at 652.80 instead of 523.68.
#[test]
fn the_next_pull_makes_up_for_a_lost_one() {
    let mut graph = Graph::default();
    let ends = ["sender", "receiver"].map(|name| graph.add(name, NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    ends.iter().for_each(|&host| graph.link(host, switch, GBPS_100, Duration::from_ns(5)));
    let flows = || vec![flow(0, 1, packets(6), 0)];
    let mut spec = ndp(graph, flows(), Some(2));
    assert_eq!(fct_ps(&run(spec.clone())), [523_680 + 186_960]);
    spec.failures = vec![glitch(ends[1], 287_500)];
    let (outcome, sent) = traced(spec);
    let from_sender = |frame: &&Sent| frame.packet.is_data() && frame.to.0 == switch;
    let begun: Vec<u64> = sent.iter().filter(from_sender).map(|frame| frame.at.0).collect();
    assert_eq!(begun, [0, FULL, 217_600, 435_200, 435_200 + FULL, 652_800]);
    assert_eq!(fct_ps(&outcome), [652_800 + 186_960]);
    let counters = ["credits_sent", "credits_received", "lost_on_links", "timeouts"];
    assert_eq!(counters.map(|name| outcome.counter(name)), [5, 4, 1, 0]);
}

/// The link of a host loses what is on it for 1 ns, which no node notices.
fn glitch(node: NodeId, at: u64) -> Failure {
    let (at, until) = (Instant(at), Instant(at + 1_000));
    Failure { node, port: PortIx(0), at, until, detection: Duration::from_ms(1) }
}

/// If all pulls are lost that are on their way, none makes up for them. With a first window of 1 the
/// acknowledgement of packet 0 is at the switch at 783.84 ns and the pull at 790.72: it is lost at 784. The sender hears the
/// acknowledgement at 990.72 and waits for 100 us, the timeout of selective repeat with few packets in flight; then it sends
/// packet 1, which arrives 576.96 ns later.
#[test]
fn the_timeout_makes_up_for_the_last_pull() {
    let mut spec = ndp(star(2), vec![flow(0, 1, packets(2), 0)], Some(1));
    spec.failures = vec![glitch(NodeId(1), 784_000)];
    let outcome = run(spec);
    assert_eq!(fct_ps(&outcome), [990_720 + 100_000_000 + WAY]);
    assert_eq!(outcome.counter("timeouts"), 1);
}

/// Flows that never end, of all hosts to one, share its link by turns of pulls: they have delivered the same but for
/// two rounds of 12 packets after 1 ms, and together what the link carries, but for headers and the first round trip.
#[test]
fn long_flows_share_the_link_of_their_receiver() {
    let flows = (0..12).map(|src| flow(src, 12, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = ndp(star(13), flows, None);
    (spec.end, spec.measured_until) = (Duration::from_ms(1), Duration::from_ms(1));
    let outcome = run(spec);
    nothing_is_lost(&outcome);
    let delivered = outcome.table("flows").u64s("delivered_bytes").to_vec();
    let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
    let payload = 100e9 / 8.0 * 1e-3 * 1_024.0 / 1_106.0;
    let share = delivered.iter().sum::<u64>() as f64 / payload;
    println!("{share:.4} of the link, {} packets apart", (most - least) / 1_024);
    assert!(most - least <= packets(2 * 12));
    // 12 * 13 headers, the way of the first packet, and the end: 24 packets of 11302.
    assert!(share > 1.0 - 24.0 / 11_302.0 && share <= 1.0, "{share}");
}

/// Incasts and a permutation through two tiers, with packets on random paths: nothing is lost, and results are the same on any
/// number of threads.
fn sprayed() -> Spec {
    let mut flows: Vec<FlowSpec> =
        (0..16).map(|src| flow(src, (src + 5) % 16, packets(100), 0)).collect();
    flows.extend((0..11).map(|src| flow(src, 15, packets(40), 3_000)));
    flows.extend((1..16).map(|src| flow(src, 0, packets(3), 9_000)));
    let mut spec = ndp(clos(4, 4, 4), flows, None);
    spec.switch.path = path::Spec::Spray(Default::default());
    rocev2(&mut spec, |rocev2| {
        let reordering = Duration::from_us(20);
        rocev2.recovery = recovery::Spec::SelectiveRepeat(recovery::selective_repeat::Spec {
            reordering,
            ..Default::default()
        });
    });
    spec
}

#[test]
fn on_random_paths_only_trimmed_packets_are_sent_again() {
    let outcome = run(sprayed());
    nothing_is_lost(&outcome);
    let trimmed = outcome.counter("trimmed_packets");
    assert!(trimmed > 0 && outcome.counter("reordered_packets") > 0);
    assert_eq!(outcome.counter("retransmitted_packets"), trimmed);
}

#[test]
fn results_do_not_depend_on_threads() {
    let on = |threads| {
        let stop = AtomicBool::new(false);
        let run = Run { threads, stop: &stop, watch: &|_| {} };
        Simulation::new(sprayed()).run_with(&run).fingerprint
    };
    let one = on(1);
    assert_eq!([2, 3, 8].map(on), [one; 3]);
}
