//! How fast the machine is at the moment. The same program can be three times as slow on a host that is shared, an
//! hour later; figures from two hosts or hours can be compared if each is kept with its calibration.

use std::hint::black_box;
use std::time::Instant;

/// The working sets in which [`calibrate`] measures loads, in bytes: within the first and second level of caches,
/// about the size of a third level's share, and beyond.
pub const WORKING_SETS: [usize; 4] = [32 << 10, 512 << 10, 4 << 20, 64 << 20];

/// What the machine needed for the simplest work there is.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Nanoseconds for a multiplication and an addition of doubles, each of which needs the result before it.
    pub multiply_add_ns: f64,
    /// Nanoseconds for a load whose address is the result of the load before it, in each of [`WORKING_SETS`].
    pub load_ns: [f64; WORKING_SETS.len()],
}

/// Measures the machine in about half a second, with 64 MiB of memory. Each figure is the median of nine, because what
/// disturbs the calibration disturbs what is measured beside it.
pub fn calibrate() -> Calibration {
    Calibration {
        multiply_add_ns: multiply_add(),
        load_ns: WORKING_SETS.map(|bytes| load(bytes / LINE)),
    }
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// A cache line: the number of the next one, and nothing else that is used.
#[derive(Clone)]
#[repr(align(64))]
struct Line(u32);

/// Steps of one measurement.
const STEPS: u32 = 50_000;

fn multiply_add() -> f64 {
    // Doubles, because the compiler may not rearrange them.
    let (factor, summand) = (black_box(0.999_999), black_box(1e-6));
    let mut value = black_box(1.0);
    median(|| {
        for _ in 0..STEPS {
            value = value * factor + summand;
        }
        black_box(value);
    })
}

fn load(lines: usize) -> f64 {
    let lines = cycle(lines);
    let mut at = 0;
    median(|| {
        for _ in 0..STEPS {
            at = lines[at as usize].0;
        }
        black_box(at);
    })
}

/// So many lines, each with the number of the next, in a random order that visits all of them before it returns to the
/// first (Sattolo 1986), so that no prefetcher foresees it.
fn cycle(lines: usize) -> Vec<Line> {
    let mut next: Vec<Line> = (0..lines as u32).map(Line).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..lines).rev() {
        // Marsaglia's xorshift: what it lacks as a generator does not matter to caches.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        next.swap(last, (random % last as u64) as usize);
    }
    next
}

/// Nanoseconds for a step: the median of nine measurements, after one that fills the caches.
fn median(mut steps: impl FnMut()) -> f64 {
    steps();
    let mut measured = [(); 9].map(|()| {
        let begun = Instant::now();
        steps();
        begun.elapsed().as_nanos() as f64 / f64::from(STEPS)
    });
    measured.sort_by(f64::total_cmp);
    measured[4]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_visit_every_line_before_they_return() {
        for count in [1, 2, 3, 512, 8_192] {
            let lines = cycle(count);
            let mut visited = vec![false; count];
            let mut at = 0;
            for _ in 0..count {
                assert!(!visited[at], "line {at} of {count} comes twice");
                visited[at] = true;
                at = lines[at].0 as usize;
            }
            assert_eq!(at, 0);
        }
    }

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!(size_of::<Line>(), LINE);
    }

    #[test]
    fn the_median_is_the_fifth_of_nine() {
        let mut calls = 0;
        assert!(median(|| calls += 1) >= 0.0);
        assert_eq!(calls, 10);
    }
}
