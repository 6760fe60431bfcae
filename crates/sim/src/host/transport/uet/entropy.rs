//! Choice of the entropy value of each packet of Ultra Ethernet. Switches that hash over it send packets
//! with different values over different paths, so that the sender sprays them. Ultra Ethernet leaves the
//! choice open (section 3.6.16). These are the algorithms of uet-htsim, in `uec_mp.cpp`.

use std::collections::VecDeque;

use floodway_model::check::{Check, Findings};
use floodway_model::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Number of entropy values of a flow, a power of two. Default 64 (uet-htsim; Ultra Ethernet,
    /// section 3.6.5.2: 64 to 256 are usual). 1 sends all packets of a flow over one path.
    pub values: u32,
    /// How the value of the next packet is chosen. Default `mixed` (uet-htsim).
    pub choice: Choice,
    /// Penalty of a value whose packet arrived with CE. Default 1 (uet-htsim).
    pub mark_penalty: u8,
    /// Penalty of a value whose packet was trimmed in the fabric. A packet that was trimmed at the port
    /// of its destination tells nothing about paths. Default 4 (uet-htsim).
    pub trim_penalty: u8,
    /// Penalty of a value whose packet was not acknowledged in time. Default 15 (uet-htsim).
    pub timeout_penalty: u8,
    /// Maximum penalty of a value. Default 15 (uet-htsim).
    pub max_penalty: u8,
}

/// How the entropy value of the next packet is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// All values one after the other, in an order that changes after each pass.
    Oblivious,
    /// The same, without values that have a penalty. The first of them that is skipped for a packet has
    /// its penalty lowered by 1.
    Bitmap,
    /// A value that an acknowledgement reported without a mark, each once and the first one first;
    /// without one, any value. Before the first feedback, as `oblivious`.
    Recycle,
    /// A value as in `recycle`; without one, as in `bitmap`.
    #[default]
    Mixed,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            values: 64,
            choice: Choice::default(),
            mark_penalty: 1,
            trim_penalty: 4,
            timeout_penalty: 15,
            max_penalty: 15,
        }
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "a packet has 16 bits of entropy; usual are 64";
        findings.range("values", self.values, 1..=1 << 16, why);
        if self.values > 0 && !self.values.is_power_of_two() {
            findings.error(
                "values",
                format!("`values` is {}, which is no power of two", self.values),
                format!("write {}, or remove it for 64", self.values.next_power_of_two()),
            );
        }
        for (field, penalty) in [
            ("mark_penalty", self.mark_penalty),
            ("trim_penalty", self.trim_penalty),
            ("timeout_penalty", self.timeout_penalty),
        ] {
            findings.at_most(
                (field, penalty),
                ("max_penalty", self.max_penalty),
                "lower the first, or raise the second: the maximum is usually 15",
            );
        }
    }
}

/// State of one flow.
#[derive(Debug)]
pub struct Entropy {
    spec: Spec,
    rng: Stream,
    /// Number of values used in this pass, and the mask that sets its order.
    walked: u32,
    mask: u32,
    /// By value: its penalty; empty until there is one.
    penalties: Vec<u8>,
    /// Values that may be used again.
    good: VecDeque<u16>,
    /// Whether there has been feedback.
    is_answered: bool,
}

impl Entropy {
    /// State of a new flow.
    pub fn new(spec: &Spec, seed: u64) -> Self {
        Self {
            spec: spec.clone(),
            rng: Stream::from_seed(seed),
            walked: 0,
            mask: 0,
            penalties: Vec::new(),
            good: VecDeque::new(),
            is_answered: false,
        }
    }

    /// The value of the next packet.
    pub fn draw(&mut self) -> u16 {
        let values = self.spec.values;
        if values <= 1 {
            return 0;
        }
        match self.spec.choice {
            Choice::Oblivious => self.walk(),
            Choice::Bitmap => self.walk_around(),
            Choice::Recycle => match self.good.pop_front() {
                Some(value) => value,
                None if self.is_answered => self.rng.below(values.into()) as u16,
                None => self.walk(),
            },
            Choice::Mixed => match self.good.pop_front() {
                Some(value) => value,
                None => self.walk_around(),
            },
        }
    }

    /// The next value in the order of this pass.
    fn walk(&mut self) -> u16 {
        let values = self.spec.values;
        if self.walked.is_multiple_of(values) {
            (self.walked, self.mask) = (0, self.rng.below(values.into()) as u32);
        }
        let value = (self.walked ^ self.mask) as u16;
        self.walked += 1;
        value
    }

