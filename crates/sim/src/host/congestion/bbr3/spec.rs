use floodway_model::Duration;
use floodway_model::check::{ABOVE_ONE, Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of BBRv3. "The draft" is draft-ietf-ccwg-bbr, "the code" is branch v3 of google/bbr.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Pacing gain of Startup. Default 2.77 (the draft: 4 ln 2).
    pub startup_pacing_gain: f64,
    /// Window gain of Startup and Drain. Default 2 (the draft).
    pub startup_cwnd_gain: f64,
    /// Pacing gain of Drain. Default 0.35 (the code, and the first drafts; later drafts have 0.5).
    pub drain_gain: f64,
    /// Pacing gain of ProbeBW_DOWN. Default 0.9 (the draft).
    pub down_gain: f64,
    /// Pacing gain of ProbeBW_UP. Default 1.25 (the draft).
    pub up_gain: f64,
    /// Window in bandwidth-delay products; a quarter more in ProbeBW_UP. Default 2 (the draft).
    pub cwnd_gain: f64,
    /// Fraction by which the pacing rate stays below the bandwidth estimate, 0 to 1. Default 0.01
    /// (the draft).
    pub pacing_margin: f64,
    /// Minimum window in packets. Default 4 (the draft).
    pub min_window: u32,
    /// Fraction of lost packets above which too much was in flight. Default 0.02 (the draft).
    pub loss_threshold: f64,
    /// Number of acknowledgements with losses in a round trip from which on a fraction of lost
    /// packets above `loss_threshold` ends Startup; 0 disables this. Default 6 (the draft).
    pub startup_losses: u32,
    /// Factor applied to the bounds of bandwidth and packets in flight after a loss. Default 0.7
    /// (the draft).
    pub beta: f64,
    /// Fraction of the path's known capacity in flight that is left to other flows while cruising.
    /// Default 0.15 (the draft).
    pub headroom: f64,
    /// Minimum time between bandwidth probes. Default 2s (the draft).
    pub probe_wait: Duration,
    /// Range of the uniformly distributed time added to `probe_wait`. Default 1s (the draft).
    pub probe_wait_spread: Duration,
    /// Maximum number of round trips between bandwidth probes. The limit is lower if the
    /// bandwidth-delay product has fewer packets, because Reno would have reached it by then.
    /// Default 63 (the draft).
    pub probe_rounds: u32,
    /// Time after which the minimum round-trip time expires. Default 10s (the draft).
    pub min_rtt_window: Duration,
    /// Time without a new minimum round-trip time after which ProbeRTT reduces the packets in
    /// flight to measure it. Default 5s (the draft).
    pub probe_rtt_interval: Duration,
    /// Minimum time that ProbeRTT keeps few packets in flight, which is also at least a round trip.
    /// Default 200ms (the draft).
    pub probe_rtt_time: Duration,
    /// Bandwidth-delay products in flight in ProbeRTT. Default 0.5 (the draft).
    pub probe_rtt_cwnd_gain: f64,
    /// Fraction of the measured acknowledgement aggregation that is added to the window. Default 1
    /// (the code, `extra_acked`).
    pub extra_acked_gain: f64,
    /// Whether ECN marks count. Use this only where switches mark at shallow thresholds, as for
    /// DCTCP, and with feedback that reports the number of marked packets. Default false (the code:
    /// per route, `ecn_low`).
    pub ecn: bool,
    /// Maximum round-trip time at which marks count; 0s is no limit. Default 5ms (the code).
    pub ecn_max_rtt: Duration,
    /// Weight of the last round trip in the smoothed fraction of marked packets. Default 1/16 (the
    /// code).
    pub ecn_alpha_gain: f64,
    /// Factor of the reduction in a marked round trip: the bound of packets in flight is cut by the
    /// smoothed fraction of marked packets times this. Default 1/3 (the code).
    pub ecn_factor: f64,
    /// Fraction of marked packets above which too much was in flight; two such round trips end
    /// Startup. Default 0.5 (the code).
    pub ecn_threshold: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            startup_pacing_gain: 2.77,
            startup_cwnd_gain: 2.0,
            drain_gain: 0.35,
            down_gain: 0.9,
            up_gain: 1.25,
            cwnd_gain: 2.0,
            pacing_margin: 0.01,
            min_window: 4,
            loss_threshold: 0.02,
            startup_losses: 6,
            beta: 0.7,
            headroom: 0.15,
            probe_wait: Duration::from_ms(2_000),
            probe_wait_spread: Duration::from_ms(1_000),
            probe_rounds: 63,
            min_rtt_window: Duration::from_ms(10_000),
            probe_rtt_interval: Duration::from_ms(5_000),
            probe_rtt_time: Duration::from_ms(200),
            probe_rtt_cwnd_gain: 0.5,
            extra_acked_gain: 1.0,
            ecn: false,
            ecn_max_rtt: Duration::from_ms(5),
            ecn_alpha_gain: 1.0 / 16.0,
            ecn_factor: 1.0 / 3.0,
            ecn_threshold: 0.5,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        const DEFAULT: &str = "remove it for the published one";
        for (field, gain) in [
            ("startup_pacing_gain", self.startup_pacing_gain),
            ("startup_cwnd_gain", self.startup_cwnd_gain),
            ("up_gain", self.up_gain),
        ] {
            findings.range(field, gain, ABOVE_ONE, DEFAULT);
        }
        findings.between_0_and_1("drain_gain", self.drain_gain, DEFAULT);
        findings.between_0_and_1("down_gain", self.down_gain, DEFAULT);
        findings.range("cwnd_gain", self.cwnd_gain, 1.0.., DEFAULT);
        for (field, share) in [
            ("pacing_margin", self.pacing_margin),
            ("loss_threshold", self.loss_threshold),
            ("headroom", self.headroom),
            ("ecn_factor", self.ecn_factor),
        ] {
            findings.range(field, share, 0.0..1.0, DEFAULT);
        }
        findings.range("probe_rtt_cwnd_gain", self.probe_rtt_cwnd_gain, 0.0.., DEFAULT);
        findings.range("extra_acked_gain", self.extra_acked_gain, 0.0.., DEFAULT);
        findings.weight("beta", self.beta, DEFAULT);
        findings.weight("ecn_alpha_gain", self.ecn_alpha_gain, DEFAULT);
        findings.weight("ecn_threshold", self.ecn_threshold, DEFAULT);
        findings.range("min_window", self.min_window, 1.., "4 is published");
        let interval = self.probe_rtt_interval;
        findings.positive("probe_rtt_interval", interval, DEFAULT);
        findings.at_most(
            ("probe_rtt_interval", interval),
            ("min_rtt_window", self.min_rtt_window),
            "the shortest round-trip time would be forgotten before it is measured again: raise `min_rtt_window`",
        );
    }
}
