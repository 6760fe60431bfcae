//! Parameters of TCP.

use std::ops::Bound;

use floodway_model::check::{Check, Findings, count_of};
use floodway_model::packet::length;
use floodway_model::{Bytes, Duration, Ecn, EcnFeedback};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ecn::{Codepoint, Feedback, Signals};
use super::idle::IdleRestart;
use super::loss::LossDetection;
use super::{SYN_FRAME, segment_frame};
use crate::host::congestion::{self, Needs};
use crate::host::transport::{Full, Network, Transport};

/// Parameters of TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Payload of a full segment (MSS). Default 1448B: an IP packet of 1500 bytes without IPv4 and
    /// TCP headers and timestamps.
    pub mss: Bytes,
    /// Initial window: number of segments that may be sent before the receiver has replied. Default
    /// 10 (RFC 6928).
    pub initial_window: u32,
    /// Receive window: maximum payload sent and not acknowledged, in whole segments. Default none:
    /// the receiver's buffer grows with the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// Minimum retransmission timeout, as the minimum difference to the smoothed round-trip time.
    /// Default 200ms (Linux; RFC 6298 requires a total timeout of at least a second).
    pub min_rto: Duration,
    /// Maximum retransmission timeout after backoff. Default 120s (Linux; RFC 6298: at least 60 s).
    pub max_rto: Duration,
    /// Retransmission timeout before the first round-trip time is known, which applies to the first
    /// SYN. Default 1s (RFC 6298, section 2.1).
    pub initial_rto: Duration,
    /// Maximum delay of an acknowledgement. Default 40ms (Linux, minimum).
    pub delayed_ack: Duration,
    /// Number of full segments per acknowledgement. Default 2 (RFC 5681, section 4.2).
    pub ack_every: u32,
    /// Quick acknowledgements: number of acknowledgements at the beginning of a connection that are
    /// not delayed. Default 16 (Linux).
    pub quick_acks: u32,
    /// SACK compression: how long the receiver holds back an acknowledgement of segments behind a gap, once three have
    /// reported that gap. At most this long, and at most a twentieth of the round-trip time of the handshake; at most 44
    /// in a row. Default none: each is acknowledged at once (RFC 5681, section 4.2). Linux: 1ms
    /// (`tcp_comp_sack_delay_ns`, `tcp_comp_sack_nr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack_delay: Option<Duration>,
    /// Whether the receiver acknowledges a segment with CWR at once with DCTCP's feedback, too (Linux), because the sender
    /// may have a window of one segment. With classic feedback it does so in any case (Linux; no RFC asks for it). Default
    /// false: by RFC 8257 only a change of marks is acknowledged at once.
    pub ack_reductions: bool,
    /// Whether a flow whose congestion control has no rate of its own paces its segments over the
    /// round trip: at 200 % of window / smoothed round-trip time in slow start, at 120 % after it
    /// (Linux with `fq`: `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). Default false.
    pub pacing: bool,
    /// Treatment of the window after nothing was sent, and nothing was in flight, for longer than
    /// the retransmission timeout. Default `halve` (Linux).
    pub idle_restart: IdleRestart,
    /// How losses are detected before the retransmission timer expires. Default `rack` (Linux).
    pub loss_detection: LossDetection,
    /// How the receiver reports ECN marks. Default: the form that the congestion control needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Feedback>,
    /// ECN field of ECN-capable segments. Default: `ect1` with accurate feedback (RFC 9331),
    /// otherwise `ect0`.
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
            sack_delay: None,
            ack_reductions: false,
            pacing: false,
            idle_restart: IdleRestart::Halve,
            loss_detection: LossDetection::Rack,
            ecn: None,
            codepoint: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("initial_window", self.initial_window, 1.., "RFC 6928 has 10");
        let why = "1 acknowledges every segment, 2 every second one";
        findings.range("ack_every", self.ack_every, 1.., why);
        findings.within_a_run("min_rto", self.min_rto);
        findings.within_a_run("max_rto", self.max_rto);
        findings.within_a_run("initial_rto", self.initial_rto);
        findings.timeout("initial_rto", self.initial_rto, "RFC 6298 has 1s");
        findings.timeout("max_rto", self.max_rto, "Linux has 120s");
        let remedy = "lower `min_rto`, or raise `max_rto`";
        findings.at_most(("min_rto", self.min_rto), ("max_rto", self.max_rto), remedy);
        let why = "RFC 5681 allows no more; Linux waits 40ms";
        findings.range("delayed_ack", self.delayed_ack, ..=LONGEST_DELAY, why);
        if self.ack_every > 1 && (self.min_rto..=LONGEST_DELAY).contains(&self.delayed_ack) {
            findings.warn(
                ["min_rto", "delayed_ack"],
                format!(
                    "an acknowledgement may wait for {}, and the retransmission timeout for only {} \
                     more than a round trip",
                    self.delayed_ack, self.min_rto
                ),
                "segments that were not lost are sent again: lower `delayed_ack`, or raise `min_rto`",
            );
        }
        self.check_like_linux(findings);
        findings.range("mss", self.mss, SMALLEST_MSS.., "Linux sends no less; 1448B is usual");
        self.check_receive_window(findings);
    }
}

