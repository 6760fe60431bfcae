//! Parameters.

use floodway_model::{Bytes, Duration, Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ecn::{Codepoint, Feedback, Signals};
use super::idle::IdleRestart;
use super::loss::LossDetection;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full segment. Default 1448B: 1500 bytes of IP packet without IPv4 and TCP
    /// headers and timestamps.
    pub mss: Bytes,
    /// Segments that may be sent before the receiver has answered. Default 10 (RFC 6928).
    pub initial_window: u32,
    /// The most payload that is sent and not acknowledged, in whole segments, because the receiver
    /// has room for no more. Default none: the receiver's buffer grows with the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// The least that the retransmission timeout is above the smoothed round-trip time. Default
    /// 200ms (Linux; RFC 6298 asks for a whole timeout of at least a second).
    pub min_rto: Duration,
    /// The longest retransmission timeout, backed off. Default 120s (Linux; RFC 6298: at least
    /// 60 s).
    pub max_rto: Duration,
    /// The retransmission timeout before the first round-trip time is known, so that of the first
    /// SYN. Default 1s (RFC 6298, section 2.1).
    pub initial_rto: Duration,
    /// How long an acknowledgement may wait for another segment. Default 40ms (Linux, least).
    pub delayed_ack: Duration,
    /// Full segments per acknowledgement. Default 2 (RFC 5681, section 4.2).
    pub ack_every: u32,
    /// Acknowledgements at the beginning of a connection that are not delayed. Default 16 (Linux).
    pub quick_acks: u32,
    /// Whether a flow whose congestion control has no rate of its own spreads its segments over
    /// the round trip: at 200 % of window / smoothed round-trip time in slow start, at 120 % after
    /// it (Linux with `fq`: `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). Default false.
    pub pacing: bool,
    /// What becomes of the window when nothing was sent, and nothing was in flight, for longer than
    /// the retransmission timeout. Default `halve` (Linux).
    pub idle_restart: IdleRestart,
    /// How losses are found before the retransmission timer rings. Default `rack` (Linux).
    pub loss_detection: LossDetection,
    /// How the receiver tells of marks. Default: what the congestion control wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Feedback>,
    /// The ECN field of segments that are ECN-capable. Default: `ect1` with accurate feedback (RFC
    /// 9331), else `ect0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codepoint: Option<Codepoint>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            mss: Bytes(1_448),
            initial_window: 10,
            receive_window: None,
            min_rto: Duration::from_ms(200),
            max_rto: Duration::from_ms(120_000),
            initial_rto: Duration::from_ms(1_000),
            delayed_ack: Duration::from_ms(40),
            ack_every: 2,
            quick_acks: 16,
            pacing: false,
            idle_restart: IdleRestart::Halve,
            loss_detection: LossDetection::Rack,
            ecn: None,
            codepoint: None,
        }
    }
}

impl Spec {
    /// Segments of a message of `bytes`.
    pub fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.mss.0).min(u32::MAX.into()) as u32
    }

    /// The whole segments that `payload` bytes fill, at least one.
    pub fn whole_segments(&self, payload: u64) -> u32 {
        (payload / self.mss.0).clamp(1, u32::MAX.into()) as u32
    }

    /// How the receiver tells of marks, where the congestion control wants `wanted`.
    pub fn feedback(&self, wanted: EcnFeedback) -> EcnFeedback {
        self.ecn.map_or(wanted, EcnFeedback::from)
    }

    /// The ECN field of new segments, likewise.
    pub fn ecn_field(&self, wanted: EcnFeedback) -> Ecn {
        Signals::new(self.feedback(wanted), self.codepoint).field(false)
    }

    /// The most segments that the receiver has room for.
    pub fn receive_limit(&self) -> u32 {
        self.receive_window.map_or(u32::MAX, |bytes| self.whole_segments(bytes.0))
    }
}
