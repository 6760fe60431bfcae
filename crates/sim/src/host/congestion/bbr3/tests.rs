use floodway_model::Rate;

use super::super::bbr::path::ms;
use super::super::{self as family, RateSample, conformance};
use super::probing::in_flight_before_losses;
use super::*;

fn flow() -> (Spec, State) {
    let spec = Spec::default();
    let state = State::new(&spec, &Path::at(Rate::from_gbps(100)));
    (spec, state)
}

/// Acknowledgement of one packet; 1000 packets per second were delivered over 10 ms.
fn ack(now: Instant, prior_delivered: u64) -> Ack {
    let rtt = Duration::from_ms(10);
    Ack {
        window_limited: false,
        round_begins: true,
        rate: Some(RateSample {
            delivered: 10,
            marked: 0,
            lost: 0,
            interval: rtt,
            prior_delivered,
            in_flight_at_send: 10,
            app_limited: false,
        }),
        ..conformance::ack(now, rtt)
    }
}

/// A flow in CRUISE with 1000 packets per second and 10 ms, so 10 packets, at 40 ms; and an
/// acknowledgement for 50 ms. An acknowledgement with `prior_delivered` of 50, 60 and so on begins
/// a round.
fn cruising() -> (Spec, State, Ack) {
    let (spec, mut state) = flow();
    for round in 0..5 {
        state.on_ack(&spec, &ack(ms(10 * round), 10 * round));
    }
    assert_eq!(state.0.mode, Mode::Cruise);
    (spec, state, ack(ms(50), 50))
}

fn next_round(ack: &mut Ack) {
    ack.now += Duration::from_ms(10);
    ack.rate.as_mut().unwrap().prior_delivered += 10;
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b
}

fn lost(now: Instant, lost: u32, in_flight_at_send: u32) -> Lost {
    Lost { now, in_flight_at_send, lost, app_limited: false }
}

#[test]
fn gains_of_startup_drain_and_down() {
    let (spec, mut state) = flow();
    let packet = 1_518.0 * 8.0;
    assert!(near(state.rate(&spec, ms(0)).unwrap(), 10.0 * packet / 1e-3 * 2.77 * 0.99));
    let mut full = ack(ms(0), 0);
    (full.in_flight, full.prior_in_flight) = (11, 12);
    for (round, gain) in [(0, 2.77), (1, 2.77), (2, 2.77), (3, 0.35)] {
        full.now = ms(10 * round);
        full.rate.as_mut().unwrap().prior_delivered = 10 * round;
        state.on_ack(&spec, &full);
        assert!(near(state.rate(&spec, ms(0)).unwrap(), 1_000.0 * packet * gain * 0.99), "{round}");
    }
    assert_eq!(state.0.mode, Mode::Drain);
    // One bandwidth-delay product is left: DOWN.
    full.in_flight = 10;
    state.on_ack(&spec, &full);
    assert_eq!(state.0.mode, Mode::Down);
    assert!(near(state.rate(&spec, ms(0)).unwrap(), 1_000.0 * packet * 0.9 * 0.99));
}

#[test]
fn losses_end_startup_with_what_was_delivered_as_the_bound() {
    // Six acknowledgements with losses in a round, more than 2 % of 100. The bound is the number
    // delivered over a round trip, 30, because the BDP is only 10.
    for (events, share, ends) in [(6, 3, true), (5, 3, false), (6, 2, false)] {
        let (spec, mut state) = flow();
        let mut a = ack(ms(0), 0);
        state.on_ack(&spec, &a);
        next_round(&mut a);
        a.rate.as_mut().unwrap().prior_delivered = 0;
        a.rate.as_mut().unwrap().delivered = 15;
        a.phase = Phase::Recovery;
        a.rate.as_mut().unwrap().in_flight_at_send = 100;
        a.rate.as_mut().unwrap().lost = share;
        for _ in 1..events {
            a.lost = 1;
            state.on_lost(&spec, &lost(a.now, share, 100));
            state.on_ack(&spec, &a);
        }
        assert!(!state.0.full_pipe.reached);
        a.rate.as_mut().unwrap().prior_delivered = 15;
        a.rate.as_mut().unwrap().delivered = 30;
        a.rate.as_mut().unwrap().interval = Duration::from_ms(30);
        a.in_flight = 100;
        state.on_ack(&spec, &a);
        assert_eq!(state.0.full_pipe.reached, ends, "{events} {share}");
        assert_eq!(state.0.bounds.inflight_hi, if ends { 30 } else { NONE });
        assert_eq!(state.0.mode == Mode::Drain, ends);
    }
}

