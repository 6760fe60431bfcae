//! Messages over a connection that is established: without a handshake, and after the first message with the
//! state that the one before has left.

use floodway_model::{EcnFeedback, Instant};

use super::handshake::Handshake;
use super::receiver::Receiver;
use super::sender::{Sender, Sent};
use super::supply::{Supply, Unsent};
use super::{Acknowledgement, Rules, Spec};
use crate::host::congestion::Control;

impl<C: Control> Sender<C> {
    /// Needs no handshake, because a message in the other direction had one. There is no round-trip time yet.
    pub fn establish(&mut self) {
        self.handshake = Handshake::over();
    }

    /// Hands over the next message of the connection, after everything before has arrived. Counters begin at zero;
    /// segment numbers go on.
    pub fn next_message(&mut self, rules: Rules<C>, bytes: u64, now: Instant) {
        if self.board.outstanding() > 0 {
            // The message of the peer that led to this one carries the acknowledgement of everything before.
            let (marked, ack) = (self.signals.told(), self.board.next());
            self.on_ack(rules, &Acknowledgement { marked, ack, ..Default::default() }, now);
        }
        self.sent = Sent::default();
        (self.trips.sum, self.trips.count) = (0, 0);
        self.unsent = Unsent::new(rules.tcp.mss.0, Supply::Message(bytes));
    }

    /// Has nothing more to do, after what it had has moved to `by`, and keeps only the counters.
    pub fn retire(&mut self, by: &Self) {
        self.handshake = Handshake::over();
        self.unsent = Unsent::new(1, Supply::Message(0));
        self.sent = by.sent;
        (self.trips.sum, self.trips.count) = (by.trips.sum, by.trips.count);
    }
}

impl Receiver {
    /// Accepts data at once, because a message in the other direction had a handshake, which negotiated this
    /// feedback for both.
    pub fn establish(&mut self, feedback: EcnFeedback) {
        self.feedback = feedback;
    }

    /// The receiver of the next message of the connection, of so many bytes, after this one is complete.
    #[must_use]
    pub fn next(&self, spec: &Spec, bytes: u64) -> Self {
        let total = Some(self.expected.saturating_add(spec.segments(bytes)));
        let mut next = self.clone();
        (next.total, next.delivered, next.finished) = (total, 0, None);
        next
    }
}
