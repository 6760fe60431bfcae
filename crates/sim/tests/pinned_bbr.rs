//! Parameters of BBR, versions 1 and 3, each by what one flow sends into a bottleneck: the gaps that pacing
//! leaves, and what is in flight.

use crate::common::sending::*;
use crate::common::*;
use floodway_model::{Duration, FlowSpec, Instant, Rate};
use floodway_sim::Sent;
use floodway_sim::Spec;
use floodway_sim::host::congestion::{self, bbr, bbr3, constant_rate};
use floodway_sim::host::transport;

const FAR: Duration = Duration::from_ms(2);
const MS: u64 = 1_000_000_000;
/// A segment at 100 Mb/s, so long is the gap at the bandwidth. The shortest round trip, that of the handshake,
/// is 4 ms and two SYNs of 7.84 us: 32.64 segments.
const SEGMENT: u64 = 123_040_000;
/// The round trip of a segment alone.
const ROUND_TRIP: u64 = 2 * FAR.0 + SEGMENT + 7_200_000 + 2 * (FULL + ACK) + 4 * LAST;

/// The defaults, but ProbeBW and ProbeRTT do not begin by themselves.
fn version_3(change: impl Fn(&mut bbr3::Spec)) -> congestion::Spec {
    let never = Duration::from_ms(100_000);
    let mut spec = bbr3::Spec {
        probe_wait: never,
        probe_wait_spread: Duration::ZERO,
        probe_rtt_interval: never,
        ..Default::default()
    };
    change(&mut spec);
    congestion::Spec::Bbr3(spec)
}

fn version_1(change: impl Fn(&mut bbr::Spec)) -> congestion::Spec {
    let mut spec = bbr::Spec::default();
    change(&mut spec);
    congestion::Spec::Bbr(spec)
}

fn one(mbps: u64, control: congestion::Spec, ms: u64) -> Spec {
    let mut spec = tcp_alone(Rate::from_mbps(mbps), FAR, control);
    (spec.end, spec.measured_until) = (Duration::from_ms(ms), Duration::from_ms(ms));
    spec
}

/// How many gaps are those of this gain, with a margin of a hundredth.
fn paced(trace: &[Sent], gain: f64) -> usize {
    let expected = SEGMENT as f64 / gain / 0.99;
    let near = |gap: &&u64| (**gap as f64 / expected - 1.0).abs() < 0.002;
    gaps(&sent(trace)).iter().filter(near).count()
}

/// The most that is in flight between two times, in milliseconds.
fn most(trace: &[Sent], from: u64, until: u64) -> u32 {
    let within = |row: &&(u64, u32)| (from * MS..until * MS).contains(&row.0);
    in_flight(trace).iter().filter(within).map(|row| row.1).max().unwrap()
}

/// The bandwidth is found to be that of the bottleneck, so that gaps are its time for a segment over gain and
/// margin: in Drain, in the phases that probe and drain again, and between them.
#[test]
fn gaps_are_those_of_the_gains() {
    let (_, trace) =
        traced(&one(100, version_3(|spec| spec.probe_wait = Duration::from_ms(50)), 400));
    for gain in [0.35, 0.9, 1.0, 1.25] {
        assert!(paced(&trace, gain) >= 8, "{gain}: {}", paced(&trace, gain));
    }
    let (_, trace) = traced(&one(100, version_1(|_| {}), 400));
    for gain in [1.0 / 2.885, 0.75, 1.0, 1.25] {
        assert!(paced(&trace, gain) >= 8, "{gain}: {}", paced(&trace, gain));
    }
}

/// Times from the end of a probe to the beginning of the next, in milliseconds.
fn waits(spec: &Spec) -> Vec<f64> {
    let (_, trace) = traced(spec);
    let sent = sent(&trace);
    let probing = SEGMENT as f64 / 1.25 / 0.99;
    let up: Vec<u64> = sent
        .windows(2)
        .filter(|two| ((two[1].0 - two[0].0) as f64 / probing - 1.0).abs() < 0.002)
        .map(|two| two[0].0)
        .collect();
    let pauses = up.windows(2).map(|two| (two[1] - two[0]) as f64 / MS as f64);
    pauses.filter(|ms| *ms > 10.0).collect()
}

