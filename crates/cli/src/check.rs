//! `floodway check`: whether the scenario is valid, and derived values.

use floodway_lab::{Budget, all_cores};
use floodway_scenario::derived::Derived;
use floodway_scenario::{Problem, Scenario, Variant};
use floodway_study::RunClaims;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::options::CheckOptions;
use crate::{output, selection};

/// Checks a scenario and shows its numbers.
pub fn check(options: &CheckOptions) -> Result<(), Failure> {
    let scenario = options.selection.load([])?;
    let variants = options.selection.variants(&scenario)?;
    let claims = RunClaims::of(&scenario)?;
    let budget = Budget::of(&scenario, &variants, all_cores());
    // What is refused here is refused by `floodway run` too, whatever its threads.
    Budget { threads: 1, ..budget }.check(&scenario.file_name)?;
    let derived = derived(&scenario, &variants);
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
        return output::print_json(&value);
    }
    selection::warn(scenario.warnings());
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
    Ok(())
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
