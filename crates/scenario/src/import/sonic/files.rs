//! Which files are of which switch, and what kind each is: configurations and what LLDP sees as JSON, headroom tables,
//! minigraphs, and LLDP tables as text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodway_model::Rate;

use super::Options;
use super::config::{self, Config};
use super::neighbors::minigraph::Minigraph;
use super::neighbors::{Heard, Neighbors, Overruled, Unit, lldp, resolve, whole};
use super::switch::Switch;
use crate::headroom::lookup::Table;
use crate::read;
use crate::text::{Error, Place, Problem, Source};

/// What was read.
pub struct Read {
    /// The switches.
    pub switches: Vec<Switch>,
    /// What became of the fields of minigraphs and LLDP tables.
    pub units: Vec<Unit>,
    /// What is doubtful about neighbors.
    pub warnings: Vec<Problem>,
    /// Cables between switches that are declared, and that LLDP does not see.
    pub overruled: Vec<Overruled>,
    /// The kinds of devices, by name in small letters.
    pub kinds: BTreeMap<String, String>,
}

/// The files of one switch.
struct Files {
    /// What it is called if its configuration does not say.
    name: String,
    configs: Vec<(PathBuf, Config)>,
    headroom: Option<Table>,
}

/// All files so far.
#[derive(Default)]
struct All {
    groups: Vec<Files>,
    minigraphs: Vec<Minigraph>,
    heard: Vec<Heard>,
}

/// Reads all switches, and what other files say of their neighbors.
pub fn read_all(
    paths: &[PathBuf],
    options: Options,
    inputs: &mut Vec<PathBuf>,
) -> Result<Read, Error> {
    if options.rate == Rate(0) {
        let source = Arc::new(Source::new("--rate", options.rate.to_string()));
        return Err(Error::from(Problem::error(
            Place::whole(&source),
            "ports without a speed in `PORT` would have 0bps, and send nothing",
            "write a rate above zero, like --rate 100Gbps",
        )));
    }
    let mut loose = Vec::new();
    let mut all = All::default();
    for path in paths {
        if !path.is_dir() {
            loose.push(path.clone());
            continue;
        }
        let (folders, files) = listed(path)?;
        let mut found = files.iter().any(|file| is_json(file));
        for folder in folders {
            let (_, files) = listed(&folder)?;
            found |= files.iter().any(|file| is_json(file));
            all.group(&stem(&folder), &files, inputs)?;
        }
        if !found {
            return Err(Error::from(Problem::error(
                whole(path),
                "the directory has no configuration: no file that ends in .json",
                "name a directory with config_db.json, or with a directory for each switch",
            )));
        }
        all.group(&stem(path), &files, inputs)?;
    }
    if !loose.is_empty() {
        all.group("switch", &loose, inputs)?;
    }
    all.switches(options)
}

