//! One queue in which scalable congestion controls are marked, and classic ones dropped or marked
//! with the squared probability, so that both get the same rate ("Data center to the home", 2015,
//! slides 18 to 21): a scalable packet with probability p, a classic one with (p/k)². p is the
//! instantaneous queue divided by its full scale, without smoothing, as a slope from the origin.
//!
//! AQM decisions are made at dequeue, as in the deck, whose figures are of the queue "at dequeue":
//! by the bytes that the packet leaves behind, or by its sojourn time. The square is a comparison
//! with the larger of two random numbers. The queues of a port are independent.

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};
use crate::switch::classify::ecn::Scalable;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Which packets are scalable; all others are classic. Default `ecn_capable` (slide 20).
    pub scalable: Scalable,
    /// Whether the queue is measured in bytes or by sojourn time. Default `size` (slide 20).
    pub measure: Measure,
    /// Backlog at which a scalable packet is marked with certainty, with measure = "size". Default
    /// 1650KB (assumed, the deck gives none: `full_time` at 40 Mb/s).
    pub full_size: Bytes,
    /// Sojourn time at which a scalable packet is marked with certainty, with measure = "time".
    /// Default 330ms (assumed, the deck gives none: classic packets are then dropped as by `dualq`,
    /// whose full scale of 2^29 ns is 1.63 times this).
    pub full_time: Duration,
    /// k: classic packets are dropped or marked with probability (p/k)². Default 1.63, with which
    /// Reno and DCTCP get the same rate (slide 19: 2/1.22).
    pub coupling: f64,
}

/// How a queue is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes queued.
    #[default]
    Size,
    /// Sojourn time of the packet.
    Time,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            scalable: Scalable::EcnCapable,
            measure: Measure::Size,
            full_size: Bytes(1_650_000),
            full_time: Duration::from_ms(330),
            coupling: 1.63,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "every scalable packet is marked at this backlog, for example \"1650KB\"";
        findings.positive("full_size", self.full_size, why);
        let why = "every scalable packet is marked at this waiting time";
        findings.positive("full_time", self.full_time, why);
        findings.positive("coupling", self.coupling, "2 is usual");
    }
}

impl Spec {
    /// p: the queue divided by its full scale.
    fn probability(&self, backlog: u64, sojourn: Duration) -> f64 {
        match self.measure {
            Measure::Size => backlog as f64 / self.full_size.0 as f64,
            Measure::Time => sojourn.0 as f64 / self.full_time.0 as f64,
        }
    }
}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;
    const JUDGES_DEPARTURES: bool = true;

    fn scalable(spec: &Self) -> Option<Scalable> {
        Some(spec.scalable)
    }

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }

    fn needs_times(spec: &Self) -> bool {
        spec.measure == Measure::Time
    }

    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let left = view.backlog(queue) - view.occupied(packet);
        let p = self.probability(left, view.sojourn(queue));
        Verdict::congested(match self.scalable.includes(packet.ecn()) {
            true => view.rng.bernoulli(p),
            false => view.squared(p / self.coupling),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::aqm::stand::Stand;
    use floodway_model::Ecn;

    const CLASSIC: Ecn = Ecn::NotEct;
    const SCALABLE: Ecn = Ecn::Ect0;

    #[test]
    fn the_square_is_that_of_the_larger_of_two_numbers() {
        // 1 MB left behind of a full scale of 2 MB: p is 1/2, and with k = 1.25 classic packets
        // meet 0.4² = 0.16. Of 100,000, five standard deviations are 791 and 580.
        let mut spec = Spec { full_size: Bytes(2_000_000), coupling: 1.25, ..Spec::default() };
        let mut stand = Stand::new(1);
        stand.fill(0, SCALABLE, 1_001);
        let mut congested = |ecn| {
            (0..100_000).filter(|_| stand.departs(&mut spec, 0, ecn) == Verdict::Congested).count()
                as i64
        };
        assert!((congested(SCALABLE) - 50_000).abs() < 791);
        assert!((congested(CLASSIC) - 16_000).abs() < 580);
    }

    #[test]
    fn the_slope_starts_from_the_origin() {
        let size = Spec::default();
        assert_eq!(size.probability(0, Duration::from_ms(500)), 0.0);
        assert_eq!(size.probability(165_000, Duration::ZERO), 0.1);
        let time = Spec { measure: Measure::Time, ..size };
        assert_eq!(time.probability(165_000, Duration::from_ms(33)), 0.1);
    }

    #[test]
    fn the_last_packet_of_a_queue_passes_and_the_full_scale_is_certain() {
        let mut spec = Spec::default();
        let mut stand = Stand::new(1);
        stand.fill(0, SCALABLE, 1);
        assert_eq!(stand.departs(&mut spec, 0, SCALABLE), Verdict::Pass);
        stand.fill(0, SCALABLE, 1_650);
        assert_eq!(stand.departs(&mut spec, 0, SCALABLE), Verdict::Congested);
    }

    #[test]
    fn with_the_decks_coupling_rates_are_equal() {
        // Slide 18: a Reno flow sends 1.22/√p per round trip and a DCTCP flow 2/p. The deck rounds
        // 2/1.22 = 1.639.
        let spec = Spec::default();
        for backlog in [10_000, 100_000, 1_000_000] {
            let p = spec.probability(backlog, Duration::ZERO);
            let classic = (p / spec.coupling) * (p / spec.coupling);
            let ratio = (1.22 / classic.sqrt()) / (2.0 / p);
            assert!((ratio - 1.0).abs() < 0.006, "{ratio}");
        }
    }
}
