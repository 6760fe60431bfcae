//! `floodway why`: what flows of a run spent their time on, and who caused it. The run is repeated with
//! the observer of delays: runs are deterministic, and its fingerprint must be the same.

mod chart;
mod without;

use std::sync::atomic::AtomicBool;

use floodway_model::tables::flows;
use floodway_model::{FlowId, Table};
use floodway_report::manifest::{Record, hex};
use floodway_report::metrics::SizeClasses;
use floodway_report::why::{self, Explanation};
use floodway_scenario::Scenario;
use floodway_sim::delays::Chosen;
use floodway_sim::simulation::Run;
use floodway_sim::{Outcome, Simulation, Spec};
use serde_json::json;

use crate::failure::{Failure, runs_begin};
use crate::options::WhyOptions;
use crate::output;

/// Explains the delays of flows.
pub fn why(options: &WhyOptions) -> Result<(), Failure> {
    let results = options.run.open()?;
    if let Some(file) = &options.chart {
        return chart::chart(&results, file);
    }
    let record = options.run.record(&results)?;
    let scenario = options.run.scenario(&results)?;
    let variant = scenario.variant(&record.variant)?;
    let spec = variant.build_replication(record.replication, record.seed);
    let all = completed(&results.table(record, "flows")?);
    let is_whole = options.root.is_some() || !options.without.is_empty();
    let flows = if is_whole { Vec::new() } else { flows_of(options, &all, &spec)? };
    let sample = sample(options.sample, &all);
    let mut followed: Vec<u32> = sample.iter().chain(&flows).copied().collect();
    followed.sort_unstable();
    followed.dedup();
    let detailed = if options.without.is_empty() { &flows } else { &followed };
    let ids = |flows: &[u32]| flows.iter().copied().map(FlowId).collect();
    let chosen = Chosen { flows: ids(&followed), detailed: ids(detailed), slowest: 0 };

    runs_begin();
    let outcome = run(spec.clone(), chosen)?;
    if hex(outcome.fingerprint) != record.fingerprint {
        return Err(Failure::Outdated(differs(record, &scenario, &hex(outcome.fingerprint))));
    }
    let classes = SizeClasses::new(results.manifest.size_classes.clone());
    let explanation = Explanation::of(&outcome.tables, &variant.workload_names(), &classes);
    let mut explanation = explanation.ok_or_else(|| {
        Failure::Unknown(
            "no measured flow has completed in this run, so none is explained".to_owned(),
        )
    })?;
    explanation.sample = sample.iter().map(|flow| u64::from(*flow)).collect();
    let name = format!("{}, replication {}", record.variant, record.replication);
    if !options.without.is_empty() {
        return without::without(options, &name, spec, &explanation);
    }
    if let Some(port) = &options.root {
        return victims(port, &name, &explanation);
    }
    let flows: Vec<u64> = flows.into_iter().map(u64::from).collect();
    if options.json {
        let mut value = why::json(&explanation, &flows);
        value["variant"] = json!(record.variant);
        value["replication"] = json!(record.replication);
        return output::print_json(&value);
    }
    output::print(&format!("{name}: {}", why::text(&explanation, &flows)))
}

/// Runs a simulation and explains the delays of these flows.
fn run(spec: Spec, chosen: Chosen) -> Result<Outcome, Failure> {
    let stop = AtomicBool::new(false);
    let run = Run { threads: 1, stop: &stop, watch: &|_| {} };
    let outcome = Simulation::new(spec).explaining(chosen).run_with(&run);
    if outcome.violations.is_empty() {
        Ok(outcome)
    } else {
        Err(Failure::Violations(outcome.violations))
    }
}

/// A flow that has completed.
struct Completed {
    number: u32,
    slowdown: f64,
    is_measured: bool,
}

/// The flows that have completed, in order of their numbers.
fn completed(table: &Table) -> Vec<Completed> {
    let Some(flows) = flows::View::of_table(table) else { return Vec::new() };
    let flow = |row: usize| Completed {
        number: flows.flow[row] as u32,
        slowdown: flows.slowdown[row],
        is_measured: flows.measured[row] != 0,
    };
    let done = (0..flows.flow.len()).filter(|row| flows.fct_ns[*row].is_finite());
    done.map(flow).collect()
}

/// The flows that are explained one by one.
fn flows_of(options: &WhyOptions, all: &[Completed], spec: &Spec) -> Result<Vec<u32>, Failure> {
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
        return Ok(options.flow.clone());
    }
    let mut measured: Vec<&Completed> = all.iter().filter(|flow| flow.is_measured).collect();
    if measured.is_empty() {
        return Err(Failure::Unknown(
            "no measured flow has completed in this run; name one of the others with --flow"
                .to_owned(),
        ));
    }
    measured.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then(a.number.cmp(&b.number)));
    Ok(measured.iter().take(options.slowest).map(|flow| flow.number).collect())
}

/// At most so many of the measured flows, evenly spread over their numbers.
fn sample(most: usize, all: &[Completed]) -> Vec<u32> {
    let measured: Vec<u32> =
        all.iter().filter(|flow| flow.is_measured).map(|flow| flow.number).collect();
    let count = most.min(measured.len());
    (0..count).map(|at| measured[at * measured.len() / count]).collect()
}

/// The flows that pauses with a root at this port delayed.
fn victims(port: &str, name: &str, explanation: &Explanation) -> Result<(), Failure> {
    let roots = explanation.roots();
    let root = roots.iter().find(|root| root.port.to_string() == port).ok_or_else(|| {
        let mut ports: Vec<String> =
            roots.iter().take(8).map(|root| format!("`{}`", root.port)).collect();
        if roots.len() > ports.len() {
            ports.push("others".to_owned());
        }
        Failure::Unknown(match ports.is_empty() {
            true => "there is no pause in this run, so no port is the root of one".to_owned(),
            false => {
                format!("`{port}` is not the root of a pause; these are: {}", ports.join(", "))
            }
        })
    })?;
    output::print(&format!("{name}\n\n{}", why::victims(explanation, root)))
}

fn differs(record: &Record, scenario: &Scenario, fingerprint: &str) -> String {
    format!(
        "run {} of `{}` has the fingerprint {} in these results and {fingerprint} now: they are of another \
         version of floodway; run {} again",
        record.replication, record.variant, record.fingerprint, scenario.file_name
    )
}
