//! What takes several flows: calls with their answers, and collectives.

use floodway_model::Instant;
use floodway_model::table::Table;

use super::FlowFacts;
use crate::Spec;

/// One row per operation that has begun, in order of workload and number.
pub(super) fn table(spec: &Spec, facts: &FlowFacts) -> Table {
    let mut rows = Vec::new();
    for operation in &spec.operations {
        let flows = || operation.flows.iter().map(|flow| flow.index());
        let Some(start) = flows().map(|flow| facts.starts[flow]).min() else { continue };
        if start == Instant::NEVER {
            continue;
        }
        let ends = flows().map(|flow| facts.receivers[flow].finished);
        let finish = ends.collect::<Option<Vec<Instant>>>().and_then(|ends| ends.into_iter().max());
        let bytes: u64 = flows().map(|flow| spec.flows[flow].bytes).sum();
        let first = &spec.flows[operation.flows[0].index()];
        rows.push((first, operation, bytes, start, finish));
    }
    let ns = |at: Instant| at.0 as f64 / 1e3;
    Table::new("operations", "One row per operation that began: a remote procedure call, which is a request and its response, or one round of a collective, which is all of its messages. Empty without such workloads.")
        .u64("workload", "Which workload of the scenario it is of, counted from 0.", rows.iter().map(|row| row.0.workload.into()).collect())
        .u64("operation", "Its number among those of the workload, counted from 0: of a collective the round.", rows.iter().map(|row| row.1.number.into()).collect())
        .u64("node", "Node number of the host that sends the request; of a collective that of its first rank.", rows.iter().map(|row| row.0.src.0.into()).collect())
        .u64("flows", "Flows that it takes.", rows.iter().map(|row| row.1.flows.len() as u64).collect())
        .u64("bytes", "Payload of all of them.", rows.iter().map(|row| row.2).collect())
        .f64("start_ns", "When the first of its flows began.", rows.iter().map(|row| ns(row.3)).collect())
        .f64("finish_ns", "When the last byte of all of them had arrived; empty if that did not happen before the run ended.", rows.iter().map(|row| row.4.map_or(f64::NAN, ns)).collect())
        .u64("measured", "1 if it began after the warm-up; statistics are over these.", rows.iter().map(|row| u64::from(row.3.0 >= spec.warmup.0)).collect())
}
