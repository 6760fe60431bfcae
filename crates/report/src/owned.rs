//! Directories in which floodway replaces and removes only the files that it wrote.
//!
//! Each has a marker, a JSON file that says whose results these are. Its field `files` lists every
//! file, and lists it before it is written. Only listed files are ever replaced or removed, with
//! what was left of writing them, and folders that are empty then. Symbolic links below the
//! directory are never followed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::files::{self, IoError, named};
use crate::lock;
use crate::manifest::Listed;

/// The directory itself, as a folder of the list.
pub(crate) const HERE: &str = ".";

/// The file that lists what a command is about to write and the marker does not list yet.
pub(crate) const JOURNAL: &str = ".floodway.files";

/// Why files cannot be written to a directory, or not be removed there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// It is a file.
    #[error("`{0}` is a file; choose a directory: `--out DIR`")]
    File(PathBuf),
    /// A symbolic link stands where results go.
    #[error(
        "`{0}` is a symbolic link, and results are neither written nor removed through one; remove \
         the link, or choose another directory: `--out DIR`"
    )]
    Link(PathBuf),
    /// Something has the name of a file that is to be written.
    #[error(
        "`{0}` is in the way: floodway did not write it and does not replace it; move it elsewhere, \
         or choose another directory: `--out DIR`"
    )]
    InTheWay(PathBuf),
    /// A marker lists a file that is not below its directory.
    #[error(
        "`{0}` lists `{1}`, which is no plain path below `{2}`, so nothing is removed there; remove the \
         results yourself, or choose another directory: `--out DIR`"
    )]
    Outside(PathBuf, String, PathBuf),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        matches!(self, Self::Io(_))
    }
}

/// Whether a directory is empty or does not exist. What a program leaves that is killed before it
/// has written the marker does not count.
pub(crate) fn is_empty(path: &Path, marker: &str) -> Result<bool, Error> {
    let nothing = |name: &str| name == lock::FILE || files::part_of(name) == Some(marker);
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries
            .all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(nothing)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory && path.is_file() => {
            Err(Error::File(path.into()))
        }
        Err(error) => Ok(named(Err(error), "look into the results directory", path)?),
    }
}

/// What a marker says; nothing if it is not there or is no JSON.
pub(crate) fn read_marker(path: &Path, marker: &str) -> Option<Value> {
    serde_json::from_slice(&files::read(&path.join(marker)).ok()?).ok()
}

/// Whether a marker is floodway's, and no file of somebody else that happens to have its name: it
/// has a list of files; or, of a version that did not list them, it names this version, or is that of
/// something that was begun and has these fields alone.
pub(crate) fn is_marker(value: &Value, begun: &[&str]) -> bool {
    let only = |fields: &serde_json::Map<String, Value>| {
        fields.keys().all(|field| begun.contains(&field.as_str()))
    };
    value["files"].is_object() || has_version(value) || value.as_object().is_some_and(only)
}

/// Whether a marker says which version wrote all of it.
pub(crate) fn has_version(value: &Value) -> bool {
    value["provenance"]["floodway"].is_string()
}

/// The files that a marker lists; none of a version that did not list them.
pub(crate) fn listed(path: &Path, marker: &str, value: &Value) -> Result<Option<Listed>, Error> {
    let Some(folders) = value.get("files").and_then(Value::as_object) else { return Ok(None) };
    let mut found = Listed::new();
    for (folder, names) in folders {
        for name in names.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let below = folder == HERE || depth(folder).is_some();
            if !below || depth(name) != Some(1) {
                let file = format!("{folder}/{name}");
                return Err(Error::Outside(path.join(marker), file, path.into()));
            }
            if folder != HERE || ![marker, lock::FILE, JOURNAL].contains(&name) {
                found.entry(folder.clone()).or_default().insert(name.to_owned());
            }
        }
    }
    Ok(Some(found))
}

