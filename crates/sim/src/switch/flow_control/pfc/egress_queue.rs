//! PFC by the egress queue: when a queue passes XOFF, every source with bytes in it is paused, and
//! so is every further one that adds to it, until it has fallen to XON. A source that several
//! queues hold is resumed when the last of them lets go.

use floodway_model::id::CLASSES;

use super::{Charge, Order, Source, Spec};

#[derive(Debug)]
pub(super) struct Meter {
    sources: usize,
    queues: usize,
    /// `bytes[queue * sources + source]`, queues counted over all ports.
    bytes: Vec<u32>,
    /// The same places: this queue holds this source paused.
    holds: Vec<bool>,
    /// By queue: above XOFF and not yet down to XON.
    over: Vec<bool>,
    /// By source: how many queues hold it.
    holders: Vec<u16>,
}

impl Meter {
    pub fn new(ports: usize, queues: usize) -> Self {
        let sources = ports * CLASSES;
        let all_queues = ports * queues;
        Self {
            sources,
            queues,
            bytes: vec![0; all_queues * sources],
            holds: vec![false; all_queues * sources],
            over: vec![false; all_queues],
            holders: vec![0; sources],
        }
    }

    #[inline]
    fn queue(&self, charge: &Charge) -> usize {
        charge.egress.0 * self.queues + charge.egress.1
    }

    #[inline]
    pub fn on_enqueue(
        &mut self,
        spec: &Spec,
        charge: Charge,
        backlog: u64,
        orders: &mut Vec<Order>,
    ) {
        let queue = self.queue(&charge);
        self.bytes[queue * self.sources + charge.source.index()] += u32::from(charge.bytes);
        if self.over[queue] {
            self.hold(queue, charge.source.index(), orders);
        } else if backlog > spec.xoff.0 && spec.covers(charge.egress.1 as u8) {
            self.over[queue] = true;
            for source in 0..self.sources {
                if self.bytes[queue * self.sources + source] > 0 {
                    self.hold(queue, source, orders);
                }
            }
        }
    }

    fn hold(&mut self, queue: usize, source: usize, orders: &mut Vec<Order>) {
        let place = queue * self.sources + source;
        if self.holds[place] {
            return;
        }
        self.holds[place] = true;
        self.holders[source] += 1;
        if self.holders[source] == 1 {
            orders.push(Order::Pause(Source(source as u32)));
        }
    }

    #[inline]
    pub fn on_dequeue(
        &mut self,
        spec: &Spec,
        charge: Charge,
        backlog: u64,
        orders: &mut Vec<Order>,
    ) {
        let queue = self.queue(&charge);
        self.bytes[queue * self.sources + charge.source.index()] -= u32::from(charge.bytes);
        if !self.over[queue] || backlog > spec.xon.0 {
            return;
        }
        self.over[queue] = false;
        for source in 0..self.sources {
            let place = queue * self.sources + source;
            if std::mem::take(&mut self.holds[place]) {
                self.holders[source] -= 1;
                if self.holders[source] == 0 {
                    orders.push(Order::Resume(Source(source as u32)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Bytes;

    fn charge(port: usize, class: usize, egress: usize, bytes: u16) -> Charge {
        Charge { source: Source::new(port, class), egress: (egress, 0), bytes }
    }

    #[test]
    fn contributors_are_paused_until_the_last_queue_lets_go() {
        let spec = Spec { xoff: Bytes(3_000), xon: Bytes(500), ..Spec::default() };
        let (mut meter, mut orders) = (Meter::new(4, 2), Vec::new());
        let (first, second) = (Source::new(1, 0), Source::new(2, 1));
        meter.on_enqueue(&spec, charge(1, 0, 0, 2_000), 2_000, &mut orders);
        assert_eq!(orders, []);
        // Port 2 pushes queue (0, 0) over XOFF: both have bytes in it.
        meter.on_enqueue(&spec, charge(2, 1, 0, 2_000), 4_000, &mut orders);
        assert_eq!(std::mem::take(&mut orders), [Order::Pause(first), Order::Pause(second)]);
        // A second queue holds the first source too: nothing more to say.
        meter.on_enqueue(&spec, charge(1, 0, 3, 4_000), 4_000, &mut orders);
        assert_eq!(orders, []);
        // Somebody new adds to a queue that is over: paused at once.
        meter.on_enqueue(&spec, charge(3, 0, 0, 100), 4_100, &mut orders);
        assert_eq!(std::mem::take(&mut orders), [Order::Pause(Source::new(3, 0))]);
        // Queue (0, 0) drains: the first source stays held by the other one.
        meter.on_dequeue(&spec, charge(1, 0, 0, 2_000), 2_100, &mut orders);
        meter.on_dequeue(&spec, charge(2, 1, 0, 2_000), 100, &mut orders);
        let third = Source::new(3, 0);
        assert_eq!(std::mem::take(&mut orders), [Order::Resume(second), Order::Resume(third)]);
        meter.on_dequeue(&spec, charge(1, 0, 3, 4_000), 0, &mut orders);
        assert_eq!(orders, [Order::Resume(first)]);
    }
}
