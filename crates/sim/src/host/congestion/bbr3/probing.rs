//! ProbeBW of BBRv3: the cycle of DOWN, CRUISE, REFILL and UP, and the upper bound that it finds.

use floodway_model::{Duration, Instant};

use super::super::bbr::model::sample;
use super::super::{Ack, Phase};
use super::{Flow, Mode, NONE, Spec};

/// Which packets, relative to a probe, the current acknowledgements are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// No relation to a probe.
    Unrelated,
    /// Packets from before the probe.
    Starting,
    /// Packets of the probe.
    Feedback,
    /// Packets of a probe that has ended.
    Stopping,
}

/// State of the bandwidth probe, and the time until the next one.
#[derive(Debug)]
pub struct Probe {
    pub acks: Acks,
    /// Time at which DOWN or UP began.
    pub since: Instant,
    /// Time from DOWN to the next probe.
    wait: Duration,
    /// Round trips since DOWN.
    pub rounds: u32,
    /// Whether samples can still show that the probe put too much in flight; this is reported once
    /// per probe.
    pub samples: bool,
    /// Whether the last probe put too much in flight, or has not ended yet.
    was_too_high: bool,
    /// Whether the last probe ended early as a precaution against that.
    stopped_early: bool,
    /// Acknowledged packets per packet by which `inflight_hi` grows; [`NONE`] outside UP.
    per_growth: u32,
    acked: u32,
    /// Round trips in UP; growth doubles in each.
    growth_rounds: u32,
}

impl Probe {
    pub fn new() -> Self {
        Self {
            acks: Acks::Unrelated,
            since: Instant::ZERO,
            wait: Duration::ZERO,
            rounds: 0,
            samples: false,
            was_too_high: false,
            stopped_early: false,
            per_growth: NONE,
            acked: 0,
            growth_rounds: 0,
        }
    }
}

impl Flow {
    /// DOWN: drain the queue of the probe, and choose the time of the next one.
    pub(super) fn begin_down(&mut self, spec: &Spec, now: Instant) {
        self.signals.forget();
        let spread = spec.probe_wait_spread.0;
        let more = if spread == 0 { 0 } else { self.stream.below(spread) };
        self.probe.wait = Duration(spec.probe_wait.0.saturating_add(more));
        self.probe.rounds = self.stream.below(2) as u32;
        self.probe.per_growth = NONE;
        self.probe.since = now;
        self.probe.acks = Acks::Stopping;
        self.rounds.restart();
        self.mode = Mode::Down;
    }

