//! The tables about what applications hand to their transports: frames of interactive ones, and
//! database entries.

use floodway_model::Instant;
use floodway_model::table::Table;

use super::FlowFacts;
use crate::Spec;
use crate::engine::Finished;
use crate::host::application::entries::Entry;
use crate::host::application::interactive::Frame;
use crate::host::application::{Application, State};

/// When what ends with a segment had arrived with everything before it, in order of numbers, in
/// nanoseconds; NaN if it had not.
struct Arrivals<'a>(std::iter::Peekable<std::slice::Iter<'a, (u32, Instant)>>);

impl<'a> Arrivals<'a> {
    fn of(application: &Application, facts: &FlowFacts<'a>) -> Self {
        Self(facts.receivers[application.flow.index()].pushed().iter().peekable())
    }

    fn next(&mut self, last: u32) -> f64 {
        while self.0.next_if(|(psn, _)| *psn < last).is_some() {}
        let at = self.0.peek().filter(|(psn, _)| *psn == last);
        at.map_or(f64::NAN, |(_, at)| nanoseconds(*at))
    }
}

fn nanoseconds(at: Instant) -> f64 {
    at.0 as f64 / 1e3
}

fn applications(finished: &Finished) -> impl Iterator<Item = &Application> {
    finished.hosts.iter().flat_map(|host| &host.applications)
}

/// In order of host, of flow, and of making.
pub fn table(finished: &Finished, facts: &FlowFacts) -> Table {
    // Of a frame, when it had arrived completely.
    let mut rows: Vec<(u64, Frame, f64)> = Vec::new();
    for application in applications(finished) {
        let State::Interactive(state) = &application.state else { continue };
        let mut arrivals = Arrivals::of(application, facts);
        for frame in &state.frames {
            rows.push((application.flow.0.into(), *frame, arrivals.next(frame.last)));
        }
    }
    Table::new("frames", "One row per frame that an interactive application handed to its transport; empty without such applications.")
        .u64("flow", "Number of the flow.", rows.iter().map(|row| row.0).collect())
        .f64("made_ns", "When it was made.", rows.iter().map(|row| nanoseconds(row.1.made)).collect())
        .u64("bytes", "Its payload.", rows.iter().map(|row| row.1.bytes).collect())
        .f64("arrived_ns", "When it had arrived completely and in order; empty if that did not happen before the run ended.", rows.iter().map(|row| row.2).collect())
}

/// In order of host, of flow, and of request.
pub fn entries(spec: &Spec, finished: &Finished, facts: &FlowFacts) -> Table {
    let mut rows: Vec<(u64, Entry, f64)> = Vec::new();
    for application in applications(finished) {
        let State::Entries(state) = &application.state else { continue };
        let mut arrivals = Arrivals::of(application, facts);
        for entry in &state.entries {
            rows.push((application.flow.0.into(), *entry, arrivals.next(entry.last)));
        }
    }
    let measured = spec.warmup.0..finished.metrics.sampling().measured_until.0;
    Table::new("entries", "One row per database entry that a client handed to its transport; empty without such applications.")
        .u64("flow", "Number of the flow.", rows.iter().map(|row| row.0).collect())
        .f64("requested_ns", "When it was handed over.", rows.iter().map(|row| nanoseconds(row.1.requested)).collect())
        .u64("bytes", "Its payload.", rows.iter().map(|row| row.1.bytes).collect())
        .f64("arrived_ns", "When it had arrived completely and in order at the server; empty if that did not happen before the run ended.", rows.iter().map(|row| row.2).collect())
        .f64("completed_ns", "When the client had an acknowledgement of all of it; empty if that did not happen before the run ended.", rows.iter().map(|row| row.1.completed.map_or(f64::NAN, nanoseconds)).collect())
        .u64("measured", "1 if it was handed over during the measured interval.", rows.iter().map(|row| u64::from(measured.contains(&row.1.requested.0))).collect())
}
