//! What BBRv3 makes of losses and marks: lower bounds for bandwidth and what is in flight, that
//! hold until the next probe, and the share of marked packets.

use super::super::Ack;
use super::super::bbr::model::{Rounds, sample};
use super::{NONE, Spec};

/// The delivery of the current round trip, and what went wrong in it.
#[derive(Debug)]
pub struct Signals {
    /// The highest bandwidth of the round trip so far, and the most packets that were delivered
    /// over one.
    pub bandwidth: f64,
    /// See `bandwidth`.
    pub delivered: u32,
    /// Packets were lost in this round trip.
    pub loss: bool,
    /// Packets were marked in this round trip.
    pub marks: bool,
    /// Packets were lost since the last probe ended.
    pub loss_in_cycle: bool,
    /// Packets were marked since the last probe ended.
    pub marks_in_cycle: bool,
    /// Acknowledgements with losses in a round trip of Startup.
    pub losses: u32,
    /// Whether the last acknowledgement ended a round trip; a loss begins one, so that all of its
    /// flight is seen.
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

    /// At the end of a probe: what it did to the network is not held against later phases.
    pub fn forget(&mut self) {
        (self.loss, self.marks, self.loss_in_cycle, self.marks_in_cycle) = Default::default();
        (self.bandwidth, self.delivered) = (0.0, 0);
    }

    /// A packet is lost.
    pub fn on_lost(&mut self, rounds: &Rounds) {
        if !self.loss {
            self.round_end = rounds.delivered;
        }
        (self.loss, self.loss_in_cycle) = (true, true);
    }

    /// An acknowledgement, before it is judged.
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

    /// The same acknowledgement, after it is judged.
    pub fn after_ack(&mut self, ack: &Ack) {
        let Some(sample) = sample(ack) else { return };
        if self.round_begins {
            (self.bandwidth, self.delivered) = (sample.per_second(), sample.delivered);
        }
        self.loss_in_cycle |= sample.lost > 0;
        self.marks_in_cycle |= sample.marked > 0;
    }
}

/// Bounds of what is in flight and of the bandwidth, [`NONE`] and infinite where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The bandwidth at which nothing was lost lately.
    pub bandwidth_lo: f64,
    /// What was in flight when nothing went wrong lately.
    pub inflight_lo: u32,
    /// The most that the path was seen to hold.
    pub inflight_hi: u32,
}

impl Bounds {
    pub const NONE: Self =
        Self { bandwidth_lo: f64::INFINITY, inflight_lo: NONE, inflight_hi: NONE };

    /// Before a probe the lower bounds do not hold any more.
    pub fn reset_lower(&mut self) {
        (self.bandwidth_lo, self.inflight_lo) = (f64::INFINITY, NONE);
    }

    /// At the end of a round trip without probing: losses cut both bounds to `beta`, but not below
    /// what is delivered all the same; marks cut what is in flight.
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

    /// `inflight_hi` without the share that is left to others.
    pub fn with_headroom(&self, spec: &Spec) -> u32 {
        if self.inflight_hi == NONE {
            return NONE;
        }
        let headroom = ((f64::from(self.inflight_hi) * spec.headroom) as u32).max(1);
        self.inflight_hi.saturating_sub(headroom).max(spec.min_window)
    }
}

/// The share of marked packets.
#[derive(Debug)]
pub struct Ecn {
    /// Marks count: the round-trip time is short enough.
    pub eligible: bool,
    /// The moving average; 1 at first, so that a flow that begins into marks reacts to them.
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

    /// A round trip has ended. Whether it is the second with too many marks.
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
