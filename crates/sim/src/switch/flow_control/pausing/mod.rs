//! Common code of mechanisms that pause and resume neighbors: sources that can be paused, XOFF and
//! XON thresholds, and pauses that must be refreshed before they expire.

mod headroom;
mod held;
mod ledger;
pub mod place;
pub mod source;

use crate::link::pause_time;
use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Duration, Packet, Rate};
use serde::{Deserialize, Serialize};

pub use headroom::{Link, Part, carried, most_in};
pub use held::Held;
pub use ledger::{Ledger, On, Paused};

/// Why XON must be below XOFF.
pub const XON_BELOW: &str =
    "a paused neighbor resumes when the occupancy has fallen to XON: set it below XOFF";

/// Why the quanta of a pause must be above zero.
pub const NO_PAUSE: &str = "a pause of 0 quanta is a resumption; 65535 is what switches send";

/// A source that can be paused: an ingress port and class, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source(u32);

impl Source {
    /// The class `class` at `port`.
    #[inline]
    pub fn new(port: usize, class: usize) -> Self {
        Self((port * CLASSES + class) as u32)
    }

    /// The ingress port.
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

/// The source of a queued packet.
#[inline]
pub fn source_of(packet: &Packet) -> Source {
    Source::new(packet.ingress.index(), packet.class.index())
}

/// An order to a neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop sending this class.
    Pause(Source),
    /// Resume sending this class.
    Resume(Source),
}

/// The occupancy thresholds for pausing and resuming a neighbor.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Above it the neighbor is paused.
    pub xoff: Bytes,
    /// At or below it the neighbor is resumed.
    pub xon: Bytes,
}

/// The most time that IEEE 802.3 clause 31B.3.7 gives a port of this rate to obey a pause frame, in quanta of
/// its rate: as the headroom formula of SONiC lists them. A rate between two has the quanta of the faster.
pub fn standard_response(rate: Rate) -> Duration {
    const QUANTA: [(u64, u16); 9] = [
        (100, 1),
        (1_000, 2),
        (10_000, 67),
        (25_000, 80),
        (40_000, 118),
        (50_000, 147),
        (100_000, 394),
        (200_000, 453),
        (400_000, 905),
    ];
    let listed = QUANTA.iter().find(|(mbps, _)| rate <= Rate::from_mbps(*mbps));
    pause_time(listed.unwrap_or(&QUANTA[QUANTA.len() - 1]).1, rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_of_100_gbps_may_go_on_for_2_us() {
        let after = |gbps| standard_response(Rate::from_gbps(gbps));
        // 394 * 512 bit at 100 Gb/s are 2.01728 us or 25,216 bytes; 905 at 400 Gb/s 1.1584 us.
        assert_eq!(after(100), Duration(2_017_280));
        assert_eq!(after(400), Duration(1_158_400));
        // 30.208 Gb/s has the 118 quanta of 40 Gb/s, 60,416 bits, rounded up to picoseconds.
        let between = standard_response(Rate::from_mbps(30_208));
        assert!([2_000_000, 2_000_001].contains(&between.0), "{between}");
        // 800 Gb/s has the 905 quanta of 400.
        assert_eq!(after(800), Duration(579_200));
    }

    #[test]
    fn a_full_pause_at_100_gbps_is_335_us() {
        // 65535 * 512 bit at 100 Gb/s (mechanisms: 335.5 us).
        assert_eq!(pause_time(65_535, Rate::from_gbps(100)), Duration(335_539_200));
    }
}
