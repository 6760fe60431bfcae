//! Bitrate by the playback buffer: BBA-0 (Huang, Johari, McKeown, Trunnell and Watson, "A
//! Buffer-Based Approach to Rate Adaptation: Evidence from a Large Video Streaming Service", SIGCOMM
//! 2014, Algorithm 1).
//!
//! A line maps the buffer to bitrates: from the lowest one at the end of the reservoir to the highest
//! one at the end of the cushion. The bitrate changes only when the line passes the next one above or
//! below, so a small change of the buffer does not change it.

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Content up to which the lowest bitrate is requested. Default 90s (BBA-0).
    pub reservoir: Duration,
    /// Content above the reservoir at which the highest bitrate is requested. Default 126s: up to
    /// 216s, 90 % of a buffer of 240s (BBA-0).
    pub cushion: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self { reservoir: Duration::from_ms(90_000), cushion: Duration::from_ms(126_000) }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.within_a_run("reservoir", self.reservoir);
        findings.within_a_run("cushion", self.cushion);
        let why = "without a cushion the bitrate would be the lowest or the highest one";
        findings.positive("cushion", self.cushion, why);
    }
}

impl Spec {
    /// The bitrate of the next segment.
    pub fn choose(&self, view: View<'_>) -> Rate {
        let (least, most) = (view.least(), view.most());
        if view.buffer <= self.reservoir {
            return least;
        }
        if view.buffer >= self.reservoir + self.cushion {
            return most;
        }
        let above = (view.buffer.0 - self.reservoir.0) as f64 / self.cushion.0 as f64;
        let map = least.0 as f64 + above * (most.0 - least.0) as f64;
        let previous = view.past.last().map_or(least, |segment| segment.bitrate);
        // The next bitrate above; at the top, and at the bottom below, the bitrate itself.
        let mut rates = view.ladder.iter().copied();
        let up = rates.clone().find(|rate| *rate > previous).unwrap_or(most);
        let down = rates.clone().rev().find(|rate| *rate < previous).unwrap_or(least);
        if map >= up.0 as f64 {
            rates.rev().find(|rate| (rate.0 as f64) < map).unwrap_or(least)
        } else if map <= down.0 as f64 {
            rates.find(|rate| rate.0 as f64 > map).unwrap_or(most)
        } else {
            previous
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Segment;
    use super::*;
    use floodway_model::Instant;

    /// Bitrates of 1, 2, 4 and 8 Mb/s, a reservoir of 10 s and a cushion of 70 s: 0.1 Mb/s a second.
    #[test]
    fn the_map_and_its_steps_by_hand() {
        let ladder = [1, 2, 4, 8].map(Rate::from_mbps);
        let spec =
            Spec { reservoir: Duration::from_ms(10_000), cushion: Duration::from_ms(70_000) };
        let choose = |previous: u64, seconds: f64| {
            let segment = Segment {
                requested: Instant::ZERO,
                bitrate: Rate::from_mbps(previous),
                bytes: 1,
                last: 0,
                acknowledged: None,
            };
            let buffer = Duration((seconds * 1e12) as u64);
            spec.choose(View { ladder: &ladder, past: &[segment], buffer }).0 / 1_000_000
        };
        // The reservoir, and what is above the cushion.
        assert_eq!((choose(8, 10.0), choose(1, 80.0)), (1, 8));
        // The map has 1.9 Mb/s at 19 s and 2.1 Mb/s at 21 s: the next rung is reached between them.
        assert_eq!((choose(1, 19.0), choose(1, 21.0)), (1, 2));
        // 4.5 Mb/s at 45 s, from a low rung: the highest one below.
        assert_eq!((choose(1, 45.0), choose(2, 45.0)), (4, 4));
        // From 8 Mb/s, 4.5 Mb/s at 45 s is still above the next rung below; 3.9 Mb/s at 39 s is not,
        // and the lowest rung above the map is 4.
        assert_eq!((choose(8, 45.0), choose(8, 39.0)), (8, 4));
        // From 8 Mb/s, 1.5 Mb/s at 15 s: the lowest rung above.
        assert_eq!(choose(8, 15.0), 2);
        // From 2 Mb/s, 1.5 Mb/s at 15 s: above the next rung below, so it stays.
        assert_eq!(choose(2, 15.0), 2);
    }
}