/// After a probe comes the wait, and then a round trip of REFILL, 4.13 ms and some gaps.
///
/// UP sends at 1.2375 for three rounds, so that queues in parts of the path are 0.24, 0.53 and 0.90; DOWN at 0.891,
/// so that they are 0.90, 0.70, 0.51, 0.35, 0.20 and 0.07 in its rounds, which are longer by their sum, 2.73.
#[test]
fn probes_for_bandwidth_come_after_their_wait() {
    let found = waits(&one(100, version_3(|spec| spec.probe_wait = Duration::from_ms(50)), 600));
    assert!(found.len() >= 5, "{found:?}");
    assert!(found.iter().all(|ms| (54.0..57.0).contains(ms)), "{found:?}");
    // Evenly from 20 to 80: the mean of so many is good to 17.3 / sqrt(n), five times that here.
    let spec = version_3(|spec| {
        spec.probe_wait = Duration::from_ms(20);
        spec.probe_wait_spread = Duration::from_ms(60);
    });
    let found = waits(&one(100, spec, 3_000));
    assert!(found.iter().all(|ms| (24.0..87.0).contains(ms)), "{found:?}");
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    let five = 5.0 * 17.3 / (found.len() as f64).sqrt();
    assert!((54.0 - five..57.0 + five).contains(&mean), "{mean}, {five}");
    // Nine rounds or ten, REFILL, and the queues: 12.73 or 13.73, each up to a gap, 3 %, longer.
    let found = waits(&one(100, version_3(|spec| spec.probe_rounds = 10), 600));
    assert!(found.len() >= 5, "{found:?}");
    let round = ROUND_TRIP as f64 / MS as f64;
    assert!(found.iter().all(|ms| (12.73 * round..13.73 * 1.03 * round).contains(ms)), "{found:?}");
}

/// A tenth of the path are 3.3 segments, less than the least window of 8: in ProbeRTT as many are sent in each round
/// trip of 4.13 ms and up to a gap, 0.13 ms. There are 11 of these in 50 ms, and a part of one.
#[test]
fn version_3_probes_the_round_trip_with_its_least_window() {
    let spec = version_3(|spec| {
        spec.probe_rtt_interval = Duration::from_ms(200);
        spec.probe_rtt_time = Duration::from_ms(100);
        (spec.probe_rtt_cwnd_gain, spec.min_window) = (0.1, 8);
    });
    let (_, trace) = traced(&one(100, spec, 400));
    let sent = sent(&trace);
    let within =
        |from: u64| sent.iter().filter(|row| (from..from + 50 * MS).contains(&row.0)).count();
    let least = (100..350).map(|ms| within(ms * MS)).min().unwrap();
    assert!((88..=97).contains(&least), "{least}");
}

/// In Startup the window grows up to twice the path, 65.3 segments; with another gain it is 97.9.
#[test]
fn startup_has_its_window() {
    for (gain, window) in [(2.0, 66), (3.0, 98)] {
        let spec = version_3(|spec| (spec.startup_cwnd_gain, spec.extra_acked_gain) = (gain, 0.0));
        let (_, trace) = traced(&one(100, spec, 100));
        let found = most(&trace, 0, 100);
        // The bandwidth is found from below.
        assert!((window - 1..=window).contains(&found), "{found}");
    }
}

/// The window of version 3 is the path times its gain, 24.5 segments with 0.75, and what comes in a bunch: of 16
/// that are acknowledged together 16, or one more by rounding.
#[test]
fn version_3_has_its_window() {
    for (every, windows) in [(1, [25, 26]), (16, [41, 42])] {
        let spec = version_3(|spec| spec.cwnd_gain = 0.75);
        let mut spec = one(100, spec, 130);
        (tcp_of(&mut spec).ack_every, tcp_of(&mut spec).quick_acks) = (every, 100);
        let (_, trace) = traced(&spec);
        let found = most(&trace, 90, 130);
        assert!(windows.contains(&found), "{every}: {found}");
    }
}

/// At 1 Gb/s the path has 325.2 segments, and a send quantum 64 KB or 45 segments, because a millisecond has more. Version 1
/// adds three quanta and one segment, makes it even, and while it probes adds two more, which it does for ever if a quarter
/// more than the path and three quanta do not fit into the window: 1.1 times the path are 358, with 136 more 494, the
/// window 496. With 1.0 and bunches of 16 it is 326 + 136 + 16, so 480, once the larger bunches of Startup have been
/// forgotten.
#[test]
fn version_1_has_its_window() {
    for (gain, extra, every, window) in [(1.1, 0.0, 1, 496), (1.0, 1.0, 16, 480)] {
        let spec = version_1(|spec| (spec.cwnd_gain, spec.extra_acked_gain) = (gain, extra));
        let mut spec = one(1_000, spec, 250);
        (tcp_of(&mut spec).ack_every, tcp_of(&mut spec).quick_acks) = (every, 200);
        let (_, trace) = traced(&spec);
        assert_eq!(most(&trace, 200, 250), window, "{every}");
    }
}

