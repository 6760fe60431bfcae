//! The RED-shaped curve on the instantaneous queue depth that data-center switches offer as
//! "WRED with ECN" (DCQCN, SIGCOMM 2015, figure 5): never below `low`, with a probability that
//! rises linearly to `max_probability` between `low` and `high`, and above `high` as
//! [`AboveHigh`] says. Congestion Isolation uses the same curve to choose congesting flows.

use floodway_model::random::Stream;
use floodway_model::{Bytes, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Aqm, Verdict, View};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Depth up to which nothing is selected. Default 10KB (Congestion Isolation decks).
    pub low: Bytes,
    /// Depth at which the probability reaches `max_probability`. Default 300KB (same decks).
    pub high: Bytes,
    /// Probability at `high`, 0 to 1. Default 0.01 (same decks).
    pub max_probability: f64,
    /// What happens above `high`. Default `step`, as in RED and in DCQCN.
    pub above_high: AboveHigh,
}

/// The curve above its high threshold. The decks give "max probability 1 %" and leave this open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AboveHigh {
    /// The probability is 1.
    #[default]
    Step,
    /// The probability stays at `max_probability`.
    Cap,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            low: Bytes(10_000),
            high: Bytes(300_000),
            max_probability: 0.01,
            above_high: AboveHigh::Step,
        }
    }
}

impl Spec {
    /// The probability of being selected for a packet that finds `backlog` bytes in the queue.
    pub fn probability(&self, backlog: u64) -> f64 {
        if backlog <= self.low.0 {
            0.0
        } else if backlog < self.high.0 {
            let way = (backlog - self.low.0) as f64 / (self.high.0 - self.low.0) as f64;
            self.max_probability * way
        } else {
            match self.above_high {
                AboveHigh::Step => 1.0,
                AboveHigh::Cap => self.max_probability,
            }
        }
    }

    /// Rolls the dice for a packet that finds `backlog` bytes in the queue.
    #[inline]
    pub fn selects(&self, backlog: u64, chance: &mut Stream) -> bool {
        backlog > self.low.0 && chance.chance(self.probability(backlog))
    }
}

/// It remembers nothing.
pub type State = Spec;

impl Aqm for Spec {
    type Spec = Self;

    fn new(spec: &Self, _: usize) -> Self {
        spec.clone()
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, _: &Packet, view: &mut View<'_>) -> Verdict {
        Verdict::congested(self.selects(view.backlog(queue), view.chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decks_curve() {
        let ramp = Spec::default();
        assert_eq!(ramp.probability(10_000), 0.0);
        // Half way from 10 KB to 300 KB: half of 1 %.
        assert!((ramp.probability(155_000) - 0.005).abs() < 1e-15);
        assert_eq!(ramp.probability(300_000), 1.0);
        let capped = Spec { above_high: AboveHigh::Cap, ..ramp };
        assert_eq!(capped.probability(900_000), 0.01);
    }

    #[test]
    fn dice_follow_the_curve() {
        let ramp = Spec::default();
        let mut chance = Stream::named(3, "test");
        let hits = (0..100_000).filter(|_| ramp.selects(155_000, &mut chance)).count();
        // Mean 500, standard deviation 22.3: five of them.
        assert!((388..612).contains(&hits), "{hits}");
        assert!(!(0..1_000).any(|_| ramp.selects(10_000, &mut chance)));
    }
}
