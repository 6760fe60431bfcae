//! The watchdog of PFC in a switch: it sees pauses come and packets wait, and acts in a storm. Kept
//! out of line, so that switches without it are not slower.

use floodway_model::Instant;
use floodway_model::id::CLASSES;

use super::Switch;
use super::flow_control::pausing::Source;
use super::flow_control::pfc::watchdog::{Action, Due, Watchdog};
use super::port::DropReason;
use crate::engine::Context;

impl Switch {
    /// A pause frame has come by `port`.
    #[inline(never)]
    pub(super) fn hear_pause(
        &mut self,
        port: usize,
        (classes, quanta): (u8, u16),
        now: Instant,
        context: &mut Context,
    ) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let mut obeyed = classes;
        let named = (0..CLASSES).filter(|class| classes >> class & 1 != 0);
        for class in named.clone() {
            let queue = Source::new(port, class);
            if quanta > 0 {
                watchdog.hears_pause(queue, now);
            }
            if watchdog.ignores(queue) {
                obeyed &= !(1 << class);
            }
        }
        let here = &mut self.ports[port];
        here.tx.pause(obeyed, quanta, now, context);
        for class in named.filter(|&class| class < here.queues.len() - 1) {
            let pause = &here.tx.pauses()[class];
            // A pause that goes on has been seen when it began.
            if pause.since() == now {
                let waits = pause.until > now && !here.queues[class].is_empty();
                watchdog.waits(Source::new(port, class), waits, now);
            }
        }
        self.set_timer();
    }

    /// A packet has joined `queue` of `egress`.
    #[inline(never)]
    pub(super) fn watch(&mut self, egress: usize, queue: usize, now: Instant) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let watched = Source::new(egress, queue);
        let covered =
            self.spec.flow_control.pfc.as_ref().is_some_and(|pfc| pfc.covers(queue as u8));
        let paused = self.ports[egress].tx.pauses()[queue].until > now;
        if covered && paused && watchdog.is_calm(watched) {
            watchdog.waits(watched, true, now);
            self.set_timer();
        }
    }

    /// Whether a packet for `queue` of `egress` is dropped because of a storm; counts it if so.
    #[inline(never)]
    pub(super) fn dropped_in_storm(&mut self, egress: usize, queue: usize) -> bool {
        let Some(watchdog) = &mut self.watchdog else { return false };
        let queue = Source::new(egress, queue);
        let drops = watchdog.drops(queue);
        if drops {
            watchdog.count_drop(queue);
        }
        drops
    }

    /// Storms that begin or end now.
    pub(super) fn watch_queues(&mut self, now: Instant, context: &mut Context) {
        while let Some((queue, due)) =
            self.watchdog.as_mut().and_then(|watchdog| watchdog.next_due(now))
        {
            let (port, class) = (queue.port(), queue.class());
            let pause = self.ports[port].tx.pauses()[class];
            let waits = !self.ports[port].queues[class].is_empty() && pause.until > now;
            match due {
                Due::Storm { since } if waits && pause.since() <= since => {
                    let watchdog = self.watchdog.as_mut().expect("it said so");
                    match watchdog.begins(queue, now) {
                        Action::Drop => {
                            self.discard_all(port, class, DropReason::Watchdog, now, context);
                            // An isolated flow may have waited for what was dropped.
                            self.nudge(port, now, context);
                        }
                        Action::Forward => {
                            self.ports[port].tx.pause(1 << class, 0, now, context);
                            self.nudge(port, now, context);
                        }
                    }
                }
                // Its pause ended in the meantime, or the storm is over.
                Due::Storm { .. } | Due::Over => {}
            }
        }
    }
}

/// Of one storm, for tables.
impl Watchdog {
    /// Packets dropped in all of them.
    pub fn dropped(&self) -> u64 {
        self.events.iter().map(|event| event.dropped).sum()
    }
}
