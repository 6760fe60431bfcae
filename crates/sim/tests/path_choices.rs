//! Which of equal ways packets take, where that follows from a rule or a probability.

use crate::common::timeline::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{FlowSpec, Graph, NodeId};
use floodway_sim::Sent;
use floodway_sim::switch::path::{self, flowlet, least_loaded};

/// By which of the nodes from `first` on the data frames of a flow go, in order.
fn ways(sent: &[Sent], first: u32, count: u32, flow: u32) -> Vec<u32> {
    let data = sent.iter().filter(|frame| frame.packet.is_data() && frame.packet.flow.0 == flow);
    let nodes = data.map(|frame| frame.to.0.0);
    nodes.filter(|node| (first..first + count).contains(node)).collect()
}

/// All four spines are idle whenever a frame comes, so that those that are looked at are equally short, and
/// one is taken by chance (DRILL, SIGCOMM 2017, with d = 1 and m = 1). These are one at random and the last
/// one: in a quarter of the cases the same, else the last one is taken again with probability 1/2. That is
/// 1/4 + 3/8 = 5/8, of 3999 frames with a standard deviation of 30.6.
#[test]
fn the_last_choice_is_looked_at_again() {
    let first = FlowSpec { workload: 1, ..flow(0, 1, 4_000 * PAYLOAD, 0) };
    let mut spec = full_frames(clos(2, 4, 1), vec![first]);
    let drill = least_loaded::Spec { choices: 1, memory: 1 };
    spec.switch.path = path::Spec::LeastLoaded(drill);
    let (_, sent) = traced(spec);
    let ways = ways(&sent, 4, 4, 0);
    assert_eq!(ways.len(), 4_000);
    let again = ways.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    assert!((again - 3_999.0 * 0.625).abs() < 5.0 * 30.6, "{again}");
}

/// A table with one entry is shared by all flows: those that come within the gap take one way, of eight.
/// With the default, 65536, each has its own. Every round is after the gap.
#[test]
fn flows_of_one_entry_take_one_way() {
    let rounds = 6;
    let together = |entries| {
        let one =
            |n: u64| burst(n as u32 % 4, 4 + n as u32 % 4, 1, 1_000 + n / 4 * 100_000 + n % 4);
        let mut spec = full_frames(clos(2, 8, 4), (0..4 * rounds).map(one).collect());
        let gap = for_ns(10_000);
        spec.switch.path = path::Spec::Flowlet(flowlet::Spec { gap, entries });
        let (_, sent) = traced(spec);
        let round =
            |n: u64| (0..4).flat_map(|flow| ways(&sent, 10, 8, (4 * n + flow) as u32)).collect();
        let rounds = (0..rounds).map(round);
        rounds.filter(|ways: &Vec<u32>| ways.iter().all(|way| *way == ways[0])).count() as u64
    };
    assert_eq!(together(1), rounds);
    // A round is so by chance with probability 1/512.
    assert!(together(65_536) <= 1);
}

/// A fat tree of two ways up in each of two tiers, hosts 0 to 3 below one leaf and 4 to 7 below the other.
/// D-mod-k takes number d mod 2 at the leaf and number d / 2 mod 2 above it (Zahavi et al. 2010): hosts 4,
/// 5, 6 and 7 are 100, 101, 110 and 111, so that each is reached by a core of its own.
#[test]
fn every_tier_goes_by_a_digit_of_its_own() {
    let mut graph = Graph::default();
    (0..8).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let mut add = |tier, count| -> Vec<NodeId> {
        let name = |n| format!("tier {tier} {n}");
        (0..count).map(|n| graph.add(name(n), NodeKind::Switch { tier })).collect()
    };
    let (leaves, middle, cores) = (add(0, 2), add(1, 4), add(2, 4));
    for host in 0..8 {
        graph.link(NodeId(host), leaves[host as usize / 4], GBPS_100, NS_200);
    }
    for (n, &middle) in middle.iter().enumerate() {
        graph.link(leaves[n / 2], middle, GBPS_100, NS_200);
        // Cores 0 and 1 hang on the first of each pair, 2 and 3 on the second.
        for &core in &cores[n % 2 * 2..][..2] {
            graph.link(middle, core, GBPS_100, NS_200);
        }
    }
    let first_core = cores[0].0;
    let flows = (4..8).map(|dst| burst(0, dst, 1, 1_000)).collect();
    let mut spec = full_frames(graph, flows);
    spec.switch.path = path::Spec::DModK(Default::default());
    let (_, sent) = traced(spec);
    let by = |flow| ways(&sent, first_core, 4, flow)[0] - first_core;
    assert_eq!([0, 1, 2, 3].map(by), [0, 2, 1, 3]);
}
