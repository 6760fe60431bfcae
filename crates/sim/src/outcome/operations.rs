//! The table of operations that consist of several flows: calls with their responses, and
//! collectives.

use floodway_model::Instant;
use floodway_model::flow::Operation;
use floodway_model::table::Table;
use floodway_model::tables::{collectives, operations};

use super::{FlowFacts, nanoseconds};
use crate::Spec;

/// One row per operation that has begun, in order of workload and number.
pub(super) fn table(spec: &Spec, facts: &FlowFacts) -> Table {
    let row = |operation: &Operation| {
        let flows = || operation.flows.iter().map(|flow| flow.index());
        let (start, finish) = times(operation, facts)?;
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

/// When an operation that has begun did so, and when it was complete, if it was.
fn times(operation: &Operation, facts: &FlowFacts) -> Option<(Instant, Option<Instant>)> {
    let flows = || operation.flows.iter().map(|flow| flow.index());
    let start = flows().map(|flow| facts.starts[flow]).min()?;
    if start == Instant::NEVER {
        return None;
    }
    let ends = flows().map(|flow| facts.received[flow].finished);
    let finish = ends.collect::<Option<Vec<Instant>>>().and_then(|ends| ends.into_iter().max());
    Some((start, finish))
}

/// The bandwidths of collectives, in the same order.
pub(super) fn collectives(spec: &Spec, facts: &FlowFacts) -> Table {
    let row = |operation: &Operation| {
        let collective = operation.collective?;
        let (start, finish) = times(operation, facts)?;
        let time = finish.map_or(f64::NAN, |finish| (finish - start).as_ns());
        let bandwidth = collective.bytes as f64 * 8e9 / time;
        Some(collectives::Row {
            workload: spec.flows[operation.flows[0].index()].workload.into(),
            operation: operation.number.into(),
            kind: collective.kind.name().to_owned(),
            ranks: collective.ranks.into(),
            bytes: collective.bytes,
            time_ns: time,
            algorithm_bandwidth_bps: bandwidth,
            bus_bandwidth_bps: bandwidth * collective.bus_factor(),
            measured: u64::from(start.0 >= spec.warmup.0),
        })
    };
    spec.operations.iter().filter_map(row).collect()
}
