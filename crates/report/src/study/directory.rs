//! The directory of a study: whose it is, and what is written into it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::{Study, files};
use crate::files::{IoError, named};
use crate::manifest::Listed;
use crate::owned::{self, HERE, Text};
use crate::sample::SAMPLE;
use crate::{html, lock};

/// The file that says whose a study's directory is and lists the files beside it: at first only its
/// name, in the end the whole [`Study`].
const STUDY: &str = "study.json";
/// The page of a study, beside the directories of its experiments.
const REPORT: &str = "report.html";
/// The folder with what [`files`] makes.
const TEXT: &str = "text";
/// The text itself, in that folder.
pub(crate) const README: &str = "README.md";

/// Why a study's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Something there is not floodway's.
    #[error(transparent)]
    Owned(#[from] owned::Error),
    /// Another command writes there.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// There is something else.
    #[error(
        "`{0}` is not empty and does not hold the study `{1}`, so nothing is written there; choose \
         another directory: `--out DIR`"
    )]
    Foreign(PathBuf, String),
    /// There is the same study with other settings.
    #[error(
        "`{0}` holds the {1} study `{2}` with other settings; its runs would be replaced. Give the \
         same settings to go on with it, choose another directory with `--out DIR`, or replace it \
         with `--force`"
    )]
    Other(PathBuf, String, String),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        match self {
            Self::Io(_) => true,
            Self::Owned(error) => error.is_of_system(),
            Self::Lock(error) => error.is_of_system(),
            _ => false,
        }
    }
}

/// Which study goes into a directory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Design<'a> {
    /// Its name.
    pub study: &'a str,
    /// How thorough it is.
    pub level: &'a str,
    /// Settings that are changed for all experiments.
    pub settings: &'a [String],
    /// The names of its experiments, each a directory.
    #[serde(skip)]
    pub experiments: &'a [&'a str],
}

impl Design<'_> {
    /// Whether a study that was begun had the same experiments, or some of them. What it does not
    /// say does not differ.
    fn goes_on_with(&self, begun: &Value) -> bool {
        let settings = serde_json::to_value(self.settings).expect("settings are text");
        let quick = |level: &str| level == "quick";
        begun["settings"].is_null()
            || begun["settings"] == settings
                && begun["level"].as_str().is_none_or(|level| quick(level) == quick(self.level))
    }
}

/// The fields of a [`Design`], which alone are in the file of a study that was begun.
const BEGUN: [&str; 3] = ["study", "level", "settings"];

/// What is in a directory that may hold a study.
enum Found {
    /// Nothing of this study itself.
    Nothing,
    /// The same study.
    Same(Listed),
    /// The same study with other settings.
    Other(Listed),
}

/// Whether a study may go into a directory, which holds nothing, parts of it or, with `force`, the
/// same study with other settings. Looking for it changes nothing there.
pub fn may_hold(path: &Path, design: &Design, force: bool) -> Result<(), Error> {
    find(path, design, force).map(|_| ())
}

fn find(path: &Path, design: &Design, force: bool) -> Result<Found, Error> {
    if owned::is_empty(path, STUDY)? {
        return Ok(Found::Nothing);
    }
    match owned::read_marker(path, STUDY) {
        Some(begun) if begun["study"] == design.study && owned::is_marker(&begun, &BEGUN) => {
            if design.goes_on_with(&begun) {
                return Ok(Found::Same(listed(path, &begun)?));
            }
            if !force {
                let level = begun["level"].as_str().unwrap_or("whole").to_string();
                return Err(Error::Other(path.into(), level, design.study.to_string()));
            }
            Ok(Found::Other(listed(path, &begun)?))
        }
        // Without its file a study is known by what else is there.
        _ if !is_ours(path, design) => Err(Error::Foreign(path.into(), design.study.to_string())),
        _ => Ok(Found::Nothing),
    }
}

/// The files that a study lists, or, of a version that did not list them, what it has written.
fn listed(path: &Path, marker: &Value) -> Result<Listed, Error> {
    if let Some(listed) = owned::listed(path, STUDY, marker)? {
        return Ok(listed);
    }
    let mut found = Listed::new();
    if !owned::has_version(marker) {
        // It had only begun.
        return Ok(found);
    }
    found.insert(HERE.to_owned(), [REPORT.to_owned()].into());
    owned::refuse_link(path, TEXT)?;
    found.insert(TEXT.to_owned(), owned::with_charts(&path.join(TEXT), README));
    Ok(found)
}

