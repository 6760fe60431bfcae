//! Database entries in whole simulations, by arithmetic: response times on an idle network, the
//! closed and the open loop, and what a receive window carries.

use std::sync::atomic::AtomicBool;

use crate::common::*;
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use floodway_sim::host::application::{self, entries};
use floodway_sim::host::congestion::{self, constant_rate, reno};
use floodway_sim::host::transport::{self, tcp, udp};
use floodway_sim::simulation::Run;
use floodway_sim::switch::aqm;
use floodway_sim::{Outcome, Simulation, Spec};

/// A byte at 100 Gb/s, in picoseconds; preamble and gap of a frame; a link's delay.
const BYTE: u64 = 80;
const GAP: u64 = 20;
const DELAY: u64 = 200_000;
const MSS: u64 = 1_448;
/// What a segment has beside its payload.
const HEADERS: u64 = 70;
const ANSWER: u64 = 64;

/// Connections with entries of one size over a star, one switch between client and server.
fn network(flows: Vec<FlowSpec>, size: u64, change: impl Fn(&mut entries::Spec)) -> Spec {
    let mut entries =
        entries::Spec { least: Bytes(size), most: Bytes(size), ..entries::Spec::default() };
    change(&mut entries);
    let mut spec = plain(star(4), flows);
    spec.profiles[0].transport = transport::Spec::Tcp(tcp::Spec::default());
    spec.profiles[0].congestion = congestion::Spec::Reno(reno::Spec::default());
    spec.profiles[0].application = Some(application::Spec::Entries(entries));
    spec.end = Duration::from_ms(2);
    spec.measured_until = Duration::from_ms(2);
    spec.sample_interval = Duration::from_ms(1);
    spec
}

fn tcp(spec: &mut Spec) -> &mut tcp::Spec {
    let transport::Spec::Tcp(tcp) = &mut spec.profiles[0].transport else { unreachable!() };
    tcp
}

fn warm(src: u32, dst: u32) -> FlowSpec {
    flow(src, dst, FlowSpec::PERSISTENT, 0)
}

/// A frame on a wire.
fn wire(payload: u64) -> u64 {
    (payload + HEADERS + GAP) * BYTE
}

/// All segments of an entry leave at once; the last one passes the switch, too; its answer comes
/// back over two links.
fn response(size: u64, answer: u64) -> u64 {
    let last = if size.is_multiple_of(MSS) { MSS } else { size % MSS };
    let full = (size - last) / MSS;
    let to_server = full * wire(MSS) + 2 * wire(last) + 2 * DELAY;
    // A shorter segment catches up with the full one before it, and waits for it in the switch.
    let behind = if full > 0 { wire(MSS) - wire(last) } else { 0 };
    to_server + behind + 2 * (wire(answer) + DELAY)
}

/// Response times in picoseconds, in order of request; those that are not complete are left out.
fn responses(outcome: &Outcome) -> Vec<u64> {
    let entries = outcome.table("entries");
    let times = entries.f64s("requested_ns").iter().zip(entries.f64s("completed_ns"));
    times
        .filter(|(_, end)| !end.is_nan())
        .map(|(from, to)| ((to - from) * 1e3).round() as u64)
        .collect()
}

#[test]
fn a_response_time_is_serialization_delays_and_the_answer() {
    // A byte, one segment, one and a byte, six, and ten, which the initial window just lets go.
    for (size, answer) in [
        (1, ANSWER),
        (MSS, ANSWER),
        (MSS + 1, ANSWER),
        (8_000, ANSWER),
        (8_000, 0),
        (8_000, 1_000),
        (10 * MSS, ANSWER),
    ] {
        let outcome =
            run(network(vec![warm(0, 1)], size, |entries| entries.answer = Bytes(answer)));
        let times = responses(&outcome);
        assert!(times.len() > 100, "{size}: {}", times.len());
        assert!(times.iter().all(|time| *time == response(size, answer)), "{size}: {times:?}");
        let entries = outcome.table("entries");
        // The server has it when the answer leaves.
        let back = (2 * (wire(answer) + DELAY)) as f64 / 1e3;
        for (arrived, completed) in
            entries.f64s("arrived_ns").iter().zip(entries.f64s("completed_ns"))
        {
            assert!(completed.is_nan() || (completed - arrived - back).abs() < 1e-3);
        }
        assert!(entries.u64s("bytes").iter().all(|bytes| *bytes == size));
    }
}