/// Datagrams of host 2 from one time to another, in milliseconds.
fn datagrams(spec: &mut Spec, mbps: u64, from: u64, until: u64) {
    spec.profiles[1].transport = transport::Spec::Udp(Default::default());
    let rate = Rate::from_mbps(mbps);
    spec.profiles[1].congestion = congestion::Spec::ConstantRate(constant_rate::Spec { rate });
    let [start, stop] = [from, until].map(|ms| Instant(ms * MS));
    spec.flows.push(FlowSpec { start, stop, workload: 1, ..flow(2, 1, FlowSpec::PERSISTENT, 0) });
}

/// Datagrams take half of the link. A probe with 1.25 x finds x = 1.25 x / (1.25 x + 0.5), so x goes to 0.6, and
/// what is in flight in ProbeBW to at most 2.25 * 0.6 * 32.64 + 2 = 46, when the bandwidth before has been
/// forgotten. If that was remembered it would be 75.
#[test]
fn version_3_forgets_a_bandwidth() {
    let mut spec = one(100, version_3(|spec| spec.probe_wait = Duration::from_ms(30)), 1_500);
    datagrams(&mut spec, 50, 300, 1_500);
    let (_, trace) = traced(&spec);
    assert!(most(&trace, 1_000, 1_500) <= 48, "{}", most(&trace, 1_000, 1_500));
}

/// While datagrams of 80 Mb/s leave 0.99 / (0.99 + 0.8) of the link, 55 %, to the flow, a segment is lost. At the
/// end of its round trip beta is left of the bandwidth, as that is more than what was delivered, and it stays so
/// when the datagrams are over.
#[test]
fn a_loss_leaves_beta_of_the_bandwidth() {
    for beta in [0.7, 0.6] {
        let mut spec = one(100, version_3(|spec| spec.beta = beta), 160);
        datagrams(&mut spec, 80, 80, 122);
        lose(&mut spec, 120 * MS, [720]);
        let (_, trace) = traced(&spec);
        assert!(paced(&trace, beta) >= 50, "{beta}: {}", paced(&trace, beta));
    }
}

/// The round trip of a segment without a bottleneck.
const FAST: u64 = round_trip(FAR, FULL, ACK);

/// Segments in each round trip of a flow without a bottleneck, of which some are lost.
fn without_bottleneck(control: congestion::Spec, lost: &[u32]) -> Vec<usize> {
    let mut spec = tcp_alone(GBPS_100, FAR, control);
    spec.end = Duration(10 * FAST);
    lose(&mut spec, 8 * FAST, lost.iter().copied());
    sizes(&spec, FAST)
}

fn sizes(spec: &Spec, fast: u64) -> Vec<usize> {
    let (_, trace) = traced(spec);
    rounds(&sent(&trace), fast - 1_000).iter().map(|round| round.len()).collect()
}

/// Every fourth segment from 100 on, eight of them: each is found by an acknowledgement of its own.
const EIGHT: [u32; 8] = [100, 104, 108, 112, 116, 120, 124, 128];

/// Startup ends with eight losses in a round trip, if it is to end with so many, and if they are more than the
/// threshold of what was in flight after the first was found: what has been sent in a round trip, which they
/// were part of, the fifth.
#[test]
fn losses_end_startup() {
    let goes_on = |losses, threshold| {
        let spec = version_3(|spec| {
            (spec.startup_losses, spec.loss_threshold) = (losses, threshold);
        });
        let sizes = without_bottleneck(spec, &EIGHT);
        let doubles = sizes[7] > 3 * sizes[5];
        assert!(doubles || sizes[7] < 2 * sizes[5], "{sizes:?}");
        (doubles, sizes[4])
    };
    assert!(!goes_on(8, 0.02).0);
    assert!(goes_on(9, 0.02).0);
    let share = 8.0 / goes_on(9, 0.02).1 as f64;
    assert!(!goes_on(8, share / 1.35).0);
    assert!(goes_on(8, share * 1.35).0);
}

/// After that the path is taken to hold its bandwidth-delay product, or little more. As much is sent per round trip
/// without headroom, but for the margin of pacing, and half with a headroom of a half.
#[test]
fn cruising_leaves_headroom() {
    let cruising = |headroom| {
        let spec = version_3(|spec| (spec.headroom, spec.down_gain) = (headroom, 0.4));
        let sizes = without_bottleneck(spec, &EIGHT);
        sizes[8] as f64
    };
    assert_near(cruising(0.5) / cruising(0.01), 0.525, 0.05);
}

