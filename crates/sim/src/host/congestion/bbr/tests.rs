use floodway_model::Rate;

use super::super::{RateSample, Signal, conformance};
use super::path::{self, ms};
use super::*;

fn flow() -> (Spec, State) {
    let spec = Spec::default();
    let state = State::new(&spec, &Path::at(Rate::from_gbps(100)));
    (spec, state)
}

/// Acknowledgement of one packet, which begins a round; nothing else has happened.
fn ack(now: Instant, rtt_ms: u64, per_second: u32, prior_delivered: u64) -> Ack {
    let rtt = Duration::from_ms(rtt_ms);
    Ack {
        round_begins: true,
        rate: Some(RateSample {
            delivered: per_second / 100,
            marked: 0,
            lost: 0,
            interval: Duration::from_ms(10),
            prior_delivered,
            in_flight_at_send: 10,
            app_limited: false,
        }),
        ..conformance::ack(now, rtt)
    }
}

/// A flow in ProbeBW with 1000 packets per second and 10 ms, so a bandwidth-delay product of 10
/// packets, and its last acknowledgement. Every further acknowledgement of the same form begins a
/// round.
fn probing() -> (Spec, State, Ack) {
    let (spec, mut state) = flow();
    let mut last = ack(ms(0), 10, 1_000, 0);
    for round in 0..4 {
        last = ack(ms(10 * round), 10, 1_000, 10 * round);
        state.on_ack(&spec, &last);
    }
    assert!(matches!(state.0.mode, Mode::ProbeBw(_)), "{:?}", state.0.mode);
    (spec, state, last)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b
}

#[test]
fn the_initial_rate_is_the_initial_window_per_round_trip() {
    let (spec, mut state) = flow();
    // Ten packets of 1518 bytes per millisecond, times 2.885, minus 1 %.
    let millisecond = 10.0 * 1_518.0 * 8.0 / 1e-3 * 2.885 * 0.99;
    assert!(near(state.rate(&spec, ms(0)).unwrap(), millisecond));
    assert_eq!(state.window(&spec, ms(0)), Some(14_480));
    let mut handshaken = flow().1;
    handshaken.on_established(&spec, ms(20), Duration::from_ms(20));
    assert!(near(handshaken.rate(&spec, ms(20)).unwrap(), millisecond / 20.0));
    // Without a handshake the first acknowledgement provides the round-trip time; its bandwidth of
    // 100 packets per second is not higher than that.
    state.on_ack(&spec, &ack(ms(20), 20, 100, 0));
    assert!(near(state.rate(&spec, ms(20)).unwrap(), millisecond / 20.0));
}

#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let (spec, mut state) = flow();
    for round in 0..3 {
        state.on_ack(&spec, &ack(ms(10 * round), 10, 1_000, 10 * round));
        assert_eq!(state.0.mode, Mode::Startup);
        assert!(near(state.rate(&spec, ms(0)).unwrap(), 1_000.0 * path::WIRE * 2.885 * 0.99));
    }
    // With many packets in flight it drains at the inverse gain, until one bandwidth-delay product
    // is left (10 packets plus 3 quanta of 2).
    let mut full = ack(ms(30), 10, 1_000, 30);
    full.in_flight = 17;
    state.on_ack(&spec, &full);
    assert_eq!(state.0.mode, Mode::Drain);
    assert!(near(state.rate(&spec, ms(0)).unwrap(), 1_000.0 * path::WIRE / 2.885 * 0.99));
    full.in_flight = 16;
    state.on_ack(&spec, &full);
    assert!(matches!(state.0.mode, Mode::ProbeBw(_)));
}