/// One entry after the other: each begins when the one before is complete, the first when the
/// connection is established.
#[test]
fn a_closed_loop_carries_an_entry_per_response_time() {
    let size = 5_000;
    let outcome = run(network(vec![warm(0, 1)], size, |_| {}));
    let entries = outcome.table("entries");
    let (requested, completed) = (entries.f64s("requested_ns"), entries.f64s("completed_ns"));
    let handshake = 4 * ((78 + GAP) * BYTE + DELAY);
    assert_eq!((requested[0] * 1e3).round() as u64, handshake);
    assert!(requested[1..].iter().eq(&completed[..completed.len() - 1]));
    let time = outcome.simulated.0 - handshake;
    assert_eq!(responses(&outcome).len() as u64, time / response(size, ANSWER));
}

/// After each entry the client thinks, for 10 us in the mean: N entries take N (R + 10 us).
#[test]
fn thinking_comes_between_entries() {
    let think = Duration::from_us(10);
    let mut spec = network(vec![warm(0, 1)], 5_000, |entries| entries.think = Some(think));
    spec.end = Duration::from_ms(40);
    let outcome = run(spec);
    let times = responses(&outcome);
    assert!(times.iter().all(|time| *time == response(5_000, ANSWER)));
    let expected = outcome.simulated.0 as f64 / (response(5_000, ANSWER) + think.0) as f64;
    // The sum of n exponential times has the standard deviation 10 us sqrt(n): five of them.
    let deviation =
        5.0 * (expected.sqrt() * think.0 as f64) / (response(5_000, ANSWER) + think.0) as f64;
    assert!((times.len() as f64 - expected).abs() < deviation, "{} of {expected}", times.len());
}

/// Poisson arrivals far below what the path carries: all but those that meet another have the
/// response time of the idle network, and none is faster.
#[test]
fn an_open_loop_at_low_load_has_the_same_response_time() {
    let interval = Duration::from_us(200);
    let mut spec = network(vec![warm(0, 1)], 5_000, |entries| entries.interval = Some(interval));
    spec.end = Duration::from_ms(100);
    let outcome = run(spec);
    let times = responses(&outcome);
    // 500 are expected, five standard deviations are 5 sqrt(500) = 112.
    assert!(times.len().abs_diff(500) < 112, "{}", times.len());
    let alone = times.iter().filter(|time| **time == response(5_000, ANSWER)).count();
    // Another comes within a response time of 2.3 us with probability 1.2 %.
    assert!(alone as f64 > 0.95 * times.len() as f64, "{alone} of {}", times.len());
    assert!(times.iter().all(|time| *time >= response(5_000, ANSWER)));
    // Whatever is under way: several at once.
    let entries = outcome.table("entries");
    let (requested, completed) = (entries.f64s("requested_ns"), entries.f64s("completed_ns"));
    assert!((1..requested.len()).any(|at| requested[at] < completed[at - 1]));
}

/// So many are under way at once, and no more.
#[test]
fn as_many_are_outstanding_as_are_asked_for() {
    let outcome = run(network(vec![warm(0, 1)], 20_000, |entries| entries.outstanding = Some(3)));
    let entries = outcome.table("entries");
    let (requested, completed) = (entries.f64s("requested_ns"), entries.f64s("completed_ns"));
    assert!(requested.len() > 100);
    for at in 3..requested.len() {
        assert_eq!(requested[at], completed[at - 3]);
    }
    assert_eq!(completed.iter().filter(|time| time.is_nan()).count(), 3);
}

/// A window of w segments carries w segments per round trip, which begins when the first of them
/// leaves and ends when its acknowledgement has come, alone in its frame because the entry never
/// ends within a run. Receivers acknowledge every segment.
#[test]
fn a_window_of_64_kb_carries_64_kb_per_round_trip() {
    let mut spec = network(vec![warm(0, 1)], 400_000_000, |_| {});
    let delay = Duration::from_us(50);
    for node in &mut spec.graph.nodes {
        node.ports.iter_mut().for_each(|end| end.delay = delay);
    }
    let tcp = tcp(&mut spec);
    (tcp.receive_window, tcp.ack_every) = (Some(Bytes(65_535)), 1);
    spec.end = Duration::from_ms(100);
    spec.warmup = Duration::from_ms(20);
    spec.measured_until = spec.end;
    let outcome = run(spec);
    let window = 65_535 / MSS;
    assert_eq!(window, 45);
    let round_trip = 2 * (wire(MSS) + wire(0)) + 4 * delay.0;
    let bytes = outcome.counter("persistent_bytes_delivered") as f64;
    let expected = (window * MSS) as f64 * 80e9 / round_trip as f64;
    // One window more or less at each end.
    assert!((bytes - expected).abs() <= (2 * window * MSS) as f64, "{bytes} of {expected}");
}

