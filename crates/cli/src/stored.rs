//! A run in a results directory, and the scenario that was run.

use std::path::Path;

use floodway_report::Directory;
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_scenario::{Overrides, Scenario, Variant};

use crate::failure::Failure;
use crate::options::StoredRun;
use crate::output;

impl StoredRun {
    /// The results.
    pub fn open(&self) -> Result<Results, Failure> {
        if self.results.is_file() {
            return Err(Failure::Unknown(format!(
                "`{}` is a file: give the results directory that `floodway run` wrote",
                output::path(&self.results)
            )));
        }
        Ok(Directory::open(&self.results)?)
    }

    /// The run.
    pub fn record<'a>(&self, results: &'a Results) -> Result<&'a Record, Failure> {
        let manifest = &results.manifest;
        let first = manifest.variants.first().map(|variant| &variant.name);
        let variant = self.variant.as_ref().or(first).map_or("", String::as_str);
        let fits = |run: &&Record| run.variant == variant && run.replication == self.replication;
        manifest.runs.iter().find(fits).ok_or_else(|| {
            let all = manifest.runs.iter().map(|run| format!("`{}` {}", run.variant, run.replication));
            let there = match all.collect::<Vec<_>>() {
                all if all.is_empty() => "it has none".to_owned(),
                all if all.len() > 20 => format!("it has {}, and more", all[..20].join(", ")),
                all => format!("it has {}", all.join(", ")),
            };
            Failure::Unknown(format!(
                "{} has no run of the variant `{variant}` and replication {}: {there}; choose one with \
                 --variant and --replication",
                self.results.display(),
                self.replication
            ))
        })
    }

    /// The scenario that was run, read again: it has the network.
    pub fn scenario(&self, results: &Results) -> Result<Scenario, Failure> {
        let there = &results.manifest.scenario;
        let path = self.scenario.as_deref().unwrap_or(Path::new(&there.file));
        if !path.exists() {
            return Err(Failure::Unknown(format!(
                "there is no file {}, the scenario of these results; name it with --scenario",
                path.display()
            )));
        }
        // The manifest does not say whether it was the quick form, but the command does, if there was one.
        let first = results.manifest.command.iter().any(|word| word == "--quick");
        for quick in [first, !first] {
            let overrides = Overrides { quick, set: there.overrides.clone() };
            let scenario = Scenario::load(path, &overrides)?;
            if scenario.text != there.text || !same_files(&scenario, results) {
                break;
            }
            if same_arrivals(&scenario, results) {
                return Ok(scenario);
            }
        }
        Err(Failure::Unknown(format!(
            "{} or a file that it names is not what it was when {} was run; run it again, or name the \
             scenario that was run with --scenario",
            path.display(),
            output::path(&self.results)
        )))
    }
}

/// Whether the files that a scenario names are those of the run.
fn same_files(scenario: &Scenario, results: &Results) -> bool {
    let hashes = scenario.files.iter().map(|file| &file.hash);
    hashes.eq(results.manifest.scenario.files.iter().map(|file| &file.hash))
}

/// Whether its variants are those of the run.
fn same_arrivals(scenario: &Scenario, results: &Results) -> bool {
    results.manifest.variants.iter().all(|there| {
        let same = |variant: &&Variant| {
            variant.name == there.name && variant.settings.arrivals.0 / 1_000 == there.arrivals_ns
        };
        scenario.variants().iter().any(|variant| same(&variant))
    })
}