/// Minimum MSS of Linux (`TCP_MIN_SND_MSS`). With a smaller one a SYN would be the longest frame.
const SMALLEST_MSS: Bytes = Bytes(48);

/// Upper limit of RFC 5681, section 4.2.
const LONGEST_DELAY: Duration = Duration::from_ms(500);

impl Spec {
    /// Parameters of the receiver that Linux has and the RFCs do not.
    fn check_like_linux(&self, findings: &mut Findings<'_>) {
        let why = "Linux has 1ms; remove it to acknowledge each segment at once";
        let range = (Bound::Excluded(Duration::ZERO), Bound::Included(LONGEST_DELAY));
        findings.range("sack_delay", self.sack_delay, range, why);
        if self.ack_reductions && matches!(self.ecn, Some(Feedback::Off | Feedback::Accurate)) {
            findings.warn(
                ["ack_reductions", "ecn"],
                "no segment has CWR with this feedback, so none is acknowledged at once for it",
                "remove `ack_reductions`, or write `ecn = \"dctcp\"`",
            );
        }
    }

    fn check_receive_window(&self, findings: &mut Findings<'_>) {
        let Some(window) = self.receive_window.filter(|_| self.mss >= SMALLEST_MSS) else { return };
        let segments = window.0 / self.mss.0;
        if segments == 0 {
            findings.error(
                ["receive_window", "mss"],
                format!("a receive window of {window} holds no segment of {}", self.mss),
                "write at least the payload of one segment, or remove it",
            );
        } else if segments < u64::from(self.ack_every) {
            findings.warn(
                ["receive_window", "ack_every"],
                format!(
                    "a receive window of {window} is {}, and an acknowledgement comes after {}",
                    count_of(segments, "segment"),
                    self.ack_every
                ),
                "every acknowledgement waits for `delayed_ack`: raise `receive_window`, or lower \
                 `ack_every`",
            );
        }
    }
}

impl Transport for Spec {
    fn payload(&self) -> u64 {
        self.mss.0
    }

    fn full(&self) -> Full {
        let usual = "an Ethernet packet of 1500 bytes has room for 1448";
        Full { field: "mss", overhead: length::TCP_OVERHEAD.into(), usual }
    }

    fn frame(&self, payload: u64) -> u16 {
        segment_frame(payload as u16)
    }

    fn initial_window(&self) -> u32 {
        self.initial_window
    }

    fn handshake_frame(&self) -> Option<u16> {
        Some(SYN_FRAME)
    }

    fn answer_frame(&self) -> u16 {
        length::TCP_OVERHEAD
    }

    fn repeats(&self) -> bool {
        true
    }

    fn is_capable(&self, wanted: EcnFeedback) -> bool {
        self.ecn_field(wanted).is_capable()
    }

    fn usual_control(&self) -> congestion::Spec {
        congestion::Spec::Cubic(Default::default())
    }

    fn reports(&self, needs: Needs) -> bool {
        matches!(needs, Needs::Nothing | Needs::Acknowledgements)
    }

    /// Whether the first timeout is longer than a round trip.
    fn check_on(&self, network: &Network, findings: &mut Findings<'_>) {
        let round_trip = network.round_trip;
        if self.initial_rto <= round_trip {
            findings.error(
                "initial_rto",
                format!(
                    "the first retransmission timeout ({}) is not above the round-trip time of an \
                     empty network ({round_trip})",
                    self.initial_rto
                ),
                "every SYN would be sent again: raise it well above the round-trip time",
            );
        }
    }
}

impl Spec {
    /// Number of segments of a message of `bytes`.
    pub fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.mss.0).min(u32::MAX.into()) as u32
    }

    /// Number of whole segments that `payload` bytes fill, at least one.
    pub fn whole_segments(&self, payload: u64) -> u32 {
        (payload / self.mss.0).clamp(1, u32::MAX.into()) as u32
    }

    /// The form of ECN feedback, for a congestion control that needs `wanted`.
    pub fn feedback(&self, wanted: EcnFeedback) -> EcnFeedback {
        self.ecn.map_or(wanted, EcnFeedback::from)
    }

    /// The ECN field of new segments, for a congestion control that needs `wanted`.
    pub fn ecn_field(&self, wanted: EcnFeedback) -> Ecn {
        Signals::new(self.feedback(wanted), self.codepoint).field(false)
    }

    /// The receive window in segments.
    pub fn receive_limit(&self) -> u32 {
        self.receive_window.map_or(u32::MAX, |bytes| self.whole_segments(bytes.0))
    }
}
