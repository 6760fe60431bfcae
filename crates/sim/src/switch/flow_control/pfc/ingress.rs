//! PFC by the ingress counter: each (port, class) against XOFF and XON by itself.

use floodway_model::id::CLASSES;

use super::{Order, Source, Spec};

#[derive(Debug)]
pub(super) struct Meter {
    paused: Vec<bool>,
}

impl Meter {
    pub fn new(ports: usize) -> Self {
        Self { paused: vec![false; ports * CLASSES] }
    }

    #[inline]
    pub fn on_enqueue(&mut self, spec: &Spec, source: Source, held: u64, orders: &mut Vec<Order>) {
        if held > spec.xoff.0 && !self.paused[source.index()] && spec.covers(source.class() as u8) {
            self.paused[source.index()] = true;
            orders.push(Order::Pause(source));
        }
    }

    #[inline]
    pub fn on_dequeue(&mut self, spec: &Spec, source: Source, held: u64, orders: &mut Vec<Order>) {
        if held <= spec.xon.0 && self.paused[source.index()] {
            self.paused[source.index()] = false;
            orders.push(Order::Resume(source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pause_and_one_resume_per_excursion() {
        let (spec, source) = (Spec::default(), Source::new(3, 1));
        let (mut meter, mut orders) = (Meter::new(4), Vec::new());
        for held in [750_000, 750_001, 760_000] {
            meter.on_enqueue(&spec, source, held, &mut orders);
        }
        for held in [750_000, 4_001, 4_000, 0] {
            meter.on_dequeue(&spec, source, held, &mut orders);
        }
        assert_eq!(orders, [Order::Pause(source), Order::Resume(source)]);
    }
}
