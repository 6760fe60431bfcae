//! Backpressure Flow Control in a switch: packets join and leave physical queues, and upstream
//! ones are told to stop and to go on. Kept out of line, so that switches without it are not slower.

use floodway_model::{Body, Class, Instant, Packet};

use super::Switch;
use super::flow_control::pausing::{Source, source_of};
use super::queue::{Queue, Queued};
use crate::engine::Context;

impl Switch {
    /// The port has nothing else to send: the packet goes straight to the wire, unless the lane of
    /// its flow is paused.
    pub(super) fn pass_by_lane(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let bfc = self.bfc.as_ref().expect("only a switch with it has lanes");
        let port = &mut self.ports[egress];
        let lanes = port.queues[queue].lanes_mut().expect("this queue has lanes");
        let lane = lanes.lane_of(packet.flow, now, &mut self.chance);
        if lanes.paused().has(lane) {
            return self.enqueue(egress, queue, None, packet, now, context);
        }
        lanes.pass(packet.flow, bfc.keeps_until(packet, now));
        port.queues[queue].pass(packet.bytes);
        port.occupancy.pass(packet.bytes);
        self.occupancy.pass(packet.bytes);
        port.stamp(packet, now);
        port.tx.transmit(&Packet { lane, ..*packet }, Class(queue as u8), now, context);
    }

    /// The packet joins the lane of its flow in a queue that has lanes.
    pub(super) fn enter_lane(
        &mut self,
        egress: usize,
        queue: usize,
        queued: Queued,
        now: Instant,
        context: &mut Context,
    ) {
        let packet = queued.packet;
        let bfc = self.bfc.as_mut().expect("only a switch with it has lanes");
        let port = &mut self.ports[egress];
        let active = port.queues.iter().filter_map(Queue::lanes).map(|lanes| lanes.active()).sum();
        let lanes = port.queues[queue].lanes_mut().expect("this queue has lanes");
        let lane = lanes.lane_of(packet.flow, now, &mut self.chance);
        let rate = port.tx.link().rate;
        let counted = bfc.exceeds(lanes.depth(lane), active, &packet, rate);
        let stops = counted && bfc.count(source_of(&packet), packet.lane);
        port.queues[queue].push_to_lane(lane, queued, counted);
        if stops {
            self.tell_lane(source_of(&packet), packet.lane, true, now, context);
        }
    }

    /// Sends the packet whose turn it is in a queue that has lanes.
    pub(super) fn send_from_lane(
        &mut self,
        index: usize,
        queue: usize,
        now: Instant,
        context: &mut Context,
    ) {
        let bfc = self.bfc.as_mut().expect("only a switch with it has lanes");
        let port = &mut self.ports[index];
        let until = |queued: &Queued| bfc.keeps_until(&queued.packet, now);
        let left = port.queues[queue].pop_from_lane(until);
        let left = left.expect("a queue that was selected has a packet");
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        let came = left.queued.packet;
        port.stamp(&came, now);
        port.tx.transmit(&Packet { lane: left.lane, ..came }, Class(queue as u8), now, context);
        self.rearm(index);
        self.release(index, queue, &came, now, context);
        let bfc = self.bfc.as_mut().expect("as above");
        if left.counted && bfc.uncount(source_of(&came), came.lane) {
            self.tell_lane(source_of(&came), came.lane, false, now, context);
        }
    }

    /// The next hop says whether a lane must stop.
    #[inline(never)]
    pub(super) fn obey_lane(
        &mut self,
        port: usize,
        (class, lane): (u8, u8),
        stop: bool,
        now: Instant,
        context: &mut Context,
    ) {
        if let Some(lanes) = self.ports[port].queues[usize::from(class)].lanes_mut() {
            lanes.obey(lane, stop, now);
        }
        self.nudge(port, now, context);
    }

    /// Tells the neighbour whether one of its lanes must stop.
    fn tell_lane(
        &mut self,
        source: Source,
        lane: u8,
        stop: bool,
        now: Instant,
        context: &mut Context,
    ) {
        let class = source.class() as u8;
        let body = Body::Bfc { class, lane, stop };
        let same = |old: &Body| matches!(*old, Body::Bfc { class: c, lane: l, .. } if (c, l) == (class, lane));
        self.send_link_control(source.port(), body, same, now, context);
    }
}
