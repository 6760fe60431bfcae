//! The table about the frames of interactive applications.

use floodway_model::table::Table;

use super::FlowFacts;
use crate::engine::Finished;
use crate::host::application::Frame;

/// In order of host, of flow, and of making.
pub fn table(finished: &Finished, facts: &FlowFacts) -> Table {
    let applications = || finished.hosts.iter().flat_map(|host| &host.applications);
    // Of a frame, when it had arrived completely.
    let mut rows: Vec<(u64, Frame, f64)> = Vec::new();
    for application in applications() {
        let arrived = facts.receivers[application.flow.index()].pushed();
        let mut arrived = arrived.iter().peekable();
        for frame in &application.frames {
            while arrived.next_if(|(psn, _)| *psn < frame.last).is_some() {}
            let at = arrived.peek().filter(|(psn, _)| *psn == frame.last);
            let at = at.map_or(f64::NAN, |(_, at)| at.0 as f64 / 1e3);
            rows.push((u64::from(application.flow.0), *frame, at));
        }
    }
    Table::new("frames", "One row per frame that an interactive application handed to its transport; empty without such applications.")
        .u64("flow", "Number of the flow.", rows.iter().map(|row| row.0).collect())
        .f64("made_ns", "When it was made.", rows.iter().map(|row| row.1.made.0 as f64 / 1e3).collect())
        .u64("bytes", "Its payload.", rows.iter().map(|row| row.1.bytes).collect())
        .f64("arrived_ns", "When it had arrived completely and in order; empty if that did not happen before the run ended.", rows.iter().map(|row| row.2).collect())
}
