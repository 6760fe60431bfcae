//! Delivery-rate estimation (draft-cheng-iccrg-delivery-rate-estimation), and detection of round
//! trips.

use floodway_model::{Duration, Instant};

use super::scoreboard::Record;
use crate::host::congestion::{Lost, RateSample};

/// Delivery state at the transmission of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    /// Transmission time of the most recently delivered segment.
    first_sent_at: Instant,
    /// Arrival of the last acknowledgement of something new.
    delivered_at: Instant,
    /// Totals of segments delivered, delivered with CE and considered lost up to that time.
    delivered: u32,
    marked: u32,
    lost: u32,
    /// Segments in flight, including this one.
    in_flight: u32,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(super) struct Rates {
    now: Snapshot,
    /// The application limits the segments in flight until this many are delivered; 0 if it does
    /// not.
    app_limited: u32,
    /// The round trip ends when a segment is acknowledged that was sent when this many had been
    /// delivered.
    round_ends: u32,
}

impl Rates {
    /// State to store with a segment that is sent now, and whether the application is the limit.
    #[inline]
    pub fn on_send(&mut self, outstanding: u32, in_flight: u32, now: Instant) -> (Snapshot, bool) {
        if outstanding == 0 {
            self.now.first_sent_at = now;
            self.now.delivered_at = now;
        }
        self.now.in_flight = in_flight + 1;
        (self.now, self.app_limited != 0)
    }

    /// The application has less than a segment to send although more could be sent.
    pub fn limit(&mut self, in_flight: u32) {
        self.app_limited = (self.now.delivered + in_flight).max(1);
    }

    /// A segment is considered lost.
    pub fn on_lost(&mut self, record: &Record, now: Instant) -> Lost {
        self.now.lost += 1;
        Lost {
            now,
            in_flight_at_send: record.snapshot.in_flight,
            lost: self.now.lost - record.snapshot.lost,
            app_limited: record.app_limited,
        }
    }

    /// Segments are reported as arrived, some of them with CE.
    #[inline]
    pub fn on_delivered(&mut self, delivered: u32, marked: u32, now: Instant) {
        self.now.delivered += delivered;
        self.now.marked += marked;
        if delivered > 0 {
            self.now.delivered_at = now;
        }
        if self.app_limited != 0 && self.now.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// Whether a round trip begins with an acknowledgement whose most recently sent segment is
    /// `newest`.
    #[inline]
    pub fn begins_round(&mut self, newest: &Record) -> bool {
        let begins = newest.snapshot.delivered >= self.round_ends;
        if begins {
            self.round_ends = self.now.delivered;
        }
        begins
    }

    /// The sample of an acknowledgement whose most recently sent segment is `newest`. `None` if it
    /// spans less than the minimum round-trip time, which happens with unnecessary retransmissions.
    #[inline]
    pub fn sample(&mut self, newest: &Record, min_rtt: Duration) -> Option<RateSample> {
        let then = &newest.snapshot;
        self.now.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.since(then.first_sent_at);
        let acknowledging = self.now.delivered_at.since(then.delivered_at);
        let interval = sending.max(acknowledging);
        if interval < min_rtt || interval == Duration::ZERO {
            return None;
        }
        Some(RateSample {
            delivered: self.now.delivered - then.delivered,
            marked: self.now.marked - then.marked,
            lost: self.now.lost - then.lost,
            interval,
            prior_delivered: then.delivered.into(),
            in_flight_at_send: then.in_flight,
            app_limited: newest.app_limited,
        })
    }
}
