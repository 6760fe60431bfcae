//! `floodway why`: what flows of a run spent their time on, and who caused it. The run is repeated with
//! the observer of delays: runs are deterministic, and its fingerprint must be the same.

mod chart;
mod path;
mod without;

use std::sync::atomic::AtomicBool;

use floodway_lab::why::{Order, Plan};
use floodway_report::why::{self, Explanation};
use floodway_sim::simulation::Run;

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
    let stop = AtomicBool::new(false);
    let how = Run { threads: 1, stop: &stop, watch: &|_| {} };
    if let Some(last) = options.path {
        runs_begin();
        return path::path((&results, record, &scenario), last, &how);
    }
    let order = Order {
        flows: options.flow.iter().copied().map(u64::from).collect(),
        slowest: options.slowest,
        sample: options.sample,
        is_whole: options.root.is_some() || !options.without.is_empty(),
        all_parts: !options.without.is_empty(),
    };
    let plan = Plan::new(&results, record, &scenario, &order)?;
    let spec = (!options.without.is_empty()).then(|| plan.spec.clone());

    runs_begin();
    let explained = plan.run(&how)?;
    if let Some(spec) = spec {
        return without::without(options, &explained.name(), spec, &explained.explanation, &how);
    }
    if let Some(port) = &options.root {
        return victims(port, &explained.name(), &explained.explanation);
    }
    match options.json {
        true => output::print_json(&explained.json()),
        false => output::print(&explained.text()),
    }
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
