//! Reaction of BBRv3 to losses and marks: lower bounds for bandwidth and packets in flight, which
//! apply until the next probe, and the fraction of marked packets.

use super::super::Ack;
use super::super::bbr::model::{Rounds, sample};
use super::{NONE, Spec};

/// Delivery and congestion signals of the current round trip.
#[derive(Debug)]
pub struct Signals {
    /// The highest bandwidth of the round trip so far. `delivered` is the largest number of packets
    /// delivered over one round trip.
    pub bandwidth: f64,
    /// See `bandwidth`.
    pub delivered: u32,
    /// Whether packets were lost in this round trip.
    pub loss: bool,
    /// Whether packets were marked in this round trip.
    pub marks: bool,
    /// Whether packets were lost since the last probe ended.
    pub loss_in_cycle: bool,
    /// Whether packets were marked since the last probe ended.
    pub marks_in_cycle: bool,
    /// Number of acknowledgements with losses in a round trip of Startup.
    pub losses: u32,
    /// Whether the last acknowledgement ended a round trip. A loss begins a round trip, so that its
    /// whole flight is observed.
    pub round_begins: bool,
    round_end: u64,
}

impl Signals {
    pub fn new() -> Self {
        Self {
            bandwidth: 0.0,
            delivered: 0,
            loss: false,
            marks: false,
            loss_in_cycle: false,
            marks_in_cycle: false,
            losses: 0,
            round_begins: false,
            round_end: 1,
        }
    }

    /// Called at the end of a probe: congestion caused by the probe must not affect later phases.
    pub fn forget(&mut self) {
        (self.loss, self.marks, self.loss_in_cycle, self.marks_in_cycle) = Default::default();
        (self.bandwidth, self.delivered) = (0.0, 0);
    }

    /// Records a lost packet.
    pub fn on_lost(&mut self, rounds: &Rounds) {
        if !self.loss {
            self.round_end = rounds.delivered;
        }
        (self.loss, self.loss_in_cycle) = (true, true);
    }

    /// Called for an acknowledgement before it is evaluated.
    pub fn on_ack(&mut self, ack: &Ack, rounds: &Rounds) {
        self.round_begins = false;
        let Some(sample) = sample(ack).filter(|_| ack.delivered > 0) else { return };
        self.bandwidth = self.bandwidth.max(sample.per_second());
        self.delivered = self.delivered.max(sample.delivered);
        self.loss |= ack.lost > 0;
        if sample.prior_delivered >= self.round_end {
            self.round_end = rounds.delivered;
            self.round_begins = true;
        }
    }

    /// Called for the same acknowledgement after it is evaluated.
    pub fn after_ack(&mut self, ack: &Ack) {
        let Some(sample) = sample(ack) else { return };
        if self.round_begins {
            (self.bandwidth, self.delivered) = (sample.per_second(), sample.delivered);
        }
        self.loss_in_cycle |= sample.lost > 0;
        self.marks_in_cycle |= sample.marked > 0;
    }
}

/// Bounds of bandwidth and packets in flight; infinite or [`NONE`] where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Bandwidth at which nothing was lost recently.
    pub bandwidth_lo: f64,
    /// Packets in flight without congestion recently.
    pub inflight_lo: u32,
    /// Largest number of packets that the path was seen to hold.
    pub inflight_hi: u32,
}

impl Bounds {
    pub const NONE: Self =
        Self { bandwidth_lo: f64::INFINITY, inflight_lo: NONE, inflight_hi: NONE };

    /// Removes the lower bounds before a probe.
    pub fn reset_lower(&mut self) {
        (self.bandwidth_lo, self.inflight_lo) = (f64::INFINITY, NONE);
    }

    /// Called at the end of a round trip without probing: losses reduce both bounds to `beta` times
    /// their value, but not below what is still delivered; marks reduce the packets in flight.
    pub fn lower(
        &mut self,
        spec: &Spec,
        signals: &Signals,
        max_bandwidth: f64,
        window: u32,
        ecn_alpha: f64,
    ) {
        let mut marked = NONE;
        if signals.marks {
            self.inflight_lo = if self.inflight_lo == NONE { window } else { self.inflight_lo };
            marked = (f64::from(self.inflight_lo) * (1.0 - ecn_alpha * spec.ecn_factor)) as u32;
        }
        if signals.loss {
            if self.bandwidth_lo.is_infinite() {
                self.bandwidth_lo = max_bandwidth;
            }
            self.inflight_lo = if self.inflight_lo == NONE { window } else { self.inflight_lo };
            self.bandwidth_lo = signals.bandwidth.max(self.bandwidth_lo * spec.beta);
            let cut = (f64::from(self.inflight_lo) * spec.beta) as u32;
            self.inflight_lo = signals.delivered.max(cut);
        }
        self.inflight_lo = self.inflight_lo.min(marked);
    }

    /// `inflight_hi` minus the headroom left to other flows.
    pub fn with_headroom(&self, spec: &Spec) -> u32 {
        if self.inflight_hi == NONE {
            return NONE;
        }
        let headroom = ((f64::from(self.inflight_hi) * spec.headroom) as u32).max(1);
        self.inflight_hi.saturating_sub(headroom).max(spec.min_window)
    }
}

/// Fraction of marked packets.
#[derive(Debug)]
pub struct Ecn {
    /// Whether marks count: the round-trip time is short enough.
    pub eligible: bool,
    /// Moving average. It starts at 1, so that a flow that encounters marks at its start reacts to
    /// them.
    pub alpha: f64,
    delivered: u64,
    marked: u64,
    startup_rounds: u32,
}

impl Ecn {
    pub fn new() -> Self {
        Self { eligible: false, alpha: 1.0, delivered: 0, marked: 0, startup_rounds: 0 }
    }

    pub fn on_ack(&mut self, ack: &Ack) {
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.marked);
    }

    /// A round trip has ended. Returns whether it is the second with too many marks.
    pub fn on_round(&mut self, spec: &Spec) -> bool {
        if !self.eligible || self.delivered == 0 {
            return false;
        }
        let share = (self.marked as f64 / self.delivered as f64).min(1.0);
        (self.delivered, self.marked) = (0, 0);
        self.alpha = (1.0 - spec.ecn_alpha_gain) * self.alpha + spec.ecn_alpha_gain * share;
        let many = share >= spec.ecn_threshold;
        self.startup_rounds = if many { self.startup_rounds.saturating_add(1) } else { 0 };
        self.startup_rounds >= 2
    }
}
