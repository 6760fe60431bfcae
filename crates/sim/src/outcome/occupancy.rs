//! The tables about how much memory data takes.

use floodway_model::table::Table;

use super::of_switches;
use crate::Spec;
use crate::engine::Finished;
use crate::metric::bin_edge;
use crate::switch::Switch;

/// One row per switch.
pub fn switches(spec: &Spec, finished: &Finished) -> Table {
    let samples = finished.metrics.sampling().measured(finished.now);
    let switches = || finished.switches.iter();
    let column = |of: fn(&Switch) -> u64| switches().map(of).collect();
    let table = Table::new(
        "switches",
        "One row per switch: how much of its memory data takes; samples are of the measurement, the rest of the whole run.",
    );
    of_switches(table, spec, switches())
        .u64("ports", "Its ports.", column(|switch| switch.ports() as u64))
        .u64("samples", "Samples taken during the measurement.", switches().map(|_| samples).collect())
        .f64(
            "mean_occupancy_bytes",
            "Mean over samples of what waits in all data queues of the switch; empty if no sample was taken.",
            switches().map(|switch| switch.occupancy.sampled as f64 / samples as f64).collect(),
        )
        .u64(
            "max_occupancy_bytes",
            "The most that ever waited in all data queues of the switch at a time, not only when it was sampled.",
            column(|switch| switch.occupancy.max),
        )
        .u64(
            "max_port_occupancy_bytes",
            "The most that ever waited in all data queues of one of its ports at a time.",
            column(|switch| switch.ports.iter().map(|port| port.occupancy.max).max().unwrap_or(0)),
        )
}

/// The distribution of the samples.
pub fn occupancy(finished: &Finished) -> Table {
    let rows: Vec<_> = finished.metrics.occupancy().collect();
    Table::new("occupancy", "How often data took how much of the memory of ports and of switches when they were sampled during the measurement: all data queues together, without the control queue.")
        .u64("tier", "Tier of the switches.", rows.iter().map(|row| row.0 as u64).collect())
        .text(
            "scope",
            "port: the data queues of one port; switch: those of all its ports.",
            rows.iter().map(|row| row.1.name().to_owned()).collect(),
        )
        .u64(
            "up_to_bytes",
            "Upper edge of the bin, inclusive; 0 is empty.",
            rows.iter().map(|row| bin_edge(row.2)).collect(),
        )
        .u64(
            "samples",
            "Samples in the bin, over all ports or switches of the tier.",
            rows.iter().map(|row| row.3).collect(),
        )
}