#[test]
fn a_round_with_losses_cuts_by_beta_but_not_below_what_is_delivered() {
    let (spec, mut state, mut ack) = cruising();
    state.0.window.packets = 20;
    // The round of the loss ends with a packet that was sent after it.
    state.on_lost(&spec, &lost(ms(45), 1, 10));
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.bounds.inflight_lo, 14);
    // 0.7 of 1000 per second is below the delivery rate.
    assert!(near(state.0.bounds.bandwidth_lo, 1_000.0));
    // Half as much is delivered. The first round ends without effect; the next cuts both bounds to
    // 0.7; after that 0.7 would be below the delivery rate.
    ack.rate.as_mut().unwrap().delivered = 5;
    for (bandwidth, in_flight) in [(1_000.0, 10), (700.0, 7), (500.0, 5)] {
        next_round(&mut ack);
        state.0.probe.rounds = 0;
        state.on_lost(&spec, &lost(ack.now, 1, 10));
        state.on_ack(&spec, &ack);
        assert!(near(state.0.bounds.bandwidth_lo, bandwidth), "{:?}", state.0.bounds);
        assert_eq!(state.0.bounds.inflight_lo, in_flight);
    }
}

#[test]
fn headroom_is_fifteen_percent_and_at_least_a_packet() {
    let spec = Spec::default();
    let hi = |inflight_hi| Bounds { inflight_hi, ..Bounds::NONE }.with_headroom(&spec);
    assert_eq!([100, 20, 6, 3, NONE].map(hi), [85, 17, 5, 4, NONE]);
    // CRUISE keeps the bound, REFILL removes it.
    let (spec, mut state, ack) = cruising();
    state.0.bounds.inflight_hi = 20;
    state.0.window.packets = 20;
    state.on_ack(&spec, &ack);
    assert_eq!(state.window(&spec, ack.now), Some(17 * 1_448));
}

#[test]
fn where_the_losses_began() {
    let spec = Spec::default();
    // 100 in flight, the last of them the third lost. Of the 99 before, 1.98 may be lost and two
    // were. With the first one, (1.98 - 0) / 0.98 packets more would have been acceptable.
    assert_eq!(in_flight_before_losses(&spec, 3, 100), 99);
    assert_eq!(in_flight_before_losses(&spec, 1, 100), 101);
}

/// Moves a flow from CRUISE to UP; the acknowledgement begins a round each time.
fn probe_up(spec: &Spec, state: &mut State, ack: &mut Ack) {
    ack.now = ms(3_100);
    // Recent, so that ProbeRTT is not due.
    state.0.recent_rtt.at = ack.now;
    state.on_ack(spec, ack);
    assert_eq!(state.0.mode, Mode::Refill);
    next_round(ack);
    state.on_ack(spec, ack);
    assert_eq!(state.0.mode, Mode::Up);
}

