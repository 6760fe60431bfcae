//! Pause frames to neighbours, which are frames like others, with their lengths and their time on the wire, and
//! what a switch does at times of its own.

use std::ops::Range;

use floodway_model::packet::length;
use floodway_model::{Body, FlowId, Instant, Packet};

use super::Switch;
use super::flow_control::pausing::Source;
use super::mechanism::own_frame;
use crate::engine::Context;

impl Switch {
    /// A frame from here to the neighbour at `port`.
    pub(super) fn one_hop(&self, flow: FlowId, port: usize, bytes: u16, body: Body) -> Packet {
        let peer = self.ports[port].tx.link().peer;
        own_frame(self.id, peer, flow, bytes, &self.spec, body)
    }

    /// Tells a neighbour about one class. If there may be room for others in the frame, it is sent when all
    /// have been said, by [`Switch::send_combined`] for `ports`, which includes this one then.
    pub(super) fn say_pfc(
        &mut self,
        source: Source,
        quanta: u16,
        ports: &mut Range<usize>,
        now: Instant,
        context: &mut Context,
    ) {
        let (port, class) = (source.port(), 1 << source.class());
        if self.combines() {
            let (first, end) = (ports.start.min(port), ports.end.max(port + 1));
            *ports = if ports.start == ports.end { port..port + 1 } else { first..end };
            return self.combine_pfc(port, class, quanta);
        }
        let body = Body::Pfc { classes: class, quanta, resumed: 0 };
        self.send_link_control(port, body, now, context);
    }

    /// Stops a neighbour, or lets it go on.
    pub(super) fn send_pause(
        &mut self,
        port: usize,
        quanta: u16,
        now: Instant,
        context: &mut Context,
    ) {
        self.send_link_control(port, Body::Pause { quanta }, now, context);
    }

    fn combines(&self) -> bool {
        self.spec.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.combine_classes)
    }

    /// Sends what [`Switch::say_pfc`] has left in the lines of these ports.
    pub(super) fn send_combined(
        &mut self,
        ports: Range<usize>,
        now: Instant,
        context: &mut Context,
    ) {
        if !self.combines() {
            return;
        }
        for port in ports {
            if self.ports[port].link_control_mut().next().is_some() {
                self.nudge(port, now, context);
            }
        }
    }

    /// Puts the time of a class (a bit) into a frame that waits for the wire, out of one that has another
    /// time of it, or into a new one. All classes that a frame pauses have the same time.
    fn combine_pfc(&mut self, port: usize, class: u8, time: u16) {
        if self.ports[port].tx.is_closed() {
            return;
        }
        let mut best: Option<usize> = None;
        for (place, old) in self.ports[port].link_control_mut().enumerate() {
            let Body::Pfc { classes, quanta, resumed } = &mut old.body else { continue };
            let had = (*classes | *resumed) & class != 0;
            *classes &= !class;
            *resumed &= !class;
            let fits = time == 0 || *classes == 0 || *quanta == time;
            // None is left without a class.
            let empty = had && *classes | *resumed == 0;
            if empty || fits && best.is_none() {
                best = Some(place);
            }
        }
        if let Some(place) = best {
            let old = self.ports[port].link_control_mut().nth(place).expect("it was there");
            let Body::Pfc { classes, quanta, resumed } = &mut old.body else { return };
            if time == 0 {
                *resumed |= class;
            } else {
                *classes |= class;
                *quanta = time;
            }
            return;
        }
        let (classes, resumed) = if time == 0 { (0, class) } else { (class, 0) };
        let body = Body::Pfc { classes, quanta: time, resumed };
        let frame = self.one_hop(FlowId(u32::MAX), port, length::SHORTEST_FRAME, body);
        self.ports[port].push_link_control(frame);
        self.emitted += 1;
        self.pfc_frames += 1;
    }

    /// Sends a MAC control frame by `port`, in place of one that waits there for the wire and is out
    /// of date by it.
    pub(super) fn send_link_control(
        &mut self,
        port: usize,
        body: Body,
        now: Instant,
        context: &mut Context,
    ) {
        // Nobody would hear it.
        if self.ports[port].tx.is_closed() {
            return;
        }
        let frame = self.one_hop(FlowId(u32::MAX), port, length::SHORTEST_FRAME, body);
        let mut waiting = self.ports[port].link_control_mut();
        match waiting.find(|old| outdates(&body, &old.body)) {
            Some(old) => old.body = body,
            None => {
                drop(waiting);
                self.ports[port].push_link_control(frame);
                self.emitted += 1;
                self.nudge(port, now, context);
            }
        }
    }

    /// The link of a port works again, and its other end has forgotten all pauses: says again what
    /// still holds.
    pub(super) fn repeat_pauses(&mut self, port: usize, now: Instant, context: &mut Context) {
        self.ask_link_up(port, now, context);
    }

    /// The alarm for what is not about one port.
    pub(super) fn set_timer(&mut self) {
        let mechanisms = self.mechanisms.next_wake();
        let slot = self.ports.len();
        // Samples keep their own time; the earliest rings.
        let sample = self.next_sample_at;
        let change = self.next_change();
        self.alarms.set(slot, mechanisms.min(sample).min(change));
    }

    /// Samples and refreshes that are due.
    pub(super) fn on_timer(&mut self, now: Instant, context: &mut Context) {
        if self.next_change() <= now {
            self.change_ways(now, context);
        }
        let sampling = *context.metrics.sampling();
        if self.next_sample_at <= now {
            if sampling.at(self.next_sample) == now {
                self.sample(self.next_sample, context);
                self.record(self.next_sample, now);
                self.next_sample += 1;
            }
            let more = self.next_sample < sampling.count;
            self.next_sample_at = if more { sampling.at(self.next_sample) } else { Instant::NEVER };
        }
        while self.mechanisms.next_wake() <= now {
            self.ask_timer(now, context);
        }
        self.set_timer();
    }
}

/// Whether a MAC control frame says all that another one for the same neighbour does, so that only the newer
/// need be sent.
fn outdates(new: &Body, old: &Body) -> bool {
    match (new, old) {
        (Body::Pause { .. }, Body::Pause { .. }) => true,
        (Body::Pfc { classes, .. }, Body::Pfc { classes: before, .. }) => classes == before,
        (Body::Bfc { class, lane, .. }, Body::Bfc { class: c, lane: l, .. }) => {
            (class, lane) == (c, l)
        }
        _ => false,
    }
}