/// How many folders below another one a relative path leads; none if it may lead out of it.
fn depth(path: &str) -> Option<usize> {
    // One spelling for each folder, or one that is kept could be removed under another one: neither
    // `a/` nor `a//b` nor `a/./b`.
    let plain = |part: &str| !["", ".", ".."].contains(&part);
    let below = path.split('/').all(plain)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    below.then(|| Path::new(path).components().count())
}

/// Refuses files of a folder that are to be written if something else is there.
pub(crate) fn refuse_taken<'a>(
    path: &Path,
    listed: &Listed,
    folder: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    refuse_link(path, folder)?;
    let at = place(path, folder);
    let listed = listed.get(folder);
    for name in names {
        let ours = listed.is_some_and(|listed| listed.contains(name));
        let taken = at.join(name).symlink_metadata().is_ok_and(|found| !(ours && found.is_file()));
        if taken {
            return Err(Error::InTheWay(at.join(name)));
        }
    }
    Ok(())
}

/// Puts files of a folder on the list, which are to be written. Whether any is new there.
pub(crate) fn list<'a>(
    path: &Path,
    listed: &mut Listed,
    folder: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<bool, Error> {
    refuse_taken(path, listed, folder, names.clone())?;
    let known = listed.entry(folder.to_owned()).or_default();
    let new = names.into_iter().filter(|&name| known.insert(name.to_owned()));
    Ok(new.count() > 0)
}

/// Removes the listed files, except those in folders that are kept, and folders that are empty then.
/// The marker stays: what is left of a failed removal must still be known as results. Returns the
/// files in the folders that are kept, whose parts are removed too.
pub(crate) fn clear(
    path: &Path,
    marker: &str,
    listed: &Listed,
    kept: impl Fn(&str) -> bool,
) -> Result<Listed, Error> {
    let mut stay = Listed::new();
    let here = (HERE.to_owned(), Default::default());
    // Parts of the marker are removed even if nothing beside it is listed.
    let here = (!listed.contains_key(HERE)).then_some((&here.0, &here.1));
    for (folder, names) in listed.iter().chain(here) {
        let keep = kept(folder);
        let at = place(path, folder);
        if passes_link(path, folder).is_some() {
            continue;
        }
        for name in regular(&at)? {
            let part = files::part_of(&name);
            let ours = |name: &str| names.contains(name);
            let of_marker = folder == HERE && part == Some(marker);
            if part.is_some_and(ours) || of_marker || !keep && ours(&name) {
                remove(&at.join(&name))?;
            } else if keep && ours(&name) {
                stay.entry(folder.clone()).or_default().insert(name);
            }
        }
        if folder != HERE {
            remove_empty(path, folder)?;
        }
    }
    Ok(stay)
}

/// Writes a marker, whose value is an object, with its list.
pub(crate) fn mark(
    path: &Path,
    marker: &str,
    what: &str,
    value: &impl Serialize,
    listed: &Listed,
) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Marker<'a, T> {
        #[serde(flatten)]
        value: &'a T,
        files: &'a Listed,
    }
    let value = Marker { value, files: listed };
    files::write(&path.join(marker), what, |out| {
        serde_json::to_writer_pretty(&mut *out, &value).map_err(io::Error::from)?;
        writeln!(out)
    })?;
    Ok(files::sync_folder(path)?)
}

/// Makes a directory that a user named, with those above it.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    Ok(named(fs::create_dir_all(path), "make the directory", path)?)
}

/// Writes a file that a user named, whole or not at all. Whether one that is there may be replaced is
/// for the caller to say.
pub fn save(path: &Path, what: &str, text: &str) -> Result<(), Error> {
    save_bytes(path, what, text.as_bytes())
}

/// The same of a file that is no text.
pub fn save_bytes(path: &Path, what: &str, bytes: &[u8]) -> Result<(), Error> {
    files::write(path, what, |out| out.write_all(bytes))?;
    Ok(())
}

/// Writes files that a user named, of which the last one says that the others are there: all of them under
/// other names first, so that what cannot be written changes nothing. Then the last one is removed until
/// the others have their names, so that it never stands beside files of another time, and a command that
/// is killed leaves nothing that looks whole.
pub fn save_together(files: &[(PathBuf, &str)], what: &str) -> Result<(), Error> {
    Ok(files::write_together(files, what)?)
}

