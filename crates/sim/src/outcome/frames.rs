//! The tables of what applications hand to their transports: frames of interactive flows,
//! database requests, and segments of videos.

use std::ops::Range;

use floodway_model::table::Table;
use floodway_model::tables::{entries, frames, video_segments};
use floodway_model::{FlowId, Instant, NodeId};

use super::flow_facts::FlowFacts;
use super::nanoseconds;
use super::nodes::Requests;
use crate::Spec;
use crate::host::application::video::playback::Playback;
use crate::host::application::{self, video::Segment};
use crate::run::Finished;

/// Arrival times of segments together with everything before them, in order of segment numbers;
/// `None` if a segment has not arrived.
struct Arrivals<'a>(std::iter::Peekable<std::slice::Iter<'a, (u32, Instant)>>);

impl<'a> Arrivals<'a> {
    fn of(flow: FlowId, facts: &'a FlowFacts) -> Self {
        Self(facts.pushed.get(&flow).map_or(&[][..], Vec::as_slice).iter().peekable())
    }

    fn next(&mut self, last: u32) -> Option<Instant> {
        while self.0.next_if(|(psn, _)| *psn < last).is_some() {}
        self.0.peek().filter(|(psn, _)| *psn == last).map(|(_, at)| *at)
    }
}

/// In nanoseconds; NaN if it did not happen.
fn time(at: Option<Instant>) -> f64 {
    at.map_or(f64::NAN, nanoseconds)
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
            arrived_ns: time(arrivals.next(frame.last)),
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
            arrived_ns: time(arrivals.next(entry.last)),
            completed_ns: time(entry.completed),
            measured: u64::from(measured.contains(&entry.requested.0)),
        }));
    }
    rows.into_iter().collect()
}

/// Rows in order of host, flow, and segment. What is played follows from arrivals at the client.
pub(super) fn video_segments(
    spec: &Spec,
    finished: &Finished,
    requests: &[(NodeId, FlowId, Requests)],
    facts: &FlowFacts,
    measured: &Range<Instant>,
) -> Table {
    let mut rows = Vec::new();
    for (_, flow, requests) in requests {
        let Requests::Segments(segments) = requests else { continue };
        let (id, flow) = (*flow, spec.flows.at(flow.index()));
        let profile = spec.profiles.get(usize::from(flow.workload)).or(spec.profiles.first());
        let application = profile.and_then(|profile| profile.application.as_ref());
        let Some(application::Spec::Video(video)) = application else { continue };
        let start = facts.start(id.index());
        let end = finished.now.min(flow.stop);
        let mut playback = Playback::new(start);
        let mut arrivals = Arrivals::of(id, facts);
        let row = |(number, segment): (u64, &Segment)| {
            let arrived = arrivals.next(segment.last);
            let played = playback.advance(arrived.map_or(end, |at| at.min(end)));
            let in_time = arrived.filter(|at| *at <= end);
            let starts = in_time.is_some() && playback.arrive(video);
            video_segments::Row {
                workload: flow.workload.into(),
                flow: id.0.into(),
                segment: number,
                bitrate_bps: segment.bitrate.0 as f64,
                bytes: segment.bytes,
                requested_ns: nanoseconds(segment.requested),
                arrived_ns: time(arrived),
                buffer_ns: in_time.map_or(f64::NAN, |_| playback.content().as_ns()),
                stalls: u64::from(played.ran_dry),
                stalled_ns: played.stalled.as_ns(),
                startup_ns: in_time
                    .filter(|_| starts)
                    .map_or(f64::NAN, |at| at.since(start).as_ns()),
                measured: u64::from(measured.contains(&segment.requested)),
            }
        };
        rows.extend((0..).zip(segments).map(row));
    }
    rows.into_iter().collect()
}