/// All segments, or six in ten if `some`, are marked from the handshake on.
fn with_marks(far: Duration, spec: bbr3::Spec, some: bool, initial: u32) -> Vec<usize> {
    let fast = round_trip(far, FULL, ACK);
    let never = Duration::from_ms(100_000);
    let control = congestion::Spec::Bbr3(bbr3::Spec {
        ecn: true,
        probe_wait: never,
        probe_rtt_interval: never,
        ..spec
    });
    let mut spec = tcp_alone(GBPS_100, far, control);
    spec.end = Duration(10 * fast);
    tcp_of(&mut spec).initial_window = initial;
    let begin = round_trip(far, SYN, SYN);
    if some {
        for number in 0..360 {
            let from = begin + number * 100_000_000;
            crowd(&mut spec, from, from + 50_000_000);
        }
    } else {
        crowd(&mut spec, begin, 10 * fast);
    }
    sizes(&spec, fast)
}

/// Two round trips in which more than the threshold are marked end Startup, which doubles otherwise; but only if
/// the round trip of 4.0 ms is short enough.
#[test]
fn marks_end_startup() {
    let goes_on = |threshold, milliseconds, some| {
        let ecn_max_rtt = Duration::from_ms(milliseconds);
        let spec = bbr3::Spec { ecn_threshold: threshold, ecn_max_rtt, ..Default::default() };
        let sizes = with_marks(FAR, spec, some, 10);
        sizes[7] > 500
    };
    assert!(!goes_on(0.5, 5, false));
    assert!(goes_on(0.5, 3, false));
    assert!(!goes_on(0.45, 5, true));
    assert!(goes_on(0.8, 5, true));
}

/// Where all are marked alpha is 1, and each round trip takes the factor from what may be in flight, in whole
/// segments. In a round trip of 40 ms, three send quanta of a millisecond are less than that.
#[test]
fn marks_take_a_part_of_the_window() {
    for (ecn_factor, rounds) in [(0.25, 7), (0.5, 5)] {
        let (far, ecn_max_rtt) = (Duration::from_ms(20), Duration::from_ms(100));
        let spec = bbr3::Spec { ecn_factor, ecn_max_rtt, ..Default::default() };
        let sizes = with_marks(far, spec, false, 100);
        for two in sizes[2..rounds].windows(2) {
            assert_eq!(two[1], (two[0] as f64 * (1.0 - ecn_factor)) as usize, "{sizes:?}");
        }
    }
}

/// After some round trips without marks all are marked. A round trip leaves 1 - alpha / 2 of the window and
/// 1 - g of what alpha lacks to 1, wherever in a round trip the marks began.
#[test]
fn the_share_of_marks_is_smoothed() {
    for gain in [0.5, 0.25] {
        let control = version_3(|spec| {
            (spec.ecn, spec.ecn_alpha_gain, spec.ecn_factor) = (true, gain, 0.5);
            (spec.startup_losses, spec.cwnd_gain) = (8, 1.0);
        });
        let mut spec = tcp_alone(GBPS_100, FAR, control);
        lose(&mut spec, 8 * FAST, EIGHT);
        spec.end = Duration(18 * FAST);
        crowd(&mut spec, 12 * FAST, 18 * FAST);
        // What is in flight stays at the window between two cuts.
        let (_, trace) = traced(&spec);
        let late = in_flight(&trace).into_iter().filter(|row| row.0 > 12 * FAST);
        let mut windows: Vec<u32> = late.map(|row| row.1).collect();
        windows.dedup();
        let cuts: Vec<f64> =
            windows[1..].windows(2).map(|two| 1.0 - two[1] as f64 / two[0] as f64).collect();
        // Windows are whole: of 73 that is 2 % of alpha / 2, and so 6 % of what it lacks.
        let lacks = |cut: usize| 1.0 - 2.0 * cuts[cut];
        assert_near(lacks(1) / lacks(0), 1.0 - gain, 0.08);
    }
}

/// The way becomes longer by 8 ms after 150 ms. The window, as large as the path of 4 ms, stays until the shortest
/// round-trip time, that of the handshake, is 300 ms old, and is then that of 12 ms, of which ProbeRTT knows.
#[test]
fn version_3_forgets_a_round_trip() {
    let control = version_3(|spec| {
        (spec.cwnd_gain, spec.probe_rounds) = (1.0, 10_000);
        spec.probe_rtt_interval = Duration::from_ms(100);
        spec.probe_rtt_time = Duration::from_ms(10);
        spec.min_rtt_window = Duration::from_ms(300);
    });
    let mut spec = one(1_000, control, 450);
    detour(&mut spec, Rate::from_gbps(1), Duration::from_ms(4), 150 * MS);
    let (_, trace) = traced(&spec);
    // While the failure is seen to, and for two round trips after it, not all that was sent has arrived. Then
    // it is 325.2, and 325.2 / 4.0016 * 12.0016 segments.
    let most = |from, until| most(&trace, from, until);
    assert!((320..=328).contains(&most(190, 300)), "{}", most(190, 300));
    assert!((950..=980).contains(&most(390, 450)), "{}", most(390, 450));
}
