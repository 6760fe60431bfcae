//! Random number streams. Every component that uses random numbers has a stream of its own, derived
//! from its name and the scenario's seed. Adding a component therefore never changes the numbers
//! that another one draws, and the number of threads has no effect.
//!
//! The generator is xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded through SplitMix64. The
//! distributions are implemented here, on `libm` only, because those of libraries change between
//! versions and platforms.

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of component `name` under `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a, 64 bit: it only has to distinguish names; SplitMix64 does the mixing.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self::from_seed(mix(seed).wrapping_add(hash))
    }

    /// The stream whose state is the first four outputs of SplitMix64 from `seed`.
    pub fn from_seed(mut seed: u64) -> Self {
        let state = [(); 4].map(|()| {
            seed = seed.wrapping_add(GOLDEN_GAMMA);
            mix(seed)
        });
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns true with this probability: never for 0, always for 1.
    #[inline]
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number in [0, bound), each equally likely; `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire 2019: take the high half of a product, and redraw where that would favor some
        // values.
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// A number from the standard normal distribution (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Puts a list into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Hash of a number with well-distributed bits: the finalizer of SplitMix64 (Steele, Lea and Flood,
/// 2014).
#[inline]
pub const fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64's increment: 2^64 divided by the golden ratio.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_published_vector() {
        // First outputs for the state 1, 2, 3, 4, as the reference implementation gives them.
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let first = [(); 4].map(|()| stream.bits());
        assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn splitmix_published_vector() {
        // First outputs of SplitMix64 for seed 1234567.
        let stream = Stream::from_seed(1234567);
        assert_eq!(stream.state[0], 6457827717110365317);
        assert_eq!(stream.state[1], 3203168211198807973);
    }

    #[test]
    fn names_and_seeds_tell_streams_apart() {
        let first = |seed, name| Stream::named(seed, name).bits();
        assert_ne!(first(1, "leaf 0"), first(1, "leaf 1"));
        assert_ne!(first(1, "leaf 0"), first(2, "leaf 0"));
        assert_eq!(first(1, "leaf 0"), first(1, "leaf 0"));
    }

    #[test]
    fn means_are_where_theory_puts_them() {
        let mut stream = Stream::named(7, "test");
        let n = 200_000;
        let mean = |sum: f64| sum / f64::from(n);
        let unit = mean((0..n).map(|_| stream.unit()).sum());
        // The standard error of a uniform mean is 0.289/sqrt(n) = 0.00065; the bound is five times
        // that.
        assert!((unit - 0.5).abs() < 0.0033, "{unit}");
        let exponential = mean((0..n).map(|_| stream.exponential(3.0)).sum());
        assert!((exponential - 3.0).abs() < 0.034, "{exponential}");
        let below = mean((0..n).map(|_| stream.below(7) as f64).sum());
        assert!((below - 3.0).abs() < 0.023, "{below}");
    }
}
