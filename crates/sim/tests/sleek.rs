//! SLEEK, the inference of losses without trimming, with times by hand. A full packet takes 334.4 ns at 100 Gb/s, an
//! acknowledgement 7.52 ns and a probe 6.72 ns; links of 200 ns to a switch and from it. A round trip R of a packet and
//! its acknowledgement is 1483.84 ns, and 1.5 bandwidth-delay products are 27,822 bytes, 6.66 packets.

use crate::common::timeline::traced;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, Graph, NodeId, PortIx};
use floodway_sim::errors::Errors;
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, uet};
use floodway_sim::{Outcome, Sent, Spec};

const MTU: u64 = 4_096;
const FULL: u64 = 4_180 * 80;
const ACK: u64 = 94 * 80;
const PROBE: u64 = 84 * 80;
const DELAY: u64 = 200_000;
const WAY: u64 = 2 * (FULL + DELAY);
const ROUND_TRIP: u64 = WAY + 2 * (ACK + DELAY);

/// Host 0 sends so many packets to host 1, each of which is acknowledged, and these of the frames that it sends are lost.
fn losing(packets: u64, frames: &[u64], sleek: Option<uet::sleek::Spec>) -> Spec {
    let mut spec = plain(star(2), vec![flow(0, 1, packets * MTU, 0)]);
    for profile in &mut spec.profiles {
        let uet = uet::Spec { ack_trigger: Bytes(0), sleek: sleek.clone(), ..Default::default() };
        profile.transport = transport::Spec::Uet(uet);
    }
    spec.errors = vec![Errors {
        node: NodeId(0),
        port: PortIx(0),
        rate: 0.0,
        frames: frames.to_vec(),
        retry: None,
    }];
    spec
}

/// When the sender puts its data packets on the wire.
fn departures(sent: &[Sent]) -> Vec<u64> {
    let data = sent.iter().filter(|frame| frame.packet.is_data() && frame.to.0 == NodeId(2));
    data.map(|frame| frame.at.0).collect()
}

fn counters(outcome: &Outcome) -> [u64; 4] {
    ["inferred_losses", "requests_sent", "timeouts", "retransmitted_packets"]
        .map(|name| outcome.counter(name))
}

/// Packet k is lost. The acknowledgement of packet k + 7 reports seven packets above it, more than 6.66, and comes a round
/// trip after that began, in the middle of packet k + 11. The next one is packet k again, and the message is complete when
/// the link has carried one packet more than it has. Without inference, packet k is sent again a millisecond after it was.
#[test]
fn a_single_loss_takes_seven_packets_and_a_round_trip() {
    let (n, k) = (40, 10);
    let (outcome, sent) = traced(losing(n, &[k], Some(Default::default())));
    assert_eq!(departures(&sent), (0..=n).map(|packet| packet * FULL).collect::<Vec<_>>());
    let again = (k + 7) * FULL + ROUND_TRIP;
    let is_packet = |frame: &&Sent| match frame.packet.body {
        floodway_model::Body::Data { psn, .. } => frame.to.0 == NodeId(2) && u64::from(psn) == k,
        _ => false,
    };
    let times: Vec<u64> = sent.iter().filter(is_packet).map(|frame| frame.at.0).collect();
    assert_eq!(times, [k * FULL, again.div_ceil(FULL) * FULL]);
    assert_eq!(fct_ps(&outcome), [n * FULL + WAY]);
    assert_eq!(counters(&outcome), [1, 0, 0, 1]);
    let outcome = run(losing(n, &[k], None));
    assert_eq!(fct_ps(&outcome), [k * FULL + 1_000_000_000 + WAY]);
    assert_eq!(outcome.counter("timeouts"), 1);
}

