//! Parameters of schedulers, classification, memory and flow control, each by a network in which its effect
//! can be computed by hand.

use crate::common::overload::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::host::congestion;
use floodway_sim::host::transport::udp;
use floodway_sim::switch::aqm::{self, ramp};
use floodway_sim::switch::buffer::{self, shared};
use floodway_sim::switch::classify::ecn::Scalable;
use floodway_sim::switch::flow_control::{bfc, drc, pfc, qcn, source_flow_control};
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Spec};

/// Both queues always have packets: how many of each have arrived at the end.
fn shared(scheduler: scheduler::Spec, end: Duration) -> [f64; 2] {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    (spec.end, spec.switch.scheduler) = (end, scheduler);
    delivered(&run(spec))
}

fn delivered(outcome: &Outcome) -> [f64; 2] {
    let bytes = outcome.table("flows").u64s("delivered_bytes");
    [0, 1].map(|flow| bytes[flow] as f64 / 1_472.0)
}

#[test]
fn schedulers_share_as_they_are_told() {
    // 3245 packets in 400 us less the 0.65 us of the way.
    let [low, classic] =
        shared(scheduler::Spec::Wrr(scheduler::wrr::Spec { classic_weight: 20 }), us(400));
    assert!((classic - 0.2 * (low + classic)).abs() < 1.5, "{low} {classic}");
    // The first classic packet leaves when it has waited 100 us longer than the low latency head; from
    // then on both heads grow older alike, and both queues have half of the link.
    let shift = scheduler::time_shifted::Spec { shift: us(100) };
    let [_, classic] = shared(scheduler::Spec::TimeShifted(shift), us(400));
    assert!((classic - 300.0 / 2.0 / T).abs() < 4.0, "{classic}");
    // Weights of bytes, by any quantum; a queue with priority has all.
    let drr = |weights: Vec<u32>, strict| {
        let drr = scheduler::drr::Spec { weights, strict, ..Default::default() };
        shared(scheduler::Spec::Drr(drr), us(400))
    };
    let [first, second] = drr(vec![3, 1], 0);
    assert!((first - 3.0 * second).abs() < 8.0, "{first} {second}");
    assert!(drr(vec![1, 1], 1)[1] < 2.0);
}

/// Ten packets come to each of two queues at once, and a quantum is that of five.
#[test]
fn drr_gives_a_quantum_at_a_time() {
    let flows = vec![flow(0, 2, 10 * 1_472, 0), flow(1, 2, 10 * 1_472, 0)];
    let mut spec = plain(star(3), flows);
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    let quantum = Bytes(5 * 1_538);
    spec.switch.scheduler =
        scheduler::Spec::Drr(scheduler::drr::Spec { quantum, ..Default::default() });
    let fct: Vec<u64> = fct_ps(&run(spec)).iter().map(|fct| (fct - 400_000) / 123_040).collect();
    // The first frame of the first host finds the port idle and is sent at once. When the wire is free its
    // second frame is still on the way, so the round begins with five of the other host, then five and
    // five, and four. One frame time is that of the first link.
    assert_eq!(fct, [21, 17]);
}

/// Two sources want all they can get: each has alpha / (1 + 2 alpha) of the pool, a sixth of 1.2 MB with
/// alpha 1/4, and with what the port has sent while it filled that is the deepest queue.
#[test]
fn ports_of_a_rate_have_their_share_of_the_memory() {
    let mut spec = overload(aqm::Spec::default(), us(400));
    let pool = |alpha| shared::Pool { pool: Bytes(1_200_000), guaranteed: Bytes(0), alpha };
    spec.switch.buffer = buffer::Spec::Shared(shared::Spec {
        ingress: Some(pool(Some(1.0))),
        by_rate: vec![shared::OfRate { rate: GBPS_100, alpha: 0.25, headroom: Bytes(0) }],
        ..Default::default()
    });
    let outcome = run(spec);
    let deepest = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
    assert!((400_000 - 2 * FRAME..=400_000).contains(&deepest), "{deepest}");
}

#[test]
fn a_single_queue_has_its_number() {
    let mut spec = overload(aqm::Spec::default(), us(100));
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::Single(classify_single(1));
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("queue").iter().zip(queues.u64s("packets"));
    assert!(rows.clone().any(|(queue, packets)| *queue == 1 && *packets > 1_000));
    assert!(rows.clone().all(|(queue, packets)| *queue == 1 || *packets == 0));
}

