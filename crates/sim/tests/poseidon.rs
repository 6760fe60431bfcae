//! Poseidon against its fixed point: all flows of a link have the same rate, and packets wait in its queue
//! for as long as the target of that rate says.

use crate::common::*;
use crate::swift::settled;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId};
use floodway_sim::Spec;
use floodway_sim::csig::{self, Format};
use floodway_sim::host::congestion::{self, poseidon};

/// A packet of 1000 bytes of payload takes 1062 bytes, a tag of 8, and 20 of preamble and gap.
const FRAME: f64 = 1_070.0;
const WIRE: f64 = 1_090.0;

/// Flows over links of 100 Gb/s, with tags of this format.
fn tagged(graph: Graph, flows: Vec<FlowSpec>, poseidon: poseidon::Spec, format: Format) -> Spec {
    let mut spec = plain(graph, flows);
    rocev2(&mut spec, |rocev2| {
        rocev2.mtu = Bytes(1_000);
        rocev2.csig = Some(csig::Spec { format, unit: None });
    });
    control(&mut spec, congestion::Spec::Poseidon(poseidon));
    spec.sample_interval = Duration::from_us(1);
    spec
}

fn incast(senders: u32, format: Format) -> Spec {
    let flows = (0..senders).map(|src| flow(src, senders, FlowSpec::PERSISTENT, 0)).collect();
    tagged(star(senders + 1), flows, poseidon::Spec::default(), format)
}

/// k + p ln(N) / ln(1000): 2 us and 40 us, for N flows from 100 Mb/s to 100 Gb/s. 6.01, 14.04, 18.05 us.
fn wait_us(flows: u32) -> f64 {
    2.0 + 40.0 * f64::from(flows).ln() / 1_000f64.ln()
}

#[test]
fn queues_come_to_rest_at_the_target_of_an_equal_share() {
    for senders in [2, 8, 16] {
        let (queue, part, fairness) = settled(incast(senders, Format::Wide));
        let expected = wait_us(senders) * 100e3 / 8.0 * FRAME / WIRE;
        assert!((queue / expected - 1.0).abs() < 0.03, "{senders}: {queue} and not {expected}");
        assert!(fairness > 0.999, "{senders}: {fairness}");
        assert!((part * WIRE / 1_082.0 - 1.0).abs() < 1e-3, "{senders}: {part}");
    }
}

/// Two of the shorter tag's units of 2 us are the error of its value.
#[test]
fn a_value_of_five_bits_is_enough() {
    for senders in [2, 8, 16] {
        let (queue, _, fairness) = settled(incast(senders, Format::Compact));
        let us = queue * 8.0 / 100e3 * WIRE / FRAME;
        assert!((us - wait_us(senders)).abs() < 2.0, "{senders}: {us} us");
        assert!(fairness > 0.95, "{senders}: {fairness}");
    }
}

/// Hosts 0 to 3 at the first switch, 4 to 7 at the second, 8 to 11 at the third, in a row.
fn row() -> Graph {
    let mut graph = Graph::default();
    for host in 0..12 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switches: Vec<NodeId> =
        (0..3).map(|n| graph.add(format!("switch {n}"), NodeKind::Switch { tier: 0 })).collect();
    for host in 0..12 {
        graph.link(NodeId(host), switches[host as usize / 4], GBPS_100, NS_200);
    }
    switches.windows(2).for_each(|two| graph.link(two[0], two[1], GBPS_100, NS_200));
    graph
}

/// One flow over both links between switches, one over the first only, two over the second only. Three flows
/// share the second: a third each, and the first link has two thirds left. The sum of delays on the long
/// path, which Swift looks at, is 2 + 6.36 us + 2 + 2.35 us; the largest is that of the second link.
#[test]
fn shares_are_max_min_fair_over_two_bottlenecks() {
    let flows = [(0, 8), (1, 4), (5, 9), (6, 10)];
    let flows = flows.map(|(src, dst)| flow(src, dst, FlowSpec::PERSISTENT, 0));
    let mut spec = tagged(row(), flows.into(), poseidon::Spec::default(), Format::Wide);
    spec.warmup = Duration::from_ms(5);
    spec.end = Duration::from_ms(15);
    spec.measured_until = spec.end;
    spec.flow_samples = Some(spec.warmup);
    let outcome = run(spec);
    let bytes = outcome.table("deliveries").u64s("delivered_bytes");
    let (first, last) = (&bytes[..4], &bytes[bytes.len() - 4..]);
    let link = 100e9 / 8.0 * 10e-3 * 1_000.0 / WIRE;
    let shares: Vec<f64> = first.iter().zip(last).map(|(a, b)| (b - a) as f64 / link).collect();
    for (share, expected) in shares.iter().zip([1.0, 2.0, 1.0, 1.0]) {
        assert!((share * 3.0 / expected - 1.0).abs() < 0.03, "{shares:?}");
    }
}
