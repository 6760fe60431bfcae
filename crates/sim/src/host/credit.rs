//! Receiver-driven credit. Arriving packets are passed to the receiver halves of congestion
//! control, whose credit frames go to the senders; the senders' side is here too.

use floodway_model::{
    Body, Bytes, Class, Dscp, Ecn, FlowId, Instant, Packet, PortIx, Progressions, Tos,
};

use super::congestion::{Arrival, Credit, Halves, Request};
use super::{Host, Shared, transport};
use crate::context::Context;
use crate::link::Link;
use crate::observe::{Fact, Kinds};

/// Index that stands for the receiver halves among the timers of receivers.
const HALVES: u32 = u32::MAX;

/// The receiver halves of a host, with their counters.
#[derive(Debug)]
pub struct Granting {
    halves: Halves,
    /// Expiry of their timer, as the host has scheduled it.
    due: Instant,
    /// Credit frames sent.
    sent: u64,
}

impl Granting {
    /// The receiver halves of a host that receives these flows; `None` if no flow's congestion
    /// control has a receiver half.
    pub fn of(incoming: &Progressions<FlowId>, shared: &Shared) -> Option<Box<Self>> {
        if !shared.profiles.iter().any(|profile| profile.congestion.has_receiver_half()) {
            return None;
        }
        let controls = incoming.each().map(|flow| &shared.profile(flow).congestion);
        let halves = Halves::of(controls)?;
        Some(Box::new(Self { halves, due: Instant::NEVER, sent: 0 }))
    }
}

/// The arrival of something that is no packet of data, at this time.
fn arrival(place: u32, transport: &transport::Spec, link: &Link, now: Instant) -> Arrival {
    let wire = Bytes(u64::from(transport.largest_frame()) + u64::from(link.wire_overhead));
    let (rate, packet_time) = (link.rate_back, link.rate_back.time_for(wire));
    let (trimmed, number, entropy) = (false, 0, None);
    Arrival { place, now, trimmed, number, entropy, wire, packet_time, rate }
}

impl Host {
    /// One more flow will come to this host, beside those that have receivers.
    pub(super) fn add_receiver_half(&mut self, flow: FlowId) {
        let control = &self.shared.profile(flow).congestion;
        if let Some(granting) = &mut self.granting {
            granting.halves.add_flow(control, self.receivers.len());
        } else if control.has_receiver_half() {
            let mut halves = Halves::default();
            halves.add_flow(control, self.receivers.len());
            self.granting = Some(Box::new(Granting { halves, due: Instant::NEVER, sent: 0 }));
        }
    }

    /// Credit frames sent.
    pub fn credits_sent(&self) -> u64 {
        self.granting.as_ref().map_or(0, |granting| granting.sent)
    }

    /// Data, or the header of a trimmed packet, has arrived and is answered. Not inlined, like
    /// everything here, so that hosts without receiver halves do not become slower.
    #[inline(never)]
    pub(super) fn ask_receiver_half(
        &mut self,
        packet: &Packet,
        trimmed: bool,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(granting) = &mut self.granting else { return };
        let (place, profile) = (packet.connection, self.shared.profile(packet.flow));
        if self.receivers.at(place, &self.shared).finished().is_some() {
            granting.halves.on_end(&profile.congestion, place, now);
        } else {
            let (number, entropy) = match packet.body {
                Body::Data { echo, psn, .. } | Body::Trimmed { echo, psn, .. } => {
                    (psn, echo.entropy())
                }
                _ => (0, None),
            };
            let arrival = Arrival {
                trimmed,
                number,
                entropy,
                ..arrival(place, &profile.transport, self.nic.tx.link(), now)
            };
            granting.halves.on_arrival(&profile.congestion, &arrival);
        }
        self.grant(now, context);
    }

    /// A request has arrived: gives credit, and acknowledges what has come.
    #[inline(never)]
    pub(super) fn on_request(
        &mut self,
        packet: &Packet,
        request: Request,
        now: Instant,
        context: &mut Context,
    ) {
        let (place, profile) = (packet.connection, self.shared.profile(packet.flow));
        let receiver = self.receivers.at(place, &self.shared);
        if let Some(granting) = &mut self.granting
            && receiver.finished().is_none()
        {
            let arrival = arrival(place, &profile.transport, self.nic.tx.link(), now);
            granting.halves.on_request(&profile.congestion, &arrival, request);
        }
        let (connection, answer) = (receiver.back, receiver.transport.on_request());
        let length = profile.transport.answer_frame();
        self.grant(now, context);
        if let Some(body) = answer {
            self.reply(packet, connection, length, body);
        }
    }

    /// A sender of this host has nothing that it may send: makes a request, if it has a reason.
    #[inline(never)]
    pub(super) fn make_request(&mut self, slot: u32, now: Instant) {
        let contexts = self.nic.contenders() as u32 + 1;
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let profile = self.shared.profile(sender.flow);
        sender.transport.share_nic(contexts);
        let request = sender.request(profile, now);
        if sender.timer_is_earlier(profile) {
            self.timeouts.push(sender.timer_at, (slot, sender.flow));
        }
        let Some(mut request) = request else { return };
        let class = self.shared.switch.feedback.queue(&request.body);
        request.class = class.map_or(self.nic.control_class, Class);
        self.emitted += 1;
        self.nic.push_feedback(request);
    }

    /// The timer of the receiver halves that was set for `at` has expired.
    #[inline(never)]
    pub(super) fn on_credit_timer(&mut self, at: Instant, now: Instant, context: &mut Context) {
        if let Some(granting) = self.granting.as_mut().filter(|granting| granting.due == at) {
            granting.due = Instant::NEVER;
            self.grant(now, context);
        }
    }

    /// Queues the credit that is due, and sets the timer for the next.
    fn grant(&mut self, now: Instant, context: &mut Context) {
        while let Some(granting) = &mut self.granting {
            let Some(Credit { place, number }) = granting.halves.next_credit(now) else {
                let next = granting.halves.next_wake();
                if next < granting.due {
                    granting.due = next;
                    self.delayed.push(next, HALVES);
                }
                return;
            };
            granting.sent += 1;
            self.emitted += 1;
            let receiver = self.receivers.at(place, &self.shared);
            let body = Body::Credit { number };
            let class = self.shared.switch.feedback.queue(&body);
            let credit = Packet {
                flow: receiver.flow,
                connection: receiver.back,
                src: self.id,
                dst: self.shared.flows.at(receiver.flow.index()).src,
                bytes: self.shared.profile(receiver.flow).transport.credit_frame(),
                ingress: PortIx(0),
                class: class.map_or(self.nic.control_class, Class),
                physical_queue: 0,
                tos: Tos::new(Dscp::DEFAULT, Ecn::NotEct),
                indicated: false,
                body,
            };
            context.state(Kinds::GRANTED, self.id, now, || Fact::Granted { credit: &credit });
            self.nic.push_feedback(credit);
        }
    }

    /// Credit has arrived for a sender of this host; `number` is cumulative, in packets or bytes.
    #[inline(never)]
    pub(super) fn on_credit(&mut self, connection: u32, number: u32, now: Instant) {
        self.credits_received += 1;
        let slot = self.slots.of(connection);
        let Some(Some(sender)) = self.senders.get_mut(slot as usize) else { return };
        let profile = self.shared.profile(sender.flow);
        sender.transport.on_credit(number, profile, now);
        self.revisit(slot, now);
    }
}
