//! The table about what flows without a size deliver over time.

use floodway_model::flow::numbered;
use floodway_model::table::Table;
use floodway_model::tables::deliveries;

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
    let row = |at: usize, (flow, samples): &(u64, &[u64])| deliveries::Row {
        time_ns: ((at as u64 + 1) * interval) as f64 / 1e3,
        flow: *flow,
        delivered_bytes: samples[at],
    };
    (0..samples).flat_map(|at| flows.iter().map(move |flow| row(at, flow))).collect()
}