#[test]
fn gains_follow_each_other_every_round_trip() {
    let (spec, mut state, mut ack) = probing();
    let at = |state: &State| match state.0.mode {
        Mode::ProbeBw(phase) => phase,
        mode => panic!("{mode:?}"),
    };
    state.0.begin_phase(7, ms(30));
    // 10 packets at gain 1.25 are 13, plus 3 quanta of 2, rounded up to even, plus 2: 22 in flight,
    // including the quantum that is sent next.
    ack.prior_in_flight = 20;
    let mut expected = 7;
    for step in 0..=24 {
        // More than 10 ms have passed: at 11 ms, 22 ms and so on.
        ack.now = ms(40 + 11 * step);
        state.on_ack(&spec, &ack);
        assert_eq!(at(&state), expected, "{step}");
        let gain = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][expected];
        let rate = 1_000.0 * path::WIRE * gain * 0.99;
        assert!(near(state.rate(&spec, ack.now).unwrap(), rate), "{step}");
        expected = (expected + 1) % 8;
    }
    // Probing continues until that many packets are in flight or something is lost; draining stops
    // when the bandwidth-delay product is reached.
    state.0.begin_phase(0, ack.now);
    ack.prior_in_flight = 19;
    ack.now += Duration::from_ms(50);
    state.on_ack(&spec, &ack);
    assert_eq!(at(&state), 0);
    ack.lost = 1;
    state.on_ack(&spec, &ack);
    assert_eq!(at(&state), 1);
    ack.prior_in_flight = 17;
    state.on_ack(&spec, &ack);
    assert_eq!(at(&state), 1);
    ack.prior_in_flight = 16;
    state.on_ack(&spec, &ack);
    assert_eq!(at(&state), 2);
}

#[test]
fn cycles_begin_anywhere_but_with_draining() {
    let (_, mut state, _) = probing();
    let mut seen = [0; 8];
    for _ in 0..7_000 {
        state.0.begin_probing(ms(0));
        let Mode::ProbeBw(phase) = state.0.mode else { unreachable!() };
        seen[phase] += 1;
    }
    assert_eq!(seen[1], 0);
    // 1000 expected each; the standard deviation is 29.3.
    assert!(seen.iter().enumerate().all(|(phase, n)| phase == 1 || (854..1_146).contains(n)));
}

#[test]
fn the_window_is_twice_the_product_and_its_quanta() {
    let (spec, mut state, mut ack) = probing();
    state.0.begin_phase(3, ms(30));
    state.0.aggregation = Aggregation::default();
    let spec = Spec { extra_acked_gain: 0.0, ..spec };
    ack.delivered = 100;
    state.on_ack(&spec, &ack);
    // 20 plus 3 quanta of 2.
    assert_eq!(state.window(&spec, ack.now), Some(26 * 1_448));
}

/// A quantum is what is sent in a millisecond: 1 packet at 500 packets per second (6 Mb/s) and 1.9
/// at 1,900, of which 2 are left; 1 below 1.2 Mb/s (98 packets per second), 8 at 8,500, and at most
/// 64 KB, 45 packets of 1448 bytes.
#[test]
fn a_send_quantum_is_a_millisecond() {
    for (rate, quantum) in
        [(90.0, 1), (110.0, 2), (1_900.0, 2), (8_500.0, 8), (44_000.0, 44), (80_000.0, 45)]
    {
        let (_, mut state) = flow();
        state.0.pacing.rate = rate * path::WIRE;
        assert_eq!(state.0.quantum(), quantum, "{rate}");
    }
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let (spec, mut state, mut ack) = probing();
    state.0.window.packets = 24;
    let congestion = Congestion { now: ack.now, signal: Signal::Loss, in_flight: 24 };
    state.on_congestion(&spec, &congestion);
    // One packet delivered, 15 left in flight: one may be sent.
    (ack.phase, ack.lost, ack.in_flight) = (Phase::Recovery, 8, 15);
    ack.rate.as_mut().unwrap().prior_delivered = 30;
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.window.packets, 16);
    (ack.lost, ack.in_flight) = (0, 15);
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.window.packets, 16);
    // After one round the window grows by the number of delivered packets.
    ack.rate.as_mut().unwrap().prior_delivered = 40;
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.window.packets, 17);
    ack.phase = Phase::Open;
    state.on_ack(&spec, &ack);
    assert!(state.0.window.packets >= 24, "{}", state.0.window.packets);
    // A timeout leaves a window of one packet.
    state.on_timeout(&spec, &Timeout { now: ack.now, in_flight: 20, again: false });
    assert_eq!(state.window(&spec, ack.now), Some(1_448));
    ack.phase = Phase::Loss;
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.window.packets, 4);
    ack.phase = Phase::Open;
    state.on_ack(&spec, &ack);
    assert!(state.0.window.packets >= 24);
}

