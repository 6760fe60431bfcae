//! Whose results a directory holds, and what else is among them.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::{Error, MANIFEST, RUNS};
use crate::files;
use crate::manifest::{Listed, Manifest};
use crate::owned::{entries, is_empty, refuse_link};

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
    if is_empty(path, MANIFEST)? {
        return Ok(None);
    }
    let foreign = || Error::Foreign(path.into());
    let manifest = path.join(MANIFEST);
    let unreadable = |reason: String| Error::Unreadable(manifest.clone(), reason);
    let bytes = files::read(&manifest).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => foreign(),
        _ => unreadable(error.to_string()),
    })?;
    let value = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
    named_in(&value).map(Some).ok_or_else(foreign)
}

/// The scenario and the date in a manifest of floodway, of whatever schema.
fn named_in(value: &Value) -> Option<Owner> {
    value.get("floodway")?.as_str()?;
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).unwrap_or("unknown").to_string()
    };
    let scenario = value.get("scenario").and_then(|scenario| scenario.get("name"));
    Some(Owner { scenario: text(scenario), started: text(value.get("started")) })
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
                refuse_link(path, &format!("{folder}/{name}"))?;
            }
        }
    }
    Ok(())
}

/// What is below the folder of runs and neither listed nor a part of a listed file, as paths relative to the results directory, in
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
            } else {
                let ours =
                    |name: &str| listed.get(&folder).is_some_and(|names| names.contains(name));
                let part = files::part_of(&name).is_some_and(ours);
                if !(kind.is_file() && (ours(&name) || part)) {
                    found.push(below);
                }
            }
        }
    }
    found.sort();
    Ok(found)
}