/// The specification of one queue for all, by its name in a scenario.
fn classify_single<T: serde::de::DeserializeOwned>(queue: u8) -> T {
    serde_json::from_value(serde_json::json!({ "queue": queue })).unwrap()
}

/// Mice, shorter than 20 KB, have queue 1 of three, and the others queue 2.
#[test]
fn mice_have_the_queue_that_is_theirs() {
    let flows = vec![flow(0, 2, 14_720, 0), flow(1, 2, 29_440, 0)];
    let mut spec = plain(star(3), flows);
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::MiceElephants(classify::mice_elephants::Spec {
        below: Bytes(20_000),
        mice: 1,
        elephants: Some(2),
    });
    let outcome = run(spec);
    let queues = outcome.table("queues");
    let rows = queues.u64s("port").iter().zip(queues.u64s("packets"));
    let packets: Vec<u64> = rows.filter(|row| *row.0 == 2).map(|row| *row.1).collect();
    // 14720 bytes are 15 packets of 1024, 29440 are 29.
    assert_eq!(packets[..3], [0, 15, 29]);
}

/// A message of QCN has so many octets of the frame that was sampled.
#[test]
fn messages_of_qcn_carry_headers() {
    let length = |header_octets| {
        let mut spec = overload(aqm::Spec::default(), us(200));
        control(&mut spec, congestion::Spec::Qcn(Default::default()));
        spec.switch.flow_control.qcn = Some(qcn::Spec { header_octets, ..Default::default() });
        let outcome = run(spec);
        let links = outcome.table("links");
        let rows = links.texts("node").iter().zip(links.texts("peer"));
        let row = rows.into_iter().position(|row| row.0 == "switch" && row.1 == "host 0").unwrap();
        assert!(links.u64s("frames")[row] > 3);
        links.u64s("bytes")[row] / links.u64s("frames")[row]
    };
    assert_eq!(length(100) - length(60), 40);
}

/// Two flows have a physical queue each, which may hold what half of the port sends in a hop round trip of 2
/// us and tau of 2 us: 25 KB. Until the pause acts, at most 1 us later, 6 KB more come to each.
#[test]
fn backpressure_begins_at_its_threshold() {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.flow_control.bfc =
        Some(bfc::Spec { tau: us(2), hop_rtt: Some(us(2)), ..Default::default() });
    spec.end = us(400);
    let outcome = run(spec);
    let deepest = *outcome.table("queues").u64s("max_backlog_bytes").iter().max().unwrap();
    assert!((50_000..62_000).contains(&deepest), "{deepest}");
}

/// Acknowledgements, 66 bytes each, come every 88.48 ns to a port that sends datagrams of 123.04 ns: two wait
/// now and then, but never four. They go before the datagrams, so more room than for two is never needed.
#[test]
fn feedback_has_the_room_that_is_its_own() {
    let dropped = |control_size| {
        let flows = vec![flow(0, 1, FlowSpec::PERSISTENT, 0), flow(2, 0, FlowSpec::PERSISTENT, 0)];
        let mut spec = plain(star(3), flows);
        spec.flows[1].workload = 1;
        datagrams(&mut spec, 1, udp::Field::NotEct);
        (spec.end, spec.switch.queue.control_size) = (us(200), Bytes(control_size));
        run(spec).counter("dropped_packets")
    };
    assert!(dropped(100) > 100);
    assert_eq!(dropped(200), 0);
}

/// Two links of 100 Gb/s into one: messages of QCN come all the time and take both senders down to the least
/// rate, 60 Gb/s, which still is too much. From 1 to 2 ms 2 x 4876 frames of 1538 bytes leave the hosts.
#[test]
fn qcn_goes_no_lower_than_its_least_rate() {
    let frames = |end| {
        let mut spec = overload(aqm::Spec::default(), us(end));
        let least = Rate::from_gbps(60);
        control(
            &mut spec,
            congestion::Spec::Qcn(congestion::qcn::Spec { min_rate: least, ..Default::default() }),
        );
        spec.switch.flow_control.qcn = Some(qcn::Spec::default());
        let outcome = run(spec);
        let links = outcome.table("links");
        let row = links.texts("node").iter().position(|node| node == "host 0").unwrap();
        links.u64s("frames")[row] as f64
    };
    let found = frames(2_000) - frames(1_000);
    assert!((found / 4_876.0 - 1.0).abs() < 0.02, "{found}");
}

