//! The configurations of switches with SONiC, tables of CONFIG_DB as JSON, as a scenario that means what the
//! switches do.
//!
//! All switches of a scenario have the same settings, but for the sizes of their pools and for what differs by
//! the rate of a port. Where configurations differ otherwise, most ports decide, and the account says so.
//! Nothing is dropped silently: every field of every table is in a [`Row`].

mod account;
mod beside;
mod config;
mod fates;
mod json;
mod lint;
mod maps;
mod network;
pub mod patch;
mod plan;
mod scenario;
mod shares;
mod switch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodway_model::Rate;
use floodway_sim::switch::cell::Cell;

pub use super::account::{Fate, Row};
use crate::device::DeviceProfile;
use crate::headroom::lookup::Table;
use crate::lint::{Finding, pause_cycle};
use crate::read;
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Problem, Source};
use config::Config;
use network::Network;
use plan::Plan;
use scenario::Parts;
use switch::Switch;

/// The name of the scenario's file, in errors about it too.
pub const SCENARIO: &str = "scenario.toml";

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario file.
    pub scenario: String,
    /// What became of every field.
    pub rows: Vec<Row>,
    /// How many fields the configurations have.
    pub fields: usize,
    /// How many of them the rows account for.
    pub accounted: usize,
    /// What is doubtful.
    pub warnings: Vec<Problem>,
    /// What lint finds in the configurations of all switches.
    pub findings: Vec<Finding>,
    /// The files that were read: nothing may be written over one of them.
    pub inputs: Vec<PathBuf>,
}

/// What a configuration does not say.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The speed of ports without one in `PORT`.
    pub rate: Rate,
    /// The model of the switches: cells and latency are not in CONFIG_DB.
    pub profile: Option<&'static DeviceProfile>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rate: Rate::from_gbps(100), profile: None }
    }
}

/// Reads directories and files: each directory is a switch, or has directories that are one each; files that
/// have no table in common are one switch, and otherwise each file is one. `name` is that of the scenario.
pub fn import(paths: &[PathBuf], name: &str, options: Options) -> Result<Imported, Error> {
    let mut values = options.profile.iter().flat_map(|profile| &profile.values);
    let cell = values.rfind(|value| value.path == "switch.cell");
    let cell = cell.and_then(|value| serde_json::from_value(value.value.clone()).ok());
    import_with(paths, name, options, cell.unwrap_or_default())
}

/// The same, for switches with such cells.
fn import_with(
    paths: &[PathBuf],
    name: &str,
    options: Options,
    cell: Cell,
) -> Result<Imported, Error> {
    let mut inputs = Vec::new();
    let switches = read_all(paths, options, &mut inputs)?;
    let plan = Plan::of(&switches, cell)?;
    let network = Network::of(&switches)?;
    let mut parts = Parts {
        name,
        switches: &switches,
        plan: &plan,
        network: &network,
        lossless: true,
        profile: options.profile,
    };
    let check =
        |text: &str| Scenario::of_library(&[(SCENARIO, text)], SCENARIO, &Overrides::default());
    let mut text = scenario::text(&parts);
    let mut warnings = Vec::new();
    let mut checked = check(&text);
    if let Err(error) = &checked {
        let error = error.clone();
        // Headroom below the worst case is common, and no reason not to read the configuration.
        parts.lossless = false;
        text = scenario::text(&parts);
        checked = Ok(check(&text).map_err(|_| error.clone())?);
        warnings.extend(error.problems().iter().map(|problem| {
            Problem::warning(
                problem.place.clone(),
                format!("the switches may lose lossless traffic: {}", problem.message),
                format!("the scenario has `lossless = false`, so losses are counted and are no error; {}", problem.help),
            )
        }));
    }
    let mut findings = lint::find(&switches, &plan)?;
    let place = switches[0].config.problem("", "").place;
    findings.extend(pause_cycle(&checked?.variants()[0], place));
    let (rows, accounted) = fates::rows(&switches, &plan, &network, options);
    let fields = switches.iter().flat_map(|switch| &switch.config.entries);
    let fields = fields.map(|entry| entry.fields.len().max(1)).sum();
    Ok(Imported { scenario: text, rows, fields, accounted, warnings, findings, inputs })
}

/// The files of one switch.
struct Files {
    /// What it is called if its configuration does not say.
    name: String,
    configs: Vec<(PathBuf, Config)>,
    headroom: Option<Table>,
}