/// Of n packets the last is lost. The last acknowledgement, of packet n - 2, comes at (n - 2) L + R, and a probe goes two
/// round trips later. Its answer takes the time of a probe and of an acknowledgement, and then the packet is sent again.
/// The second time, both the packet and what answers the first probe are lost: five round trips after the first probe
/// comes a second.
#[test]
fn a_lost_tail_is_found_by_a_probe() {
    let n = 5;
    let probe = (n - 2) * FULL + ROUND_TRIP + 2 * ROUND_TRIP;
    let answered = 2 * (PROBE + DELAY) + 2 * (ACK + DELAY);
    let (outcome, sent) = traced(losing(n, &[n - 1], Some(Default::default())));
    assert_eq!(departures(&sent).last(), Some(&(probe + answered)));
    assert_eq!(fct_ps(&outcome), [probe + answered + WAY]);
    assert_eq!(counters(&outcome), [1, 1, 0, 1]);
    // Frame n is the probe.
    let (outcome, _) = traced(losing(n, &[n - 1, n], Some(Default::default())));
    assert_eq!(fct_ps(&outcome), [probe + 5 * ROUND_TRIP + answered + WAY]);
    assert_eq!(counters(&outcome), [1, 2, 0, 1]);
}

/// Packets on four paths, one of which is 2 us longer, overtake up to so many others: 2 us at 100 Gb/s are 6 packets of
/// four. With the threshold of one window nothing is inferred, and without the window, from five packets on, it is.
#[test]
fn reordering_within_the_window_is_no_loss() {
    let mut graph = Graph::default();
    (0..2).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let ends: Vec<NodeId> =
        (0..2).map(|n| graph.add(format!("leaf {n}"), NodeKind::Switch { tier: 0 })).collect();
    (0..2).for_each(|n| graph.link(NodeId(n), ends[n as usize], GBPS_100, NS_200));
    for path in 0..4 {
        let spine = graph.add(format!("spine {path}"), NodeKind::Switch { tier: 1 });
        let delay = if path == 0 { Duration::from_ns(2_200) } else { NS_200 };
        graph.link(ends[0], spine, GBPS_100, delay);
        graph.link(spine, ends[1], GBPS_100, NS_200);
    }
    let inferred = |window_factor: f64| {
        let mut spec =
            losing(400, &[], Some(uet::sleek::Spec { window_factor, ..Default::default() }));
        spec.graph = graph.clone();
        spec.errors.clear();
        counters(&run(spec))
    };
    assert_eq!(inferred(1.5), [0; 4]);
    assert!(inferred(0.1)[0] > 0);
}

/// Eight flows of 2,000 packets between hosts of their own, with the window of NSCC, 1.5 round trips, on links with a bit
/// error rate of 1e-7 at the senders: one packet in 300 is lost, 53 of all with a deviation of 7. A message takes 669 us. With
/// inference, each loss costs a few packets, unless a packet is lost twice, which happens once in five or six runs. Without, it costs
/// up to a millisecond.
#[test]
fn losses_by_bit_errors_need_no_timeouts() {
    let lossy = |sleek: bool| {
        let flows = (0..8).map(|src| flow(src, src + 8, 2_000 * MTU, 0)).collect();
        let mut spec = plain(star(16), flows);
        for profile in &mut spec.profiles {
            let sleek = sleek.then(Default::default);
            profile.transport = transport::Spec::Uet(uet::Spec { sleek, ..Default::default() });
        }
        control(&mut spec, congestion::Spec::Nscc(Default::default()));
        let errors = |node| {
            let (node, port) = (NodeId(node), PortIx(0));
            Errors { node, port, rate: 1e-7, frames: Vec::new(), retry: None }
        };
        spec.errors = (0..8).map(errors).collect();
        let outcome = run(spec);
        assert_eq!(outcome.counter("flows_unfinished"), 0);
        let last = fct_ps(&outcome).into_iter().max().unwrap();
        (outcome.counter("timeouts"), last, outcome.counter("lost_to_errors"))
    };
    let (with, without) = (lossy(true), lossy(false));
    println!("{with:?} {without:?}");
    assert!((18..88).contains(&with.2) && (18..88).contains(&without.2), "{with:?} {without:?}");
    assert!(with.0 <= 2 && with.1 < 800_000_000 + with.0 * 1_000_000_000, "{with:?}");
    assert!(without.0 >= 18 && without.1 > 1_500_000_000, "{without:?}");
}