/// Ten frames come to each of two queues at once, and the classic one has a tenth of the link. Its first frame
/// finds the wire free when no other is there. Then the credit is that of 80 full frames and grows by ten
/// with each low latency frame: nine go first, which are all that are left.
#[test]
fn wrr_begins_with_the_low_latency_queue() {
    let mut spec = plain(star(3), vec![flow(0, 2, 14_720, 0), flow(1, 2, 14_720, 0)]);
    spec.flows[1].workload = 1;
    datagrams(&mut spec, 0, udp::Field::Ect1);
    datagrams(&mut spec, 1, udp::Field::NotEct);
    two_queues(&mut spec, Scalable::Ect1);
    spec.switch.scheduler = scheduler::Spec::Wrr(scheduler::wrr::Spec { classic_weight: 10 });
    let fct: Vec<u64> = fct_ps(&run(spec)).iter().map(|fct| (fct - 400_000) / 123_040).collect();
    assert_eq!(fct, [12, 21]);
}

/// Hosts 0 and 1 at switch a, hosts 2 and 3 and the receiver 4 at switch b.
fn behind_a_link() -> Graph {
    let mut graph = Graph::default();
    (0..5).for_each(|host| {
        graph.add(format!("host {host}"), NodeKind::Host);
    });
    let [a, b] = ["a", "b"].map(|name| graph.add(name.to_owned(), NodeKind::Switch { tier: 0 }));
    (0..2).for_each(|host| graph.link(NodeId(host), a, GBPS_100, NS_200));
    (2..5).for_each(|host| graph.link(NodeId(host), b, GBPS_100, NS_200));
    graph.link(a, b, GBPS_100, NS_200);
    graph
}

/// Frames from switch a to switch b until the end.
fn crossed(drc: drc::Spec, flows: Vec<FlowSpec>, end: Duration) -> f64 {
    let mut spec = plain(behind_a_link(), flows);
    spec.switch.flow_control.drc = Some(drc);
    spec.end = end;
    let outcome = run(spec);
    let links = outcome.table("links");
    let mut rows = links.texts("node").iter().zip(links.texts("peer"));
    let row = rows.position(|row| row.0 == "a" && row.1 == "b").unwrap();
    links.u64s("frames")[row] as f64
}

/// Severity 2 from 2 KB on and 3 only at 1 GB; feedback every 5 us.
fn law() -> drc::Spec {
    drc::Spec {
        thresholds: [1e-6, 2e-6, 1.0],
        buffer: Some(Bytes(1_000_000_000)),
        hysteresis: 0.0,
        interval: us(5),
        min_gap: Duration::ZERO,
        stop: true,
        ..Default::default()
    }
}

/// Two hosts at b congest the port of the receiver for ever. What comes from a is cut to 0.8 with the first
/// feedback, after 0.7 us, and again with the first that is 18 us later: at 20.2, 40.2, 60.2 and 80.2 us. So
/// it has all of the link for 0.7 us, 0.8 of it for 19.5 us, 0.64, 0.512 and 0.41 for 20 us each, and 0.328
/// for 19.8 us: 54 us of the 88.48 ns of a frame. With a least factor of 0.6 it is 0.6 from 40.2 us on.
#[test]
fn drc_cuts_in_intervals_down_to_its_least_factor() {
    let flows = || [0, 2, 3].map(|src| flow(src, 4, FlowSpec::PERSISTENT, 0)).to_vec();
    for (min_factor, free_us) in [(0.1, 54.0), (0.6, 0.7 + 0.8 * 19.5 + 0.64 * 20.0 + 0.6 * 59.8)] {
        let (decrease, cut_interval) = (0.8, us(18));
        let found =
            crossed(drc::Spec { decrease, cut_interval, min_factor, ..law() }, flows(), us(100));
        // And 20 frames of feedback from a to b.
        let expected = free_us / 0.088_48 + 20.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }
}

/// Two frames meet at the port of the receiver, which cuts to 1/4. Nothing is congested any more, and each
/// feedback adds 0.05: the first at once, the others every 5 us. From 10 us on a flow has 0.4 of the link, and
/// 0.05 more every 5 us: in 50 us as much as the whole link in 31.25 us.
#[test]
fn drc_recovers_step_by_step() {
    let (decrease, min_factor, increase, increment) = (0.25, 0.25, 1.0, 0.05);
    let spec = drc::Spec { decrease, min_factor, increase, increment, ..law() };
    let meet = [2, 3]
        .map(|src| FlowSpec { stop: Instant(80_000), ..flow(src, 4, FlowSpec::PERSISTENT, 0) });
    let mut flows = meet.to_vec();
    flows.push(flow(0, 4, FlowSpec::PERSISTENT, 10_000));
    let found = crossed(spec, flows, us(60));
    assert!((found / (31.25 / 0.088_48) - 1.0).abs() < 0.1, "{found}");
}

