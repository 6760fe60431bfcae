//! What the algorithms share that live on answers: when a round trip is over, the window that
//! belongs to a rate, and what a port sent between two packets.

use floodway_model::Duration;

use super::{Answer, Path};
use crate::telemetry::Hop;

/// Tells round trips apart: one is over when the first packet is acknowledged that was sent after its
/// beginning. The first answer of a flow ends the round trip in which nothing was known.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// The first packet that had not been sent when it began.
    until: u32,
}

impl RoundTrip {
    /// Whether there has been an answer.
    pub const fn has_begun(&self) -> bool {
        self.until > 0
    }

    /// Whether this answer ends it; then the next begins.
    #[inline]
    pub fn ends(&mut self, answer: &Answer<'_>) -> bool {
        let ends = answer.ack > self.until;
        if ends {
            self.until = answer.sent;
        }
        ends
    }
}

/// The window that a flow fills at a rate.
#[derive(Clone, Copy, Debug)]
pub struct FollowingWindow {
    length: Duration,
    payload: u64,
}

impl FollowingWindow {
    /// A window that is so long, whatever the rate.
    pub const fn new(length: Duration, path: &Path) -> Self {
        Self { length, payload: path.payload }
    }

    /// How long it is.
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// Bytes of payload, in whole packets. One that is begun counts: as long as less than the window
    /// is in flight a packet may be sent, as in the simulator of HPCC's authors.
    #[inline]
    pub fn at(&self, rate: f64) -> u64 {
        let bytes = rate * self.length.0 as f64 / 8e12;
        (bytes as u64).div_ceil(self.payload).max(1) * self.payload
    }
}

/// Bytes that a port sent between two packets, and the time in seconds; `None` if the second was not
/// the later one, or if it cannot be the same port.
pub fn between(old: &Hop, new: &Hop) -> Option<(u64, f64)> {
    let (bytes, ns) = (new.bytes_since(old), new.ns_since(old));
    let later = ns > 0 && ns <= u64::from(u32::MAX / 2);
    // Times are rounded to nanoseconds.
    let most = u128::from(new.rate.0) * u128::from(ns + 1) / 8_000_000_000;
    let possible = new.rate == old.rate && u128::from(bytes) <= most;
    (later && possible).then_some((bytes, ns as f64 * 1e-9))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use floodway_model::{Instant, Rate};

    /// An answer at so many microseconds that acknowledges everything before `ack` of what was sent
    /// before `sent`, and tells nothing else.
    pub fn answer(us: u64, ack: u32, sent: u32) -> Answer<'static> {
        Answer {
            now: Instant(us * 1_000_000),
            ack,
            acked: 1,
            sent,
            in_flight: sent - ack,
            rtt: None,
            marked: false,
            nak: false,
            hops: &[],
        }
    }

    #[test]
    fn a_round_trip_ends_with_the_first_packet_sent_in_it() {
        let mut round = RoundTrip::default();
        // Ten packets are sent when the first is acknowledged.
        assert!(round.ends(&answer(0, 1, 10)));
        for ack in 2..=10 {
            assert!(!round.ends(&answer(0, ack, 10 + ack)));
        }
        // Number 10 was sent after that.
        assert!(round.ends(&answer(0, 11, 30)));
        assert!(!round.ends(&answer(0, 30, 30)));
        assert!(round.ends(&answer(0, 31, 40)));
    }

    #[test]
    fn a_window_is_as_long_at_any_rate() {
        let path = Path { payload: 1_000, ..Path::at(Rate::from_gbps(100)) };
        let window = FollowingWindow::new(Duration::from_us(8), &path);
        // 100 KB at 100 Gb/s; 12.5 Gb/s are 12.5 packets, of which the last is begun.
        assert_eq!(
            [100e9, 12.5e9, 13e9, 1e6].map(|rate| window.at(rate)),
            [100_000, 13_000, 13_000, 1_000]
        );
    }
}
