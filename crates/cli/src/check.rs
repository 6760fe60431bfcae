//! `floodway check`: is the scenario valid, and what follows from it?

use floodway_scenario::derived::Derived;
use floodway_scenario::{Problem, Scenario, Variant};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::options::CheckOptions;
use crate::{output, selection};

/// Checks a scenario and shows its numbers.
pub fn check(options: &CheckOptions) -> Result<(), Failure> {
    let scenario = options.selection.load([])?;
    let variants = options.selection.variants(&scenario)?;
    let derived = derived(&scenario, &variants);
    if options.json {
        let mut value = serde_json::to_value(&derived).expect("numbers and names are JSON");
        value["warnings"] = scenario.warnings().iter().map(warning).collect();
        return output::print_json(&value);
    }
    selection::warn(&scenario);
    output::print(&derived.to_string())
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
