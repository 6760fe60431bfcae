//! Native marking of the low latency queue of DualPI2, independent of classic traffic.

use floodway_model::Duration;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

floodway_model::family! {
    /// Native AQM of the low latency queue. Coupled marks from the classic queue are added. Default
    /// `step`.
    "switch.aqm.dualpi2.low_latency":
    Step = "step" (Step): "Marks a packet that has waited longer than a threshold (Linux).",
    StepPackets = "step_packets" (StepPackets):
        "Marks while more packets than a threshold are left (Linux, `step_packets`).",
    Ramp = "ramp" (Ramp):
        "Marks with a probability that rises from 0 to 1 over a range of waiting times (RFC 9332).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Step(Step::default())
    }
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Sojourn time above which every packet is marked. Default 1ms (Linux, sch_dualpi2).
    pub threshold: Duration,
}

impl Default for Step {
    fn default() -> Self {
        Self { threshold: Duration::from_ms(1) }
    }
}

impl Check for Step {}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepPackets {
    /// Every packet is marked that leaves more packets than this in the queue. Default 5 (assumed,
    /// as `switch.aqm.dualq.threshold`: Linux has no default).
    pub threshold: u32,
}

impl Default for StepPackets {
    fn default() -> Self {
        Self { threshold: 5 }
    }
}

impl Check for StepPackets {}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ramp {
    /// Sojourn time up to which nothing is marked. Default 800us (RFC 9332 appendix A, minTh).
    pub low: Duration,
    /// Width of the ramp: every packet is marked above `low` + `range`. Default 400us (RFC 9332
    /// appendix A, range).
    pub range: Duration,
    /// Nothing is marked while the queue has fewer packets than this, the departing one included.
    /// Default 2 (RFC 9332 appendix A: more than Th_len, one packet).
    pub least_packets: u32,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { low: Duration::from_us(800), range: Duration::from_us(400), least_packets: 2 }
    }
}

impl Check for Ramp {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("range", self.range, "RFC 9332 has 400us");
    }
}

impl Spec {
    /// Probability of marking a packet with this sojourn time in a queue of `packets`, the packet
    /// included.
    pub fn probability(&self, waited: Duration, packets: usize) -> f64 {
        let certain = |marked: bool| f64::from(u8::from(marked));
        match self {
            Self::Step(step) => certain(waited > step.threshold),
            Self::StepPackets(step) => certain(packets > 1 + step.threshold as usize),
            Self::Ramp(ramp) if packets < ramp.least_packets as usize => 0.0,
            Self::Ramp(ramp) => {
                let above = waited.0.saturating_sub(ramp.low.0);
                (above as f64 / ramp.range.0 as f64).min(1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every member gives a probability that does not fall as packets wait longer or as more are
        /// queued, and marks every packet of a queue that is long in both.
        #[test]
        fn a_longer_queue_is_marked_no_less(
            (waited, more) in (0u64..4_000, 0u64..4_000),
            (packets, others) in (1usize..30, 0usize..30),
        ) {
            for low_latency in Spec::all() {
                let probability = |us, packets| low_latency.probability(US * us, packets);
                let (before, after) =
                    (probability(waited, packets), probability(waited + more, packets + others));
                prop_assert!((0.0..=1.0).contains(&before), "{}", low_latency.name());
                prop_assert!(before <= after, "{}: {before} {after}", low_latency.name());
                prop_assert_eq!(probability(10_000, 100), 1.0, "{}", low_latency.name());
                prop_assert_eq!(probability(0, 1), 0.0, "{}", low_latency.name());
            }
        }
    }

    const US: Duration = Duration::from_us(1);

    #[test]
    fn the_step_is_above_its_threshold() {
        let step = Spec::default();
        let probabilities = [US * 1_000, US * 1_001].map(|waited| step.probability(waited, 1));
        assert_eq!(probabilities, [0.0, 1.0]);
    }

    #[test]
    fn the_step_in_packets_counts_those_left() {
        let step = Spec::StepPackets(StepPackets::default());
        assert_eq!([6, 7].map(|packets| step.probability(US, packets)), [0.0, 1.0]);
    }

    #[test]
    fn the_ramp_rises_over_its_range() {
        let ramp = Spec::Ramp(Ramp::default());
        let probability = |us| ramp.probability(US * us, 2);
        assert_eq!(
            [0, 800, 900, 1_000, 1_200, 5_000].map(probability),
            [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]
        );
        assert_eq!(ramp.probability(US * 5_000, 1), 0.0);
    }
}
