//! What is recorded of packets that leave the queues of switches.

use floodway_model::table::Table;
use floodway_model::tables::{departures, sojourns};

use super::name_of;
use crate::Spec;
use crate::metric::Departures;
use crate::run::Finished;
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

/// One row per queue.
pub fn sojourns(spec: &Spec, finished: &Finished) -> Table {
    let row = |row: Left<'_>| sojourns::Row {
        node: name_of(spec, row.switch.id()),
        tier: row.switch.tier().into(),
        port: row.port,
        queue: row.queue,
        departures: row.departures.count,
        mean_sojourn_ns: row.departures.mean_ns(),
        max_sojourn_ns: row.departures.max.as_ns(),
    };
    left(finished).into_iter().map(row).collect()
}

/// One row per bin that occurred, in order of queues, kinds and bins.
pub fn departures(spec: &Spec, finished: &Finished) -> Table {
    let mut rows = Vec::new();
    for left in left(finished) {
        let row = |kind: &str, (up_to, departures): (u64, u64)| departures::Row {
            node: name_of(spec, left.switch.id()),
            tier: left.switch.tier().into(),
            port: left.port,
            queue: left.queue,
            kind: kind.to_owned(),
            up_to,
            departures,
        };
        rows.extend(left.departures.lengths().map(|bin| row("packets", bin)));
        rows.extend(left.departures.sojourns().map(|bin| row("sojourn_ns", bin)));
    }
    rows.into_iter().collect()
}
