//! `floodway why`: what flows of a run spent their time on, and who caused it. The run is repeated with
//! the observer of delays: runs are deterministic, and its fingerprint must be the same.

use std::sync::atomic::AtomicBool;

use clap::Args;
use floodway_lab::why::{Question, answer};
use floodway_sim::simulation::Run;

use crate::failure::{Failure, runs_begin};
use crate::options::StoredRun;
use crate::output;

/// Options of `floodway why`.
#[derive(Args, Debug)]
pub struct WhyOptions {
    /// What to explain.
    #[command(flatten)]
    pub run: StoredRun,
    /// Explain this flow, by its number in the table flows; may be given several times.
    #[arg(long, value_name = "N", conflicts_with = "slowest")]
    pub flow: Vec<u32>,
    /// Explain each packet of these flows, too: the text shows those that were delayed most, --json all.
    #[arg(long, conflicts_with_all = ["root", "without", "against", "path"])]
    pub packets: bool,
    /// Explain so many flows with the largest slowdown.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub slowest: usize,
    /// Follow at most so many flows, evenly spread over all measured ones, for the totals by workload and size.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub sample: usize,
    /// List the flows that the pauses with this root delayed, as in `--root "leaf 7 to host 57"`.
    #[arg(long, value_name = "PORT", conflicts_with_all = ["flow", "without"])]
    pub root: Option<String>,
    /// Run the experiment once more with flows reduced to one byte, and compare what the others save with what
    /// the explanation predicts: `flow:14`, `workload:incast`, or `root:leaf 7 to host 57` for the flows that
    /// filled that queue when it caused pauses; may be given several times.
    #[arg(long, value_name = "CAUSE", conflicts_with_all = ["flow", "slowest"])]
    pub without: Vec<String>,
    /// Show where the time goes that flows save or lose compared with this variant: mean times by workload, size and
    /// cause in both, and their differences. All replications that both variants have are repeated.
    #[arg(long, value_name = "VARIANT", conflicts_with_all = ["flow", "slowest", "root", "without", "path", "replication"])]
    pub against: Option<String>,
    /// Explain the critical path of flows that depend on each other: to this flow, by default to the measured flow
    /// that completes last. The run is repeated twice.
    #[arg(long, value_name = "N", num_args = 0..=1, conflicts_with_all = ["flow", "slowest", "sample", "root", "without"])]
    pub path: Option<Option<u32>>,
    /// Print JSON, with every part of the explained flows.
    #[arg(long)]
    pub json: bool,
}

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
        WhyOptions { flow, slowest, packets, .. } => Question::Delays {
            flows: flow.iter().copied().map(u64::from).collect(),
            slowest: *slowest,
            packets: *packets,
        },
    }
}
