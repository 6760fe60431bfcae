//! What a host does with packets of RoCEv2 and with datagrams: the receiver takes the data and answers
//! in the control class, the sender hears the answers.

use std::cmp::Reverse;

use floodway_model::packet::length;
use floodway_model::{Body, Ecn, Instant, Packet, PortIx, Tos};

use super::transport::rocev2::Arrived;
use super::{Host, receiver, sender, transport};
use crate::engine::Context;
use crate::metric::Latencies;

impl Host {
    /// Data has come.
    pub(super) fn on_data(
        &mut self,
        packet: &Packet,
        psn: u32,
        sent_at: Instant,
        now: Instant,
        context: &mut Context,
    ) {
        let receiver = &mut self.receivers[packet.connection as usize];
        receiver.count(packet, sent_at, now);
        if self.shared.latencies {
            self.count_latency(packet, sent_at, now, context);
        }
        let receiver = &mut self.receivers[packet.connection as usize];
        let connection = receiver.back;
        let profile = self.shared.profile(packet.flow);
        let (arrived, notify) = match (&mut receiver.transport, &profile.transport) {
            (receiver::Transport::Rocev2(receiver), transport::Spec::Rocev2(spec)) => {
                let interval = profile.congestion.cnp_interval();
                let notify = packet.ecn() == Ecn::Ce && receiver.may_notify(interval, now);
                (receiver.on_data(spec, psn, now), notify)
            }
            (receiver::Transport::Datagram(receiver), _) => {
                (Arrived { completes: receiver.on_data(psn), ..Arrived::default() }, false)
            }
            _ => unreachable!("TCP has segments"),
        };
        if arrived.completes {
            receiver.finished = Some(now);
            context.metrics.count_flow_done();
        }
        let completes = arrived.completes;
        if notify {
            self.cnps += 1;
            self.reply(packet, connection, length::ROCE_CNP, Body::Cnp);
        }
        match arrived {
            Arrived { acknowledge: Some(psn), .. } => {
                let body = Body::Ack { psn };
                self.reply(packet, connection, length::ROCE_ACK, body);
            }
            Arrived { missing: Some(missing), .. } => {
                self.naks += 1;
                let body = Body::Nak { psn: missing, arrived: psn };
                self.reply(packet, connection, length::ROCE_ACK, body);
            }
            _ => {}
        }
        if completes && self.turns.is_some() {
            self.on_received(packet.connection, now, context);
        }
    }

    /// A packet that was sent at `sent_at` has come: how long it took, during the measurement.
    #[cold]
    pub(super) fn count_latency(
        &mut self,
        packet: &Packet,
        sent_at: Instant,
        now: Instant,
        at: &Context,
    ) {
        if at.metrics.sampling().measures_at(now) {
            let workload = usize::from(self.shared.flows[packet.flow.index()].workload);
            if self.latencies.len() <= workload {
                self.latencies.resize_with(workload + 1, Latencies::default);
            }
            self.latencies[workload].count(now - sent_at);
        }
    }

    /// Queues a frame back to the sender of `packet`.
    pub(super) fn reply(&mut self, packet: &Packet, connection: u32, bytes: u16, body: Body) {
        self.emitted += 1;
        self.nic.push_control(Packet {
            flow: packet.flow,
            connection,
            src: self.id,
            dst: packet.src,
            bytes,
            ingress: PortIx(0),
            class: self.nic.control_class,
            lane: 0,
            tos: Tos::default(),
            indicated: false,
            body,
        });
    }

    /// An acknowledgement has come, or with `arrived` a NAK about that packet.
    pub(super) fn on_feedback(
        &mut self,
        connection: u32,
        psn: u32,
        arrived: Option<u32>,
        now: Instant,
    ) {
        let slot = self.slots[connection as usize];
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let sender::Transport::Rocev2(transport) = &mut sender.transport else { return };
        match arrived {
            None => transport.on_ack(psn, now),
            Some(arrived) => transport.on_nak(psn, arrived, now),
        }
        let profile = self.shared.profile(sender.flow);
        sender.renew_window(profile, now);
        if sender.rings_earlier(profile) {
            self.timeouts.push(Reverse((sender.rings_at, slot, sender.flow)));
        }
        self.revisit(slot);
    }

    /// A CNP has come: the flow met congestion.
    pub(super) fn on_cnp(&mut self, connection: u32, now: Instant) {
        let slot = self.slots[connection as usize] as usize;
        if let Some(Some(sender)) = self.senders.get_mut(slot) {
            let profile = self.shared.profile(sender.flow);
            sender.control().on_cnp(&profile.congestion, now);
            sender.renew_window(profile, now);
        }
    }
}
