use floodway_model::Duration;
use floodway_model::check::{ABOVE_ONE, Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of BBRv1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Pacing and window gain of Startup; Drain paces with its inverse. Default 2.885 (2/ln 2: the
    /// smallest gain that doubles the rate every round trip).
    pub startup_gain: f64,
    /// Window in bandwidth-delay products once the pipe is full. Default 2 (the draft: allows for
    /// delayed and aggregated acknowledgements).
    pub cwnd_gain: f64,
    /// Fraction by which the pacing rate stays below the bandwidth estimate, 0 to 1. Default 0.01
    /// (Linux).
    pub pacing_margin: f64,
    /// Minimum window in packets, also used by ProbeRTT. Default 4 (the draft).
    pub min_window: u32,
    /// Time without a new minimum round-trip time after which ProbeRTT drains the queue to measure
    /// it. Default 10s (the draft).
    pub min_rtt_window: Duration,
    /// Minimum time that ProbeRTT stays at the minimum window, which is also at least a round trip.
    /// Default 200ms (the draft).
    pub probe_rtt_time: Duration,
    /// Fraction of the measured acknowledgement aggregation that is added to the window; 0 adds
    /// nothing (the draft of version 1). Default 1 (Linux, `extra_acked`).
    pub extra_acked_gain: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            startup_gain: 2.885,
            cwnd_gain: 2.0,
            pacing_margin: 0.01,
            min_window: 4,
            min_rtt_window: Duration::from_ms(10_000),
            probe_rtt_time: Duration::from_ms(200),
            extra_acked_gain: 1.0,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        const BBR: &str = "remove it for the published one";
        findings.range("startup_gain", self.startup_gain, ABOVE_ONE, BBR);
        findings.range("cwnd_gain", self.cwnd_gain, 1.0.., BBR);
        findings.range("pacing_margin", self.pacing_margin, 0.0..1.0, BBR);
        findings.range("extra_acked_gain", self.extra_acked_gain, 0.0.., BBR);
        findings.range("min_window", self.min_window, 1.., "Linux has 4");
        findings.positive("min_rtt_window", self.min_rtt_window, "Linux has 10s");
    }
}
