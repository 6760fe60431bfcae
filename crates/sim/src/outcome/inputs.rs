//! The table about data that waits before a crossbar.

use floodway_model::table::Table;

use super::of_switches;
use crate::Spec;
use crate::engine::Finished;
use crate::switch::Switch;
use crate::switch::fabric::crossbar::Input;

/// One row per ingress port of a switch with a crossbar.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let samples = finished.metrics.sampling().measured(finished.now);
    let mut rows: Vec<(&Switch, u64, &Input)> = Vec::new();
    for switch in &finished.switches {
        let inputs = switch.crossbar.iter().flat_map(|crossbar| &crossbar.inputs);
        rows.extend(inputs.zip(0..).map(|(input, port)| (switch, port, input)));
    }
    let column = |of: fn(&Input) -> u64| rows.iter().map(|row| of(row.2)).collect();
    let table = Table::new(
        "inputs",
        "One row per ingress port of a switch with a crossbar: data that waits to cross, which the egress queues that it is for count too; samples are of the measurement, the rest of the whole run.",
    );
    of_switches(table, spec, rows.iter().map(|row| row.0))
        .u64("port", "Port of the switch.", rows.iter().map(|row| row.1).collect())
        .u64("samples", "Samples taken during the measurement.", vec![samples; rows.len()])
        .f64(
            "mean_backlog_bytes",
            "Mean of the sampled bytes that waited or were crossing; empty if no sample was taken.",
            rows.iter().map(|row| row.2.sampled as f64 / samples as f64).collect(),
        )
        .u64(
            "max_backlog_bytes",
            "The most bytes that ever waited or were crossing, not only when they were sampled.",
            column(|input| input.max),
        )
        .u64("packets", "Data packets that came to wait.", column(|input| input.packets))
        .u64("bytes", "Their frame bytes.", column(|input| input.bytes_in))
        .f64(
            "blocked_ns",
            "Time in which data waited and none crossed: for a slot, for an output, or for the head before it.",
            rows.iter().map(|row| row.2.blocked_at(finished.now).as_ns()).collect(),
        )
}
