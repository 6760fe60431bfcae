//! Requests of a sender that has something to send and may not, and that nothing else will release (Ultra
//! Ethernet; the RTS packet of uet-htsim). A request takes no sequence number. The receiver answers it with
//! an acknowledgement at once, and if it gives credit, with credit.
//!
//! - Without credit, a sender requests what it has not asked for before at once. If credit that it has
//!   asked for does not come, it requests that again after the retransmission timeout.
//! - If the window has shrunk to what is in flight, and that is too little to trigger an acknowledgement
//!   and does not ask for one, all of it may have arrived. The sender requests an acknowledgement after a
//!   round trip.
//!
//! Each further request without success comes after twice the time of the one before, of a round trip at
//! most until that is the retransmission timeout.

use floodway_model::{Duration, Instant};

use super::{Sender, Spec};
use crate::host::transport::Transport;

/// State of a sender's requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requests {
    /// Number of flows that wait for the NIC, including this one.
    pub contexts: u32,
    /// When the next request is due, unless something happens before; always in the future, and
    /// [`Instant::NEVER`] if the sender is not blocked.
    pub due: Instant,
    /// Whether that time has passed, and the request is to be made.
    pub is_due: bool,
    /// Number of requests since the sender was last able to send.
    doublings: u8,
    /// The last measured round-trip time.
    rtt: Duration,
    /// Whether the last packet asked for an acknowledgement, and nothing has been heard since.
    is_answered: bool,
}

impl Default for Requests {
    fn default() -> Self {
        let (due, rtt) = (Instant::NEVER, Duration::ZERO);
        Self { contexts: 1, due, is_due: false, doublings: 0, rtt, is_answered: false }
    }
}

impl Requests {
    /// Before the first packet, with the round-trip time of an idle network.
    pub fn begin(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A packet is sent.
    pub fn on_packet(&mut self, wants_ack: bool) {
        self.is_answered = wants_ack;
    }

    /// An acknowledgement has arrived, positive or negative.
    pub fn on_answer(&mut self, rtt: Option<Duration>) {
        self.is_answered = false;
        self.rtt = rtt.unwrap_or(self.rtt);
    }

    /// The timer may have expired.
    pub fn on_timer(&mut self, now: Instant) {
        if self.due <= now {
            (self.due, self.is_due) = (Instant::NEVER, true);
            self.doublings = self.doublings.saturating_add(1);
        }
    }
}

impl Sender {
    /// Whether it has something to send and no credit.
    pub(super) fn lacks_credit(&self) -> bool {
        self.window() == 0 && self.has_work()
    }

    /// Whether it may not send what it has, and nothing in flight will be acknowledged for sure.
    fn is_blocked_by_window(&self, spec: &Spec) -> bool {
        let (window, in_flight) = (self.window(), self.in_flight());
        let bytes = u64::from(in_flight) * u64::from(spec.frame(spec.mtu.0));
        let is_blocked = window > 0 && in_flight >= window && self.has_work();
        is_blocked && bytes < spec.ack_trigger.0 && !self.requests.is_answered
    }

    /// Whether it is blocked, so that a request is the only thing that it may send.
    pub(super) fn is_blocked(&self, spec: &Spec) -> bool {
        self.lacks_credit() || self.is_blocked_by_window(spec)
    }

    /// The window has changed, or a packet was sent: schedules a request if it is blocked.
    pub(super) fn schedule_request(&mut self, spec: &Spec, now: Instant) {
        // A sender whose NIC was paused may come here late.
        self.requests.on_timer(now);
        if !self.is_blocked(spec) {
            (self.requests.due, self.requests.is_due, self.requests.doublings) =
                (Instant::NEVER, false, 0);
        } else if !self.requests.is_due {
            let longest = spec.timeout(self.requests.doublings);
            let doubled = self.requests.rtt * (1 << self.requests.doublings.min(16));
            let time = if self.lacks_credit() { longest } else { doubled.min(longest) };
            // Once credit has come, the window may block it, which is found out sooner.
            self.requests.due = self.requests.due.min(now + time.max(Duration::from_ns(1)));
        }
    }
}
