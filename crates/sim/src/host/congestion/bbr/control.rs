//! The controls common to all versions of BBR: the pacing rate, the window with a saved value to
//! restore, and ProbeRTT.

use floodway_model::{Duration, Instant};

use super::super::{Ack, Path, Phase, RateSample};
use super::model::{Rounds, sample};

/// The pacing rate.
#[derive(Debug)]
pub struct Pacing {
    line_rate: f64,
    /// Bits of a full packet on the wire.
    wire: f64,
    /// Fraction of a rate that remains after the pacing margin.
    share: f64,
    /// Pacing rate in bit/s on the wire.
    pub rate: f64,
    seen_rtt: bool,
}

impl Pacing {
    /// Initial rate of a flow: `gain` times its initial window per millisecond (Linux).
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

    /// At least one packet per second, so that there is something to measure.
    fn of(&self, bandwidth: f64, gain: f64) -> f64 {
        (bandwidth * self.wire * gain * self.share).max(self.wire)
    }

    /// The first round-trip time replaces the initial assumption of 1 ms.
    pub fn on_rtt(&mut self, window: u32, rtt: Duration, gain: f64) {
        if !self.seen_rtt && rtt > Duration::ZERO {
            self.seen_rtt = true;
            let seconds = rtt.max(Duration::from_us(1)).as_secs();
            self.rate = self.of(f64::from(window) / seconds, gain);
        }
    }

    /// Sets the rate from a bandwidth. Until the pipe has been full once, the rate only increases.
    pub fn set(&mut self, bandwidth: f64, gain: f64, full: bool) {
        let rate = self.of(bandwidth, gain);
        if full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Value of [`super::super::Control::rate`].
    pub fn asked(&self) -> Option<f64> {
        (self.rate < self.line_rate).then_some(self.rate)
    }

    /// The send quantum, in packets of `payload` bytes: what is sent in a millisecond
    /// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2) and `more` bytes, at most 64
    /// KB and at least `least`. Here packets are paced one by one; the quantum is the unit in which
    /// BBR leaves room in the window for bursts in the hosts.
    pub fn quantum(&self, payload: u64, more: u64, least: u32) -> u32 {
        let bytes = self.rate / self.wire * payload as f64 * 1e-3 + more as f64;
        ((bytes.min(65_535.0) / payload as f64) as u32).max(least)
    }

    /// Time between two packets.
    pub fn gap(&self) -> Duration {
        Duration((self.wire / self.rate * 1e12) as u64)
    }
}

/// Whether losses have temporarily reduced the window.
pub fn recovers(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Loss)
}

/// The window, in packets.
#[derive(Debug)]
pub struct Window {
    /// Maximum number of packets in flight.
    pub packets: u32,
    /// The last good window, from before a loss or ProbeRTT.
    saved: u32,
}

impl Window {
    /// Initial window of a flow.
    pub fn new(packets: u32) -> Self {
        Self { packets, saved: 0 }
    }

    /// Saves the window, or the larger of window and saved value if the window is reduced already
    /// (`cut`).
    pub fn save(&mut self, cut: bool) {
        self.saved = if cut { self.saved.max(self.packets) } else { self.packets };
    }

    /// Restores the saved window.
    pub fn restore(&mut self) {
        self.packets = self.packets.max(self.saved);
    }

    /// The saved window.
    pub fn saved(&self) -> u32 {
        self.saved
    }
}

/// ProbeRTT: keeps few packets in flight for a while, so that the queue drains and the round-trip
/// time without queueing can be measured.
#[derive(Debug, Default)]
pub struct ProbeRtt {
    until: Option<Instant>,
    round_done: bool,
    /// Packets sent within this range of delivered counts carry no information about the bandwidth.
    slow: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Begins ProbeRTT.
    pub fn begin(&mut self, rounds: &Rounds) {
        self.until = None;
        self.slow = Some((rounds.delivered, rounds.delivered));
    }

    /// Processes an acknowledgement during ProbeRTT. Returns whether it ends: `time` and a round
    /// have passed with at most `target` packets in flight.
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

    /// Whether the time with few packets in flight is over.
    pub fn over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now > until)
    }

    /// Whether a sample is limited by the application or by ProbeRTT and not by the network.
    pub fn limits(&self, sample: &RateSample) -> bool {
        let sent = sample.prior_delivered;
        sample.app_limited || self.slow.is_some_and(|(first, last)| (first..=last).contains(&sent))
    }

    /// [`ProbeRtt::limits`] for the sample of an acknowledgement, if it has one.
    pub fn limits_ack(&self, ack: &Ack) -> bool {
        sample(ack).is_some_and(|sample| self.limits(sample))
    }
}
