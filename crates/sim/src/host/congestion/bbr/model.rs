//! What every version of BBR measures: packet-timed rounds, the bandwidth, the round-trip time
//! without queues, whether the pipe is full, how far acknowledgements come in bunches, and whether
//! the flow was idle. Bandwidths are packets per second, amounts in flight packets.

use floodway_model::{Duration, Instant};

use super::super::{Ack, RateSample};

/// The sample of an acknowledgement, if it has one that can be used.
pub fn sample(ack: &Ack) -> Option<&RateSample> {
    ack.rate.as_ref().filter(|sample| sample.interval > Duration::ZERO)
}

/// Whole packets, rounded up; what is a whole number but for the rounding of a product stays it.
pub fn packets(amount: f64) -> u32 {
    (amount - 1e-6).ceil() as u32
}

/// Rounds: one ends when a packet is acknowledged that was sent after it began.
#[derive(Debug, Default)]
pub struct Rounds {
    /// All packets delivered so far.
    pub delivered: u64,
    /// Rounds so far.
    pub count: u64,
    /// Whether the last acknowledgement began one.
    pub begins: bool,
    /// The round ends with a packet sent when so many were delivered, or more.
    end: u64,
}

impl Rounds {
    /// Counts what has been delivered and finds out whether a round begins.
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

    /// Lets the round begin now: it ends with a packet that is sent from now on.
    pub fn restart(&mut self) {
        self.end = self.delivered;
    }
}

/// Rounds over which version 1 takes the maximum: a cycle of eight phases and two more.
const ROUNDS: usize = 10;

/// The highest bandwidth of the last ten rounds. Rounds pass only when a sample is taken, so that
/// what is known stays known while the application sends little.
#[derive(Debug, Default)]
pub struct MaxFilter {
    rounds: [f64; ROUNDS],
    last: u64,
    max: f64,
}

impl MaxFilter {
    /// Takes a sample of this round.
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

/// The shortest round-trip time, until it is too old.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinRtt {
    /// `None` before the first sample.
    pub value: Option<Duration>,
    /// When it was seen last.
    pub at: Instant,
}

impl MinRtt {
    /// Whether it is older than `window`.
    pub fn expired(&self, now: Instant, window: Duration) -> bool {
        self.value.is_some() && now > self.at + window
    }

    /// Replaces it.
    pub fn set(&mut self, rtt: Duration, now: Instant) {
        (self.value, self.at) = (Some(rtt), now);
    }

    /// Packets in flight that carry `bandwidth` over it, `gain` times, rounded up; the initial
    /// window as long as nothing is known (Linux).
    pub fn bdp(&self, bandwidth: f64, gain: f64, initial_window: u32) -> u32 {
        match self.value {
            Some(rtt) => packets(bandwidth * rtt.as_secs() * gain),
            None => initial_window,
        }
    }
}

/// Whether the pipe is full: three rounds in which the bandwidth did not grow by a quarter.
#[derive(Debug, Default)]
pub struct FullPipe {
    /// It was found to be full once.
    pub reached: bool,
    /// It was found to be full since the last [`FullPipe::reset`].
    pub now: bool,
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Judges a bandwidth; only where a round begins may it count as one without growth.
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

    /// Begins to judge anew, compared with this bandwidth.
    pub fn reset(&mut self, baseline: f64) {
        (self.baseline, self.rounds, self.now) = (baseline, 0, false);
    }
}

/// How many more packets than expected are acknowledged at a time, the maximum of the last one to
/// two windows of rounds: so much more may be in flight, or the pipe runs dry between two bunches
/// (Linux, `extra_acked`).
#[derive(Debug, Default)]
pub struct Aggregation {
    since: Instant,
    acked: u64,
    max: [u32; 2],
    age: u32,
}

impl Aggregation {
    /// Compares what has come since the bunch began with what the bandwidth would have brought.
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

    /// Begins to count anew.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0);
    }

    /// Packets that may be in flight for it, at most what the bandwidth carries in 100 ms.
    pub fn allowance(&self, bandwidth: f64, gain: f64) -> u32 {
        let extra = f64::from(self.max[0].max(self.max[1]));
        (extra * gain).min(bandwidth * 0.1) as u32
    }
}

/// Notices that a flow sends again after it had nothing to send: nothing was in flight, and it
/// waited longer than pacing asked it to.
#[derive(Debug, Default)]
pub struct Idle {
    empty: bool,
    paced_until: Instant,
    /// It has restarted, and nothing has been acknowledged since.
    pub restarted: bool,
}

impl Idle {
    /// A packet is sent, after which pacing waits for `gap`. Whether it ends an idle time.
    pub fn on_send(&mut self, now: Instant, gap: Duration) -> bool {
        let restarts = std::mem::take(&mut self.empty) && now > self.paced_until;
        self.restarted |= restarts;
        // A rate that changes in between moves the next packet somewhat; twice the gap is not that.
        self.paced_until = now + gap + gap;
        restarts
    }

    /// An acknowledgement has been seen to.
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
        // Rounds 4 to 13 are ten; the highest of the rest is that of round 12.
        filter.take(13, 40.0);
        assert_eq!(filter.max(), 62.0);
        // A pause forgets nothing until there is something new.
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
        // Growth by a quarter begins the count again, and within a round nothing is counted.
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
        // The next is sent with one in flight, the third when pacing lets it.
        idle.restarted = false;
        assert!(!idle.on_send(at(100), gap));
        idle.empty = true;
        assert!(!idle.on_send(at(110), gap));
        idle.empty = true;
        assert!(idle.on_send(at(131), gap) && idle.restarted);
    }
}
