//! Time-shifted first in, first out: of two heads, the one with the longer sojourn time goes first,
//! where packets of the low latency queue count as if they had arrived earlier by a constant (RFC
//! 9332 appendix A.1, which leaves the scheduler open and describes this one).

use floodway_model::Duration;
use floodway_model::check::{Check, Findings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scheduler;
use crate::link::Link;
use crate::switch::check::Facts;
use crate::switch::classify::ecn::{CLASSIC, LOW_LATENCY};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much the sojourn time of a packet of queue 1 must exceed that of a packet of queue 0 for
    /// it to go first. Default 50ms (draft-ietf-tsvwg-aqm-dualq-coupled-10 in ns-3; the first Linux
    /// module has 40ms, twice its target).
    pub shift: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Self { shift: Duration::from_ms(50) }
    }
}

impl Check for Spec {}

/// Stateless: the parameters are all it needs.
pub type State = Spec;

impl Scheduler for Spec {
    type Spec = Self;

    fn needs_times(_: &Self) -> bool {
        true
    }

    fn check_beside(_: &Self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_two_queues(findings);
        if facts.switch.flow_control.bfc.is_some() {
            findings.error(
                ["", "/switch.flow_control.bfc"],
                format!(
                    "`{}` needs the waiting times of head packets, and with Backpressure Flow Control no times are kept",
                    findings.path("")
                ),
                "choose [switch.scheduler.wrr], or remove [switch.flow_control.bfc]",
            );
        }
    }

    fn new(spec: &Self, _: &Link) -> Self {
        spec.clone()
    }

    #[inline]
    fn select(&mut self, heads: &[u32], sojourn: impl Fn(usize) -> Duration) -> usize {
        if heads[CLASSIC] == 0 {
            return LOW_LATENCY;
        }
        let shifted = || Duration(sojourn(LOW_LATENCY).0.saturating_add(self.shift.0));
        if heads[LOW_LATENCY] > 0 && shifted() >= sojourn(CLASSIC) { LOW_LATENCY } else { CLASSIC }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_by_hand() {
        let mut spec = Spec::default();
        let mut select = |heads: [u32; 2], waited_ms: [u64; 2]| {
            spec.select(&heads, |queue| Duration::from_ms(waited_ms[queue]))
        };
        // A queue alone is selected, whatever the times.
        assert_eq!(select([84, 0], [0, 0]), LOW_LATENCY);
        assert_eq!(select([0, 84], [0, 0]), CLASSIC);
        // The classic queue goes first if its packet is more than 50 ms older.
        let mut both = |waited| select([84, 84], waited);
        assert_eq!([both([0, 49]), both([0, 50]), both([0, 51])], [0, 0, 1]);
        assert_eq!([both([7, 57]), both([7, 58])], [0, 1]);
    }

    #[test]
    fn without_shift_it_is_one_queue() {
        let mut spec = Spec { shift: Duration::ZERO };
        // Arrival times at the two queues in ms; each packet takes 1 ms to send.
        let arrivals: [&[u64]; 2] = [&[1, 2, 6], &[0, 3, 4]];
        let mut next = [0; 2];
        let order: Vec<usize> = (6..12)
            .map(|now| {
                let heads = [0, 1].map(|queue| u32::from(next[queue] < arrivals[queue].len()));
                let waited = |queue: usize| Duration::from_ms(now - arrivals[queue][next[queue]]);
                let queue = spec.select(&heads, waited);
                next[queue] += 1;
                queue
            })
            .collect();
        assert_eq!(order, [1, 0, 0, 1, 1, 0]);
    }
}
