//! The sender's side of the handshake: SYN, SYN/ACK; the third part is carried by the first
//! segment.

use floodway_model::{Duration, Instant};

/// State of the handshake.
#[derive(Debug)]
pub(super) struct Handshake {
    established: bool,
    /// Whether a SYN must be sent.
    due: bool,
    sent_at: Instant,
    /// Expiry of the SYN timer; [`Instant::NEVER`] while no SYN is outstanding.
    pub timer_at: Instant,
    /// Timeout of the next SYN.
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

    /// That of a connection that was established before.
    pub fn over() -> Self {
        Self { established: true, due: false, ..Self::new(Duration::ZERO) }
    }

    #[inline]
    pub fn is_established(&self) -> bool {
        self.established
    }

    pub fn is_due(&self) -> bool {
        self.due
    }

    /// A SYN is sent. Returns whether it is a retransmission.
    pub fn on_send(&mut self, max_rto: Duration, now: Instant) -> bool {
        self.due = false;
        self.sent_at = now;
        self.timer_at = now + self.patience;
        self.patience = (self.patience * 2).min(max_rto);
        self.tries += 1;
        self.tries > 1
    }

    /// The SYN timer has expired.
    pub fn on_timer(&mut self) {
        self.due = true;
        self.timer_at = Instant::NEVER;
    }

    /// The SYN/ACK has arrived. Returns the first round-trip time, if the SYN was sent only once.
    pub fn on_syn_ack(&mut self, now: Instant) -> Option<Duration> {
        self.established = true;
        self.due = false;
        self.timer_at = Instant::NEVER;
        (self.tries == 1).then(|| now.since(self.sent_at))
    }
}
