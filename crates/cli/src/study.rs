//! `floodway study`: the experiments of a study one after another, and the verdict on its claims.

use std::path::{Path, PathBuf};

use floodway_lab::study::{Failure as Why, Order, plan, run};
use floodway_lab::{Existing, How, verify};
use floodway_machine::printable;
use floodway_report::{terminal, words};
use floodway_scenario::suggest;
use floodway_study::{Built, CATALOGUE, Level, Study};

use crate::failure::Failure;
use crate::options::StudyOptions;
use crate::run::{Speaker, Talk, command, insist, stop_on_signals, threads};
use crate::{output, pages};

/// Runs a study.
pub fn study(options: &StudyOptions) -> Result<(), Failure> {
    let study = named(&options.name)?;
    if let Some(folder) = &options.verify {
        return verify(study, folder, options);
    }
    let level = level(options);
    if options.closest && study.closest.is_none() {
        return Err(Failure::Unknown(format!(
            "`--closest` needs numbers to come near to, and the sources of the study `{}` give too few; \
             leave it out, or take `ci`",
            options.name
        )));
    }
    if options.plan {
        let (plan, _) = plan(study, level, &options.set)?;
        let commands = plan.iter().map(|experiment| experiment.command(&options.set));
        let commands = commands.map(|command| printable::line(&command).into_owned() + "\n");
        return output::print(&commands.collect::<String>());
    }
    // A study has many runs, and some are large.
    pages::take_large_ones();
    let path = out(study, options, level);
    let order = Order { study, level, closest: options.closest, set: &options.set, path: &path };
    let how = How {
        threads: threads(options.threads),
        stop: &*stop_on_signals(false)?,
        existing: if options.force { Existing::Replace } else { Existing::Resume },
        formats: &["parquet".to_owned()],
        trace: None,
        capture: None,
        kernels: None,
        ranks: None,
        audit: options.audit,
        command: &command(),
    };
    let judged = match run(&order, &how, &mut Speaker::new(talk(options))) {
        Err(Why::Interrupted(experiment)) => {
            output::note(&format!(
                "interrupted in the experiment `{experiment}`; what was finished is kept in {}, \
                 and the same command goes on from there",
                path.display()
            ));
            return Err(Failure::Interrupted);
        }
        judged => judged?,
    };
    if options.json {
        output::print_json(&judged.result)?;
    } else if !options.quiet {
        let table = terminal::claims(&judged.result, output::style());
        output::print(&format!("{table}open {} in a browser\n", output::path(&judged.page)))?;
    }
    if !judged.result.violations.is_empty() {
        return Err(Failure::Violations(judged.result.violations));
    }
    insist(options.insist, study.not_held(&judged.result.claims))
}

/// The study of this name, or in this folder.
fn named(name: &str) -> Result<&'static Study, Failure> {
    let Some(study) = floodway_study::named(name) else {
        let names: Vec<&str> = CATALOGUE.iter().map(Built::name).collect();
        return Err(Failure::Unknown(format!(
            "there is no study `{name}`; {}, or name a folder with a study.toml",
            suggest::remedy(name, "studies", &names)
        )));
    };
    Ok(study?)
}

/// Compares published results with what this version yields.
fn verify(study: &'static Study, folder: &Path, options: &StudyOptions) -> Result<(), Failure> {
    pages::take_large_ones();
    let done = verify::verify(study, folder, threads(options.threads), &*stop_on_signals(false)?)?;
    if options.quiet {
        return Ok(());
    }
    output::print(&format!(
        "{}: {} {} as published, {} packet-hops\n",
        output::path(folder),
        done.runs,
        if done.runs == 1 { "run is" } else { "runs are" },
        words::large(done.hops as f64)
    ))
}

fn level(options: &StudyOptions) -> Level {
    match options {
        StudyOptions { quick: true, .. } => Level::Quick,
        StudyOptions { full: true, .. } => Level::Full,
        _ => Level::Standard,
    }
}

/// Where results go. The larger levels share a directory, because the one has the runs of the
/// other.
fn out(study: &Study, options: &StudyOptions, level: Level) -> PathBuf {
    let end = if level == Level::Quick { "-quick" } else { "" };
    let default = || PathBuf::from("results").join(format!("study-{}{end}", study.entry.name));
    options.out.clone().unwrap_or_else(default)
}

fn talk(options: &StudyOptions) -> Talk {
    match options {
        StudyOptions { quiet: true, .. } => Talk::Nothing,
        StudyOptions { verbose: true, .. } => Talk::Runs,
        _ => Talk::Progress,
    }
}
