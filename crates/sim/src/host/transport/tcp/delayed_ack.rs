//! Delayed acknowledgements: a receiver acknowledges every second full segment, or after a delay
//! (RFC 5681, section 4.2), or at once. Acknowledgements of segments behind a gap may be compressed.

use floodway_model::{Duration, Instant};

use super::Spec;

/// Acknowledgements that report a gap at once before others are held back (Linux: `TCP_FASTRETRANS_THRESH`): the sender
/// repairs a loss after three.
const REPORTS: u8 = 3;

/// Maximum number of segments whose acknowledgement is held back (Linux: `tcp_comp_sack_nr`).
const HELD_BACK: u8 = 44;

/// State of unacknowledged segments.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    payload: u64,
    /// Expiry of the delayed acknowledgement timer; [`Instant::NEVER`] if nothing is pending.
    pub timer_at: Instant,
    /// Number of further acknowledgements that are not delayed.
    quick: u32,
    /// SACK compression; `None` without it.
    compression: Option<Box<Compression>>,
}

/// Compression of selective acknowledgements.
#[derive(Clone, Debug)]
struct Compression {
    /// When the SYN was answered; [`Instant::NEVER`] without a handshake.
    answered: Instant,
    /// From then to the first segment, or to the end of time.
    round_trip: Duration,
    /// The gap, by the segment that is missing, and how often it was reported.
    gap: u32,
    reports: u8,
    /// Segments that have arrived since the last acknowledgement and were not acknowledged.
    held_back: u8,
}

impl Delay {
    pub fn new(spec: &Spec) -> Self {
        let compression = spec.sack_delay.map(|_| {
            let (answered, round_trip) = (Instant::NEVER, Duration(u64::MAX));
            Box::new(Compression { answered, round_trip, gap: 0, reports: 0, held_back: 0 })
        });
        Self { payload: 0, timer_at: Instant::NEVER, quick: spec.quick_acks, compression }
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

    /// A SYN is answered.
    pub fn on_syn(&mut self, now: Instant) {
        if let Some(compression) = &mut self.compression {
            compression.answered = now;
        }
    }

    /// The first segment has arrived.
    pub fn on_first(&mut self, now: Instant) {
        if let Some(compression) = &mut self.compression
            && compression.answered != Instant::NEVER
        {
            compression.round_trip = now.since(compression.answered);
        }
    }

    /// A segment has arrived after a gap, before `missing`. Returns whether it is acknowledged at once.
    pub fn on_gap(&mut self, spec: &Spec, missing: u32, now: Instant) -> bool {
        let (Some(compression), Some(longest)) = (&mut self.compression, spec.sack_delay) else {
            return true;
        };
        if compression.gap != missing {
            (compression.gap, compression.reports) = (missing, 0);
        }
        if self.quick > 0 || compression.held_back >= HELD_BACK {
            return true;
        }
        if compression.reports < REPORTS {
            compression.reports += 1;
            return true;
        }
        compression.held_back += 1;
        if compression.held_back == 1 {
            let delay = longest.min(Duration(compression.round_trip.0 / 20));
            self.timer_at = self.timer_at.min(now + delay);
        }
        false
    }

    /// Whether the acknowledgement of a segment behind a gap is held back.
    pub fn holds_back(&self) -> bool {
        self.compression.as_ref().is_some_and(|compression| compression.held_back > 0)
    }

    /// An acknowledgement is sent.
    #[inline]
    pub fn on_ack(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.held_back = 0;
        }
        self.payload = 0;
        self.timer_at = Instant::NEVER;
        self.quick = self.quick.saturating_sub(1);
    }
}
