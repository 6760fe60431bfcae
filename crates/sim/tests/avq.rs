//! AVQ in a network: marks of an overload counted by hand, and the utilization of TCP.

use crate::common::overload::{overload, us};
use crate::common::sending::assert_near;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::host::congestion;
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::switch::aqm::{self, avq};

fn fixed(gamma: f64, buffer: u64) -> aqm::Spec {
    aqm::Spec::Avq(avq::Spec { gamma, alpha: 0.0, buffer: Bytes(buffer) })
}

/// The virtual queue has half of the link's capacity and room for 100.25 frames of 1538 bytes. In a frame time T of 123.04 ns
/// two frames arrive, and half a frame leaves: as long as all fit, pair n finds 3/2 (n - 1) frames. Both fit up to pair 66, which
/// finds 97.5. Pair 67 finds 99: one fits, one is marked. Pair 68 finds 99.5: both are marked. Pair 69 finds 99 again, and so on.
/// Pair n arrives at n T + 200 ns, so that 811 come in 100 us: the 373 odd pairs from 67 to 811 have one mark each, and the 372
/// even pairs from 68 to 810 two.
#[test]
fn an_overload_is_marked_as_counted_by_hand() {
    let outcome = run(overload(fixed(0.5, 154_184), us(100)));
    assert_eq!(outcome.counter("marked_packets"), 373 + 2 * 372);
    assert_eq!(outcome.counter("dropped_packets"), 0);
}

/// One host sends at the rate of the link. With 3/4 of its capacity the virtual queue grows by a quarter of a frame in T: frame n
/// finds (n - 1) / 4 frames. There is room for 20.125, so that number 77 fits and number 78 does not. It is marked and not
/// counted, so that the next three fit: one frame in four is marked from 78 on, 184 of the 811.
#[test]
fn a_full_link_is_marked_by_the_missing_share() {
    let mut spec = overload(fixed(0.75, 30_953), us(100));
    spec.flows.truncate(1);
    assert_eq!(run(spec).counter("marked_packets"), 184);
}

/// At or below the virtual capacity nothing is marked: one host at the rate of the link, with gamma 1 and room for one and a
/// half frames.
#[test]
fn what_the_virtual_capacity_carries_is_not_marked() {
    let mut spec = overload(fixed(1.0, 2_307), us(100));
    spec.flows.truncate(1);
    let outcome = run(spec);
    assert!(outcome.counter("data_bytes_delivered") > 800 * 1_472);
    assert_eq!(outcome.counter("marked_packets"), 0);
}

/// Ten flows of Reno with ECN and a round-trip time of 2 ms share a link of 400 Mb/s. The product of the two, 100 KB, is the size
/// of the virtual queue, so that halved windows do not empty it, and the virtual link is always busy (with a shorter one TCP may
/// use less than gamma even if the virtual capacity is at its maximum C). Then the virtual capacity stays between its bounds. Its
/// derivative is alpha (gamma C - lambda), so that over T seconds the mean of lambda is gamma C, give or take C / (alpha T): 1 %
/// for 5 per second and 20 s. What arrives is sent: no packet is dropped.
#[test]
fn tcp_uses_the_desired_share_of_the_link() {
    let mut graph = Graph::default();
    (0..=10).for_each(|host| _ = graph.add(format!("host {host}"), NodeKind::Host));
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let rate = Rate::from_mbps(400);
    for host in 0..=10 {
        let rate = if host == 0 { rate } else { GBPS_100 };
        graph.link(NodeId(host), switch, rate, Duration::from_us(500));
    }
    let flows = (1..=10).map(|src| flow(src, 0, FlowSpec::PERSISTENT, u64::from(src) * 1_000));
    let mut spec = plain(graph, flows.collect());
    let tcp =
        tcp::Spec { mss: Bytes(1_430), ecn: Some(tcp::Feedback::Classic), ..Default::default() };
    for profile in &mut spec.profiles {
        profile.transport = transport::Spec::Tcp(tcp.clone());
    }
    control(&mut spec, congestion::Spec::Reno(Default::default()));
    spec.wire_overhead = 0;
    spec.warmup = Duration::from_ms(10_000);
    spec.end = Duration::from_ms(30_000);
    spec.measured_until = spec.end;
    for gamma in [0.9, 0.7] {
        let mut spec = spec.clone();
        let avq = avq::Spec { gamma, alpha: 5.0, ..Default::default() };
        spec.switch.aqm = aqm::Spec::Avq(avq);
        let outcome = run(spec);
        assert_eq!(outcome.counter("dropped_packets"), 0);
        let frames = outcome.counter("data_bytes_delivered") as f64 / 1_430.0;
        let utilization = frames * 1_500.0 * 8.0 / (rate.0 as f64 * 20.0);
        assert_near(utilization, gamma, 0.01);
    }
}
