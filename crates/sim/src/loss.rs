//! Frames that a link loses at random, one by one or in bursts.
//!
//! The model is that of Gilbert and Elliott (Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", Bell
//! System Technical Journal 42, 1963), with a step for each frame: a link is in a good or in a bad state, each with its
//! probability of loss. Without a bad state, losses are independent. Every transmitter has a random stream of its own.

use floodway_model::random::Stream;
use floodway_model::{NodeId, PortIx};
use serde::Serialize;

/// What one direction of a link loses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The node that sends.
    pub node: NodeId,
    /// The port there.
    pub port: PortIx,
    /// Probability that a frame is lost in the good state.
    pub good: f64,
    /// The same in the bad state.
    pub bad: f64,
    /// Probability that the bad state follows after a frame in the good one; 0 if there is no bad state.
    pub enters: f64,
    /// Probability that the good state follows after a frame in the bad one.
    pub leaves: f64,
}

/// The state of one direction. It begins in the good state.
#[derive(Debug)]
pub struct Random {
    loss: Loss,
    is_bad: bool,
    rng: Stream,
}

impl Random {
    /// At the start of a simulation with this seed; `name` is that of the transmitter.
    pub fn new(loss: &Loss, seed: u64, name: &str) -> Self {
        Self { loss: *loss, is_bad: false, rng: Stream::named(seed, &format!("loss at {name}")) }
    }

    /// Whether the next frame is lost.
    pub fn takes(&mut self) -> bool {
        let Loss { good, bad, enters, leaves, .. } = self.loss;
        let (loses, changes) = if self.is_bad { (bad, leaves) } else { (good, enters) };
        let is_lost = self.rng.bernoulli(loses);
        self.is_bad ^= self.rng.bernoulli(changes);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: u32 = 200_000;

    fn lost(good: f64, bad: f64, enters: f64, leaves: f64) -> Vec<bool> {
        let loss = Loss { node: NodeId(0), port: PortIx(0), good, bad, enters, leaves };
        let mut random = Random::new(&loss, 7, "a test");
        (0..FRAMES).map(|_| random.takes()).collect()
    }

    fn count(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64
    }

    /// Frames lost in a row, on average.
    fn burst(lost: &[bool]) -> f64 {
        let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        count(lost) / begins as f64
    }

    /// 1 % of 200,000 are 2000, with a deviation of sqrt(n p (1 - p)) = 44.5; 99.99 % are within four deviations. A
    /// loss is followed by another one as often as anything else.
    #[test]
    fn independent_losses_are_binomial() {
        let lost = lost(0.01, 1.0, 0.0, 0.0);
        assert!((count(&lost) - 2_000.0).abs() < 4.0 * 44.5, "{}", count(&lost));
        assert!((burst(&lost) - 1.0 / 0.99).abs() < 0.01, "{}", burst(&lost));
    }

    /// With p = 0.01 and r = 0.25 the share of time in the bad state is p / (p + r) = 3.85 %, and a burst lasts for
    /// 1 / r = 4 frames: about 1923 bursts, whose mean has a deviation of sqrt(1 - r) / r / sqrt(1923) = 0.079.
    #[test]
    fn bursts_are_as_long_as_the_bad_state() {
        let lost = lost(0.0, 1.0, 0.01, 0.25);
        let share = count(&lost) / f64::from(FRAMES);
        assert!((share - 0.01 / 0.26).abs() < 0.004, "{share}");
        assert!((burst(&lost) - 4.0).abs() < 4.0 * 0.079, "{}", burst(&lost));
    }

    /// In the bad state half of the frames, in the good one a thousandth: 0.5 p / (p + r) and 0.001 r / (p + r).
    #[test]
    fn both_states_lose() {
        let lost = lost(0.001, 0.5, 0.02, 0.18);
        let share = count(&lost) / f64::from(FRAMES);
        assert!((share - (0.5 * 0.1 + 0.001 * 0.9)).abs() < 0.004, "{share}");
    }
}
