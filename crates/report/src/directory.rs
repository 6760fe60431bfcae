//! The results directory.
//!
//! ```text
//! manifest.json    what was run, how far it came; written first and after every run
//! summary.json     the numbers
//! report.html      the page
//! dictionary.md    what the tables' columns mean
//! runs/<variant>/<replication>/<table>.parquet
//! ```

use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{self, IoError, named};
use crate::format::{self, Sheet};
use crate::manifest::{Ending, Manifest, SCHEMA, folder};
use crate::{Experiment, Run, Summary, html};

const MANIFEST: &str = "manifest.json";
const SUMMARY: &str = "summary.json";
const REPORT: &str = "report.html";
const DICTIONARY: &str = "dictionary.md";
const RUNS: &str = "runs";

/// A results directory that is being filled.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    manifest: Manifest,
}

/// A results directory as it is found.
#[derive(Clone, Debug)]
pub struct Results {
    /// Where it is.
    pub path: PathBuf,
    /// What was run.
    pub manifest: Manifest,
    /// What came out; none of an experiment that did not end.
    pub summary: Option<Summary>,
}

/// Why results cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// There are results already.
    #[error(
        "`{0}` already holds results of scenario `{1}` from {2}; replace them with `--force`, or \
         keep them and choose another directory: `--out DIR`"
    )]
    Occupied(PathBuf, String, String),
    /// There is something else.
    #[error(
        "`{0}` is not empty and not a results directory, so nothing is written there; choose \
         another directory: `--out DIR` (`--force` replaces results of floodway only)"
    )]
    Foreign(PathBuf),
    /// It is a file.
    #[error("`{0}` is a file; choose a directory: `--out DIR`")]
    File(PathBuf),
    /// Not a results directory.
    #[error(
        "`{0}` holds no results: there is no `manifest.json` in it; give the directory that a run wrote"
    )]
    NoResults(PathBuf),
    /// A file of the results cannot be understood.
    #[error("cannot read `{path}`: {reason}; run the scenario again")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Results of a version that is newer or older than this.
    #[error(
        "`{path}` has schema {found}, and this floodway {version} reads schema {SCHEMA}; use \
         floodway {by}, which wrote it, or run the scenario again"
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// Who wrote it.
        by: String,
        /// Who reads it.
        version: &'static str,
    },
    /// A variant's name cannot be a folder's.
    #[error(
        "the variant name `{0}` cannot be a folder's; use letters, digits and any of `-_.+=,@%` \
         and do not begin with a dot"
    )]
    Name(String),
    /// An unknown format.
    #[error("there is no format `{0}` for tables; choose from: {1}")]
    Format(String, String),
}

