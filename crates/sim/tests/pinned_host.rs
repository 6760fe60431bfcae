//! Parameters of congestion controls for RDMA, each by a network in which its effect can be computed
//! by hand: one flow whose packets are all marked or never, so that its rate follows from the time.

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, Instant, NodeId};
use floodway_sim::host::congestion::{
    self, dcqcn, hpcc, indicated_rate, rdma_dctcp, swift, timely,
};
use floodway_sim::host::transport::rocev2::recovery;
use floodway_sim::host::transport::{self, udp};
use floodway_sim::switch::aqm::{self, bernoulli};
use floodway_sim::{Outcome, Spec};

/// A full packet of 1024 bytes with all headers, preamble and gap, in bytes; with telemetry 42 more.
const WIRE: f64 = 1_106.0;

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// So many hosts and a switch, with links of 100 Gb/s and 2 us: a round trip of one packet alone takes
/// 8 us and two times 88.48 ns and 6.88 ns, 8.191 us.
fn far(hosts: u32) -> Graph {
    let mut graph = Graph::default();
    for host in 0..hosts {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    (0..hosts).for_each(|host| graph.link(NodeId(host), switch, GBPS_100, us(2)));
    graph
}

const ROUND_TRIP_US: f64 = 8.191;

/// A flow without end from host 0 to host 1, sampled at this interval until `end`.
fn alone(graph: Graph, congestion: congestion::Spec, sample: Duration, end: Duration) -> Spec {
    let mut spec = plain(graph, vec![flow(0, 1, FlowSpec::PERSISTENT, 0)]);
    let telemetry = congestion.needs_telemetry();
    rocev2(&mut spec, |rocev2| rocev2.telemetry = telemetry);
    control(&mut spec, congestion);
    (spec.flow_samples, spec.end) = (Some(sample), end);
    spec
}

/// Every packet is marked.
fn marked(mut spec: Spec) -> Spec {
    spec.switch.aqm = aqm::Spec::Bernoulli(bernoulli::Spec { probability: 1.0 });
    spec
}

/// Packets of the first flow that have arrived, by sample.
fn arrived(outcome: &Outcome) -> Vec<f64> {
    let table = outcome.table("deliveries");
    let rows = table.u64s("flow").iter().zip(table.u64s("delivered_bytes"));
    rows.filter(|row| *row.0 == 0).map(|row| *row.1 as f64 / 1_024.0).collect()
}

/// Packets that have arrived between two samples.
fn between(arrived: &[f64], from: usize, to: usize) -> f64 {
    arrived[to] - arrived[from]
}

/// Packets that a rate in Gb/s makes in so many microseconds.
fn packets(gbps: f64, us: f64) -> f64 {
    gbps * us * 1e3 / 8.0 / WIRE
}

#[track_caller]
fn assert_near(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() < part, "{value}, {expected} on paper");
}

fn dcqcn(change: impl Fn(&mut dcqcn::Spec)) -> congestion::Spec {
    // No timer expires unless a test sets it, and alpha stays at 1, so that a cut halves.
    let never = Duration::from_ms(1_000);
    let mut spec = dcqcn::Spec {
        alpha_timer: never,
        increase_timer: never,
        clamp_target: true,
        ..quick_dcqcn()
    };
    change(&mut spec);
    congestion::Spec::Dcqcn(spec)
}

/// One cut goes to the least rate, 50 Gb/s. A packet takes 176.96 ns then, and the first that comes 4
/// us after a CNP makes the next: every 23rd. In 1 ms 5650 packets arrive and make 245 CNPs, and a
/// dozen more arrive at the beginning.
#[test]
fn dcqcn_cnps_have_their_interval_and_rates_their_least() {
    let spec = dcqcn(|spec| spec.min_rate = floodway_model::Rate::from_gbps(50));
    let outcome = run(marked(alone(star(2), spec, us(1_000), us(1_001))));
    assert!((5_650.0..5_670.0).contains(&arrived(&outcome)[0]), "{:?}", arrived(&outcome));
    assert!(
        (244..=247).contains(&outcome.counter("cnps_sent")),
        "{}",
        outcome.counter("cnps_sent")
    );
}

