//! NSCC, the network-signal congestion control of Ultra Ethernet (1.0, section 3.6.13): a window that
//! moves by two signals, ECN marks and the queueing delay, which is the round-trip time above its
//! minimum. Each acknowledgement falls into one of four quadrants:
//!
//! | marked | delay | reaction |
//! | --- | --- | --- |
//! | no | below the target | increase in proportion to the distance from the target, or fast increase |
//! | no | above it | fair increase |
//! | yes | below it | none, so that packets can first take other paths |
//! | yes | above it | multiplicative decrease, at most once per round trip |
//!
//! Increases are collected and applied after some bytes or time, with a small unconditional increase.
//! If much less than the window gets through in a round trip plus the target, the window becomes what
//! got through (quick adapt). A trimmed packet takes its size off the window and permits quick adapt.
//!
//! Bytes are those on the wire, with preamble and gap. A packet of full size stands for any packet. The
//! increases are scaled by the bandwidth-delay product (`a`) and by the target (`b`), relative to a
//! reference path, so that it takes the same number of round trips to fill any path. Numbers are those
//! of public notes about Ultra Ethernet 1.0 where these give them, otherwise those of the consortium's
//! simulator uet-htsim. Not modeled: the window penalty that a receiver may ask for (Rcv_Cwnd_Pend), and
//! the time that a receiver needs before it answers (Service_Time), which is zero here.
//!
//! Choices where the notes leave details open or uet-htsim differs:
//!
//! - The mean of the delay covers about the last window: each acknowledgement counts in proportion to
//!   the packets that it reports. uet-htsim has a weight of 1/80 for every acknowledgement.
//! - Quick adapt does not raise the window. In uet-htsim it can.
//! - An acknowledgement without a round-trip time changes only the counters.

#[cfg(test)]
mod tests;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Around, Network};
use super::{Answer, Control, Needs, Path, Trimmed};

