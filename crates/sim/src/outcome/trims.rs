//! The table about packets that switches have trimmed.

use floodway_model::table::Table;

use super::of_switches;
use crate::Spec;
use crate::engine::Finished;
use crate::switch::Switch;
use crate::switch::overflow::Trimmed;

/// One row per port and data queue in which packets were trimmed.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let mut rows: Vec<(&Switch, u64, u64, Trimmed)> = Vec::new();
    for switch in &finished.switches {
        let counts = switch.trimming.iter().flat_map(|trimming| trimming.counts());
        let counts = counts.filter(|(.., count)| count.packets > 0);
        rows.extend(counts.map(|(port, queue, count)| (switch, port as u64, queue as u64, count)));
    }
    let table = Table::new(
        "trims",
        "One row per port and data queue for which packets were trimmed, over the whole run.",
    );
    of_switches(table, spec, rows.iter().map(|row| row.0))
        .u64("port", "Egress port.", rows.iter().map(|row| row.1).collect())
        .u64(
            "queue",
            "Data queue that the packets were bound for or waited in.",
            rows.iter().map(|row| row.2).collect(),
        )
        .u64("packets", "Packets trimmed.", rows.iter().map(|row| row.3.packets).collect())
        .u64(
            "bytes",
            "Bytes that they lost: the difference to the length of their headers.",
            rows.iter().map(|row| row.3.bytes).collect(),
        )
}