impl Directory {
    /// Begins a results directory: makes it if need be and writes the manifest, which says that
    /// the run is under way, so that it says so if the program dies.
    ///
    /// A directory that is not empty is refused. With `force` the results in it are replaced, but
    /// nothing that floodway did not write is touched.
    pub fn create(path: &Path, force: bool, manifest: &Manifest) -> Result<Self, Error> {
        for variant in &manifest.variants {
            check_name(&variant.name)?;
        }
        for name in &manifest.formats {
            if format::named(name).is_none() {
                let known: Vec<_> =
                    format::CATALOGUE.iter().map(|known| known.entry.name).collect();
                return Err(Error::Format(name.clone(), known.join(", ")));
            }
        }
        clear(path, force)?;
        named(fs::create_dir_all(path), "make the results directory", path)?;
        let directory = Self { path: path.into(), manifest: manifest.clone() };
        directory.write_manifest()?;
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the tables of a finished run.
    pub fn add_run(&mut self, run: &Run) -> Result<(), Error> {
        let folder = self.path.join(folder(run.variant, run.replication));
        named(fs::create_dir_all(&folder), "make the folder of a run", &folder)?;
        for name in &self.manifest.formats {
            let format = format::named(name).expect("formats were checked at the start");
            for table in run.tables {
                let sheet = Sheet { variant: run.variant, replication: run.replication, table };
                let path = folder.join(format!("{}.{name}", table.name));
                let what = format!("table `{}`", table.name);
                files::write(&path, &what, |out| (format.write)(&sheet, out))?;
            }
        }
        self.manifest.record(run);
        self.write_manifest()
    }

    /// Ends it: writes summary, page and dictionary, and last the manifest that says how the
    /// experiment ended.
    pub fn finish(mut self, experiment: &Experiment, ending: &Ending) -> Result<Summary, Error> {
        self.manifest.end(ending);
        let summary = experiment.summary(ending);
        self.write_json(SUMMARY, "the summary", &summary)?;
        let page = html::page(&self.manifest, &summary, experiment);
        let report = self.path.join(REPORT);
        files::write(&report, "the report", |out| out.write_all(page.as_bytes()))?;
        let dictionary = self.path.join(DICTIONARY);
        let text = experiment.dictionary();
        files::write(&dictionary, "the data dictionary", |out| out.write_all(text.as_bytes()))?;
        self.write_manifest()?;
        Ok(summary)
    }

    /// Reads a results directory back: its manifest, and its summary if it has one.
    pub fn open(path: &Path) -> Result<Results, Error> {
        let manifest = path.join(MANIFEST);
        if matches!(manifest.try_exists(), Ok(false)) {
            return Err(Error::NoResults(path.into()));
        }
        let manifest = read_json(&manifest, "read the manifest")?;
        let summary = path.join(SUMMARY);
        let summary = match summary.try_exists() {
            Ok(true) => Some(read_json(&summary, "read the summary")?),
            _ => None,
        };
        Ok(Results { path: path.into(), manifest, summary })
    }

    fn write_manifest(&self) -> Result<(), Error> {
        self.write_json(MANIFEST, "the manifest", &self.manifest)
    }

    fn write_json(
        &self,
        name: &str,
        what: &str,
        value: &impl serde::Serialize,
    ) -> Result<(), Error> {
        let path = self.path.join(name);
        files::write(&path, what, |out| {
            serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
            writeln!(out)
        })?;
        Ok(())
    }
}

/// Makes room for new results, if that is allowed.
fn clear(path: &Path, force: bool) -> Result<(), Error> {
    let entries = match fs::read_dir(path) {
        Ok(mut entries) => entries.next(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory && path.is_file() => {
            return Err(Error::File(path.into()));
        }
        Err(error) => return Ok(named(Err(error), "look into the results directory", path)?),
    };
    if entries.is_none() {
        return Ok(());
    }
    let Some((scenario, started)) = owner(&path.join(MANIFEST)) else {
        return Err(Error::Foreign(path.into()));
    };
    if !force {
        return Err(Error::Occupied(path.into(), scenario, started));
    }
    for name in [SUMMARY, REPORT, DICTIONARY] {
        remove(&path.join(name))?;
    }
    clear_runs(&path.join(RUNS))?;
    // Last, so that what is left of a failed removal is still known as results.
    remove(&path.join(MANIFEST))
}

/// The scenario and the date in a manifest of floodway, of whatever schema.
fn owner(manifest: &Path) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    value.get("floodway")?.as_str()?;
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).unwrap_or("unknown").to_string()
    };
    let scenario = value.get("scenario").and_then(|scenario| scenario.get("name"));
    Some((text(scenario), text(value.get("started"))))
}

/// Removes tables, and folders that are empty then. Files of other kinds stay.
fn clear_runs(path: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Ok(named(Err(error), "look into the old results", path)?),
    };
    for entry in entries {
        let entry = named(entry, "look into the old results", path)?;
        let kind = named(entry.file_type(), "look into the old results", &entry.path())?;
        let path = entry.path();
        let ours = path
            .extension()
            .and_then(|end| end.to_str())
            .is_some_and(|end| format::named(end).is_some() || end == "part");
        if kind.is_dir() {
            clear_runs(&path)?;
        } else if ours {
            remove(&path)?;
        }
    }
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
            Ok(named(Err(error), "remove an old folder", path)?)
        }
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Ok(named(Err(error), "remove old results", path)?)
        }
        _ => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.+=,@%".contains(letter);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(Error::Name(name.to_string()));
    }
    Ok(())
}

/// Reads a file of this schema.
fn read_json<T: DeserializeOwned>(path: &Path, action: &str) -> Result<T, Error> {
    let bytes = named(fs::read(path), action, path)?;
    let malformed = |error: serde_json::Error| Error::Malformed {
        path: path.into(),
        reason: error.to_string(),
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(malformed)?;
    let found = value.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(0);
    if found != u64::from(SCHEMA) {
        let by = value.get("floodway").and_then(|by| by.as_str()).unwrap_or("of that time");
        return Err(Error::Schema {
            path: path.into(),
            found,
            by: by.to_string(),
            version: env!("CARGO_PKG_VERSION"),
        });
    }
    serde_json::from_value(value).map_err(malformed)
}
