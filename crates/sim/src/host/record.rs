//! Recording of a host's port over time.

use floodway_model::Instant;

use super::Host;
use crate::context::Context;
use crate::metric::Sampling;
use crate::observe::record::Schedule;
use crate::observe::{Fact, Kinds};

/// Sampling schedule of the recorded port.
#[derive(Debug)]
pub struct Record {
    schedule: Schedule,
    /// Index of the next sample, and its time.
    next: usize,
    at: Instant,
}

impl Host {
    /// Enables recording of its port, with at most `limit` samples.
    pub fn record(&mut self, limit: u32, sampling: &Sampling) {
        let at = if sampling.count > 0 { sampling.at(0) } else { Instant::NEVER };
        self.record = Some(Box::new(Record { schedule: Schedule::new(limit), next: 0, at }));
        self.schedule();
        self.set_wake();
    }

    /// Updates the scheduled time after a change of the next start or of the next sample.
    pub(super) fn schedule(&mut self) {
        let recorded = self.record.as_ref().map_or(Instant::NEVER, |record| record.at);
        self.scheduled_at = self.next_start.min(recorded);
    }

    /// Whether its next event is a sample, perhaps with others at the same time.
    pub(super) fn is_sampled(&self, now: Instant) -> bool {
        self.record.as_ref().is_some_and(|record| record.at <= now)
    }

    /// Starts the flow or takes the sample that is due. Other events at this time come before the
    /// sample, as in switches; but a host that wakes only for a sample does nothing else.
    #[inline(never)]
    pub(super) fn run_scheduled(&mut self, now: Instant, context: &mut Context) {
        let mut due = self.record.take_if(|record| record.at <= now);
        if due.is_some() {
            self.schedule();
            self.set_wake();
        }
        if self.wake <= now {
            self.nic.tx.update(now, context);
            self.start(now, context);
            self.act(now, context);
        }
        let Some(record) = &mut due else { return };
        record.schedule.take(record.next);
        let backlogs = self.nic.backlogs();
        let held = self.holds.count(now) + self.nic.held();
        context.state(Kinds::SAMPLED, self.id, now, || Fact::Sampled {
            sample: record.next,
            port: 0,
            ports: 1,
            tx: &self.nic.tx,
            backlogs: &backlogs,
            held,
        });
        let sampling = context.metrics.sampling();
        let next = record.schedule.next_after(record.next, sampling);
        (record.next, record.at) =
            next.map_or((record.next, Instant::NEVER), |next| (next, sampling.at(next)));
        self.record = due;
        self.schedule();
        self.set_wake();
    }
}
