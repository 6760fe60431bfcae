//! `floodway why`: what flows of a run spent their time on, and who caused it. The run is repeated with
//! the observer of delays: runs are deterministic, and its fingerprint must be the same.

use std::sync::atomic::AtomicBool;

use floodway_lab::why::{Question, answer};
use floodway_sim::simulation::Run;

use crate::failure::{Failure, runs_begin};
use crate::options::WhyOptions;
use crate::output;

/// Explains the delays of flows.
pub fn why(options: &WhyOptions) -> Result<(), Failure> {
    let results = options.run.open()?;
    let record = options.run.record(&results)?;
    let scenario = options.run.scenario(&results)?;
    let how = Run { threads: 1, stop: &AtomicBool::new(false), watch: &|_| {} };
    let run = (&results, record, &scenario);
    runs_begin();
    let answer = answer(run, &question(options), options.sample, &how)?;
    match options.json {
        true => output::print_json(&answer.json),
        false => output::print(&answer.text),
    }
}

fn question(options: &WhyOptions) -> Question {
    match options {
        WhyOptions { path: Some(last), .. } => Question::Path(last.map(u64::from)),
        WhyOptions { against: Some(baseline), .. } => Question::Against(baseline.clone()),
        WhyOptions { root: Some(port), .. } => Question::Root(port.clone()),
        WhyOptions { without, .. } if !without.is_empty() => Question::Without(without.clone()),
        WhyOptions { flow, slowest, .. } => Question::Delays {
            flows: flow.iter().copied().map(u64::from).collect(),
            slowest: *slowest,
        },
    }
}
