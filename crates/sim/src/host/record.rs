//! What a host writes down about its port over time, if that is recorded.

use floodway_model::Instant;

use super::Host;
use crate::engine::Context;
use crate::metric::{History, Sampling};

/// The record of a host: it wakes for it, at samples only, at which switches wake too.
#[derive(Debug)]
pub struct Record {
    /// What is kept.
    pub history: History,
    /// The sample that is next.
    next: usize,
}

impl Host {
    /// Its port is to be recorded at this many samples at most.
    pub fn record(&mut self, limit: u32, sampling: &Sampling) {
        let classes = usize::from(self.shared.switch.queue.count);
        self.record = Some(Box::new(Record { history: History::new(limit, 1, classes), next: 0 }));
        self.record_at = if sampling.count > 0 { sampling.at(0) } else { Instant::NEVER };
        self.set_wake();
    }

    /// A sample is due, and perhaps something else, which comes first.
    #[cold]
    pub(super) fn wake_for_sample(&mut self, now: Instant, context: &mut Context) {
        self.record_at = Instant::NEVER;
        self.set_wake();
        if self.wake <= now {
            self.act(now, context);
        }
        let (sampling, nic) = (context.metrics.sampling(), &self.nic);
        let record = self.record.as_mut().expect("it wakes for nothing else");
        if record.history.keeps(record.next) {
            record.history.keep(&nic.tx, now, nic.backlogs());
        }
        if let Some(next) = record.history.next_after(record.next, sampling) {
            (record.next, self.record_at) = (next, sampling.at(next));
        }
        self.set_wake();
    }
}
