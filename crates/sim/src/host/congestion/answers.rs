//! Components shared by algorithms that work from RoCEv2 acknowledgements: round-trip detection,
//! the window for a rate, and the transmission rate of a port between two telemetry samples.

use floodway_model::Duration;

use super::{Answer, Path};
use crate::telemetry::Hop;

/// Detects the end of round trips: a round trip ends when the first packet is acknowledged that was
/// sent after its beginning. The first acknowledgement of a flow ends the initial round trip, for
/// which there is no information.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// The first packet that had not been sent when the round trip began.
    until: u32,
}

impl RoundTrip {
    /// Whether there has been an acknowledgement.
    pub const fn has_begun(&self) -> bool {
        self.until > 0
    }

    /// Whether this acknowledgement ends the round trip; if so, the next one begins.
    #[inline]
    pub fn ends(&mut self, answer: &Answer<'_>) -> bool {
        let ends = answer.ack > self.until;
        if ends {
            self.until = answer.sent;
        }
        ends
    }
}

/// The window that a flow fills at a given rate.
#[derive(Clone, Copy, Debug)]
pub struct FollowingWindow {
    length: Duration,
    payload: u64,
}

impl FollowingWindow {
    /// A window of this length in time, at any rate.
    pub const fn new(length: Duration, path: &Path) -> Self {
        Self { length, payload: path.payload }
    }

    /// Length in time.
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// Payload bytes, in whole packets, rounded up: a packet may be sent as long as less than the
    /// window is in flight, as in the simulator of HPCC's authors.
    #[inline]
    pub fn at(&self, rate: f64) -> u64 {
        let bytes = rate * self.length.0 as f64 / 8e12;
        (bytes as u64).div_ceil(self.payload).max(1) * self.payload
    }
}

/// Bytes that a port sent between two telemetry samples, and the time between them in seconds.
/// `None` if the second is not later, or if the samples cannot be from the same port.
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

    /// An acknowledgement at `us` microseconds that acknowledges everything before `ack`, when
    /// `sent` is the next packet to send, and carries nothing else.
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
            trimmed: None,
            hops: &[],
            tag: None,
        }
    }

    #[test]
    fn a_round_trip_ends_with_the_first_packet_sent_in_it() {
        let mut round = RoundTrip::default();
        // Ten packets have been sent when the first is acknowledged.
        assert!(round.ends(&answer(0, 1, 10)));
        for ack in 2..=10 {
            assert!(!round.ends(&answer(0, ack, 10 + ack)));
        }
        // Packet 10 was sent after that.
        assert!(round.ends(&answer(0, 11, 30)));
        assert!(!round.ends(&answer(0, 30, 30)));
        assert!(round.ends(&answer(0, 31, 40)));
    }

    #[test]
    fn a_window_is_as_long_at_any_rate() {
        let path = Path { payload: 1_000, ..Path::at(Rate::from_gbps(100)) };
        let window = FollowingWindow::new(Duration::from_us(8), &path);
        // 100 KB at 100 Gb/s. At 12.5 Gb/s it is 12.5 packets, rounded up.
        assert_eq!(
            [100e9, 12.5e9, 13e9, 1e6].map(|rate| window.at(rate)),
            [100_000, 13_000, 13_000, 1_000]
        );
    }
}
