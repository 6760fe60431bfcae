//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995): queues are visited in round-robin
//! order. At each visit the deficit counter of the queue grows by its quantum, and the queue may
//! send as many bytes as the counter holds.
//!
//! The first queues may have strict priority over the round robin, a combination that switches
//! offer (enhanced transmission selection, IEEE 802.1Q clause 8.6.8.3, shares what strict priority
//! leaves).

use floodway_model::check::{Check, Findings};
use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scheduler;
use crate::link::Link;
use crate::switch::check::{Facts, there_are};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Bytes on the wire that a queue of weight 1 may send per round. With at least one frame of
    /// the largest size, the cost of a decision is constant. Default 1500B.
    pub quantum: Bytes,
    /// Weights of the queues, starting with queue 0. A queue without a weight has weight 1; the
    /// weight of a queue with strict priority is ignored. Default none.
    pub weights: Vec<u32>,
    /// Number of queues with strict priority, starting with queue 0: the lowest-numbered one that
    /// can send goes first, and the other queues share the rest of the link. Default 0.
    pub strict: u8,
}

impl Default for Spec {
    fn default() -> Self {
        Self { quantum: Bytes(1_500), weights: Vec::new(), strict: 0 }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("quantum", self.quantum, "1500B, about a frame, is usual");
        if let Some(queue) = self.weights.iter().position(|&weight| weight == 0) {
            findings.error(
                &format!("weights.{queue}"),
                format!("the weight of queue {queue} is 0, so it would never send"),
                "write at least 1",
            );
        }
        let heaviest = self.weights.iter().copied().max().unwrap_or(1);
        if u128::from(self.quantum.0) * u128::from(heaviest) > LARGEST_TURN {
            findings.error(
                ["quantum", "weights"],
                format!("a quantum of {} times the weight {heaviest} is too long", self.quantum),
                "keep quantum times weight below 1 GB; a frame's length is enough",
            );
        }
    }
}

/// The bytes of a round are counted in 32 bits.
const LARGEST_TURN: u128 = 1_000_000_000;

impl Spec {
    /// The weight of a queue.
    fn weight(&self, queue: usize) -> u32 {
        self.weights.get(queue).copied().unwrap_or(1)
    }
}

/// Scheduler state of one port.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The queue that the round robin has reached.
    turn: u8,
    /// Whether that queue has received its quantum in this round.
    served: bool,
    /// Number of queues with strict priority.
    strict: u8,
    /// By queue: bytes that it may still send in this round.
    deficit: [u32; CLASSES],
    /// By queue: bytes added to its deficit in each round.
    quantum: [u32; CLASSES],
}

impl Scheduler for State {
    type Spec = Spec;

    fn share(spec: &Spec, queue: usize, waiting: u8, count: u8) -> (u64, u64) {
        let strict = usize::from(spec.strict);
        if queue < strict {
            return (1, 1);
        }
        let shares = |other: &usize| *other == queue || waiting >> other & 1 != 0;
        let others = (strict..usize::from(count)).filter(shares);
        let all: u64 = others.map(|other| u64::from(spec.weight(other))).sum();
        (spec.weight(queue).into(), all)
    }

    fn check_beside(spec: &Spec, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let (count, there_are) = (facts.switch.queue.count, there_are(facts.switch.queue.count));
        if spec.weights.len() > usize::from(count) {
            let message = format!("there are {} weights, but {there_are}", spec.weights.len());
            findings.error("weights", message, "write one weight for each queue, or fewer");
        }
        if spec.strict > count {
            let message = format!("{} queues have strict priority, but {there_are}", spec.strict);
            let remedy = format!("write at most {count}, for strict priority among all");
            findings.error("strict", message, remedy);
        }
    }

    fn new(spec: &Spec, _: &Link) -> Self {
        let quantum = std::array::from_fn(|queue| spec.quantum.0 as u32 * spec.weight(queue));
        Self { turn: 0, served: false, strict: spec.strict, deficit: [0; CLASSES], quantum }
    }