#[test]
fn probe_rtt_after_ten_seconds_at_four_packets_for_200_ms() {
    let (spec, mut state, mut ack) = probing();
    // The minimum was last observed at 30 ms.
    ack.rtt = Some(Duration::from_ms(11));
    ack.now = ms(10_030);
    state.on_ack(&spec, &ack);
    assert_ne!(state.0.mode, Mode::ProbeRtt);
    let window = state.0.window.packets;
    ack.now = ms(10_031);
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.mode, Mode::ProbeRtt);
    assert_eq!(state.window(&spec, ack.now), Some(4 * 1_448));
    assert!(near(state.rate(&spec, ack.now).unwrap(), 1_000.0 * path::WIRE * 0.99));
    // The 200 ms begin when at most four packets are in flight.
    let mut prior = 1_000;
    let mut at = |state: &mut State, now, in_flight| {
        (ack.now, ack.in_flight) = (ms(now), in_flight);
        prior += 100;
        ack.rate.as_mut().unwrap().prior_delivered = prior;
        // Fewer packets than the bandwidth would carry: no information about the bandwidth.
        ack.rate.as_mut().unwrap().delivered = 4;
        state.on_ack(&spec, &ack);
        state.0.mode == Mode::ProbeRtt
    };
    assert!(at(&mut state, 10_040, 5));
    assert!(at(&mut state, 10_050, 4));
    assert!(at(&mut state, 10_060, 4));
    assert!(at(&mut state, 10_250, 4));
    assert!(!at(&mut state, 10_251, 4));
    assert!(state.0.window.packets >= window);
    assert_eq!(state.0.min_rtt.value, Some(Duration::from_ms(11)));
    // The next ProbeRTT is ten seconds later.
    ack.rtt = Some(Duration::from_ms(12));
    for (now, probes) in [(20_251, false), (20_252, true)] {
        ack.now = ms(now);
        state.on_ack(&spec, &ack);
        assert_eq!(state.0.mode == Mode::ProbeRtt, probes);
    }
}

#[test]
fn samples_of_probe_rtt_do_not_lower_the_bandwidth() {
    let (spec, mut state, mut ack) = probing();
    ack.rtt = Some(Duration::from_ms(11));
    ack.now = ms(10_031);
    state.on_ack(&spec, &ack);
    let begun = state.0.rounds.delivered;
    let sample = |prior_delivered| RateSample { prior_delivered, ..ack.rate.unwrap() };
    assert!(!state.0.probe_rtt.limits(&sample(begun - 1)));
    assert!(state.0.probe_rtt.limits(&sample(begun)));
    assert!(state.0.probe_rtt.limits(&sample(begun + 9)));
    assert!(!state.0.probe_rtt.limits(&sample(begun + 10)));
}

#[test]
fn a_flow_that_was_idle_needs_no_probe_rtt() {
    let (spec, mut state, mut ack) = probing();
    ack.in_flight = 0;
    state.on_ack(&spec, &ack);
    state.on_send(&spec, ms(30_000), 1_518);
    // It paces at the bandwidth in every phase.
    assert!(near(state.rate(&spec, ms(30_000)).unwrap(), 1_000.0 * path::WIRE * 0.99));
    ack.now = ms(30_020);
    ack.rtt = Some(Duration::from_ms(20));
    state.on_ack(&spec, &ack);
    assert!(matches!(state.0.mode, Mode::ProbeBw(_)));
    assert_eq!(state.0.min_rtt.value, Some(Duration::from_ms(20)));
}