    /// The next value without a penalty; if all have one, the next value.
    fn walk_around(&mut self) -> u16 {
        let first = self.walk();
        let Some(penalty) = self.penalties.get_mut(usize::from(first)).filter(|at| **at > 0) else {
            return first;
        };
        *penalty -= 1;
        for _ in 1..self.spec.values {
            let value = self.walk();
            if self.penalties[usize::from(value)] == 0 {
                return value;
            }
        }
        first
    }

    fn punish(&mut self, value: u16, penalty: u8) {
        if !matches!(self.spec.choice, Choice::Bitmap | Choice::Mixed) {
            return;
        }
        if self.penalties.is_empty() {
            self.penalties = vec![0; self.spec.values as usize];
        }
        if let Some(old) = self.penalties.get_mut(usize::from(value)) {
            *old = old.saturating_add(penalty).min(self.spec.max_penalty);
        }
    }

    /// A packet with this value has arrived, or was trimmed only at the port of its destination.
    pub fn on_arrived(&mut self, value: u16, marked: bool) {
        self.is_answered = true;
        if marked {
            self.punish(value, self.spec.mark_penalty);
        } else if self.spec.values > 1
            && matches!(self.spec.choice, Choice::Recycle | Choice::Mixed)
        {
            self.good.push_back(value);
        }
    }

    /// A packet with this value was trimmed in the fabric.
    pub fn on_trimmed(&mut self, value: u16) {
        self.is_answered = true;
        self.punish(value, self.spec.trim_penalty);
    }

    /// A packet with this value was not acknowledged in time.
    pub fn on_timeout(&mut self, value: u16) {
        self.punish(value, self.spec.timeout_penalty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entropy(values: u32, choice: Choice) -> Entropy {
        Entropy::new(&Spec { values, choice, ..Spec::default() }, 3)
    }

    fn next(entropy: &mut Entropy, count: usize) -> Vec<u16> {
        (0..count).map(|_| entropy.draw()).collect()
    }

    #[test]
    fn each_pass_uses_every_value_once_in_another_order() {
        let mut entropy = entropy(8, Choice::Oblivious);
        let passes: Vec<_> = (0..20).map(|_| next(&mut entropy, 8)).collect();
        for pass in &passes {
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
            // The order is that of counting, with some bits inverted.
            assert!((0..8).all(|n| pass[n] == n as u16 ^ pass[0]));
        }
        assert!(passes.iter().any(|pass| pass != &passes[0]));
    }

    #[test]
    fn one_value_is_the_path_of_the_flow() {
        for choice in [Choice::Oblivious, Choice::Bitmap, Choice::Recycle, Choice::Mixed] {
            let mut entropy = entropy(1, choice);
            entropy.on_arrived(0, false);
            entropy.on_trimmed(0);
            assert_eq!(next(&mut entropy, 9), [0; 9]);
        }
    }

    #[test]
    fn a_value_with_a_penalty_is_skipped_as_often_as_it_is_high() {
        let mut entropy = entropy(8, Choice::Bitmap);
        entropy.on_trimmed(5);
        // A pass over eight values has seven others. Each lowers the penalty of 4 by 1, after which the
        // value is used again: in 28 packets never, and in the next 8 once.
        assert!(!next(&mut entropy, 28).contains(&5));
        let used = next(&mut entropy, 8);
        assert_eq!(used.iter().filter(|value| **value == 5).count(), 1);
        // Penalties add up to the maximum.
        for _ in 0..9 {
            entropy.on_timeout(2);
        }
        assert_eq!(entropy.penalties, [0, 0, 15, 0, 0, 0, 0, 0]);
        entropy.on_arrived(1, true);
        entropy.on_arrived(1, true);
        entropy.on_arrived(3, false);
        assert_eq!(entropy.penalties, [0, 2, 15, 0, 0, 0, 0, 0]);
        // If all have penalties, packets still go.
        (0..8).for_each(|value| entropy.on_timeout(value));
        assert!(entropy.draw() < 8);
    }

    #[test]
    fn good_values_are_used_again_once_and_in_order() {
        for choice in [Choice::Recycle, Choice::Mixed] {
            let mut entropy = entropy(8, choice);
            next(&mut entropy, 8);
            for (value, marked) in [(6, false), (2, true), (1, false), (6, false)] {
                entropy.on_arrived(value, marked);
            }
            assert_eq!(next(&mut entropy, 3), [6, 1, 6]);
            let penalty = entropy.penalties.get(2).copied();
            assert_eq!(penalty, (choice == Choice::Mixed).then_some(1));
        }
    }
}
