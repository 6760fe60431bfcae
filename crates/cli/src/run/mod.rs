//! `floodway run`: every variant in every replication, into a results directory.

mod progress;
mod queue;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use floodway_report::{Directory, Ending, Experiment, Manifest, Run, Status, Summary, terminal};
use floodway_scenario::{Scenario, Variant};
use floodway_sim::{Outcome, Stop};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;
use crate::options::RunOptions;
use crate::{check, memory, output, selection};
use queue::{Job, Queue};

/// Runs a scenario.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    let begun = Instant::now();
    let scenario = options.selection.load(settings(options))?;
    let variants = options.selection.variants(&scenario)?;
    announce(options, &scenario, &variants)?;

    let queue = Queue::new(&scenario, &variants, threads(options));
    let manifest = manifest(options, &scenario, &variants, queue.threads());
    let path = out(options, &scenario);
    let mut directory = Directory::create(&path, options.force, &manifest)?;
    let mut experiment = Experiment::new(&manifest);
    let stop = stop_on_signals()?;
    let mut cost = Cost::default();
    queue.work(&stop, !options.quiet, |job, outcome| {
        cost.add(job, outcome);
        let told = options.verbose.then(|| words::finished(job, outcome));
        let run = as_run(job, outcome);
        directory.add_run(&run)?;
        experiment.add_run(&run);
        Ok(told)
    })?;

    // A signal that came after the last run had ended changed nothing.
    let interrupted = cost.whole < queue.jobs();
    let ending = Ending {
        status: if interrupted { Status::Interrupted } else { Status::Complete },
        wall_s: begun.elapsed().as_secs_f64(),
        peak_rss_bytes: memory::peak(),
    };
    let summary = directory.finish(&experiment, &ending)?;
    show(options, &summary, &cost, &path)?;
    if interrupted {
        output::note(&words::interrupted(cost.whole, queue.jobs(), &path));
        return Err(Failure::Interrupted);
    }
    match summary.violations {
        violations if violations.is_empty() => Ok(()),
        violations => Err(Failure::Violations(violations)),
    }
}

/// Options that stand for settings of the scenario.
fn settings(options: &RunOptions) -> Vec<String> {
    let replications = options.replications.map(|number| format!("replications={number}"));
    let seed = options.seed.map(|seed| format!("seed={seed}"));
    replications.into_iter().chain(seed).collect()
}

fn threads(options: &RunOptions) -> usize {
    match options.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

fn out(options: &RunOptions, scenario: &Scenario) -> PathBuf {
    options.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&scenario.name))
}

/// Says what should be known before it starts.
fn announce(
    options: &RunOptions,
    scenario: &Scenario,
    variants: &[&Variant],
) -> Result<(), Failure> {
    if !options.quiet {
        selection::warn(scenario);
    }
    if options.verbose {
        output::say(&check::derived(scenario, variants).to_string());
    }
    Ok(())
}

fn manifest(
    options: &RunOptions,
    scenario: &Scenario,
    variants: &[&Variant],
    threads: usize,
) -> Manifest {
    let described = floodway_report::Scenario {
        name: scenario.name.clone(),
        question: scenario.question.clone(),
        file: scenario.file_name.clone(),
        text: scenario.text.clone(),
        overrides: scenario.overrides.set.clone(),
    };
    let variant = |variant: &&Variant| floodway_report::Variant {
        name: variant.name.clone(),
        summary: String::new(),
    };
    Manifest {
        replications: scenario.replications,
        seed: scenario.seed,
        threads,
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        formats: options.format.clone(),
        ..Manifest::new(described, variants.iter().map(variant).collect())
    }
}

/// Set by the first SIGINT or SIGTERM; the second one ends the program.
fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order, because both are called for every signal.
        flag::register_conditional_shutdown(signal, 130, stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()))
            .map_err(|error| Failure::System("listen for Ctrl-C", error))?;
    }
    Ok(stop)
}

fn as_run<'a>(job: &Job<'a>, outcome: &'a Outcome) -> Run<'a> {
    Run {
        variant: &job.variant.name,
        replication: job.replication,
        seed: job.seed,
        tables: &outcome.tables,
        hops: outcome.hops,
        wall_s: outcome.wall.as_secs_f64(),
        simulated_ns: words::nanoseconds(outcome.simulated),
        fingerprint: outcome.fingerprint,
        violations: &outcome.violations,
        stop: outcome.stop.name(),
    }
}

/// What the runs took.
#[derive(Default)]
struct Cost {
    runs: usize,
    /// Of these, runs that were not cut short.
    whole: usize,
    hops: u64,
    simulated_ns: f64,
    /// Seconds of all threads.
    thread_s: f64,
}

impl Cost {
    fn add(&mut self, job: &Job, outcome: &Outcome) {
        self.runs += 1;
        self.whole += usize::from(outcome.stop != Stop::Interrupted);
        self.hops += outcome.hops;
        self.simulated_ns += words::nanoseconds(outcome.simulated);
        self.thread_s += outcome.wall.as_secs_f64() * job.threads as f64;
    }
}

/// Prints what came out.
fn show(
    options: &RunOptions,
    summary: &Summary,
    cost: &Cost,
    path: &std::path::Path,
) -> Result<(), Failure> {
    if options.json {
        return output::print_json(&summary.json());
    }
    if options.quiet {
        return Ok(());
    }
    let table = terminal::table(summary, output::style());
    output::print(&(table + &words::closing(cost, path)))
}
