//! Transmission selection: strict priority (IEEE 802.1Q clause 8.6.8.1) and deficit round robin
//! (Shreedhar and Varghese, SIGCOMM 1995).

use floodway_sim::switch::scheduler::Spec;

/// The round of one port.
#[derive(Debug, Default)]
pub struct Round {
    /// The queue whose turn it is.
    turn: usize,
    /// Whether it has got its quantum for this turn.
    credited: bool,
    deficit: [u64; 8],
}

impl Round {
    /// The queue that sends next. `heads[q]`: bytes on the wire of the frame at the head of queue
    /// q, `None` if it is empty or paused. At least one is something.
    pub fn select(&mut self, spec: &Spec, heads: &[Option<u64>]) -> usize {
        let first = |heads: &[Option<u64>]| heads.iter().position(Option::is_some);
        let drr = match spec {
            Spec::Strict(_) => return first(heads).expect("some queue can send"),
            Spec::Drr(drr) => drr,
            _ => unreachable!("`known::check` refuses it"),
        };
        if let Some(queue) = first(&heads[..drr.strict.into()]) {
            return queue;
        }
        loop {
            let queue = self.turn;
            match heads[queue] {
                None => self.deficit[queue] = 0,
                Some(length) => {
                    if !self.credited {
                        let weight = drr.weights.get(queue).copied().unwrap_or(1);
                        self.deficit[queue] += drr.quantum.0 * u64::from(weight);
                        self.credited = true;
                    }
                    if length <= self.deficit[queue] {
                        self.deficit[queue] -= length;
                        return queue;
                    }
                }
            }
            self.turn = (queue + 1) % heads.len();
            self.credited = false;
        }
    }
}
