use super::*;
use crate::switch::aqm::stand::Stand;
use floodway_model::Ecn;

const MS: Duration = Duration::from_ms(1);

/// A state with this base probability, which does not change.
fn with_base(spec: &Spec, base: f64) -> State {
    let spec = Spec { alpha: 0.0, beta: 0.0, ..spec.clone() };
    let mut state = State::new(&spec, 2);
    // One second above the target.
    let gains = Gains { target: MS, alpha: base, beta: 0.0 };
    state.pi.update(&gains, MS * 1_001, 1.0);
    assert_eq!(state.pi.probability(), base);
    state
}

/// Two packets are left in the classic queue when a packet leaves either queue.
fn busy() -> Stand {
    let mut stand = Stand::new(2);
    stand.fill(CLASSIC, Ecn::NotEct, 2);
    stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
    stand
}

/// Whether a count of 100,000 trials is within five standard deviations of a probability.
fn is(count: i64, probability: f64) -> bool {
    let sigma = (1e5 * probability * (1.0 - probability)).sqrt();
    (count as f64 - 1e5 * probability).abs() <= 5.0 * sigma
}

#[test]
fn low_latency_is_k_times_and_classic_squared() {
    // p' = 0.3: low latency 0.6, classic 0.09.
    let mut state = with_base(&Spec::default(), 0.3);
    let mut stand = busy();
    let (congested, dropped) = stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1);
    assert!(is(congested, 0.6) && dropped == 0, "{congested}");
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let (congested, dropped) = stand.counts(&mut state, CLASSIC, ecn);
        assert!(is(congested, 0.09) && dropped == 0, "{congested}");
    }
}

#[test]
fn overload_is_above_1_over_k() {
    // p' = 0.5 is the largest that marks can signal: p_C = 1/k² = 1/4.
    let mut stand = busy();
    let mut state = with_base(&Spec::default(), 0.5);
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (100_000, 0));
    let (congested, dropped) = stand.counts(&mut state, CLASSIC, Ecn::Ect0);
    assert!(is(congested, 0.25) && dropped == 0);
    // Above it, 0.6² of both are dropped although they could be marked, and other low latency
    // packets are marked.
    let mut state = with_base(&Spec::default(), 0.6);
    let (congested, dropped) = stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1);
    assert!(is(dropped, 0.36) && congested + dropped == 100_000, "{dropped}");
    let (congested, dropped) = stand.counts(&mut state, CLASSIC, Ecn::Ect0);
    assert!(is(dropped, 0.36) && congested == 0, "{dropped}");
}

#[test]
fn on_overflow_nothing_that_can_be_marked_is_dropped() {
    let spec = Spec { overload: Overload::Overflow, coupling: 3.0, ..Spec::default() };
    let mut state = State::new(&spec, 2);
    let mut stand = busy();
    stand.wait(MS * 100_000);
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (100_000, 0));
    assert_eq!(state.pi.probability(), 1.0 / 3.0);
    let (congested, dropped) = stand.counts(&mut state, CLASSIC, Ecn::Ect0);
    assert!(is(congested, 1.0 / 9.0) && dropped == 0);
}

#[test]
fn the_delay_is_that_of_the_head_that_has_waited_longer() {
    let spec = Spec { alpha: 0.25, beta: 0.0, ..Spec::default() };
    let mut state = State::new(&spec, 2);
    let mut stand = Stand::new(2);
    // At 16, 32 and 48 ms: the low latency queue alone since 0, then the classic queue since 20 ms.
    stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
    stand.wait(MS * 20);
    stand.departs(&mut state, LOW_LATENCY, Ecn::Ect1);
    stand.queues[LOW_LATENCY].pop();
    stand.fill(CLASSIC, Ecn::NotEct, 1);
    stand.wait(MS * 28);
    stand.arrives(&mut state, LOW_LATENCY, Ecn::Ect1);
    // 16 - 15 ms at first, then 12 - 15 ms, which brings the probability back to zero, and 28 - 15
    // ms.
    assert!((state.pi.probability() - 0.25 * 0.013).abs() < 1e-12);
}

#[test]
fn less_than_two_full_packets_beside_it_is_no_queue() {
    let mut state = with_base(&Spec::default(), 1.0);
    let mut stand = Stand::new(2);
    stand.fill(CLASSIC, Ecn::NotEct, 1);
    stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
    assert_eq!(stand.counts(&mut state, CLASSIC, Ecn::NotEct), (0, 0));
    stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
    assert_eq!(stand.counts(&mut state, CLASSIC, Ecn::NotEct), (0, 100_000));
}

#[test]
fn the_low_latency_queue_is_marked_by_itself_too() {
    // With zero probability, a low latency packet is marked after more than 1 ms; a classic one
    // never.
    let mut state = with_base(&Spec::default(), 0.0);
    let mut stand = busy();
    stand.wait(MS);
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (0, 0));
    stand.wait(Duration::from_ns(1));
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (100_000, 0));
    assert_eq!(stand.counts(&mut state, CLASSIC, Ecn::NotEct), (0, 0));
    // The larger of two probabilities counts: 1/2 of the ramp at 1 ms, and 0.6 or 0.2.
    let low_latency = low_latency::Spec::Ramp(low_latency::Ramp::default());
    let ramp = Spec { low_latency, ..Spec::default() };
    for (base, expected) in [(0.1, 0.5), (0.3, 0.6)] {
        let mut stand = busy();
        stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
        stand.wait(MS);
        let mut state = with_base(&ramp, base);
        let (congested, _) = stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1);
        assert!(is(congested, expected), "{congested}");
    }
}

#[test]
fn on_arrival_only_the_queue_itself_is_left_for_departure() {
    let spec = Spec { judged_on: JudgedOn::Arrival, ..Spec::default() };
    let mut state = with_base(&spec, 1.0);
    let mut stand = busy();
    assert_eq!(stand.arrives(&mut state, CLASSIC, Ecn::Ect0), Verdict::Drop);
    assert_eq!(stand.counts(&mut state, CLASSIC, Ecn::Ect0), (0, 0));
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (0, 0));
    stand.wait(MS * 2);
    assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (100_000, 0));
    // By default it is the reverse.
    let mut state = with_base(&Spec::default(), 1.0);
    assert_eq!(stand.arrives(&mut state, CLASSIC, Ecn::Ect0), Verdict::Pass);
    assert_eq!(stand.departs(&mut state, CLASSIC, Ecn::Ect0), Verdict::Drop);
}
