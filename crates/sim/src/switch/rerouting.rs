//! Path selection where it is not by hash, packets without a route, and link failures. Kept out of
//! line so that switches that hash are not slowed down.

use std::collections::VecDeque;

use floodway_model::{Instant, Packet, PortIx};

use super::Switch;
use super::change::Epoch;
use super::path::NextHops;
use super::port::{DropReason, Port};
use crate::context::Context;
use crate::failure::Outages;
use crate::pace::Pacing;
use crate::retry::Retry;
use crate::routing::{Hops, Routes};

impl Switch {
    /// The egress port among several, chosen by the state or the load that path selection looks at.
    #[inline(never)]
    pub(super) fn choose_next_hop(&mut self, packet: &Packet, now: Instant) -> Option<usize> {
        let Hops::Equal(ports @ [_, ..]) = self.routes.towards(packet.dst) else { return None };
        let group = self.routes.group(packet.dst);
        let hops = NextHops { at: self.id, group, equal: ports, ports: &self.ports };
        Some(usize::from(self.path.choose(packet, &hops, now)))
    }

    /// Drops a packet that has no route. It is counted at its ingress port.
    #[cold]
    pub(super) fn drop_unroutable(&mut self, packet: &Packet, now: Instant, context: &mut Context) {
        let queue = if packet.is_control() {
            self.spec.feedback.queue(&packet.body).map_or(self.control_queue(), usize::from)
        } else {
            self.spec.data_queue(packet)
        };
        self.drop(packet.ingress.index(), queue, DropReason::NoRoute, packet, now, context);
    }

    /// Registers what links lose, what they send again and what holds back ports, and the times at which the routes
    /// change because of failures with the routes from then on.
    pub fn fail(&mut self, spec: &crate::Spec, epochs: VecDeque<(Instant, Epoch)>) {
        self.epochs = epochs;
        for (number, port) in self.ports.iter_mut().enumerate() {
            let end = (self.id, PortIx(number as u16));
            port.tx.fail(Outages::at(spec, end));
            port.tx.hold(Pacing::at(spec, end));
            let retry = Retry::at(spec, end, port.tx.link());
            port.tx.retry(retry);
        }
    }

    /// When a link failure or repair becomes known, or queue management changes, next.
    pub(super) fn next_change(&self) -> Instant {
        self.epochs.front().map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// Carries out the changes that are due.
    #[cold]
    pub(super) fn change(&mut self, now: Instant, context: &mut Context) {
        let mut routes = None;
        while let Some((at, epoch)) = self.epochs.pop_front() {
            if at > now {
                self.epochs.push_front((at, epoch));
                break;
            }
            match epoch {
                Epoch::Routes(known) => routes = Some(known),
                Epoch::Queues(spec) => self.manage_by(spec, now, context),
            }
        }
        if let Some(routes) = routes {
            self.reroute(routes, now, context);
        }
    }

    /// A failure or repair has become known: installs the new routes, and drops the packets queued
    /// for a link that is down.
    fn reroute(&mut self, routes: Routes, now: Instant, context: &mut Context) {
        self.routes = routes;
        self.path.forget();
        let update = |(number, port): (usize, &mut Port)| {
            port.tx.update(now, context).map(|closes| (number, closes))
        };
        let updated: Vec<_> = self.ports.iter_mut().enumerate().filter_map(update).collect();
        for (port, closes) in updated {
            if closes {
                self.drain(port, now, context);
            } else {
                self.ask_link_up(port, now, context);
            }
        }
    }

    /// Drops everything queued at a port. The accounting is the same as if it had been sent.
    fn drain(&mut self, index: usize, now: Instant, context: &mut Context) {
        let control = self.control_queue();
        while let Some(frame) = self.ports[index].pop_link_control() {
            self.drop(index, control, DropReason::LinkDown, &frame, now, context);
        }
        self.timers.set(index, Instant::NEVER);
        for queue in 0..=control {
            self.discard_all(index, queue, DropReason::LinkDown, now, context);
        }
    }

    /// Drops everything queued in a queue. The accounting is the same as if it had been sent.
    pub(super) fn discard_all(
        &mut self,
        port: usize,
        queue: usize,
        reason: DropReason,
        now: Instant,
        context: &mut Context,
    ) {
        if self.crossbar.is_some() && queue != self.control_queue() {
            return self.discard_crossed(port, queue, reason, now, context);
        }
        while let Some(packet) = self.ports[port].queues[queue].pop() {
            self.discard(port, queue, reason, &packet, now, context);
        }
    }

    /// Drops a packet that has just been taken out of a queue.
    pub(super) fn discard(
        &mut self,
        port: usize,
        queue: usize,
        reason: DropReason,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        if self.ports[port].queues[queue].is_empty() {
            self.ports[port].waiting &= !(1 << queue);
        }
        self.drop(port, queue, reason, packet, now, context);
        if queue != self.control_queue() {
            self.release(port, queue, packet, now, context);
        }
    }
}
