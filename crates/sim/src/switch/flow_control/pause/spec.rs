use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::check::{CheckBeside, Facts};
use crate::switch::flow_control::pausing::{NO_PAUSE, Thresholds, XON_BELOW};
use crate::switch::flow_control::source_flow_control::Mode;

/// Parameters. The defaults are for 10 Gb/s over short links and a buffer of 64 KB per port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// XOFF threshold: occupancy in bytes above which the neighbor is paused. Default 48KB
    /// (assumed: 64 KB per port in the short-range deck, minus 16 KB of headroom; 10 Gb/s over 100
    /// m need 10.3 KB at most).
    pub xoff: Bytes,
    /// XON threshold: occupancy in bytes at or below which the neighbor is resumed. Default 32KB
    /// (assumed: what a port sends in 13 us at 10 Gb/s lies between the two, so that pause frames
    /// are rare).
    pub xon: Bytes,
    /// The occupancy that is compared with the thresholds, which is also the one that
    /// `switch.queue.size` limits if the buffer is not shared. Default `ingress` (assumed: the most
    /// common choice of products).
    pub measured_on: MeasuredOn,
    /// Pause time in quanta of 512 bit times, 1 to 65535. A pause that must last longer is
    /// refreshed after half of it. Default 65535.
    pub quanta: u16,
    /// Response time: how long after the arrival of a pause frame a port takes to stop or to
    /// resume. IEEE 802.3 clause 31B.3.7 allows up to 67 quanta at 10 Gb/s. Default 0ns (assumed).
    pub response: Duration,
    /// Whether all traffic is lossless: then a loss is an error that the run reports, and too
    /// little headroom is an error that `check` reports. Default true; set to false for a buffer
    /// that is known to be too small.
    pub lossless: bool,
}

/// Where occupancy is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// Data bytes that arrived by one port, of all classes, wherever they are queued. Each port has
    /// a buffer of `switch.queue.size` and egress queues have no limit, or the limits of
    /// `switch.buffer.shared` apply.
    #[default]
    Ingress,
    /// Data bytes in all queues of one egress port. Above XOFF every neighbor that has bytes in
    /// them is paused, and so is every further neighbor that adds bytes, until they have fallen to
    /// XON.
    EgressPort,
    /// Data bytes in the whole switch, with the same rule.
    Memory,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            xoff: Bytes(48_000),
            xon: Bytes(32_000),
            measured_on: MeasuredOn::Ingress,
            quanta: u16::MAX,
            response: Duration::ZERO,
            lossless: true,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.below(("xon", self.xon), ("xoff", self.xoff), XON_BELOW);
        findings.range("quanta", self.quanta, 1..=u16::MAX, NO_PAUSE);
        findings.latency("response", self.response);
    }
}

impl CheckBeside for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let flow_control = &facts.switch.flow_control;
        if flow_control.pfc.is_some() {
            findings.error(
                "",
                "PAUSE and PFC are both on",
                "a port obeys one of the two: remove the other, for example with \
                 `switch.flow_control.pfc = false`",
            );
        }
        let sfc = flow_control.source_flow_control.as_ref();
        if sfc.is_some_and(|sfc| sfc.mode == Mode::Proxy) {
            let table = "/switch.flow_control.source_flow_control";
            findings.error(
                [&format!("{table}.mode"), table, ""],
                "edge switches pause hosts by PFC, and PAUSE is on",
                "a port obeys one of the two: write mode = \"native\", or remove \
                 [switch.flow_control.pause]",
            );
        }
    }
}

impl Spec {
    /// The occupancy thresholds for pausing and resuming a neighbor.
    #[inline]
    pub fn thresholds(&self) -> Thresholds {
        Thresholds { xoff: self.xoff, xon: self.xon }
    }
}
