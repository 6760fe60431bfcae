//! PowerTCP in whole networks: the equilibrium of its fluid model (Addanki et al., NSDI 2022, theorem 1).
//!
//! M flows of the windows w share a link of the rate b, with the round-trip time T without queues. In
//! equilibrium w = w / power + beta, so all windows together, W, and all betas, B, satisfy
//! W (1 - 1 / power) = B. In flight are W = bT + q. With tau = T the power is (bT + q) / (bT), by telemetry
//! and by delay, and q = B. Every beta is b tau / N, so that a packet waits for M/N of a round trip.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::host::congestion::{self, powertcp};
use floodway_sim::{Outcome, Spec};
use powertcp::Variant;

/// A packet of 1024 bytes, with telemetry 42 bytes more, and its acknowledgement, in picoseconds at
/// 100 Gb/s; nothing is between frames.
const FULL: u64 = (1_024 + 62) * 80;
const ACK: u64 = 66 * 80;
const TELEMETRY: u64 = 42 * 80;

/// What only telemetry needs.
fn extra(variant: Variant) -> u64 {
    if variant == Variant::Telemetry { TELEMETRY } else { 0 }
}

fn full(variant: Variant) -> u64 {
    FULL + extra(variant)
}

/// The round-trip time of an empty network, in nanoseconds: two links there and two back.
fn base_rtt(variant: Variant) -> f64 {
    (2 * (full(variant) + ACK + extra(variant)) + 8_000_000) as f64 / 1e3
}

/// Long-lived flows from other hosts to host 0 through one switch, with links of 2 us, measured from 5
/// to 10 ms. Flows of workload 1 have the second control.
fn incast(flows: [u32; 2], controls: [powertcp::Spec; 2]) -> Outcome {
    let senders = flows[0] + flows[1];
    let mut graph = Graph::default();
    for host in 0..=senders {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let delay = Duration::from_us(2);
    (0..=senders).for_each(|host| graph.link(NodeId(host), switch, GBPS_100, delay));
    let of = |src| FlowSpec {
        workload: u16::from(src > flows[0]),
        ..flow(src, 0, FlowSpec::PERSISTENT, 0)
    };
    let mut spec = Spec {
        wire_overhead: 0,
        departures: true,
        warmup: Duration::from_ms(5),
        end: Duration::from_ms(10),
        measured_until: Duration::from_ms(10),
        ..plain(graph, (1..=senders).map(of).collect())
    };
    let telemetry = controls[0].variant == Variant::Telemetry;
    rocev2(&mut spec, |rocev2| rocev2.telemetry = telemetry);
    for (profile, control) in spec.profiles.iter_mut().zip(controls) {
        profile.congestion = congestion::Spec::PowerTcp(control);
    }
    run(spec)
}

/// Mean time in the queue to host 0 during the measurement, in nanoseconds.
fn wait(outcome: &Outcome) -> f64 {
    let table = outcome.table("sojourns");
    let place = table.u64s("port").iter().position(|&port| port == 0).unwrap();
    table.f64s("mean_sojourn_ns")[place]
}

/// The part of the link that was used during the measurement.
fn utilization(outcome: &Outcome, variant: Variant) -> f64 {
    let packets = outcome.counter("data_bytes_delivered") as f64 / 1_024.0;
    packets * full(variant) as f64 / 1e3 / outcome.counter("measured_ns") as f64
}

/// What each flow delivered, over the mean.
fn shares(outcome: &Outcome) -> Vec<f64> {
    let flows = outcome.table("flows").u64s("delivered_bytes");
    let mean = flows.iter().sum::<u64>() as f64 / flows.len() as f64;
    flows.iter().map(|&bytes| bytes as f64 / mean).collect()
}

const BOTH: [Variant; 2] = [Variant::Telemetry, Variant::Delay];

/// The least and the most that a packet waits on average, in nanoseconds, if the windows of `senders` flows
/// in fluid would make it wait for `betas`. Of each window a packet that is begun counts, so that in flight
/// are W and up to a packet of each: (q + T - packets) q / (q + T) is at least B. And switches write the
/// queue down that a packet leaves behind, which is about half a packet less than the mean.
fn range(betas: f64, senders: u32, variant: Variant) -> std::ops::Range<f64> {
    let packet = full(variant) as f64 / 1e3;
    let (base, packets) = (base_rtt(variant), f64::from(senders) * packet);
    let half = (base - packets - betas) / 2.0;
    betas - packet..(half * half + betas * base).sqrt() - half + packet
}

/// Every number of senders with every N. By telemetry fast changes of the windows are not damped, as
/// `powertcp.rs` derives. What becomes of them depends on how senders and packets are in step; where they
/// go on, the queue is longer than the sum of the betas (a model of the same recurrences in fifty lines of
/// Python gave 1.8 times for 4 flows with N = 10 and for 8 with N = 20, too), and never shorter.
#[test]
fn the_queue_is_the_sum_of_the_betas() {
    let swings = [(2, 10), (4, 10), (4, 20), (8, 20)];
    for variant in BOTH {
        for (senders, n) in [2, 4, 8, 16].into_iter().flat_map(|m| [10, 20, 100].map(|n| (m, n))) {
            let control = powertcp::Spec { variant, flows: n, ..Default::default() };
            let outcome = incast([senders, 0], [control.clone(), control]);
            let betas = f64::from(senders) / f64::from(n) * base_rtt(variant);
            let (range, wait) = (range(betas, senders, variant), wait(&outcome));
            let case = format!("{variant:?} {senders}/{n}: {wait} of {range:?}");
            assert!(wait > range.start, "{case}");
            let swings = variant == Variant::Telemetry && swings.contains(&(senders, n));
            assert!(swings || wait < range.end, "{case}");
            assert!(utilization(&outcome, variant) > 0.995, "{case}");
            let shares = shares(&outcome);
            assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.1), "{case}: {shares:?}");
        }
    }
}

