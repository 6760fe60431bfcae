//! The estimate of `autorate-ingress` (tc-cake(8)): the rate at which packets arrive, between gaps that are longer than usual.
//! The averages and their weights are those of Linux 6.12, in whole nanoseconds and bytes.

use floodway_model::{Duration, Instant, Rate};

/// How long a rate is kept at least.
const KEPT: Duration = Duration::from_ms(250);
/// The longest gap that counts, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;

/// What has arrived.
#[derive(Debug, Default)]
pub struct Estimate {
    last: Instant,
    /// Average gap between packets, in nanoseconds.
    gap: u64,
    begun: Instant,
    /// Bytes since then.
    bytes: u64,
    /// Average of the rates between gaps, in bytes per second.
    peak: u64,
    changed: Instant,
}

/// An average that moves towards a sample by this power of one half.
const fn average(of: u64, sample: u64, shift: u32) -> u64 {
    of - (of >> shift) + (sample >> shift)
}

impl Estimate {
    /// From a first estimate, if there is one.
    pub fn new(rate: Option<Rate>) -> Self {
        Self { peak: rate.map_or(0, |rate| rate.0 / 8), ..Self::default() }
    }

    /// A packet arrives: returns a new rate for the shaper, 15/16 of the estimate, if it is time for one.
    pub fn arrives(&mut self, bytes: u64, now: Instant) -> Option<Rate> {
        self.bytes += bytes;
        let gap = (now.since(self.last).0 / 1_000).min(LONGEST);
        let is_longer = gap > self.gap;
        self.gap = average(self.gap, gap, if is_longer { 2 } else { 8 });
        self.last = now;
        if gap <= self.gap {
            return None;
        }
        let window = (now.since(self.begun).0 / 1_000).max(1);
        let rate = (u128::from(self.bytes) * 1_000_000_000 / u128::from(window)) as u64;
        self.peak = average(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        (self.bytes, self.begun) = (0, now);
        if now.since(self.changed) <= KEPT {
            return None;
        }
        self.changed = now;
        Some(Rate(((self.peak * 15) >> 4) * 8).max(Rate(8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ten packets of 1514 bytes every 10 ms are 1,514,000 bytes a second; 15/16 of it are 1,419,375 bytes a second,
    /// 11.355 Mb/s. Each burst ends a window, and the average comes closer by a quarter each time: within a second, to less
    /// than a millionth. Fractions that are cut off leave at most 4 bytes a second of error.
    #[test]
    fn bursts_have_the_rate_between_gaps() {
        let mut estimate = Estimate::new(None);
        let mut rates = Vec::new();
        for burst in 1..=300 {
            for packet in 0..10 {
                let now = Instant::ZERO + Duration::from_ms(10 * burst) + Duration::from_us(packet);
                rates.extend(estimate.arrives(1_514, now).map(|rate| (burst, rate)));
            }
        }
        let (_, last) = *rates.last().unwrap();
        assert!((11_354_900..=11_355_000).contains(&last.0), "{last:?}");
        // Once in more than 250 ms.
        assert!(rates.windows(2).all(|two| two[1].0 - two[0].0 == 26), "{rates:?}");
    }

    /// By hand: when the rate halves, the average moves by a 256th of the difference for each window.
    #[test]
    fn it_falls_slowly() {
        let mut estimate = Estimate::new(Some(Rate::from_mbps(8)));
        assert_eq!(estimate.peak, 1_000_000);
        // Gaps of 20 ms and then of 21: a window of 10,500 bytes in 21 ms, 500,000 bytes a second.
        estimate.last = Instant::ZERO;
        estimate.gap = 20_000_000;
        estimate.arrives(10_500, Instant::ZERO + Duration::from_ms(21));
        assert_eq!(estimate.peak, 1_000_000 - 3_906 + 1_953);
    }
}
