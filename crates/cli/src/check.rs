//! `floodway check`: whether the scenario is valid, derived values, and what lint finds; of configurations of switches,
//! what lint finds in them.

use std::path::Path;

use floodway_lab::{Budget, all_cores};
use floodway_model::check::count_of;
use floodway_scenario::derived::Derived;
use floodway_scenario::import::sonic;
use floodway_scenario::lint::{self, Finding};
use floodway_scenario::{Overrides, Problem, Scenario, Variant};
use floodway_study::RunClaims;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::options::{CheckOptions, Selection};
use crate::{output, selection};

/// Checks a scenario and shows its numbers.
pub fn check(options: &CheckOptions) -> Result<(), Failure> {
    if sonic::is_configuration(&options.selection.file) {
        return configurations(options);
    }
    let file = &options.selection.file;
    if file.is_dir() && !has_scenarios(file) {
        return Err(Failure::Unknown(format!(
            "{} has neither scenarios nor configurations of switches; name a scenario file, which ends in .toml, or a \
             directory with config_db.json or with a directory for each switch",
            output::path(file)
        )));
    }
    let scenario = options.selection.load([])?;
    let variants = options.selection.variants(&scenario)?;
    let claims = RunClaims::of(&scenario)?;
    let budget = Budget::of(&scenario, &variants, all_cores());
    // What is refused here is refused by `floodway run` too, whatever its threads.
    Budget { threads: 1, ..budget }.check(&scenario.file_name)?;
    let derived = derived(&scenario, &variants);
    let Selection { file, quick, set, variant } = &options.selection;
    let overrides = Overrides { quick: *quick, set: set.clone() };
    let findings = lint::scenario(file, &overrides, variant)?;
    if options.json {
        let mut value = serde_json::to_value(&derived).expect("numbers and names are JSON");
        value["claims"] = claims.iter().flat_map(RunClaims::names).collect();
        value["warnings"] = scenario.warnings().iter().map(warning).collect();
        value["budget"] = json!({
            "runs": budget.runs,
            "threads": budget.threads,
            "memory_bytes": budget.memory(),
            "held_bytes": budget.held,
            "run_bytes": budget.of_run,
            "kept_bytes": budget.kept,
            "disk_bytes": budget.disk,
            "left_bytes": budget.room.map(|room| room.bytes),
        });
        value["findings"] = findings.iter().map(finding).collect();
        output::print_json(&value)?;
        return deny(options, scenario.warnings().len(), &findings);
    }
    selection::warn(scenario.warnings());
    findings.iter().for_each(|finding| output::problem(&finding.plain()));
    let claims: Vec<&str> = claims.iter().flat_map(RunClaims::names).collect();
    let judged = match claims.as_slice() {
        [] => String::new(),
        names => format!("judged after the runs: {}\n", names.join(", ")),
    };
    output::print(&format!("{derived}{judged}{budget}\n"))?;
    // Of the default number of threads there may be too many.
    if let Err(refused) = budget.check(&scenario.file_name) {
        output::note(&format!("`floodway run` needs an option: {}", refused.problems()[0].help));
    }
    deny(options, scenario.warnings().len(), &findings)
}

/// Whether a directory has a file that may be a scenario.
fn has_scenarios(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|end| end == "toml"))
}

/// Checks configurations of switches.
fn configurations(options: &CheckOptions) -> Result<(), Failure> {
    let Selection { file, quick, set, variant } = &options.selection;
    if *quick || !set.is_empty() || !variant.is_empty() {
        return Err(Failure::Unknown(format!(
            "{} has configurations of switches, and --set, --quick and --variant are for scenarios; import them with \
             `floodway import sonic`, and check the scenario",
            output::path(file)
        )));
    }
    let paths = std::slice::from_ref(file);
    let imported = sonic::import(paths, "fabric", sonic::Options::default())?;
    let sonic::Imported { warnings, findings, .. } = &imported;
    if options.json {
        output::print_json(&json!({
            "warnings": warnings.iter().map(warning).collect::<Vec<_>>(),
            "notes": imported.notes,
            "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        }))?;
    } else {
        selection::warn(warnings);
        findings.iter().for_each(|finding| output::problem(&finding.plain()));
        imported.notes.iter().for_each(|note| output::note(note));
        output::print(&format!(
            "{} and {}\n",
            found(findings),
            count_of(warnings.len() as u64, "warning")
        ))?;
    }
    deny(options, warnings.len(), findings)
}

/// How many there are, in words.
pub fn found(findings: &[Finding]) -> String {
    count_of(findings.len() as u64, "finding")
}

/// The end of a check that has found something, if it was asked to fail then.
fn deny(options: &CheckOptions, warnings: usize, findings: &[Finding]) -> Result<(), Failure> {
    match options.deny_findings && (warnings > 0 || !findings.is_empty()) {
        false => Ok(()),
        true => Err(Failure::Findings(format!(
            "{} and {}, and --deny-findings allows none",
            found(findings),
            count_of(warnings as u64, "warning")
        ))),
    }
}

/// The numbers of these variants, with the placement of the first replication.
pub fn derived(scenario: &Scenario, variants: &[&Variant]) -> Derived {
    let seed = scenario.replication_seed(0);
    Derived {
        scenario: scenario.name.clone(),
        replications: scenario.replications,
        variants: variants.iter().map(|variant| variant.derived(seed)).collect(),
    }
}

fn finding(finding: &Finding) -> Value {
    let mut value = warning(&finding.problem);
    value["name"] = finding.name.text().into();
    value["why"] = finding.name.why().into();
    value
}

fn warning(problem: &Problem) -> Value {
    let position = problem.place.position();
    json!({
        "message": problem.message,
        "help": problem.help,
        "source": problem.place.source.name(),
        "line": position.as_ref().map(|at| at.line),
        "column": position.as_ref().map(|at| at.column),
        "variants": problem.variants,
    })
}
