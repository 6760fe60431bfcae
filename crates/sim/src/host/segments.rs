//! Handling of TCP frames in a host: looks up the connection and sends its replies.

use floodway_model::packet::length;
use floodway_model::{Body, Class, Ecn, FlowId, Instant, Packet, PortIx, SegmentFlags, Tos};

use super::transport::tcp::{Acknowledgement, Reply, Segment, rules};
use super::{Host, transport};
use crate::context::Context;
use crate::observe::{Delivery, Fact, Kinds};

impl Host {
    /// A segment with data has arrived.
    pub(super) fn on_segment(
        &mut self,
        packet: &Packet,
        (flags, psn, sent_at): (SegmentFlags, u32, Instant),
        now: Instant,
        context: &mut Context,
    ) {
        let place = packet.connection;
        let receiver = self.receivers.at(place, &self.shared);
        receiver.count(packet, sent_at);
        let (transport::Receiver::Tcp(tcp), transport::Spec::Tcp(spec)) =
            (&mut receiver.transport, &self.shared.profile(packet.flow).transport)
        else {
            unreachable!("only TCP has segments");
        };
        let payload = packet.bytes - length::TCP_OVERHEAD;
        let segment = Segment { psn, flags, ecn: packet.ecn(), payload, sent_at };
        let arrived = tcp.on_segment(spec, &segment, now);
        if arrived.completes {
            receiver.finish(now);
            context.complete(packet.flow, self.shared.is_awaited(packet.flow), now);
        }
        if context.wants_of(Kinds::DELIVERED, packet.flow) {
            let (sent_at, notified, answered) = (Some(sent_at), false, None);
            let (completes, delivered) = (arrived.completes, receiver.delivered());
            let delivery = Delivery { packet, sent_at, notified, answered, completes, delivered };
            context.state(Kinds::DELIVERED, self.id, now, || Fact::Delivered(&delivery));
        }
        let back = receiver.back;
        for reply in arrived.replies.into_iter().flatten() {
            self.answer(packet.flow, back, reply);
        }
        if arrived.more {
            self.send_answers(packet.flow, place);
        }
        self.set_delay(place);
        if arrived.completes && self.dependencies.is_some() {
            self.continue_connection(packet.flow, place);
            self.on_received(place, now, context);
        }
    }

    /// A SYN, a SYN/ACK or an acknowledgement has arrived.
    pub(super) fn on_segment_without_data(&mut self, packet: &Packet, now: Instant) {
        if let Body::Syn { feedback } = packet.body {
            let receiver = self.receivers.at(packet.connection, &self.shared);
            if let transport::Receiver::Tcp(tcp) = &mut receiver.transport {
                let (reply, back) = (tcp.on_syn(feedback, now), receiver.back);
                self.answer(packet.flow, back, reply);
            }
            return;
        }
        let slot = self.slots.of(packet.connection);
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let profile = self.shared.profile(sender.flow);
        let transport::Sender::Tcp(tcp) = &mut sender.transport else { return };
        if let Some(ack) = Acknowledgement::of(&packet.body) {
            tcp.on_ack(rules(profile), &ack, now);
        } else if let Body::SynAck { feedback } = packet.body {
            tcp.on_syn_ack(rules(profile), feedback, now);
        }
        sender.note_acknowledged(now);
        if sender.timer_is_earlier(profile) {
            self.timeouts.push(sender.timer_at, (slot, sender.flow));
        }
        self.complete_requests(slot, now);
        self.revisit(slot, now);
    }

    /// Sends the part of an application's answers that does not fit into the frame of the
    /// acknowledgement.
    fn send_answers(&mut self, flow: FlowId, place: u32) {
        let receiver = self.receivers.at(place, &self.shared);
        let back = receiver.back;
        let transport::Receiver::Tcp(tcp) = &mut receiver.transport else { return };
        let more: Vec<Reply> = std::iter::from_fn(|| tcp.next_answer()).collect();
        more.into_iter().for_each(|reply| self.answer(flow, back, reply));
    }

    /// Sends delayed acknowledgements whose timers have expired.
    pub(super) fn on_delayed(&mut self, now: Instant, context: &mut Context) {
        while let Some((at, place)) = self.delayed.pop_due(now) {
            if place as usize >= self.receivers.len() {
                self.on_credit_timer(at, now, context);
                continue;
            }
            let receiver = self.receivers.at(place, &self.shared);
            // The timer may have been reset since.
            if receiver.timer_at != at {
                continue;
            }
            receiver.timer_at = Instant::NEVER;
            if let transport::Receiver::Tcp(tcp) = &mut receiver.transport
                && let Some(reply) = tcp.on_timer(now)
            {
                let (flow, back) = (receiver.flow, receiver.back);
                self.answer(flow, back, reply);
            }
            self.set_delay(place);
        }
    }

    /// Schedules the receiver's timer, if it must expire earlier than scheduled.
    fn set_delay(&mut self, place: u32) {
        let receiver = self.receivers.at(place, &self.shared);
        let deadline = receiver.deadline();
        if deadline < receiver.timer_at {
            receiver.timer_at = deadline;
            self.delayed.push(deadline, place);
        }
    }

    /// Queues a frame back to the sender of a flow, in the class of its data.
    fn answer(&mut self, flow: FlowId, connection: u32, reply: Reply) {
        let spec = self.shared.flows.at(flow.index());
        let switch = &self.shared.switch;
        let dscp = self.shared.dscp(flow, &spec);
        let queue = switch.classify.queue(dscp, Ecn::NotEct, spec.src, switch.queue.count);
        let class = Class(queue);
        self.emitted += 1;
        self.nic.push_data(Packet {
            flow,
            connection,
            src: spec.dst,
            dst: spec.src,
            bytes: reply.bytes,
            ingress: PortIx(0),
            class,
            physical_queue: 0,
            tos: Tos::new(dscp, Ecn::NotEct),
            indicated: false,
            body: reply.body,
        });
    }
}