/// Reno with classic ECN (RFC 3168) behind a queue that marks in time: windows are halved without a
/// loss; what is not ECN-capable is dropped by the same decision.
#[test]
fn reno_with_classic_ecn_does_not_need_losses() {
    let sums = |ecn: Option<tcp::Feedback>| {
        let flows = (0..3).map(|src| warm(src, 3)).collect();
        let mut spec = network(flows, 80_000, |entries| entries.outstanding = Some(4));
        spec.switch.queue.size = Bytes(150_000);
        spec.switch.aqm = aqm::Spec::Step(aqm::step::Spec { threshold: Bytes(30_000) });
        tcp(&mut spec).ecn = ecn;
        let outcome = run(spec);
        ["dropped_packets", "marked_packets", "retransmitted_packets"]
            .map(|name| outcome.counter(name))
    };
    let [dropped, marked, again] = sums(Some(tcp::Feedback::Classic));
    assert!(dropped == 0 && marked > 100 && again == 0, "{dropped} {marked} {again}");
    let [dropped, marked, again] = sums(None);
    assert!(dropped > 100 && marked == 0 && again > 50, "{dropped} {marked} {again}");
}

/// From `stop` on nothing is handed over; what is under way is completed.
#[test]
fn a_stopped_client_hands_over_nothing_more() {
    let stop = Instant(1_000_000_000);
    let flows = vec![FlowSpec { stop, ..warm(0, 1) }];
    let outcome = run(network(flows, 8_000, |entries| entries.outstanding = Some(2)));
    let entries = outcome.table("entries");
    assert!(entries.f64s("requested_ns").iter().all(|at| *at < 1e6));
    assert!(entries.f64s("completed_ns").iter().all(|at| !at.is_nan()));
}

/// Datagrams at twice the link's rate through a small queue drop segments and answers: every entry
/// is completed nevertheless, by a later acknowledgement, and results do not depend on threads.
#[test]
fn what_is_lost_is_made_up_for_and_threads_make_no_difference() {
    let spec = || {
        let mut flows: Vec<FlowSpec> = (0..3).map(|src| warm(src, 3)).collect();
        flows.push(warm(3, 0));
        // Bursts of datagrams, on both ways.
        for burst in 0..40 {
            for (src, dst) in [(1, 3), (2, 3), (1, 0), (2, 0)] {
                let start = 20_000 + burst * 40_000;
                flows.push(FlowSpec { workload: 1, ..flow(src, dst, 200_000, start) });
            }
        }
        flows.sort_by_key(|flow| (flow.start, flow.src));
        let mut spec = network(flows, 8_000, |entries| {
            (entries.least, entries.most) = (Bytes(1), Bytes(85_000));
            entries.outstanding = Some(2);
        });
        spec.profiles[1].transport = transport::Spec::Udp(udp::Spec::default());
        spec.profiles[1].congestion =
            congestion::Spec::ConstantRate(constant_rate::Spec { rate: GBPS_100 });
        spec.switch.queue.size = Bytes(30_000);
        let tcp = tcp(&mut spec);
        tcp.min_rto = Duration::from_us(50);
        tcp.delayed_ack = Duration::from_us(20);
        tcp.loss_detection = tcp::LossDetection::DupAcks;
        spec.end = Duration::from_ms(5);
        spec
    };
    let outcome = run(spec());
    let lost = outcome.table("flows");
    let lost: u64 = lost
        .u64s("lost_packets")
        .iter()
        .zip(lost.u64s("workload"))
        .filter(|(_, workload)| **workload == 0)
        .map(|(lost, _)| lost)
        .sum();
    assert!(lost > 20, "{lost}");
    let entries = outcome.table("entries");
    assert!(entries.rows() > 1_000, "{}", entries.rows());
    let mut open = std::collections::BTreeMap::<u64, u64>::new();
    for (flow, completed) in entries.u64s("flow").iter().zip(entries.f64s("completed_ns")) {
        *open.entry(*flow).or_default() += u64::from(completed.is_nan());
    }
    assert!(open.values().all(|open| *open <= 2), "{open:?}");
    for threads in [2, 3] {
        let run = Run { threads, stop: &AtomicBool::new(false), watch: &|_| {} };
        let other = Simulation::new(spec()).run_with(&run);
        assert_eq!(other.fingerprint, outcome.fingerprint, "{threads} threads");
    }
}
