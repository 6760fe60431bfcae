//! Curvy RED for a dual queue (RFC 9332 appendix B, the successor of the dual queue of "Data center
//! to the home"): like `dualq`, but the probability for classic packets is the power 2U of a
//! smoothed queue delay.
//!
//! When a classic packet leaves, the average classic queue delay moves by 2^-f_C of the difference,
//! and the packet is dropped (or marked) if the average divided by its full scale of 2^S_C seconds
//! exceeds the largest of 2U random numbers. When a low latency packet leaves, it is marked if more
//! than a threshold is left in its queue, or if the unsmoothed sojourn time of the classic head,
//! divided by a full scale of 2^(S_C - k0) seconds, exceeds the largest of U random numbers.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};
use crate::switch::classify::ecn::{CLASSIC, LOW_LATENCY};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// S_C: full scale of the smoothed classic queue delay, as 2^s_c seconds, -20 to 10. Default
    /// -1, which is 500 ms (draft-ietf-tsvwg-aqm-dualq-coupled).
    pub s_c: i8,
    /// U: the number of random numbers that a low latency packet is compared with, half of the
    /// number for a classic packet, 1 to 8. Default 1, which makes the probabilities linear and
    /// squared (same draft).
    pub curviness: u8,
    /// f_C: exponent of the averaging: each new delay has weight 2^-f_c, 0 to 30. Default 5 (same
    /// draft).
    pub f_c: u8,
    /// k0: the coupling k of low latency to classic probabilities, as a power of 2, 0 to 10.
    /// Default 1, which is k = 2 (same draft).
    pub k0: u8,
    /// T: low latency packets are marked whenever more bytes than this number of full packets have
    /// are left in their queue. Default 5 (same draft).
    pub threshold: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { s_c: -1, curviness: 1, f_c: 5, k0: 1, threshold: 5 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("s_c", self.s_c, -20..=10, "-1 is a full scale of 500 ms");
        findings.range("curviness", self.curviness, 1..=8, "1 is a square for classic packets");
        findings.range("f_c", self.f_c, 0..=30, "5 is a weight of 1/32");
        findings.range("k0", self.k0, 0..=10, "1 is a coupling of 2");
    }
}

/// State of one port.
#[derive(Debug)]
pub struct State {
    spec: Spec,
    /// The smoothed classic queue delay, in seconds.
    average: f64,
}

/// 2 to a small power, exactly.
fn power_of_two(exponent: i32) -> f64 {
    let whole = (1_u64 << exponent.unsigned_abs()) as f64;
    if exponent < 0 { 1.0 / whole } else { whole }
}

impl State {
    /// A queue delay divided by the full scale of low latency packets.
    fn coupled(&self, waited: Duration) -> f64 {
        waited.as_secs() / power_of_two(i32::from(self.spec.s_c) - i32::from(self.spec.k0))
    }

    /// Updates the average with one classic packet, and returns it divided by its full scale.
    fn smoothed(&mut self, waited: Duration) -> f64 {
        let weight = power_of_two(-i32::from(self.spec.f_c));
        self.average += (waited.as_secs() - self.average) * weight;
        self.average / power_of_two(self.spec.s_c.into())
    }
}

impl Aqm for State {
    type Spec = Spec;
    const JUDGES_DEPARTURES: bool = true;

    fn is_for_two_queues(_: &Self::Spec) -> bool {
        true
    }

    fn new(spec: &Spec, _: usize) -> Self {
        Self { spec: spec.clone(), average: 0.0 }
    }

    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let waited = view.sojourn(CLASSIC);
        if queue == LOW_LATENCY {
            let left = view.backlog(LOW_LATENCY) - view.occupied(packet);
            let long = left > u64::from(self.spec.threshold) * view.largest_frame();
            let coupled = self.coupled(waited);
            return Verdict::congested(long || view.exceeds(coupled, self.spec.curviness));
        }
        let smoothed = self.smoothed(waited);
        Verdict::congested(view.exceeds(smoothed, 2 * self.spec.curviness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::Ecn;

    const MS: Duration = Duration::from_ms(1);

    #[test]
    fn full_scales_are_powers_of_two() {
        let mut state = State::new(&Spec { f_c: 0, ..Spec::default() }, 2);
        // 125 ms relative to 500 ms, and to 250 ms.
        assert_eq!([state.smoothed(MS * 125), state.coupled(MS * 125)], [0.25, 0.5]);
        let mut state = State::new(&Spec { s_c: 1, k0: 3, f_c: 0, ..Spec::default() }, 2);
        assert_eq!([state.smoothed(MS * 125), state.coupled(MS * 125)], [0.0625, 0.5]);
    }

    #[test]
    fn the_average_moves_by_a_part_of_the_difference() {
        // After n packets with the same delay the average is 1 - (1 - 1/32)^n of it.
        let mut state = State::new(&Spec::default(), 2);
        for n in 1..=100 {
            let part = 1.0 - (31.0_f64 / 32.0).powi(n);
            assert!((state.smoothed(MS * 500) - part).abs() < 1e-12);
        }
    }

    #[test]
    fn curviness_is_the_power() {
        // A classic head of 125 ms, no smoothing: 1/4 to the power of 2U, and 1/2 to the power of
        // U. Five standard deviations of 100,000 trials.
        for (curviness, classic, sigmas_5, low_latency, sigmas_5_low) in
            [(1, 6_250, 383, 50_000, 791), (2, 391, 99, 25_000, 685)]
        {
            let mut state = State::new(&Spec { f_c: 0, curviness, ..Spec::default() }, 2);
            let mut stand = Stand::new(2);
            stand.fill(CLASSIC, Ecn::NotEct, 1);
            stand.fill(LOW_LATENCY, Ecn::Ect1, 6);
            stand.wait(MS * 125);
            let (congested, dropped) = stand.counts(&mut state, CLASSIC, Ecn::NotEct);
            assert!((congested - classic).abs() < sigmas_5 && dropped == 0, "{congested}");
            let (congested, _) = stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1);
            assert!((congested - low_latency).abs() < sigmas_5_low, "{congested}");
            // A seventh packet: six are left, more than the threshold of five.
            stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
            assert_eq!(stand.counts(&mut state, LOW_LATENCY, Ecn::Ect1), (100_000, 0));
        }
    }

    #[test]
    fn low_latency_packets_do_not_move_the_average() {
        let mut state = State::new(&Spec::default(), 2);
        let mut stand = Stand::new(2);
        stand.fill(CLASSIC, Ecn::NotEct, 1);
        stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
        stand.wait(MS * 125);
        stand.departs(&mut state, LOW_LATENCY, Ecn::Ect1);
        assert_eq!(state.average, 0.0);
        stand.departs(&mut state, CLASSIC, Ecn::NotEct);
        assert_eq!(state.average, 0.125 / 32.0);
    }
}
