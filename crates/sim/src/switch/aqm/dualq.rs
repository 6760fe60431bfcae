//! The dual queue of "Data center to the home" (2015, slide 29): couples a low latency queue to the
//! delay of a classic queue, with two shifts and a comparison with random numbers.
//!
//! Qr is the sojourn time of the head of the classic queue in nanoseconds; R1 and R2 are random
//! 32-bit numbers. When a low latency packet leaves, it is marked if its queue is still longer than
//! a threshold or if Qr·2^S_d > R1. When a classic packet leaves, it is dropped if Qr·2^S_r exceeds
//! both R1 and R2, that is, with the squared probability. Strict priority for the low latency queue
//! is configured in the scheduler (`switch.scheduler.strict`), classification in
//! `switch.classify.ecn`.

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
    /// Low latency packets are marked whenever more packets than this are left in their queue.
    /// Default 5 (the DCTCP threshold of slide 8).
    pub threshold: u32,
    /// The slope for classic packets, in bits, 0 to 31: at a sojourn time of 2^(32 - s_r) ns the
    /// drop is certain. Default 3, which is 537 ms (assumed, the deck gives none: the draft that
    /// followed it has 500 ms).
    pub s_r: u8,
    /// The slope for low latency packets, in bits, 0 to 31. Default none: `s_r` + 3, a coupling of
    /// 2^3 = 8 (slide 29).
    pub s_d: Option<u8>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { threshold: 5, s_r: 3, s_d: None }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("s_r", self.s_r, 0..=MOST_BITS, "each bit doubles the probability");
        let slope = self.slope_low_latency();
        if self.s_r <= MOST_BITS && slope > MOST_BITS {
            findings.error(
                ["s_d", "s_r"],
                format!("the slope for low latency packets is {slope} bits"),
                format!(
                    "write 0 to {MOST_BITS} for `s_d`, which is `s_r` + 3 if it is not written"
                ),
            );
        }
    }
}

/// The most bits by which a 32-bit number can be shifted.
const MOST_BITS: u8 = 31;

/// One more than the largest random number.
const CERTAIN: u64 = 1 << 32;

/// Log2 of the deck's coupling of 8.
const COUPLING_BITS: u8 = 3;

/// A sojourn time in whole nanoseconds times 2^`slope`, limited to [`CERTAIN`], which is larger
/// than every random number.
fn scaled(waited: Duration, slope: u8) -> u64 {
    let ns = (waited.0 / 1_000).min(CERTAIN);
    (ns << slope).min(CERTAIN)
}

