//! Transmission selection (IEEE 802.1Q clause 8.6.8): which data queue sends next.
//!
//! Link control frames, and then the control queue, have priority over all data, whatever the
//! scheduler.

#[cfg(test)]
mod conformance;
pub mod drr;
pub mod strict;
pub mod time_shifted;
pub mod wrr;

use floodway_model::Duration;
use floodway_model::check::Findings;

use super::check::Facts;
use crate::link::Link;

floodway_model::family! {
    /// Which data queue sends next.
    "switch.scheduler" with Scheduler {
        new(link: &Link);
        parameters {
            needs_times() -> bool;
            check_beside(facts: &Facts<'_>, findings: &mut Findings<'_>);
            share(queue: usize, waiting: u8, count: u8) -> (u64, u64);
        }
        state {}
        mut state {
            select(heads: &[u32], sojourn: impl Fn(usize) -> Duration) -> usize;
            take_back(queue: usize, length: u32);
        }
    }
    Strict = "strict" in strict: "The lowest-numbered queue that can send goes first.",
    Drr = "drr" in drr:
        "Deficit round robin: queues share the link by weight, in bytes, below any strict ones.",
    Wrr = "wrr" in wrr:
        "Two queues share the link by weight, the low latency one first (Linux, sch_dualpi2).",
    TimeShifted = "time_shifted" in time_shifted:
        "Of two queues, the head that has waited longer, low latency as if it had come earlier.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Drr(drr::Spec::default())
    }
}

/// The scheduler of one port. The state of a stateless scheduler is its parameters.
pub trait Scheduler {
    /// Its parameters.
    type Spec;

    /// Whether it uses sojourn times, so that queues must record arrival times.
    fn needs_times(_spec: &Self::Spec) -> bool {
        false
    }

    /// Checks that it is compatible with the queues and the other mechanisms.
    fn check_beside(_spec: &Self::Spec, _facts: &Facts<'_>, _findings: &mut Findings<'_>) {}

    /// The share of the port rate that a queue gets when the queues in the bit set `waiting` are
    /// backlogged, of `count` queues: its weight, and the sum of all weights. A queue with strict
    /// priority counts as if alone, and so does one that is selected by sojourn time.
    fn share(_spec: &Self::Spec, _queue: usize, _waiting: u8, _count: u8) -> (u64, u64) {
        (1, 1)
    }

    /// Initial state for a link.
    fn new(spec: &Self::Spec, link: &Link) -> Self;

    /// The queue that sends next. `heads[q]` is the wire length in bytes of the frame at the head
    /// of queue q, 0 if that queue is empty or may not send. At least one is not 0. `sojourn(q)` is
    /// the sojourn time of that frame, for a scheduler that [needs times](Self::needs_times).
    fn select(&mut self, heads: &[u32], sojourn: impl Fn(usize) -> Duration) -> usize;

    /// The frame of this wire length, for which `queue` was last selected, is dropped instead of
    /// sent: it must not count toward the share of the queue.
    fn take_back(&mut self, _queue: usize, _length: u32) {}
}
