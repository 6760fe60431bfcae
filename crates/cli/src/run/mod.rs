//! `floodway run`: every variant in every replication, into a results directory.

mod over;
mod progress;
mod signals;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use floodway_lab::capture::Choice;
use floodway_lab::{Budget, Done, Existing, How, Kernels, What, all_cores, execute};
use floodway_report::terminal;
use floodway_scenario::{Scenario, Variant};
use floodway_sim::Ranks;
use floodway_study::RunClaims;

use crate::failure::Failure;
use crate::options::RunOptions;
use crate::{check, output, pages, program, selection};
pub use progress::{Speaker, Talk};
pub use signals::stop_on_signals;

/// Runs a scenario.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    if options.mpi {
        return over::run(options);
    }
    let scenario = options.selection.load(settings(options))?;
    let variants = options.selection.variants(&scenario)?;
    refuse_kernels(&scenario, &variants)?;
    run_with(options, (&scenario, &variants), (&*stop_on_signals(false)?, None), None)
}

/// Refuses variants whose hosts are kernels.
fn refuse_kernels(scenario: &Scenario, variants: &[&Variant]) -> Result<(), Failure> {
    match variants.iter().find(|variant| variant.has_kernels()) {
        None => Ok(()),
        Some(variant) => Err(Failure::Unknown(format!(
            "hosts of variant `{}` are Linux kernels ([workload.linux]), which are not simulated; run it with \
             `floodway emulate {}`",
            variant.name, scenario.file_name
        ))),
    }
}

/// Runs these variants of a scenario, until `stop` is set, over all ranks if there are others.
pub fn run_with(
    options: &RunOptions,
    (scenario, variants): (&Scenario, &[&Variant]),
    (stop, ranks): (&AtomicBool, Option<&dyn Ranks>),
    kernels: Option<&dyn Kernels>,
) -> Result<(), Failure> {
    let claims = RunClaims::of(scenario)?;
    if options.insist && claims.is_none() {
        return Err(Failure::Unknown(format!(
            "`--insist` asks that every claim holds, and {} claims nothing; add a [[claim]] to it, or leave `--insist` out",
            scenario.file_name
        )));
    }
    let path = out(options, scenario);
    let capture = capture(options, scenario, variants)?;
    // Several processes may be on one machine, so a rank takes one core unless it is asked to take more.
    let threads = match ranks {
        Some(_) => options.threads.map_or(1, usize::from),
        None => threads(options.threads),
    };
    let mut budget = Budget::of(scenario, variants, threads);
    if let Some(choice) = &capture {
        budget.add_capture(choice, variants);
    }
    if let Some(ranks) = ranks {
        budget.share(ranks.ranks());
    }
    budget.check(&scenario.file_name)?;
    // Ranks have been started by MPI, and kernels run beside this process.
    if ranks.is_none() && kernels.is_none() {
        pages::take_large_ones_for(budget.of_run);
    }
    announce(options, scenario, variants, &budget, &path);
    let how = How {
        threads,
        stop,
        existing: existing(options),
        formats: &options.format,
        trace: options.trace.as_deref(),
        capture: capture.as_ref(),
        kernels,
        audit: options.audit,
        ranks,
        command: &command(),
    };
    let mut speaker = Speaker::new(talk(options));
    let what = What { claims, ..What::new(scenario) };
    let done = execute(&what, variants, &path, &how, &mut speaker, |_| {})?;

    show(options, &done, &path)?;
    if done.interrupted() {
        output::note(&words::interrupted(&done, &path, &how));
        return Err(Failure::Interrupted);
    }
    if !done.summary.violations.is_empty() {
        return Err(Failure::Violations(done.summary.violations));
    }
    let judged = &done.summary.claims;
    insist(options.insist, claims.map_or_else(Vec::new, |claims| claims.not_held(judged)))
}

/// Fails with the claims that do not hold, if it is asked that all do.
pub fn insist(asked: bool, not_held: Vec<String>) -> Result<(), Failure> {
    if asked && !not_held.is_empty() { Err(Failure::Claims(not_held)) } else { Ok(()) }
}

/// What is to be captured, if anything is; refused if a variant has no such place or flow.
fn capture(
    options: &RunOptions,
    scenario: &Scenario,
    variants: &[&Variant],
) -> Result<Option<Choice>, Failure> {
    if options.pcap.is_empty() {
        return Ok(None);
    }
    let choice = Choice {
        places: options.pcap.clone(),
        most: options.pcap_frames,
        flows: options.pcap_flow.clone(),
        octets: options.pcap_snaplen,
    };
    for variant in variants {
        let refused = |problem| Failure::Unknown(format!("variant `{}`: {problem}", variant.name));
        choice.check(variant, scenario.replication_seed(0)).map_err(refused)?;
    }
    Ok(Some(choice))
}

/// Flows that are explained with `--why`.
const EXPLAINED: u32 = 1_000;

/// Options that stand for settings of the scenario.
pub fn settings(options: &RunOptions) -> Vec<String> {
    let replications = options.replications.map(|number| format!("replications={number}"));
    let seed = options.seed.map(|seed| format!("seed={seed}"));
    let why = options.why.then(|| format!("explained_flows={EXPLAINED}"));
    replications.into_iter().chain(seed).chain(why).collect()
}

/// As many as were asked for, or one per core.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(all_cores, usize::from)
}

/// The command line, word by word. Where the program lies on this machine is not part of it: results are
/// published.
pub fn command() -> Vec<String> {
    program::words().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn existing(options: &RunOptions) -> Existing {
    match options {
        RunOptions { resume: true, .. } => Existing::Resume,
        RunOptions { force: true, .. } => Existing::Replace,
        _ => Existing::Refuse,
    }
}

fn talk(options: &RunOptions) -> Talk {
    match options {
        RunOptions { quiet: true, .. } => Talk::Nothing,
        RunOptions { verbose: true, .. } => Talk::Runs,
        _ => Talk::Progress,
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
    budget: &Budget,
    path: &Path,
) {
    if !options.quiet {
        selection::warn(scenario.warnings());
        budget.warning(path).iter().for_each(|warning| output::problem(&warning.plain()));
    }
    if options.verbose {
        output::say(&format!("{}{budget}\n", check::derived(scenario, variants)));
    }
}

/// Prints what came out.
fn show(options: &RunOptions, done: &Done, path: &Path) -> Result<(), Failure> {
    if options.json {
        return output::print_json(&done.summary.json());
    }
    if options.quiet {
        return Ok(());
    }
    let claims = terminal::run_claims(&done.summary.claims, output::style());
    let claims = if claims.is_empty() { claims } else { claims + "\n" };
    let table = terminal::table(&done.summary, output::style()) + &claims;
    output::print(
        &(table
            + &words::closing(
                &done.cost,
                path,
                (options.trace.as_deref(), !options.pcap.is_empty()),
            )),
    )
}