#[test]
fn a_lossy_probe_sets_the_bound_where_the_losses_began() {
    let (spec, mut state, mut ack) = cruising();
    probe_up(&spec, &mut state, &mut ack);
    // 2 % are tolerated.
    state.on_lost(&spec, &lost(ack.now, 1, 50));
    assert_eq!(state.0.mode, Mode::Up);
    state.on_lost(&spec, &lost(ack.now, 3, 100));
    assert_eq!(state.0.mode, Mode::Down);
    assert_eq!(state.0.bounds.inflight_hi, 99);
    // It is reported once per probe; a bound below 0.7 of the target is not accepted.
    state.on_lost(&spec, &lost(ack.now, 9, 60));
    assert_eq!(state.0.bounds.inflight_hi, 99);
    let (spec, mut state, mut ack) = cruising();
    probe_up(&spec, &mut state, &mut ack);
    state.0.window.packets = 30;
    state.on_lost(&spec, &lost(ack.now, 3, 4));
    // The BDP plus the two extra packets in UP is 12.
    assert_eq!(state.0.bounds.inflight_hi, 8);
}

#[test]
fn probing_up_doubles_the_growth_of_the_bound_every_round() {
    let (spec, mut state, mut ack) = cruising();
    state.0.bounds.inflight_hi = 10;
    state.0.window.packets = 8;
    let spec = Spec { extra_acked_gain: 0.0, ..spec };
    probe_up(&spec, &mut state, &mut ack);
    // The window is 10 packets. 10 acknowledged packets allow the first packet more, then 10 / 2
    // per packet in the next round, then, with a window of 12, 12 / 4.
    assert_eq!(state.0.window.packets, 10);
    ack.window_limited = true;
    ack.rate.as_mut().unwrap().in_flight_at_send = 1;
    let mut grown = Vec::new();
    for _ in 0..3 {
        let prior = ack.rate.unwrap().prior_delivered;
        for packet in 0..10 {
            ack.now += Duration::from_ms(1);
            ack.rate.as_mut().unwrap().prior_delivered =
                if packet == 9 { prior + 10 } else { prior };
            state.on_ack(&spec, &ack);
        }
        grown.push(state.0.bounds.inflight_hi);
    }
    assert_eq!(state.0.mode, Mode::Up);
    assert_eq!(grown, [11, 13, 16]);
}

#[test]
fn the_next_probe_is_two_to_three_seconds_or_63_rounds_away() {
    let mut waits = Vec::new();
    for seed in 0..200 {
        let spec = Spec::default();
        let mut state = State::new(&spec, &Path { seed, ..Path::at(Rate::from_gbps(100)) });
        for round in 0..5 {
            state.on_ack(&spec, &ack(ms(10 * round), 10 * round));
        }
        assert_eq!(state.0.mode, Mode::Cruise);
        // No rounds pass; DOWN began at 30 ms.
        let mut a = ack(ms(30), 0);
        while state.0.mode == Mode::Cruise {
            a.now += Duration::from_ms(1);
            state.on_ack(&spec, &a);
        }
        waits.push((a.now - ms(30)).as_secs());
    }
    assert!(waits.iter().all(|wait| (2.0..=3.001).contains(wait)));
    // The mean of 200 samples is within five times 0.289 / sqrt(200) of 2.5.
    let mean = waits.iter().sum::<f64>() / 200.0;
    assert!((mean - 2.5).abs() < 0.102, "{mean}");

    // The BDP is 10 packets: Reno would reach it after ten rounds. With a larger one the wait is 62
    // or 63 rounds.
    for (per_round, rounds) in [(10, 9..=10), (1_000, 62..=63)] {
        let (spec, mut state) = flow();
        let mut begun = None;
        for round in 0..100 {
            let mut a = ack(ms(10 * round), u64::from(per_round) * round);
            a.rate.as_mut().unwrap().delivered = per_round;
            a.delivered = per_round;
            state.on_ack(&spec, &a);
            match (state.0.mode, begun) {
                (Mode::Cruise, None) => begun = Some(round),
                (Mode::Refill, Some(begun)) => {
                    assert!(rounds.contains(&(round - begun)), "{}", round - begun);
                    break;
                }
                _ => assert!(round < 99),
            }
        }
    }
}

