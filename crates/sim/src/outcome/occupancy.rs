//! The tables of buffer occupancy by data.

use floodway_model::table::Table;
use floodway_model::tables::{occupancy, switches};

use super::name_of;
use crate::Spec;
use crate::metric::bin_edge;
use crate::run::Finished;
use crate::switch::Switch;
use crate::switch::occupancy::Scope;

/// One row per switch.
pub fn switches(spec: &Spec, finished: &Finished) -> Table {
    let samples = finished.metrics.sampling().measured(finished.now);
    let row = |switch: &Switch| switches::Row {
        node: name_of(spec, switch.id()),
        tier: switch.tier().into(),
        ports: switch.ports() as u64,
        samples,
        mean_occupancy_bytes: switch.sampled as f64 / samples as f64,
        max_occupancy_bytes: switch.occupancy.max,
        max_port_occupancy_bytes: {
            let ports = switch.ports.iter().map(|port| port.occupancy.max);
            ports.max().unwrap_or(0)
        },
    };
    finished.switches.iter().map(row).collect()
}

/// Histogram of the samples.
pub fn occupancy(finished: &Finished) -> Table {
    let row = |(tier, scope, bin, samples): (usize, Scope, usize, u64)| occupancy::Row {
        tier: tier as u64,
        scope: scope.name().to_owned(),
        up_to_bytes: bin_edge(bin),
        samples,
    };
    finished.metrics.occupancy().map(row).collect()
}
