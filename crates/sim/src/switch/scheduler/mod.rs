//! Transmission selection (IEEE 802.1Q clause 8.6.8): which data queue sends next.
//!
//! Link control frames and then the control queue come before all data, whatever the scheduler.

pub mod drr;
pub mod strict;
pub mod time_shifted;
pub mod wrr;

use floodway_model::Duration;

use crate::link::Link;

floodway_model::family! {
    /// Which data queue sends next.
    "switch.scheduler":
    Strict = "strict" (strict::Spec): "The lowest-numbered queue that can send goes first.",
    Drr = "drr" (drr::Spec):
        "Deficit round robin: queues share the link by weight, in bytes, below any strict ones.",
    Wrr = "wrr" (wrr::Spec):
        "Two queues share the link by weight, the low latency one first (Linux, sch_dualpi2).",
    TimeShifted = "time_shifted" (time_shifted::Spec):
        "Of two queues, the head that has waited longer, low latency as if it had come earlier.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Drr(drr::Spec::default())
    }
}

/// What a scheduler remembers of one port.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    drr: drr::State,
    wrr: wrr::State,
}

impl State {
    /// Nothing has been sent to the link.
    pub fn new(spec: &Spec, link: &Link) -> Self {
        let largest = u64::from(link.largest_frame) + u64::from(link.wire_overhead);
        let wrr = match spec {
            Spec::Wrr(spec) => wrr::State::new(spec, largest),
            _ => wrr::State::default(),
        };
        Self { wrr, ..Self::default() }
    }
}

impl Spec {
    /// The queue that sends next. `heads[q]` is the wire length of the frame at the head of queue
    /// q, 0 if that queue has none or may not send. At least one is not 0. `sojourn(q)` is how
    /// long that frame has waited, for a scheduler that [needs times](Self::needs_times).
    #[inline]
    pub fn select(
        &self,
        heads: &[u32],
        sojourn: impl Fn(usize) -> Duration,
        state: &mut State,
    ) -> usize {
        match self {
            Self::Strict(_) => strict::select(heads),
            Self::Drr(spec) => spec.select(heads, &mut state.drr),
            Self::Wrr(spec) => spec.select(heads, &mut state.wrr),
            Self::TimeShifted(spec) => spec.select(heads, sojourn),
        }
    }

    /// The frame of that wire length for which `queue` was selected last is dropped, not sent: it
    /// costs the queue nothing.
    pub fn take_back(&self, queue: usize, length: u32, state: &mut State) {
        match self {
            Self::Strict(_) | Self::TimeShifted(_) => {}
            Self::Drr(spec) => spec.take_back(queue, length, &mut state.drr),
            Self::Wrr(spec) => spec.take_back(&mut state.wrr),
        }
    }

    /// Whether it asks how long packets have waited, so that queues must keep their arrival times.
    pub const fn needs_times(&self) -> bool {
        match self {
            Self::Strict(_) | Self::Drr(_) | Self::Wrr(_) => false,
            Self::TimeShifted(_) => true,
        }
    }

    /// The part of its port's rate that a queue gets among those whose bits are set in `waiting`,
    /// of `count` queues: its weight, and the sum of all weights. A queue with strict priority
    /// counts as alone, and so does one whose turn depends on times.
    pub fn share(&self, queue: usize, waiting: u8, count: u8) -> (u64, u64) {
        match self {
            Self::Strict(_) | Self::TimeShifted(_) => (1, 1),
            Self::Drr(spec) => spec.share(queue, waiting, count),
            Self::Wrr(spec) => spec.share(queue, waiting),
        }
    }
}
