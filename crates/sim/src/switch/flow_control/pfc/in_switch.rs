//! Priority-based flow control in a switch: compares backlogs with the thresholds whenever they
//! change, pauses and resumes neighbors, and refreshes pauses before they expire. The watchdog
//! observes the pauses from neighbors and the queues that they stop.

use floodway_model::Instant;
use floodway_model::id::CLASSES;

use super::watchdog::{self, Due, Event};
use super::{Charge, Pfc, Spec};
use crate::metric::Tally;
use crate::switch::buffer::Buffer;
use crate::switch::flow_control::pausing::{Held, On, Order, Paused, Source, source_of};
use crate::switch::mechanism::{
    Action, Actions, Dropped, Events, Joined, Left, Mechanism, Site, View,
};
use crate::switch::port::{DropReason, Port};

impl Mechanism for Pfc {
    type Spec = Spec;

    fn build(spec: &Spec, site: &Site<'_>) -> Option<Self> {
        Some(Self::new(spec, site))
    }

    #[inline(always)]
    fn wants(&self) -> Events {
        let own = Events::JOINED.and(Events::LEFT).and(Events::TIMER);
        match self.watchdog {
            None => own,
            Some(_) => own.and(Events::ADMITTED).and(Events::PAUSED).and(Events::DROPPED),
        }
    }

    #[inline(always)]
    fn minds_joined(&self, joined: &Joined<'_>, ports: &[Port], buffer: &Buffer) -> bool {
        let Joined { egress, queue, packet, .. } = *joined;
        let charge = Charge { source: source_of(packet), egress: (egress, queue) };
        self.watchdog.is_some()
            || self.meter_minds(charge, true, &ports[egress].queues[queue], buffer)
    }

    #[inline(always)]
    fn minds_left(&self, left: &Left<'_>, ports: &[Port], buffer: &Buffer) -> bool {
        let Left { egress, queue, packet } = *left;
        let charge = Charge { source: source_of(packet), egress: (egress, queue) };
        self.meter_minds(charge, false, &ports[egress].queues[queue], buffer)
    }

    fn on_joined(&mut self, joined: &Joined<'_>, view: &View<'_>, actions: &mut Actions) {
        let Joined { egress, queue, packet, .. } = *joined;
        let charge = Charge { source: source_of(packet), egress: (egress, queue) };
        self.on_enqueue(charge, &view.ports[egress].queues[queue], view.buffer);
        if !self.orders.is_empty() {
            self.carry_out(view, actions);
        }
        if self.watchdog.is_some() {
            self.watch(egress, queue, view, actions);
        }
    }

    fn on_left(&mut self, left: &Left<'_>, view: &View<'_>, actions: &mut Actions) {
        let Left { egress, queue, packet } = *left;
        let charge = Charge { source: source_of(packet), egress: (egress, queue) };
        self.on_dequeue(charge, &view.ports[egress].queues[queue], view.buffer);
        if !self.orders.is_empty() {
            self.carry_out(view, actions);
        }
    }

    fn admits(&mut self, egress: usize, queue: usize) -> Result<(), DropReason> {
        let watchdog = self.watchdog.as_ref().filter(|dog| dog.drops(Source::new(egress, queue)));
        watchdog.map_or(Ok(()), |_| Err(DropReason::Watchdog))
    }

    fn on_dropped(&mut self, dropped: &Dropped<'_>, _: &View<'_>, _: &mut Actions) {
        if let (DropReason::Watchdog, Some(watchdog)) = (dropped.reason, &mut self.watchdog) {
            watchdog.count_drop(Source::new(dropped.egress, dropped.queue));
        }
    }

    fn disobeys(&mut self, port: usize, classes: u8, quanta: u16, view: &View<'_>) -> u8 {
        let Some(watchdog) = &mut self.watchdog else { return 0 };
        let mut disobeyed = 0;
        for class in (0..CLASSES).filter(|class| classes >> class & 1 != 0) {
            let queue = Source::new(port, class);
            if quanta > 0 {
                watchdog.hears_pause(queue, view.now);
            }
            disobeyed |= u8::from(watchdog.ignores(queue)) << class;
        }
        disobeyed
    }

