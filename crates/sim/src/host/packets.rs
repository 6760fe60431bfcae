//! Handling of packets of RoCEv2 and Ultra Ethernet and of datagrams in a host. The receiver takes the
//! data and replies in the control class, or in the class that `switch.feedback` assigns; the sender
//! processes the replies.

use floodway_model::packet::length;
use floodway_model::{Body, Class, Dscp, Echo, Ecn, Instant, Packet, PortIx, Tos};

use super::Host;
use super::congestion::{Answer, Needs, Trimmed};
use super::transport::{Arrived, HeaderReply, Progress};
use crate::context::Context;
use crate::observe::{Delivery, Fact, Kinds};
use crate::telemetry::{HOPS, Hop};

impl Host {
    /// Data has arrived.
    pub(super) fn on_data(
        &mut self,
        packet: &Packet,
        (echo, number, sent_at): (Echo, u32, Instant),
        now: Instant,
        context: &mut Context,
    ) {
        let receiver = self.receivers.at(packet.connection, &self.shared);
        receiver.count(packet, sent_at);
        let connection = receiver.back;
        let profile = self.shared.profile(packet.flow);
        let arrived = receiver.transport.on_data(packet, number, profile, now);
        if arrived.completes {
            receiver.finish(now);
            context.complete(packet.flow, self.shared.is_awaited(packet.flow), now);
        }
        if context.wants_of(Kinds::DELIVERED, packet.flow) {
            let delivery = Delivery {
                packet,
                sent_at: Some(sent_at),
                notified: arrived.notify,
                answered: arrived.acknowledge.or(arrived.missing),
                completes: arrived.completes,
                delivered: receiver.delivered(),
            };
            context.state(Kinds::DELIVERED, self.id, now, || Fact::Delivered(&delivery));
        }
        let completes = arrived.completes;
        if arrived.notify {
            self.cnps += 1;
            self.reply(packet, connection, length::ROCE_CNP, Body::Cnp);
        }
        let answer = self.shared.profile(packet.flow).transport.answer_frame();
        match arrived {
            Arrived { acknowledge: Some(psn), .. } => {
                let receiver = self.receivers.at(packet.connection, &self.shared);
                let body = receiver.transport.acknowledgement(packet, (echo, number, sent_at), psn);
                self.reply(packet, connection, answer, body);
            }
            Arrived { missing: Some(missing), .. } => {
                self.naks += 1;
                let echo = echo.answering(packet.ecn());
                let body = Body::Nak { echo, psn: missing, arrived: number };
                self.reply(packet, connection, answer, body);
            }
            // There is no reply that could carry the packet's telemetry back.
            _ => self.free_telemetry(packet, context),
        }
        if self.granting.is_some() {
            self.ask_receiver_half(packet, false, now, context);
        } else if completes {
            self.receivers.put_away(packet.connection, &self.shared);
        }
        if completes && self.dependencies.is_some() {
            self.on_received(packet.connection, now, context);
        }
    }

    /// The header of a trimmed packet has arrived: request a retransmission at once, unless the packet
    /// itself has arrived too.
    #[inline(never)]
    pub(super) fn on_header(
        &mut self,
        packet: &Packet,
        trimmed: (u32, Instant),
        now: Instant,
        context: &mut Context,
    ) {
        self.headers += 1;
        self.naks += 1;
        let receiver = self.receivers.at(packet.connection, &self.shared);
        let connection = receiver.back;
        let profile = self.shared.profile(packet.flow);
        let HeaderReply { body, notify: notified } =
            receiver.transport.on_header(packet, trimmed, profile, now);
        if context.wants_of(Kinds::DELIVERED, packet.flow) {
            let (sent_at, answered, completes) = (None, None, false);
            let delivered = receiver.delivered();
            let delivery = Delivery { packet, sent_at, notified, answered, completes, delivered };
            context.state(Kinds::DELIVERED, self.id, now, || Fact::Delivered(&delivery));
        }
        let answer = profile.transport.answer_frame();
        if notified {
            self.cnps += 1;
            self.reply(packet, connection, length::ROCE_CNP, Body::Cnp);
        }
        self.reply(packet, connection, answer, body);
        self.ask_receiver_half(packet, true, now, context);
    }

