//! Congestion control of RoCEv2 that lives on acknowledgements, in whole simulations: HPCC, TIMELY and
//! DCTCP for RDMA, against what their authors say of them.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId};
use floodway_sim::host::congestion::{self, Needs, dcqcn, hpcc, rdma_dctcp, timely};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm::{self, step};
use floodway_sim::switch::flow_control::pfc;
use floodway_sim::{Outcome, Simulation, Spec};

/// A star with long cables, so that a round trip is 8 us.
fn star_of_2_us(hosts: u32) -> Graph {
    let mut graph = Graph::default();
    for host in 0..hosts {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let delay = Duration::from_us(2);
    (0..hosts).for_each(|host| graph.link(NodeId(host), switch, GBPS_100, delay));
    graph
}

/// Picoseconds of a full packet and of an acknowledgement on the wire; with telemetry 42 bytes more
/// each.
const FULL: u64 = (1_024 + 62 + 20) * 80;
const ACK: u64 = (66 + 20) * 80;
const TELEMETRY: u64 = 42 * 80;

/// Long flows from so many hosts to host 0, measured from 10 to 20 ms.
fn incast(senders: u32, congestion: congestion::Spec) -> Spec {
    let flows = (1..=senders).map(|src| flow(src, 0, FlowSpec::PERSISTENT, 0)).collect();
    let mut spec = plain(star_of_2_us(senders + 1), flows);
    collects(&mut spec, &congestion);
    control(&mut spec, congestion);
    spec.departures = true;
    spec.warmup = Duration::from_ms(10);
    spec.end = Duration::from_ms(20);
    spec.measured_until = spec.end;
    spec
}

/// Mean and longest time in the queue to host 0 during the measurement, in nanoseconds.
fn waits(outcome: &Outcome) -> (f64, f64) {
    let table = outcome.table("sojourns");
    let place = table.u64s("port").iter().position(|&port| port == 0).unwrap();
    (table.f64s("mean_sojourn_ns")[place], table.f64s("max_sojourn_ns")[place])
}

/// The part of the link to host 0 that was used during the measurement, with all headers.
fn utilization(outcome: &Outcome, wire: u64) -> f64 {
    let packets = outcome.counter("data_bytes_delivered") as f64 / 1_024.0;
    packets * wire as f64 / 1e3 / outcome.counter("measured_ns") as f64
}

/// The least and the most that a flow delivered, over the mean.
fn shares(outcome: &Outcome) -> (f64, f64) {
    let delivered = outcome.table("flows").u64s("delivered_bytes");
    let mean = delivered.iter().sum::<u64>() as f64 / delivered.len() as f64;
    let ends = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
    (*ends.0 as f64 / mean, *ends.1 as f64 / mean)
}

/// Alone in the network every packet and its acknowledgement take the same time, which is 8190.72 ns.
/// Only who lives on answers measures it, beside others that do not.
#[test]
fn round_trips_are_measured_by_those_that_ask() {
    let mut spec =
        plain(star_of_2_us(3), vec![flow(1, 0, 102_400, 0), flow(2, 0, 102_400, 50_000)]);
    spec.flows[1].workload = 1;
    let mut timely = spec.profiles[0].clone();
    timely.congestion = congestion::Spec::Timely(timely::Spec::default());
    spec.profiles.insert(0, timely);
    let outcome = run(spec);
    let means = outcome.table("flows").f64s("mean_rtt_ns");
    assert_eq!(means[0], (2 * (FULL + ACK) + 8_000_000) as f64 / 1e3);
    assert!(means[1].is_nan());
}

/// One flow: in balance R = R eta / U + a and U = R / B, so R is 95 Gb/s and 40 Mb/s, and nothing ever
/// waits for a link as fast as the sender's.
#[test]
fn hpcc_alone_uses_eta_of_the_link() {
    for (eta, expected) in [(0.95, 0.9504), (0.8, 0.8004)] {
        let hpcc = hpcc::Spec { eta, ..Default::default() };
        let outcome = run(incast(1, congestion::Spec::Hpcc(hpcc)));
        let used = utilization(&outcome, FULL + TELEMETRY);
        assert!((used / expected - 1.0).abs() < 0.002, "{used}");
        assert_eq!(waits(&outcome), (0.0, 0.0));
    }
}

/// Sixteen flows: U = eta + 16 a / B = 0.9564 at most. All rates together are below that of the link, so
/// of each flow about one packet waits, 16 of 91.84 ns, if all come at once. At the beginning every flow
/// sends a window at line rate: in flight are never more than sixteen, and one is on the cables.
#[test]
fn hpcc_keeps_the_queue_of_an_incast_near_zero() {
    let outcome = run(incast(16, congestion::Spec::Hpcc(hpcc::Spec::default())));
    let used = utilization(&outcome, FULL + TELEMETRY);
    assert!((0.94..0.9564).contains(&used), "{used}");
    let packet = (FULL + TELEMETRY) as f64 / 1e3;
    let (mean, longest) = waits(&outcome);
    assert!(mean < 8.0 * packet && longest < 16.0 * packet, "{mean} {longest}");
    // The beginning decides for long who has how much: 40 Mb/s in a round trip is little.
    let (least, most) = shares(&outcome);
    assert!(least > 0.7 && most < 1.5, "{least} {most}");
    let round_trip = 2 * (FULL + ACK + 2 * TELEMETRY) + 8_000_000;
    let window = (round_trip / 80).div_ceil(1_024);
    let windows = deepest(&outcome) as f64 / (window * 1_128) as f64;
    assert!((14.0..16.0).contains(&windows), "{windows}");
}

/// Below `t_low` rates only grow, so the round-trip time comes there again and again; above it a
/// positive gradient cuts, so it does not come near `t_high`.
#[test]
fn timely_keeps_the_round_trip_between_its_thresholds() {
    let mut spec = incast(16, congestion::Spec::Timely(timely::Spec::default()));
    // Before anything is heard the flows send 25 MB, which takes 2 ms.
    spec.warmup = Duration::from_ms(20);
    spec.end = Duration::from_ms(40);
    spec.measured_until = spec.end;
    let outcome = run(spec);
    assert!(utilization(&outcome, FULL) > 0.85);
    let (mean, longest) = waits(&outcome);
    assert!((50_000.0..100_000.0).contains(&(longest + 8_190.0)), "{longest}");
    assert!((10_000.0..50_000.0).contains(&mean), "{mean}");
}

/// With a window the rates grow until the windows alone make the round-trip time `t_low`: 50 us, less
/// the 8.19 us that it takes without a queue.
#[test]
fn timely_with_a_window_rests_at_the_lower_threshold() {
    let timely = timely::Spec { window: Some(Duration::from_us(9)), ..Default::default() };
    let outcome = run(incast(16, congestion::Spec::Timely(timely)));
    let base = (2 * (FULL + ACK) + 8_000_000) as f64 / 1e3;
    let (mean, _) = waits(&outcome);
    assert!(((mean + base) / 50_000.0 - 1.0).abs() < 0.01, "{mean}");
    assert!(utilization(&outcome, FULL) > 0.999);
}

/// RTT = T_low (1 + N delta / (beta C)) (Zhu et al., CoNEXT 2016, equation 31).
#[test]
fn patched_timely_rests_at_the_published_fixed_point() {
    for senders in [2, 4] {
        let timely = timely::Spec { patched: true, ..Default::default() };
        let mut spec = incast(senders, congestion::Spec::Timely(timely));
        // 160 us of queue at most: a cut takes 1 % of the rate then, and from line rate it takes many.
        paused_above(&mut spec, 2_000_000);
        spec.warmup = Duration::from_ms(50);
        spec.end = Duration::from_ms(60);
        spec.measured_until = spec.end;
        let outcome = run(spec);
        let (mean, _) = waits(&outcome);
        let expected = 50_000.0 * (1.0 + f64::from(senders) * 0.1 / 0.8);
        assert!(((mean + 8_190.0) / expected - 1.0).abs() < 0.005, "{mean}");
        assert!(utilization(&outcome, FULL) > 0.999);
    }
}

/// The window of all flows together goes round between the product of bandwidth and delay plus the
/// threshold plus a packet of each, and half the square root of 2 N times that less (Alizadeh et al.,
/// 2010, equations 5 to 8); another packet of each, because one that is begun counts.
#[test]
fn rdma_dctcp_keeps_the_queue_at_the_threshold() {
    for (senders, threshold) in [(2, 100_000), (16, 100_000), (16, 50_000)] {
        let mut spec = incast(senders, congestion::Spec::RdmaDctcp(rdma_dctcp::Spec::default()));
        spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(threshold) });
        let outcome = run(spec);
        let (flows, threshold) = (f64::from(senders), threshold as f64 / 1_086.0);
        let product = (2 * (FULL + ACK) + 8_000_000) as f64 / FULL as f64;
        let swing = (2.0 * flows * (product + threshold)).sqrt() / 2.0;
        let packets = |ns: f64| ns * 1e3 / FULL as f64;
        let (mean, longest) = waits(&outcome);
        let range = threshold + flows - swing..threshold + flows;
        assert!(range.contains(&packets(mean)), "{} of {range:?}", packets(mean));
        assert!(packets(longest) < threshold + 2.0 * flows, "{}", packets(longest));
        assert!(utilization(&outcome, FULL) > 0.999);
        let (least, most) = shares(&outcome);
        assert!(least > 0.9 && most < 1.1, "{least} {most}");
    }
}

