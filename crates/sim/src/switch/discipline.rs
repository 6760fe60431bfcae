//! Queue disciplines: the order in which the packets of a data queue leave, where that is not first in, first
//! out. A mechanism of flow control may bring one for its queues. Kept out of line, so that switches without
//! one are not slower.

use std::any::Any;
use std::fmt::Debug;

use floodway_model::random::Stream;
use floodway_model::{Body, Class, Instant, Packet};

use super::Switch;
use super::queue::Queued;
use crate::engine::Context;
use crate::link::Transmitter;
use crate::metric::Tally;

/// The order in which the packets of one data queue leave. It holds them; the queue keeps the books.
pub trait Discipline: Debug + Send {
    /// Whether a packet that finds the port idle may go to the wire without joining the queue. What the packet
    /// is to carry on the link, the discipline writes into it. `rng` is that of the switch.
    fn passes(&mut self, _packet: &mut Packet, _now: Instant, _rng: &mut Stream) -> bool {
        true
    }

    /// Adds a packet.
    fn push(&mut self, queued: Queued, now: Instant, rng: &mut Stream);

    /// The wire is free: decides which packet is at the head. If none may be sent: when the first may, as far as
    /// that is known, or [`Instant::NEVER`].
    fn settle(&mut self, _now: Instant) -> Instant {
        Instant::NEVER
    }

    /// The packet that leaves next; `None` also if packets wait and none may be sent.
    fn head(&self) -> Option<&Queued>;

    /// The same, to be changed.
    fn head_mut(&mut self) -> Option<&mut Packet>;

    /// Removes the packet at the head.
    fn pop(&mut self) -> Option<Queued>;

    /// A packet of this queue is about to be put on the wire.
    fn on_sent(&mut self, _packet: &Packet, _tx: &Transmitter, _now: Instant) {}

    /// A link control frame has come from the neighbour that gets what this queue sends.
    fn on_frame(&mut self, _frame: &Body, _now: Instant) {}

    /// The packets that wait, in no particular order.
    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_>;

    /// Whether its books agree with its packets.
    fn is_consistent(&self) -> bool {
        true
    }

    /// Adds what it has counted until `now`.
    fn count(&self, _now: Instant, _tally: &mut Tally) {}

    /// For the mechanism that it belongs to.
    fn as_any(&self) -> &dyn Any;
}

impl Switch {
    /// The port has nothing else to send: the packet goes straight to the wire, if the discipline of its queue
    /// lets it.
    #[inline(never)]
    pub(super) fn pass_by_discipline(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let mut sent = *packet;
        let port = &mut self.ports[egress];
        if !port.queues[queue].passes(&mut sent, now, &mut self.rng) {
            return self.enqueue(egress, queue, None, packet, now, context);
        }
        port.queues[queue].on_sent(&sent, &port.tx, now);
        port.queues[queue].pass(packet.bytes);
        port.occupancy.pass(packet.bytes);
        self.occupancy.pass(packet.bytes);
        port.stamp(packet, now);
        port.tx.transmit(&sent, Class(queue as u8), now, context);
    }

    /// The packet waits as the discipline of its queue has it, or first at an input of the crossbar.
    #[inline(never)]
    pub(super) fn push_by_discipline(
        &mut self,
        egress: usize,
        queue: usize,
        queued: Queued,
        now: Instant,
    ) {
        if self.crossbar.is_some() {
            self.enter_input(egress, queue, queued, now);
        } else {
            self.ports[egress].queues[queue].push_ordered(queued, now, &mut self.rng);
        }
    }

    /// Before a queue is selected: every discipline of the port decides what is at the head. When the first
    /// packet may be sent of the queues in which none may now, as far as that is known.
    #[inline(never)]
    pub(super) fn settle(&mut self, index: usize, now: Instant) -> Instant {
        let queues = self.ports[index].queues.iter_mut();
        queues.map(|queue| queue.settle(now)).min().unwrap_or(Instant::NEVER)
    }

    /// What a packet leaves behind that has been taken out of `queue` and put on the wire: the discipline and
    /// the crossbar hear of it.
    #[inline(never)]
    pub(super) fn after_sending(
        &mut self,
        index: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
    ) {
        let port = &mut self.ports[index];
        port.queues[queue].on_sent(packet, &port.tx, now);
        if queue != self.control_queue()
            && let Some(crossbar) = &mut self.crossbar
        {
            crossbar.depart(index, queue, packet.bytes, now);
            self.watch_crossbar();
        }
    }

    /// A link control frame about queues of a port has come.
    #[inline(never)]
    pub(super) fn hear_link_control(
        &mut self,
        port: usize,
        frame: &Body,
        now: Instant,
        context: &mut Context,
    ) {
        self.ports[port].queues.iter_mut().for_each(|queue| queue.on_frame(frame, now));
        self.nudge(port, now, context);
    }
}
