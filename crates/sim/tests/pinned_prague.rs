//! Parameters of Prague, each by a flow whose pacing shows its window: segments are a smoothed round-trip
//! time over the window apart (draft-briscoe-iccrg-prague-congestion-control).

use crate::common::sending::*;
use crate::common::*;
use floodway_model::{Duration, Rate};
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, prague};
use floodway_sim::host::transport::tcp::LossDetection;

const FAR: Duration = Duration::from_ms(2);
/// Acknowledgements have the option of accurate ECN feedback, 12 bytes.
const ROUND_TRIP: u64 = round_trip(FAR, FULL, ACK + 12 * 80);
const HANDSHAKE: u64 = round_trip(FAR, SYN, SYN);

/// One endless flow for so many round trips, which begins with a window of `initial`.
fn one(prague: prague::Spec, initial: u32, round_trips: u64) -> Spec {
    let mut spec = tcp_alone(GBPS_100, FAR, congestion::Spec::Prague(prague));
    tcp_of(&mut spec).initial_window = initial;
    spec.end = Duration(HANDSHAKE + round_trips * ROUND_TRIP);
    spec
}

/// Every segment is marked.
fn marked(mut spec: Spec) -> Spec {
    let end = spec.end.0;
    crowd(&mut spec, HANDSHAKE, end);
    spec
}

/// The window in each round trip after the first, by pacing.
fn windows(spec: &Spec) -> Vec<f64> {
    let (_, trace) = traced(spec);
    let sent = sent(&trace);
    // A send that an acknowledgement brings about is in the round trip that begins with it.
    let rounds = rounds(&sent, ROUND_TRIP - 1_000);
    rounds[1..].iter().map(|round| ROUND_TRIP as f64 / median_gap(round)).collect()
}

/// The first mark halves a window of 100. From then on every round trip is marked entirely: alpha is
/// 1 - (1 - g)^n in the n-th, and leaves 1 - alpha / 2. With g = 1/4 alpha is 0.25, 0.4375, 0.578, 0.684, and
/// the window 50, 43.75, 34.18, 24.30, 15.99; with 1/2 50, 37.5, 23.44, 13.18.
#[test]
fn alpha_is_the_closed_form() {
    for (g, rounds) in [(0.25_f64, 5), (0.5, 4)] {
        let reference_rtt = Duration::ZERO;
        let spec = prague::Spec { g, reference_rtt, ..Default::default() };
        // The crowd makes the round trip longer: by at most four packets of 2.4 us, and by 123 ns for each
        // segment, of which there are less than 300; together less than 50 us or 1.2 %.
        let windows = windows(&marked(one(spec, 100, 8)));
        let mut expected = 50.0;
        for (round, found) in windows[..rounds].iter().enumerate() {
            let alpha = 1.0 - (1.0 - g).powi(round as i32);
            expected *= if round == 0 { 1.0 } else { 1.0 - alpha / 2.0 };
            assert_near(*found, expected, 0.013);
        }
    }
}

/// An acknowledgement of two segments reports two marks (RFC 9768), so that the share of marks is 1, alpha with
/// g = 1/2 is 1/2 and 3/4 as above, and the window goes from 400 to 200, 150, and 93.75.
#[test]
fn accurate_feedback_tells_of_every_mark() {
    let spec = prague::Spec { g: 0.5, reference_rtt: Duration::ZERO, ..Default::default() };
    let mut spec = marked(one(spec, 400, 4));
    (tcp_of(&mut spec).ack_every, tcp_of(&mut spec).quick_acks) = (2, 0);
    // The crowd costs as above, now up to 750 segments and 2.6 %; the wait for the second of a pair, and
    // sending by pairs, up to a 94th each.
    let found = windows(&spec);
    for (found, expected) in found.iter().zip([200.0, 150.0, 93.75]) {
        assert_near(*found, expected, 0.047);
    }
}

/// Where everything is marked it ends with the least rate: at 20 Mb/s a segment of 1538 bytes takes 615.2 us.
#[test]
fn pacing_goes_down_to_the_least_rate() {
    let minimum_rate = Rate::from_mbps(20);
    let reference_rtt = Duration::ZERO;
    let spec = prague::Spec { minimum_rate, reference_rtt, ..Default::default() };
    let (_, trace) = traced(&marked(one(spec, 100, 20)));
    let sent = sent(&trace);
    assert_near(median_gap(&sent[sent.len() - 20..]), 615_200_000.0, 1e-5);
}

/// The first round trip is marked and leaves 10 of 20 packets, the others are not. In the second and the third
/// the window grows by a packet, as without a reference; in the others by (4 ms / 8 ms)^2, a quarter.
/// What grows a window is a round trip old and so smaller than it: of a packet that is a tenth less, of a quarter
/// next to nothing. In the middle of round trip n the window is 10 + 2 * 0.93 + 0.25 (n - 3.5).
#[test]
fn short_round_trips_count_as_the_reference_after_some() {
    let spec = prague::Spec {
        reference_rtt: Duration(2 * ROUND_TRIP),
        transition_rounds: 4,
        ..Default::default()
    };
    let mut spec = one(spec, 20, 20);
    // The burst comes to the switch after the handshake, and takes 2.5 us.
    let burst = HANDSHAKE + FULL + FAR.0;
    crowd(&mut spec, burst - 3_000_000, burst + 5_000_000);
    let windows = windows(&spec);
    // The crowd has kept the first burst for up to four packets of 2.4 us, a quarter of a percent.
    assert_near(windows[0], 10.0, 3e-3);
    for round in 5..18 {
        let expected = 10.0 + 2.0 * 0.93 + 0.25 * (round as f64 - 3.5);
        assert_near(windows[round - 1], expected, 0.02);
    }
}

/// All of the first ten segments are lost. After the timeout there is slow start up to half of ten, or to the
/// least window if that is more: 1, 2, 4 and 8 segments, and then one more in each round trip.
#[test]
fn slow_start_after_a_timeout_goes_to_the_least_window() {
    let spec =
        prague::Spec { minimum_window: 8, reference_rtt: Duration::ZERO, ..Default::default() };
    let mut spec = one(spec, 10, 70);
    // No probe before the timer.
    tcp_of(&mut spec).loss_detection = LossDetection::DupAcks;
    lose(&mut spec, HANDSHAKE + ROUND_TRIP, 0..10);
    let (_, trace) = traced(&spec);
    let sent = sent(&trace);
    let rounds = rounds(&sent[10..], ROUND_TRIP - 1_000);
    let (mut found, mut expected) = (0, 0);
    for (round, size) in rounds.iter().zip([1, 2, 4, 8, 9, 10, 11, 12]) {
        found += round.len();
        expected += size;
        // Pacing may leave the last one to the next round trip.
        assert!((expected - 1..=expected).contains(&found), "{found}, {expected} on paper");
    }
}
