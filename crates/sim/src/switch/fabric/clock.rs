//! The clock of a crossbar: one for the whole switch, from time zero.

use floodway_model::units::PS_PER_S;
use floodway_model::{Bytes, Instant, Rate};

/// Boundaries of slots, counted from 0 at time zero. Slot k begins at the last picosecond not after
/// k times the exact length of a slot, so that no rate is lost to rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Picobits of a cell, and bits per second.
    picobits: u128,
    rate: u128,
    /// Length of a slot in picoseconds, if it is a whole number.
    whole: Option<u64>,
}

impl Clock {
    /// Slots in which `cell` bytes pass at this rate.
    pub fn new(cell: Bytes, rate: Rate) -> Self {
        let picobits = 8 * u128::from(cell.0) * u128::from(PS_PER_S);
        let rate = u128::from(rate.0);
        let whole = (picobits % rate == 0).then(|| (picobits / rate) as u64);
        Self { picobits, rate, whole }
    }

    /// Start of a slot.
    pub fn at(&self, slot: u64) -> Instant {
        match self.whole {
            Some(length) => Instant(slot * length),
            None => Instant((u128::from(slot) * self.picobits / self.rate) as u64),
        }
    }

    /// The slot at this time.
    pub fn slot(&self, now: Instant) -> u64 {
        match self.whole {
            Some(length) => now.0 / length,
            // at(k) <= now if k * picobits / rate < now + 1.
            None => {
                let after = (u128::from(now.0) + 1) * self.rate;
                (after.div_ceil(self.picobits) - 1) as u64
            }
        }
    }

    /// The first slot that does not begin before this time.
    pub fn from(&self, now: Instant) -> u64 {
        let slot = self.slot(now);
        if self.at(slot) == now { slot } else { slot + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_64_bytes_takes_5_12_ns_at_100_gbps() {
        let clock = Clock::new(Bytes(64), Rate::from_gbps(100));
        assert_eq!([0, 1, 17].map(|slot| clock.at(slot)), [0, 5_120, 87_040].map(Instant));
        assert_eq!([0, 5_119, 5_120].map(|now| clock.slot(Instant(now))), [0, 0, 1]);
        assert_eq!(
            [0, 1, 5_119, 5_120, 5_121].map(|now| clock.from(Instant(now))),
            [0, 1, 1, 1, 2]
        );
    }

    #[test]
    fn slots_that_are_no_whole_number_of_picoseconds_do_not_drift() {
        // 512 bits at 150 Gb/s are 3413 1/3 ps.
        let clock = Clock::new(Bytes(64), Rate::from_gbps(150));
        assert_eq!([1, 2, 3].map(|slot| clock.at(slot)), [3_413, 6_826, 10_240].map(Instant));
        assert_eq!(clock.at(3_000_000), Instant(10_240_000_000));
        for slot in (0..2_000).chain(1 << 40..(1 << 40) + 2_000) {
            let at = clock.at(slot);
            assert_eq!((clock.slot(at), clock.from(at)), (slot, slot));
            assert_eq!(clock.slot(Instant(at.0 + 3_412)), slot);
            assert_eq!(clock.from(Instant(at.0 + 1)), slot + 1);
        }
    }
}