impl Spec {
    /// The slope for low latency packets.
    pub const fn slope_low_latency(&self) -> u8 {
        match self.s_d {
            Some(bits) => bits,
            None => self.s_r.saturating_add(COUPLING_BITS),
        }
    }
}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;
    const JUDGES_DEPARTURES: bool = true;

    fn is_for_two_queues(_: &Self::Spec) -> bool {
        true
    }

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }

    fn on_departure(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        let waited = view.sojourn(CLASSIC);
        let mut exceeds = |scaled: u64| scaled > view.rng.bits() >> 32;
        if queue == LOW_LATENCY {
            let coupled = exceeds(scaled(waited, self.slope_low_latency()));
            let left = view.packets(LOW_LATENCY) - 1;
            return Verdict::congested(coupled || left > self.threshold as usize);
        }
        let scaled = scaled(waited, self.s_r);
        Verdict::congested(exceeds(scaled) && exceeds(scaled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::{Ecn, Rate};

    /// The probability that a shifted sojourn time exceeds one random number.
    fn probability(waited: Duration, slope: u8) -> f64 {
        scaled(waited, slope) as f64 / CERTAIN as f64
    }

    #[test]
    fn probabilities_are_exact() {
        let ns = Duration::from_ns;
        // 1 ns is 2^-32, and each bit of slope doubles it.
        assert_eq!(probability(ns(1), 0), 1.0 / 4_294_967_296.0);
        assert_eq!(probability(ns(1 << 20), 3), 1.0 / 512.0);
        assert_eq!(probability(ns(1 << 20), 6), 1.0 / 64.0);
        // The full scales: 2^29 ns and 2^26 ns.
        assert_eq!(probability(ns((1 << 29) - 1), 3), 1.0 - 8.0 / 4_294_967_296.0);
        assert_eq!([probability(ns(1 << 29), 3), probability(ns(1 << 26), 6)], [1.0, 1.0]);
        // Larger times saturate, whatever the shift: no bits are lost.
        assert_eq!([probability(ns(u64::MAX / 1_000), 31), probability(ns(1 << 40), 0)], [1.0; 2]);
        // Fractions of a nanosecond are ignored.
        assert_eq!(probability(Duration(1_999), 0), probability(ns(1), 0));
    }

    #[test]
    fn frequencies_are_linear_and_squared() {
        // A classic head of 2^24 ns, 16.8 ms: low latency 2^24·2^6/2^32 = 1/4, classic
        // (2^24·2^3/2^32)² = 1/1024. Five standard deviations of 100,000 trials are 685 and 50.
        let mut spec = Spec::default();
        let mut stand = Stand::new(2);
        stand.fill(CLASSIC, Ecn::NotEct, 1);
        stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
        stand.wait(Duration::from_ns(1 << 24));
        let mut congested = |queue, ecn| {
            (0..100_000)
                .filter(|_| stand.departs(&mut spec, queue, ecn) == Verdict::Congested)
                .count() as i64
        };
        assert!((congested(LOW_LATENCY, Ecn::Ect1) - 25_000).abs() < 685);
        assert!((congested(CLASSIC, Ecn::NotEct) - 98).abs() < 50);
    }

    #[test]
    fn the_threshold_is_of_what_is_left() {
        let mut spec = Spec::default();
        let mut stand = Stand::new(2);
        stand.fill(LOW_LATENCY, Ecn::Ect1, 6);
        // Five are left, and the classic queue is empty.
        assert_eq!(stand.departs(&mut spec, LOW_LATENCY, Ecn::Ect1), Verdict::Pass);
        stand.fill(LOW_LATENCY, Ecn::Ect1, 1);
        assert_eq!(stand.departs(&mut spec, LOW_LATENCY, Ecn::Ect1), Verdict::Congested);
    }

    /// Full packets of 1500 bytes per second at 40 Mb/s, and the round-trip time of the deck
    /// without queues.
    const PACKETS: f64 = 40e6 / (8.0 * 1_500.0);
    const BASE_MS: u64 = 8;

    /// Rates in packets per second by the deck's laws (slides 16 and 17) at this classic queue
    /// delay: of a Reno flow through the classic queue, and of a DCTCP flow that bypasses it.
    fn rates(spec: &Spec, waited: Duration) -> (f64, f64) {
        let base = Duration::from_ms(BASE_MS).as_secs();
        let root = probability(waited, spec.s_r);
        let marks = probability(waited, spec.slope_low_latency());
        (1.22 / (root * (base + waited.as_secs())), 2.0 / (marks * base))
    }

    /// The equilibrium of the classic queue: the delay at which the offered load equals the link
    /// rate.
    fn rest(offered: impl Fn(Duration) -> f64) -> f64 {
        let (mut short, mut long) = (1_000, Rate(1).time_for(floodway_model::Bytes(1)).0);
        while long - short > 1 {
            let middle = short.midpoint(long);
            if offered(Duration(middle)) > PACKETS { short = middle } else { long = middle }
        }
        Duration(short).as_secs() * 1e3
    }

    #[test]
    fn where_reno_flows_rest() {
        // n·1.22/(q/F·(8 ms + q)) = 3333/s is a quadratic in q, with F = 2^(32 - S_r) ns:
        // q = -4 ms + √((4 ms)² + n·1.22·F/3333).
        for (s_r, resting) in
            [(1, [24, 36, 59, 85, 121]), (2, [16, 24, 41, 59, 85]), (3, [11, 16, 28, 41, 59])]
        {
            let spec = Spec { s_r, ..Spec::default() };
            for (flows, expected) in [1.0, 2.0, 5.0, 10.0, 20.0].into_iter().zip(resting) {
                let ms = rest(|waited| flows * rates(&spec, waited).0);
                let full = f64::from(1_u32 << (32 - s_r)) * 1e-9;
                let root = (4e-3_f64.powi(2) + flows * 1.22 * full / PACKETS).sqrt();
                assert!((ms - (root - 4e-3) * 1e3).abs() < 1e-3, "{ms}");
                assert_eq!(ms.round() as i32, expected, "{s_r} {flows}");
            }
        }
    }

    #[test]
    fn a_coupling_of_eight_is_fair_at_about_the_decks_queue() {
        // The rates are equal if (8 ms + q)/8 ms = 8·1.22/2 = 4.88: at 31 ms; the deck says 32.
        let spec = Spec::default();
        let ratio = |ms| {
            let (classic, low_latency) = rates(&spec, Duration::from_ms(ms));
            classic / low_latency
        };
        assert!((ratio(31) - 4.88 * 8.0 / 39.0).abs() < 1e-6 && (ratio(31) - 1.0).abs() < 0.002);
        assert!((ratio(32) - 0.976).abs() < 1e-6);
        // With n flows of each kind, n·F·(1.22/(q·(8 ms + q)) + 2/(8·8 ms·q)) = 3333/s, solved by
        // bisection independently of this code. Fewer flows favor Reno, more flows DCTCP.
        for (flows, queue_ms, fairness) in [(1.0, 13.975, 1.777), (5.0, 44.044, 0.750)] {
            let ms = rest(|waited| {
                let (classic, low_latency) = rates(&spec, waited);
                flows * (classic + low_latency)
            });
            assert!((ms - queue_ms).abs() < 1e-3, "{ms}");
            let (classic, low_latency) = rates(&spec, Duration((ms * 1e9) as u64));
            assert!((classic / low_latency - fairness).abs() < 1e-3);
        }
    }
}
