//! The sending half of a host: the scheduled sender provides a packet, which goes to the wire,
//! directly or through the transmit buffer of the NIC.

use floodway_model::{Duration, Instant, Packet};

use super::sender::Sender;
use super::{Host, nic};
use crate::context::Context;
use crate::observe::{Fact, Kinds};
use crate::telemetry::Kind;

impl Host {
    /// Sends the next frame, if the wire is free.
    pub(super) fn send_next(&mut self, now: Instant, context: &mut Context) {
        if self.nic.buffer.is_some() {
            return self.send_stored(now, context);
        }
        if self.nic.tx.busy_until > now {
            return;
        }
        if let Some(frame) = self.nic.take_feedback(now) {
            return self.nic.tx.transmit(&frame, frame.class, now, context);
        }
        self.nic.wake_paced(now, &self.senders);
        while let Some(slot) = self.nic.next_ready(now) {
            if slot == nic::MADE {
                let frame = self.nic.take_made();
                return self.nic.tx.transmit(&frame, frame.class, now, context);
            }
            let Some(packet) = self.take_from(slot, now, context) else { continue };
            self.nic.tx.transmit(&packet, packet.class, now, context);
            let wire = self.nic.tx.wire_time(packet.bytes);
            return self.after_taking((slot, &packet), wire, now, context);
        }
    }

    /// Like [`Self::send_next`], with a transmit buffer, which is filled before and again after a
    /// frame has left it.
    #[inline(never)]
    pub(super) fn send_stored(&mut self, now: Instant, context: &mut Context) {
        self.fill_buffer(now, context);
        if self.nic.tx.busy_until > now {
            return;
        }
        if let Some(frame) = self.nic.take_feedback(now) {
            return self.nic.tx.transmit(&frame, frame.class, now, context);
        }
        if let Some(frame) = self.nic.take_stored(now) {
            self.nic.tx.transmit(&frame, frame.class, now, context);
            self.fill_buffer(now, context);
        }
    }

    /// Moves frames from senders to the transmit buffer while there is room. This takes no
    /// simulated time: a sender that is not rate-limited is stopped only by lack of room.
    pub(super) fn fill_buffer(&mut self, now: Instant, context: &mut Context) {
        loop {
            self.nic.wake_paced(now, &self.senders);
            self.nic.unpark();
            let Some(slot) = self.nic.next_ready(now) else { return };
            if self.nic.parks(slot, &self.senders) {
                continue;
            }
            let Some(packet) = self.take_from(slot, now, context) else { continue };
            self.nic.push_data(packet);
            self.after_taking((slot, &packet), Duration::ZERO, now, context);
        }
    }

    /// The next packet of the sender in this slot. `None` if it has none or may not send; the
    /// sender is then put where it waits.
    #[inline(always)]
    pub(super) fn take_from(
        &mut self,
        slot: u32,
        now: Instant,
        context: &mut Context,
    ) -> Option<Packet> {
        let Some(sender) = &mut self.senders[slot as usize] else {
            unreachable!("a sender leaves the NIC before it ends");
        };
        if sender.returns(now) {
            let (flow, class) = (sender.flow, sender.class);
            self.nic.make_ready(slot, class);
            context.state(Kinds::BEGAN, self.id, now, || Fact::Reclassified { flow, class });
            return None;
        }
        if sender.is_done() {
            self.end(slot, now);
            return None;
        }
        if let Some(until) = self.holds.until(sender.dst(), sender.home_class(), now) {
            sender.eligible_at = until;
            self.nic.put_back(slot, sender.class, until);
            return None;
        }
        if let Some(physical_queues) = &mut self.nic.physical_queues
            && physical_queues.parks(slot, sender.class, sender.physical_queue)
        {
            return None;
        }
        sender.in_nic = false;
        if self.shared.requests {
            sender.transport.share_nic(self.nic.contenders() as u32 + 1);
        }
        let mut packet = sender.next_packet(self.shared.profile(sender.flow), now);
        if let Some(packet) = &mut packet {
            self.emitted += 1;
            if self.shared.telemetry
                && let Some(kind) = self.shared.profile(packet.flow).transport.telemetry()
            {
                add_record(packet, kind, context);
            }
        } else if sender.is_done() {
            // Nothing remains to be sent or acknowledged.
            self.end(slot, now);
        } else if self.shared.requests {
            self.make_request(slot, now);
        }
        packet
    }

