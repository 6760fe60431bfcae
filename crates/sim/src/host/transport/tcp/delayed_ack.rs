//! Delayed acknowledgements: a receiver acknowledges every second full segment, or after a delay
//! (RFC 5681, section 4.2), or at once.

use floodway_model::Instant;

use super::Spec;

/// State of unacknowledged segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    payload: u64,
    /// Expiry of the delayed acknowledgement timer; [`Instant::NEVER`] if nothing is pending.
    pub timer_at: Instant,
    /// Number of further acknowledgements that are not delayed.
    quick: u32,
}

impl Delay {
    pub fn new(spec: &Spec) -> Self {
        Self { payload: 0, timer_at: Instant::NEVER, quick: spec.quick_acks }
    }

    /// Whether there is an unacknowledged segment.
    pub fn is_pending(&self) -> bool {
        self.timer_at != Instant::NEVER
    }

    /// The next `acks` acknowledgements, at least, are not delayed.
    pub fn hurry(&mut self, acks: u32) {
        self.quick = self.quick.max(acks);
    }

    /// A segment has arrived in order. Returns whether it is acknowledged at once.
    #[inline]
    pub fn on_segment(&mut self, spec: &Spec, payload: u64, now: Instant) -> bool {
        self.payload += payload;
        if !self.is_pending() {
            self.timer_at = now + spec.delayed_ack;
        }
        let every = u64::from(spec.ack_every.max(1)) - 1;
        self.quick > 0 || self.payload > every * spec.mss.0
    }

    /// An acknowledgement is sent.
    #[inline]
    pub fn on_ack(&mut self) {
        self.payload = 0;
        self.timer_at = Instant::NEVER;
        self.quick = self.quick.saturating_sub(1);
    }
}
