//! NSCC, with windows that are computed by hand.

use super::super::answers::tests::answer;
use super::*;
use floodway_model::Rate;

/// 100 Gb/s and 12 us: a is 1, and a round trip is 150 KB or 100 packets of 1500 bytes. The maximum
/// window is 225 KB, the target with trimming 9 us, so that b is 0.75.
fn flow(cwnd: f64) -> State {
    let path = Path {
        payload: 1_400,
        wire: 1_500,
        base_rtt: Duration::from_us(12),
        trims: true,
        ..Path::at(Rate::from_gbps(100))
    };
    let mut flow = State::new(&Spec::default(), &path);
    assert!(near(flow.cwnd, 225_000.0));
    flow.cwnd = cwnd;
    // Increases are applied by bytes only, and quick adapt does not measure yet.
    flow.adjusted_at = Instant::NEVER;
    flow.measured_at = Instant::NEVER;
    flow
}

/// `packets` are reported after this round-trip time, both times in microseconds.
fn ack(flow: &mut State, at: u64, packets: u32, (rtt, marked): (u64, bool)) -> f64 {
    let rtt = Some(Duration::from_us(rtt));
    let answer = Answer { rtt, marked, acked: packets, ..answer(at, 1, 2) };
    flow.on_answer(&Spec::default(), &answer);
    flow.cwnd
}

fn trim(flow: &mut State, at: u64, in_flight: u32) -> f64 {
    let trimmed = Some(Trimmed::InFabric);
    let nack = Answer { nak: true, trimmed, acked: 0, in_flight, ..answer(at, 1, 2) };
    flow.on_answer(&Spec::default(), &nack);
    flow.cwnd
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs().max(1.0)
}

#[test]
fn no_mark_and_a_short_queue_increase_by_the_distance_from_the_target() {
    let mut flow = flow(100_000.0);
    // alpha is 4 · 1 · 0.75 · 1500 B / 9 us = 5e8 B/s. A packet with 3 us: 5e8 · 1500 · 6e-6 = 4.5e6 B².
    for _ in 0..8 {
        assert!(near(ack(&mut flow, 1, 1, (15, false)), 100_000.0));
    }
    // With the ninth, more than eight packets have arrived: 9 · 4.5e6 / 100,000 = 405.
    assert!(near(ack(&mut flow, 1, 1, (15, false)), 100_405.0));
    assert!(near(flow.increase, 0.0));
}

#[test]
fn no_mark_and_a_long_queue_increase_fairly() {
    let mut flow = flow(75_000.0);
    // fi is 5 · 1500 B per round trip: 50 packets, one window, add 7500 bytes.
    assert!(near(ack(&mut flow, 1, 50, (30, false)), 82_500.0));
    assert!(near(ack(&mut flow, 1, 55, (22, false)), 90_000.0));
}

#[test]
fn a_mark_and_a_short_queue_change_nothing() {
    let mut flow = flow(75_000.0);
    (0..100).for_each(|at| assert!(near(ack(&mut flow, at, 50, (20, true)), 75_000.0)));
}

#[test]
fn a_mark_and_a_long_queue_decrease_once_per_round_trip() {
    let mut flow = flow(100_000.0);
    flow.mean_delay = 18e-6;
    // 1 - 0.8 · (18 - 9) / 18 = 0.6.
    assert!(near(ack(&mut flow, 100, 1, (30, true)), 60_000.0));
    assert!(near(ack(&mut flow, 112, 1, (30, true)), 60_000.0));
    assert!(near(ack(&mut flow, 113, 1, (30, true)), 36_000.0));
    // At most half: 1 - 0.8 · 81 / 90 = 0.28.
    flow.mean_delay = 90e-6;
    assert!(near(ack(&mut flow, 200, 1, (102, true)), 18_000.0));
    // The mean decides, not the last delay.
    flow.mean_delay = 2e-6;
    assert!(near(ack(&mut flow, 300, 0, (102, true)), 18_000.0));
    // Not below a packet.
    flow.cwnd = 1_600.0;
    flow.mean_delay = 90e-6;
    assert!(near(ack(&mut flow, 400, 1, (102, true)), 1_500.0));
}

#[test]
fn the_mean_delay_is_that_of_about_a_window() {
    let mut flow = flow(15_000.0);
    // One of ten packets in the window: a tenth of 10 us, then nine tenths of that and 1 us.
    ack(&mut flow, 1, 1, (22, true));
    assert!(near(flow.mean_delay, 1e-6));
    ack(&mut flow, 1, 1, (22, true));
    assert!(near(flow.mean_delay, 1.9e-6));
    // Trimmed packets count as a round trip without queueing.
    trim(&mut flow, 1, 9);
    assert!(near(flow.mean_delay, 1.9e-6 + 0.1 * (12e-6 - 1.9e-6)));
}

