//! The choice among equal ways, in networks of two leaves and a few spines where what comes out can
//! be told beforehand.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::Outcome;
use floodway_sim::host::congestion::{self, constant_rate};
use floodway_sim::host::transport::rocev2::recovery::{self, selective_repeat};
use floodway_sim::switch::path::{self, d_mod_k, ecmp, flowlet, least_loaded, spray};

/// A full packet at 100 Gb/s, with preamble and gap.
const FULL: u64 = (1_024 + 62 + 20) * 80;

fn in_turn() -> path::Spec {
    path::Spec::Spray(spray::Spec { order: spray::Order::RoundRobin })
}

/// Frames that leaf 0 sent to each spine.
fn uplinks(outcome: &Outcome) -> Vec<u64> {
    let links = outcome.table("links");
    let rows = links.texts("node").iter().zip(links.texts("peer")).zip(links.u64s("frames"));
    rows.filter(|((node, peer), _)| *node == "leaf 0" && peer.starts_with("spine"))
        .map(|(_, frames)| *frames)
        .collect()
}

/// Two hosts of a leaf send at once to two of the other.
fn two_flows(packets: u64) -> Vec<FlowSpec> {
    vec![flow(0, 2, packets * 1_024, 0), flow(1, 3, packets * 1_024, 0)]
}

#[test]
fn what_looks_at_its_queues_or_takes_turns_has_no_collisions() {
    // Packets come to leaf 0 two by two and there are two uplinks: nothing ever waits, and both
    // flows are as fast as alone: 3 hops of a packet behind all at the first.
    let all = path::Spec::LeastLoaded(least_loaded::Spec::default());
    for path in [in_turn(), all] {
        let mut spec = plain(clos(2, 2, 2), two_flows(500));
        spec.switch.path = path;
        let outcome = run(spec);
        assert_eq!(fct_ps(&outcome), [503 * FULL + 4 * 200_000; 2]);
        assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0; 2]);
        assert_eq!(outcome.counter("reordered_packets"), 0);
        assert_eq!(uplinks(&outcome).iter().sum::<u64>(), 1_000);
    }
    // By hash they meet on one link or they do not, and then the link is shared.
    let times: Vec<Vec<u64>> = (0..20)
        .map(|shift| {
            // Flows have the numbers of their order: others before them change the hash.
            let mut flows: Vec<_> = (0..shift).map(|_| flow(0, 1, 1, 0)).collect();
            flows.extend(
                two_flows(500)
                    .into_iter()
                    .map(|flow| FlowSpec { start: floodway_model::Instant(100_000_000), ..flow }),
            );
            fct_ps(&run(plain(clos(2, 2, 2), flows)))[shift..].to_vec()
        })
        .collect();
    let alone = 503 * FULL + 4 * 200_000;
    let apart = times.iter().filter(|times| **times == [alone; 2]).count();
    // The last packet of one waits for those of both.
    let shared = times.iter().filter(|times| times[0].max(times[1]) == alone + 500 * FULL).count();
    assert_eq!(apart + shared, 20);
    // A half each, standard deviation 2.2.
    assert!((1..20).contains(&apart), "{apart}");
}

#[test]
fn turns_are_even_to_a_packet() {
    let mut spec = plain(clos(2, 5, 2), two_flows(501));
    spec.switch.path = in_turn();
    let mut frames = uplinks(&run(spec));
    frames.sort_unstable();
    // 1002 over five.
    assert_eq!(frames, [200, 200, 200, 201, 201]);
}

#[test]
fn the_destination_alone_decides_by_its_number() {
    // Hosts 8 to 15 hang on leaf 1. Over 4 spines 9, 14 and 15 go by 1, 2 and 3, whoever sends, and
    // 11 by that of 15; nothing goes by 0.
    let packets = [(0, 9, 3), (1, 14, 5), (2, 15, 7), (3, 15, 1), (3, 11, 11)];
    let flows = packets.map(|(src, dst, packets)| flow(src, dst, packets * 1_024, 0)).to_vec();
    let mut spec = plain(clos(2, 4, 8), flows);
    spec.switch.path = path::Spec::DModK(d_mod_k::Spec {});
    assert_eq!(uplinks(&run(spec)), [0, 3, 5, 7 + 1 + 11]);
}

/// One flow of 1000 packets, each 8.848 us after the one before: 1106 bytes at 1 Gb/s.
fn paced(gap: Duration) -> Vec<u64> {
    let mut spec = plain(clos(2, 4, 1), vec![flow(0, 1, 1_000 * 1_024, 0)]);
    let constant = constant_rate::Spec { rate: Rate::from_gbps(1) };
    control(&mut spec, congestion::Spec::ConstantRate(constant));
    spec.switch.path = path::Spec::Flowlet(flowlet::Spec { gap, ..Default::default() });
    // Nothing is late enough to be overtaken.
    let outcome = run(spec);
    assert_eq!(outcome.counter("reordered_packets"), 0);
    uplinks(&outcome)
}

#[test]
fn flowlets_are_what_a_gap_cuts_off() {
    let mut frames = paced(Duration::from_ns(8_848));
    frames.sort_unstable();
    assert_eq!(frames, [0, 0, 0, 1_000]);
    let frames = paced(Duration::from_ns(8_847));
    // 250 each, standard deviation 13.7.
    assert!(frames.iter().all(|n| (180..320).contains(n)), "{frames:?}");
}

