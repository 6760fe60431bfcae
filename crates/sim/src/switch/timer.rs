//! Timed work of a switch: samples, changes of routes and of queue management, and the timers of mechanisms.

use floodway_model::Instant;

use super::Switch;
use crate::context::Context;
use crate::observe::Kinds;

impl Switch {
    /// Sets the switch timer, which serves everything that does not belong to one port.
    pub(super) fn set_timer(&mut self) {
        let mechanisms = self.mechanisms.next_wake();
        let slot = self.ports.len();
        let sample = self.next_sample_at;
        let change = self.next_change();
        self.timers.set(slot, mechanisms.min(sample).min(change));
    }

    /// Does everything that is due.
    pub(super) fn on_timer(&mut self, now: Instant, context: &mut Context) {
        if self.next_change() <= now {
            self.change(now, context);
        }
        let sampling = *context.metrics.sampling();
        if self.next_sample_at <= now {
            if sampling.at(self.next_sample) == now {
                self.sample(self.next_sample, context);
                if context.wants(Kinds::SAMPLED) {
                    self.state_sample(self.next_sample, now, context);
                }
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