/// A CNP at 0, 100 and 200 us; alpha every 30 us with g = 1/2: 1, 1/2 and 1/4 until 90 us, 5/8, 5/16
/// and 5/32 until 180 us. So cuts leave 1/2, 7/8 and 59/64: 50, 43.75 and 40.33 Gb/s.
#[test]
fn dcqcn_cuts_by_alpha() {
    let spec = dcqcn(|spec| {
        (spec.cnp_interval, spec.alpha_timer, spec.g) = (us(100), us(30), 0.5);
    });
    let outcome = run(marked(alone(star(2), spec, us(10), us(300))));
    let arrived = arrived(&outcome);
    // From 10 to 90, 110 to 190 and 210 to 290 us.
    for (from, gbps) in [(0, 50.0), (10, 43.75), (20, 43.75 * 59.0 / 64.0)] {
        assert_near(between(&arrived, from, from + 8), packets(gbps, 80.0), 0.006);
    }
}

/// Cuts halve every 35 us, and the timer increases after 10, 20 and 30 us: twice towards the target x,
/// which is the rate before the cut, and then the target grows by a first: 3/4 x, 7/8 x and
/// 15/16 x + a/2. In balance that is x, so x = 8 a = 40 Gb/s. With 45 us the fourth increase adds h to
/// the target: 31/32 x + 3/4 a + h/2 = x, 24 a + 16 h = 28 Gb/s. Cuts are as far apart as CNPs, or as
/// the NIC lets them be.
#[test]
fn dcqcn_increases_rest_where_they_make_up_for_the_cut() {
    let gbps = floodway_model::Rate::from_gbps;
    let mbps = floodway_model::Rate::from_mbps;
    let rest = |cnp, cut, additive, hyper, end: u64| {
        let spec = dcqcn(|spec| {
            (spec.cnp_interval, spec.cut_interval) = (us(cnp), us(cut));
            (spec.additive_increase, spec.hyper_increase) = (additive, hyper);
            (spec.increase_timer, spec.fast_recovery) = (us(10), 2);
        });
        let arrived = arrived(&run(marked(alone(star(2), spec, us(2_000), us(end)))));
        between(&arrived, arrived.len() - 2, arrived.len() - 1)
    };
    let mean = |parts: &[(f64, f64)]| {
        let time: f64 = parts.iter().map(|part| part.1).sum();
        parts.iter().map(|(gbps, us)| gbps * us).sum::<f64>() / time
    };
    let x = 40.0;
    let cycle = [(x / 2.0, 10.0), (0.75 * x, 10.0), (0.875 * x, 10.0), (x, 5.0)];
    for (cnp, cut) in [(35, 4), (4, 35)] {
        let found = rest(cnp, cut, gbps(5), gbps(0), 8_001);
        assert_near(found, packets(mean(&cycle), 2_000.0), 0.03);
    }
    let x = 28.0;
    let third = 0.9375 * x + 0.25;
    let cycle = [(x / 2.0, 10.0), (0.75 * x, 10.0), (0.875 * x, 10.0), (third, 10.0), (x, 5.0)];
    assert_near(rest(45, 4, mbps(500), gbps(1), 14_001), packets(mean(&cycle), 2_000.0), 0.03);
}

/// After one cut to 50 Gb/s every 113 packets halve the way to 100: the rates are 50, 75, 87.5,
/// 93.75 and 96.875 Gb/s. The cut comes when the first CNP is back, after about a dozen packets.
#[test]
fn dcqcn_counts_bytes() {
    let spec = dcqcn(|spec| {
        (spec.cnp_interval, spec.byte_counter) = (Duration::from_ms(1_000), Bytes(113 * 1_106));
    });
    let mut spec = marked(alone(star(2), spec, us(10), us(1_000)));
    spec.flows[0].bytes = 5 * 113 * 1_024;
    let outcome = run(spec);
    let stage = |gbps: f64| 113.0 * WIRE * 8.0 / gbps / 1e3;
    let stages: f64 = [50.0, 75.0, 87.5, 93.75, 96.875].into_iter().map(stage).sum();
    // Twelve packets at 100 Gb/s come before the cut and are missing at 96.875; store and forward.
    let early = 12.0 * WIRE * 8.0 / 96.875 / 1e3 - 12.0 * 0.08848;
    assert_near(fct_ps(&outcome)[0] as f64 / 1e6, stages - early + 0.49, 0.006);
}