fn read_all(
    paths: &[PathBuf],
    options: Options,
    inputs: &mut Vec<PathBuf>,
) -> Result<Vec<Switch>, Error> {
    let mut loose = Vec::new();
    let mut groups: Vec<Files> = Vec::new();
    for path in paths {
        if !path.is_dir() {
            loose.push(path.clone());
            continue;
        }
        let (folders, files) = listed(path)?;
        let mut found = false;
        for folder in folders {
            let (_, files) = listed(&folder)?;
            if files.iter().any(|file| is_json(file)) {
                found = true;
                groups.extend(group(&stem(&folder), &files, inputs)?);
            }
        }
        if files.iter().any(|file| is_json(file)) {
            groups.extend(group(&stem(path), &files, inputs)?);
        } else if !found {
            let source = Arc::new(Source::new(path.display().to_string(), String::new()));
            return Err(Error::from(Problem::error(
                crate::text::Place::whole(&source),
                "the directory has no configuration: no file that ends in .json",
                "name a directory with config_db.json, or with a directory for each switch",
            )));
        }
    }
    if !loose.is_empty() {
        groups.extend(group("switch", &loose, inputs)?);
    }
    let mut switches: Vec<Switch> = Vec::new();
    for Files { name, configs, headroom } in groups {
        let mut config = Config::default();
        configs.into_iter().for_each(|(_, part)| config.add(part));
        let host = config.entry("DEVICE_METADATA", "localhost").and_then(|own| own.get("hostname"));
        let name = host.map_or(name, str::to_owned);
        if switches.iter().any(|other| other.name == name) {
            return Err(Error::from(config.problem(
                format!("two switches are called {name}"),
                "write another `hostname` in `DEVICE_METADATA|localhost` of one, or name each switch once",
            )));
        }
        switches.push(Switch::new(name, config, headroom, options.rate)?);
    }
    match switches.is_empty() {
        false => Ok(switches),
        true => Err(Error::from(Config::default().problem(
            "there is no configuration among these files",
            "a headroom table alone says nothing of ports: name the JSON files of the switch too",
        ))),
    }
}

/// The switches of some files: one if they have no table in common.
fn group(name: &str, files: &[PathBuf], inputs: &mut Vec<PathBuf>) -> Result<Vec<Files>, Error> {
    let mut configs = Vec::new();
    let mut headroom = None;
    for path in files {
        inputs.push(path.clone());
        if path.extension().is_some_and(|ending| ending == "ini") {
            let table = Table::read(path)?;
            if headroom.replace(table).is_some() {
                let source = Arc::new(Source::new(path.display().to_string(), String::new()));
                return Err(Error::from(Problem::error(
                    crate::text::Place::whole(&source),
                    "these files have two headroom tables",
                    "keep the table of each switch in a directory with its configuration",
                )));
            }
            continue;
        }
        let text = read::text_file(path, "configuration", ".json")?;
        let source = Arc::new(Source::new(path.display().to_string(), text));
        configs.push((path.clone(), Config::read(&source)?));
    }
    let is_one = {
        let mut seen = BTreeSet::new();
        configs.iter().flat_map(|(_, config)| config.tables()).all(|table| seen.insert(table))
    };
    if is_one && configs.len() != 1 {
        let one = Files { name: name.to_owned(), configs, headroom };
        return Ok(if one.configs.is_empty() { Vec::new() } else { vec![one] });
    }
    let alone = configs.len() == 1 && name != "switch";
    let each = configs.into_iter().map(|(path, config)| Files {
        name: if alone { name.to_owned() } else { stem(&path) },
        configs: vec![(path, config)],
        headroom: headroom.clone(),
    });
    Ok(each.collect())
}

/// Whether a path is that of configurations: a file that ends in .json, or a directory with one or with directories that
/// have one.
pub fn is_configuration(path: &Path) -> bool {
    let has = |path: &Path| {
        listed(path).map(|(folders, files)| (folders, files.iter().any(|file| is_json(file))))
    };
    match path.is_dir() {
        false => is_json(path),
        true => has(path).is_ok_and(|(folders, own)| {
            own || folders.iter().any(|folder| has(folder).is_ok_and(|(_, own)| own))
        }),
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// The name of a file without its ending, or of a directory.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The directories and the files of a directory that may be configurations or headroom tables, by name.
fn listed(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Problem> {
    let entries = std::fs::read_dir(path).map_err(|error| {
        let source = Arc::new(Source::new(path.display().to_string(), String::new()));
        let place = crate::text::Place::whole(&source);
        let help = "name a directory that you may read";
        Problem::error(place, format!("the directory cannot be read: {error}"), help)
    })?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let table = |path: &Path| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with("pg_profile_lookup") && name.ends_with(".ini")
        })
    };
    let files = files.into_iter().filter(|file| is_json(file) || table(file)).collect();
    Ok((folders, files))
}
