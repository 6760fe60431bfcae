//! The table of data queued at the inputs of a crossbar.

use floodway_model::table::Table;
use floodway_model::tables::inputs;

use super::name_of;
use crate::Spec;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::fabric::crossbar::Input;

/// One row per ingress port of a switch with a crossbar.
pub fn table(spec: &Spec, finished: &Finished) -> Table {
    let samples = finished.metrics.sampling().measured(finished.now);
    let row = |switch: &Switch, port: usize, input: &Input| inputs::Row {
        node: name_of(spec, switch.id()),
        tier: switch.tier().into(),
        port: port as u64,
        samples,
        mean_backlog_bytes: input.sampled as f64 / samples as f64,
        max_backlog_bytes: input.max,
        packets: input.packets,
        bytes: input.bytes_in,
        blocked_ns: input.blocked_at(finished.now).as_ns(),
    };
    let of = |switch: &'_ Switch| -> Vec<inputs::Row> {
        let inputs = switch.crossbar.iter().flat_map(|crossbar| &crossbar.inputs);
        inputs.enumerate().map(|(port, input)| row(switch, port, input)).collect()
    };
    finished.switches.iter().flat_map(of).collect()
}