/// With hardly any beta the window of each of two flows falls to the least, that of 60 % of the line rate: whole packets,
/// the last of them begun. What does not fit the round trip of the empty network waits.
#[test]
fn no_window_is_smaller_than_that_of_the_least_rate() {
    for variant in BOTH {
        let min_rate = Rate::from_gbps(60);
        let control = powertcp::Spec { variant, flows: 1_000_000, min_rate, ..Default::default() };
        let outcome = incast([2, 0], [control.clone(), control]);
        let packet = full(variant) as f64 / 1e3;
        let window = (0.6 * base_rtt(variant) / packet).ceil();
        let (wait, expected) = (wait(&outcome), 2.0 * window * packet - base_rtt(variant));
        assert!((wait - expected).abs() < packet, "{variant:?}: {wait}, {expected} expected");
    }
}

/// Windows, and so shares of the link, are in proportion to the betas: (b tau + B) beta / B.
#[test]
fn shares_are_in_proportion_to_the_betas() {
    for variant in BOTH {
        // Betas of 1/20 and of 1/60 of a round trip: shares of 3/4 and 1/4, of the mean 1.5 and 0.5.
        let controls =
            [20, 60].map(|flows| powertcp::Spec { variant, flows, ..Default::default() });
        let outcome = incast([4, 4], controls);
        let shares = shares(&outcome);
        for (flow, share) in shares.iter().enumerate() {
            let expected = if flow < 4 { 1.5 } else { 0.5 };
            assert!((share / expected - 1.0).abs() < 0.1, "{variant:?} {shares:?}");
        }
    }
}

/// With a tau below the round-trip time T of the empty network the power by delay is (q + bT) / (b tau), so
/// that q = B - b (T - tau). (By telemetry it is (q + b tau) / (b tau); there the queue swings.) With a
/// packet of each window begun, what is in flight, F, satisfies (F - packets) (F - b tau) = B F.
#[test]
fn a_base_rtt_that_is_too_short_takes_from_the_queue() {
    let (variant, tau) = (Variant::Delay, 6_000.0);
    let base_rtt = Some(Duration::from_us(6));
    let control = powertcp::Spec { variant, base_rtt, flows: 20, ..Default::default() };
    let outcome = incast([16, 0], [control.clone(), control]);
    let (betas, path) = (16.0 / 20.0 * tau, self::base_rtt(variant));
    let packet = full(variant) as f64 / 1e3;
    let sum = tau + betas + 16.0 * packet;
    let most = (sum + (sum * sum - 64.0 * packet * tau).sqrt()) / 2.0 - path;
    let (range, wait) = (betas - (path - tau) - packet..most + packet, wait(&outcome));
    assert!(range.contains(&wait), "{wait} of {range:?}");
}
