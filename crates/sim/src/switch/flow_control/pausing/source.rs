//! Pauses by ingress: the occupancy of every source is compared with XOFF and XON separately.

use floodway_model::id::CLASSES;

use super::{Order, Source, Thresholds};

/// The sources that have exceeded XOFF and not yet fallen to XON.
#[derive(Debug)]
pub struct Meter {
    paused: Vec<bool>,
}

impl Meter {
    /// Initial state for a switch with this many ports.
    pub fn new(ports: usize) -> Self {
        Self { paused: vec![false; ports * CLASSES] }
    }

    /// Whether a source has exceeded XOFF and not yet fallen to XON.
    #[inline]
    pub fn is_paused(&self, source: Source) -> bool {
        self.paused[source.index()]
    }

    /// A packet has arrived, after which `source` holds `held` bytes.
    #[inline]
    pub fn on_enqueue(
        &mut self,
        thresholds: Thresholds,
        source: Source,
        held: u64,
        orders: &mut Vec<Order>,
    ) {
        if held > thresholds.xoff.0 && !self.paused[source.index()] {
            self.paused[source.index()] = true;
            orders.push(Order::Pause(source));
        }
    }

    /// A packet has left, after which `source` holds `held` bytes.
    #[inline]
    pub fn on_dequeue(
        &mut self,
        thresholds: Thresholds,
        source: Source,
        held: u64,
        orders: &mut Vec<Order>,
    ) {
        if held <= thresholds.xon.0 && self.paused[source.index()] {
            self.paused[source.index()] = false;
            orders.push(Order::Resume(source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Bytes;

    #[test]
    fn one_pause_and_one_resume_per_excursion() {
        let thresholds = Thresholds { xoff: Bytes(750_000), xon: Bytes(4_000) };
        let source = Source::new(3, 1);
        let (mut meter, mut orders) = (Meter::new(4), Vec::new());
        for held in [750_000, 750_001, 760_000] {
            meter.on_enqueue(thresholds, source, held, &mut orders);
        }
        for held in [750_000, 4_001, 4_000, 0] {
            meter.on_dequeue(thresholds, source, held, &mut orders);
        }
        assert_eq!(orders, [Order::Pause(source), Order::Resume(source)]);
    }
}
