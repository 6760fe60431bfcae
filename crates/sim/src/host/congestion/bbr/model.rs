//! The path model common to all versions of BBR: packet-timed rounds, bandwidth, minimum round-trip
//! time, full-pipe detection, acknowledgement aggregation, and restart from idle. Bandwidths are in
//! packets per second, amounts in flight in packets.

use floodway_model::{Duration, Instant};

use super::super::{Ack, RateSample};

/// The rate sample of an acknowledgement, if it has a usable one.
pub fn sample(ack: &Ack) -> Option<&RateSample> {
    ack.rate.as_ref().filter(|sample| sample.interval > Duration::ZERO)
}

/// Rounds up to whole packets, ignoring the rounding error of a product that is mathematically
/// whole.
pub fn packets(amount: f64) -> u32 {
    (amount - 1e-6).ceil() as u32
}

/// Packet-timed rounds: a round ends when a packet is acknowledged that was sent after it began.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Total packets delivered.
    pub delivered: u64,
    /// Number of rounds so far.
    pub count: u64,
    /// Whether the last acknowledgement began a round.
    pub begins: bool,
    /// The round ends with a packet that was sent when at least this number of packets had been
    /// delivered.
    end: u64,
}

impl Rounds {
    /// Counts deliveries and detects the beginning of a round.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.begins = false;
        let Some(sample) = sample(ack) else {
            self.delivered = self.delivered.saturating_add(ack.delivered.into());
            return;
        };
        self.delivered = sample.prior_delivered.saturating_add(sample.delivered.into());
        if sample.prior_delivered >= self.end {
            self.end = self.delivered;
            self.count += 1;
            self.begins = true;
        }
    }

    /// Begins a round now: it ends with a packet that is sent from now on.
    pub fn restart(&mut self) {
        self.end = self.delivered;
    }
}

/// Rounds of version 1's maximum filter: a cycle of eight phases plus two.
const ROUNDS: usize = 10;

/// The highest bandwidth of the last ten rounds. Rounds pass only when a sample is taken, so the
/// estimate does not expire while the application sends little.
#[derive(Debug, Default)]
pub struct MaxFilter {
    rounds: [f64; ROUNDS],
    last: u64,
    max: f64,
}

impl MaxFilter {
    /// Adds a sample from this round.
    pub fn take(&mut self, round: u64, bandwidth: f64) {
        let passed = round.saturating_sub(self.last).min(ROUNDS as u64);
        self.last = self.last.max(round);
        for back in 0..passed {
            self.rounds[((self.last - back) % ROUNDS as u64) as usize] = 0.0;
        }
        let slot = &mut self.rounds[(self.last % ROUNDS as u64) as usize];
        *slot = slot.max(bandwidth);
        self.max = self.rounds.into_iter().fold(0.0, f64::max);
    }

    /// The maximum; zero before the first sample.
    pub fn max(&self) -> f64 {
        self.max
    }
}

/// The minimum round-trip time, with expiry.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinRtt {
    /// `None` before the first sample.
    pub value: Option<Duration>,
    /// Time at which it was last observed.
    pub at: Instant,
}

impl MinRtt {
    /// Whether it is older than `window`.
    pub fn expired(&self, now: Instant, window: Duration) -> bool {
        self.value.is_some() && now > self.at + window
    }

    /// Replaces the value.
    pub fn set(&mut self, rtt: Duration, now: Instant) {
        (self.value, self.at) = (Some(rtt), now);
    }

    /// `gain` times the bandwidth-delay product in packets, rounded up; the initial window as long
    /// as no round-trip time is known (Linux).
    pub fn bdp(&self, bandwidth: f64, gain: f64, initial_window: u32) -> u32 {
        match self.value {
            Some(rtt) => packets(bandwidth * rtt.as_secs() * gain),
            None => initial_window,
        }
    }
}

/// Full-pipe detection: three rounds in which the bandwidth did not grow by 25 %.
#[derive(Debug, Default)]
pub struct FullPipe {
    /// Whether the pipe was ever found to be full.
    pub reached: bool,
    /// Whether the pipe was found to be full since the last [`FullPipe::reset`].
    pub now: bool,
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Evaluates a bandwidth sample. It can count as a round without growth only at the beginning
    /// of a round.
    pub fn judge(&mut self, bandwidth: f64, round_begins: bool) {
        if self.now {
            return;
        }
        if bandwidth >= self.baseline * 1.25 {
            self.reset(bandwidth);
        } else if round_begins {
            self.rounds += 1;
            self.now = self.rounds >= 3;
            self.reached |= self.now;
        }
    }

    /// Restarts detection relative to this bandwidth.
    pub fn reset(&mut self, baseline: f64) {
        (self.baseline, self.rounds, self.now) = (baseline, 0, false);
    }
}

/// Acknowledgement aggregation: how many more packets than expected are acknowledged at a time, as
/// the maximum over one to two windows of rounds. This many more packets may be in flight, because
/// otherwise the pipe would run dry between two bursts of acknowledgements (Linux, `extra_acked`).
#[derive(Debug, Default)]
pub struct Aggregation {
    since: Instant,
    acked: u64,
    max: [u32; 2],
    age: u32,
}