    /// A packet was taken from the sender: schedule its next one, not before `wire` has passed.
    #[inline(always)]
    pub(super) fn after_taking(
        &mut self,
        (slot, packet): (u32, &Packet),
        wire: Duration,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(sender) = &mut self.senders[slot as usize] else {
            unreachable!("it has sent something");
        };
        let profile = self.shared.profile(sender.flow);
        let gap = sender.on_sent(profile, now, packet.bytes, wire, self.nic.tx.link());
        sender.eligible_at = now + gap;
        if context.wants_of(Kinds::DEPARTED, packet.flow) {
            let departure = sender.departure(profile, packet, now);
            context.state(Kinds::DEPARTED, self.id, now, || Fact::Departed(&departure));
        }
        // For RoCEv2, sending a packet never makes the timer expire earlier.
        if sender.transport.sets_timer_on_sending() && sender.timer_is_earlier(profile) {
            self.timeouts.push(sender.timer_at, (slot, sender.flow));
        }
        if sender.has_more() {
            sender.in_nic = true;
            let (class, at) = (sender.class, sender.eligible_at);
            return self.nic.put_back(slot, class, at);
        }
        let (flow, all) = (sender.flow, sender.is_handed_over());
        if sender.is_done() {
            self.end(slot, now);
        }
        if all && self.dependencies.is_some() {
            self.on_handed_over(flow, now, context);
        }
    }

    /// After feedback: ends the sender, or lets it continue if it has something to send again.
    pub(super) fn revisit(&mut self, slot: u32, now: Instant) {
        let Some(sender) = &mut self.senders[slot as usize] else { return };
        if sender.in_nic {
            return;
        }
        if sender.is_done() {
            self.end(slot, now);
        } else if sender.has_more() {
            (sender.in_nic, sender.ready_at) = (true, now);
            let (class, at) = (sender.class, sender.eligible_at);
            self.nic.put_back(slot, class, at);
        } else if self.shared.requests {
            self.make_request(slot, now);
        }
    }

    /// Releases the slot of a sender that has ended.
    pub(super) fn end(&mut self, slot: u32, now: Instant) {
        let sender = self.senders[slot as usize].take().expect("it has not ended yet");
        let (place, flows) = (self.shared.places.at(sender.flow.index()).0, self.outgoing.len());
        self.slots.clear(place);
        if let Some(physical_queues) = &mut self.nic.physical_queues {
            physical_queues.give_back(sender.class, sender.physical_queue);
        }
        let sent = sender.sent();
        self.ended.push(sender.flow, sent, flows);
        self.free.push(slot);
        self.forget_timeouts();
        if self.dependencies.is_some() {
            if sent.acknowledged.is_some() {
                self.on_acknowledged(sender.flow, now);
            }
            self.keep_connection(*sender);
        }
    }

    /// Removes the timers of senders that have ended, if most are: they have no effect, but each would be kept until it
    /// expires.
    fn forget_timeouts(&mut self) {
        let senders = self.senders.len() - self.free.len();
        if self.timeouts.len() < 4 * senders + 64 {
            return;
        }
        let senders = &self.senders;
        self.timeouts.retain(|at, (slot, flow)| {
            let sender = senders[slot as usize].as_deref();
            sender.is_some_and(|sender| sender.flow == flow && sender.timer_at == at)
        });
    }

    /// Handles expired retransmission timers.
    pub(super) fn on_timeouts(&mut self, now: Instant) {
        while let Some((at, (slot, flow))) = self.timeouts.pop_due(now) {
            let sender = self.senders[slot as usize].as_deref_mut();
            // The slot may have another sender by now, and the timer may have been reset.
            let current = |sender: &&mut Sender| sender.flow == flow && sender.timer_at == at;
            let Some(sender) = sender.filter(current) else { continue };
            let profile = self.shared.profile(flow);
            if sender.deadline(profile) <= now {
                sender.transport.on_timer(profile, now);
            }
            sender.timer_at = sender.deadline(profile);
            if sender.timer_at != Instant::NEVER {
                self.timeouts.push(sender.timer_at, (slot, flow));
            }
            self.revisit(slot, now);
        }
    }
}

/// Gives a telemetry record to a packet.
#[cold]
fn add_record(packet: &mut Packet, kind: Kind<'_>, context: &mut Context) {
    if let Some(records) = &mut context.telemetry {
        packet.set_record(records.take(kind));
    }
}
