//! `floodway import`: an experiment of another simulator, the traffic of a capture, or the configuration of
//! switches, as a scenario.

mod hpcc;
mod pcap;
pub mod sonic;

use std::path::{Path, PathBuf};

use floodway_machine::read;
use floodway_scenario::import::account::{Fate, Row};

use crate::failure::Failure;
use crate::options::{ImportFrom, ImportOptions};
use crate::save::{is_taken, make_folder, refuse_special, save_together};

/// Imports what was asked for.
pub fn import(options: &ImportOptions) -> Result<(), Failure> {
    match &options.from {
        ImportFrom::Hpcc(options) => hpcc::import(options),
        ImportFrom::Pcap(options) => pcap::import(options),
        ImportFrom::Sonic(options) => sonic::import(options),
    }
}

/// Writes a scenario and the files that it names into a folder, but over none of the files that were read. Returns
/// where the scenario is.
fn write(
    folder: &Path,
    (name, scenario): (&str, &str),
    files: &[(String, String)],
    inputs: &[PathBuf],
    force: bool,
) -> Result<PathBuf, Failure> {
    let named = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let all: Vec<(&str, &str)> = std::iter::once((name, scenario)).chain(named).collect();
    for (name, text) in &all {
        let path = folder.join(name);
        refuse_special(&path)?;
        if is_one_of(&path, inputs) && !says(&path, text) {
            return Err(Failure::Unknown(format!(
                "{} is read by this import, and would be written over; name another directory with \
                 --out",
                path.display()
            )));
        }
        if !force && is_taken(&path) && !says(&path, text) {
            return Err(Failure::Unknown(format!(
                "{} is there already and says something else; name another directory with --out, or \
                 replace it with --force",
                path.display()
            )));
        }
    }
    make_folder(folder)?;
    // The scenario last: it is not there before the files that it needs, which may be the ones that were
    // read. If it says the same as before, it is written with those that do not.
    let places = all.iter().rev().map(|(name, text)| (folder.join(name), *text));
    let mut new: Vec<_> = places.filter(|(path, text)| !says(path, text)).collect();
    let path = folder.join(name);
    if !new.is_empty() && new.last().is_none_or(|(last, _)| *last != path) {
        new.push((path.clone(), scenario));
    }
    save_together(&new, "the scenario")?;
    Ok(path)
}

/// Whether a character may be in the name of a scenario or of a file that is made.
fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The name of the scenario: that of the directory, in letters that names have, or another one if it has none.
fn name(folder: &Path, other: &str) -> String {
    let last = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = last.chars().map(|c| if fits(c) { c } else { '-' });
    // Names begin with neither.
    let name: String = name.skip_while(|c| matches!(c, '.' | '-')).take(64).collect();
    if name.chars().any(|c| c.is_ascii_alphanumeric()) { name } else { other.to_owned() }
}

/// Whether a path leads to one of these files.
fn is_one_of(path: &Path, files: &[PathBuf]) -> bool {
    let there = path.canonicalize().ok();
    there.is_some_and(|there| {
        files.iter().any(|file| file.canonicalize().is_ok_and(|it| it == there))
    })
}

/// Whether a file has this text already.
fn says(path: &Path, text: &str) -> bool {
    read::text(path, text.len() as u64).is_ok_and(|there| there == text)
}

/// What became of the keys, by fate.
fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for (fate, title) in [
        (Fate::Kept, "Taken over"),
        (Fate::Differs, "Differs"),
        (Fate::Nothing, "Has no counterpart, or no effect"),
    ] {
        let of_fate: Vec<&Row> = rows.iter().filter(|row| row.fate == fate).collect();
        if of_fate.is_empty() {
            continue;
        }
        text += &format!("{title}\n");
        let written = |row: &Row| format!("{} {}", row.key, row.value).trim_end().to_owned();
        // Maps and paths may be long: they have a line of their own.
        let width = of_fate.iter().map(|row| written(row).chars().count());
        let width = width.filter(|&width| width <= 36).max().unwrap_or(0);
        for row in of_fate {
            let key = written(row);
            if key.chars().count() > width {
                text += &format!("  {key}\n  {:width$}  {}\n", "", row.meaning);
            } else {
                text += &format!("  {key:width$}  {}\n", row.meaning);
            }
        }
        text.push('\n');
    }
    text
}
