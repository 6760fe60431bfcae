//! Which file was meant by a path at which there is none.

use std::fs;
use std::path::{Path, PathBuf};

use super::suggest;

/// The file that is most likely meant by `path`, at which there is none: one of a similar name in the
/// same directory, or in one of a similar name. `fits` says of a name whether it can be meant.
pub fn file(path: &Path, fits: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let folder = directory(parent(path))?;
    if folder.join(&name).is_file() {
        return Some(beside(&folder, &name));
    }
    let names = names(&folder, |entry| entry.is_file());
    let names: Vec<_> = names.iter().filter(|name| fits(name)).collect();
    // What a name ends in says what kind of file it is: it is no letters that two have in common.
    let best = suggest::closest(stem(&name), names.iter().map(|name| stem(name)))?;
    let found = names.iter().find(|name| stem(name) == best)?;
    Some(beside(&folder, found))
}

/// The names of what is in a directory, in alphabetical order.
pub fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<_> = entries
        .filter(|path| wanted(path))
        .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// This directory, or the one that is most likely meant by it.
fn directory(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    let above = directory(parent(path))?;
    if above.join(&name).is_dir() {
        return Some(beside(&above, &name));
    }
    let names = names(&above, |entry| entry.is_dir());
    Some(beside(&above, suggest::closest(&name, names.iter().map(String::as_str))?))
}

/// The directory of a path.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A path as somebody writes it who is there already.
fn beside(folder: &Path, name: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_any_part_of_a_path_is_found() {
        let any = |_: &str| true;
        let meant =
            |path: &str| file(Path::new(path), any).map(|found| found.display().to_string());
        let found = |path: &str| Some(path.to_owned());
        assert_eq!(meant("src/text/nearbye.rs"), found("src/text/nearby.rs"));
        assert_eq!(meant("src/text/nearby"), found("src/text/nearby.rs"));
        assert_eq!(meant("src/txt/nearby.rs"), found("src/text/nearby.rs"));
        assert_eq!(meant("scr/txet/naerby.rs"), found("src/text/nearby.rs"));
        assert_eq!(meant("Cargo.tml"), found("Cargo.toml"));
        // That both end in .rs makes them no more alike.
        assert_eq!(meant("src/text/nothing.rs"), None);
        assert_eq!(meant("nowhere/text/nearby.rs"), None);
        let toml = |name: &str| name.ends_with(".toml");
        assert_eq!(file(Path::new("src/text/nearby.toml"), toml), None);
    }
}
