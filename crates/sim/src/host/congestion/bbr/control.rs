//! What every version of BBR controls, and how: the pacing rate, the window with one that it
//! comes back to, and the visits to an empty queue.

use floodway_model::{Duration, Instant};

use super::super::{Ack, Path, Phase, RateSample};
use super::model::{Rounds, sample};

/// The pacing rate.
#[derive(Debug)]
pub struct Pacing {
    line_rate: f64,
    /// Bits of a full packet on the wire.
    wire: f64,
    /// What is left of a rate after the margin.
    share: f64,
    /// Bits per second on the wire.
    pub rate: f64,
    seen_rtt: bool,
}

impl Pacing {
    /// The rate of a flow that begins: its initial window, `gain` times, per millisecond (Linux).
    pub fn new(path: &Path, gain: f64, margin: f64) -> Self {
        let mut pacing = Self {
            line_rate: path.line_rate.0 as f64,
            wire: path.wire as f64 * 8.0,
            share: 1.0 - margin,
            rate: 0.0,
            seen_rtt: false,
        };
        let millisecond = Duration::from_ms(1).as_secs();
        pacing.rate = pacing.of(f64::from(path.initial_window) / millisecond, gain);
        pacing
    }

    /// Never less than a packet per second, so that there is something to measure.
    fn of(&self, bandwidth: f64, gain: f64) -> f64 {
        (bandwidth * self.wire * gain * self.share).max(self.wire)
    }

    /// The first round-trip time replaces the millisecond.
    pub fn on_rtt(&mut self, window: u32, rtt: Duration, gain: f64) {
        if !self.seen_rtt && rtt > Duration::ZERO {
            self.seen_rtt = true;
            let seconds = rtt.max(Duration::from_us(1)).as_secs();
            self.rate = self.of(f64::from(window) / seconds, gain);
        }
    }

    /// Sets the rate from a bandwidth; before the pipe was full once it only grows.
    pub fn set(&mut self, bandwidth: f64, gain: f64, full: bool) {
        let rate = self.of(bandwidth, gain);
        if full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// The answer to [`super::super::Control::rate`].
    pub fn asked(&self) -> Option<f64> {
        (self.rate < self.line_rate).then_some(self.rate)
    }

    /// Time between two packets.
    pub fn gap(&self) -> Duration {
        Duration((self.wire / self.rate * 1e12) as u64)
    }
}

/// Whether losses have cut the window for a while.
pub fn recovers(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Loss)
}

/// The window, in packets.
#[derive(Debug)]
pub struct Window {
    /// How many may be in flight.
    pub packets: u32,
    /// The last one known to be good, from before a loss or a visit to the empty queue.
    saved: u32,
}

impl Window {
    /// The window of a flow that begins.
    pub fn new(packets: u32) -> Self {
        Self { packets, saved: 0 }
    }

    /// Remembers the window, or the larger of two if it is `cut` already.
    pub fn save(&mut self, cut: bool) {
        self.saved = if cut { self.saved.max(self.packets) } else { self.packets };
    }

    /// Goes back to what was remembered.
    pub fn restore(&mut self) {
        self.packets = self.packets.max(self.saved);
    }

    /// What was remembered.
    pub fn saved(&self) -> u32 {
        self.saved
    }
}

/// ProbeRTT: little in flight for a while, so that the queue empties and the round-trip time
/// without it can be seen.
#[derive(Debug, Default)]
pub struct ProbeRtt {
    until: Option<Instant>,
    round_done: bool,
    /// Packets sent when so many were delivered tell nothing of the bandwidth.
    slow: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// It begins.
    pub fn begin(&mut self, rounds: &Rounds) {
        self.until = None;
        self.slow = Some((rounds.delivered, rounds.delivered));
    }

    /// An acknowledgement while it lasts. Whether it ends: `time` and a round have passed with no
    /// more than `target` in flight.
    pub fn on_ack(&mut self, ack: &Ack, rounds: &mut Rounds, target: u32, time: Duration) -> bool {
        if let Some((_, last)) = &mut self.slow {
            *last = rounds.delivered.saturating_add(ack.in_flight.into());
        }
        if self.until.is_some() {
            self.round_done |= rounds.begins;
            return self.round_done && self.over(ack.now);
        }
        if ack.in_flight <= target {
            self.until = Some(ack.now + time);
            self.round_done = false;
            rounds.restart();
        }
        false
    }

    /// Whether the time with little in flight is over.
    pub fn over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now > until)
    }

    /// Whether a sample tells of the application, or of ProbeRTT, instead of the network.
    pub fn limits(&self, sample: &RateSample) -> bool {
        let sent = sample.prior_delivered;
        sample.app_limited || self.slow.is_some_and(|(first, last)| (first..=last).contains(&sent))
    }

    /// [`ProbeRtt::limits`] for the sample of an acknowledgement, if it has one.
    pub fn limits_ack(&self, ack: &Ack) -> bool {
        sample(ack).is_some_and(|sample| self.limits(sample))
    }
}
