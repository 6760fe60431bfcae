//! The sending side of one connection.

use floodway_model::packet::EcnFeedback;
use floodway_model::{Body, Duration, Ecn, Instant, SegmentFlags};

use super::dup_acks::DupAcks;
use super::ecn::Signals;
use super::handshake::Handshake;
use super::loss::Episode;
use super::prr::Reduction;
use super::rack::Rack;
use super::rate::Rates;
use super::rtt::RoundTrips;
use super::scoreboard::Scoreboard;
use super::supply::{Supply, Unsent};
use super::timers::Timers;
use super::usage::Usage;
use super::{Out, Rules, SYN_FRAME, segment_frame};
use crate::host::congestion::{self, Control, Path, Phase};

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Segments with data, including retransmissions.
    pub packets: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// Of these, tail loss probes (RFC 8985 section 7), with new or retransmitted segments.
    pub probes: u64,
    /// Retransmission timeouts, including those of SYNs.
    pub timeouts: u64,
    /// Window reductions caused by marks.
    pub mark_events: u64,
    /// Window reductions caused by losses detected without a timeout.
    pub loss_events: u64,
    /// Reductions by losses or timeouts that turned out to be spurious and were undone.
    pub spurious: u64,
    /// Segments reported to have arrived with CE, as far as the feedback reports a number.
    pub marked: u64,
}

/// The sending side of one connection.
#[derive(Debug)]
pub struct Sender<C: Control = congestion::State> {
    /// Congestion control of the flow.
    pub control: C,
    /// Counters.
    pub sent: Sent,
    pub(super) handshake: Handshake,
    pub(super) unsent: Unsent,
    pub(super) board: Scoreboard,
    pub(super) rack: Rack,
    pub(super) dup_acks: DupAcks,
    pub(super) trips: RoundTrips,
    pub(super) rates: Rates,
    pub(super) usage: Usage,
    pub(super) signals: Signals,
    pub(super) timers: Timers,
    /// Current phase, with the state from its beginning.
    pub(super) phase: Phase,
    pub(super) episode: Episode,
    /// Proportional rate reduction in progress after a congestion event.
    pub(super) reduction: Option<Reduction>,
    /// Maximum number of segments in flight, from congestion control or from the reduction in
    /// progress.
    pub(super) window: u32,
    /// Receive window: maximum number of segments sent and not acknowledged.
    receive_limit: u32,
    /// Payload of a full segment, and its length on the wire.
    wire: (u64, u64),
    last_sent_at: Instant,
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    New,
    Again(u32),
    /// A probe that retransmits.
    Probe(u32),
    /// A probe with new data.
    NewProbe,
}

impl<C: Control> Sender<C> {
    /// A sender for the data of `supply`, which begins with a SYN.
    pub fn new(rules: Rules<C>, control: C, path: &Path, supply: Supply, now: Instant) -> Self {
        let wanted = C::feedback(rules.congestion);
        let feedback = rules.tcp.feedback(wanted);
        Self {
            control,
            sent: Sent::default(),
            handshake: Handshake::new(rules.tcp.initial_rto),
            unsent: Unsent::new(rules.tcp.mss.0, supply),
            board: Scoreboard::default(),
            rack: Rack::new(),
            dup_acks: DupAcks::default(),
            trips: RoundTrips::new(rules.tcp),
            rates: Rates::default(),
            usage: Usage::default(),
            signals: Signals::new(feedback, rules.tcp.codepoint),
            timers: Timers::default(),
            phase: Phase::Open,
            episode: Episode::default(),
            reduction: None,
            window: rules.tcp.initial_window,
            receive_limit: rules.tcp.receive_limit(),
            wire: (path.payload, path.wire),
            last_sent_at: now,
        }
    }

    /// Endless data ends at this time.
    pub fn stop_at(&mut self, at: Instant) {
        self.unsent.stop_at(at);
    }

