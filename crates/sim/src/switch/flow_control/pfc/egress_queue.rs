//! PFC by the egress queue: when a queue passes XOFF, every source with a packet in it is paused,
//! and so is every further one that adds to it, until it has fallen to XON. A source that several
//! queues hold is resumed when the last of them lets go.

use floodway_model::id::CLASSES;

use super::{Charge, Order, Source, Spec, source_of};
use crate::switch::queue::Queue;

#[derive(Debug)]
pub(super) struct Meter {
    queues: usize,
    /// By queue, over all ports: above XOFF and not yet down to XON.
    over: Vec<bool>,
    /// By queue: the sources that it holds paused; empty unless it is over.
    holds: Vec<Vec<Source>>,
    /// By source: how many queues hold it.
    holders: Vec<u16>,
}

impl Meter {
    pub fn new(ports: usize, queues: usize) -> Self {
        Self {
            queues,
            over: vec![false; ports * queues],
            holds: vec![Vec::new(); ports * queues],
            holders: vec![0; ports * CLASSES],
        }
    }

    #[inline]
    fn number(&self, charge: &Charge) -> usize {
        charge.egress.0 * self.queues + charge.egress.1
    }

    #[inline]
    pub fn on_enqueue(
        &mut self,
        spec: &Spec,
        charge: &Charge,
        queue: &Queue,
        orders: &mut Vec<Order>,
    ) {
        let number = self.number(charge);
        if self.over[number] {
            self.hold(spec, number, charge.source, orders);
        } else if queue.backlog() > spec.xoff.0 {
            self.over[number] = true;
            // Rare enough to look at every packet; keeping count of all sources is not.
            for queued in queue.iter() {
                self.hold(spec, number, source_of(&queued.packet), orders);
            }
        }
    }

    fn hold(&mut self, spec: &Spec, number: usize, source: Source, orders: &mut Vec<Order>) {
        if !spec.covers(source.class() as u8) || self.holds[number].contains(&source) {
            return;
        }
        self.holds[number].push(source);
        let holders = &mut self.holders[source.index()];
        *holders += 1;
        if *holders == 1 {
            orders.push(Order::Pause(source));
        }
    }

    #[inline]
    pub fn on_dequeue(
        &mut self,
        spec: &Spec,
        charge: &Charge,
        queue: &Queue,
        orders: &mut Vec<Order>,
    ) {
        let number = self.number(charge);
        if !self.over[number] || queue.backlog() > spec.xon.0 {
            return;
        }
        self.over[number] = false;
        for source in self.holds[number].drain(..) {
            let holders = &mut self.holders[source.index()];
            *holders -= 1;
            if *holders == 0 {
                orders.push(Order::Resume(source));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{
        Body, Bytes, Class, Dscp, Ecn, FlowId, Instant, NodeId, Packet, PortIx, Tos,
    };

    use crate::switch::queue::Queued;

    /// Queues with the meter beside them, as a switch keeps them.
    struct Bench {
        spec: Spec,
        meter: Meter,
        queues: [Queue; 4],
    }

    impl Bench {
        fn join(&mut self, port: u16, class: u8, egress: usize, bytes: u16) -> Vec<Order> {
            let packet = Packet {
                flow: FlowId(0),
                connection: 0,
                src: NodeId(0),
                dst: NodeId(1),
                bytes,
                ingress: PortIx(port),
                class: Class(class),
                lane: 0,
                tos: Tos::new(Dscp::DEFAULT, Ecn::Ect0),
                indicated: false,
                body: Body::Data { psn: 0, sent_at: Instant::ZERO },
            };
            self.queues[egress].push(Queued { packet, not_before: 0 }, Instant::ZERO);
            let charge = Charge { source: source_of(&packet), egress: (egress, 0) };
            let mut orders = Vec::new();
            self.meter.on_enqueue(&self.spec, &charge, &self.queues[egress], &mut orders);
            orders
        }

        fn leave(&mut self, egress: usize) -> Vec<Order> {
            let packet = self.queues[egress].pop().unwrap().packet;
            let charge = Charge { source: source_of(&packet), egress: (egress, 0) };
            let mut orders = Vec::new();
            self.meter.on_dequeue(&self.spec, &charge, &self.queues[egress], &mut orders);
            orders
        }
    }

    #[test]
    fn contributors_are_paused_until_the_last_queue_lets_go() {
        let spec = Spec { xoff: Bytes(3_000), xon: Bytes(500), ..Spec::default() };
        let queues = Default::default();
        let mut bench = Bench { spec, meter: Meter::new(4, 2), queues };
        let (first, second, third) = (Source::new(1, 0), Source::new(2, 1), Source::new(3, 0));
        assert_eq!(bench.join(1, 0, 0, 2_000), []);
        // Port 2 pushes the queue at port 0 over XOFF: both have a packet in it.
        assert_eq!(bench.join(2, 1, 0, 2_000), [Order::Pause(first), Order::Pause(second)]);
        // A second queue holds the first source too: nothing more to say.
        assert_eq!(bench.join(1, 0, 3, 4_000), []);
        // Somebody new adds to a queue that is over: paused at once.
        assert_eq!(bench.join(3, 0, 0, 100), [Order::Pause(third)]);
        // It drains: the first source stays held by the other queue.
        assert_eq!(bench.leave(0), []);
        assert_eq!(bench.leave(0), [Order::Resume(second), Order::Resume(third)]);
        assert_eq!(bench.leave(3), [Order::Resume(first)]);
    }
}
