//! Scenarios, variants and outcomes in the form in which reports take them, for the program, the Python package and the
//! playground. It needs no operating system, because the playground has none.

use floodway_report::manifest::MECHANISMS;
use floodway_report::manifest::ProfileValue;
use floodway_report::{InputFile, Manifest, Run};
use floodway_scenario::device::basis::shown;
use floodway_scenario::{Scenario, Variant};
use floodway_sim::Outcome;

/// The scenario, with the facts of its baseline.
pub fn scenario(of: &Scenario, baseline: Option<&Variant>) -> floodway_report::Scenario {
    floodway_report::Scenario {
        name: of.name.clone(),
        question: of.question.clone(),
        file: of.file_name.clone(),
        text: of.text.clone(),
        overrides: of.overrides.set.clone(),
        files: of.files.iter().map(input_file).collect(),
        facts: baseline.map_or(Vec::new(), |variant| variant.facts(of.replication_seed(0))),
        profile_values: profile_values(of),
    }
}

/// The values that the variants take from device profiles, each once.
fn profile_values(of: &Scenario) -> Vec<ProfileValue> {
    let mut values = Vec::new();
    for used in of
        .variants()
        .iter()
        .filter_map(|variant| variant.basis.as_ref())
        .flat_map(|basis| &basis.values)
    {
        let value = ProfileValue {
            profile: used.profile.clone(),
            path: used.value.path.clone(),
            value: shown(&used.value.value),
            evidence: used.value.evidence.name().to_owned(),
            source: used.value.source.clone(),
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn input_file(file: &floodway_scenario::InputFile) -> InputFile {
    InputFile { path: file.path.clone(), bytes: file.bytes, hash: file.hash.clone() }
}

/// A variant of a scenario under a name of its results, and how it differs from the baseline.
pub fn variant(
    name: &str,
    scenario: &Scenario,
    of: &Variant,
    baseline: &Variant,
) -> floodway_report::Variant {
    let mechanisms = MECHANISMS.iter().filter(|(name, _)| of.has(name));
    floodway_report::Variant {
        name: name.to_owned(),
        summary: scenario.description(&of.name),
        mechanisms: Some(mechanisms.map(|(name, _)| (*name).to_owned()).collect()),
        differs: of.differs_from(baseline),
        interval_end: of.measured().end,
        arrivals_ns: of.settings.arrivals.0 / 1_000,
    }
}

/// A manifest with these variants of a scenario, the baseline first.
pub fn manifest(of: &Scenario, variants: &[&Variant]) -> Manifest {
    let baseline = variants.first().copied();
    let described = variants.iter().map(|one| variant(&one.name, of, one, baseline.unwrap_or(one)));
    Manifest {
        seed: of.seed,
        workloads: baseline.map_or(Vec::new(), Variant::workload_names),
        ..Manifest::new(scenario(of, baseline), described.collect())
    }
}

/// A run of the variant with this name in a replication with this seed. `key`: see [`Run::key`].
pub fn run<'a>(
    variant: &'a str,
    (replication, seed): (u32, u64),
    key: &'a str,
    outcome: &'a Outcome,
) -> Run<'a> {
    Run {
        variant,
        replication,
        seed,
        key,
        tables: &outcome.tables,
        hops: outcome.hops,
        wall_s: outcome.wall.as_secs_f64(),
        simulated_ns: outcome.simulated.0 as f64 / 1e3,
        fingerprint: outcome.fingerprint,
        violations: &outcome.violations,
        stop: outcome.stop.name(),
    }
}
