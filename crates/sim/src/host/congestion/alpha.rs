//! The smoothed share of packets that arrived with CE: what DCTCP and Prague know of a queue.

use super::Ack;

/// Where the usual weight of a new observation is from.
pub const WEIGHT: &str = "RFC 8257 has 0.0625 (1/16)";

/// Alpha of RFC 8257, section 3.3, as a number from 0 to 1. Linux's DCTCP keeps it in steps of
/// 1/1024 and so loses all of it below 16/1024 when no packet is marked for a round trip, which is
/// not in the RFC and not here.
#[derive(Clone, Copy, Debug)]
pub struct Alpha {
    value: f64,
    /// Packets since the last update.
    delivered: u64,
    marked: u64,
}

impl Alpha {
    /// Before anything has arrived.
    pub const fn new(value: f64) -> Self {
        Self { value, delivered: 0, marked: 0 }
    }

    /// Its value.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// Counts what has arrived.
    #[inline]
    pub fn count(&mut self, ack: &Ack) {
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.marked);
    }

    /// What was counted is a new observation, which has the weight `g`.
    pub fn update(&mut self, g: f64) {
        if self.delivered > 0 {
            // DCTCP's feedback may count a packet again that a selective acknowledgement has told.
            let fraction = (self.marked as f64 / self.delivered as f64).min(1.0);
            self.value += g * (fraction - self.value);
        }
        self.forget();
    }

    /// Begins to count again.
    pub fn forget(&mut self) {
        (self.delivered, self.marked) = (0, 0);
    }
}