/// A window of 10 packets of 1024 bytes for a round trip of 8.191 us. One that follows the rate holds
/// half of that after a cut to half.
#[test]
fn dcqcn_windows() {
    let found = |follows, mark: bool| {
        let spec = dcqcn(|spec| {
            spec.cnp_interval = Duration::from_ms(1_000);
            (spec.window, spec.window_follows_rate) = (Some(Duration::from_ns(820)), follows);
        });
        let spec = alone(far(2), spec, us(100), us(1_001));
        let arrived = arrived(&run(if mark { marked(spec) } else { spec }));
        between(&arrived, 1, 9)
    };
    let round_trips = 800.0 / ROUND_TRIP_US;
    // The ten packets of a round trip are there one after the other, and so are their answers.
    for (follows, mark, window) in [(false, false, 10.0), (false, true, 10.0), (true, true, 5.0)] {
        assert_near(found(follows, mark), window * round_trips, 0.1);
    }
}

fn hpcc(change: impl Fn(&mut hpcc::Spec)) -> congestion::Spec {
    let mut spec = hpcc::Spec::default();
    change(&mut spec);
    congestion::Spec::Hpcc(spec)
}

/// In balance R = R eta / U + a with U = R / B: with eta = 1/2 and a = 10 Gb/s that is 60 Gb/s. With
/// next to nothing of the link aimed at, the least rate is what is left.
#[test]
fn hpcc_rests_at_eta_and_the_increase_or_at_the_least() {
    let gbps = floodway_model::Rate::from_gbps;
    for (eta, additive, least, expected) in [(0.5, 10, 1, 60.0), (0.05, 0, 30, 30.0)] {
        let spec = hpcc(|spec| {
            (spec.eta, spec.additive_increase, spec.min_rate) = (eta, gbps(additive), gbps(least));
        });
        let arrived = arrived(&run(alone(star(2), spec, us(100), us(1_001))));
        // Telemetry makes packets 42 bytes longer.
        let expected = packets(expected, 500.0) * WIRE / (WIRE + 42.0);
        assert_near(between(&arrived, 4, 9), expected, 0.02);
    }
}

/// Two flows share the link, and one stops. The other has U = eta / 2 then: it grows by 1 Gb/s in each
/// of five round trips and doubles in the sixth.
#[test]
fn hpcc_grows_in_stages_before_it_multiplies() {
    let later = |max_stage| {
        let spec = hpcc(|spec| {
            spec.max_stage = max_stage;
            spec.additive_increase = floodway_model::Rate::from_gbps(1);
        });
        let mut spec = alone(far(3), spec, us(1), us(1_200));
        spec.flows.push(flow(2, 1, FlowSpec::PERSISTENT, 0));
        spec.flows[1].stop = Instant(1_000_000_000);
        let arrived = arrived(&run(spec));
        // The first microsecond in which it has three quarters of the link.
        let fast = |at: &usize| between(&arrived, *at, *at + 4) > packets(75.0, 4.0) * 0.963;
        (1_000..1_190).find(fast).unwrap_or(1_190) as f64 - 1_000.0
    };
    let round_trip = ROUND_TRIP_US + 0.18;
    let (five, ten) = (later(5), later(10));
    assert!(((ten - five) / (5.0 * round_trip) - 1.0).abs() < 0.2, "{five} {ten}");
    assert!((4.0 * round_trip..8.0 * round_trip).contains(&five), "{five}");
}

fn swift(change: impl Fn(&mut swift::Spec)) -> congestion::Spec {
    // No delay is short enough.
    let zero = Duration::ZERO;
    let mut spec =
        swift::Spec { base_target: zero, hop: zero, fs_range: zero, ..Default::default() };
    change(&mut spec);
    congestion::Spec::Swift(spec)
}

