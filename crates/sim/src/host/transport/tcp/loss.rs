//! Congestion events: how a sender gets into and out of its phases.
//!
//! As in Linux there is at most one reduction per round trip: a loss after a mark, while the window
//! is still being reduced for that, begins a recovery but no further reduction. Reducing ends when
//! something is acknowledged that was sent after its beginning (only then has CWR been heard, RFC
//! 3168 section 6.1.2), recovery already when everything is that was sent before.

use floodway_model::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prr::Reduction;
use super::sender::Sender;
use super::{Acknowledgement, Rules};
use crate::host::congestion::{Congestion, Control, Phase, Signal};

/// How losses are found before the retransmission timer rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDetection {
    /// By time, and by a probe for the tail of what was sent: RACK-TLP (RFC 8985; Linux).
    Rack,
    /// A segment is lost if three that were sent after it are selectively acknowledged (RFC 6675,
    /// in 2003 RFC 3517); there are no probes.
    DupAcks,
}

/// What is remembered of how the present phase, or the last one, began.
#[derive(Debug, Default)]
pub(super) struct Episode {
    /// The first segment that had not been sent.
    pub recover_at: u32,
    /// It can still turn out to be a mistake.
    may_be_mistake: bool,
    /// What has been sent again since and is not known to have been a duplicate; `None` before
    /// anything is.
    unrequited: Option<u32>,
    pub frto: Frto,
}

/// F-RTO (RFC 5682, with SACK): whether a timeout was early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Frto {
    /// It is not doubted.
    #[default]
    Off,
    /// The first segment has been sent again.
    First,
    /// That has arrived; new segments are sent, and what is acknowledged next tells.
    New,
}

impl Episode {
    /// With a loss, at which `again` copies are under way that were sent again.
    pub fn begin(&mut self, recover_at: u32, may_be_mistake: bool, again: u32) {
        let unrequited = (again > 0).then_some(again);
        *self = Self { recover_at, may_be_mistake, unrequited, frto: Frto::Off };
    }

    pub fn on_retransmission(&mut self) {
        self.unrequited = Some(self.unrequited.map_or(1, |count| count + 1));
    }

    /// Something has been sent again since the phase began.
    fn has_repeated(&self) -> bool {
        self.unrequited.is_some()
    }

    fn on_duplicate(&mut self) {
        self.unrequited = self.unrequited.map(|count| count.saturating_sub(1));
    }

    /// All that was sent again had arrived before (RFC 3708).
    fn is_mistake(&self) -> bool {
        self.may_be_mistake && self.unrequited == Some(0)
    }

    pub fn sends_new_first(&self) -> bool {
        self.frto == Frto::New
    }
}

impl<C: Control> Sender<C> {
    /// The receiver has had something twice.
    pub(super) fn on_duplicate(&mut self, rules: Rules<C>, now: Instant) {
        // What a probe repeats was not taken for lost.
        if !self.timers.awaits_repetition() {
            self.rack.on_duplicate(self.board.una(), self.board.next());
            self.episode.on_duplicate();
            if self.episode.is_mistake() {
                self.undo(rules, now);
            }
        }
    }

    /// After an acknowledgement: leaves the phase it is in, if that is over.
    pub(super) fn leave_phase(&mut self, rules: Rules<C>, now: Instant) {
        let (una, until) = (self.board.una(), self.episode.recover_at);
        let over = match self.phase {
            Phase::Open => false,
            Phase::Reducing => una > until,
            Phase::Recovery | Phase::Loss => una >= until,
        };
        if over {
            if self.phase != Phase::Reducing {
                self.rack.on_recovered();
            }
            self.episode.frto = Frto::Off;
            self.go_on(rules, now);
        }
    }

    fn go_on(&mut self, rules: Rules<C>, now: Instant) {
        self.phase = Phase::Open;
        self.reduction = None;
        self.control.on_recovered(rules.congestion, now);
    }

    /// Nothing was lost.
    fn undo(&mut self, rules: Rules<C>, now: Instant) {
        self.sent.spurious += 1;
        self.episode.may_be_mistake = false;
        self.episode.frto = Frto::Off;
        self.board.find_lost();
        self.phase = Phase::Open;
        self.reduction = None;
        self.control.on_undo(rules.congestion, now);
    }

    /// After a timeout, an acknowledgement: was it early? It was, if it told of an `original` that
    /// was sent before and only once (RFC 5682, section 3.1, step 3.b).
    pub(super) fn doubt_timeout(
        &mut self,
        rules: Rules<C>,
        original: bool,
        advanced: bool,
        now: Instant,
    ) {
        if self.phase != Phase::Loss || self.episode.frto == Frto::Off {
            return;
        }
        if original {
            return self.undo(rules, now);
        }
        // What was under way from before the timeout, and was sent more than once: nothing was asked yet.
        if advanced && !self.episode.has_repeated() {
            return;
        }
        let begins = self.episode.frto == Frto::First && advanced && !self.unsent.is_empty();
        self.episode.frto = if begins { Frto::New } else { Frto::Off };
    }

