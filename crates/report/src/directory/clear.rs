//! Making room for results, without touching what floodway did not write.
//!
//! The manifest lists every file that floodway wrote. Only these are removed, with what was left of
//! writing them, and folders that are empty then. Symbolic links below the results directory are
//! never followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::listed::{HERE, listed};
use super::{Error, MANIFEST, RUNS};
use crate::files::{self, named};
use crate::lock;
use crate::manifest::{Listed, Manifest};

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
    let nothing = |name: &str| name == lock::FILE || files::part_of(name) == Some(MANIFEST);
    let something = match fs::read_dir(path) {
        Ok(mut entries) => entries.any(|entry| {
            entry.map_or(true, |entry| !entry.file_name().to_str().is_some_and(nothing))
        }),
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
    let value: serde_json::Value =
        serde_json::from_slice(&super::read_manifest(manifest).ok()?).ok()?;
    value.get("floodway")?.as_str()?;
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).unwrap_or("unknown").to_string()
    };
    let scenario = value.get("scenario").and_then(|scenario| scenario.get("name"));
    Some(Owner { scenario: text(scenario), started: text(value.get("started")) })
}

/// Removes the files that the manifest lists, except those in some folders, and folders that are
/// empty then. The manifest stays: what is left of a failed removal must still be known as
/// results. Returns the files in the other folders, whose parts are removed too.
pub(super) fn clear(path: &Path, kept: &[String]) -> Result<Listed, Error> {
    let mut stay = Listed::new();
    for (folder, names) in listed(path)? {
        let keep = kept.contains(&folder);
        let at = place(path, &folder);
        if passes_link(path, &folder).is_some() {
            continue;
        }
        for name in regular(&at)? {
            let part = files::part_of(&name);
            let ours = |name: &str| names.contains(name);
            let of_manifest = folder == HERE && part == Some(MANIFEST);
            if part.is_some_and(ours) || of_manifest || !keep && ours(&name) {
                remove(&at.join(&name))?;
            } else if keep && ours(&name) {
                stay.entry(folder.clone()).or_default().insert(name);
            }
        }
        if folder != HERE {
            remove_empty(path, &folder)?;
        }
    }
    Ok(stay)
}

/// Removes a folder and those above it up to the results directory, as far as they are empty.
fn remove_empty(path: &Path, folder: &str) -> Result<(), Error> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    for folder in Path::new(folder).ancestors().filter(|above| !above.as_os_str().is_empty()) {
        let at = path.join(folder);
        match fs::remove_dir(&at) {
            Err(error) if error.kind() == DirectoryNotEmpty => break,
            Err(error) if error.kind() != NotFound => {
                named(Err(error), "remove an old folder", &at)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path of a folder of the list.
pub(super) fn place(path: &Path, folder: &str) -> PathBuf {
    if folder == HERE { path.into() } else { path.join(folder) }
}

/// The first symbolic link on the way from the results directory to a folder in it, if there is one.
fn passes_link(path: &Path, folder: &str) -> Option<PathBuf> {
    let mut at = path.to_path_buf();
    Path::new(folder)
        .iter()
        .map(|name| {
            at.push(name);
            at.clone()
        })
        .find(|at| at.is_symlink())
}

/// Refuses folders into which a symbolic link leads.
pub(super) fn refuse_link(path: &Path, folder: &str) -> Result<(), Error> {
    passes_link(path, folder).map_or(Ok(()), |link| Err(Error::Link(link)))
}

/// Refuses a results directory in which a symbolic link leads to runs of this experiment, or to
/// the manifest.
pub(super) fn refuse_links(path: &Path, manifest: &Manifest) -> Result<(), Error> {
    refuse_link(path, MANIFEST)?;
    for variant in &manifest.variants {
        let folder = format!("{RUNS}/{}", variant.name);
        refuse_link(path, &folder)?;
        for (name, kind) in entries(&path.join(&folder))? {
            if kind.is_symlink()
                && name.parse().is_ok_and(|number: u32| number < manifest.replications)
            {
                return Err(Error::Link(path.join(&folder).join(name)));
            }
        }
    }
    Ok(())
}

/// What is below the folder of runs and not listed, as paths relative to the results directory, in
/// order.
pub(super) fn others(path: &Path, listed: &Listed) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut open = vec![RUNS.to_owned()];
    while let Some(folder) = open.pop() {
        let at = path.join(&folder);
        if at.is_symlink() {
            continue;
        }
        for (name, kind) in entries(&at)? {
            let below = format!("{folder}/{name}");
            if kind.is_dir() {
                open.push(below);
            } else if !listed.get(&folder).is_some_and(|names| names.contains(&name)) {
                found.push(below);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The names of the regular files in a folder.
pub(super) fn regular(path: &Path) -> Result<Vec<String>, Error> {
    let files = entries(path)?.into_iter().filter(|(_, kind)| kind.is_file());
    Ok(files.map(|(name, _)| name).collect())
}

/// What is in a folder, by names and kinds: nothing if it does not exist. Names that are no text are
/// not floodway's.
pub(super) fn entries(path: &Path) -> Result<Vec<(String, fs::FileType)>, Error> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let action = "look into the old results";
    let entries = match fs::read_dir(path) {
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(Vec::new()),
        entries => named(entries, action, path)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = named(entry, action, path)?;
        let kind = named(entry.file_type(), action, &entry.path())?;
        found.extend(entry.file_name().into_string().ok().map(|name| (name, kind)));
    }
    Ok(found)
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