    /// CRUISE: send at the bandwidth and leave headroom.
    pub(super) fn begin_cruise(&mut self) {
        if self.bounds.inflight_lo != NONE {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.mode = Mode::Cruise;
    }

    /// REFILL: fill the pipe for a round trip. Otherwise a shallow buffer would overflow in UP
    /// before the bandwidth is fully used.
    fn begin_refill(&mut self, growth_rounds: u32) {
        self.bounds.reset_lower();
        self.probe.growth_rounds = growth_rounds;
        self.probe.acked = 0;
        self.probe.stopped_early = false;
        self.probe.acks = Acks::Unrelated;
        self.rounds.restart();
        self.mode = Mode::Refill;
    }

    /// UP: send faster than the bandwidth and allow more in flight.
    fn begin_up(&mut self, now: Instant, bandwidth: f64) {
        self.probe.acks = Acks::Starting;
        self.probe.samples = true;
        self.probe.since = now;
        self.rounds.restart();
        self.full_pipe.reset(bandwidth);
        self.mode = Mode::Up;
        self.raise_growth();
    }

    fn raise_growth(&mut self) {
        let growth = 1 << self.probe.growth_rounds;
        self.probe.growth_rounds = (self.probe.growth_rounds + 1).min(30);
        self.probe.per_growth = (self.window.packets / growth).max(1);
    }

    /// Whether the losses or marks of a flight show that it was too large.
    fn too_high(&self, spec: &Spec, ack: &Ack) -> bool {
        let Some(sample) = sample(ack) else { return false };
        let (marked, delivered) = (f64::from(sample.marked), f64::from(sample.delivered));
        loss_too_high(spec, sample.lost, sample.in_flight_at_send)
            || (self.ecn.eligible && marked > delivered * spec.ecn_threshold)
    }

    /// Ends Startup at the end of a round trip in recovery that had many losses.
    pub(super) fn check_startup_losses(&mut self, spec: &Spec, ack: &Ack) {
        if self.full_pipe.reached {
            return;
        }
        self.signals.losses += u32::from(ack.lost > 0);
        if !self.signals.round_begins {
            return;
        }
        let many = spec.startup_losses > 0 && self.signals.losses >= spec.startup_losses;
        if many && ack.phase == Phase::Recovery && self.too_high(spec, ack) {
            self.queue_too_high_in_startup(spec);
        }
        self.signals.losses = 0;
    }

    /// Startup has filled the pipe and the buffer.
    pub(super) fn queue_too_high_in_startup(&mut self, spec: &Spec) {
        self.full_pipe.reached = true;
        let bdp = self.in_flight_for(spec, self.max_bandwidth(), 1.0);
        self.bounds.inflight_hi = bdp.max(self.signals.delivered);
    }

    /// A probe showed that `in_flight` packets were too many.
    fn on_too_high(&mut self, spec: &Spec, now: Instant, in_flight: u32, app_limited: bool) {
        (self.probe.was_too_high, self.probe.samples) = (true, false);
        if !app_limited {
            let target = (f64::from(self.target_in_flight(spec)) * spec.beta) as u32;
            self.bounds.inflight_hi = in_flight.max(target);
        }
        if self.mode == Mode::Up {
            self.begin_down(spec, now);
        }
    }

    /// A packet of a probe is lost; `lost` packets have been lost since it was sent.
    pub(super) fn on_probe_lost(&mut self, spec: &Spec, lost: &super::super::Lost) {
        if self.probe.samples && loss_too_high(spec, lost.lost, lost.in_flight_at_send) {
            let fits = in_flight_before_losses(spec, lost.lost, lost.in_flight_at_send);
            self.on_too_high(spec, lost.now, fits, lost.app_limited);
        }
    }

    /// Adapts the upper bound. Returns whether that began another phase.
    fn adapt_upper_bound(&mut self, spec: &Spec, ack: &Ack) -> bool {
        let app_limited = self.probe_rtt.limits_ack(ack);
        if self.rounds.begins && self.probe.acks == Acks::Starting {
            self.probe.acks = Acks::Feedback;
        }
        if self.rounds.begins && self.probe.acks == Acks::Stopping {
            (self.probe.samples, self.probe.acks) = (false, Acks::Unrelated);
            if self.mode.probes_bandwidth() {
                // The current probe is in the bandwidth filter, so samples of the cycle before the
                // previous one may expire.
                if !app_limited {
                    self.bandwidth.advance();
                }
                // No losses occurred: continue where the precaution ended the last probe.
                if self.probe.stopped_early && !self.probe.was_too_high {
                    self.begin_refill(0);
                    return true;
                }
            }
        }
        let in_flight = sample(ack).map_or(0, |sample| sample.in_flight_at_send);
        if self.too_high(spec, ack) {
            if self.probe.samples {
                self.on_too_high(spec, ack.now, in_flight, app_limited);
            }
        } else if self.bounds.inflight_hi != NONE {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(in_flight);
            if self.mode == Mode::Up {
                self.raise_upper_bound(ack);
            }
        }
        false
    }

    /// In UP without too many losses, raises the upper bound if it is what limits the flow.
    fn raise_upper_bound(&mut self, ack: &Ack) {
        if !self.bound_limits(ack) {
            return;
        }
        self.probe.acked = self.probe.acked.saturating_add(ack.delivered);
        let grown = self.probe.acked / self.probe.per_growth;
        self.probe.acked -= grown * self.probe.per_growth;
        self.bounds.inflight_hi = self.bounds.inflight_hi.saturating_add(grown);
        if self.rounds.begins {
            self.raise_growth();
        }
    }

    fn bound_limits(&self, ack: &Ack) -> bool {
        ack.window_limited && self.window.packets >= self.bounds.inflight_hi
    }

    /// Whether DOWN and CRUISE have lasted long enough; if so, begins REFILL.
    fn probes_again(&mut self, spec: &Spec, ack: &Ack) -> bool {
        // If marks have ceased there is room immediately; UP begins with half of what fits.
        let signals = &self.signals;
        let marks_ceased = self.ecn.eligible && signals.marks_in_cycle && !signals.loss_in_cycle;
        if marks_ceased && ack.phase == Phase::Open {
            let half = (self.bounds.inflight_hi / 2).max(1);
            self.begin_refill(half.ilog2().min(30));
            return true;
        }
        let rounds = spec.probe_rounds.min(self.target_in_flight(spec));
        let due = ack.now > self.probe.since + self.probe.wait || self.probe.rounds >= rounds;
        if due {
            self.begin_refill(0);
        }
        due
    }

    /// Advances the phase of the cycle after an acknowledgement.
    pub(super) fn update_cycle(&mut self, spec: &Spec, ack: &Ack, bandwidth: f64) {
        if !self.full_pipe.reached || self.adapt_upper_bound(spec, ack) {
            return;
        }
        match self.mode {
            Mode::Cruise => {
                self.probes_again(spec, ack);
            }
            Mode::Down => {
                let in_flight = ack.prior_in_flight;
                if !self.probes_again(spec, ack)
                    && in_flight <= self.bounds.with_headroom(spec)
                    && in_flight <= self.in_flight_for(spec, self.max_bandwidth(), 1.0)
                {
                    self.begin_cruise();
                }
            }
            Mode::Refill if self.rounds.begins => self.begin_up(ack.now, bandwidth),
            Mode::Up => self.check_probe_done(spec, ack, bandwidth),
            _ => {}
        }
    }

    /// Ends UP where the last probe met losses, or when the bandwidth stops growing.
    fn check_probe_done(&mut self, spec: &Spec, ack: &Ack, bandwidth: f64) {
        let in_flight = ack.prior_in_flight.saturating_add(1);
        let risky = self.probe.was_too_high && in_flight >= self.bounds.inflight_hi;
        if !risky && self.bound_limits(ack) {
            self.full_pipe.reset(bandwidth);
        } else if risky || self.full_pipe.now {
            self.probe.stopped_early |= risky;
            self.probe.was_too_high = false;
            self.begin_down(spec, ack.now);
        }
    }
}

fn loss_too_high(spec: &Spec, lost: u32, in_flight: u32) -> bool {
    in_flight > 0 && f64::from(lost) > f64::from(in_flight) * spec.loss_threshold
}

/// Packets that were in flight when the fraction of lost packets reached the threshold. The packet
/// just lost was the last of `in_flight` when it was sent, and is the last of `lost` (the draft,
/// `BBRInflightHiFromLostPacket`).
pub(super) fn in_flight_before_losses(spec: &Spec, lost: u32, in_flight: u32) -> u32 {
    let before = f64::from(in_flight.saturating_sub(1));
    let budget = spec.loss_threshold * before - f64::from(lost.saturating_sub(1));
    let prefix = (budget / (1.0 - spec.loss_threshold)).max(0.0);
    (before + prefix) as u32
}
