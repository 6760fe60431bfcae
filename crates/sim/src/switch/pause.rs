//! PAUSE in a switch: neighbours are told to stop and to go on. Kept out of line, so that switches
//! without it are not slower.

use floodway_model::{Body, Instant, Packet};

use super::Switch;
use super::flow_control::pause::{self, Pause};
use super::flow_control::pausing::{On, Order, Source};
use crate::engine::Context;

impl Switch {
    /// A data packet has joined a queue of `egress`: stop whom it makes too many bytes of.
    #[inline(never)]
    pub(super) fn pause_if_above(
        &mut self,
        egress: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        self.ask_pause(Pause::on_enqueue, egress, packet, now, context);
    }

    /// A data packet has left a queue of `egress`: let go on whom it makes few bytes of.
    #[inline(never)]
    pub(super) fn resume_if_below(
        &mut self,
        egress: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        self.ask_pause(Pause::on_dequeue, egress, packet, now, context);
    }

    fn ask_pause(
        &mut self,
        ask: impl Fn(&mut Pause, &pause::Spec, &Packet, &pause::View<'_>, &mut Vec<Order>),
        egress: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(spec) = &self.spec.flow_control.pause else { return };
        let Some(pause) = &mut self.pause else { return };
        let (ports, memory, buffer) = (&self.ports[..], self.occupancy.bytes(), &self.buffer);
        ask(pause, spec, packet, &pause::View { ports, egress, memory, buffer }, &mut self.orders);
        if self.orders.is_empty() {
            return;
        }
        let full = spec.quanta;
        let mut orders = std::mem::take(&mut self.orders);
        for order in orders.drain(..) {
            let (port, quanta) = match order {
                Order::Pause(source) => (source.port(), full),
                Order::Resume(source) => (source.port(), 0),
            };
            let on = On::link(&self.ports[port].tx, full);
            self.pause.as_mut().expect("it gave the order").ledger.carry_out(order, now, on);
            self.send_pause(port, quanta, now, context);
        }
        self.orders = orders;
        self.set_timer();
    }

    /// Says again what is about to expire.
    pub(super) fn refresh_pauses(&mut self, now: Instant, context: &mut Context) {
        while let (Some(spec), Some(pause)) = (&self.spec.flow_control.pause, &mut self.pause) {
            let (quanta, ports) = (spec.quanta, &self.ports);
            let on = |source: Source| On::link(&ports[source.port()].tx, quanta);
            let due = pause.ledger.refresh(now, on);
            let Some(source) = due else { break };
            self.send_pause(source.port(), quanta, now, context);
        }
    }

    pub(super) fn send_pause(
        &mut self,
        port: usize,
        quanta: u16,
        now: Instant,
        context: &mut Context,
    ) {
        let same = |old: &Body| matches!(old, Body::Pause { .. });
        self.send_link_control(port, Body::Pause { quanta }, same, now, context);
    }
}