/// Parameters of NSCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Round-trip time without queueing from which the window is derived, and first value of the minimum
    /// of round-trip times. Default none: that of the hosts farthest apart, for a full packet and its
    /// acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// Target of the queueing delay. Default none: 0.75 of `base_rtt` if switches trim packets,
    /// otherwise `base_rtt` (Ultra Ethernet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_delay: Option<Duration>,
    /// Maximum window, which is also the initial one, in bandwidth-delay products. Default 1.5 (Ultra
    /// Ethernet).
    pub max_window: f64,
    /// Bandwidth-delay product at which increases are not scaled. Default 150KB (Ultra Ethernet: 100
    /// Gb/s for 12 us).
    pub reference_bdp: Bytes,
    /// Target at which the proportional increase is not scaled. Default 12us (Ultra Ethernet).
    pub reference_target: Duration,
    /// Proportional increase without queueing, in packets per round trip, before scaling. Default 4
    /// (Ultra Ethernet: alpha).
    pub proportional_increase: f64,
    /// Fair increase, in packets per round trip, before scaling. Default 5 (Ultra Ethernet: fi).
    pub fair_increase: f64,
    /// Unconditional increase per `adjust_period`, in packets, before scaling. Default 0.15 (Ultra
    /// Ethernet: eta).
    pub eta: f64,
    /// Fast increase, in bytes per acknowledged byte, before scaling; 0 for none. Default 0.25 (Ultra
    /// Ethernet: fi_scale).
    pub fast_increase: f64,
    /// Queueing delay up to which a window counts as clean for the fast increase. Default none: 1us, but
    /// at most a twelfth of `base_rtt` (uet-htsim: 1us; the limit is assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_delay: Option<Duration>,
    /// Multiplicative decrease: relative reduction of the window, multiplied by the fraction of the mean
    /// delay that is above the target. Default 0.8 (Ultra Ethernet: gamma).
    pub gamma: f64,
    /// Maximum relative reduction of the window at once. Default 0.5 (Ultra Ethernet: max_md_jump).
    pub max_decrease: f64,
    /// Weight of an acknowledgement in the mean delay, 0 to 1. Default none: the packets that it reports,
    /// divided by the window (Ultra Ethernet: a mean over about a round trip). uet-htsim: 0.0125.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_weight: Option<f64>,
    /// Bytes after which collected increases are applied, in packets. Default 8 (Ultra Ethernet:
    /// adjust_bytes).
    pub adjust_packets: f64,
    /// Time after which collected increases are applied. Default none: `base_rtt` (Ultra Ethernet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjust_period: Option<Duration>,
    /// Whether the window becomes what got through if that is far less. Default true (Ultra Ethernet).
    pub quick_adapt: bool,
    /// Quick adapt acts if less than the maximum window divided by 2 to this power got through. Default
    /// 3 (Ultra Ethernet: qa_gate).
    pub qa_gate: u32,
    /// Queueing delay above which quick adapt may act without a loss. Default none: never if switches
    /// trim packets, otherwise four times the target (Ultra Ethernet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qa_threshold: Option<Duration>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            base_rtt: None,
            target_delay: None,
            max_window: 1.5,
            reference_bdp: Bytes(150_000),
            reference_target: Duration::from_us(12),
            proportional_increase: 4.0,
            fair_increase: 5.0,
            eta: 0.15,
            fast_increase: 0.25,
            clear_delay: None,
            gamma: 0.8,
            max_decrease: 0.5,
            delay_weight: None,
            adjust_packets: 8.0,
            adjust_period: None,
            quick_adapt: true,
            qa_gate: 3,
            qa_threshold: None,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let network = "remove it for that of the network";
        findings.positive("base_rtt", self.base_rtt, network);
        let target =
            "remove it for three quarters of a round trip, or for a round trip without trimming";
        findings.positive("target_delay", self.target_delay, target);
        let why = "a smaller window does not fill the path; usual is 1.5";
        findings.range("max_window", self.max_window, 1.0..=1_000.0, why);
        findings.positive("reference_bdp", self.reference_bdp, "usual is 150KB");
        findings.positive("reference_target", self.reference_target, "usual is 12us");
        for (field, value, usual) in [
            ("proportional_increase", self.proportional_increase, "usual are 4 packets"),
            ("fair_increase", self.fair_increase, "usual are 5 packets"),
            ("eta", self.eta, "usual is 0.15 packets"),
            ("fast_increase", self.fast_increase, "usual is 0.25"),
            ("adjust_packets", self.adjust_packets, "usual are 8"),
        ] {
            findings.range(field, value, 0.0..=1_000_000.0, usual);
        }
        findings.between_0_and_1("gamma", self.gamma, "usual is 0.8");
        findings.between_0_and_1("max_decrease", self.max_decrease, "usual is 0.5");
        if let Some(weight) = self.delay_weight {
            findings.weight("delay_weight", weight, "remove it for a mean over a window");
        }
        findings.positive("adjust_period", self.adjust_period, "remove it for a round trip");
        findings.range("qa_gate", self.qa_gate, ..=20, "usual is 3: an eighth");
        findings.positive("qa_threshold", self.qa_threshold, "remove it for the usual one");
    }
}

/// Quantities that the parameters determine for a path, in bytes and seconds.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// A full packet on the wire, and its payload.
    packet: f64,
    payload: u64,
    /// Rate of the link, in bytes per second.
    rate: f64,
    base_rtt: f64,
    target: f64,
    clear: f64,
    /// Proportional increase, per byte and second below the target, in bytes.
    alpha: f64,
    /// Fair increase per round trip, unconditional increase per period, fast increase per byte.
    fair: f64,
    eta: f64,
    fast: f64,
    qa_threshold: f64,
}

impl Scale {
    fn new(spec: &Spec, path: &Path) -> Self {
        let rate = path.line_rate.0 as f64 / 8.0;
        let base_rtt = spec.base_rtt.unwrap_or(path.base_rtt).as_secs().max(1e-12);
        let usual_target = if path.trims { 0.75 } else { 1.0 } * base_rtt;
        let target = spec.target_delay.map_or(usual_target, Duration::as_secs);
        let a = rate * base_rtt / spec.reference_bdp.0 as f64;
        let b = target / spec.reference_target.as_secs();
        let packet = path.wire as f64;
        let usual_threshold = if path.trims { f64::INFINITY } else { 4.0 * target };
        Self {
            packet,
            payload: path.payload,
            rate,
            base_rtt,
            target,
            clear: spec.clear_delay.map_or((base_rtt / 12.0).min(1e-6), Duration::as_secs),
            alpha: spec.proportional_increase * a * b * packet / target,
            fair: spec.fair_increase * a * packet,
            eta: spec.eta * a * packet,
            fast: spec.fast_increase * a,
            qa_threshold: spec.qa_threshold.map_or(usual_threshold, Duration::as_secs),
        }
    }
}

