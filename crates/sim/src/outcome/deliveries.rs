//! The table about what flows without a size deliver over time.

use floodway_model::flow::numbered;
use floodway_model::table::Table;

use super::FlowFacts;
use crate::Spec;

/// In order of time, then of flow.
pub fn table(spec: &Spec, facts: &FlowFacts) -> Table {
    let interval = spec.flow_samples.map_or(0, |interval| interval.0);
    let flows: Vec<(u64, &[u64])> = numbered(&spec.flows)
        .zip(&facts.receivers)
        .filter(|((_, flow), _)| flow.is_persistent())
        .map(|((id, _), receiver)| (u64::from(id.0), receiver.samples()))
        .collect();
    // All were asked until the same moment.
    let samples = flows.first().map_or(0, |(_, samples)| samples.len());
    let rows = || (0..samples).flat_map(|at| flows.iter().map(move |flow| (at, flow)));
    Table::new("deliveries", "What each flow that has no size, because it never ends or is stopped, has delivered at every multiple of flow_samples until the run ended; empty without that key.")
        .f64(
            "time_ns",
            "When the sample was taken.",
            rows().map(|(at, _)| ((at as u64 + 1) * interval) as f64 / 1e3).collect(),
        )
        .u64("flow", "Number of the flow.", rows().map(|(_, flow)| flow.0).collect())
        .u64(
            "delivered_bytes",
            "Payload that had arrived before this moment, each byte once.",
            rows().map(|(at, flow)| flow.1[at]).collect(),
        )
}
