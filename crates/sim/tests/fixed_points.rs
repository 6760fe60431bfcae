//! Where flows and queue management settle, in whole simulations, against theory.

use std::num::NonZeroU32;

use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use floodway_sim::host::congestion::{self, cubic};
use floodway_sim::host::transport::{self, tcp};
use floodway_sim::switch::aqm::{self, bernoulli, dualq, regular, step};
use floodway_sim::switch::{classify, scheduler};
use floodway_sim::{Outcome, Spec};

/// Payload of a frame of 1500 bytes; there is neither preamble nor gap.
const MSS: u64 = 1_430;
const WARMUP: u64 = 20;
/// The rate of a link that is never full.
const FREE: Rate = Rate::from_gbps(1);

/// `senders` hosts and one that receives, by links of this rate to it and of ten times that from
/// them, with half of the round-trip time to each.
fn funnel(senders: u32, rate: Rate, round_trip: Duration) -> Graph {
    let mut graph = Graph::default();
    for host in 0..=senders {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let switch = graph.add("switch", NodeKind::Switch { tier: 0 });
    let delay = Duration(round_trip.0 / 4);
    graph.link(NodeId(0), switch, rate, delay);
    (1..=senders).for_each(|host| graph.link(NodeId(host), switch, Rate(rate.0 * 10), delay));
    graph
}

/// Long flows from all senders, for so many seconds after the warm-up.
fn long_flows(
    (senders, rate, round_trip): (u32, Rate, Duration),
    congestion: congestion::Spec,
    aqm: aqm::Spec,
    seconds: u64,
) -> Spec {
    let flows = (1..=senders).map(|src| flow(src, 0, FlowSpec::PERSISTENT, u64::from(src) * 1_000));
    let mut spec = plain(funnel(senders, rate, round_trip), flows.collect());
    for profile in &mut spec.profiles {
        let tcp = tcp::Spec { mss: Bytes(MSS), ..Default::default() };
        profile.transport = transport::Spec::Tcp(tcp);
        profile.congestion = congestion.clone();
    }
    spec.wire_overhead = 0;
    spec.switch.aqm = aqm;
    spec.departures = true;
    spec.warmup = Duration::from_ms(WARMUP * 1_000);
    spec.end = Duration::from_ms((WARMUP + seconds) * 1_000);
    spec.measured_until = spec.end;
    spec.sample_interval = Duration::from_ms(10);
    spec
}

fn reno() -> congestion::Spec {
    congestion::Spec::Reno(Default::default())
}

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// The mean waiting time in a data queue of the port to host 0, in milliseconds.
fn waits(outcome: &Outcome, queue: u64) -> f64 {
    let table = outcome.table("sojourns");
    let mut rows = table.u64s("port").iter().zip(table.u64s("queue"));
    let place = rows.position(|row| row == (&0, &queue)).unwrap();
    table.f64s("mean_sojourn_ns")[place] / 1e6
}

/// The part of the measurement during which the link to host 0 sent data.
fn utilization(outcome: &Outcome, rate: Rate) -> f64 {
    let seconds = outcome.counter("measured_ns") as f64 / 1e9;
    let frames = outcome.counter("data_bytes_delivered") as f64 / MSS as f64;
    frames * 1_500.0 * 8.0 / (rate.0 as f64 * seconds)
}

fn assert_near(value: f64, theory: f64, tolerance: f64, what: &str) {
    let off = value / theory - 1.0;
    assert!(off.abs() < tolerance, "{what}: {value}, {theory} in theory");
}

/// The average window of one flow when packets meet congestion with probability `p`, in packets.
fn window(congestion: congestion::Spec, round_trip: Duration, p: f64, seconds: u64) -> f64 {
    let aqm = aqm::Spec::Bernoulli(bernoulli::Spec { probability: p });
    window_under(aqm, congestion, round_trip, seconds)
}

/// The same when one packet in `packets` does, at even distances.
fn regular_window(
    congestion: congestion::Spec,
    round_trip: Duration,
    packets: u32,
    seconds: u64,
) -> f64 {
    window_under(every(packets), congestion, round_trip, seconds)
}

/// One packet in `packets` meets congestion, at even distances.
fn every(packets: u32) -> aqm::Spec {
    aqm::Spec::Regular(regular::Spec { packets: NonZeroU32::new(packets).unwrap() })
}

fn window_under(
    aqm: aqm::Spec,
    congestion: congestion::Spec,
    round_trip: Duration,
    seconds: u64,
) -> f64 {
    window_in(beside_free_links(aqm, congestion, round_trip, seconds), round_trip, seconds)
}

/// One long flow that never fills a link.
fn beside_free_links(
    aqm: aqm::Spec,
    congestion: congestion::Spec,
    round_trip: Duration,
    seconds: u64,
) -> Spec {
    let mut spec = long_flows((1, FREE, round_trip), congestion, aqm, seconds);
    spec.switch.queue.size = Bytes(1_000_000_000);
    spec
}

/// What is delivered in a round-trip time of the path, in packets.
fn window_in(spec: Spec, round_trip: Duration, seconds: u64) -> f64 {
    let outcome = run(spec);
    assert!(utilization(&outcome, FREE) < 0.5);
    let packets = outcome.counter("data_bytes_delivered") as f64 / MSS as f64;
    packets * round_trip.as_secs() / seconds as f64
}

/// 1.22/sqrt(p) for even losses (Mathis et al., 1997). That they are random makes the average larger
/// by 7 % (Ott, Kemperman and Mathis, 1996: 1.31), and a round trip without growth after each
/// smaller by about half a packet. 20,000 windows of 40 packets have 800 losses: the average is good
/// to 2 %.
#[test]
fn reno_has_the_window_of_its_law() {
    for p in [0.001, 0.004] {
        let window = window(reno(), ms(10), p, 200);
        assert_near(window, 1.22 / p.sqrt(), 0.1, &format!("probability {p}"));
    }
}

/// With one mark in n packets, alpha is 1/n, and half of it takes less than a packet from any window below 2n: nothing
/// is taken. The window grows by a packet when as many acknowledgements have come in a row as it has packets, and
/// none counts in the round trip after a mark. So it rests as soon as what is left of n after that round trip is
/// less than the window: from below at n/2 + 1, rounded down, a quarter of 2/p. Every packet is acknowledged by itself,
/// because an acknowledgement of two may end the round trip and count for nothing, which makes a packet's difference.
#[test]
fn dctcp_rests_at_half_the_distance_of_even_marks() {
    for packets in [100, 61, 40] {
        let dctcp = congestion::Spec::Dctcp(Default::default());
        let mut spec = beside_free_links(every(packets), dctcp, ms(10), 20);
        for profile in &mut spec.profiles {
            let tcp = tcp::Spec { mss: Bytes(MSS), ack_every: 1, ..Default::default() };
            profile.transport = transport::Spec::Tcp(tcp);
        }
        let window = window_in(spec, ms(10), 20);
        assert_near(window, f64::from(packets / 2 + 1), 0.002, &format!("one packet in {packets}"));
    }
}

/// Of n packets one is lost. The window grows by one packet in each round trip from W/2 to W and stays at
/// W/2 for the one of the recovery, in which n packets leave: 3/8 W^2 + 3/4 W + W/2 = n, in W/2 + 2 round
/// trips. For n = 1000 W is 50.0 and the average 37.0; for n = 250, 24.2 and 17.7. Without the recovery
/// the average is 1.22 sqrt(n), 38.7 and 19.4.
#[test]
fn reno_has_the_window_of_even_losses() {
    for (packets, theory) in [(1_000, 37.0), (250, 17.7)] {
        let window = regular_window(reno(), ms(10), packets, 100);
        assert_near(window, theory, 0.03, &format!("one packet in {packets}"));
    }
}

/// 1.054 (RTT/p)^(3/4) (RFC 9438, section 5.1 with C = 0.4 and beta = 0.7): 33.3 and 82.2 packets. A loss
/// comes every 30 and 41 round trips, one of which goes by in recovery at 0.7 of the largest window.
///
/// The fixed point is flat: the window at a loss is W + 0.4 (t - K)^3, where t - K is near 0, and is a whole
/// number, so that windows stay where they are as long as t is within 1.4 s of K, a third of the time
/// between losses: the average may be a tenth from the law (8 % above it for one packet in 3,333).
#[test]
fn cubic_has_the_window_of_even_losses() {
    let spec = cubic::Spec { reno_friendly: false, fast_convergence: false, ..Default::default() };
    for (packets, theory) in [(1_000, 33.3), (3_333, 82.2)] {
        let cubic = congestion::Spec::Cubic(spec.clone());
        let window = regular_window(cubic, ms(100), packets, 1_000);
        assert_near(window, theory, 0.1, &format!("one packet in {packets}"));
    }
}

/// The average of the cubic function of RFC 9438, figure 1, with c 0.4 and beta 0.7, if every packet
/// is lost with probability p.
fn cubic_on_paper(round_trip: f64, p: f64) -> f64 {
    let mut rng = Stream::named(7, "losses");
    let (mut sum, mut maximum, mut t) = (0.0, 10.0f64, 0.0);
    let rounds = 1_000_000;
    for _ in 0..rounds {
        let k = (maximum * 0.3 / 0.4).cbrt();
        let window = (maximum + 0.4 * (t - k) * (t - k) * (t - k)).max(1.0);
        sum += window;
        t += round_trip;
        if rng.bernoulli(1.0 - (-p * window).exp()) {
            (maximum, t) = (window, 0.0);
        }
    }
    sum / f64::from(rounds)
}

/// For even losses RFC 9438 has 1.054 (RTT/p)^(3/4), which is 33 and 82 packets; for random ones it
/// is more, because long times without loss count more than their share with a function that
/// grows by their third power. There are 1,000 and 640 losses, with which the average is good to
/// some 5 %, because a window is remembered for several of them.
#[test]
fn cubic_has_the_window_of_its_law() {
    let spec = cubic::Spec { reno_friendly: false, fast_convergence: false, ..Default::default() };
    for p in [0.001, 0.0003] {
        let theory = cubic_on_paper(0.1, p);
        let even = 1.054 * (0.1 / p).powf(0.75);
        assert!((1.0..1.3).contains(&(theory / even)), "{theory} and {even}");
        let window = window(congestion::Spec::Cubic(spec.clone()), ms(100), p, 2_500);
        assert_near(window, theory, 0.15, &format!("probability {p}"));
    }
}

/// Two marks in a round trip, of which one reduces the window by p/2: 2/p. That reductions are
/// rounded down to whole packets makes it 1.8/p (derived beside the algorithm).
#[test]
fn dctcp_has_the_window_of_its_law() {
    for p in [0.01, 0.05] {
        let dctcp = congestion::Spec::Dctcp(Default::default());
        let window = window(dctcp, ms(10), p, 50);
        assert_near(window, 1.82 / p, 0.05, &format!("probability {p}"));
    }
}

/// The window goes round between the product of bandwidth and delay plus the threshold plus one, and
/// half its square root of twice that less (Alizadeh et al., 2010, equation 8): 5 packets below the
/// threshold plus one for 33 + 20 packets. The link is never idle if the threshold is above a
/// seventh of the product, which is 5 packets.
#[test]
fn dctcp_keeps_the_queue_at_the_threshold_and_the_link_busy() {
    let (rate, round_trip) = (Rate::from_mbps(400), ms(1));
    let product = 400e6 / 8.0 * 1e-3 / 1_500.0;
    for packets in [10u32, 20, 40] {
        assert!(f64::from(packets) > product / 7.0);
        let aqm = aqm::Spec::Step(step::Spec { threshold: Bytes(1_500 * u64::from(packets)) });
        let dctcp = congestion::Spec::Dctcp(Default::default());
        let spec = long_flows((1, rate, round_trip), dctcp, aqm, 10);
        let outcome = run(spec);
        let queue = waits(&outcome, 0) * 1e-3 * 400e6 / 8.0 / 1_500.0;
        let swing = (2.0 * (product + f64::from(packets))).sqrt() / 2.0;
        // A departing packet has seen the queue that it found, and marks come a round trip later.
        let range = f64::from(packets) + 1.0 - swing..f64::from(packets) + 1.0;
        assert!(range.contains(&queue), "{queue} packets with a threshold of {packets}");
        assert!(utilization(&outcome, rate) > 0.999);
    }
}

/// A packet is dropped by the square of its waiting time over 2^29 ns, and N flows of Reno at 40 Mb/s
/// and a base round trip of 8 ms, with 1.22/sqrt(p) packets of 1500 bytes each, fill the link if
/// q (q + 8 ms) = 1.22 * 2^29 ns * N * 0.3 ms.
#[test]
fn classic_flows_wait_in_a_dual_queue_as_long_as_algebra_says() {
    for (flows, table) in [(1, 11.0), (2, 16.0), (5, 28.0), (10, 41.0)] {
        let product = 1.22 * f64::from(1 << 29) * 1e-6 * f64::from(flows) * 0.3;
        let theory = (16.0 + product).sqrt() - 4.0;
        assert!((theory - table).abs() < 0.6, "{theory} and {table}");
        let rate = Rate::from_mbps(40);
        let aqm = aqm::Spec::DualQ(dualq::Spec::default());
        let mut spec = long_flows((flows, rate, ms(8)), reno(), aqm, 100);
        spec.switch.queue.count = 2;
        spec.switch.classify = classify::Spec::Ecn(Default::default());
        let outcome = run(spec);
        assert!(utilization(&outcome, rate) > 0.99, "{flows} flows");
        // What the law of Reno itself is good for.
        assert_near(waits(&outcome, 1), theory, 0.1, &format!("{flows} flows"));
    }
}

/// The mean waiting time of five flows of Reno at 40 Mb/s with a base round trip of 20 ms.
fn mean_wait(aqm: aqm::Spec) -> f64 {
    let rate = Rate::from_mbps(40);
    let two = aqm.is_for_two_queues();
    let mut spec = long_flows((5, rate, ms(20)), reno(), aqm, 100);
    if two {
        spec.switch.queue.count = 2;
        spec.switch.classify = classify::Spec::Ecn(Default::default());
        spec.switch.scheduler = scheduler::Spec::Wrr(Default::default());
    }
    let outcome = run(spec);
    assert!(utilization(&outcome, rate) > 0.99);
    waits(&outcome, u64::from(two))
}

/// An integral controller has no steady error: what is left is that a probability cannot be below
/// zero.
#[test]
fn controllers_hold_the_delay_that_they_aim_at() {
    let controllers = [
        (aqm::Spec::Pie(Default::default()), 15.0),
        (aqm::Spec::Pi2(Default::default()), 20.0),
        (aqm::Spec::DualPi2(Default::default()), 15.0),
    ];
    for (aqm, target) in controllers {
        let name = aqm.name();
        assert_near(mean_wait(aqm), target, 0.05, name);
    }
}

/// CoDel drops while packets wait for more than 5 ms, and lets Reno come back until then: the mean is
/// above that, and by less than the queue of a window for five flows: 25 packets, 7.5 ms.
#[test]
fn codel_keeps_the_delay_near_its_target() {
    let waits = mean_wait(aqm::Spec::Codel(Default::default()));
    assert!((4.0..12.5).contains(&waits), "{waits} ms");
}