/// With a target of nothing a decrease leaves 1 - beta, but no less than 1 - max_mdf: of 64 packets 32,
/// 16, 8, 4, 2, 1 and a half in the round trips that follow, or 48, 36, 27, ... . The window of a round
/// trip is what was sent in it; the least window is a half, one packet in two round trips.
#[test]
fn swift_decreases_by_beta_and_at_most_by_its_bound() {
    for (beta, max_mdf, factor) in [(0.5, 0.9, 0.5_f64), (0.9, 0.25, 0.75)] {
        let spec = swift(|spec| {
            (spec.beta, spec.max_mdf) = (beta, max_mdf);
            (spec.initial_cwnd, spec.min_cwnd) = (Some(64.0), 0.5);
        });
        let arrived = arrived(&run(alone(far(2), spec, us(100), us(1_001))));
        // All windows until it is at a half, and what that adds in the rest of 400 us.
        let mut windows = vec![64.0];
        while windows[windows.len() - 1] > 0.5 {
            windows.push((windows[windows.len() - 1] * factor).max(0.5));
        }
        let rest = 400.0 / ROUND_TRIP_US - windows.len() as f64;
        let sum: f64 = windows.iter().sum::<f64>() + rest * 0.5;
        assert_near(arrived[3], sum, 0.12);
        assert_near(between(&arrived, 4, 9), 500.0 / ROUND_TRIP_US * 0.5, 0.04);
    }
}

/// With a target that is never reached the window grows by `ai` in a round trip: 4, 6, 8, ... up to 40.
#[test]
fn swift_grows_by_its_increase_up_to_the_most() {
    let spec = swift(|spec| {
        (spec.base_target, spec.ai) = (Duration::from_ms(100), 2.0);
        (spec.initial_cwnd, spec.max_cwnd) = (Some(4.0), 40.0);
    });
    let arrived = arrived(&run(alone(far(2), spec, us(82), us(820))));
    // 82 us are ten round trips: 4 + 6 + ... + 22, and after 18 of them the window is 40. Only whole packets
    // are sent, and each acknowledgement adds less than the one before: up to two in a round trip less.
    assert!((130.0 - 20.0..=130.0).contains(&arrived[0]), "{arrived:?}");
    assert_near(between(&arrived, 4, 8), 4.0 * 10.0 * 40.0, 0.02);
}

fn timely(change: impl Fn(&mut timely::Spec)) -> congestion::Spec {
    let mut spec = timely::Spec::default();
    change(&mut spec);
    congestion::Spec::Timely(spec)
}

/// Every round trip of 8.191 us is above t_high = 4 us: it leaves 1 - beta (1 - 4 / 8.191) = 0.898 of
/// the rate with beta = 1/5, from the second answer on, until the least.
#[test]
fn timely_above_its_upper_threshold() {
    let gbps = floodway_model::Rate::from_gbps;
    let spec = timely(|spec| {
        (spec.t_low, spec.t_high) = (us(1), us(4));
        (spec.beta, spec.min_rate) = (Some(0.2), gbps(10));
    });
    let arrived = arrived(&run(alone(far(2), spec, Duration::from_ns(8_191), us(820))));
    // Sample n is taken after n + 1 round trips, and what arrives was sent half a round trip before. The
    // first answer is there to compare with, and cuts begin with the second: after 6.5 round trips there
    // have been five, and after 7 six.
    let factor = 1.0 - 0.2 * (1.0 - 4.0 / ROUND_TRIP_US);
    for number in [6, 10, 14] {
        let cuts = number as i32 - 1;
        let fresh = 50.0 * (factor.powi(cuts) + factor.powi(cuts + 1));
        let found = between(&arrived, number, number + 1);
        assert_near(found, packets(fresh, ROUND_TRIP_US), 0.04);
    }
    assert_near(between(&arrived, 60, 90), packets(10.0, 30.0 * ROUND_TRIP_US), 0.02);
}

