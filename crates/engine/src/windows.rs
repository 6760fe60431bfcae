//! Division of time into windows, within which no node can affect another.

use floodway_model::{Duration, Instant};

/// Windows of equal length from time zero; window w covers [w·length, (w+1)·length).
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    length: u64,
    /// 2^64 / length, rounded up: replaces the division for every arrival by a multiplication.
    reciprocal: u64,
}

/// Number of bits that distinguish `ports` ports.
pub fn port_bits(ports: usize) -> u32 {
    usize::BITS - ports.saturating_sub(1).leading_zeros()
}

impl Windows {
    /// Windows of the given length, at least 2 ps, or shorter if the sort keys of arrivals require it:
    /// a key has 40 bits for the offset within a window, of which 32 are stored, and the port number
    /// together. That leaves one bit for the kind of frame and 23 for the index among the arrivals of a
    /// window.
    pub fn new(length: Duration, ports: usize) -> Self {
        let longest = 1 << (40 - port_bits(ports)).min(32);
        let length = length.0.clamp(2, longest);
        Self { length, reciprocal: u64::MAX / length + 1 }
    }

    /// The window that contains this time.
    #[inline]
    pub fn index(self, at: Instant) -> u64 {
        // The rounded-up reciprocal overestimates by less than at/2^64, so the estimate is right
        // or one too high: high only if the product of estimate and length passes `at`.
        let estimate = ((u128::from(at.0) * u128::from(self.reciprocal)) >> 64) as u64;
        if estimate.wrapping_mul(self.length) > at.0 { estimate - 1 } else { estimate }
    }

    /// The window that contains this time, and the offset within it in picoseconds.
    #[inline]
    pub fn split(self, at: Instant) -> (u64, u32) {
        let index = self.index(at);
        (index, (at.0 - index * self.length) as u32)
    }

    /// Length of a window.
    pub fn length(self) -> Duration {
        Duration(self.length)
    }

    /// Start of a window; [`Instant::NEVER`] if it is past the end of representable time.
    #[inline]
    pub fn start(self, index: u64) -> Instant {
        Instant(index.saturating_mul(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn index_is_division(length in 2u64..=(1 << 32), at in 0u64..1 << 60) {
            let windows = Windows::new(Duration(length), 256);
            prop_assert_eq!(windows.index(Instant(at)), at / length);
            prop_assert_eq!(windows.split(Instant(at)), (at / length, (at % length) as u32));
            let edge = at / length * length;
            prop_assert_eq!(windows.index(Instant(edge)), at / length);
            prop_assert_eq!(windows.index(Instant(edge + length - 1)), at / length);
        }
    }
}
