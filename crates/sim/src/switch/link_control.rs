//! MAC control frames to neighbours, pause frames above all. They are frames like others, with their lengths and
//! their time on the wire.

use std::ops::Range;

use floodway_model::packet::length;
use floodway_model::{Body, FlowId, Instant, Packet};

use super::Switch;
use super::flow_control::pausing::Source;
use super::mechanism::own_frame;
use crate::context::Context;

impl Switch {
    /// A MAC control frame to the neighbour at `port`.
    pub(super) fn link_control(&self, port: usize, body: Body) -> Packet {
        let peer = self.ports[port].tx.link().peer;
        own_frame(self.id, peer, FlowId(u32::MAX), length::SHORTEST_FRAME, &self.spec, body)
    }

    /// Pauses or resumes (0 quanta) one class of a neighbour. A frame that may be about several classes is sent
    /// by [`Switch::send_combined`] for `ports`, to which this port is added.
    pub(super) fn send_pfc(
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

    /// Pauses all that a neighbour sends, or resumes it (0 quanta).
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

    /// Sends the frames that [`Switch::send_pfc`] has left at these ports.
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

    /// Puts the pause of a class (a bit) into a frame that waits for the wire, or into a new one, and removes the
    /// class from a frame with an older pause. All classes that a frame pauses have the same pause time.
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
            // A frame must not be left without a class.
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
        let frame = self.link_control(port, body);
        self.ports[port].push_link_control(frame);
        self.emitted += 1;
        self.pfc_frames += 1;
    }

    /// Sends a MAC control frame by `port`, in place of a waiting one that it outdates.
    pub(super) fn send_link_control(
        &mut self,
        port: usize,
        body: Body,
        now: Instant,
        context: &mut Context,
    ) {
        // The link is down.
        if self.ports[port].tx.is_closed() {
            return;
        }
        let frame = self.link_control(port, body);
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