/// RoCEv2 at line rate in queue 1 of three, from hosts 0 and 1 to host 2.
fn in_queue_one(end: Duration) -> Spec {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.queue.count = 3;
    spec.switch.classify = classify::Spec::Single(classify_single(1));
    spec.end = end;
    spec
}

/// What is for queue 1 does something where all is in queue 1.
#[test]
fn mechanisms_are_for_the_queues_that_they_name() {
    let mut spec = in_queue_one(us(200));
    spec.switch.flow_control.qcn = Some(qcn::Spec { queues: vec![1], ..Default::default() });
    assert!(run(spec).counter("cnms_sent") > 0);
    let mut spec = in_queue_one(us(200));
    spec.switch.flow_control.pfc = Some(pfc::Spec { queues: vec![1], ..prompt_pfc() });
    assert!(run(spec).counter("xoff_frames") > 0);
    let mut spec = in_queue_one(us(200));
    let sfc = source_flow_control::Spec { queues: vec![1], ..Default::default() };
    spec.switch.flow_control.source_flow_control = Some(sfc);
    assert!(run(spec).counter("sfc_messages") > 0);
    let mut spec = in_queue_one(us(100));
    spec.graph = behind_a_link();
    spec.flows = [0, 2, 3].map(|src| flow(src, 4, FlowSpec::PERSISTENT, 0)).to_vec().into();
    spec.switch.flow_control.drc = Some(drc::Spec { classes: vec![1], ..law() });
    let links = run(spec).table("links").clone();
    let mut rows = links.texts("node").iter().zip(links.texts("peer"));
    let row = rows.position(|row| row.0 == "a" && row.1 == "b").unwrap();
    assert!((links.u64s("frames")[row] as f64) < 0.8 * 100.0 / 0.088_48);
}

/// Each source gets one message when its frame finds 50 KB: what is above 10 KB takes 3.2 us, of which 1 us
/// is deducted. That is 2.2 us for the one, and a frame time more for the other.
#[test]
fn source_flow_control_deducts_the_way() {
    let flows = [0, 1].map(|src| flow(src, 2, FlowSpec::PERSISTENT, 0));
    let mut spec = plain(star(3), flows.to_vec());
    spec.switch.flow_control.source_flow_control = Some(source_flow_control::Spec {
        trigger: Bytes(50_000),
        target: Bytes(10_000),
        mode: source_flow_control::Mode::Native,
        suppression: Duration::from_ms(100),
        deduct: us(1),
        ..Default::default()
    });
    spec.end = us(100);
    let held = run(spec).counter("sfc_holds_ns");
    assert!((4_400..4_800).contains(&held), "{held}");
}

/// Three flows congest a port. Until the monitored queue has 50 KB nothing is isolated; of a table with one
/// entry one flow is, and the others are refused.
#[test]
fn isolation_begins_at_its_curve_and_ends_with_its_table() {
    let flows = || [0, 1, 2].map(|src| flow(src, 3, FlowSpec::PERSISTENT, 0)).to_vec();
    let isolated = |kmin, kmax, max_entries, end| {
        let mut spec = plain(star(4), flows());
        spec.switch = isolating();
        spec.switch.queue.size = Bytes(1 << 40);
        spec.switch.flow_control.pfc = None;
        let isolation = spec.switch.flow_control.congestion_isolation.as_mut().unwrap();
        isolation.curve = ramp::Spec { kmin: Bytes(kmin), kmax: Bytes(kmax), ..Default::default() };
        isolation.max_entries = max_entries;
        spec.end = us(end);
        let outcome = run(spec);
        (outcome.counter("isolations"), outcome.counter("isolations_refused"))
    };
    // The queue grows by 25 KB in a microsecond, from 0.29 us on: 50 KB are there after 2.3 us.
    assert_eq!(isolated(50_000, 50_001, 9, 2).0, 0);
    assert!(isolated(50_000, 50_001, 9, 3).0 > 0);
    let (isolations, refused) = isolated(50_000, 50_001, 1, 20);
    assert!(isolations == 1 && refused > 10, "{isolations} {refused}");
}
