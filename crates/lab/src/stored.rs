//! A run in a results directory, and the scenario that was run.

use std::path::Path;

use floodway_machine::printable;
use floodway_report::Directory;
use floodway_report::directory::{self, Results};
use floodway_report::manifest::Record;
use floodway_scenario::{Overrides, Scenario, Variant};

/// In place of the file of a scenario that a program has built. All of it is in the manifest.
pub const BUILT: &str = "<scenario>";

/// Reason why a stored run is not found or not repeated.
#[derive(Debug)]
pub enum Failure {
    /// Something that was named does not exist: cause and remedy.
    Unknown(String),
    /// The scenario is wrong.
    Scenario(floodway_scenario::Error),
    /// The results cannot be read.
    Results(directory::Error),
    /// The repeated run differs from the stored one: cause and remedy.
    Differs(String),
    /// The repeated run is not sound, by what is wrong with it.
    Violations(Vec<String>),
    /// The run was stopped before its end.
    Interrupted,
}

impl From<floodway_scenario::Error> for Failure {
    fn from(error: floodway_scenario::Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<directory::Error> for Failure {
    fn from(error: directory::Error) -> Self {
        Self::Results(error)
    }
}

/// Opens a results directory. Fails if it is a file, or if there are no results of this version.
pub fn open(path: &Path) -> Result<Results, Failure> {
    if path.is_file() {
        return Err(Failure::Unknown(format!(
            "`{}` is a file: give the results directory that `floodway run` wrote",
            shown(path)
        )));
    }
    Ok(Directory::open(path)?)
}

/// A run of a variant, by default the first one. Fails if there is none, with those that there are.
pub fn record<'a>(
    results: &'a Results,
    variant: Option<&str>,
    replication: u32,
) -> Result<&'a Record, Failure> {
    let manifest = &results.manifest;
    let first = manifest.variants.first().map(|variant| variant.name.as_str());
    let variant = variant.or(first).unwrap_or_default();
    let fits = |run: &&Record| run.variant == variant && run.replication == replication;
    manifest.runs.iter().find(fits).ok_or_else(|| {
        let all = manifest.runs.iter().map(|run| format!("`{}` {}", run.variant, run.replication));
        let there = match all.collect::<Vec<_>>() {
            all if all.is_empty() => "it has none".to_owned(),
            all if all.len() > 20 => format!("it has {}, and more", all[..20].join(", ")),
            all => format!("it has {}", all.join(", ")),
        };
        Failure::Unknown(format!(
            "{} has no run of the variant `{variant}` and replication {replication}: {there}; choose one with \
             --variant and --replication",
            results.path.display(),
        ))
    })
}

/// The scenario that was run, read again: it has the network. `file` is where it is now, by default where the
/// results say. Fails if it is not there, or not what it was.
pub fn scenario(results: &Results, file: Option<&Path>) -> Result<Scenario, Failure> {
    let there = &results.manifest.scenario;
    let is_built = file.is_none() && there.file == BUILT;
    let path = file.unwrap_or(Path::new(&there.file));
    if !is_built && !path.exists() {
        return Err(Failure::Unknown(format!(
            "there is no file {}, the scenario of these results; name it with --scenario",
            path.display()
        )));
    }
    // The manifest does not say whether it was the quick form, but the command does, if there was one.
    let first = results.manifest.command.iter().any(|word| word == "--quick");
    for quick in [first, !first] {
        let overrides = Overrides { quick, set: there.overrides.clone() };
        let scenario = match is_built {
            true => Scenario::parse(&there.text, BUILT, &overrides)?,
            false => Scenario::load(path, &overrides)?,
        };
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
        shown(&results.path)
    )))
}

/// A path within a line.
fn shown(path: &Path) -> String {
    printable::line(&path.to_string_lossy()).into_owned()
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
