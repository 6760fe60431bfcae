//! Weighted round robin with a credit: the low latency queue goes first until the classic queue has
//! fallen behind its share. This is the scheduler of Linux `sch_dualpi2`, which calls the weight
//! classic protection.
//!
//! The credit changes only while both queues can send. Each byte of the low latency queue adds the
//! weight of the classic queue, each byte of the classic queue subtracts the weight of the low
//! latency queue, and the sign determines which queue is next. Linux resets the credit when both
//! queues are empty; here it is unchanged, which can alter which of two packets goes first after an
//! idle period.

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
    /// Share of the link for queue 1, the classic queue, while both queues are backlogged, in
    /// percent, 1 to 99; the rest is for queue 0. Default 10 (Linux, sch_dualpi2).
    pub classic_weight: u8,
}

impl Default for Spec {
    fn default() -> Self {
        Self { classic_weight: 10 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "it is per cent of the link; with [switch.scheduler.strict] queue 0 has everything that it can use";
        findings.range("classic_weight", self.classic_weight, 1..=99, why);
    }
}

impl Spec {
    /// The weight of a queue in percent.
    fn weight(&self, queue: usize) -> i64 {
        let classic = i64::from(self.classic_weight);
        if queue == CLASSIC { classic } else { 100 - classic }
    }
}

/// Scheduler state of one port.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Which queue is next: the classic queue if above zero. In bytes times percent.
    credit: i64,
    /// The change of the credit by the last selected packet.
    change: i64,
    /// By queue: its weight in percent.
    weight: [i64; 2],
}

impl State {
    /// Initial state: the credit is the difference of the weights, times a full packet of `largest`
    /// bytes on the wire, so that the queue with the larger weight starts.
    fn of(spec: &Spec, largest: u64) -> Self {
        let weight = [0, 1].map(|queue| spec.weight(queue));
        Self { credit: largest as i64 * (weight[CLASSIC] - weight[LOW_LATENCY]), change: 0, weight }
    }
}

impl Scheduler for State {
    type Spec = Spec;

    fn share(spec: &Spec, queue: usize, waiting: u8, _: u8) -> (u64, u64) {
        let other = if queue == CLASSIC { LOW_LATENCY } else { CLASSIC };
        if waiting >> other & 1 == 0 { (1, 1) } else { (spec.weight(queue) as u64, 100) }
    }

    fn check_beside(_: &Spec, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_two_queues(findings);
    }

    fn new(spec: &Spec, link: &Link) -> Self {
        Self::of(spec, u64::from(link.largest_frame) + u64::from(link.wire_overhead))
    }

    #[inline]
    fn select(&mut self, heads: &[u32], _: impl Fn(usize) -> Duration) -> usize {
        let lengths = [heads[LOW_LATENCY], heads[CLASSIC]];
        let (queue, change) = match lengths.map(i64::from) {
            [0, _] => (CLASSIC, 0),
            [_, 0] => (LOW_LATENCY, 0),
            [length, _] if self.credit <= 0 => (LOW_LATENCY, self.weight[CLASSIC] * length),
            [_, length] => (CLASSIC, -self.weight[LOW_LATENCY] * length),
        };
        self.credit += change;
        self.change = change;
        queue
    }

    fn take_back(&mut self, _: usize, _: u32) {
        self.credit -= self.change;
        self.change = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queues selected, with frames of these lengths at the heads.
    fn turns(state: &mut State, heads: [u32; 2], count: usize) -> Vec<usize> {
        (0..count).map(|_| select(state, heads)).collect()
    }

    fn select(state: &mut State, heads: [u32; 2]) -> usize {
        state.select(&heads, |_| Duration::ZERO)
    }

    #[test]
    fn nine_to_one_by_hand() {
        let mut state = State::of(&Spec::default(), 1_500);
        // In full packets the credit starts at -80 and grows by 10: after eight packets it is 0,
        // the ninth makes it 10. One classic packet subtracts 90, and it is -80 again.
        let cycle = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(turns(&mut state, [1_500; 2], 20), [cycle, cycle].concat());
        assert_eq!(state.credit, -80 * 1_500);
    }

    #[test]
    fn alternate_with_equal_weights() {
        let mut state = State::of(&Spec { classic_weight: 50 }, 1_500);
        assert_eq!(turns(&mut state, [1_500; 2], 6), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn bytes_are_shared_by_weight_to_within_one_packet() {
        // wc·L - wl·C is the change of the credit since the start, and C is wc % of the sum minus a
        // hundredth of that change. The credit stays above -wl and at most wc full packets.
        for (weight, lengths) in [(10, [1_500, 1_500]), (10, [84, 1_500]), (30, [1_500, 700])] {
            let mut state = State::of(&Spec { classic_weight: weight }, 1_500);
            let mut sent = [0; 2];
            for _ in 0..10_000 {
                let queue = select(&mut state, lengths);
                sent[queue] += i64::from(lengths[queue]);
                let (classic, all) = (100 * sent[CLASSIC], sent[CLASSIC] + sent[LOW_LATENCY]);
                assert!((classic - i64::from(weight) * all).abs() <= 100 * 1_500, "{sent:?}");
            }
        }
    }

    #[test]
    fn the_credit_counts_only_while_both_wait() {
        let mut state = State::of(&Spec::default(), 1_500);
        assert_eq!(turns(&mut state, [1_500, 0], 100), vec![0; 100]);
        assert_eq!(turns(&mut state, [0, 1_500], 100), vec![1; 100]);
        assert_eq!(state.credit, -80 * 1_500);
    }

    #[test]
    fn what_is_dropped_costs_nothing() {
        let mut state = State::of(&Spec { classic_weight: 50 }, 1_500);
        for _ in 0..5 {
            assert_eq!(select(&mut state, [1_500; 2]), 0);
            state.take_back(0, 1_500);
        }
        assert_eq!(turns(&mut state, [1_500; 2], 2), [0, 1]);
    }

    #[test]
    fn the_share_is_the_weight_if_the_other_waits() {
        let share = |queue, waiting| State::share(&Spec::default(), queue, waiting, 2);
        assert_eq!([share(0, 0b11), share(1, 0b11)], [(90, 100), (10, 100)]);
        assert_eq!([share(0, 0b01), share(1, 0b00)], [(1, 1), (1, 1)]);
    }
}
