//! Congestion events: transitions between the phases of a sender.
//!
//! As in Linux there is at most one reduction per round trip: a loss after a mark, while the window
//! is still being reduced for the mark, begins a recovery but no further reduction. A reduction
//! ends when something is acknowledged that was sent after its beginning (only then has the
//! receiver seen CWR, RFC 3168 section 6.1.2); recovery ends as soon as everything sent before is
//! acknowledged.

use floodway_model::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prr::Reduction;
use super::sender::Sender;
use super::{Acknowledgement, Rules};
use crate::host::congestion::{Congestion, Control, Phase, Signal};

/// How losses are detected before the retransmission timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDetection {
    /// By time, with a probe for the tail of the data sent: RACK-TLP (RFC 8985; Linux).
    Rack,
    /// A segment is lost if three that were sent after it are selectively acknowledged (RFC 6675,
    /// in 2003 RFC 3517); there are no probes.
    DupAcks,
}

/// State from the beginning of the current or last phase.
#[derive(Debug, Default)]
pub(super) struct Episode {
    /// The first segment that had not been sent.
    pub recover_at: u32,
    /// Whether it may still turn out to be spurious.
    may_be_mistake: bool,
    /// Number of retransmissions since then that are not known to have been duplicates; `None` if
    /// nothing has been retransmitted.
    unrequited: Option<u32>,
    pub frto: Frto,
}

/// F-RTO (RFC 5682, with SACK): detection of spurious timeouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Frto {
    /// Not active.
    #[default]
    Off,
    /// The first segment has been retransmitted.
    First,
    /// The retransmission has arrived; new segments are sent, and the next acknowledgement decides.
    New,
}

impl Episode {
    /// Begins a phase after a loss, with `again` retransmitted copies in flight.
    pub fn begin(&mut self, recover_at: u32, may_be_mistake: bool, again: u32) {
        let unrequited = (again > 0).then_some(again);
        *self = Self { recover_at, may_be_mistake, unrequited, frto: Frto::Off };
    }

    pub fn on_retransmission(&mut self) {
        self.unrequited = Some(self.unrequited.map_or(1, |count| count + 1));
    }

    /// Whether something has been retransmitted since the phase began.
    fn has_repeated(&self) -> bool {
        self.unrequited.is_some()
    }

    fn on_duplicate(&mut self) {
        self.unrequited = self.unrequited.map(|count| count.saturating_sub(1));
    }

    /// Whether all retransmitted segments had arrived before (RFC 3708).
    fn is_mistake(&self) -> bool {
        self.may_be_mistake && self.unrequited == Some(0)
    }

    pub fn sends_new_first(&self) -> bool {
        self.frto == Frto::New
    }
}

impl<C: Control> Sender<C> {
    /// The receiver has reported a duplicate segment.
    pub(super) fn on_duplicate(&mut self, rules: Rules<C>, now: Instant) {
        // A segment that a probe repeats was not considered lost.
        if !self.timers.awaits_repetition() {
            self.rack.on_duplicate(self.board.una(), self.board.next());
            self.episode.on_duplicate();
            if self.episode.is_mistake() {
                self.undo(rules, now);
            }
        }
    }

    /// After an acknowledgement: leaves the current phase if it is over.
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

    /// Undoes the reduction: nothing was lost.
    fn undo(&mut self, rules: Rules<C>, now: Instant) {
        self.sent.spurious += 1;
        self.episode.may_be_mistake = false;
        self.episode.frto = Frto::Off;
        self.board.find_lost();
        self.phase = Phase::Open;
        self.reduction = None;
        self.control.on_undo(rules.congestion, now);
    }

    /// Decides after an acknowledgement whether the timeout was spurious. It was, if the
    /// acknowledgement reports an `original` segment that was sent before it and only once (RFC
    /// 5682, section 3.1, step 3.b).
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
        // Segments in flight from before the timeout that were sent more than once: F-RTO has not begun
        // yet.
        if advanced && !self.episode.has_repeated() {
            return;
        }
        let begins = self.episode.frto == Frto::First && advanced && !self.unsent.is_empty();
        self.episode.frto = if begins { Frto::New } else { Frto::Off };
    }

    /// Marks segments as lost that the acknowledgement shows to be lost; returns their number.
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

    /// Marks segments as lost that RACK detects; returns their number.
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

    /// Enters the next phase, after loss detection has found `lost` segments and marks were
    /// reported.
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

    /// A switch has signaled congestion directly: treated like a mark that the receiver has
    /// reported, without acknowledging anything.
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

    /// While the window is being reduced: the number of segments that may be in flight after an
    /// acknowledgement of `delivered` segments.
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

    /// Whether the acknowledgement decides the fate of a probe (RFC 8985, section 7.4): if the
    /// segment that it repeated had been lost, the window is reduced nevertheless.
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