    #[inline]
    fn select(&mut self, heads: &[u32], _: impl Fn(usize) -> Duration) -> usize {
        let prior = usize::from(self.strict);
        if let Some(queue) = heads[..prior].iter().position(|&head| head > 0) {
            return queue;
        }
        // Terminates: every round adds at least one byte of deficit to some queue that can send.
        loop {
            let queue = usize::from(self.turn);
            if heads[queue] > 0 {
                if !self.served {
                    self.deficit[queue] += self.quantum[queue];
                    self.served = true;
                }
                if self.deficit[queue] >= heads[queue] {
                    self.deficit[queue] -= heads[queue];
                    return queue;
                }
            } else {
                // A queue that cannot send keeps no credit for later (section 3 of the paper).
                self.deficit[queue] = 0;
            }
            self.turn = if queue + 1 == heads.len() { 0 } else { self.turn + 1 };
            self.served = false;
        }
    }

    fn take_back(&mut self, queue: usize, length: u32) {
        if queue >= usize::from(self.strict) {
            self.deficit[queue] += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(spec: &Spec) -> State {
        State::new(spec, &Link::PLAIN)
    }

    fn select(state: &mut State, heads: &[u32]) -> usize {
        state.select(heads, |_| Duration::ZERO)
    }

    fn shares(spec: &Spec, heads: &[u32], rounds: usize) -> Vec<u64> {
        let mut state = state(spec);
        let mut sent = vec![0; heads.len()];
        for _ in 0..rounds {
            let queue = select(&mut state, heads);
            sent[queue] += u64::from(heads[queue]);
        }
        sent
    }

    #[test]
    fn bytes_are_shared_whatever_the_packet_sizes() {
        let sent = shares(&Spec::default(), &[1106, 84], 10_000);
        let ratio = sent[0] as f64 / sent[1] as f64;
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn weights_count() {
        let spec = Spec { weights: vec![3, 1], ..Spec::default() };
        let sent = shares(&spec, &[1106, 1106], 10_000);
        let ratio = sent[0] as f64 / sent[1] as f64;
        assert!((ratio - 3.0).abs() < 0.03, "{ratio}");
    }

    #[test]
    fn the_share_is_of_those_that_wait() {
        let spec = Spec { weights: vec![3, 1, 4], ..Spec::default() };
        let share = |queue, waiting, count| State::share(&spec, queue, waiting, count);
        assert_eq!(share(0, 0b001, 3), (3, 3));
        assert_eq!(share(1, 0b111, 3), (1, 8));
        // The queue in question counts whether or not it is backlogged; queues beyond `count` do
        // not.
        assert_eq!(share(1, 0b1_000_100, 3), (1, 5));
        let strict = Spec { strict: 1, ..spec.clone() };
        assert_eq!(State::share(&strict, 0, 0b111, 3), (1, 1));
        assert_eq!(State::share(&strict, 2, 0b111, 3), (4, 5));
    }

    #[test]
    fn strict_queues_go_first_and_the_others_share_what_is_left() {
        let spec = Spec { strict: 2, weights: vec![9, 9, 3, 1], ..Spec::default() };
        let mut state = state(&spec);
        assert_eq!(select(&mut state, &[64, 1106, 1106, 1106]), 0);
        assert_eq!(select(&mut state, &[0, 1106, 1106, 1106]), 1);
        // Strict priority takes every second transmission; the rest is still shared 3 to 1.
        let mut sent = [0; 4];
        for round in 0..20_000 {
            let prior = if round % 2 == 0 { 1106 } else { 0 };
            sent[select(&mut state, &[0, prior, 1106, 1106])] += 1;
        }
        assert_eq!(sent[..2], [0, 10_000]);
        let ratio = f64::from(sent[2]) / f64::from(sent[3]);
        assert!((ratio - 3.0).abs() < 0.03, "{ratio}");
    }

    #[test]
    fn all_strict_is_strict_priority() {
        let spec = Spec { strict: 2, ..Spec::default() };
        assert_eq!(shares(&spec, &[84, 1106], 10), [840, 0]);
        assert_eq!(shares(&spec, &[0, 1106], 10), [0, 11_060]);
    }

    #[test]
    fn what_is_dropped_costs_nothing() {
        let mut state = state(&Spec::default());
        // The quantum of 1500 is enough for one frame of 1000. Each frame dropped gives its deficit
        // back, so the next one is sent; then the other queue is served.
        for _ in 0..5 {
            assert_eq!(select(&mut state, &[1000, 1000]), 0);
            state.take_back(0, 1000);
        }
        assert_eq!(select(&mut state, &[1000, 1000]), 0);
        assert_eq!(select(&mut state, &[1000, 1000]), 1);
    }

    #[test]
    fn a_queue_alone_has_the_link() {
        assert_eq!(shares(&Spec::default(), &[0, 9000], 10), [0, 90_000]);
    }
}
