//! Treatment of the window after the application had nothing to send for a while.

use floodway_model::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Treatment of the window after an idle time longer than the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleRestart {
    /// Halve it for every timeout that has passed, down to the initial window (RFC 2861; Linux:
    /// `tcp_slow_start_after_idle`).
    Halve,
    /// Reduce it to the initial window, if it was larger (RFC 5681, section 4.1).
    Initial,
    /// Keep it (Linux with `tcp_slow_start_after_idle` 0).
    Keep,
}

impl IdleRestart {
    /// Number of halvings after an idle time above the timeout; `None` if the window does not
    /// change.
    pub(super) fn halvings(self, idle: Duration, timeout: Duration) -> Option<u32> {
        match self {
            // As Linux counts: once for the beginning of each timeout after the first.
            Self::Halve => {
                Some((idle.0 - 1).checked_div(timeout.0).unwrap_or(u64::MAX).min(64) as u32)
            }
            Self::Initial => Some(u32::MAX),
            Self::Keep => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tcp_cwnd_restart`: `while ((delta -= rto) > 0 && cwnd > restart_cwnd) cwnd >>= 1`.
    #[test]
    fn halvings_are_those_of_linux() {
        let timeout = Duration::from_ms(200);
        for (idle, halvings) in [(201, 1), (400, 1), (401, 2), (600, 2), (601, 3), (2_000, 9)] {
            let mut linux = 0;
            let mut delta = idle - 200;
            while delta > 0 {
                linux += 1;
                delta -= 200;
            }
            assert_eq!(linux, halvings);
            let idle = Duration::from_ms(idle as u64);
            assert_eq!(IdleRestart::Halve.halvings(idle, timeout), Some(halvings));
            assert_eq!(IdleRestart::Initial.halvings(idle, timeout), Some(u32::MAX));
            assert_eq!(IdleRestart::Keep.halvings(idle, timeout), None);
        }
    }
}
