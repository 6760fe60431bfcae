//! How windows of CUBIC grow after losses, and how HyStart++ ends slow start: by the bursts in which a flow sends on a
//! path without queues.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::Duration;
use floodway_sim::Spec;
use floodway_sim::host::congestion::hystart::SlowStart;
use floodway_sim::host::congestion::{self, cubic, reno};

/// The round trip is 64 ms, and 76 ms from the burst of 40 segments on, more than an eighth longer (RFC 9406). The
/// eighth sample of the round trip tells: eight acknowledgements of 40 have added one each, the others a quarter.
/// So it goes on for four more round trips, 56 / 4, 70 / 4, (87 + 2) / 4, (109 + 1) / 4, as the one in which it
/// began counts; then it is one in each.
#[test]
fn a_longer_round_trip_ends_slow_start() {
    let far = Duration::from_ms(32);
    let slow_start = SlowStart::HystartPp;
    let control = congestion::Spec::Reno(reno::Spec { slow_start, ..Default::default() });
    let mut spec = tcp_alone(GBPS_100, far, control);
    spec.end = Duration::from_ms(850);
    // The burst is on the first link then, the way is longer behind it.
    let burst = round_trip(far, SYN, SYN) + 2 * round_trip(far, FULL, ACK);
    detour(&mut spec, GBPS_100, Duration::from_ms(6), burst + far.0 / 2);
    let (_, trace) = traced(&spec);
    let bursts = bursts(&sent(&trace), far);
    assert_eq!(bursts[..10], [10, 20, 40, 56, 70, 87, 109, 136, 137, 138]);
}

const FAR: Duration = Duration::from_ms(2);

/// A window of 100, whose first segment is lost.
fn cut(change: impl Fn(&mut cubic::Spec)) -> Spec {
    let mut cubic = cubic::Spec::default();
    change(&mut cubic);
    let mut spec = tcp_alone(GBPS_100, FAR, congestion::Spec::Cubic(cubic));
    tcp_of(&mut spec).initial_window = 100;
    spec.end = Duration::from_ms(160);
    lose(&mut spec, 8_000_000_000, [0]);
    spec
}

fn windows(spec: &Spec) -> Vec<u64> {
    let (_, trace) = traced(spec);
    bursts(&sent(&trace), FAR)
}

/// A loss leaves 70 of 100. With a round trip of 4 ms Reno with the same average is faster: it adds 3 * 0.3 / 1.7 in
/// each (RFC 9438, section 4.3). The curve of 100 + 0.4 (t - 4.2 s)^3 grows by 21 in a second, 0.09 in each.
#[test]
fn on_a_short_path_cubic_is_reno() {
    let windows = windows(&cut(|_| {}));
    for round in [10, 20, 30] {
        // The third burst is the first whose acknowledgements add.
        let expected = 70.0 + 3.0 * 0.3 / 1.7 * (round as f64 - 2.0);
        let found = windows[round] as f64;
        assert!((found - expected).abs() <= 1.5, "{windows:?}");
    }
}

/// A second loss comes when the window W is below the 100 of the first. The flow makes room: its curve is flat at
/// 0.85 W instead of W (RFC 9438, section 4.7), where it is after (0.15 W / c)^(1/3) from 0.7 W on, 7.6 round
/// trips with W = 75 and c = 4e5.
#[test]
fn who_loses_ground_makes_room() {
    let mut spec = cut(|spec| (spec.c, spec.reno_friendly) = (4e5, false));
    let (_, trace) = traced(&spec);
    let sent = sent(&trace);
    let before = bursts(&sent, FAR);
    let (first, window) = (before[..4].iter().sum::<u64>() as usize, before[4] as f64);
    assert!((70.0..95.0).contains(&window), "{before:?}");
    lose(&mut spec, 40_000_000_000, [sent[first].1]);
    let after = windows(&spec);
    // The burst that repeats comes next, then growth begins.
    for round in 11..14 {
        assert!((after[round] as f64 - 0.85 * window).abs() <= 2.0, "{after:?}");
    }
}