/// All that RoCEv2 may have and that reacts: the members of the family with their default parameters,
/// and DCQCN of the paper and of the NIC, with and without a window.
fn controls() -> Vec<congestion::Spec> {
    let by_name = |name: &str| serde_json::from_value(serde_json::json!({ name: {} })).unwrap();
    let all = congestion::CATALOGUE.iter().map(|entry| by_name(entry.name));
    let answered = all.filter(|control: &congestion::Spec| control.needs() == Needs::Answers);
    let variants = [dcqcn::Variant::Paper, dcqcn::Variant::Nic].into_iter().flat_map(|variant| {
        [None, Some(Duration::from_us(5))].map(|window| {
            let window_follows_rate = window.is_some();
            dcqcn::Spec { variant, window, window_follows_rate, ..quick_dcqcn() }
        })
    });
    answered.chain(variants.map(congestion::Spec::Dcqcn)).collect()
}

#[test]
fn nothing_is_lost_and_threads_make_no_difference() {
    let controls = controls();
    assert!(controls.len() >= 7);
    for control_spec in controls {
        let mut spec = plain(clos(4, 2, 8), busy_flows());
        collects(&mut spec, &control_spec);
        control(&mut spec, control_spec.clone());
        spec.switch.aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(100_000) });
        paused_above(&mut spec, 300_000);
        spec.end = Duration::from_ms(2);
        let name = format!("{control_spec:?}");
        let outcome = [1, 2, 3, 4].map(|threads| {
            let stop = AtomicBool::new(false);
            let run = Run { threads, stop: &stop, watch: &|_| {} };
            let outcome = Simulation::new(spec.clone()).run_with(&run);
            assert_eq!(outcome.violations, Vec::<String>::new(), "{name}");
            assert_eq!(outcome.table("drops").rows(), 0, "{name}");
            outcome
        });
        let [one, others @ ..] = &outcome;
        assert!(others.iter().all(|other| other.fingerprint == one.fingerprint), "{name}");
        // Against an uncontrolled 12:1 incast every one of them does something.
        let mut free = spec.clone();
        control(&mut free, congestion::Spec::LineRate(Default::default()));
        assert!(mean_backlog(one) < 0.8 * mean_backlog(&run(free)), "{name}");
    }
}

/// PFC from this backlog of an egress port on, and room for all that comes until it acts.
fn paused_above(spec: &mut Spec, xoff: u64) {
    spec.switch.queue.size = Bytes(xoff + 4_000_000);
    let (xoff, xon) = (Bytes(xoff), Bytes(xoff / 10 * 9));
    spec.switch.flow_control.pfc = Some(pfc::Spec { xoff, xon, ..prompt_pfc() });
}

/// The largest backlog of any queue.
fn deepest(outcome: &Outcome) -> u64 {
    *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap()
}

/// The sum of the mean backlogs of all queues, in bytes.
fn mean_backlog(outcome: &Outcome) -> f64 {
    outcome.table("queues").f64s("mean_backlog_bytes").iter().sum()
}
