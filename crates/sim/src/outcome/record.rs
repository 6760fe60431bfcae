//! The tables of the record: the ports of the fabric at its moments, and pauses from their beginning
//! to their end.

use floodway_model::table::Table;
use floodway_model::{Instant, NodeId};

use super::{End, ends};
use crate::Spec;
use crate::engine::Finished;
use crate::metric::{Sampling, Snapshot, Stretch};

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
    Table::new(
        "record",
        "What the record of the run holds, in one row. Only with the key record, of the first replication; so are the tables moments, backlogs and stretches.",
    )
    .u64("samples", "Samples from the warm-up to the end of the run.", vec![samples])
    .u64("every", "Each of so many samples is a moment of the record, the first one included.", vec![every as u64])
    .u64("moments", "Moments of the record.", vec![moments.len() as u64])
    .f64("first_ns", "The first moment: the end of the warm-up.", vec![sampling.from.0 as f64 / 1e3])
    .f64("interval_ns", "Time between two moments.", vec![(sampling.interval * every as u64).0 as f64 / 1e3])
    .u64("stretches", "Rows of the table stretches.", vec![stretches.len() as u64])
    .u64(
        "stretches_left_out",
        "Pauses that are not in it because they began after those, of which there are as many as it holds.",
        vec![left_out],
    )
}

/// All nodes, by which numbers in other tables get names.
fn node_table(spec: &Spec) -> Table {
    let nodes = &spec.graph.nodes;
    Table::new("nodes", "The hosts and switches of the fabric, one row each.")
        .u64(
            "number",
            "Number of the node, as src and dst in the table flows.",
            (0..nodes.len() as u64).collect(),
        )
        .text("node", "Name of the node.", nodes.iter().map(|node| node.name.clone()).collect())
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
    let mut rows: Vec<(&Moment, &End, Snapshot)> = Vec::new();
    for moment in moments {
        for end in ends {
            let port = between(end, moment.place);
            let waits = port.backlogs.iter().any(|&backlog| backlog > 0);
            if port.bytes > 0 || port.busy > 0 || port.paused > 0 || waits {
                rows.push((moment, end, port));
            }
        }
    }
    let ns =
        |time: fn(&Snapshot) -> u64| rows.iter().map(|row| time(&row.2) as f64 / 1e3).collect();
    Table::new(
        "moments",
        "The ports of the fabric over time: one row per moment of the record and port, of switches and hosts, that sent, was paused, or had something waiting. A port without a row did nothing. Only with the key record.",
    )
    .f64("time_ns", "The moment.", rows.iter().map(|row| row.0.at.0 as f64 / 1e3).collect())
    .f64(
        "interval_ns",
        "Time since the moment before it, or since the beginning of the run.",
        rows.iter().map(|row| row.0.interval as f64 / 1e3).collect(),
    )
    .text("node", "Name of the sending node.", names(spec, rows.iter().map(|row| row.1.node)))
    .u64("port", "Port of the sending node.", rows.iter().map(|row| row.1.port as u64).collect())
    .u64(
        "sent_bytes",
        "Bytes of the frames that it began to send in that time, of every kind, without preamble and gap.",
        rows.iter().map(|row| row.2.bytes).collect(),
    )
    .f64(
        "busy_ns",
        "How much of that time the wire was busy, preamble and gap included; over interval_ns it is the utilisation.",
        ns(|port| port.busy),
    )
    .f64(
        "paused_ns",
        "How much of that time it was not allowed to send, summed over the classes of data: at most interval_ns for each.",
        ns(|port| port.paused),
    )
    .u64(
        "backlog_bytes",
        "What waits at the moment, in all data queues of the port; of a host in the memory of its NIC, and what its receivers answer as data.",
        rows.iter().map(|row| row.2.backlogs.iter().sum()).collect(),
    )
}

/// In order of time, ports and queues.
fn backlog_table(spec: &Spec, moments: &[Moment], ends: &[End]) -> Table {
    let mut rows: Vec<(&Moment, &End, usize, u64)> = Vec::new();
    for moment in moments {
        for end in ends {
            let history = end.history.expect("every port is recorded");
            let now = history.at(moment.place, end.port).backlogs;
            let before = moment.place.checked_sub(1).map(|place| history.at(place, end.port));
            for (queue, &backlog) in now.iter().enumerate() {
                let waited = before.is_some_and(|before| before.backlogs[queue] > 0);
                if backlog > 0 || waited {
                    rows.push((moment, end, queue, backlog));
                }
            }
        }
    }
    Table::new(
        "backlogs",
        "What waits in the data queues of ports at the moments of the record: one row per queue in which something waits, or did at the moment before. The others are empty. Only with the key record.",
    )
    .f64("time_ns", "The moment.", rows.iter().map(|row| row.0.at.0 as f64 / 1e3).collect())
    .text("node", "Name of the sending node.", names(spec, rows.iter().map(|row| row.1.node)))
    .u64("port", "Port of the sending node.", rows.iter().map(|row| row.1.port as u64).collect())
    .u64(
        "queue",
        "Data queue of the port; of a host its class.",
        rows.iter().map(|row| row.2 as u64).collect(),
    )
    .u64("backlog_bytes", "What waits in it.", rows.iter().map(|row| row.3).collect())
}

/// In order of the beginnings.
fn stretch_table(spec: &Spec, stretches: &[Stretch]) -> Table {
    let port = |stretch: &Stretch| {
        let (peer, port) = stretch.peer;
        let end = &spec.graph.node(peer).ports[port.index()];
        (end.peer, end.peer_port)
    };
    let ns = |at: fn(&Stretch) -> Instant| {
        stretches.iter().map(|stretch| at(stretch).0 as f64 / 1e3).collect()
    };
    Table::new(
        "stretches",
        "Pauses of ports, of switches and hosts, from beginning to end, over the whole run: one row per port, class of data and time during which it was not allowed to send the class. If there are more than 100,000, those that began first. Only with the key record.",
    )
    .text("node", "Name of the sending node.", names(spec, stretches.iter().map(|it| port(it).0)))
    .u64(
        "port",
        "Port of the sending node.",
        stretches.iter().map(|stretch| u64::from(port(stretch).1.0)).collect(),
    )
    .u64("class", "Traffic class.", stretches.iter().map(|it| it.class as u64).collect())
    .f64("from_ns", "When it began.", ns(|stretch| stretch.since))
    .f64(
        "until_ns",
        "When it ended; if it had not when the run did, the end of the run.",
        ns(|stretch| stretch.until),
    )
}

fn names(spec: &Spec, nodes: impl Iterator<Item = NodeId>) -> Vec<String> {
    nodes.map(|node| spec.graph.node(node).name.clone()).collect()
}