/// State of one flow. Amounts are in bytes, times in seconds.
#[derive(Debug)]
pub struct State {
    scale: Scale,
    /// Window.
    cwnd: f64,
    /// Minimum of the round-trip times, and the maximum window, which follows it.
    base_rtt: f64,
    max_window: f64,
    /// Mean of the queueing delay.
    mean_delay: f64,
    /// Collected increases, in bytes times bytes: they are divided by the window when they are applied.
    increase: f64,
    /// Bytes that have arrived since increases were last applied, and since quick adapt last measured.
    received: f64,
    achieved: f64,
    /// After quick adapt: bytes about which there was feedback since, and bytes then in flight.
    ignored: f64,
    to_ignore: f64,
    /// Bytes that arrived without delay or mark one after the other.
    clean: f64,
    is_fast: bool,
    /// A packet was trimmed since quick adapt last acted.
    trimmed: bool,
    /// When quick adapt measures next; [`Instant::ZERO`] before the first feedback.
    measured_at: Instant,
    adjusted_at: Instant,
    /// When the window was last decreased; `None` if it never was.
    decreased_at: Option<Instant>,
}

impl State {
    /// State of a new flow.
    pub fn new(spec: &Spec, path: &Path) -> Self {
        let scale = Scale::new(spec, path);
        let mut state = Self {
            scale,
            cwnd: 0.0,
            base_rtt: scale.base_rtt,
            max_window: 0.0,
            mean_delay: 0.0,
            increase: 0.0,
            received: 0.0,
            achieved: 0.0,
            ignored: 0.0,
            to_ignore: 0.0,
            clean: 0.0,
            is_fast: false,
            trimmed: false,
            measured_at: Instant::ZERO,
            adjusted_at: Instant::ZERO,
            decreased_at: None,
        };
        state.set_base_rtt(spec, scale.base_rtt);
        state.cwnd = state.max_window;
        state
    }

    fn set_base_rtt(&mut self, spec: &Spec, base_rtt: f64) {
        self.base_rtt = base_rtt;
        let fills = spec.max_window * self.scale.rate * base_rtt;
        self.max_window = fills.max(self.scale.packet);
    }