#[test]
fn spraying_is_even_at_random() {
    let mut spec = plain(clos(2, 4, 2), two_flows(2_000));
    spec.switch.path = path::Spec::Spray(spray::Spec::default());
    rocev2(&mut spec, |rocev2| rocev2.recovery = tolerant(Duration::from_us(200)));
    let frames = uplinks(&run(spec));
    // 1000 each, standard deviation 27.4.
    assert!(frames.iter().all(|n| (863..1137).contains(n)), "{frames:?}");
}

fn tolerant(reordering: Duration) -> recovery::Spec {
    let spec = selective_repeat::Spec { reordering, ..Default::default() };
    recovery::Spec::SelectiveRepeat(spec)
}

/// Many flows sprayed over four spines: what is sent again, and what came late.
fn sprayed(recovery: recovery::Spec) -> [u64; 3] {
    let flows = (0..8).map(|src| flow(src, 8 + (src + 3) % 8, 300_000, 0)).collect();
    let mut spec = plain(clos(2, 4, 8), flows);
    spec.switch.path = path::Spec::Spray(spray::Spec::default());
    rocev2(&mut spec, |rocev2| rocev2.recovery = recovery.clone());
    let outcome = run(spec);
    assert_eq!(outcome.counter("flows_unfinished"), 0);
    let of_flows = |column| outcome.table("flows").u64s(column).iter().sum::<u64>();
    [
        of_flows("retransmitted_packets"),
        of_flows("lost_packets"),
        outcome.counter("reordered_packets"),
    ]
}

#[test]
fn a_window_as_long_as_the_reordering_saves_all_repetitions() {
    // Queues of 8 hosts that share 4 uplinks differ by less than all that is sent: 8 times 300 KB
    // at 400 Gb/s are 48 us. Nothing is lost, so all that is repeated is repeated in vain.
    let [again, lost, reordered] = sprayed(tolerant(Duration::from_us(60)));
    assert_eq!((again, lost), (0, 0));
    assert!(reordered > 500, "{reordered}");
    let [at_once, lost, _] = sprayed(tolerant(Duration::ZERO));
    assert!(at_once > 500 && lost == 0, "{at_once}");
    let [go_back_n, lost, _] = sprayed(recovery::Spec::default());
    assert!(go_back_n > 500 && lost == 0, "{go_back_n}");
}

/// Two switches with links of 10 and of 40 Gb/s between them, and 400 flows from one to the other.
fn uneven(weighted: bool) -> Vec<u64> {
    let mut graph = Graph::default();
    for host in 0..2 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let leaf = graph.add("leaf 0", NodeKind::Switch { tier: 0 });
    let other = graph.add("spine", NodeKind::Switch { tier: 0 });
    graph.link(NodeId(0), leaf, GBPS_100, NS_200);
    graph.link(NodeId(1), other, GBPS_100, NS_200);
    graph.link(leaf, other, Rate::from_gbps(10), NS_200);
    graph.link(leaf, other, Rate::from_gbps(40), NS_200);
    let mut spec = plain(graph, (0..400).map(|_| flow(0, 1, 1, 0)).collect());
    spec.switch.path = path::Spec::Ecmp(ecmp::Spec { weighted });
    spec.switch.queue.size = Bytes(1 << 30);
    uplinks(&run(spec))
}

#[test]
fn weights_follow_the_rates() {
    // Standard deviations 8 and 10.
    let frames = uneven(true);
    assert!((40..120).contains(&frames[0]) && frames[0] + frames[1] == 400, "{frames:?}");
    let frames = uneven(false);
    assert!((150..250).contains(&frames[0]) && frames[0] + frames[1] == 400, "{frames:?}");
}

#[test]
fn packets_that_go_beside_each_other_are_not_faster_than_possible() {
    // Between the leaves two ways of a tenth of the rate of the hosts. Both packets are on them at the
    // same time: the second leaves the host after two packet times and then takes 10 + 10 + 1.
    let mut graph = Graph::default();
    (0..2).for_each(|n| _ = graph.add(format!("host {n}"), NodeKind::Host));
    let ids = [0, 0, 1, 1]
        .map(|tier| graph.add(format!("switch {}", graph.nodes.len()), NodeKind::Switch { tier }));
    graph.link(NodeId(0), ids[0], GBPS_100, NS_200);
    graph.link(NodeId(1), ids[1], GBPS_100, NS_200);
    for (leaf, spine) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
        graph.link(ids[leaf], ids[spine], Rate::from_gbps(10), NS_200);
    }
    let mut spec = plain(graph, vec![flow(0, 1, 2 * 1_024, 0)]);
    spec.switch.path = in_turn();
    let outcome = run(spec);
    assert_eq!(fct_ps(&outcome), [23 * (1_024 + 62 + 20) * 80 + 4 * 200_000]);
    assert_eq!(outcome.table("flows").f64s("slowdown"), [1.0]);
}

#[test]
fn a_short_last_packet_may_overtake_and_breaks_no_rule() {
    // A full packet and one of 64 bytes on the wire each by a spine of its own. The short one is
    // through before the full one comes to the last link, which then takes its fourth hop at once;
    // on one way the short one would come behind it.
    let mut spec = plain(clos(2, 2, 1), vec![flow(0, 1, 1_025, 0)]);
    rocev2(&mut spec, |rocev2| {
        rocev2.recovery = recovery::Spec::SelectiveRepeat(selective_repeat::Spec {
            reordering: Duration::from_us(10),
            ..selective_repeat::Spec::default()
        });
    });
    spec.switch.path = in_turn();
    let outcome = run(spec);
    let flows = outcome.table("flows");
    let ns = |ps: u64| ps as f64 / 1e3;
    assert_eq!(flows.f64s("fct_ns"), [ns(800_000 + 4 * FULL)]);
}
