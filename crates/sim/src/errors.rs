//! Bit errors of links: frames that arrive with a wrong frame check sequence.
//!
//! Bit errors are independent, so a frame of n bytes has one with probability 1 - (1 - e)^(8 n). What remains after
//! forward error correction is meant; bursts are in [`loss`](crate::loss). Every transmitter has a random stream of its
//! own for them. A frame with an error is lost, unless the link has a link-level retry ([`retry`]).

use std::collections::VecDeque;

use floodway_model::check::frame_error_rate;
use floodway_model::random::Stream;
use floodway_model::{NodeId, PortIx};
use serde::Serialize;

use crate::Spec;
use crate::retry;

/// Bit errors of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// The node that sends.
    pub node: NodeId,
    /// The port there.
    pub port: PortIx,
    /// Probability that a bit is wrong.
    pub rate: f64,
    /// Transmissions that have an error whatever the rate, ascending: numbers from 0 of what the port sends, those that
    /// are sent again included, without MAC control frames.
    pub frames: Vec<u64>,
    /// Whether frames with errors are sent again; `None` if they are lost.
    pub retry: Option<retry::Spec>,
}

impl Errors {
    /// Those of a port; `None` if it has no such entry. Entries are in order of node and port.
    pub fn at(spec: &Spec, end: (NodeId, PortIx)) -> Option<&Self> {
        let place = spec.errors.binary_search_by_key(&end, |errors| (errors.node, errors.port));
        place.ok().map(|place| &spec.errors[place])
    }

    /// Whether any frame may have an error.
    pub fn may_happen(&self) -> bool {
        self.rate > 0.0 || !self.frames.is_empty()
    }
}

/// Which frames of a transmitter have errors.
#[derive(Debug)]
pub struct BitErrors {
    rate: f64,
    /// Transmissions that have an error whatever the rate.
    listed: VecDeque<u64>,
    /// Number of the next transmission.
    next: u64,
    /// A length and the probability of an error at this length: most frames are as long as the one before.
    known: (u64, f64),
    rng: Stream,
}

impl BitErrors {
    /// At the start of a simulation with this seed; `name` is that of the transmitter and of what it sends.
    pub fn new(rate: f64, listed: &[u64], seed: u64, name: &str) -> Self {
        let listed = listed.iter().copied().collect();
        let rng = Stream::named(seed, &format!("bit errors at {name}"));
        Self { rate, listed, next: 0, known: (0, 0.0), rng }
    }

    /// Whether a frame, or what else has so many bytes, has an error.
    pub fn hit(&mut self, bytes: u64) -> bool {
        if self.rate == 0.0 {
            return false;
        }
        if self.known.0 != bytes {
            self.known = (bytes, frame_error_rate(self.rate, bytes));
        }
        self.rng.bernoulli(self.known.1)
    }

    /// Whether the next transmission has an error.
    pub fn hit_next(&mut self, bytes: u64) -> bool {
        let is_listed = self.listed.front() == Some(&self.next);
        if is_listed {
            self.listed.pop_front();
        }
        self.next += 1;
        self.hit(bytes) || is_listed
    }
}

/// What bit errors did at a transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transmissions with an error.
    pub corrupted: u64,
    /// Transmissions of frames that had been sent before on the same link.
    pub replayed: u64,
    /// Frames lost because of errors.
    pub lost: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 1250 bytes have 10^4 bits. With a rate of 10^-6, 0.995 % of them have an error: of 400,000 there are
    /// 3980, with a deviation of 62.8.
    #[test]
    fn frames_have_errors_as_often_as_their_bits() {
        let mut errors = BitErrors::new(1e-6, &[], 7, "a test");
        let hit = (0..400_000).filter(|_| errors.hit_next(1_250)).count() as f64;
        assert!((hit - 3_980.0).abs() < 4.0 * 62.8, "{hit}");
        // Of 64 bytes there are 204.7 in as many, with a deviation of 14.3.
        let hit = (0..400_000).filter(|_| errors.hit_next(64)).count() as f64;
        assert!((hit - 204.7).abs() < 4.0 * 14.3, "{hit}");
    }

    #[test]
    fn listed_transmissions_have_errors() {
        let mut errors = BitErrors::new(0.0, &[0, 3, 4], 7, "a test");
        let hits: Vec<bool> = (0..6).map(|_| errors.hit_next(1_000)).collect();
        assert_eq!(hits, [true, false, false, true, true, false]);
    }
}
