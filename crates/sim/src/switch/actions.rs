//! The actions of mechanisms, executed by their switch.

use floodway_model::packet::length;
use floodway_model::{Body, Instant, Packet};

use super::Switch;
use super::mechanism::{Action, Events, Fate, Transit, view};
use crate::context::Context;
use crate::observe::{Fact, Kinds};

impl Switch {
    /// Executes the actions that a mechanism requested.
    #[cold]
    pub(super) fn carry_out(&mut self, now: Instant, context: &mut Context) {
        let mut actions = std::mem::take(&mut self.actions);
        let mut paused = 0..0;
        for action in actions.drain(..) {
            match action {
                Action::Send { frame, except } => self.send_own(&frame, except, now, context),
                Action::SendTo { port, frame } => {
                    self.emitted += 1;
                    self.enqueue_control(port, &frame, now, context);
                }
                Action::Pause { source, quanta } => {
                    self.paused_until_resumed[source.port()] |= 1 << source.class();
                    self.send_pfc(source, quanta, &mut paused, now, context);
                }
                Action::Resume { source } => {
                    self.paused_until_resumed[source.port()] &= !(1 << source.class());
                    let left = self.mechanisms.left(source, &view!(self, now));
                    self.send_pfc(source, left, &mut paused, now, context);
                }
                Action::PauseFor { source, quanta, cause } => {
                    let (port, class) = (source.port(), source.class());
                    if let Some((towards, flow)) = cause {
                        let fact = || Fact::PausesFor { port, class, towards, flow };
                        context.state(Kinds::PAUSES, self.id, now, fact);
                    }
                    self.send_pfc(source, quanta, &mut paused, now, context);
                }
                Action::PausePort { port, quanta } => self.send_pause(port, quanta, now, context),
                Action::SendLinkControl { port, body, bytes } => {
                    self.send_link_control(port, body, bytes, now, context)
                }
                Action::PauseQueue { source, theirs, queue, flow } => {
                    let (port, class) = (source.port(), source.class());
                    let fact = || Fact::PausesQueue { port, class, theirs, queue, flow };
                    context.state(Kinds::PAUSES, self.id, now, fact);
                    let body = Body::Bfc { class: class as u8, physical_queue: theirs, stop: true };
                    self.send_link_control(port, body, length::SHORTEST_FRAME, now, context);
                }
                Action::IgnorePause { place } => {
                    let classes = 1 << place.class();
                    self.ports[place.port()].tx.pause(classes, 0, now, context);
                    self.kick_port(place.port(), now, context);
                }
                Action::Discard { place, reason } => {
                    self.discard_all(place.port(), place.class(), reason, now, context);
                    self.kick_port(place.port(), now, context);
                }
                Action::Arm => {}
            }
        }
        // A nested call may have put another vector here. Keep the one with allocated capacity.
        self.actions = actions;
        self.send_combined(paused, now, context);
        self.set_timer();
    }

    fn send_own(
        &mut self,
        frame: &Packet,
        except: Option<usize>,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(egress) = self.forward(frame, now).filter(|&egress| Some(egress) != except) else {
            return;
        };
        if self.transit(&Transit { frame, egress, own: true }, now, context) == Fate::Forward {
            self.emitted += 1;
            self.enqueue_control(egress, frame, now, context);
        }
    }

    /// A message from a switch to a host is about to leave.
    #[inline]
    pub(super) fn transit(
        &mut self,
        transit: &Transit<'_>,
        now: Instant,
        context: &mut Context,
    ) -> Fate {
        match self.mechanisms.wants().has(Events::TRANSIT) {
            true => self.ask_transit(transit, now, context),
            false => Fate::Forward,
        }
    }
}
