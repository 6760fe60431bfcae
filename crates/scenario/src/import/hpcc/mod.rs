//! Experiments of the HPCC authors' simulator (Li et al., SIGCOMM 2019; alibaba-edu/
//! High-Precision-Congestion-Control, an ns-3 of its own): its configuration with the topology and the
//! flows that it names, as a scenario that runs the same here.
//!
//! What a key means is what the simulator's code does with it, which is not always what its
//! documentation says. Nothing is dropped silently: every key becomes a [`Row`].

mod config;
mod congestion;
mod network;
mod translate;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodway_machine::printable::short;

use crate::files::lines;
use crate::read;
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Place, Problem, Source, nearby};

use config::Config;
use network::Network;
use translate::Translated;

pub use super::account::{Fate, Row};

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario file.
    pub scenario: String,
    /// The files that it names, which have to be beside it: name and text.
    pub files: Vec<(String, String)>,
    /// What became of every key.
    pub rows: Vec<Row>,
    /// What is doubtful.
    pub warnings: Vec<Problem>,
    /// The files that were read: nothing may be written over one of them.
    pub inputs: Vec<PathBuf>,
}

/// The name of the scenario's file in errors about it.
const SCENARIO: &str = "scenario.toml";

/// Reads a configuration and the files that it names; `name` is that of the scenario. What is imported
/// is valid, or it is an error that shows the place in one of these files.
pub fn import(path: &Path, name: &str) -> Result<Imported, Error> {
    let text = read::text_file(path, "configuration", ".txt")?;
    let source = Arc::new(Source::new(path.display().to_string(), text));
    let config = Config::read(&source)?;
    let mut topology = File::of(&config, "TOPOLOGY_FILE", path)?;
    let mut flows = File::of(&config, "FLOW_FILE", path)?;
    // They go into one folder with the scenario, and some file systems do not distinguish A from a.
    let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    while same(&topology.name, SCENARIO) {
        topology.name = format!("topology-{}", topology.name);
    }
    while same(&flows.name, SCENARIO) || same(&flows.name, &topology.name) {
        flows.name = format!("flows-{}", flows.name);
    }
    let network = Network::read(&topology.source, &config)?;
    let Translated { imported, places } =
        translate::translate(path, name, config, network, [&topology, &flows])?;
    // What the simulator takes may be refused here: before anything is written.
    let files = imported.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let library: Vec<_> = std::iter::once((SCENARIO, &*imported.scenario)).chain(files).collect();
    if let Err(error) = Scenario::of_library(&library, SCENARIO, &Overrides::default()) {
        let placed =
            error.problems().iter().map(|problem| in_input(problem, &places, [&topology, &flows]));
        return Err(Error::new(placed.collect()));
    }
    Ok(imported)
}

/// What is wrong with a scenario that was not written, placed where it was read.
fn in_input(
    problem: &Problem,
    places: &[(Option<&'static str>, Place)],
    files: [&File; 2],
) -> Problem {
    let mut placed = problem.clone();
    let at = problem.place.position();
    if let Some(file) = files.iter().find(|file| file.name == problem.place.source.name()) {
        // Of flows there may be fewer, but the first ones, so that lines have the same numbers.
        let start = problem.place.range.as_ref().map(|range| range.start);
        let number = start.map(|start| {
            lines(&problem.place.source).position(|line| line.all.range().end >= start)
        });
        let line = number.flatten().and_then(|number| lines(&file.source).nth(number));
        placed.place = match line {
            _ if file.source.inner() == problem.place.source.inner() => {
                Place { source: Arc::clone(&file.source), range: problem.place.range.clone() }
            }
            Some(line) => Place::at(&file.source, line.all.range()),
            None => Place::whole(&file.source),
        };
        return placed;
    }
    let line = at.as_ref().and_then(|at| places.get(at.line - 1));
    let (key, place) = match (line, places.first()) {
        (Some((key, place)), _) => (*key, place),
        (None, Some((_, place))) => (None, place),
        (None, None) => return placed,
    };
    placed.place = place.clone();
    let written = at.map_or("", |at| at.text.split(" # ").next().unwrap_or_default().trim());
    if !written.is_empty() {
        placed.help += &match key {
            Some(key) => format!(" (`{key}` becomes `{written}` in the scenario)"),
            None => format!(" (the scenario would have `{written}`)"),
        };
    }
    placed
}

/// A file that the configuration names.
struct File {
    /// Its name beside the scenario, which has no directories.
    name: String,
    /// Where it was found.
    path: PathBuf,
    source: Arc<Source>,
}

impl File {
    /// The simulator takes paths from the directory in which it runs, which is that above the one of
    /// the configuration in its own examples.
    fn of(config: &Config<'_>, key: &'static str, path: &Path) -> Result<Self, Problem> {
        let word = config.required(key, "write the path of the file")?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let above = beside.join("..");
        let places: [PathBuf; 3] =
            [beside.join(word.text), above.join(word.text), PathBuf::from(word.text)];
        let is_there = |place: &&PathBuf| place.exists() && !place.is_dir();
        let found = places.iter().find(|place| place.is_file());
        let found = found.or_else(|| places.iter().find(is_there));
        let Some(found) = found.or_else(|| places.iter().find(|place| place.is_dir())) else {
            let sought: Vec<_> = places
                .iter()
                .map(|place| format!("`{}`", short(&place.to_string_lossy())))
                .collect();
            // Only the name may be wrong: directories are sought in three ways already.
            let mut folders = places.iter().filter(|place| nearby::parent(place).is_dir());
            let near = folders.find_map(|place| nearby::file(place, |_| true));
            let help = match near.as_deref().and_then(Path::file_name) {
                Some(name) => {
                    let other = Path::new(word.text).with_file_name(name);
                    format!("did you mean `{}`?", other.display())
                }
                None => format!("{} were sought", sought.join(", ")),
            };
            return Err(word.problem(format!("there is no file `{}`", short(word.text)), help));
        };
        let text = floodway_machine::read::text(found, floodway_machine::read::limit(16)).map_err(
            |error| {
                let message = format!("`{}` cannot be read: {error}", found.display());
                word.problem(message, "name a text file, and one that fits into memory")
            },
        )?;
        let name = Path::new(word.text).file_name().unwrap_or_default().to_string_lossy();
        let source = Arc::new(Source::new(found.display().to_string(), text));
        Ok(Self { name: name.into_owned(), path: found.clone(), source })
    }
}