#[test]
fn after_a_clean_window_the_increase_is_fast() {
    let mut flow = flow(15_000.0);
    // Eleven packets without a queue are more than the window of ten: a quarter of 16,500 bytes.
    assert!(near(ack(&mut flow, 1, 11, (13, false)), 15_000.0 + 4_125.0));
    assert!(near(ack(&mut flow, 2, 4, (13, false)), 19_125.0 + 1_500.0));
    // A queue of 2 us ends it: 5e8 · 1500 · 10 · 7e-6 / 20,625.
    assert!(near(ack(&mut flow, 3, 10, (14, false)), 20_625.0 + 52.5e6 / 20_625.0));
    assert!(!flow.is_fast && flow.clean == 0.0);
}

#[test]
fn an_idle_network_keeps_the_maximum_window() {
    let mut flow = flow(225_000.0);
    (0..1_000).for_each(|at| assert!(near(ack(&mut flow, at, 9, (12, false)), 225_000.0)));
    // A shorter round trip lowers it: 1.5 · 12.5 GB/s · 10 us.
    assert!(near(ack(&mut flow, 1_000, 9, (10, false)), 187_500.0));
}

#[test]
fn every_period_adds_a_little() {
    let mut flow = flow(30_000.0);
    flow.adjusted_at = Instant::ZERO;
    // Nothing is collected by marked packets. eta is 0.15 · 1500 bytes per 12 us.
    let windows = [11, 12, 23, 24, 35, 36].map(|at| ack(&mut flow, at, 1, (20, true)));
    let expected = [30_000.0, 30_225.0, 30_225.0, 30_450.0, 30_450.0, 30_675.0];
    assert!(windows.iter().zip(expected).all(|(&window, at)| near(window, at)), "{windows:?}");
}

#[test]
fn quick_adapt_takes_what_got_through() {
    let mut flow = flow(225_000.0);
    flow.measured_at = Instant::ZERO;
    // The first feedback begins a measurement of 12 + 9 us.
    ack(&mut flow, 1, 10, (15, true));
    assert_eq!(flow.measured_at, Instant(22_000_000));
    // Four packets get through, and one is trimmed.
    ack(&mut flow, 10, 4, (15, true));
    assert!(near(trim(&mut flow, 21, 30), 223_500.0));
    // 6000 bytes are less than an eighth of the maximum window.
    assert!(near(trim(&mut flow, 22, 20), 6_000.0));
    // The queue that was there, 20 packets, is ignored as far as it brings bad news.
    for at in 23..42 {
        assert!(near(trim(&mut flow, at, 4), 6_000.0), "{at}");
    }
    assert!(near(trim(&mut flow, 42, 4), 4_500.0));
    // What gets through in the next period is more than the window: that does not raise it.
    ack(&mut flow, 42, 6, (15, true));
    assert!(near(trim(&mut flow, 43, 4), 4_500.0));
    // An eighth of the maximum window is enough.
    flow.cwnd = 100_000.0;
    flow.to_ignore = 0.0;
    ack(&mut flow, 44, 19, (15, true));
    assert!(near(trim(&mut flow, 64, 4), 98_500.0));
}

#[test]
fn losses_take_their_size() {
    let mut flow = flow(4_000.0);
    assert!(near(trim(&mut flow, 1, 9), 2_500.0));
    flow.on_retransmit_timeout(&Spec::default(), Instant::ZERO);
    assert!(near(flow.cwnd, 1_500.0));
    assert_eq!(flow.window(&Spec::default(), Instant::ZERO), Some(1_400));
}

#[test]
fn without_trimming_the_target_is_a_round_trip_and_long_queues_adapt() {
    let path = Path { base_rtt: Duration::from_us(12), ..Path::at(Rate::from_gbps(100)) };
    let flow = State::new(&Spec::default(), &path);
    assert!(near(flow.scale.target, 12e-6) && near(flow.scale.qa_threshold, 48e-6));
    // Twice the rate is twice the increase per round trip.
    let double = State::new(&Spec::default(), &Path { line_rate: Rate::from_gbps(200), ..path });
    assert!(near(double.scale.fair, 2.0 * flow.scale.fair));
    assert!(near(double.max_window, 2.0 * flow.max_window));
}

/// What an acknowledgement adds is what an apply step and the unconditional increase add: see
/// `every_period_adds_a_little`. A mark with a short queue collects nothing, and what earlier acknowledgements collected is
/// still applied.
#[test]
fn a_mark_and_a_short_queue_leave_what_is_collected() {
    let mut flow = flow(100_000.0);
    // 8 packets with 3 us below the target: 8 · 4.5e6 B².
    ack(&mut flow, 1, 8, (15, false));
    assert!(near(flow.cwnd, 100_000.0) && near(flow.increase, 36e6));
    assert!(near(ack(&mut flow, 1, 1, (15, true)), 100_360.0));
    assert!(near(ack(&mut flow, 1, 100, (15, true)), 100_360.0));
}

