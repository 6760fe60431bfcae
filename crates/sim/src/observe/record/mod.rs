//! The record of a run: the ports of the fabric at a bounded number of samples, and pauses with
//! their start and end.

mod history;
mod pauses;
mod schedule;

use floodway_model::table::Table;
use floodway_model::tables::{backlogs, nodes, pause_intervals, record, samples};
use floodway_model::{Instant, NodeId};
use serde::{Deserialize, Serialize};

use super::{At, Fact, Kinds, Observer, Setup};
use crate::Spec;
use crate::metric::Sampling;
use crate::outcome::{name_of, nanoseconds};
use crate::run::Finished;
use history::{History, Snapshot};
use pauses::{Pause, Pauses};
pub use schedule::Schedule;

/// The record of the nodes of a thread.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// Maximum number of samples.
    limit: u32,
    /// Number of data queues, or classes, of a port.
    classes: usize,
    /// By node; `None` for a node that has not been sampled.
    histories: Vec<Option<History>>,
    pauses: Pauses,
}

impl Observer for Record {
    const WANTS: Kinds = Kinds::SAMPLED.and(Kinds::PAUSE_ENDED);

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let limit = setup.spec.record?;
        Some(Self {
            limit,
            classes: setup.spec.switch.queue.count.into(),
            histories: setup.spec.graph.nodes.iter().map(|_| None).collect(),
            pauses: Pauses::default(),
        })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        match *fact {
            Fact::Sampled { sample, port, ports, tx, backlogs, held } => {
                let new = || History::new(self.limit, ports, self.classes);
                let history = self.histories[at.node.index()].get_or_insert_with(new);
                history.add((sample, port), tx, (backlogs, held), at.now);
            }
            // The control queue, which comes last, is not recorded.
            Fact::PauseEnded { port, class, since, until } if class < self.classes => {
                self.pauses.add(Pause { since, port: (at.node, port), class, until });
            }
            _ => {}
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.histories.iter_mut().zip(other.histories) {
            if theirs.is_some() {
                *mine = theirs;
            }
        }
        self.pauses.merge(&other.pauses);
    }
}

/// A port whose history is recorded.
struct End<'a> {
    node: NodeId,
    port: usize,
    history: &'a History,
}

impl Record {
    /// All ports, those of hosts first.
    fn ends(&self, spec: &Spec) -> Vec<End<'_>> {
        let nodes = spec.graph.hosts().chain(spec.graph.switches());
        let ends = |node: NodeId| {
            let history = self.histories[node.index()].as_ref();
            let ports = 0..spec.graph.node(node).ports.len();
            history
                .into_iter()
                .flat_map(move |history| ports.clone().map(move |port| End { node, port, history }))
        };
        nodes.flat_map(ends).collect()
    }
}

/// All tables of the record; none if nothing was recorded.
pub(crate) fn tables(spec: &Spec, finished: &Finished) -> Vec<Table> {
    let Some(kept) = &finished.observers.record else { return Vec::new() };
    let ends = kept.ends(spec);
    let (pause_intervals, left_out) = kept.pauses.earliest();
    let samples = samples(finished, &ends);
    vec![
        record_table(finished, every(&ends), &samples, (&pause_intervals, left_out)),
        node_table(spec),
        sample_table(spec, &samples, &ends),
        backlog_table(spec, &samples, &ends),
        pause_interval_table(spec, &pause_intervals),
    ]
}

/// A sample of the record.
struct Sample {
    /// Its index among the kept samples.
    place: usize,
    at: Instant,
    /// Time since the previous sample, or since the beginning of the run.
    interval: u64,
}

/// Distance between kept samples, the same for all nodes.
fn every(ends: &[End]) -> usize {
    ends.first().map_or(1, |end| end.history.every())
}

/// The samples before the end of the run.
fn samples(finished: &Finished, ends: &[End]) -> Vec<Sample> {
    let sampling: &Sampling = finished.metrics.sampling();
    let samples = (0..sampling.taken(finished.now) as usize).step_by(every(ends));
    let mut before = Instant::ZERO;
    let kept = |(place, sample)| {
        let at = sampling.at(sample);
        let interval = at.since(before).0;
        before = at;
        Sample { place, at, interval }
    };
    samples.enumerate().map(kept).collect()
}

