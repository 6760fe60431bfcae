//! What a host writes down about its port over time, if that is recorded.

use floodway_model::Instant;

use super::Host;
use crate::context::Context;
use crate::metric::Sampling;
use crate::observe::record::Schedule;
use crate::observe::{Fact, Kinds};

/// When the port of a host is sampled for the record.
#[derive(Debug)]
pub struct Record {
    schedule: Schedule,
    /// The sample that is next, and when it is due.
    next: usize,
    at: Instant,
}

impl Host {
    /// Its port is to be recorded at this many samples at most.
    pub fn record(&mut self, limit: u32, sampling: &Sampling) {
        let at = if sampling.count > 0 { sampling.at(0) } else { Instant::NEVER };
        self.record = Some(Box::new(Record { schedule: Schedule::new(limit), next: 0, at }));
        self.schedule();
        self.set_wake();
    }

    /// After a change of the next start, or of the next moment of the record.
    pub(super) fn schedule(&mut self) {
        let recorded = self.record.as_ref().map_or(Instant::NEVER, |record| record.at);
        self.scheduled_at = self.next_start.min(recorded);
    }

    /// A flow is to begin or the port to be recorded. What else is due comes before the record, as in
    /// switches; but a host that wakes for its record alone does nothing else.
    #[inline(never)]
    pub(super) fn run_scheduled(&mut self, now: Instant, context: &mut Context) {
        let mut due = self.record.take_if(|record| record.at <= now);
        if due.is_some() {
            self.schedule();
            self.set_wake();
        }
        if self.wake <= now {
            self.nic.tx.update(now, context);
            self.start(now);
            self.act(now, context);
        }
        let Some(record) = &mut due else { return };
        record.schedule.take(record.next);
        let backlogs = self.nic.backlogs();
        context.state(Kinds::SAMPLED, self.id, now, || Fact::Sampled {
            sample: record.next,
            port: 0,
            ports: 1,
            tx: &self.nic.tx,
            backlogs: &backlogs,
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
