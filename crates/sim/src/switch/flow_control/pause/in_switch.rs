//! PAUSE in a switch: compares backlogs with the thresholds whenever they change, pauses and
//! resumes neighbors, and refreshes pauses before they expire.

use floodway_model::Instant;

use super::{Pause, Spec, neighbor};
use crate::switch::buffer::Buffer;
use crate::switch::flow_control::pausing::{Held, On, Order, Paused, Source};
use crate::switch::mechanism::{Action, Actions, Events, Joined, Left, Mechanism, Site, View};

impl Mechanism for Pause {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        Some(Self::new(spec, site))
    }

    fn wants(&self) -> Events {
        Events::JOINED.and(Events::LEFT).and(Events::TIMER)
    }

    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        self.on_enqueue(joined.egress, joined.packet, view);
        self.carry_out(view, actions);
    }

    fn on_left(&mut self, left: &Left<'_>, view: &View<'_>, actions: &mut Actions) {
        self.on_dequeue(left.egress, left.packet, view);
        self.carry_out(view, actions);
    }

    fn next_wake(&self) -> Instant {
        self.ledger.next_refresh()
    }

    fn on_timer(&mut self, view: &View<'_>, actions: &mut Actions) {
        let quanta = self.spec.quanta;
        let on = |source: Source| On::link(&view.ports[source.port()].tx, quanta);
        while let Some(source) = self.ledger.refresh(view.now, on) {
            actions.push(Action::PausePort { port: source.port(), quanta });
        }
    }

    fn on_link_up(&mut self, port: usize, view: &View<'_>, actions: &mut Actions) {
        let (source, quanta) = (neighbor(port), self.spec.quanta);
        if self.ledger.holds(source) {
            self.ledger.repeat(source, view.now, On::link(&view.ports[port].tx, quanta));
            actions.push(Action::PausePort { port, quanta });
        }
    }

    fn stops_ports(&self) -> bool {
        true
    }

    fn pauses_sent(&self, port: usize, class: usize) -> Option<&Paused> {
        Some(self.ledger.sent_pauses(port, class))
    }

    fn held(&self, source: Source, _: &Buffer) -> Option<Held> {
        self.ledger.holds(source).then(|| self.holds_until(source))
    }
}

impl Pause {
    fn carry_out(&mut self, view: &View<'_>, actions: &mut Actions) {
        let quanta = self.spec.quanta;
        for order in self.orders.drain(..) {
            let (port, said) = match order {
                Order::Pause(source) => (source.port(), quanta),
                Order::Resume(source) => (source.port(), 0),
            };
            let on = On::link(&view.ports[port].tx, quanta);
            self.ledger.carry_out(order, view.now, on);
            actions.push(Action::PausePort { port, quanta: said });
        }
    }
}
