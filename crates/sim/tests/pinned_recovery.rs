//! What TCP does about losses, reordering and idle time: timelines to the picosecond, and the bursts in which it
//! sends.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Duration, Ecn, FlowSpec, Graph, Instant, NodeId, Rate};
use floodway_sim::Spec;
use floodway_sim::host::application::{self, interactive};
use floodway_sim::host::congestion::{self, reno};
use floodway_sim::host::transport::tcp::{Feedback, LossDetection};
use floodway_sim::switch::path::{self as ways, spray};

const FAR: Duration = Duration::from_ms(2);
const HANDSHAKE: u64 = round_trip(FAR, SYN, SYN);
const ROUND_TRIP: u64 = round_trip(FAR, FULL, ACK);
/// From the sending of a segment to its arrival.
const THERE: u64 = FAR.0 + 2 * LAST + 3 * FULL;

fn reno() -> congestion::Spec {
    congestion::Spec::Reno(reno::Spec::default())
}

/// A message of so many segments.
fn message(segments: u64) -> Spec {
    let mut spec = tcp_alone(GBPS_100, FAR, reno());
    spec.flows = vec![flow(0, 1, segments * 1_448, 0)].into();
    spec.end = Duration::from_ms(10_000);
    spec
}

/// The seventh of nine segments is lost. Two that were sent later are reported as arrived, so it is given a
/// quarter of the shortest round-trip time, that of the handshake, in which it may yet come (RFC 8985, section
/// 6.2): it is sent again a round trip and that after it was sent first.
#[test]
fn a_segment_may_be_overtaken_for_a_quarter_of_a_round_trip() {
    let mut spec = message(9);
    lose(&mut spec, 2 * ROUND_TRIP, [6]);
    let outcome = run(spec);
    // An acknowledgement with a selective block has 12 bytes more.
    let latest = round_trip(FAR, FULL, ACK + 12 * 80);
    let again = HANDSHAKE + 6 * FULL + latest + HANDSHAKE / 4;
    assert_eq!(fct_ps(&outcome), [again + THERE]);
}

/// Three paths between the switches that packets take alternately; this one is longer by two and a half segments, so that
/// what takes it arrives after the next two.
fn by_turns(long: usize) -> Spec {
    let mut graph = Graph::default();
    for host in 0..4 {
        graph.add(format!("host {host}"), NodeKind::Host);
    }
    let tier = NodeKind::Switch { tier: 0 };
    let [left, right] = ["left", "right"].map(|name| graph.add(name, tier));
    graph.link(NodeId(0), left, GBPS_100, FAR);
    for way in 0..3 {
        let middle = graph.add(format!("way {way}"), tier);
        let delay = if way == long { LAST + FULL * 5 / 2 } else { LAST };
        graph.link(left, middle, GBPS_100, Duration(delay));
        graph.link(middle, right, GBPS_100, Duration(LAST));
    }
    graph.link(right, NodeId(1), GBPS_100, Duration(LAST));
    for host in [2, 3] {
        graph.link(NodeId(host), left, GBPS_100, NS_200);
    }
    // Ten segments go, and their acknowledgements come back.
    let mut spec = message(1);
    spec.flows = vec![flow(0, 1, FlowSpec::PERSISTENT, 0)].into();
    spec.end = Duration(HANDSHAKE + ROUND_TRIP + 1_000_000_000);
    spec.graph = graph;
    spec.switch.path = ways::Spec::Spray(spray::Spec { order: spray::Order::RoundRobin });
    spec
}

/// Two segments that overtake another are no reason to repeat it, by number (RFC 6675: three) or by time (RFC 8985:
/// a quarter of a round trip, unless three have).
#[test]
fn a_segment_may_be_overtaken_by_two() {
    let all = [LossDetection::Rack, LossDetection::DupAcks];
    for (detection, long) in all.into_iter().flat_map(|one| (0..3).map(move |way| (one, way))) {
        let mut spec = by_turns(long);
        tcp_of(&mut spec).loss_detection = detection;
        let outcome = run(spec);
        assert!(outcome.counter("reordered_packets") >= 2, "{detection:?} {long}");
        assert_eq!(outcome.counter("retransmitted_packets"), 0, "{detection:?} {long}");
    }
}

