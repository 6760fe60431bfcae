//! MAC control frames to neighbors, chiefly pause frames. Like all frames they have a length and
//! occupy the wire.

use std::ops::Range;

use floodway_model::packet::length;
use floodway_model::{Body, FlowId, Instant, Packet};

use super::Switch;
use super::flow_control::pausing::Source;
use super::mechanism::own_frame;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

impl Switch {
    /// Builds a MAC control frame for the neighbor at `port`.
    fn link_control(&self, port: usize, body: Body, bytes: u16) -> Packet {
        let peer = self.ports[port].tx.link().peer;
        own_frame(self.id, peer, FlowId(u32::MAX), bytes, &self.spec, body)
    }

    /// Pauses or resumes (0 quanta) one class of a neighbor. Where a PFC frame may cover several
    /// classes, the frame is only prepared and this port is added to `ports`;
    /// [`Switch::send_combined`] then sends it.
    pub(super) fn send_pfc(
        &mut self,
        source: Source,
        quanta: u16,
        ports: &mut Range<usize>,
        now: Instant,
        context: &mut Context,
    ) {
        if quanta > 0 && context.wants(Kinds::PAUSES) {
            self.state_cause(source, false, now, context);
        }
        let (port, class) = (source.port(), 1 << source.class());
        if self.combines() {
            let (first, end) = (ports.start.min(port), ports.end.max(port + 1));
            *ports = if ports.start == ports.end { port..port + 1 } else { first..end };
            return self.combine_pfc(port, class, quanta);
        }
        let body = Body::Pfc { classes: class, quanta, resumed: 0 };
        self.send_link_control(port, body, length::SHORTEST_FRAME, now, context);
    }

    /// Pauses everything that a neighbor sends, or resumes it (0 quanta).
    pub(super) fn send_pause(
        &mut self,
        port: usize,
        quanta: u16,
        now: Instant,
        context: &mut Context,
    ) {
        if quanta > 0 && context.wants(Kinds::PAUSES) {
            self.state_cause(Source::new(port, 0), false, now, context);
        }
        self.send_link_control(port, Body::Pause { quanta }, length::SHORTEST_FRAME, now, context);
    }

    /// States because of which queue a neighbor is paused or out of credit: the one with most of the bytes
    /// that keep it paused.
    #[cold]
    pub(super) fn state_cause(
        &self,
        source: Source,
        is_known: bool,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(queue) = self.fullest(source, is_known) else { return };
        let flows = &*self.flows_at(queue);
        let (port, class) = (source.port(), source.class());
        let fact = || Fact::Pauses { port, class, queue, flows, is_known };
        context.state(Kinds::PAUSES, self.id, now, fact);
    }

    fn combines(&self) -> bool {
        self.spec.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.combine_classes)
    }

    /// Sends the frames that [`Switch::send_pfc`] prepared at these ports.
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
                self.kick_port(port, now, context);
            }
        }
    }

    /// Adds the pause of a class (given as a bit) to a frame queued for the wire, or to a new one,
    /// and removes the class from any frame with an older pause. All classes that one frame pauses
    /// have the same pause time.
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
            // Reuse a frame that would otherwise be left without a class.
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
        let frame = self.link_control(port, body, length::SHORTEST_FRAME);
        self.ports[port].push_link_control(frame);
        self.emitted += 1;
        self.pfc_frames += 1;
    }

    /// Sends a MAC control frame on `port`, or updates a queued frame that it supersedes.
    pub(super) fn send_link_control(
        &mut self,
        port: usize,
        body: Body,
        bytes: u16,
        now: Instant,
        context: &mut Context,
    ) {
        if self.ports[port].tx.is_closed() {
            return;
        }
        let frame = self.link_control(port, body, bytes);
        let mut waiting = self.ports[port].link_control_mut();
        match waiting.find(|old| outdates(&body, &old.body)) {
            Some(old) => old.body = body,
            None => {
                drop(waiting);
                self.ports[port].push_link_control(frame);
                self.emitted += 1;
                self.kick_port(port, now, context);
            }
        }
    }
}

/// Whether a MAC control frame supersedes another one for the same neighbor, so that only the newer
/// need be sent.
fn outdates(new: &Body, old: &Body) -> bool {
    match (new, old) {
        (Body::Pause { .. }, Body::Pause { .. }) => true,
        (Body::Pfc { classes, .. }, Body::Pfc { classes: before, .. }) => classes == before,
        (
            Body::Bfc { class, physical_queue, .. },
            Body::Bfc { class: c, physical_queue: l, .. },
        ) => (class, physical_queue) == (c, l),
        (Body::LinkCredit { class, .. }, Body::LinkCredit { class: before, .. }) => class == before,
        _ => false,
    }
}
