//! Random congestion with a constant probability for every packet. Serves to measure how the rate
//! of a sender depends on the congestion probability (the "rate laws": Mathis et al., CCR 1997, for
//! Reno).

use floodway_model::Packet;
use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Probability that an arriving packet is treated as congested, 0 to 1. Default 0.01 (assumed).
    pub probability: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self { probability: 0.01 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.probability("probability", self.probability);
    }
}

impl Spec {
    /// Decides at random for one packet.
    #[inline]
    pub fn selects(&self, rng: &mut Stream) -> bool {
        rng.bernoulli(self.probability)
    }
}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }

    #[inline]
    fn on_arrival(&mut self, _: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        Verdict::congested(self.selects(view.rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_often_as_it_says_and_without_memory() {
        let spec = Spec { probability: 0.1 };
        let mut rng = Stream::named(11, "test");
        let marks: Vec<bool> = (0..100_000).map(|_| spec.selects(&mut rng)).collect();
        // Mean 10000, standard deviation 95; pairs: mean 1000, standard deviation at most 33
        // (Poisson). Bounds are five standard deviations.
        let hits = marks.iter().filter(|mark| **mark).count();
        assert!((9_525..10_475).contains(&hits), "{hits}");
        let pairs = marks.windows(2).filter(|pair| pair[0] && pair[1]).count();
        assert!((835..1_165).contains(&pairs), "{pairs}");
    }

    #[test]
    fn never_and_always() {
        let mut rng = Stream::named(1, "test");
        let hits = |probability, rng: &mut Stream| {
            (0..1_000).filter(|_| Spec { probability }.selects(rng)).count()
        };
        assert_eq!((hits(0.0, &mut rng), hits(1.0, &mut rng)), (0, 1_000));
    }
}
