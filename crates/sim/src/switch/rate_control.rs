//! Directional Rate Control in a switch: neighbours are told how severe congestion is at its output
//! ports, and what goes to congested ports of theirs is held back. Kept out of line, so that
//! switches without it are not slower.

use floodway_model::{Body, Class, Instant, Packet};

use super::Switch;
use super::flow_control::drc::Statuses;
use crate::engine::Context;

impl Switch {
    /// What waits at an output port has changed: tell the neighbours if its severity has.
    #[inline(never)]
    pub(super) fn observe(&mut self, port: usize, now: Instant, context: &mut Context) {
        let bytes = self.ports[port].occupancy.bytes();
        let drc = self.drc.as_mut().expect("only a switch with it observes");
        if drc.observe(port, bytes, now) {
            self.give_feedback(now, context);
        }
    }

    /// It may be time to repeat what was told, or the end of a gap.
    pub(super) fn repeat_feedback(&mut self, now: Instant, context: &mut Context) {
        if let Some(drc) = &mut self.drc {
            drc.repeat(now);
            self.give_feedback(now, context);
        }
    }

    /// Puts the feedback frames before the wires that are due now.
    fn give_feedback(&mut self, now: Instant, context: &mut Context) {
        while let Some(port) = self.drc.as_mut().and_then(|drc| drc.next(now)) {
            // What it says is decided when it leaves.
            let body = Body::Drc { group: 0, mask: 0, statuses: 0 };
            let frame = self.link_control(port, body);
            self.ports[port].push_link_control(frame);
            self.emitted += 1;
            self.nudge(port, now, context);
        }
        self.set_timer();
    }

    /// A frame of link control that is about to leave, as it is now.
    #[inline(never)]
    pub(super) fn current(&mut self, port: usize, frame: Packet, now: Instant) -> Packet {
        match (&mut self.drc, frame.body) {
            (Some(drc), Body::Drc { .. }) => {
                let body = drc.leave(port, now);
                self.set_timer();
                Packet { body, ..frame }
            }
            _ => frame,
        }
    }

    /// The next hop has said how severe congestion is at some of its output ports.
    #[inline(never)]
    pub(super) fn obey_feedback(
        &mut self,
        port: usize,
        (group, mask, statuses): (u16, u8, u64),
        now: Instant,
        context: &mut Context,
    ) {
        if let Some(regulator) = &mut self.ports[port].regulator {
            regulator.on_feedback(group, mask, Statuses(statuses), now);
            self.nudge(port, now, context);
        }
    }

    /// The port has nothing else to send: the packet goes straight to the wire, unless its
    /// direction may not be arbitrated yet.
    pub(super) fn pass_by_direction(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let port = &mut self.ports[egress];
        let regulator = port.regulator.as_ref().expect("only a port with it has directions");
        let direction = regulator.direction(packet.dst, packet.flow);
        let spacing = regulator.spacing(direction, port.tx.wire_time(packet.bytes));
        let directions = port.queues[queue].directions_mut().expect("this queue has directions");
        if directions.eligible_at(direction, queue, regulator) > now {
            return self.enqueue(egress, queue, None, packet, now, context);
        }
        directions.defer(direction, now + spacing);
        port.queues[queue].pass(packet.bytes);
        port.occupancy.pass(packet.bytes);
        self.occupancy.pass(packet.bytes);
        port.stamp(packet, now);
        port.tx.transmit(packet, Class(queue as u8), now, context);
    }

    /// Finds out which direction has its turn in each data queue. Of the queues where none has:
    /// when the first will have one, unless feedback changes that.
    #[inline(never)]
    pub(super) fn settle_directions(&mut self, index: usize, now: Instant) -> Instant {
        let control = self.control_queue();
        let port = &mut self.ports[index];
        let regulator = port.regulator.as_ref().expect("only a port with it has directions");
        let mut next = Instant::NEVER;
        for (class, queue) in port.queues[..control].iter_mut().enumerate() {
            let Some(directions) = queue.directions_mut() else { continue };
            if !directions.settle(class, regulator, now) {
                next = next.min(directions.next(class, regulator));
            }
        }
        next
    }

    /// Sends the packet whose turn it is in a queue that has directions.
    pub(super) fn send_from_direction(
        &mut self,
        index: usize,
        queue: usize,
        now: Instant,
        context: &mut Context,
    ) {
        let port = &mut self.ports[index];
        let left = port.queues[queue].pop_from_direction();
        let (direction, queued) = left.expect("a queue that was selected has a packet");
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        let regulator = port.regulator.as_ref().expect("only a port with it has directions");
        let spacing = regulator.spacing(direction, port.tx.wire_time(queued.packet.bytes));
        let directions = port.queues[queue].directions_mut().expect("this queue has directions");
        directions.defer(direction, now + spacing);
        port.stamp(&queued.packet, now);
        port.tx.transmit(&queued.packet, Class(queue as u8), now, context);
        self.rearm(index);
        self.release(index, queue, &queued.packet, now, context);
    }
}