/// A single row.
fn record_table(
    finished: &Finished,
    every: usize,
    samples: &[Sample],
    (pause_intervals, left_out): (&[Pause], u64),
) -> Table {
    let sampling = finished.metrics.sampling();
    let row = record::Row {
        samples: sampling.taken(finished.now),
        every: every as u64,
        recorded_samples: samples.len() as u64,
        first_ns: nanoseconds(sampling.from),
        interval_ns: (sampling.interval * every as u64).0 as f64 / 1e3,
        pause_intervals: pause_intervals.len() as u64,
        pause_intervals_left_out: left_out,
    };
    [row].into_iter().collect()
}

/// All nodes: maps the node numbers in other tables to names.
fn node_table(spec: &Spec) -> Table {
    let nodes = (0..).zip(&spec.graph.nodes);
    nodes.map(|(number, node)| nodes::Row { number, node: node.name.clone() }).collect()
}

/// The change of a port from the previous sample to this one: its counters as differences.
fn between<'a>(end: &End<'a>, place: usize) -> Snapshot<'a> {
    let history = end.history;
    let now = history.at(place, end.port);
    let Some(before) = place.checked_sub(1).map(|before| history.at(before, end.port)) else {
        return now;
    };
    Snapshot {
        bytes: now.bytes - before.bytes,
        busy: now.busy - before.busy,
        paused: now.paused - before.paused,
        held: now.held,
        backlogs: now.backlogs,
    }
}

/// Rows in order of time and port.
fn sample_table(spec: &Spec, samples: &[Sample], ends: &[End]) -> Table {
    let row = |sample: &Sample, end: &End| {
        let port = between(end, sample.place);
        let waits = port.backlogs.iter().any(|&backlog| backlog > 0);
        let is_idle =
            port.bytes == 0 && port.busy == 0 && port.paused == 0 && port.held == 0 && !waits;
        (!is_idle).then(|| samples::Row {
            time_ns: nanoseconds(sample.at),
            interval_ns: sample.interval as f64 / 1e3,
            node: name_of(spec, end.node),
            port: end.port as u64,
            sent_bytes: port.bytes,
            busy_ns: port.busy as f64 / 1e3,
            paused_ns: port.paused as f64 / 1e3,
            backlog_bytes: port.backlogs.iter().sum(),
            held: port.held,
        })
    };
    let rows =
        samples.iter().flat_map(|sample| ends.iter().filter_map(move |end| row(sample, end)));
    rows.collect()
}

/// Rows in order of time, port and queue.
fn backlog_table(spec: &Spec, samples: &[Sample], ends: &[End]) -> Table {
    let rows = |sample: &Sample, end: &End| -> Vec<backlogs::Row> {
        let history = end.history;
        let now = history.at(sample.place, end.port).backlogs;
        let before = sample.place.checked_sub(1).map(|place| history.at(place, end.port));
        let waited = |queue: usize| before.as_ref().is_some_and(|some| some.backlogs[queue] > 0);
        let row = |(queue, &backlog_bytes): (usize, &u64)| backlogs::Row {
            time_ns: nanoseconds(sample.at),
            node: name_of(spec, end.node),
            port: end.port as u64,
            queue: queue as u64,
            backlog_bytes,
        };
        let queues = now.iter().enumerate();
        queues.filter(|&(queue, &backlog)| backlog > 0 || waited(queue)).map(row).collect()
    };
    let of = |sample| ends.iter().flat_map(move |end| rows(sample, end));
    samples.iter().flat_map(of).collect()
}

/// Rows in order of start.
fn pause_interval_table(spec: &Spec, pause_intervals: &[Pause]) -> Table {
    let row = |pause: &Pause| {
        let (node, port) = pause.port;
        pause_intervals::Row {
            node: name_of(spec, node),
            port: port as u64,
            class: pause.class as u64,
            from_ns: nanoseconds(pause.since),
            until_ns: nanoseconds(pause.until),
        }
    };
    pause_intervals.iter().map(row).collect()
}
