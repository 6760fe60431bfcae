//! SLEEK: inference of losses without trimming, optional in Ultra Ethernet, as uet-htsim has it (`uec.cpp`;
//! heritage: STrack).
//!
//! - A sender enters recovery when its receiver holds so many packets above the first one that is missing
//!   that reordering is no explanation: `window_factor` windows, at most 1.5 bandwidth-delay products, and
//!   at least `min_packets`. In recovery, packets up to a window above the first missing one that were sent
//!   before its beginning and have not arrived are retransmitted, each once. It ends when everything that
//!   had been sent at its beginning is acknowledged.
//! - If the last packets of a message or of a window are lost, nothing arrives above them. A sender that
//!   has sent nothing and heard nothing for a while sends a probe, which its receiver acknowledges. If the
//!   answer comes quickly, what was sent well before the probe and has not arrived is retransmitted.
//!
//! Assumed: a probe is a request, in the control class, so that it does not wait behind data; a packet that
//! is taken for lost leaves the window of congestion control as it is, and counts for its entropy value as
//! one that was trimmed.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sender::State as Is;
use super::{Sender, Spec as Uet};
use crate::host::congestion::Path;

/// Parameters of SLEEK. Times are in round-trip times of a full packet and its acknowledgement between the
/// hosts farthest apart, on the idle network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Number of packets above the first missing one that make it a loss, in windows, which count at most
    /// 1.5 bandwidth-delay products. Default 1.5 (uet-htsim).
    pub window_factor: f64,
    /// Minimum of that number. Default 5 (uet-htsim).
    pub min_packets: u32,
    /// Time without a packet sent and without an acknowledgement after which a probe is sent. Default 3
    /// (uet-htsim).
    pub probe_after: f64,
    /// The same when the whole message has been sent; an answer within this time is a quick one. Default
    /// 2 (uet-htsim: one, and the target delay of NSCC, which is one without trimming).
    pub probe_tail: f64,
    /// Time from a probe to the next. Default 5 (uet-htsim).
    pub probe_again: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            window_factor: 1.5,
            min_packets: 5,
            probe_after: 3.0,
            probe_tail: 2.0,
            probe_again: 5.0,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "below a part of a window, reordering is taken for loss; usual is 1.5";
        findings.range("window_factor", self.window_factor, 0.1..=10.0, why);
        findings.range("min_packets", self.min_packets, 1..=1_000, "usual are 5");
        let why = "earlier, an acknowledgement may still be on its way; usual are 3";
        findings.range("probe_after", self.probe_after, 1.0..=1_000.0, why);
        let why = "earlier, an acknowledgement may still be on its way; usual are 2";
        findings.range("probe_tail", self.probe_tail, 1.0..=1_000.0, why);
        let why = "earlier, the answer may still be on its way; usual are 5";
        findings.range("probe_again", self.probe_again, 1.0..=1_000.0, why);
    }
}

/// A maximum window, in bandwidth-delay products (MaxWnd).
pub(super) const MAX_WINDOW: f64 = 1.5;

/// State of one sender.
#[derive(Debug)]
pub(super) struct State {
    spec: Spec,
    base_rtt: Duration,
    /// A maximum window in packets.
    most: f64,
    /// During recovery.
    recovery: Option<Recovery>,
    /// When a probe is due unless something happens before, and whether that time has passed.
    pub probe_at: Instant,
    is_due: bool,
    /// When the probe was sent that is not answered.
    probed_at: Option<Instant>,
}

/// Losses are being repaired.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// The first packet that had not been sent.
    until: u32,
    /// What was sent until then and has not arrived is lost.
    sent_by: Instant,
}

