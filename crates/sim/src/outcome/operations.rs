//! The tables of operations that consist of several flows: calls with their responses,
//! collectives and jobs; and pings.

use std::ops::Range;

use floodway_model::Instant;
use floodway_model::flow::Operation;
use floodway_model::table::Table;
use floodway_model::tables::{collectives, operations, pages, pings};

use super::{FlowFacts, jobs, nanoseconds};
use crate::Spec;
use crate::rounds::SampledRounds;

/// One row per operation that has begun, in order of workload and number.
pub(super) fn table(spec: &Spec, facts: &FlowFacts, jobs: &jobs::Times) -> Table {
    let row = |operation: &Operation| {
        let flows = || operation.flows.each().map(|flow| flow.index());
        let first = spec.flows.at(operation.flows.at(0).index());
        // A round that is not simulated as a whole, or a job whose last round is not.
        let is_cut = |sampled: &SampledRounds| {
            let rounds = sampled.simulated < sampled.of;
            let number = if operation.job && rounds { u32::MAX } else { operation.number };
            sampled.cuts(first.workload, number)
        };
        if spec.sampled.as_ref().is_some_and(is_cut) {
            return None;
        }
        let job = jobs.get(&first.workload).filter(|_| operation.job);
        let (start, finish) = job.copied().or_else(|| times(operation, facts))?;
        Some(operations::Row {
            workload: first.workload.into(),
            operation: operation.number.into(),
            node: first.src.0.into(),
            flows: operation.flows.len() as u64,
            bytes: flows().map(|flow| spec.flows.at(flow).bytes).sum(),
            start_ns: nanoseconds(start),
            finish_ns: finish.map_or(f64::NAN, nanoseconds),
            measured: u64::from(start.0 >= spec.warmup.0),
        })
    };
    let counts = |operation: &&Operation| operation.is_work() && !operation.of_job;
    spec.operations.iter().filter(counts).filter_map(row).collect()
}

/// One row per ping that was sent, in order of workload and number.
pub(super) fn pings(spec: &Spec, facts: &FlowFacts) -> Table {
    let row = |operation: &Operation| {
        let [request, echo] = operation.flows[..] else { return None };
        let (request, echo) = (request.index(), echo.index());
        let sent = facts.start(request);
        if sent == Instant::NEVER {
            return None;
        }
        let arrived = facts.received(request).finished;
        let returned = facts.received(echo).finished.filter(|_| arrived.is_some());
        let between = |from: Option<Instant>, to: Option<Instant>| {
            from.zip(to).map_or(f64::NAN, |(from, to)| (to - from).as_ns())
        };
        let flow = spec.flows.at(request);
        Some(pings::Row {
            workload: flow.workload.into(),
            ping: operation.number.into(),
            client: flow.src.0.into(),
            server: flow.dst.0.into(),
            sent_ns: nanoseconds(sent),
            up_ns: between(Some(sent), arrived),
            down_ns: between(arrived, returned),
            rtt_ns: between(Some(sent), returned),
        })
    };
    spec.operations.iter().filter(|operation| operation.ping).filter_map(row).collect()
}

/// One row per web page whose load has begun, in order of workload and number.
pub(super) fn pages(spec: &Spec, facts: &FlowFacts, measured: &Range<Instant>) -> Table {
    let row = |operation: &Operation| {
        let page = operation.page?;
        let (start, finish) = times(operation, facts)?;
        let first = spec.flows.at(operation.flows.at(0).index());
        Some(pages::Row {
            workload: first.workload.into(),
            page: operation.number.into(),
            client: first.src.0.into(),
            server: first.dst.0.into(),
            objects: page.objects.into(),
            bytes: page.bytes,
            connections: page.connections.into(),
            start_ns: nanoseconds(start),
            load_ns: finish.map_or(f64::NAN, |finish| (finish - start).as_ns()),
            measured: u64::from(measured.contains(&start)),
        })
    };
    spec.operations.iter().filter_map(row).collect()
}

/// By flow: whether it is of a ping, of a call or of a page; empty without any.
pub(super) fn apart(spec: &Spec) -> Vec<bool> {
    let mut apart = Vec::new();
    for operation in spec.operations.iter().filter(|operation| !operation.is_work()) {
        apart.resize(spec.flows.len(), false);
        operation.flows.each().for_each(|flow| apart[flow.index()] = true);
    }
    apart
}

/// When an operation that has begun did so, and when it was complete, if it was.
pub(super) fn times(
    operation: &Operation,
    facts: &FlowFacts,
) -> Option<(Instant, Option<Instant>)> {
    let flows = || operation.flows.each().map(|flow| flow.index());
    let start = flows().map(|flow| facts.start(flow)).min()?;
    if start == Instant::NEVER {
        return None;
    }
    let ends = flows().map(|flow| facts.received(flow).finished);
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
            workload: spec.flows.at(operation.flows.at(0).index()).workload.into(),
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