    /// Queues a frame back to the sender of `packet`.
    #[inline]
    pub(super) fn reply(&mut self, packet: &Packet, connection: u32, bytes: u16, body: Body) {
        self.emitted += 1;
        let class = self.shared.switch.feedback.queue(&body);
        // A reply copies the ECN field of the packet it answers where something reads it.
        let ecn = match (class, &body) {
            (
                Some(_),
                Body::Ack { .. } | Body::Nak { .. } | Body::TrimNak { .. } | Body::UetAck { .. },
            ) if packet.ecn().is_capable() => Ecn::Ect0,
            _ => Ecn::NotEct,
        };
        self.nic.push_feedback(Packet {
            flow: packet.flow,
            connection,
            src: self.id,
            dst: packet.src,
            bytes,
            ingress: PortIx(0),
            class: class.map_or(self.nic.control_class, Class),
            physical_queue: 0,
            tos: Tos::new(Dscp::DEFAULT, ecn),
            indicated: false,
            body,
        });
    }

    /// An acknowledgement or a NAK has arrived.
    pub(super) fn on_feedback(&mut self, packet: &Packet, now: Instant, context: &mut Context) {
        let slot = self.slots.of(packet.connection);
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else {
            return self.free_telemetry(packet, context);
        };
        let Some(progress) = sender.transport.on_feedback(&packet.body, now) else { return };
        let marked = match packet.body {
            Body::Ack { echo, .. } | Body::Nak { echo, .. } | Body::TrimNak { echo, .. } => {
                echo.marked()
            }
            Body::UetAck { about, .. } => about.marked(),
            _ => unreachable!("it is neither an acknowledgement nor a NAK"),
        };
        if self.shared.distances.is_some() {
            self.tell_answer(slot, progress, packet, now, context);
        }
        self.free_telemetry(packet, context);
        let Some(sender) = &mut self.senders[slot as usize] else { return };
        let profile = self.shared.profile(sender.flow);
        if marked && profile.congestion.marks_are_notifications() {
            sender.control().on_cnp(&profile.congestion, now);
        }
        sender.renew_window(profile, now);
        sender.note_acknowledged(now);
        if sender.timer_is_earlier(profile) {
            self.timeouts.push(sender.timer_at, (slot, sender.flow));
        }
        self.revisit(slot, now);
    }

    /// Passes the content of a reply, after which the sender has this progress, to congestion control.
    fn tell_answer(
        &mut self,
        slot: u32,
        progress: Progress,
        packet: &Packet,
        now: Instant,
        context: &Context,
    ) {
        let mut trimmed = None;
        let (echo, psn, rtt, nak) = match packet.body {
            Body::Ack { echo, psn, sent_at } => (echo, psn, Some(now.since(sent_at)), false),
            Body::Nak { echo, psn, .. } => (echo, psn, None, true),
            // It acknowledges nothing, and the round-trip time of a header that overtakes data does not
            // measure that of data.
            Body::TrimNak { echo, .. } => {
                let last_hop = echo.entropy().is_some_and(|entropy| entropy.last_hop);
                trimmed = Some(if last_hop { Trimmed::AtLastHop } else { Trimmed::InFabric });
                (echo, progress.before, None, true)
            }
            Body::UetAck { about, ack, .. } => {
                (Echo::of(0, about.marked()), ack, progress.rtt, false)
            }
            _ => unreachable!("it is no answer"),
        };
        let mut hops = [Hop::default(); HOPS];
        let record = context.telemetry.as_ref().and_then(|records| records.of_answer(echo));
        let count = record.map_or(0, |record| record.read(&mut hops));
        let tag = record.and_then(|record| record.tag().copied());
        let Some(sender) = &mut self.senders[slot as usize] else { return };
        let Progress { acknowledged, next, fresh, delivered, .. } = progress;
        let answer = Answer {
            now,
            ack: psn,
            acked: delivered,
            sent: fresh,
            in_flight: next - acknowledged,
            rtt,
            marked: echo.marked(),
            nak,
            trimmed,
            hops: &hops[..count],
            tag,
        };
        let congestion = &self.shared.profile(packet.flow).congestion;
        // If flows use different congestion controls, only those that need round-trip times record
        // them.
        if let (Needs::Answers | Needs::Arrivals, Some(rtt)) = (congestion.needs(), answer.rtt) {
            sender.transport.measure(rtt);
        }
        sender.control().on_answer(congestion, &answer);
    }

    /// Frees the telemetry record of a packet that ends here.
    fn free_telemetry(&self, packet: &Packet, context: &mut Context) {
        if self.shared.telemetry {
            context.free_telemetry(packet);
        }
    }

    /// A CNP has arrived: the flow met congestion.
    pub(super) fn on_cnp(&mut self, connection: u32, now: Instant) {
        let slot = self.slots.of(connection);
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let profile = self.shared.profile(sender.flow);
        sender.control().on_cnp(&profile.congestion, now);
        // A window derived from the rate may have grown since the last reply.
        sender.renew_window(profile, now);
        self.revisit(slot, now);
    }
}
