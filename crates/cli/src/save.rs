//! Files that the command line names.

use std::path::{Path, PathBuf};

use floodway_report::owned;

use crate::failure::Failure;

/// Whether there is something, be it a link that leads nowhere.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses what cannot be replaced, whatever the command line says.
pub fn refuse_special(path: &Path) -> Result<(), Failure> {
    let kind = match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => "a symbolic link, and nothing is written through one",
        Ok(found) if !found.is_file() => "no regular file",
        _ => return Ok(()),
    };
    Err(Failure::Unknown(format!(
        "{} is {kind}; remove it, or choose another place with --out",
        path.display()
    )))
}

/// Makes a directory, with those above it.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    owned::make_folder(path).map_err(|error| Failure::Results(error.into()))
}

/// Writes a file whole or not at all, in the place of one that is there.
pub fn save(path: &Path, what: &str, text: &str) -> Result<(), Failure> {
    refuse_special(path)?;
    owned::save(path, what, text).map_err(|error| Failure::Results(error.into()))
}

/// The same of a file that is no text.
pub fn save_bytes(path: &Path, what: &str, bytes: &[u8]) -> Result<(), Failure> {
    refuse_special(path)?;
    owned::save_bytes(path, what, bytes).map_err(|error| Failure::Results(error.into()))
}

/// Writes several files in the place of those that are there, of which the last one needs the others: if
/// it is there, all are.
pub fn save_together(files: &[(PathBuf, &str)], what: &str) -> Result<(), Failure> {
    files.iter().try_for_each(|(path, _)| refuse_special(path))?;
    owned::save_together(files, what).map_err(|error| Failure::Results(error.into()))
}
