//! An adaptive interactive application: a video conference, a panoramic video that follows its
//! viewer, or a remote control. A frame is made at regular times and handed to the transport; how
//! large it is follows what the transport can carry. What counts is how old a frame is when it has
//! arrived.
//!
//! Which encoders and rate controllers such applications have differs; this one is as simple as it
//! can be and ours (assumed): a part of window over round-trip time, approached slowly from below
//! and at once from above, and a frame is left out while an earlier one is not sent completely.

use floodway_model::check::{Check, Findings, LONGEST_RUN, rough_bytes};
use floodway_model::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time between two frames. Default 20ms: 50 frames per second (assumed).
    pub frame_interval: Duration,
    /// The rate of the encoder at the beginning, in payload. Default 2Mbps (assumed).
    pub start_rate: Rate,
    /// The lowest rate of the encoder. Default 500kbps (assumed).
    pub min_rate: Rate,
    /// The highest rate of the encoder. Default 10Mbps (assumed).
    pub max_rate: Rate,
    /// The part of the transport's rate, window over round-trip time, that the encoder fills, above
    /// 0 and at most 1. Default 0.8 (assumed).
    pub utilisation: f64,
    /// The part by which the rate grows at most from one frame to the next. Default 0.02: it
    /// doubles in 35 frames (assumed).
    pub growth: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            frame_interval: Duration::from_ms(20),
            start_rate: Rate::from_mbps(2),
            min_rate: Rate(500_000),
            max_rate: Rate::from_mbps(10),
            utilisation: 0.8,
            growth: 0.02,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let interval = self.frame_interval;
        findings.positive("frame_interval", interval, "20ms are 50 frames per second");
        findings.within_a_run("frame_interval", interval);
        let why = "from zero it could not grow; for example \"500kbps\"";
        findings.positive("min_rate", self.min_rate, why);
        if !(self.min_rate..=self.max_rate).contains(&self.start_rate) {
            findings.error(
                ["start_rate", "max_rate", "min_rate"],
                format!(
                    "the encoder would begin at {}, and its rates are {} to {}",
                    self.start_rate, self.min_rate, self.max_rate
                ),
                "set `start_rate` from `min_rate` to `max_rate`",
            );
        }
        let bytes = self.max_rate.bytes_in(interval);
        if bytes > LARGEST_FRAME && interval <= LONGEST_RUN {
            findings.error(
                "max_rate",
                format!("at {} a frame every {interval} has {}", self.max_rate, rough_bytes(bytes)),
                format!("frames have at most {}: lower `max_rate`", rough_bytes(LARGEST_FRAME)),
            );
        }
        findings.weight("utilisation", self.utilisation, "for example 0.8");
        findings.range("growth", self.growth, 0.0.., "0.02 doubles the rate in 35 frames");
    }
}

/// More than any encoder makes of one picture; segments are numbered in 32 bits.
const LARGEST_FRAME: Bytes = Bytes(1_000_000_000);

/// One frame that was handed to the transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// When it was made.
    pub made: Instant,
    /// Its payload in bytes.
    pub bytes: u64,
    /// The number of the segment with which it ends.
    pub last: u32,
}

/// One application.
#[derive(Debug)]
pub struct State {
    /// The frames that it made.
    pub frames: Vec<Frame>,
    /// The frames that it left out.
    pub skipped: u64,
    /// The encoder's rate, bits per second.
    rate: f64,
    /// When the next frame is due.
    next: Instant,
    /// When the last one has been made.
    stop: Instant,
}

impl State {
    /// An application that begins now, and makes no frame from `stop` on.
    pub fn new(spec: &Spec, now: Instant, stop: Instant) -> Self {
        let rate = spec.start_rate.0 as f64;
        Self { frames: Vec::new(), skipped: 0, rate, next: now, stop }
    }

    /// When the next frame is due; [`Instant::NEVER`] if there is none.
    pub fn due(&self) -> Instant {
        if self.next < self.stop { self.next } else { Instant::NEVER }
    }

    /// The frame that is due: its bytes, or `None` if it is left out because `unsent` bytes of
    /// earlier ones have not been sent. `carries` is the transport's rate in payload bits per
    /// second, `None` if it does not know yet.
    pub fn make(&mut self, spec: &Spec, carries: Option<f64>, unsent: u64) -> Option<u64> {
        self.next += spec.frame_interval;
        if let Some(carries) = carries {
            let grown = self.rate * (1.0 + spec.growth);
            let (least, most) = (spec.min_rate.0 as f64, spec.max_rate.0 as f64);
            self.rate = (carries * spec.utilisation).min(grown).clamp(least, most);
        }
        if unsent > 0 {
            self.skipped += 1;
            return None;
        }
        Some(((self.rate * spec.frame_interval.as_secs() / 8.0) as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_what_the_transport_carries() {
        let spec = Spec { utilisation: 0.5, growth: 0.1, ..Spec::default() };
        let mut application = State::new(&spec, Instant::ZERO, Instant::NEVER);
        // 2 Mb/s for 20 ms are 5000 bytes.
        assert_eq!(application.make(&spec, None, 0), Some(5_000));
        // Half of 20 Mb/s, but only a tenth more than before.
        assert_eq!(application.make(&spec, Some(20e6), 0), Some(5_500));
        // Half of 3 Mb/s, at once.
        assert_eq!(application.make(&spec, Some(3e6), 0), Some(3_750));
        // Never below the least.
        assert_eq!(application.make(&spec, Some(1e3), 0), Some(1_250));
        assert_eq!(application.due(), Instant::ZERO + spec.frame_interval * 4);
    }

    #[test]
    fn a_frame_is_left_out_while_another_waits() {
        let spec = Spec::default();
        let stop = Instant::ZERO + spec.frame_interval * 3;
        let mut application = State::new(&spec, Instant::ZERO, stop);
        assert_eq!(application.make(&spec, None, 1), None);
        assert_eq!(application.make(&spec, None, 0), Some(5_000));
        assert_eq!(application.make(&spec, None, 1), None);
        assert_eq!((application.skipped, application.due()), (2, Instant::NEVER));
    }
}