    fn on_paused(&mut self, port: usize, classes: u8, view: &View<'_>, actions: &mut Actions) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let (here, data) = (&view.ports[port], usize::from(view.spec.queue.count));
        for class in (0..data).filter(|class| classes >> class & 1 != 0) {
            let pause = &here.tx.pauses()[class];
            // A pause that is only extended was handled when it began.
            if pause.since() == view.now {
                let waits = pause.until > view.now && !here.queues[class].is_empty();
                watchdog.waits(Source::new(port, class), waits, view.now);
            }
        }
        actions.push(Action::Arm);
    }

    fn next_wake(&self) -> Instant {
        let watched = self.watchdog.as_ref().map_or(Instant::NEVER, |dog| dog.wakes_at());
        self.ledger.next_refresh().min(watched)
    }

    fn on_timer(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.find_storms(view, actions);
        if !actions.is_empty() {
            // The reaction to a storm may resume neighbors. This function is called again
            // afterwards.
            return;
        }
        let quanta = self.spec.quanta;
        let on = |source: Source| On::link(&view.ports[source.port()].tx, quanta);
        while let Some(source) = self.ledger.refresh(view.now, on) {
            actions.push(Action::Pause { source, quanta });
        }
    }

    fn on_link_up(&mut self, port: usize, view: &View<'_>, actions: &mut Actions) {
        let quanta = self.spec.quanta;
        for source in (0..CLASSES).map(|class| Source::new(port, class)) {
            if self.ledger.holds(source) {
                self.ledger.repeat(source, view.now, On::link(&view.ports[port].tx, quanta));
                actions.push(Action::Pause { source, quanta });
            }
        }
    }

    fn pauses_sent(&self, port: usize, class: usize) -> Option<&Paused> {
        Some(self.ledger.sent_pauses(port, class))
    }

    fn held(&self, source: Source, buffer: &Buffer) -> Option<Held> {
        self.ledger.holds(source).then(|| self.holds_until(source, buffer))
    }

    fn storms(&self) -> &[Event] {
        self.watchdog.as_ref().map_or(&[], |dog| &dog.events)
    }

    fn count(&self, tally: &mut Tally) {
        let storms = self.storms();
        tally.watchdog_storms += storms.len() as u64;
        tally.watchdog_drops += storms.iter().map(|storm| storm.dropped).sum::<u64>();
    }
}

impl Pfc {
    #[cold]
    fn carry_out(&mut self, view: &View<'_>, actions: &mut Actions) {
        let quanta = self.spec.quanta;
        for order in self.orders.drain(..) {
            let (source, action) = match order {
                Order::Pause(source) => (source, Action::Pause { source, quanta }),
                Order::Resume(source) => (source, Action::Resume { source }),
            };
            let on = On::link(&view.ports[source.port()].tx, quanta);
            self.ledger.carry_out(order, view.now, on);
            actions.push(action);
        }
    }

    /// A packet has joined `queue` of `egress`, which may be paused.
    #[cold]
    fn watch(&mut self, egress: usize, queue: usize, view: &View<'_>, actions: &mut Actions) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let watched = Source::new(egress, queue);
        let paused = view.ports[egress].tx.pauses()[queue].until > view.now;
        if self.spec.covers(queue as u8) && paused && watchdog.is_calm(watched) {
            watchdog.waits(watched, true, view.now);
            actions.push(Action::Arm);
        }
    }

    /// Detects storms that begin or end now.
    fn find_storms(&mut self, view: &View<'_>, actions: &mut Actions) {
        let Some(watchdog) = &mut self.watchdog else { return };
        while let Some((queue, due)) = watchdog.next_due(view.now) {
            let port = &view.ports[queue.port()];
            let pause = port.tx.pauses()[queue.class()];
            let waits = !port.queues[queue.class()].is_empty() && pause.until > view.now;
            match due {
                Due::Storm { since } if waits && pause.since() <= since => {
                    actions.push(match watchdog.begins(queue, view.now) {
                        watchdog::Action::Drop => {
                            Action::Discard { place: queue, reason: DropReason::Watchdog }
                        }
                        watchdog::Action::Forward => Action::IgnorePause { place: queue },
                    });
                }
                // The pause ended in the meantime, or the storm is over.
                Due::Storm { .. } | Due::Over => {}
            }
        }
    }
}
