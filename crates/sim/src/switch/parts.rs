//! Data queues that consist of parts: of physical queues, with Backpressure Flow Control, of queues
//! by direction, with Directional Rate Control, or of what has crossed and what has not, with a
//! crossbar. Kept out of line, so that switches with none of them are not slower.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::queue::Queued;
use crate::engine::Context;

impl Switch {
    /// The port has nothing else to send: the packet goes straight to the wire, if the part that it
    /// belongs to may send.
    #[inline(never)]
    pub(super) fn pass_by_part(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        if self.ports[egress].regulator.is_some() {
            self.pass_by_direction(egress, queue, packet, now, context);
        } else {
            self.pass_by_lane(egress, queue, packet, now, context);
        }
    }

    /// The packet joins a part of the queue.
    #[inline(never)]
    pub(super) fn enter_part(
        &mut self,
        egress: usize,
        queue: usize,
        queued: Queued,
        now: Instant,
        context: &mut Context,
    ) {
        let port = &mut self.ports[egress];
        match &port.regulator {
            Some(regulator) => {
                let direction = regulator.direction(queued.packet.dst, queued.packet.flow);
                port.queues[queue].push_to_direction(direction, queued);
            }
            None if self.crossbar.is_some() => self.enter_input(egress, queue, queued, now),
            None => self.enter_lane(egress, queue, queued, now, context),
        }
    }

    /// Sends the packet whose turn it is in the queue.
    #[inline(never)]
    pub(super) fn send_from_part(
        &mut self,
        index: usize,
        queue: usize,
        now: Instant,
        context: &mut Context,
    ) {
        if self.ports[index].regulator.is_some() {
            self.send_from_direction(index, queue, now, context);
        } else if self.crossbar.is_some() {
            self.send_crossed(index, queue, now, context);
        } else {
            self.send_from_lane(index, queue, now, context);
        }
    }
}