/// The first of two segments is acknowledged, the second is lost until the timer expires. Samples are the handshake H
/// and the round trip R: RTTVAR is 3/4 H/2 + |H - R|/4, SRTT 7/8 H + R/8, and the timeout SRTT and four times
/// RTTVAR (RFC 6298, section 2).
#[test]
fn the_timeout_is_that_of_two_samples() {
    let mut spec = message(2);
    let tcp = tcp_of(&mut spec);
    (tcp.initial_window, tcp.min_rto) = (1, Duration::from_us(1));
    // No probe before the timer.
    tcp.loss_detection = LossDetection::DupAcks;
    lose(&mut spec, 3 * ROUND_TRIP, [1]);
    let outcome = run(spec);
    let variation = (3 * (HANDSHAKE / 2) + (ROUND_TRIP - HANDSHAKE)) / 4;
    let timeout = (7 * HANDSHAKE + ROUND_TRIP) / 8 + 4 * variation;
    assert_eq!(fct_ps(&outcome), [HANDSHAKE + ROUND_TRIP + timeout + THERE]);
}

/// All of ten segments are lost. After the timeout the window is one, and slow start goes on to half of ten: 1, 2, 4
/// and the other three (RFC 5681, section 3.1).
#[test]
fn a_timeout_leaves_one_segment() {
    let mut spec = message(10);
    tcp_of(&mut spec).loss_detection = LossDetection::DupAcks;
    lose(&mut spec, 2 * ROUND_TRIP, 0..10);
    let (_, trace) = traced(&spec);
    assert_eq!(bursts(&sent(&trace), Duration::from_ms(1)), [10, 1, 2, 4, 3]);
}

/// A frame of 70 segments goes in bursts of 10, 20 and 40, after which the window is 80. The next comes 400 ms after
/// it was made, 388 ms after the last segment, which is one timeout of 204 ms and part of another: the window
/// is halved once (RFC 2861).
#[test]
fn an_idle_window_is_halved() {
    let interval = Duration::from_ms(400);
    let rate = Rate(70 * 1_448 * 8 * 10 / 4);
    let video = interactive::Spec {
        frame_interval: interval,
        start_rate: rate,
        min_rate: rate,
        max_rate: rate,
        ..Default::default()
    };
    let mut spec = message(1);
    let stop = Instant(interval.0 + 1_000_000_000);
    spec.flows = vec![FlowSpec { stop, ..flow(0, 1, FlowSpec::PERSISTENT, 0) }].into();
    spec.profiles[0].application = Some(application::Spec::Interactive(video));
    let (_, trace) = traced(&spec);
    assert_eq!(bursts(&sent(&trace), Duration::from_ms(1)), [10, 20, 40, 40, 30]);
}

/// With classic ECN a segment is ECN-capable when it is sent first and not when it is repeated (RFC 3168, section
/// 6.1.5).
#[test]
fn what_is_repeated_is_not_ecn_capable() {
    let mut spec = message(10);
    tcp_of(&mut spec).ecn = Some(Feedback::Classic);
    lose(&mut spec, 2 * ROUND_TRIP, [3]);
    let (_, trace) = traced(&spec);
    let copies = trace.iter().filter(|sent| {
        let third = matches!(sent.packet.body, floodway_model::Body::Segment { psn: 3, .. });
        third && sent.to.0 == LEFT
    });
    let fields: Vec<Ecn> = copies.map(|sent| sent.packet.ecn()).collect();
    assert_eq!(fields, [Ecn::Ect0, Ecn::NotEct]);
}

/// A receiver has room for ten segments, so that a frame of 70 takes seven round trips of 4 ms. Of the frames that are
/// due every 10 ms two are left out, as the one before has not been sent: in 295 ms ten are made.
#[test]
fn a_frame_waits_for_the_one_before() {
    let interval = Duration::from_ms(10);
    let rate = Rate(70 * 1_448 * 8 * 100);
    let video = interactive::Spec {
        frame_interval: interval,
        start_rate: rate,
        min_rate: rate,
        max_rate: rate,
        ..Default::default()
    };
    let mut spec = message(1);
    tcp_of(&mut spec).receive_window = Some(Bytes(10 * 1_448));
    let stop = Instant(295_000_000_000);
    spec.flows = vec![FlowSpec { stop, ..flow(0, 1, FlowSpec::PERSISTENT, 0) }].into();
    spec.end = Duration::from_ms(290);
    spec.profiles[0].application = Some(application::Spec::Interactive(video));
    let (outcome, _) = traced(&spec);
    // The tenth is on its way.
    assert_eq!(outcome.table("frames").u64s("bytes"), [70 * 1_448; 10]);
}
