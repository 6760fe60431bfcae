//! The tables of what applications hand to their transports: frames of interactive flows, and
//! database requests.

use floodway_model::table::Table;
use floodway_model::tables::{entries, frames};
use floodway_model::{FlowId, Instant, NodeId};

use super::nanoseconds;
use super::nodes::{FlowFacts, Requests};
use crate::Spec;
use crate::run::Finished;

/// Arrival times of segments together with everything before them, in order of segment numbers, in
/// nanoseconds; NaN if a segment has not arrived.
struct Arrivals<'a>(std::iter::Peekable<std::slice::Iter<'a, (u32, Instant)>>);

impl<'a> Arrivals<'a> {
    fn of(flow: FlowId, facts: &'a FlowFacts) -> Self {
        Self(facts.pushed.get(&flow).map_or(&[][..], Vec::as_slice).iter().peekable())
    }

    fn next(&mut self, last: u32) -> f64 {
        while self.0.next_if(|(psn, _)| *psn < last).is_some() {}
        let at = self.0.peek().filter(|(psn, _)| *psn == last);
        at.map_or(f64::NAN, |(_, at)| nanoseconds(*at))
    }
}

/// Rows in order of host, flow, and generation.
pub(super) fn table(requests: &[(NodeId, FlowId, Requests)], facts: &FlowFacts) -> Table {
    let mut rows = Vec::new();
    for (_, flow, requests) in requests {
        let Requests::Frames(frames) = requests else { continue };
        let mut arrivals = Arrivals::of(*flow, facts);
        rows.extend(frames.iter().map(|frame| frames::Row {
            flow: flow.0.into(),
            made_ns: nanoseconds(frame.made),
            bytes: frame.bytes,
            arrived_ns: arrivals.next(frame.last),
        }));
    }
    rows.into_iter().collect()
}

/// Rows in order of host, flow, and request.
pub(super) fn entries(
    spec: &Spec,
    finished: &Finished,
    requests: &[(NodeId, FlowId, Requests)],
    facts: &FlowFacts,
) -> Table {
    let measured = spec.warmup.0..finished.metrics.sampling().measured_until.0;
    let mut rows = Vec::new();
    for (_, flow, requests) in requests {
        let Requests::Entries(entries) = requests else { continue };
        let mut arrivals = Arrivals::of(*flow, facts);
        rows.extend(entries.iter().map(|entry| entries::Row {
            flow: flow.0.into(),
            requested_ns: nanoseconds(entry.requested),
            bytes: entry.bytes,
            arrived_ns: arrivals.next(entry.last),
            completed_ns: entry.completed.map_or(f64::NAN, nanoseconds),
            measured: u64::from(measured.contains(&entry.requested.0)),
        }));
    }
    rows.into_iter().collect()
}
