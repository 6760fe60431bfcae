//! Time in windows: within one, no node can affect another.

use floodway_model::{Duration, Instant};

/// Windows of equal length from time zero; window w covers [w·length, (w+1)·length).
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    length: u64,
    /// 2^64 / length, rounded up: turns the division of every arrival into a multiplication.
    reciprocal: u64,
}

impl Windows {
    /// The longest window: offsets within it must fit the sort keys of `super::bins`.
    pub const LONGEST: Duration = Duration(1 << 26);

    /// Windows of the given length, at least 2 ps, shortened to [`Windows::LONGEST`].
    pub fn new(length: Duration) -> Self {
        let length = length.0.clamp(2, Self::LONGEST.0);
        Self { length, reciprocal: u64::MAX / length + 1 }
    }

    /// The window that holds this moment.
    #[inline]
    pub fn index(self, at: Instant) -> u64 {
        // The rounded-up reciprocal overestimates by less than at/2^64, so the estimate is right
        // or one too high: high only if the product of estimate and length passes `at`.
        let estimate = ((u128::from(at.0) * u128::from(self.reciprocal)) >> 64) as u64;
        if estimate.wrapping_mul(self.length) > at.0 { estimate - 1 } else { estimate }
    }

    /// Its first moment; [`Instant::NEVER`] past the end of time.
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
        fn index_is_division(length in 2u64..(1 << 26), at in 0u64..1 << 60) {
            let windows = Windows::new(Duration(length));
            prop_assert_eq!(windows.index(Instant(at)), at / length);
            let edge = at / length * length;
            prop_assert_eq!(windows.index(Instant(edge)), at / length);
            prop_assert_eq!(windows.index(Instant(edge + length - 1)), at / length);
        }
    }
}