    /// After an acknowledgement: takes for lost what it tells to be; how many that is.
    #[inline]
    pub(super) fn find_new_losses(&mut self, rules: Rules<C>, now: Instant) -> u32 {
        match rules.tcp.loss_detection {
            LossDetection::Rack if self.rack.advanced => self.find_losses(rules, now),
            LossDetection::Rack => 0,
            LossDetection::DupAcks => {
                let mut count = 0;
                while let Some(psn) = self.dup_acks.next_lost(&mut self.board) {
                    self.lose(rules, psn, now);
                    count += 1;
                }
                count
            }
        }
    }

    /// Takes for lost what RACK finds; how many that is.
    #[inline]
    pub(super) fn find_losses(&mut self, rules: Rules<C>, now: Instant) -> u32 {
        let recovering = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let window = self.rack.window(&self.trips, self.board.sacked_count(), recovering);
        let mut count = 0;
        self.rack.advanced = false;
        while let Some(psn) = self.rack.next_lost(&mut self.board, window, now) {
            self.lose(rules, psn, now);
            count += 1;
        }
        count
    }

    pub(super) fn lose(&mut self, rules: Rules<C>, psn: u32, now: Instant) {
        let record = self.board.lose(psn);
        let lost = self.rates.on_lost(&record, now);
        self.control.on_lost(rules.congestion, &lost);
    }

    /// After losses were looked for and found `lost`, and marks were told of: enters the phase that
    /// follows.
    pub(super) fn enter_phase(&mut self, rules: Rules<C>, marks: bool, lost: u32, now: Instant) {
        let in_flight = self.board.in_flight() + lost;
        match self.phase {
            Phase::Open | Phase::Reducing if self.board.lost_count() > 0 => {
                let first = self.phase == Phase::Open;
                let again = self.board.again_count();
                self.episode.begin(self.board.next(), first, again);
                self.timers.forget_probe();
                if first {
                    self.sent.loss_events += 1;
                    self.reduce(rules, Congestion { now, signal: Signal::Loss, in_flight });
                }
                self.phase = Phase::Recovery;
            }
            Phase::Open if marks => {
                self.sent.mark_events += 1;
                self.episode.begin(self.board.next(), false, 0);
                self.timers.forget_probe();
                self.reduce(rules, Congestion { now, signal: Signal::Mark, in_flight });
                self.phase = Phase::Reducing;
            }
            _ => {}
        }
    }

    /// A switch has told of congestion without the receiver: like a mark that has come back, but
    /// without acknowledging anything.
    pub fn on_indication(&mut self, rules: Rules<C>, now: Instant) {
        if self.handshake.is_established() {
            self.enter_phase(rules, true, 0, now);
            self.renew_window(rules, now);
        }
    }

    fn reduce(&mut self, rules: Rules<C>, congestion: Congestion) {
        let from = self.window;
        self.control.on_congestion(rules.congestion, &congestion);
        self.signals.on_reduction();
        let to = self.control_window(rules, congestion.now);
        if to != u32::MAX && !self.control.owns_recovery(rules.congestion) {
            self.reduction = Some(Reduction::new(from));
        }
    }

    /// On the way to the window after a reduction: what may be in flight after an acknowledgement
    /// of `delivered` segments.
    #[inline]
    pub(super) fn follow_reduction(
        &mut self,
        rules: Rules<C>,
        delivered: u32,
        safe: bool,
        now: Instant,
    ) {
        if self.reduction.is_none() {
            return;
        }
        let to = self.control_window(rules, now);
        let in_flight = self.board.in_flight();
        if let Some(reduction) = &mut self.reduction
            && let Some(window) = reduction.on_ack(to, in_flight, delivered, safe)
        {
            self.window = window.max(1);
        }
    }

    /// Whether the acknowledgement says what became of a probe that was sent (RFC 8985, section
    /// 7.4): if what it repeated had been lost, the window is reduced all the same.
    pub(super) fn settle_probe(
        &mut self,
        rules: Rules<C>,
        ack: &Acknowledgement,
        nothing_new: bool,
        now: Instant,
    ) {
        let Some(probe) = self.timers.probe else { return };
        if ack.ack < probe.end {
            return;
        }
        if probe.repeats && !ack.flags.duplicate() {
            let repaired = ack.ack > probe.end;
            if !repaired && !nothing_new {
                return;
            }
            if repaired && self.phase == Phase::Open {
                self.sent.loss_events += 1;
                let in_flight = self.board.in_flight();
                self.episode.begin(self.board.next(), false, 0);
                self.reduce(rules, Congestion { now, signal: Signal::Loss, in_flight });
                self.go_on(rules, now);
            }
        }
        self.timers.probe = None;
    }
}
