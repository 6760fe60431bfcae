//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995): each queue in turn may send as
//! many bytes as its deficit counter holds, which grows by the quantum at each of its turns.

use floodway_model::Bytes;
use floodway_model::id::CLASSES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Bytes (on the wire) that a queue of weight 1 may send at each turn; at least one frame of
    /// the largest size keeps the cost of a decision constant. Default 1500B.
    pub quantum: Bytes,
    /// Weights of the queues, from queue 0; a queue without one has weight 1. Default none.
    pub weights: Vec<u32>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { quantum: Bytes(1_500), weights: Vec::new() }
    }
}

/// The round at one port.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Whose turn it is.
    turn: u8,
    /// Whether that queue has had its quantum for this turn.
    served: bool,
    deficit: [u32; CLASSES],
}

impl Spec {
    /// See [`super::Spec::select`].
    #[inline]
    pub fn select(&self, heads: &[u32], state: &mut State) -> usize {
        // Ends: every round adds at least one byte of deficit to some queue that can send.
        loop {
            let queue = usize::from(state.turn);
            if heads[queue] > 0 {
                if !state.served {
                    let weight = self.weights.get(queue).copied().unwrap_or(1);
                    state.deficit[queue] += self.quantum.0 as u32 * weight;
                    state.served = true;
                }
                if state.deficit[queue] >= heads[queue] {
                    state.deficit[queue] -= heads[queue];
                    return queue;
                }
            } else {
                // A queue that cannot send keeps no credit for later (section 3 of the paper).
                state.deficit[queue] = 0;
            }
            state.turn = if queue + 1 == heads.len() { 0 } else { state.turn + 1 };
            state.served = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(spec: &Spec, heads: &[u32], rounds: usize) -> Vec<u64> {
        let mut state = State::default();
        let mut sent = vec![0; heads.len()];
        for _ in 0..rounds {
            let queue = spec.select(heads, &mut state);
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
    fn a_queue_alone_has_the_link() {
        assert_eq!(shares(&Spec::default(), &[0, 9000], 10), [0, 90_000]);
    }
}
