//! Timers of the sender: retransmission timeout, tail loss probe, reordering, SYN.

use floodway_model::Instant;

use super::Rules;
use super::loss::{Frto, LossDetection};
use super::sender::Sender;
use crate::host::congestion::{Control, Phase, Timeout};

/// Expiry times.
#[derive(Debug)]
pub(super) struct Timers {
    /// The retransmission timer (RFC 6298, section 5); [`Instant::NEVER`] while it is off.
    rto_at: Instant,
    /// Number of consecutive expirations without an acknowledgement in between.
    rung: u32,
    /// The probe timer (RFC 8985, section 7.2); [`Instant::NEVER`] while it is off.
    probe_at: Instant,
    /// Whether the probe timer has expired: a probe must be sent regardless of the window.
    pub probe_due: bool,
    /// The outstanding probe.
    pub probe: Option<Probe>,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// The first segment that had not been sent with it.
    pub end: u32,
    /// Whether it retransmitted the last segment instead of sending a new one.
    pub repeats: bool,
}

impl Default for Timers {
    fn default() -> Self {
        let never = Instant::NEVER;
        Self { rto_at: never, rung: 0, probe_at: never, probe_due: false, probe: None }
    }
}

impl Timers {
    /// Whether a retransmitting probe is outstanding, so that a duplicate may be due to it.
    pub fn awaits_repetition(&self) -> bool {
        self.probe.is_some_and(|probe| probe.repeats)
    }

    /// Cancels the probe: losses are now detected by other means.
    pub fn forget_probe(&mut self) {
        self.probe = None;
        self.probe_due = false;
        self.probe_at = Instant::NEVER;
    }
}

impl<C: Control> Sender<C> {
    /// Time at which [`Sender::on_timer`] must be called; [`Instant::NEVER`] if no timer is set.
    #[inline]
    pub fn deadline(&self) -> Instant {
        let timers = self.timers.rto_at.min(self.timers.probe_at).min(self.rack.timer_at);
        timers.min(self.handshake.timer_at)
    }

    /// Called at [`Sender::deadline`] or later. There may be something to send afterwards.
    pub fn on_timer(&mut self, rules: Rules<C>, now: Instant) {
        if self.handshake.timer_at <= now {
            self.sent.timeouts += 1;
            self.handshake.on_timer();
        }
        if self.rack.timer_at <= now {
            self.on_reordering_timer(rules, now);
        }
        if self.timers.probe_at <= now {
            self.timers.probe_at = Instant::NEVER;
            self.timers.probe_due = true;
            self.timers.rto_at = now + self.trips.timeout(rules.tcp);
        }
        if self.timers.rto_at <= now {
            self.on_timeout(rules, now);
        }
    }

    fn on_reordering_timer(&mut self, rules: Rules<C>, now: Instant) {
        let lost = self.find_losses(rules, now);
        if lost > 0 && matches!(self.phase, Phase::Open | Phase::Reducing) {
            self.enter_phase(rules, false, lost, now);
            self.follow_reduction(rules, 1, false, now);
        }
        self.renew_window(rules, now);
    }

    fn on_timeout(&mut self, rules: Rules<C>, now: Instant) {
        self.sent.timeouts += 1;
        let again = self.timers.rung > 0;
        self.timers.rung += 1;
        self.trips.back_off();
        self.timers.forget_probe();
        self.timers.rto_at = now + self.trips.timeout(rules.tcp);
        self.rack.timer_at = Instant::NEVER;
        let (una, next) = (self.board.una(), self.board.next());
        for psn in una..next {
            let under_way = |r: &super::scoreboard::Record| !r.sacked && (!r.lost || r.again);
            if self.board.get(psn).is_some_and(under_way) {
                self.lose(rules, psn, now);
            }
        }
        // A timeout during a recovery or after another one is unlikely to be spurious.
        let first = self.phase == Phase::Open || (self.phase == Phase::Loss && !again);
        if first {
            self.episode.begin(next, true, 0);
            self.episode.frto = Frto::First;
        } else {
            self.episode.recover_at = next;
            self.episode.frto = Frto::Off;
        }
        self.phase = Phase::Loss;
        self.reduction = None;
        self.signals.on_reduction();
        let timeout = Timeout { now, in_flight: next - una, again };
        self.control.on_timeout(rules.congestion, &timeout);
        self.renew_window(rules, now);
    }

    /// A segment was sent: a new one, or with `first_again` a retransmission of the first
    /// unacknowledged one.
    #[inline]
    pub(super) fn set_timers_after_send(
        &mut self,
        rules: Rules<C>,
        new: bool,
        first_again: bool,
        now: Instant,
    ) {
        if self.timers.rto_at == Instant::NEVER || first_again {
            self.timers.rto_at = now + self.trips.timeout(rules.tcp);
        }
        if new {
            self.set_probe_timer(rules, now);
        }
    }

    /// A probe is sent.
    pub(super) fn on_probe_sent(&mut self, rules: Rules<C>, repeats: bool, now: Instant) {
        self.sent.probes += 1;
        self.timers.probe_due = false;
        self.timers.probe = Some(Probe { end: self.board.next(), repeats });
        self.timers.rto_at = now + self.trips.timeout(rules.tcp);
    }

    /// An acknowledgement has arrived that reports something new.
    #[inline]
    pub(super) fn set_timers_after_ack(&mut self, rules: Rules<C>, advanced: bool, now: Instant) {
        self.timers.probe_due = false;
        if advanced {
            self.timers.rung = 0;
            self.timers.rto_at = if self.board.outstanding() == 0 {
                Instant::NEVER
            } else {
                now + self.trips.timeout(rules.tcp)
            };
        }
        self.set_probe_timer(rules, now);
    }

    #[inline]
    fn set_probe_timer(&mut self, rules: Rules<C>, now: Instant) {
        let board = &self.board;
        let may = rules.tcp.loss_detection == LossDetection::Rack
            && matches!(self.phase, Phase::Open | Phase::Reducing)
            && board.outstanding() > 0
            && board.sacked_count() == 0
            && self.timers.probe.is_none();
        self.timers.probe_at = if may {
            let timeout = self.trips.probe_timeout(rules.tcp, board.outstanding() == 1);
            (now + timeout).min(self.timers.rto_at)
        } else {
            Instant::NEVER
        };
    }
}