/// Makes the directory of a study, or goes on in one that has been begun. With `force` a study with
/// other settings is replaced. Experiments are not looked at.
pub fn begin(path: &Path, design: &Design, force: bool) -> Result<(), Error> {
    named(std::fs::create_dir_all(path), "make the directory of the study", path)?;
    let below = design.experiments.iter().chain([&STUDY, &TEXT]);
    below.into_iter().try_for_each(|name| owned::refuse_link(path, name))?;
    let found = find(path, design, force)?;
    let nothing = Listed::new();
    let old = match &found {
        Found::Nothing => &nothing,
        Found::Same(listed) | Found::Other(listed) => listed,
    };
    owned::refuse_taken(path, old, HERE, [REPORT])?;
    owned::refuse_taken(path, old, TEXT, [README, SAMPLE])?;
    if let Found::Same(_) = found {
        owned::clear(path, STUDY, old, |_| true)?;
        return Ok(());
    }
    // One that cannot be read.
    let known = matches!(found, Found::Other(_));
    if !known && path.join(STUDY).symlink_metadata().is_ok() {
        return Err(owned::Error::InTheWay(path.join(STUDY)).into());
    }
    // Before anything is removed: what is left then is not taken for a whole study.
    owned::mark(path, STUDY, "the study", design, old)?;
    let none = owned::clear(path, STUDY, old, |_| false)?;
    Ok(owned::mark(path, STUDY, "the study", design, &none)?)
}

/// Whether a directory holds nothing but parts of this study, if anything.
fn is_ours(path: &Path, design: &Design) -> bool {
    let Ok(mut entries) = std::fs::read_dir(path) else { return false };
    entries.all(|entry| {
        let name = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
        name.is_some_and(|name| {
            [STUDY, REPORT, TEXT, lock::FILE].contains(&name.as_str())
                || crate::files::part_of(&name) == Some(STUDY)
                || design.experiments.contains(&name.as_str())
        })
    })
}

/// Writes what came out into the directory: `report.html`, the folder `text`, and last `study.json`.
/// Returns the path of the page.
pub fn finish(path: &Path, study: &Study) -> Result<PathBuf, Error> {
    let marker = owned::read_marker(path, STUDY);
    let old = marker.map_or(Ok(Listed::new()), |marker| listed(path, &marker))?;
    let text = |(name, content)| Text { folder: TEXT, name, content };
    let mut texts: Vec<Text> = files(study).into_iter().map(text).collect();
    let page = html::study(study);
    texts.push(Text { folder: HERE, name: REPORT.to_owned(), content: page });
    let Study { study: name, level, settings, .. } = study;
    let begun = Design { study: name, level, settings, experiments: &[] };
    owned::write_text(path, (STUDY, "the study"), (&begun, study), &old, &texts)?;
    Ok(path.join(REPORT))
}

/// Makes a folder for a text and its data ([`write_text`]); refused if they may not go there.
pub fn may_hold_text(folder: &Path, data: &str) -> Result<(), Error> {
    named(std::fs::create_dir_all(folder), "make the folder of the text", folder)?;
    earlier_text(folder, data).map(|_| ())
}

/// The files of an earlier text in a folder, whose data have this name.
fn earlier_text(folder: &Path, data: &str) -> Result<Listed, Error> {
    owned::refuse_link(folder, data)?;
    let marker = owned::read_marker(folder, data).filter(|marker| marker["floodway"].is_string());
    let mut old = Listed::new();
    match marker {
        Some(marker) => {
            let earlier = || [(HERE.to_owned(), owned::with_charts(folder, README))].into();
            old = owned::listed(folder, data, &marker)?.unwrap_or_else(earlier);
        }
        None => owned::refuse_taken(folder, &old, HERE, [data])?,
    }
    owned::refuse_taken(folder, &old, HERE, [README])?;
    Ok(old)
}

/// Writes the text with its charts ([`files`]) and a file with its data into a folder, which is made
/// if it is not there. Of what is there only files that it has written before are replaced: the data
/// list them. The data are an object with `floodway`, the version.
pub fn write_text(
    folder: &Path,
    study: &Study,
    (data, value): (&str, &impl Serialize),
) -> Result<(), Error> {
    named(std::fs::create_dir_all(folder), "make the folder of the text", folder)?;
    let old = earlier_text(folder, data)?;
    let text = |(name, content)| Text { folder: HERE, name, content };
    let texts: Vec<Text> = files(study).into_iter().map(text).collect();
    let begun = serde_json::json!({ "floodway": env!("CARGO_PKG_VERSION") });
    Ok(owned::write_text(folder, (data, "the data"), (&begun, value), &old, &texts)?)
}
