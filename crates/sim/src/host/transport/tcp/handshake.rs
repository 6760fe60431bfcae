//! The sender's side of the handshake: SYN, SYN/ACK; the third part goes with the first segment.

use floodway_model::{Duration, Instant};

/// Where the handshake is.
#[derive(Debug)]
pub(super) struct Handshake {
    established: bool,
    /// A SYN is to be sent.
    due: bool,
    sent_at: Instant,
    /// When it is given up; [`Instant::NEVER`] while none is under way.
    pub timer_at: Instant,
    /// How long it is waited for the answer to the next.
    patience: Duration,
    tries: u32,
}

impl Handshake {
    pub fn new(initial_rto: Duration) -> Self {
        Self {
            established: false,
            due: true,
            sent_at: Instant::ZERO,
            timer_at: Instant::NEVER,
            patience: initial_rto,
            tries: 0,
        }
    }

    #[inline]
    pub fn is_established(&self) -> bool {
        self.established
    }

    pub fn is_due(&self) -> bool {
        self.due
    }

    /// A SYN is sent; whether it has been sent before.
    pub fn on_send(&mut self, max_rto: Duration, now: Instant) -> bool {
        self.due = false;
        self.sent_at = now;
        self.timer_at = now + self.patience;
        self.patience = (self.patience * 2).min(max_rto);
        self.tries += 1;
        self.tries > 1
    }

    /// No answer has come in time.
    pub fn on_timer(&mut self) {
        self.due = true;
        self.timer_at = Instant::NEVER;
    }

    /// The answer has come: the first round-trip time, if the SYN was sent only once.
    pub fn on_syn_ack(&mut self, now: Instant) -> Option<Duration> {
        self.established = true;
        self.due = false;
        self.timer_at = Instant::NEVER;
        (self.tries == 1).then(|| now.since(self.sent_at))
    }
}
