//! What is recorded of packets that leave the queues of switches.

use floodway_model::table::Table;

use super::of_switches;
use crate::Spec;
use crate::engine::Finished;
use crate::metric::Departures;
use crate::switch::Switch;

/// A data queue that packets have left.
struct Left<'a> {
    switch: &'a Switch,
    port: u64,
    queue: u64,
    departures: &'a Departures,
}

fn left(finished: &Finished) -> Vec<Left<'_>> {
    let mut left = Vec::new();
    for switch in &finished.switches {
        for (port, books) in switch.ports.iter().enumerate() {
            for (queue, books) in books.queues.iter().enumerate() {
                if let Some(departures) = books.departures().filter(|some| some.count > 0) {
                    left.push(Left { switch, port: port as u64, queue: queue as u64, departures });
                }
            }
        }
    }
    left
}

/// A table with the columns that name a queue, one row for each in `rows`.
fn of_queues(name: &'static str, doc: &'static str, spec: &Spec, rows: &[&Left]) -> Table {
    of_switches(Table::new(name, doc), spec, rows.iter().map(|row| row.switch))
        .u64("port", "Port of the switch.", rows.iter().map(|row| row.port).collect())
        .u64("queue", "Data queue of the port.", rows.iter().map(|row| row.queue).collect())
}

/// One row per queue.
pub fn sojourns(spec: &Spec, finished: &Finished) -> Table {
    let left = left(finished);
    let rows: Vec<&Left> = left.iter().collect();
    of_queues("sojourns", "One row per data queue of a switch that packets with payload left during the measurement: how long they had waited. Acknowledgments and other feedback are not counted, although they may be in the queue too. Empty without the key departures.", spec, &rows)
        .u64(
            "departures",
            "Packets with payload that left.",
            rows.iter().map(|row| row.departures.count).collect(),
        )
        .f64(
            "mean_sojourn_ns",
            "Mean of the times from joining the queue to the begin of the transmission.",
            rows.iter().map(|row| row.departures.mean_ns()).collect(),
        )
        .f64(
            "max_sojourn_ns",
            "The longest such time.",
            rows.iter().map(|row| row.departures.max.as_ns()).collect(),
        )
}

/// One row per bin that occurred, in order of queues, kinds and bins.
pub fn departures(spec: &Spec, finished: &Finished) -> Table {
    let left = left(finished);
    let (mut rows, mut bins) = (Vec::new(), Vec::new());
    for row in &left {
        bins.extend(row.departures.lengths().map(|bin| ("packets", bin)));
        bins.extend(row.departures.sojourns().map(|bin| ("sojourn_ns", bin)));
        rows.resize(bins.len(), row);
    }
    of_queues("departures", "How long the data queues of switches were, and how long packets had waited, when packets with payload left them during the measurement. Departures of acknowledgments and other feedback are not counted, although they may be in the queue too. Empty without the key departures.", spec, &rows)
        .text(
            "kind",
            "packets: by the length of the queue in packets of any kind, the one that leaves included; sojourn_ns: by the time from joining the queue to the begin of the transmission. A packet that finds the port idle leaves a queue of 1 packet after 0 ns.",
            bins.iter().map(|bin| bin.0.to_owned()).collect(),
        )
        .u64(
            "up_to",
            "Upper edge of the bin, inclusive, in packets or nanoseconds. Every length up to 4095 has a bin of its own, and the largest number of 64 bits stands for all above; times have 64 bins per doubling.",
            bins.iter().map(|bin| bin.1.0).collect(),
        )
        .u64("departures", "Packets with payload in the bin.", bins.iter().map(|bin| bin.1.1).collect())
}