impl All {
    /// Adds the files of a directory: one switch if they have no table in common.
    fn group(
        &mut self,
        name: &str,
        files: &[PathBuf],
        inputs: &mut Vec<PathBuf>,
    ) -> Result<(), Error> {
        let mut configs = Vec::new();
        let mut headroom = None;
        let mut heard = Vec::new();
        for path in files {
            inputs.push(path.clone());
            let source = |kind: &str, ending: &str| {
                let text = read::text_file(path, kind, ending)?;
                Ok::<_, Problem>(Arc::new(Source::new(path.display().to_string(), text)))
            };
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("ini") => {
                    let table = Table::read(path)?;
                    if headroom.replace(table).is_some() {
                        return Err(Error::from(Problem::error(
                            whole(path),
                            "these files have two headroom tables",
                            "keep the table of each switch in a directory with its configuration",
                        )));
                    }
                }
                Some("xml") => {
                    self.minigraphs.push(Minigraph::read(&source("minigraph", ".xml")?)?);
                }
                Some("txt") => {
                    let seen = lldp::from_table(&source("table of LLDP neighbors", ".txt")?)?;
                    heard.push(Heard { path: path.clone(), owner: None, seen });
                }
                _ => {
                    let source = source("configuration", ".json")?;
                    let is_lldp = || {
                        let is_named = stem(path).to_lowercase().contains("lldp");
                        is_named || lldp::is_begun(source.inner())
                    };
                    let root = config::json(&source).map_err(|problem| match is_lldp() {
                        true => Problem { help: lldp::AGAIN.to_owned(), ..problem },
                        false => problem,
                    })?;
                    if lldp::is_lldp(&root) {
                        let seen = lldp::from_json(&source, &root)?;
                        heard.push(Heard { path: path.clone(), owner: None, seen });
                    } else {
                        configs.push((path.clone(), Config::read(&source, root)?));
                    }
                }
            }
        }
        let before = self.groups.len();
        let is_one = {
            let mut seen = BTreeSet::new();
            configs.iter().flat_map(|(_, config)| config.tables()).all(|table| seen.insert(table))
        };
        if is_one && configs.len() > 1 {
            self.groups.push(Files { name: name.to_owned(), configs, headroom });
        } else {
            let alone = configs.len() == 1 && name != "switch";
            self.groups.extend(configs.into_iter().map(|(path, config)| Files {
                name: if alone { name.to_owned() } else { stem(&path) },
                configs: vec![(path, config)],
                headroom: headroom.clone(),
            }));
        }
        // Of one switch in a directory, all that is beside it is of it.
        let owner = (self.groups.len() == before + 1).then_some(before);
        self.heard.extend(heard.into_iter().map(|heard| Heard { owner, ..heard }));
        Ok(())
    }

    fn switches(self, options: Options) -> Result<Read, Error> {
        let mut named: Vec<(String, Config, Option<Table>)> = Vec::new();
        for Files { name, configs, headroom } in self.groups {
            let mut config = Config::default();
            configs.into_iter().for_each(|(_, part)| config.add(part));
            let own = config.entry("DEVICE_METADATA", "localhost");
            let name = own.and_then(|own| own.get("hostname")).map_or(name, str::to_owned);
            if named.iter().any(|(other, ..)| *other == name) {
                return Err(Error::from(config.problem(
                    format!("two switches are called {name}"),
                    "write another `hostname` in `DEVICE_METADATA|localhost` of one, or name each switch once",
                )));
            }
            named.push((name, config, headroom));
        }
        if named.is_empty() {
            return Err(Error::from(Config::default().problem(
                "there is no configuration among these files",
                "headroom tables, minigraphs and LLDP tables say nothing of buffers and queues: name the JSON files of \
                 the switch too",
            )));
        }
        let configs: Vec<(&str, &Config)> =
            named.iter().map(|(name, config, _)| (name.as_str(), config)).collect();
        let mut found = resolve(&configs, &self.minigraphs, &self.heard)?;
        let mut switches = Vec::new();
        for ((name, config, headroom), beside) in
            named.into_iter().zip(std::mem::take(&mut found.beside))
        {
            switches.push(Switch::new(name, config, headroom, beside, options.rate)?);
        }
        let Neighbors { units, warnings, overruled, kinds, .. } = found;
        Ok(Read { switches, units, warnings, overruled, kinds })
    }
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

/// The directories and the files of a directory that may be read, by name.
fn listed(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Problem> {
    let entries = std::fs::read_dir(path).map_err(|error| {
        let message = format!("the directory cannot be read: {error}");
        Problem::error(whole(path), message, "name a directory that you may read")
    })?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    // Other text and XML may be beside configurations.
    let is_known = |path: &Path| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy().to_lowercase();
            name.starts_with("pg_profile_lookup") && name.ends_with(".ini")
                || name.contains("minigraph") && name.ends_with(".xml")
                || name.contains("lldp") && name.ends_with(".txt")
        })
    };
    let files = files.into_iter().filter(|file| is_json(file) || is_known(file)).collect();
    Ok((folders, files))
}
