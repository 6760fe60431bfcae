//! Making room for results, without touching what floodway did not write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{DICTIONARY, Error, MANIFEST, REPORT, RUNS, SUMMARY};
use crate::files::{self, named};
use crate::{format, trace};

/// Whose results a directory holds, if it holds any.
#[derive(Debug)]
pub(super) struct Owner {
    /// The scenario's name.
    pub scenario: String,
    /// When they were begun.
    pub started: String,
}

/// Whose results are in a directory: nobody's if it is empty or does not exist. One that holds
/// something else is refused.
pub(super) fn owner(path: &Path) -> Result<Option<Owner>, Error> {
    // What a program leaves that dies before anything else is there.
    let something = match fs::read_dir(path) {
        Ok(mut entries) => entries
            .any(|entry| entry.map_or(true, |entry| !files::is_part(&entry.path(), MANIFEST))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory && path.is_file() => {
            return Err(Error::File(path.into()));
        }
        Err(error) => return Ok(named(Err(error), "look into the results directory", path)?),
    };
    if !something {
        return Ok(None);
    }
    let owner = named_in(&path.join(MANIFEST));
    owner.map(Some).ok_or_else(|| Error::Foreign(path.into()))
}

/// The scenario and the date in a manifest of floodway, of whatever schema.
fn named_in(manifest: &Path) -> Option<Owner> {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    value.get("floodway")?.as_str()?;
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).unwrap_or("unknown").to_string()
    };
    let scenario = value.get("scenario").and_then(|scenario| scenario.get("name"));
    Some(Owner { scenario: text(scenario), started: text(value.get("started")) })
}

/// Removes results, except the tables in some folders and the manifest: what is left of a failed
/// removal must still be known as results.
pub(super) fn clear(path: &Path, kept: &[PathBuf]) -> Result<(), Error> {
    let ours = [SUMMARY, REPORT, DICTIONARY];
    for name in ours {
        remove(&path.join(name))?;
    }
    for entry in entries(path)? {
        let path = named(entry, "look into the old results", path)?.path();
        if ours.iter().any(|name| files::is_part(&path, name)) {
            remove(&path)?;
        }
    }
    clear_runs(&path.join(RUNS), kept)
}

/// Removes tables, and folders that are empty then. Files of other kinds stay.
fn clear_runs(path: &Path, kept: &[PathBuf]) -> Result<(), Error> {
    for entry in entries(path)? {
        let entry = named(entry, "look into the old results", path)?;
        let kind = named(entry.file_type(), "look into the old results", &entry.path())?;
        let path = entry.path();
        let ours = path
            .extension()
            .and_then(|end| end.to_str())
            .is_some_and(|end| end == "part" || format::named(end).is_some() || is_trace(end));
        if kept.contains(&path) {
            continue;
        } else if kind.is_dir() {
            clear_runs(&path, kept)?;
        } else if ours {
            remove(&path)?;
        }
    }
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match fs::remove_dir(path) {
        Err(error) if !matches!(error.kind(), DirectoryNotEmpty | NotFound) => {
            Ok(named(Err(error), "remove an old folder", path)?)
        }
        _ => Ok(()),
    }
}

/// What is in a folder: nothing if it does not exist.
fn entries(path: &Path) -> Result<impl Iterator<Item = io::Result<fs::DirEntry>>, Error> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Ok(named(Err(error), "look into the old results", path)?),
    };
    Ok(entries.into_iter().flatten())
}

/// Whether names of traces end like this.
fn is_trace(end: &str) -> bool {
    trace::CATALOGUE.iter().any(|form| form.extension == end)
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Ok(named(Err(error), "remove old results", path)?)
        }
        _ => Ok(()),
    }
}