    /// Sets the window within its limits.
    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd.min(self.max_window).max(self.scale.packet);
    }

    /// Includes a delay about these bytes in the mean.
    fn mix(&mut self, spec: &Spec, delay: f64, bytes: f64) {
        let weight = spec.delay_weight.unwrap_or((bytes / self.cwnd).min(1.0));
        self.mean_delay += weight * (delay - self.mean_delay);
    }

    /// Quick adapt. Returns whether nothing else must change the window.
    fn adapts(&mut self, spec: &Spec, answer: &Answer<'_>, loss: bool, delay: f64) -> bool {
        if !spec.quick_adapt {
            return false;
        }
        let now = answer.now;
        let mut handled = false;
        if self.ignored < self.to_ignore && (loss || answer.marked) {
            handled = true; // this is about the queue from before
        } else if now >= self.measured_at {
            let is_measured = self.measured_at != Instant::ZERO;
            let may = self.trimmed || loss || delay > self.scale.qa_threshold;
            let gate = self.max_window / f64::from(1_u32 << spec.qa_gate.min(20));
            if is_measured && may && self.achieved < gate {
                self.set(self.achieved.min(self.cwnd));
                self.to_ignore = f64::from(answer.in_flight) * self.scale.packet;
                (self.ignored, self.trimmed, handled) = (0.0, false, true);
            }
            self.achieved = 0.0;
            let period = self.base_rtt + self.scale.target;
            self.measured_at = now + Duration((period * 1e12) as u64).max(Duration(1));
        }
        if handled {
            (self.increase, self.received) = (0.0, 0.0);
        }
        handled
    }

    fn on_arrived(&mut self, spec: &Spec, answer: &Answer<'_>) {
        let bytes = f64::from(answer.acked) * self.scale.packet;
        self.received += bytes;
        self.achieved += bytes;
        self.ignored += bytes;
        let Some(rtt) = answer.rtt.map(Duration::as_secs) else { return };
        if rtt < self.base_rtt {
            self.set_base_rtt(spec, rtt);
        }
        let delay = rtt - self.base_rtt;
        self.mix(spec, delay, bytes);
        if self.adapts(spec, answer, false, delay) {
            return;
        }
        let is_long = delay >= self.scale.target;
        if answer.marked || delay > self.scale.clear {
            (self.clean, self.is_fast) = (0.0, false);
        } else {
            self.clean += bytes;
            self.is_fast |= self.clean > self.cwnd;
        }
        match (answer.marked, is_long) {
            (false, false) if self.is_fast && self.scale.fast > 0.0 => {
                self.cwnd += bytes * self.scale.fast;
            }
            (false, false) => {
                self.increase += self.scale.alpha * bytes * (self.scale.target - delay);
            }
            (false, true) => self.increase += self.scale.fair * bytes,
            (true, false) => {}
            (true, true) => self.decrease(spec, answer.now),
        }
        self.apply(spec, answer.now);
    }

    /// Multiplicative decrease, at most once per round trip.
    fn decrease(&mut self, spec: &Spec, now: Instant) {
        let above = self.mean_delay - self.scale.target;
        let last = self.decreased_at;
        if above <= 0.0 || last.is_some_and(|last| now.since(last).as_secs() <= self.base_rtt) {
            return;
        }
        let factor = 1.0 - spec.gamma * above / self.mean_delay;
        self.cwnd *= factor.max(1.0 - spec.max_decrease);
        self.decreased_at = Some(now);
    }

    /// Applies collected increases when that is due.
    fn apply(&mut self, spec: &Spec, now: Instant) {
        let period = spec.adjust_period.map_or(self.scale.base_rtt, Duration::as_secs);
        let is_time = now.since(self.adjusted_at).as_secs() >= period;
        if is_time || self.received > spec.adjust_packets * self.scale.packet {
            self.cwnd += self.increase / self.cwnd;
            if is_time {
                self.cwnd += self.scale.eta;
                self.adjusted_at = now;
            }
            (self.increase, self.received) = (0.0, 0.0);
        }
        self.set(self.cwnd);
    }

    /// The window in bytes on the wire.
    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// A packet was trimmed at the port of its destination, and the receiver controls by credit what
    /// comes through that port: this is no signal for the window (Ultra Ethernet, section 3.6.13.5).
    pub(super) fn on_trimmed_with_credit(&mut self, spec: &Spec) {
        let packet = self.scale.packet;
        // A header has not waited, so it says nothing about the delay.
        self.mix(spec, self.scale.base_rtt, packet);
        self.ignored += packet;
    }

    fn on_trimmed(&mut self, spec: &Spec, answer: &Answer<'_>) {
        let packet = self.scale.packet;
        self.on_trimmed_with_credit(spec);
        self.trimmed = true;
        let answer = Answer { marked: true, ..*answer };
        if !self.adapts(spec, &answer, true, 0.0) {
            self.set(self.cwnd - packet);
        }
    }
}

impl Control for State {
    type Spec = Spec;

    fn needs(_: &Spec) -> Needs {
        Needs::Arrivals
    }

    fn initial_window(spec: &Spec, base_rtt: Duration) -> Option<Duration> {
        let base_rtt = spec.base_rtt.unwrap_or(base_rtt);
        Some(Duration((base_rtt.0 as f64 * spec.max_window) as u64))
    }

    fn check_signals(_: &Spec, around: &Around<'_>, findings: &mut Findings<'_>) {
        if let Some(place) = around.switch.no_marks() {
            around.nothing_marks(place, "ramp", findings);
        }
    }

    fn check_on(spec: &Spec, network: &Network<'_>, findings: &mut Findings<'_>) {
        network.check_base_rtt(spec.base_rtt, findings);
    }

    #[inline]
    fn window(&mut self, _: &Spec, _: Instant) -> Option<u64> {
        let packets = (self.cwnd / self.scale.packet) as u64;
        Some(packets.max(1) * self.scale.payload)
    }

    fn on_answer(&mut self, spec: &Spec, answer: &Answer<'_>) {
        match answer.trimmed {
            Some(Trimmed::InFabric | Trimmed::AtLastHop) => self.on_trimmed(spec, answer),
            None => self.on_arrived(spec, answer),
        }
    }

    fn on_retransmit_timeout(&mut self, _: &Spec, _: Instant) {
        self.ignored += self.scale.packet;
        self.set(self.cwnd - self.scale.packet);
    }
}
