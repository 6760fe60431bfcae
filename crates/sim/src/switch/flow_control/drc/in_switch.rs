//! The part of Directional Rate Control that runs in a switch: reports the severity of congestion
//! at the output ports to neighbors, and sorts outgoing packets by the output ports of the next
//! hop.

use floodway_model::packet::length;
use floodway_model::{Body, Instant};

use super::by_direction::ByDirection;
use super::{Feedback, Spec};
use crate::metric::Tally;
use crate::switch::discipline::Discipline;
use crate::switch::mechanism::{Action, Actions, Events, Joined, Left, Mechanism, Site, View};

/// Feedback of a switch about its output ports.
#[derive(Debug)]
pub struct Drc(Feedback);

impl Drc {
    /// The backlog of an output port has changed: notifies the neighbors if its severity has.
    fn observe(&mut self, port: usize, view: &View<'_>, actions: &mut Actions) {
        let bytes = view.ports[port].occupancy.bytes();
        if self.0.observe(port, bytes, view.now) {
            self.send(view.now, actions);
        }
    }

    /// Sends the frames that are due. The content of each is determined when it leaves.
    fn send(&mut self, now: Instant, actions: &mut Actions) {
        actions.push(Action::Arm);
        while let Some(port) = self.0.next(now) {
            let body = Body::Drc { group: 0, mask: 0, statuses: 0 };
            actions.push(Action::SendLinkControl { port, body, bytes: length::SHORTEST_FRAME });
        }
    }
}

impl Mechanism for Drc {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        let buffer = spec.buffer(site.queues as u8, site.queue_size);
        Some(Self(Feedback::new(spec, buffer, site.ports.len())))
    }

    fn discipline(
        &self,
        site: &Site<'_>,
        port: usize,
        queue: usize,
    ) -> Option<Box<dyn Discipline>> {
        let regulator = site.peers.regulator(site.ports[port].link.peer)?;
        Some(Box::new(ByDirection::new(regulator, queue)))
    }

    fn wants(&self) -> Events {
        Events::JOINED.and(Events::LEFT).and(Events::TIMER).and(Events::LINK_CONTROL)
    }

    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        self.observe(joined.egress, view, actions);
    }

    fn on_left(&mut self, left: &Left<'_>, view: &View<'_>, actions: &mut Actions) {
        self.observe(left.egress, view, actions);
    }

    fn next_wake(&self) -> Instant {
        self.0.next_due()
    }

    fn on_timer(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.0.repeat(view.now);
        self.send(view.now, actions);
    }

    fn on_link_control(&mut self, port: usize, body: Body, now: Instant) -> Body {
        match body {
            Body::Drc { .. } => self.0.leave(port, now),
            _ => body,
        }
    }

    fn count(&self, tally: &mut Tally) {
        tally.drc_feedback_frames += self.0.frames;
    }
}
