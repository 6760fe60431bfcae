//! Round-trip times and the retransmission timeout (RFC 6298).
//!
//! As in Linux the minimum timeout bounds its variable part, so that the timeout is the smoothed
//! round-trip time plus at least that.

use floodway_model::Duration;

use super::Spec;

/// Round-trip time state.
#[derive(Debug)]
pub(super) struct RoundTrips {
    /// SRTT; zero before the first sample.
    pub smoothed: Duration,
    variation: Duration,
    /// Minimum; zero before the first sample.
    pub min: Duration,
    /// Timeout derived from the samples, and the number of doublings since the last sample.
    rto: Duration,
    backoff: u32,
    /// Sum of all samples of [`RoundTrips::on_latest`], in picoseconds, and their number.
    pub sum: u128,
    pub count: u64,
}

impl RoundTrips {
    pub fn new(spec: &Spec) -> Self {
        Self {
            smoothed: Duration::ZERO,
            variation: Duration::ZERO,
            min: Duration::ZERO,
            rto: spec.initial_rto,
            backoff: 0,
            sum: 0,
            count: 0,
        }
    }

    /// A round-trip time sample for the timeout: of the first-sent packet among those acknowledged,
    /// so that it includes the delay of the acknowledgement.
    pub fn on_oldest(&mut self, spec: &Spec, sample: Duration) {
        if self.smoothed == Duration::ZERO {
            self.smoothed = sample;
            self.variation = Duration(sample.0 / 2);
        } else {
            let error = self.smoothed.0.abs_diff(sample.0);
            self.variation = Duration((3 * self.variation.0 + error) / 4);
            self.smoothed = Duration((7 * self.smoothed.0 + sample.0) / 8);
        }
        self.rto = self.smoothed + (self.variation * 4).max(spec.min_rto);
        self.backoff = 0;
    }

    /// A round-trip time sample of the network: of the last-sent packet among those acknowledged.
    pub fn on_latest(&mut self, sample: Duration) {
        let is_least = self.min == Duration::ZERO || sample < self.min;
        if is_least {
            self.min = sample;
        }
        self.sum += u128::from(sample.0);
        self.count += 1;
    }

    /// The SYN was lost: the timeout restarts at three seconds (RFC 6298, section 5.7).
    pub fn after_lost_syn(&mut self) {
        self.rto = Duration::from_ms(3_000);
    }

    /// The retransmission timer has expired.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The retransmission timeout.
    #[inline]
    pub fn timeout(&self, spec: &Spec) -> Duration {
        let times = 1u64 << self.backoff.min(20);
        Duration(self.rto.0.saturating_mul(times)).min(spec.max_rto)
    }

    /// Time from `now` until a probe is sent if nothing is acknowledged before (RFC 8985 section
    /// 7.2); allows for a delayed acknowledgement of a single segment.
    #[inline]
    pub fn probe_timeout(&self, spec: &Spec, single: bool) -> Duration {
        if self.smoothed == Duration::ZERO {
            return Duration::from_ms(1_000);
        }
        let delayed = if single { spec.min_rto } else { Duration::ZERO };
        self.smoothed * 2 + delayed
    }

    /// The mean of all samples; `None` if there is none.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration((self.sum / u128::from(self.count)) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_ms;

    #[test]
    fn the_estimator_is_that_of_rfc_6298() {
        let spec = Spec::default();
        let mut trips = RoundTrips::new(&spec);
        assert_eq!(trips.timeout(&spec), MS(1_000));
        // R = 80: SRTT = 80, RTTVAR = 40, RTO = 80 + max(200, 160).
        trips.on_oldest(&spec, MS(80));
        assert_eq!((trips.smoothed, trips.variation), (MS(80), MS(40)));
        assert_eq!(trips.timeout(&spec), MS(280));
        // R = 240: RTTVAR = 3/4 40 + 1/4 160 = 70, SRTT = 7/8 80 + 1/8 240 = 100, RTO = 100 + 280.
        trips.on_oldest(&spec, MS(240));
        assert_eq!((trips.smoothed, trips.variation), (MS(100), MS(70)));
        assert_eq!(trips.timeout(&spec), MS(380));
        // R = 100: RTTVAR = 52.5, SRTT = 100, RTO = 310.
        trips.on_oldest(&spec, MS(100));
        assert_eq!((trips.smoothed, trips.variation.0), (MS(100), 52_500_000_000));
        assert_eq!(trips.timeout(&spec), MS(310));
    }

    #[test]
    fn the_timeout_doubles_up_to_its_limit_until_there_is_a_sample() {
        let spec = Spec::default();
        let mut trips = RoundTrips::new(&spec);
        trips.on_oldest(&spec, MS(100));
        let mut seen = Vec::new();
        for _ in 0..10 {
            seen.push(trips.timeout(&spec).0 / MS(1).0);
            trips.back_off();
        }
        assert_eq!(seen, [300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 120_000],);
        trips.on_oldest(&spec, MS(100));
        assert_eq!(trips.timeout(&spec), MS(300));
    }

    #[test]
    fn a_probe_waits_for_two_round_trips() {
        let spec = Spec::default();
        let mut trips = RoundTrips::new(&spec);
        assert_eq!(trips.probe_timeout(&spec, false), MS(1_000));
        trips.on_oldest(&spec, MS(30));
        assert_eq!(trips.probe_timeout(&spec, false), MS(60));
        assert_eq!(trips.probe_timeout(&spec, true), MS(260));
    }

    #[test]
    fn mean_and_least() {
        let mut trips = RoundTrips::new(&Spec::default());
        assert_eq!(trips.mean(), None);
        [30, 10, 20].into_iter().for_each(|ms| trips.on_latest(MS(ms)));
        assert_eq!((trips.mean(), trips.min), (Some(MS(20)), MS(10)));
    }
}