impl State {
    /// For a sender on this path.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let bdp = path.line_rate.0 as f64 / 8.0 * path.base_rtt.as_secs();
        Self {
            spec: spec.clone(),
            base_rtt: path.base_rtt,
            most: MAX_WINDOW * bdp / path.wire.max(1) as f64,
            recovery: None,
            probe_at: Instant::NEVER,
            is_due: false,
            probed_at: None,
        }
    }

    fn times(&self, round_trips: f64) -> Duration {
        Duration((self.base_rtt.0 as f64 * round_trips) as u64)
    }

    /// The window as it counts here, in packets.
    fn window(&self, window: u32) -> f64 {
        match window {
            // Without credit there is none.
            0 => self.most,
            _ => f64::from(window).min(self.most),
        }
    }

    /// The timer may have expired.
    pub fn on_timer(&mut self, now: Instant) {
        if self.probe_at <= now {
            (self.probe_at, self.is_due) = (Instant::NEVER, true);
        }
    }
}

impl Sender {
    /// Something was sent or has come: the time until a probe begins anew.
    pub(super) fn reset_probe(&mut self, now: Instant) {
        let (in_flight, all_sent) = (self.in_flight() > 0, self.is_handed_over());
        let Some(sleek) = &mut self.sleek else { return };
        let wait = if all_sent { sleek.spec.probe_tail } else { sleek.spec.probe_after };
        sleek.is_due = false;
        sleek.probe_at = if in_flight { now + sleek.times(wait) } else { Instant::NEVER };
    }

    /// Whether it is time for a probe, which is sent then.
    pub(super) fn takes_probe(&mut self, now: Instant) -> bool {
        let Some(sleek) = &mut self.sleek else { return false };
        if !std::mem::take(&mut sleek.is_due) {
            return false;
        }
        sleek.probed_at = Some(now);
        sleek.probe_at = now + sleek.times(sleek.spec.probe_again);
        true
    }

    /// An acknowledgement has arrived; `names`: it names the packet that it answers, so that it does not
    /// answer a probe.
    pub(super) fn infer_losses(&mut self, names: bool, now: Instant) {
        let (window, fresh) = (self.window(), self.fresh());
        let (first, above) = (self.unacknowledged(), self.held_above());
        let Some(sleek) = &mut self.sleek else { return };
        let window = sleek.window(window);
        sleek.recovery = sleek.recovery.filter(|recovery| first < recovery.until);
        let threshold =
            (sleek.spec.window_factor * window).min(sleek.most).max(sleek.spec.min_packets.into());
        if f64::from(above) >= threshold && sleek.recovery.is_none() {
            sleek.recovery = Some(Recovery { until: fresh, sent_by: now });
        }
        if !names && let Some(probed_at) = sleek.probed_at.take() {
            let quick = sleek.times(sleek.spec.probe_tail);
            if now.since(probed_at) < quick && sleek.recovery.is_none() {
                let sent_by = Instant(probed_at.0.saturating_sub(quick.0));
                sleek.recovery = Some(Recovery { until: fresh, sent_by });
            }
        }
        let Some(Recovery { sent_by, .. }) = sleek.recovery else { return };
        let last = first.saturating_add((window as u32).max(1)).min(fresh);
        for psn in first..last {
            let is_lost = |slot: &(Is, Instant)| slot.0 == Is::Sent && slot.1 <= sent_by;
            if self.transmission(psn).is_some_and(|slot| is_lost(&slot)) {
                self.take_for_lost(psn);
            }
        }
        self.sweep();
    }
}

/// Checks that enough packets may be in flight to infer a loss.
pub(super) fn check_on(uet: &Uet, sleek: &Spec, bdp_packets: f64, findings: &mut Findings<'_>) {
    let needs = (MAX_WINDOW * bdp_packets).max(sleek.min_packets.into());
    if needs >= f64::from(uet.psn_range) {
        findings.warn(
            ["psn_range", "sleek"],
            format!(
                "a loss is inferred when {needs:.0} later packets have arrived, and `psn_range` is {}",
                uet.psn_range
            ),
            "senders of full windows stop before that and wait for a probe: raise `psn_range`",
        );
    }
}
