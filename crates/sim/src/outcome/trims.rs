//! The table about packets that switches have trimmed.

use floodway_model::table::Table;
use floodway_model::tables::trims;

use super::name_of;
use crate::Spec;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::overflow::Trimmed;

/// One row per port and data queue in which packets were trimmed.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let row = |switch: &Switch, (port, queue, count): (usize, usize, Trimmed)| trims::Row {
        node: name_of(spec, switch.id()),
        tier: switch.tier().into(),
        port: port as u64,
        queue: queue as u64,
        packets: count.packets,
        bytes: count.bytes,
    };
    let of = |switch: &Switch| -> Vec<trims::Row> {
        let counts = switch.trimming.iter().flat_map(|trimming| trimming.counts());
        let counts = counts.filter(|(.., count)| count.packets > 0);
        counts.map(|count| row(switch, count)).collect()
    };
    finished.switches.iter().flat_map(of).collect()
}
