//! `floodway why`: what flows of a run spent their time on, and who caused it. The run is repeated with
//! the observer of delays: runs are deterministic, and its fingerprint must be the same.

mod explained;
mod text;

use std::sync::atomic::AtomicBool;

use floodway_model::FlowId;
use floodway_model::tables::flows;
use floodway_report::manifest::{Record, hex};
use floodway_report::metrics::SizeClasses;
use floodway_scenario::Scenario;
use floodway_sim::{Simulation, Spec};

use crate::failure::{Failure, runs_begin};
use crate::options::WhyOptions;
use crate::output;
use explained::{Explanation, Flow};

/// Explains the delays of flows.
pub fn why(options: &WhyOptions) -> Result<(), Failure> {
    let results = options.run.open()?;
    let record = options.run.record(&results)?;
    let scenario = options.run.scenario(&results)?;
    let variant = scenario.variant(&record.variant)?;
    let spec = variant.build_replication(record.replication, record.seed);
    let all = completed(&results.table(record, "flows")?);
    let chosen = chosen(options, &all, &spec)?;
    let sample = sample(options.sample, &all);
    let mut followed: Vec<FlowId> = sample.iter().chain(&chosen).copied().collect();
    followed.sort_unstable();
    followed.dedup();

    runs_begin();
    let names = variant.workload_names();
    let simulation = Simulation::new(spec.clone());
    let (outcome, explained) = simulation.run_explained(followed, &AtomicBool::new(false), &|_| {});
    if !outcome.violations.is_empty() {
        return Err(Failure::Violations(outcome.violations));
    }
    if hex(outcome.fingerprint) != record.fingerprint {
        return Err(Failure::Outdated(differs(record, &scenario, &hex(outcome.fingerprint))));
    }
    let explanation = Explanation {
        run: (record.variant.clone(), record.replication),
        flows: all,
        classes: SizeClasses::new(results.manifest.size_classes.clone()),
        workloads: names,
        nodes: spec.graph.nodes,
        chosen,
        sample,
        explained,
    };
    match options.json {
        true => output::print_json(&explanation.json()),
        false => output::print(&text::text(&explanation)),
    }
}

/// The flows that have completed, in order of their numbers.
fn completed(table: &floodway_model::table::Table) -> Vec<Flow> {
    let Some(flows) = flows::View::of_table(table) else { return Vec::new() };
    let flow = |row: usize| Flow {
        number: flows.flow[row] as u32,
        workload: flows.workload[row] as usize,
        bytes: flows.bytes[row],
        ideal_ns: flows.ideal_fct_ns[row],
        slowdown: flows.slowdown[row],
        measured: flows.measured[row] != 0,
    };
    let done = (0..flows.flow.len()).filter(|row| flows.fct_ns[*row].is_finite());
    done.map(flow).collect()
}

/// The flows that are explained one by one.
fn chosen(options: &WhyOptions, all: &[Flow], spec: &Spec) -> Result<Vec<FlowId>, Failure> {
    for &number in &options.flow {
        if number as usize >= spec.flows.len() {
            return Err(Failure::Unknown(format!(
                "there is no flow {number}: the run has flows 0 to {}; their numbers are in the table flows",
                spec.flows.len().saturating_sub(1)
            )));
        }
        if all.binary_search_by_key(&number, |flow| flow.number).is_err() {
            return Err(Failure::Unknown(format!(
                "flow {number} has not completed in this run, so there is no completion time to explain; \
                 choose a flow with an `fct_ns` in the table flows"
            )));
        }
    }
    if !options.flow.is_empty() {
        return Ok(options.flow.iter().copied().map(FlowId).collect());
    }
    let mut measured: Vec<&Flow> = all.iter().filter(|flow| flow.measured).collect();
    if measured.is_empty() {
        return Err(Failure::Unknown(
            "no measured flow has completed in this run; name one of the others with --flow"
                .to_owned(),
        ));
    }
    measured.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then(a.number.cmp(&b.number)));
    Ok(measured.iter().take(options.slowest).map(|flow| FlowId(flow.number)).collect())
}

/// At most so many of the measured flows, evenly spread over their numbers.
fn sample(most: usize, all: &[Flow]) -> Vec<FlowId> {
    let measured: Vec<FlowId> =
        all.iter().filter(|flow| flow.measured).map(|flow| FlowId(flow.number)).collect();
    let count = most.min(measured.len());
    (0..count).map(|at| measured[at * measured.len() / count]).collect()
}

fn differs(record: &Record, scenario: &Scenario, fingerprint: &str) -> String {
    format!(
        "run {} of `{}` has the fingerprint {} in these results and {fingerprint} now: they are of another \
         version of floodway; run {} again",
        record.replication, record.variant, record.fingerprint, scenario.file_name
    )
}
