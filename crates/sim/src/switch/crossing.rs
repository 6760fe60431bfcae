//! The path of data through a crossbar, from the inputs to the egress queues. Kept out of line so
//! that switches without a crossbar are not slowed down.

use floodway_model::Instant;

use super::Switch;
use super::fabric::Waiting;
use super::port::DropReason;
use super::queue::Queued;
use crate::context::Context;

impl Switch {
    /// The timer slot of the crossbar. It comes after the slots of the ports and of the switch
    /// timer, so that the crossbar sees what they do at the same time.
    fn crossbar_slot(&self) -> usize {
        self.ports.len() + 1
    }

    /// Queues the packet, bound for `queue`, at its input.
    pub(super) fn enter_input(
        &mut self,
        egress: usize,
        queue: usize,
        queued: Queued,
        now: Instant,
    ) {
        let crossbar = self.crossbar.as_mut().expect("only a switch with it has inputs");
        self.ports[egress].queues[queue].expect(&queued.packet, crossbar.hides);
        if crossbar.hides {
            self.ports[egress].occupancy.hide(queued.packet.bytes);
            self.occupancy.hide(queued.packet.bytes);
        }
        let (egress, queue) = (egress as u16, queue as u8);
        crossbar.arrive(Waiting { queued, since: now, egress, queue }, now);
        self.watch_crossbar();
    }

    /// Starts a crossbar slot: frames that have crossed join their egress queues, and new ones
    /// start to cross.
    #[inline(never)]
    pub(super) fn cross(&mut self, now: Instant, context: &mut Context) {
        while let Some(crossbar) = &mut self.crossbar {
            let Some(Waiting { queued, since, egress, queue }) = crossbar.finish(now) else {
                crossbar.connect(now);
                break;
            };
            let (egress, queue) = (usize::from(egress), usize::from(queue));
            self.ports[egress].queues[queue].take_over(&queued, since, crossbar.hides);
            if crossbar.hides {
                self.ports[egress].occupancy.show(queued.packet.bytes);
                self.occupancy.show(queued.packet.bytes);
            }
            self.kick_port(egress, now, context);
        }
        self.watch_crossbar();
    }

    /// Drops all packets bound for a queue behind a crossbar, including those at the inputs.
    #[cold]
    pub(super) fn discard_crossed(
        &mut self,
        port: usize,
        queue: usize,
        reason: DropReason,
        now: Instant,
        context: &mut Context,
    ) {
        // First those that have crossed, so that the packets of each ingress port leave in order.
        while let Some(packet) = self.ports[port].queues[queue].pop() {
            let crossbar = self.crossbar.as_mut().expect("the packet has crossed it");
            crossbar.depart(port, queue, packet.bytes, now);
            self.discard(port, queue, reason, &packet, now, context);
        }
        let Some(crossbar) = &mut self.crossbar else { return };
        let (hides, bound) = (crossbar.hides, crossbar.take_bound(port, queue, now));
        for Waiting { queued: Queued { packet, .. }, .. } in bound {
            self.ports[port].queues[queue].forget(&packet, hides);
            if hides {
                self.ports[port].occupancy.show(packet.bytes);
                self.occupancy.show(packet.bytes);
            }
            self.discard(port, queue, reason, &packet, now, context);
        }
        self.watch_crossbar();
    }

    pub(super) fn watch_crossbar(&mut self) {
        let next = self.crossbar.as_ref().map_or(Instant::NEVER, |crossbar| crossbar.next());
        self.timers.set(self.crossbar_slot(), next);
    }
}
