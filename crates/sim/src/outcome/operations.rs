//! The table of operations that consist of several flows: calls with their responses, and
//! collectives.

use floodway_model::Instant;
use floodway_model::flow::Operation;
use floodway_model::table::Table;
use floodway_model::tables::operations;

use super::{FlowFacts, nanoseconds};
use crate::Spec;

/// One row per operation that has begun, in order of workload and number.
pub(super) fn table(spec: &Spec, facts: &FlowFacts) -> Table {
    let row = |operation: &Operation| {
        let flows = || operation.flows.iter().map(|flow| flow.index());
        let start = flows().map(|flow| facts.starts[flow]).min()?;
        if start == Instant::NEVER {
            return None;
        }
        let ends = flows().map(|flow| facts.received[flow].finished);
        let finish = ends.collect::<Option<Vec<Instant>>>().and_then(|ends| ends.into_iter().max());
        let first = &spec.flows[operation.flows[0].index()];
        Some(operations::Row {
            workload: first.workload.into(),
            operation: operation.number.into(),
            node: first.src.0.into(),
            flows: operation.flows.len() as u64,
            bytes: flows().map(|flow| spec.flows[flow].bytes).sum(),
            start_ns: nanoseconds(start),
            finish_ns: finish.map_or(f64::NAN, nanoseconds),
            measured: u64::from(start.0 >= spec.warmup.0),
        })
    };
    spec.operations.iter().filter_map(row).collect()
}