/// What the specification's public notes state about windows, for 20,000 random sequences of acknowledgements, marks,
/// trimmed packets and timeouts: the window is between a packet and its maximum after everything that moves it; it is
/// decreased by a factor at most once per round trip; quick adapt acts at most once per round trip and target; a mark
/// with a short queue changes nothing.
#[test]
fn what_is_stated_about_windows_holds_for_any_sequence() {
    use floodway_model::random::Stream;

    let spec = Spec::default();
    let mut rng = Stream::named(7, "windows");
    let (mut decreases, mut adaptations) = (0, 0);
    for _ in 0..200 {
        let mut flow = flow(225_000.0);
        (flow.adjusted_at, flow.measured_at) = (Instant::ZERO, Instant::ZERO);
        let mut now = 0;
        let (mut decreased_at, mut adapted_at) = (None, None);
        for _ in 0..400 {
            now += rng.below(6);
            let before = flow.cwnd;
            let (mut least_rtt, collected) = (flow.base_rtt, flow.increase);
            let is_ack = rng.bernoulli(0.85);
            if is_ack {
                let (rtt, marked) = (11 + rng.below(40), rng.bernoulli(0.5));
                least_rtt = least_rtt.min(rtt as f64 * 1e-6);
                let packets = rng.below(5) as u32;
                let factor_at = flow.decreased_at;
                ack(&mut flow, now, packets, (rtt, marked));
                if flow.decreased_at != factor_at {
                    // Once in more than a round trip, and by half at most, but for what is added at the same time.
                    let is_late =
                        decreased_at.is_none_or(|at| (now - at) as f64 * 1e-6 > least_rtt);
                    assert!(is_late && flow.cwnd >= before.min(flow.max_window) * 0.5 - 1e-6);
                    decreased_at = Some(now);
                    decreases += 1;
                }
                let delay = rtt as f64 * 1e-6 - flow.base_rtt;
                let may_be_applied =
                    flow.adjusted_at == Instant(now * 1_000_000) || collected > 0.0;
                if marked && delay < flow.scale.target && !may_be_applied {
                    assert!(near(flow.cwnd, before.min(flow.max_window)) || flow.to_ignore > 0.0);
                }
            } else if rng.bernoulli(0.9) {
                let (adapted, ended) = (flow.to_ignore, flow.measured_at);
                trim(&mut flow, now, 1 + rng.below(60) as u32);
                if flow.to_ignore != adapted {
                    assert!(adapted_at.is_none_or(|at| now >= at), "{now} {adapted_at:?}");
                    assert!(ended != Instant::ZERO && flow.cwnd <= before);
                    adapted_at = Some(now + ((flow.base_rtt + flow.scale.target) * 1e6) as u64);
                    adaptations += 1;
                }
            } else {
                flow.on_retransmit_timeout(&spec, Instant(now * 1_000_000));
            }
            assert!(flow.cwnd >= 1_500.0, "{}", flow.cwnd);
            // If the minimum round-trip time has just fallen, the limit acts at the next one.
            assert!(flow.cwnd <= before.max(flow.max_window) + 1e-6, "{}", flow.cwnd);
        }
    }
    assert!(decreases > 100 && adaptations > 100, "{decreases} {adaptations}");
}

/// Acknowledgements without a round-trip time change counters only.
#[test]
fn without_a_round_trip_time_the_window_stays() {
    let mut flow = flow(100_000.0);
    let unclear = Answer { marked: true, acked: 50, ..answer(3, 1, 2) };
    flow.on_answer(&Spec::default(), &unclear);
    assert!(near(flow.cwnd, 100_000.0) && near(flow.increase, 0.0));
    let counted = [flow.received, flow.achieved, flow.ignored];
    assert!(counted.into_iter().all(|bytes| near(bytes, 75_000.0)), "{counted:?}");
}

/// Where the receiver gives credit, a packet that was trimmed at its port counts as heard of and as a delay of one
/// round trip, and is no reason for quick adapt.
#[test]
fn with_credit_a_trimmed_packet_at_the_last_hop_is_no_signal() {
    let mut flow = flow(15_000.0);
    flow.on_trimmed_with_credit(&Spec::default());
    assert!(near(flow.cwnd, 15_000.0) && near(flow.ignored, 1_500.0) && !flow.trimmed);
    assert!(near(flow.mean_delay, 0.1 * 12e-6));
}
