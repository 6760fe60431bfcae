//! The tables of the record: the ports of the fabric at its moments, and pauses from their beginning
//! to their end.

use floodway_model::Instant;
use floodway_model::table::Table;
use floodway_model::tables::{backlogs, moments, nodes, record, stretches};

use super::{End, ends, name_of, nanoseconds};
use crate::Spec;
use crate::metric::{Sampling, Snapshot, Stretch};
use crate::run::Finished;

/// All of them, or none if nothing was recorded.
pub fn tables(spec: &Spec, finished: &Finished) -> Vec<Table> {
    let Some(stretches) = &finished.metrics.stretches else { return Vec::new() };
    let ends = ends(finished);
    let (stretches, left_out) = stretches.earliest();
    let moments = moments(finished, &ends);
    vec![
        record_table(finished, &moments, (&stretches, left_out)),
        node_table(spec),
        moment_table(spec, &moments, &ends),
        backlog_table(spec, &moments, &ends),
        stretch_table(spec, &stretches),
    ]
}

/// A moment of the record.
struct Moment {
    /// Its place among those that are kept.
    place: usize,
    at: Instant,
    /// From the moment before it, or the beginning of the run.
    interval: u64,
}

/// Every so many samples are kept, by all nodes alike.
fn every(ends: &[End]) -> usize {
    ends.first().and_then(|end| end.history).map_or(1, |history| history.every())
}

/// Those before the end of the run.
fn moments(finished: &Finished, ends: &[End]) -> Vec<Moment> {
    let sampling: &Sampling = finished.metrics.sampling();
    let samples = (0..sampling.taken(finished.now) as usize).step_by(every(ends));
    let mut before = Instant::ZERO;
    let moment = |(place, sample)| {
        let at = sampling.at(sample);
        let interval = at.since(before).0;
        before = at;
        Moment { place, at, interval }
    };
    samples.enumerate().map(moment).collect()
}

/// One row.
fn record_table(
    finished: &Finished,
    moments: &[Moment],
    (stretches, left_out): (&[Stretch], u64),
) -> Table {
    let sampling = finished.metrics.sampling();
    let (samples, every) = (sampling.taken(finished.now), every(&ends(finished)));
    let row = record::Row {
        samples,
        every: every as u64,
        moments: moments.len() as u64,
        first_ns: nanoseconds(sampling.from),
        interval_ns: (sampling.interval * every as u64).0 as f64 / 1e3,
        stretches: stretches.len() as u64,
        stretches_left_out: left_out,
    };
    [row].into_iter().collect()
}

/// All nodes, by which numbers in other tables get names.
fn node_table(spec: &Spec) -> Table {
    let nodes = (0..).zip(&spec.graph.nodes);
    nodes.map(|(number, node)| nodes::Row { number, node: node.name.clone() }).collect()
}

/// A port between the moment before and a moment: its counters as differences.
fn between<'a>(end: &End<'a>, place: usize) -> Snapshot<'a> {
    let history = end.history.expect("every port is recorded");
    let now = history.at(place, end.port);
    let Some(before) = place.checked_sub(1).map(|before| history.at(before, end.port)) else {
        return now;
    };
    Snapshot {
        bytes: now.bytes - before.bytes,
        busy: now.busy - before.busy,
        paused: now.paused - before.paused,
        backlogs: now.backlogs,
    }
}

/// In order of time and of ports.
fn moment_table(spec: &Spec, moments: &[Moment], ends: &[End]) -> Table {
    let row = |moment: &Moment, end: &End| {
        let port = between(end, moment.place);
        let waits = port.backlogs.iter().any(|&backlog| backlog > 0);
        let is_idle = port.bytes == 0 && port.busy == 0 && port.paused == 0 && !waits;
        (!is_idle).then(|| moments::Row {
            time_ns: nanoseconds(moment.at),
            interval_ns: moment.interval as f64 / 1e3,
            node: name_of(spec, end.node),
            port: end.port as u64,
            sent_bytes: port.bytes,
            busy_ns: port.busy as f64 / 1e3,
            paused_ns: port.paused as f64 / 1e3,
            backlog_bytes: port.backlogs.iter().sum(),
        })
    };
    let rows =
        moments.iter().flat_map(|moment| ends.iter().filter_map(move |end| row(moment, end)));
    rows.collect()
}

/// In order of time, ports and queues.
fn backlog_table(spec: &Spec, moments: &[Moment], ends: &[End]) -> Table {
    let rows = |moment: &Moment, end: &End| -> Vec<backlogs::Row> {
        let history = end.history.expect("every port is recorded");
        let now = history.at(moment.place, end.port).backlogs;
        let before = moment.place.checked_sub(1).map(|place| history.at(place, end.port));
        let waited = |queue: usize| before.as_ref().is_some_and(|some| some.backlogs[queue] > 0);
        let row = |(queue, &backlog_bytes): (usize, &u64)| backlogs::Row {
            time_ns: nanoseconds(moment.at),
            node: name_of(spec, end.node),
            port: end.port as u64,
            queue: queue as u64,
            backlog_bytes,
        };
        let queues = now.iter().enumerate();
        queues.filter(|&(queue, &backlog)| backlog > 0 || waited(queue)).map(row).collect()
    };
    let of = |moment| ends.iter().flat_map(move |end| rows(moment, end));
    moments.iter().flat_map(of).collect()
}

/// In order of the beginnings.
fn stretch_table(spec: &Spec, stretches: &[Stretch]) -> Table {
    let row = |stretch: &Stretch| {
        let (peer, port) = stretch.peer;
        let end = &spec.graph.node(peer).ports[port.index()];
        stretches::Row {
            node: name_of(spec, end.peer),
            port: end.peer_port.0.into(),
            class: stretch.class as u64,
            from_ns: nanoseconds(stretch.since),
            until_ns: nanoseconds(stretch.until),
        }
    };
    stretches.iter().map(row).collect()
}