impl Aggregation {
    /// Compares the packets acknowledged since the burst began with the number that the bandwidth
    /// would have delivered.
    pub fn on_ack(
        &mut self,
        ack: &Ack,
        bandwidth: f64,
        round_begins: bool,
        rounds: u32,
        window: u32,
    ) {
        if ack.delivered == 0 || sample(ack).is_none() {
            return;
        }
        if round_begins {
            self.age += 1;
            if self.age >= rounds {
                self.age = 0;
                self.max = [0, self.max[0]];
            }
        }
        let mut expected = (bandwidth * ack.now.since(self.since).as_secs()) as u64;
        if self.acked <= expected || self.acked >= 1 << 20 {
            self.restart(ack.now);
            expected = 0;
        }
        self.acked += u64::from(ack.delivered);
        let extra = self.acked.saturating_sub(expected).min(window.into()) as u32;
        self.max[0] = self.max[0].max(extra);
    }

    /// Restarts counting.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0);
    }

    /// Additional packets allowed in flight, at most as many as the bandwidth carries in 100 ms.
    pub fn allowance(&self, bandwidth: f64, gain: f64) -> u32 {
        let extra = f64::from(self.max[0].max(self.max[1]));
        (extra * gain).min(bandwidth * 0.1) as u32
    }
}

/// Detects a restart from idle: nothing was in flight, and the flow waited longer than pacing
/// required.
#[derive(Debug, Default)]
pub struct Idle {
    empty: bool,
    paced_until: Instant,
    /// Whether the flow has restarted and nothing has been acknowledged since.
    pub restarted: bool,
}

impl Idle {
    /// A packet is sent, after which pacing waits for `gap`. Returns whether this ends an idle
    /// period.
    pub fn on_send(&mut self, now: Instant, gap: Duration) -> bool {
        let restarts = std::mem::take(&mut self.empty) && now > self.paced_until;
        self.restarted |= restarts;
        // A change of rate moves the next packet slightly; a wait of twice the gap is not explained
        // by that.
        self.paced_until = now + gap + gap;
        restarts
    }

    /// Called after an acknowledgement has been processed.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.empty = ack.in_flight == 0;
        self.restarted &= ack.delivered == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_filter_forgets_after_ten_rounds() {
        let mut filter = MaxFilter::default();
        filter.take(3, 100.0);
        for round in 4..13 {
            filter.take(round, 50.0 + round as f64);
            assert_eq!(filter.max(), 100.0, "{round}");
        }
        // Rounds 4 to 13 are the last ten; the highest remaining sample is that of round 12.
        filter.take(13, 40.0);
        assert_eq!(filter.max(), 62.0);
        // A pause discards nothing until there is a new sample.
        assert_eq!(filter.max(), 62.0);
        filter.take(1_000, 7.0);
        assert_eq!(filter.max(), 7.0);
    }

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        for (bandwidth, full) in
            [(100.0, false), (125.0, false), (156.0, false), (150.0, false), (156.2, true)]
        {
            pipe.judge(bandwidth, true);
            assert_eq!(pipe.reached, full, "{bandwidth}");
        }
        // Growth by a quarter restarts the count; nothing is counted within a round.
        let mut pipe = FullPipe::default();
        for (bandwidth, begins) in
            [(100.0, true), (110.0, true), (120.0, true), (130.0, true), (140.0, true)]
        {
            pipe.judge(bandwidth, begins);
        }
        (0..9).for_each(|_| pipe.judge(140.0, false));
        assert!(!pipe.reached);
        pipe.judge(140.0, true);
        pipe.judge(140.0, true);
        assert!(pipe.reached && pipe.now);
        pipe.reset(0.0);
        assert!(pipe.reached && !pipe.now);
    }

    #[test]
    fn the_bandwidth_delay_product_is_rounded_up() {
        let mut min = MinRtt::default();
        assert_eq!(min.bdp(1_000.0, 2.0, 10), 10);
        min.set(Duration::from_ms(10), Instant::ZERO);
        // 10 packets, 12.5 and 20.
        assert_eq!([1.0, 1.25, 2.0].map(|gain| min.bdp(1_000.0, gain, 10)), [10, 13, 20]);
    }

    #[test]
    fn idle_is_longer_than_pacing() {
        let at = |ms: u64| Instant(ms * 1_000_000_000);
        let mut idle = Idle { empty: true, ..Idle::default() };
        let gap = Duration::from_ms(10);
        assert!(idle.on_send(at(5), gap));
        // The second packet is sent with one in flight, the third when pacing allows it.
        idle.restarted = false;
        assert!(!idle.on_send(at(100), gap));
        idle.empty = true;
        assert!(!idle.on_send(at(110), gap));
        idle.empty = true;
        assert!(idle.on_send(at(131), gap) && idle.restarted);
    }
}