    /// Whether everything is acknowledged and no more data will be handed over.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.unsent.is_over() && self.board.outstanding() == 0
    }

    /// Whether every segment has been sent at least once and no more data will be handed over.
    pub fn is_handed_over(&self) -> bool {
        self.unsent.is_over()
    }

    /// The application hands over more data, which ends with PSH. Returns the number of its last
    /// segment.
    pub fn write(&mut self, bytes: u64) -> u32 {
        self.check_application();
        self.unsent.write(bytes);
        self.board.next() + self.unsent.segments() - 1
    }

    /// The ECN field of its segments, except that retransmissions may have another.
    pub fn ecn(&self) -> Ecn {
        self.signals.field(false)
    }

    /// Bytes that the application has handed over and that were never sent.
    pub fn unsent_bytes(&self) -> u64 {
        self.unsent.bytes()
    }

    /// Rate resulting from the window, in bit/s of payload; `None` before the first round-trip
    /// time, and without a window.
    pub fn carries(&self) -> Option<f64> {
        let smoothed = self.trips.smoothed.as_secs();
        let window = self.window().filter(|_| smoothed > 0.0)?;
        Some(window as f64 * 8.0 / smoothed)
    }

    /// The first unacknowledged segment: everything below has arrived.
    pub fn acknowledged(&self) -> u32 {
        self.board.una()
    }

    /// Whether the connection is established.
    pub fn is_established(&self) -> bool {
        self.handshake.is_established()
    }

    /// The application will hand over no more data.
    pub fn close(&mut self) {
        self.unsent.close();
    }

    /// Whether there is something to send, now or when the rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        if self.handshake.is_established() {
            self.choose().is_some()
        } else {
            self.handshake.is_due()
        }
    }

    /// The next frame; `None` if nothing may be sent. For a long-lived sender that must stop now it
    /// may be `None` although [`Sender::has_more`] is true.
    #[inline]
    pub fn next(&mut self, rules: Rules<C>, now: Instant) -> Option<Out> {
        if !self.handshake.is_established() {
            return self.next_syn(rules, now);
        }
        self.unsent.end_by(now);
        if self.board.outstanding() == 0 {
            self.check_idle(rules, now);
        }
        self.renew_window(rules, now);
        let choice = self.choose()?;
        let out = match choice {
            Choice::New | Choice::NewProbe => self.send_new(now)?,
            Choice::Again(psn) | Choice::Probe(psn) => self.send_again(psn, now),
        };
        if matches!(choice, Choice::Probe(_) | Choice::NewProbe) {
            self.on_probe_sent(rules, out.retransmission, now);
        }
        self.sent.packets += 1;
        self.last_sent_at = now;
        if let Some(reduction) = &mut self.reduction {
            reduction.on_send();
        }
        let full = self.board.in_flight() >= self.window;
        let board = &self.board;
        self.usage.on_send(full, board.outstanding(), board.una(), board.next());
        let first_again = choice == Choice::Again(board.una());
        self.set_timers_after_send(rules, choice == Choice::New, first_again, now);
        Some(out)
    }

    #[cold]
    fn next_syn(&mut self, rules: Rules<C>, now: Instant) -> Option<Out> {
        if !self.handshake.is_due() {
            return None;
        }
        let retransmission = self.handshake.on_send(rules.tcp.max_rto, now);
        let body = Body::Syn { feedback: self.signals.feedback };
        Some(Out { body, bytes: SYN_FRAME, ecn: Ecn::NotEct, retransmission })
    }

    /// Decides what may be sent now.
    #[inline]
    fn choose(&self) -> Option<Choice> {
        let board = &self.board;
        let has_new = !self.unsent.is_empty() && board.outstanding() < self.receive_limit;
        if self.timers.probe_due && board.outstanding() > 0 {
            return Some(if has_new { Choice::NewProbe } else { Choice::Probe(board.next() - 1) });
        }
        if board.in_flight() >= self.window {
            return None;
        }
        if has_new && self.episode.sends_new_first() {
            return Some(Choice::New);
        }
        match board.next_lost() {
            Some(psn) => Some(Choice::Again(psn)),
            None => has_new.then_some(Choice::New),
        }
    }

    #[inline]
    fn send_new(&mut self, now: Instant) -> Option<Out> {
        let piece = self.unsent.take()?;
        let psn = self.board.next();
        let known = self.rates.on_send(self.board.outstanding(), self.board.in_flight(), now);
        self.board.send(piece, known, now);
        let flags = SegmentFlags { window_reduced: self.signals.take_reduced(), push: piece.push };
        Some(Out {
            body: Body::Segment { flags, psn, sent_at: now },
            bytes: segment_frame(piece.payload),
            ecn: self.signals.field(false),
            retransmission: false,
        })
    }

    fn send_again(&mut self, psn: u32, now: Instant) -> Out {
        let known = self.rates.on_send(self.board.outstanding(), self.board.in_flight(), now);
        let piece = self.board.send_again(psn, known, now);
        self.sent.retransmitted += 1;
        self.episode.on_retransmission();
        let flags = SegmentFlags { window_reduced: false, push: piece.push };
        Out {
            body: Body::Segment { flags, psn, sent_at: now },
            bytes: segment_frame(piece.payload),
            ecn: self.signals.field(true),
            retransmission: true,
        }
    }

    /// The SYN/ACK has arrived.
    pub fn on_syn_ack(&mut self, rules: Rules<C>, feedback: EcnFeedback, now: Instant) {
        if self.handshake.is_established() {
            return;
        }
        if let Some(rtt) = self.handshake.on_syn_ack(now) {
            self.trips.on_oldest(rules.tcp, rtt);
            self.trips.on_latest(rtt);
            self.control.on_established(rules.congestion, now, rtt);
        } else {
            self.trips.after_lost_syn();
        }
        self.signals.feedback = feedback;
        self.renew_window(rules, now);
    }

    /// Restarts after a long idle time, if the sender was idle.
    fn check_idle(&mut self, rules: Rules<C>, now: Instant) {
        let (idle, timeout) = (now.since(self.last_sent_at), self.trips.timeout(rules.tcp));
        if idle <= timeout || self.board.next() == 0 || self.unsent.is_empty() {
            return;
        }
        if let Some(halvings) = rules.tcp.idle_restart.halvings(idle, timeout) {
            self.control.on_restart(rules.congestion, now, halvings);
        }
    }

    /// Records whether the application limits the segments in flight.
    #[inline]
    pub(super) fn check_application(&mut self) {
        let in_flight = self.board.in_flight();
        if self.unsent.is_short() && in_flight < self.window && self.board.next_lost().is_none() {
            self.rates.limit(in_flight);
        }
    }

    /// The window that congestion control allows, in segments.
    #[inline]
    pub(super) fn control_window(&mut self, rules: Rules<C>, now: Instant) -> u32 {
        let window = self.control.window(rules.congestion, now);
        window.map_or(u32::MAX, |bytes| rules.tcp.whole_segments(bytes))
    }

    /// Except during a reduction, sets the limit of segments in flight to the window of congestion
    /// control.
    #[inline]
    pub(super) fn renew_window(&mut self, rules: Rules<C>, now: Instant) {
        if self.reduction.is_none() {
            self.window = self.control_window(rules, now);
        }
    }

    /// Rate in bit/s on the wire at which the next frame may follow the one that is sent now: that
    /// of the control, or the one that spreads the window over a round trip; `None` for the rate of
    /// the NIC.
    pub fn rate(&mut self, rules: Rules<C>, now: Instant) -> Option<f64> {
        if let Some(rate) = self.control.rate(rules.congestion, now) {
            return Some(rate);
        }
        let smoothed = self.trips.smoothed.as_secs();
        if !rules.tcp.pacing || smoothed == 0.0 || self.window == u32::MAX {
            return None;
        }
        let gain = if self.control.in_slow_start(rules.congestion) { 2.0 } else { 1.2 };
        let window = self.window.max(self.board.outstanding());
        Some(gain * f64::from(window) * self.wire.1 as f64 * 8.0 / smoothed)
    }

    /// Current phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Maximum payload bytes in flight, apart from the receiver's limit; `None` for no limit.
    pub fn window(&self) -> Option<u64> {
        (self.window != u32::MAX).then(|| u64::from(self.window) * self.wire.0)
    }

    /// Segments in flight.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The smoothed round-trip time (RFC 6298); zero before the first sample.
    pub fn smoothed_rtt(&self) -> Duration {
        self.trips.smoothed
    }

    /// Minimum round-trip time; zero before the first sample.
    pub fn min_rtt(&self) -> Duration {
        self.trips.min
    }

    /// Sum of the round-trip times in picoseconds, and their number: one for each acknowledgement
    /// that had one.
    pub fn rtt_sum(&self) -> (u128, u64) {
        (self.trips.sum, self.trips.count)
    }

    /// Mean of these round-trip times.
    pub fn mean_rtt(&self) -> Option<Duration> {
        self.trips.mean()
    }
}
