//! An adaptive interactive application: a video conference, a panoramic video that follows its
//! viewer, or remote control. Frames are generated at regular intervals and handed to the
//! transport; their size adapts to the rate that the transport can carry. The metric is the age of
//! a frame on arrival.
//!
//! Real applications differ in their encoders and rate controllers. This one is as simple as
//! possible and our own (assumed): its rate is a fraction of window over round-trip time,
//! approached slowly from below and immediately from above. A frame is skipped while an earlier one
//! has not been sent completely.

use floodway_model::check::{Check, Findings, LONGEST_RUN, rough_bytes};
use floodway_model::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the interactive application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Time between frames. Default 20ms: 50 frames per second (assumed).
    pub frame_interval: Duration,
    /// Initial encoder rate, in payload. Default 2Mbps (assumed).
    pub start_rate: Rate,
    /// Minimum encoder rate. Default 500kbps (assumed).
    pub min_rate: Rate,
    /// Maximum encoder rate. Default 10Mbps (assumed).
    pub max_rate: Rate,
    /// Fraction of the transport's rate (window over round-trip time) that the encoder uses, above
    /// 0 and at most 1. Default 0.8 (assumed).
    pub utilization: f64,
    /// Maximum relative increase of the rate from one frame to the next. Default 0.02: it doubles
    /// in 35 frames (assumed).
    pub growth: f64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            frame_interval: Duration::from_ms(20),
            start_rate: Rate::from_mbps(2),
            min_rate: Rate(500_000),
            max_rate: Rate::from_mbps(10),
            utilization: 0.8,
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
        findings.weight("utilization", self.utilization, "for example 0.8");
        findings.range("growth", self.growth, 0.0.., "0.02 doubles the rate in 35 frames");
    }
}

/// Larger than any encoded picture; segments are numbered in 32 bits.
const LARGEST_FRAME: Bytes = Bytes(1_000_000_000);

/// A frame that was handed to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Time at which it was generated.
    pub made: Instant,
    /// Payload in bytes.
    pub bytes: u64,
    /// Number of its last segment.
    pub last: u32,
}

/// State of one application.
#[derive(Debug)]
pub struct State {
    /// Frames that were generated.
    pub frames: Vec<Frame>,
    /// Number of skipped frames.
    pub skipped: u64,
    /// Encoder rate in bit/s.
    rate: f64,
    /// Time of the next frame.
    next: Instant,
    /// Time from which no more frames are generated.
    stop: Instant,
}

impl State {
    /// An application that begins now and generates no frames from `stop` on.
    pub fn new(spec: &Spec, now: Instant, stop: Instant) -> Self {
        let rate = spec.start_rate.0 as f64;
        Self { frames: Vec::new(), skipped: 0, rate, next: now, stop }
    }

    /// Time of the next frame; [`Instant::NEVER`] if there is none.
    pub fn due(&self) -> Instant {
        if self.next < self.stop { self.next } else { Instant::NEVER }
    }

    /// Generates the frame that is due. Returns its size in bytes, or `None` if it is skipped
    /// because `unsent` bytes of earlier frames have not been sent. `carries` is the transport's
    /// rate in bit/s of payload, `None` if it is not known yet.
    pub fn make(&mut self, spec: &Spec, carries: Option<f64>, unsent: u64) -> Option<u64> {
        self.next += spec.frame_interval;
        if let Some(carries) = carries {
            let grown = self.rate * (1.0 + spec.growth);
            let (least, most) = (spec.min_rate.0 as f64, spec.max_rate.0 as f64);
            self.rate = (carries * spec.utilization).min(grown).clamp(least, most);
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
        let spec = Spec { utilization: 0.5, growth: 0.1, ..Spec::default() };
        let mut application = State::new(&spec, Instant::ZERO, Instant::NEVER);
        // 2 Mb/s for 20 ms are 5000 bytes.
        assert_eq!(application.make(&spec, None, 0), Some(5_000));
        // Half of 20 Mb/s, limited to a tenth more than before.
        assert_eq!(application.make(&spec, Some(20e6), 0), Some(5_500));
        // Half of 3 Mb/s, immediately.
        assert_eq!(application.make(&spec, Some(3e6), 0), Some(3_750));
        // Never below the minimum.
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
