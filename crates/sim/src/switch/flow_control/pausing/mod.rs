//! What mechanisms have in common that pause a neighbour and let it go on: whom they pause, when by
//! two thresholds, and what was said and has to be said again before it expires.

mod headroom;
mod held;
mod ledger;
pub mod place;
pub mod source;

use floodway_model::id::CLASSES;
use floodway_model::units::ByteTime;
use floodway_model::{Bytes, Duration, Packet, Rate};

pub use headroom::{Link, most_in};
pub use held::Held;
pub use ledger::{Ledger, On, Paused};

/// Who can be paused: a port and class, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(u32);

impl Source {
    /// The class `class` at `port`.
    #[inline]
    pub fn new(port: usize, class: usize) -> Self {
        Self((port * CLASSES + class) as u32)
    }

    /// The port by which it comes.
    pub fn port(self) -> usize {
        self.0 as usize / CLASSES
    }

    /// The class.
    pub fn class(self) -> usize {
        self.0 as usize % CLASSES
    }

    /// As an index into a vector with one entry per source.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The source of a packet that waits.
#[inline]
pub fn source_of(packet: &Packet) -> Source {
    Source::new(packet.ingress.index(), packet.class.index())
}

/// What a neighbour is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop sending this class.
    Pause(Source),
    /// Go on.
    Resume(Source),
}

/// Between which occupancies a neighbour is paused.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Above it the neighbour is paused.
    pub xoff: Bytes,
    /// At or below it the neighbour may go on.
    pub xon: Bytes,
}

/// How long a pause of `quanta` of 512 bit times lasts on a link of this rate.
pub fn pause_time(quanta: u16, rate: Rate) -> Duration {
    ByteTime::at(rate).of(u64::from(quanta) * 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pause_at_100_gbps_is_335_us() {
        // 65535 * 512 bit at 100 Gb/s (mechanisms: 335.5 us).
        assert_eq!(pause_time(65_535, Rate::from_gbps(100)), Duration(335_539_200));
    }
}
