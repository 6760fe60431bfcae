//! Bitrate by throughput: the bandwidth estimator of FESTIVE (Jiang, Sekar and Zhang, "Improving
//! Fairness, Efficiency, and Stability in HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT
//! 2012), without its randomized schedule and its gradual changes.
//!
//! The throughput of a segment is its size over the time from its request to its arrival. The
//! estimate is the harmonic mean over the last segments, in which a single fast one counts little.

use floodway_model::Rate;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Number of segments in the harmonic mean. Default 20 (FESTIVE).
    pub samples: u32,
    /// Fraction of the estimate that the bitrate may have, above 0 and at most 1. Default 0.85
    /// (FESTIVE).
    pub safety: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self { samples: 20, safety: 0.85 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("samples", self.samples, 1.., "FESTIVE has 20");
        findings.weight("safety", self.safety, "FESTIVE has 0.85");
    }
}

impl Spec {
    /// The highest bitrate of at most `safety` times the estimate; the lowest one if there is none,
    /// and for the first segment.
    pub fn choose(&self, view: View<'_>) -> Rate {
        let recent = view.past.iter().rev().take(self.samples as usize);
        let (mut count, mut inverse) = (0.0, 0.0);
        for rate in recent.filter_map(|segment| segment.throughput()) {
            count += 1.0;
            inverse += 1.0 / rate;
        }
        let limit = if count > 0.0 { self.safety * count / inverse } else { 0.0 };
        let fits = |rate: &&Rate| rate.0 as f64 <= limit;
        view.ladder.iter().rev().find(fits).copied().unwrap_or_else(|| view.least())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Segment;
    use super::*;
    use floodway_model::{Duration, Instant};

    /// A segment of this many bytes that took this many milliseconds.
    fn took(bytes: u64, ms: u64) -> Segment {
        Segment {
            requested: Instant::ZERO,
            bitrate: Rate::from_mbps(1),
            bytes,
            last: 0,
            acknowledged: Some(Instant::ZERO + Duration::from_ms(ms)),
        }
    }

    /// 1 MB in 4 s, 1 s and 2 s is 2, 8 and 4 Mb/s. The harmonic mean of all is 3 / (1/2 + 1/8 + 1/4)
    /// = 3.43 Mb/s, and that of the last two is 2 / (1/8 + 1/4) = 5.33 Mb/s.
    #[test]
    fn harmonic_means_by_hand() {
        let past = [4_000, 1_000, 2_000].map(|ms| took(1_000_000, ms));
        let ladder: Vec<Rate> = (1..=8).map(Rate::from_mbps).collect();
        let choose = |samples: u32, safety: f64, past: &[Segment]| {
            let view = View { ladder: &ladder, past, buffer: Duration::ZERO };
            Spec { samples, safety }.choose(view).0 / 1_000_000
        };
        assert_eq!(choose(20, 1.0, &past), 3);
        assert_eq!(choose(2, 1.0, &past), 5);
        assert_eq!(choose(1, 1.0, &past), 4);
        // 0.85 times 5.33 is 4.53, and 0.5 times 3.43 is 1.71.
        assert_eq!(choose(2, 0.85, &past), 4);
        assert_eq!(choose(20, 0.5, &past), 1);
        // Nothing is known, and nothing fits: the lowest.
        assert_eq!(choose(20, 1.0, &[]), 1);
        assert_eq!(choose(20, 0.1, &past), 1);
    }
}