/// Datagrams of two other hosts make a queue, so that the rate of the flow falls to the least, 1 Gb/s, until
/// the queue is gone after 380 us. From there on round trips are alike: below t_low each adds 1 Gb/s. Above
/// it, without a gradient, four do, and from the fifth on each adds 3 Gb/s; or from the tenth on.
#[test]
fn timely_grows_after_a_burst() {
    let gbps = floodway_model::Rate::from_gbps;
    let found = |t_low, hyper_after| {
        let spec = timely(|spec| {
            (spec.t_low, spec.t_high, spec.beta) = (t_low, us(30), Some(1.0));
            (spec.min_rate, spec.additive_increase) = (gbps(1), gbps(1));
            (spec.hyper_increase, spec.hyper_after, spec.alpha) = (gbps(3), hyper_after, 1.0);
        });
        let mut spec = alone(far(4), spec, us(1), us(601));
        for src in [2, 3] {
            let stop = Instant(160_000_000);
            let burst = flow(src, 1, FlowSpec::PERSISTENT, 0);
            spec.flows.push(FlowSpec { workload: 1, stop, ..burst });
        }
        spec.profiles[1].transport = transport::Spec::Udp(udp::Spec::default());
        spec.profiles[1].congestion = congestion::Spec::LineRate(Default::default());
        let arrived = arrived(&run(spec));
        (between(&arrived, 459, 539), between(&arrived, 519, 599))
    };
    let growth = |gbps: f64| packets(gbps * 60.0 / ROUND_TRIP_US, 80.0);
    let (before, after) = found(us(20), 5);
    assert_near(after - before, growth(1.0), 0.08);
    let (before, after) = found(us(1), 5);
    assert_near(after - before, growth(3.0), 0.08);
    // Five round trips with 2 Gb/s less each.
    let (_, later) = found(us(1), 10);
    assert_near(after - later, packets(10.0, 80.0), 0.2);
}

/// The same with DCTCP: 1/2 of what was added in a round trip is all that a least rate leaves.
#[test]
fn rdma_dctcp_rests_at_its_least_when_all_is_marked() {
    let spec = rdma_dctcp::Spec {
        min_rate: floodway_model::Rate::from_gbps(20),
        additive_increase: Some(floodway_model::Rate(1)),
        ..Default::default()
    };
    let spec = congestion::Spec::RdmaDctcp(spec);
    let arrived = arrived(&run(marked(alone(far(2), spec, us(100), us(1_001)))));
    assert_near(between(&arrived, 4, 9), packets(20.0, 500.0), 0.02);
}

/// A window of 4 us at 100 Gb/s is 50 KB, 49 packets of 1024 bytes, in each round trip.
#[test]
fn windows_are_as_long_as_they_are_told() {
    let base_rtt = Some(us(4));
    let controls = [
        hpcc(|spec| spec.base_rtt = base_rtt),
        congestion::Spec::RdmaDctcp(rdma_dctcp::Spec { base_rtt, ..Default::default() }),
        timely(|spec| spec.window = base_rtt),
    ];
    for control in controls {
        let telemetry = if control.needs_telemetry() { 0.01 } else { 0.0 };
        let arrived = arrived(&run(alone(far(2), control, us(100), us(1_001))));
        assert_near(between(&arrived, 1, 9), 49.0 * 800.0 / (ROUND_TRIP_US + telemetry), 0.03);
    }
}

/// Nothing arrives. With four packets in flight the timer is the long one, 300 us, and with one the short
/// one, 100 us: in 1 ms and a bit three timeouts and ten.
#[test]
fn selective_repeat_has_two_timeouts() {
    let timeouts = |packets: u64| {
        let mut spec = plain(far(2), vec![flow(0, 1, packets * 1_024, 0)]);
        let recovery = recovery::selective_repeat::Spec {
            retransmit_timeout: us(300),
            retransmit_timeout_low: us(100),
            low_timeout_packets: 3,
            ..Default::default()
        };
        rocev2(&mut spec, |rocev2| {
            rocev2.recovery = recovery::Spec::SelectiveRepeat(recovery.clone());
        });
        spec.switch.queue.size = Bytes(100);
        spec.end = us(1_050);
        run(spec).counter("timeouts")
    };
    assert_eq!([timeouts(4), timeouts(1)], [3, 10]);
}

/// Every hold of 25 us a CNP comes, and each halves the rate, down to the least, 20 Gb/s. A packet takes 442.4 ns
/// then, so CNPs are 57 packets, 25.2 us, apart: 39 in 1 ms.
#[test]
fn an_indicated_rate_holds_and_has_a_least() {
    let spec = indicated_rate::Spec {
        hold: us(25),
        min_rate: floodway_model::Rate::from_gbps(20),
        ..Default::default()
    };
    let spec = congestion::Spec::IndicatedRate(spec);
    let outcome = run(marked(alone(star(2), spec, us(100), us(1_001))));
    let arrived = arrived(&outcome);
    assert_near(between(&arrived, 4, 9), packets(20.0, 500.0), 0.02);
    assert!((38..=41).contains(&outcome.counter("cnps_sent")), "{}", outcome.counter("cnps_sent"));
}
