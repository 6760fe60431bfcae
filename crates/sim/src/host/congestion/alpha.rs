//! Alpha of DCTCP and Prague: the smoothed fraction of packets that arrive with CE.

use super::Ack;

/// Source of the usual weight of a new observation.
pub const WEIGHT: &str = "RFC 8257 has 0.0625 (1/16)";

/// Alpha of RFC 8257, section 3.3, as a number from 0 to 1. Linux's DCTCP stores it in steps of
/// 1/1024 and therefore drops to zero from below 16/1024 when no packet is marked for a round trip.
/// This is not in the RFC and not modeled here.
#[derive(Clone, Copy, Debug)]
pub struct Alpha {
    value: f64,
    /// Packets delivered since the last update.
    delivered: u64,
    marked: u64,
}

impl Alpha {
    /// With the given initial value.
    pub const fn new(value: f64) -> Self {
        Self { value, delivered: 0, marked: 0 }
    }

    /// Current value.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// Counts delivered and marked packets.
    #[inline]
    pub fn count(&mut self, ack: &Ack) {
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.marked);
    }

    /// Ends the current observation and adds it to the average with weight `g`.
    pub fn update(&mut self, g: f64) {
        if self.delivered > 0 {
            // DCTCP's feedback may count a packet again that a selective acknowledgement has
            // already reported.
            let fraction = (self.marked as f64 / self.delivered as f64).min(1.0);
            self.value += g * (fraction - self.value);
        }
        self.forget();
    }

    /// Discards the current observation and starts a new one.
    pub fn forget(&mut self) {
        (self.delivered, self.marked) = (0, 0);
    }
}