#[test]
fn probe_rtt_every_five_seconds_at_half_the_product() {
    let (spec, mut state, mut ack) = cruising();
    ack.rate.as_mut().unwrap().prior_delivered = 0;
    ack.rtt = Some(Duration::from_ms(10));
    // The first sample was at 0 ms; another one of the same length does not postpone the probe.
    ack.now = ms(5_000);
    state.on_ack(&spec, &ack);
    assert_ne!(state.0.mode, Mode::ProbeRtt);
    ack.now = ms(5_001);
    state.on_ack(&spec, &ack);
    assert_eq!(state.0.mode, Mode::ProbeRtt);
    assert_eq!(state.window(&spec, ack.now), Some(5 * 1_448));
    let mut prior = 1_000;
    for (now, in_flight, lasts) in
        [(5_010, 6, true), (5_020, 5, true), (5_030, 5, true), (5_220, 5, true), (5_221, 5, false)]
    {
        prior += 100;
        (ack.now, ack.in_flight) = (ms(now), in_flight);
        ack.rate.as_mut().unwrap().prior_delivered = prior;
        state.on_ack(&spec, &ack);
        assert_eq!(state.0.mode == Mode::ProbeRtt, lasts, "{now}");
    }
    assert_eq!(state.0.mode, Mode::Cruise);
    ack.rate.as_mut().unwrap().prior_delivered = 0;
    for (now, probes) in [(10_221, false), (10_222, true)] {
        ack.now = ms(now);
        state.on_ack(&spec, &ack);
        assert_eq!(state.0.mode == Mode::ProbeRtt, probes);
    }
}

#[test]
fn the_shortest_round_trip_time_is_kept_for_ten_seconds() {
    let (spec, mut state, mut ack) = cruising();
    ack.rtt = Some(Duration::from_ms(15));
    for (now, shortest) in [(9_000, 10), (10_000, 10), (10_001, 15)] {
        ack.now = ms(now);
        state.on_ack(&spec, &ack);
        assert_eq!(state.0.min_rtt.value, Some(Duration::from_ms(shortest)), "{now}");
    }
}

#[test]
fn marks_count_if_wanted_and_if_the_path_is_short() {
    for (ecn, rtt, counts) in [(true, 5, true), (true, 6, false), (false, 5, false)] {
        let spec = Spec { ecn, ..Spec::default() };
        let (_, mut state, mut ack) = cruising();
        state.0.min_rtt.set(Duration::from_ms(rtt), ms(40));
        state.0.recent_rtt = state.0.min_rtt;
        state.0.window.packets = 30;
        state.0.signals.round_begins = false;
        (ack.marked, ack.rtt) = (1, None);
        state.on_ack(&spec, &ack);
        assert_eq!(state.0.ecn.eligible, counts);
        // Everything was marked, so alpha stays 1: a reduction by a third.
        assert_eq!(state.0.bounds.inflight_lo, if counts { 20 } else { NONE });
        next_round(&mut ack);
        ack.marked = 0;
        state.on_ack(&spec, &ack);
        assert!(near(state.0.ecn.alpha, if counts { 15.0 / 16.0 } else { 1.0 }));
    }
}

#[test]
fn an_undone_loss_gives_the_bounds_back() {
    let (spec, mut state, mut ack) = cruising();
    state.0.bounds.inflight_hi = 25;
    let before = state.0.bounds;
    let congestion = Congestion { now: ack.now, signal: family::Signal::Loss, in_flight: 20 };
    state.on_congestion(&spec, &congestion);
    let window = state.0.window.packets;
    state.on_lost(&spec, &lost(ack.now, 1, 10));
    (ack.lost, ack.phase) = (1, Phase::Recovery);
    state.on_ack(&spec, &ack);
    assert_ne!(state.0.bounds, before);
    state.on_undo(&spec, ack.now);
    assert_eq!(state.0.bounds, before);
    assert!(state.0.window.packets >= window);
}