/// A file of text in a folder of the list.
pub(crate) struct Text {
    pub folder: &'static str,
    pub name: String,
    pub content: String,
}

/// Writes files of text in place of those that are there (`old`), and last the marker. Until then it
/// has another value, which says only whose they are.
pub(crate) fn write_text(
    path: &Path,
    (marker, what): (&str, &str),
    (begun, whole): (&impl Serialize, &impl Serialize),
    old: &Listed,
    texts: &[Text],
) -> Result<(), Error> {
    let (mut both, mut new) = (old.clone(), Listed::new());
    for Text { folder, name, .. } in texts {
        list(path, &mut both, folder, [name.as_str()])?;
        new.entry((*folder).to_owned()).or_default().insert(name.clone());
    }
    mark(path, marker, what, begun, &both)?;
    let mut written = Vec::new();
    for Text { folder, name, content } in texts {
        let folder = place(path, folder);
        named(fs::create_dir_all(&folder), "make the folder of the text", &folder)?;
        let file = folder.join(name);
        files::write_unsynced(&file, "the text", |out| out.write_all(content.as_bytes()))?;
        written.push(file);
    }
    files::sync(&written)?;
    new.keys().try_for_each(|folder| files::sync_folder(&place(path, folder)))?;
    let mut stale = old.clone();
    for (folder, names) in &mut stale {
        names.retain(|name| !new.get(folder).is_some_and(|new| new.contains(name)));
    }
    clear(path, marker, &stale, |_| false)?;
    mark(path, marker, what, whole, &new)
}

/// A text and the charts beside it to which it refers: what a version wrote that did not list them.
pub(crate) fn with_charts(folder: &Path, text: &str) -> BTreeSet<String> {
    let read = files::read(&folder.join(text)).unwrap_or_default();
    let read = String::from_utf8_lossy(&read);
    let links = read.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let charts = links.filter(|link| link.ends_with(".svg") && depth(link) == Some(1));
    charts.chain([text]).map(str::to_owned).collect()
}

/// Removes a folder and those above it up to the directory, as far as they are empty.
fn remove_empty(path: &Path, folder: &str) -> Result<(), Error> {
    use io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
    for folder in Path::new(folder).ancestors().filter(|above| !above.as_os_str().is_empty()) {
        let at = path.join(folder);
        match fs::remove_dir(&at) {
            Err(error) if matches!(error.kind(), DirectoryNotEmpty | NotADirectory) => break,
            Err(error) if error.kind() != NotFound => {
                named(Err(error), "remove an old folder", &at)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path of a folder of the list.
pub(crate) fn place(path: &Path, folder: &str) -> PathBuf {
    if folder == HERE { path.into() } else { path.join(folder) }
}

/// The first symbolic link on the way from the directory to a folder in it, if there is one.
fn passes_link(path: &Path, folder: &str) -> Option<PathBuf> {
    let mut at = path.to_path_buf();
    let mut steps = Path::new(folder).iter().filter(|name| *name != HERE);
    steps.find_map(|name| {
        at.push(name);
        at.is_symlink().then(|| at.clone())
    })
}

/// Refuses folders into which a symbolic link leads.
pub(crate) fn refuse_link(path: &Path, folder: &str) -> Result<(), Error> {
    passes_link(path, folder).map_or(Ok(()), |link| Err(Error::Link(link)))
}

/// The names of the regular files in a folder.
pub(crate) fn regular(path: &Path) -> Result<Vec<String>, Error> {
    let files = entries(path)?.into_iter().filter(|(_, kind)| kind.is_file());
    Ok(files.map(|(name, _)| name).collect())
}

/// What is in a folder, by names and kinds: nothing if it does not exist. Names that are no text are
/// not floodway's.
pub(crate) fn entries(path: &Path) -> Result<Vec<(String, fs::FileType)>, Error> {
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
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Ok(named(Err(error), "remove old results", path)?)
        }
        _ => Ok(()),
    }
}
