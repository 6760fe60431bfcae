//! Property test: whatever a transport reports, in any order, rate and window stay valid.

use floodway_model::{Duration, Instant, Rate};
use proptest::prelude::*;

use super::super::{
    Ack, Congestion, Lost, Path, Phase, RateSample, Signal, Spec, State, Timeout, bbr, bbr3,
};

#[derive(Clone, Copy, Debug)]
enum Event {
    Established(u64),
    Send,
    Ack(Ack),
    Lost(Lost),
    Congestion(Signal),
    Timeout(bool),
    Recovered,
    Undo,
    Restart,
}

/// Amounts from a few packets to absurd values.
fn amount() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..200u32, 1 => Just(0), 1 => any::<u32>()]
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        3 => Just(Phase::Open),
        1 => Just(Phase::Reducing),
        1 => Just(Phase::Recovery),
        1 => Just(Phase::Loss),
    ]
}

/// From zero, over picoseconds, to hours.
fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => (0..1_000u64).prop_map(Duration),
        5 => (0..100u64).prop_map(Duration::from_ms),
        1 => (0..10_000_000u64).prop_map(Duration::from_ms),
    ]
}

fn rate() -> impl Strategy<Value = Option<RateSample>> {
    let sample = (amount(), amount(), amount(), time(), any::<u32>(), amount(), any::<bool>())
        .prop_map(|(delivered, marked, lost, interval, prior, in_flight_at_send, app_limited)| {
            RateSample {
                delivered,
                marked,
                lost,
                interval,
                prior_delivered: prior.into(),
                in_flight_at_send,
                app_limited,
            }
        });
    proptest::option::weighted(0.8, sample)
}

fn ack() -> impl Strategy<Value = Ack> {
    let counts = (amount(), amount(), amount(), amount(), amount());
    let rest = (proptest::option::of(time()), time(), phase(), any::<bool>(), rate());
    (counts, rest).prop_map(|((delivered, marked, prior_in_flight, in_flight, lost), rest)| {
        let (rtt, smoothed_rtt, phase, window_limited, rate) = rest;
        Ack {
            now: Instant::ZERO,
            acked: delivered,
            delivered,
            marked,
            rtt,
            smoothed_rtt,
            min_rtt: smoothed_rtt,
            prior_in_flight,
            in_flight,
            lost,
            phase,
            window_limited,
            round_begins: false,
            rate,
        }
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => (0..1_000_000_000_000u64).prop_map(Event::Established),
        4 => Just(Event::Send),
        20 => ack().prop_map(Event::Ack),
        4 => (amount(), amount(), any::<bool>()).prop_map(|(in_flight_at_send, lost, app_limited)| {
            Event::Lost(Lost { now: Instant::ZERO, in_flight_at_send, lost, app_limited })
        }),
        2 => prop_oneof![Just(Signal::Loss), Just(Signal::Mark)].prop_map(Event::Congestion),
        1 => any::<bool>().prop_map(Event::Timeout),
        1 => Just(Event::Recovered),
        1 => Just(Event::Undo),
        1 => Just(Event::Restart),
    ]
}

fn tell(state: &mut State, spec: &Spec, now: Instant, event: Event) {
    match event {
        Event::Established(rtt) => state.on_established(spec, now, Duration(rtt)),
        Event::Send => state.on_send(spec, now, 1_518),
        Event::Ack(ack) => state.on_ack(spec, &Ack { now, ..ack }),
        Event::Lost(lost) => state.on_lost(spec, &Lost { now, ..lost }),
        Event::Congestion(signal) => {
            state.on_congestion(spec, &Congestion { now, signal, in_flight: 7 });
        }
        Event::Timeout(again) => state.on_timeout(spec, &Timeout { now, in_flight: 7, again }),
        Event::Recovered => state.on_recovered(spec, now),
        Event::Undo => state.on_undo(spec, now),
        Event::Restart => state.on_restart(spec, now, u32::MAX),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn there_are_a_rate_and_a_window(
        events in proptest::collection::vec((time(), event()), 0..300),
        initial_window in prop_oneof![Just(10u32), Just(1), Just(u32::MAX)],
        seed: u64,
        ecn: bool,
    ) {
        let path = Path { initial_window, seed, ..Path::at(Rate::from_gbps(100)) };
        for spec in [
            Spec::Bbr(bbr::Spec::default()),
            Spec::Bbr3(bbr3::Spec { ecn, ..bbr3::Spec::default() }),
        ] {
            let mut state = State::new(&spec, &path);
            let mut now = Instant::ZERO;
            for (after, event) in &events {
                now += *after;
                tell(&mut state, &spec, now, *event);
                // At least one packet per second, and below line rate if there is a rate at all.
                if let Some(rate) = state.rate(&spec, now) {
                    prop_assert!((1_518.0 * 8.0..100e9).contains(&rate), "{rate} {event:?}");
                }
                let window = state.window(&spec, now).unwrap();
                prop_assert!(window >= 1_448 && window.is_multiple_of(1_448), "{window} {event:?}");
            }
        }
    }
}
