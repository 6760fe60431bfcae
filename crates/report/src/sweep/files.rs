//! The results directory of a sweep.
//!
//! ```text
//! sweep.json                what was varied, every run with its numbers, and a list of the files;
//!                           until these are there only whose it is and the list
//! runs.csv, .parquet        a row per run
//! points.csv, .parquet      a row per point and variant
//! points_long.csv, .parquet a row per point, variant and metric
//! report.html               the page
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Sweep;
use crate::files::{self, IoError, named};
use crate::format::{self, Sheet};
use crate::html;
use crate::manifest::Listed;
use crate::owned::{self, HERE};

const SWEEP: &str = "sweep.json";
const REPORT: &str = "report.html";
/// The names of [`Sweep::tables`].
const TABLES: [&str; 3] = ["runs", "points", "points_long"];

/// Why a sweep's results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Something there is not floodway's.
    #[error(transparent)]
    Owned(#[from] owned::Error),
    /// There is something else.
    #[error(
        "`{0}` is not empty and does not hold a sweep of `{1}`, so nothing is written there; choose \
         another directory: `--out DIR`"
    )]
    Foreign(PathBuf, String),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        match self {
            Self::Io(_) => true,
            Self::Owned(error) => error.is_of_system(),
            _ => false,
        }
    }
}

/// Whether a sweep of this scenario may go into a directory, which holds an earlier one or nothing.
/// Looking for it changes nothing there.
pub fn may_hold(path: &Path, scenario: &str) -> Result<(), Error> {
    earlier(path, scenario).map(|_| ())
}

/// The files of an earlier sweep of this scenario; none if there is nothing.
fn earlier(path: &Path, scenario: &str) -> Result<Listed, Error> {
    if owned::is_empty(path, SWEEP)? {
        return Ok(Listed::new());
    }
    let ours =
        |marker: &Value| marker["scenario"] == scenario && owned::is_marker(marker, &["scenario"]);
    let marker = owned::read_marker(path, SWEEP).filter(ours);
    let marker = marker.ok_or_else(|| Error::Foreign(path.into(), scenario.to_owned()))?;
    listed(path, &marker)
}

/// The files that a sweep lists. Of a version that did not list them, all that it may have written;
/// none of one that had only begun, because that had removed them.
fn listed(path: &Path, marker: &Value) -> Result<Listed, Error> {
    let all = || match owned::has_version(marker) {
        true => [(HERE.to_owned(), names().into_iter().collect())].into(),
        false => Listed::new(),
    };
    Ok(owned::listed(path, SWEEP, marker)?.unwrap_or_else(all))
}

/// The files beside the marker.
fn names() -> Vec<String> {
    let tables = TABLES.iter().flat_map(|table| {
        format::CATALOGUE.iter().map(move |format| format!("{table}.{}", format.entry.name))
    });
    tables.chain([REPORT.to_owned()]).collect()
}

/// Makes the directory of a sweep of this scenario, or begins anew in one that is there: its page and
/// tables may be of another grid, and would be taken for this one's if it is interrupted.
pub fn begin(path: &Path, scenario: &str) -> Result<(), Error> {
    named(fs::create_dir_all(path), "make the results directory", path)?;
    owned::refuse_link(path, SWEEP)?;
    let old = earlier(path, scenario)?;
    owned::refuse_taken(path, &old, HERE, names().iter().map(String::as_str))?;
    // Before anything is removed: what is left then is not taken for a whole sweep.
    mark_begun(path, scenario, &old)?;
    let none = owned::clear(path, SWEEP, &old, |_| false)?;
    mark_begun(path, scenario, &none)
}

fn mark_begun(path: &Path, scenario: &str, listed: &Listed) -> Result<(), Error> {
    let begun = serde_json::json!({ "scenario": scenario });
    Ok(owned::mark(path, SWEEP, "the sweep", &begun, listed)?)
}

/// Writes what came out, last the marker with all of it. Returns the path of the page.
pub fn finish(path: &Path, sweep: &Sweep) -> Result<PathBuf, Error> {
    let marker = owned::read_marker(path, SWEEP);
    let mut files = marker.map_or(Ok(Listed::new()), |marker| listed(path, &marker))?;
    owned::list(path, &mut files, HERE, names().iter().map(String::as_str))?;
    mark_begun(path, &sweep.scenario, &files)?;
    for table in sweep.tables() {
        for format in format::CATALOGUE {
            let file = path.join(format!("{}.{}", table.name, format.entry.name));
            let what = format!("table `{}`", table.name);
            let sheet = Sheet { run: None, table: &table };
            files::write(&file, &what, |out| (format.write)(&sheet, out))?;
        }
    }
    let report = path.join(REPORT);
    let page = html::sweep(sweep);
    files::write(&report, "the report", |out| out.write_all(page.as_bytes()))?;
    owned::mark(path, SWEEP, "the sweep", sweep, &files)?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::super::tests::sweep;
    use super::*;

    #[test]
    fn a_sweep_that_begins_leaves_nothing_of_the_one_before() {
        let folder = std::env::temp_dir().join(format!("floodway-sweep-{}", std::process::id()));
        let names = || {
            let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        begin(&folder, "tiny").unwrap();
        finish(&folder, &sweep()).unwrap();
        let list: Vec<_> = names().into_iter().filter(|name| name != SWEEP).collect();
        let marker = owned::read_marker(&folder, SWEEP).unwrap();
        assert_eq!(marker["files"], serde_json::json!({ ".": list }));
        assert_eq!(marker["points"], serde_json::to_value(sweep().points).unwrap());
        assert_eq!(list.len(), 7);
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        fs::write(folder.join("points.csv.41-3.part"), "half").unwrap();
        fs::write(folder.join("sweep.json.41-3.part"), "half").unwrap();
        begin(&folder, "tiny").unwrap();
        assert_eq!(names(), ["notes.txt", "sweep.json"]);
        let marker = owned::read_marker(&folder, SWEEP).unwrap();
        assert_eq!(marker, serde_json::json!({ "scenario": "tiny", "files": {} }));
        assert!(matches!(begin(&folder, "other"), Err(Error::Foreign(..))));

        // A version that did not list its files wrote all of them, or none if it had only begun.
        finish(&folder, &sweep()).unwrap();
        let whole = r#"{"scenario":"tiny","provenance":{"floodway":"0.1.0"}}"#;
        fs::write(folder.join(SWEEP), whole).unwrap();
        begin(&folder, "tiny").unwrap();
        assert_eq!(names(), ["notes.txt", "sweep.json"]);
        fs::write(folder.join(SWEEP), r#"{"scenario":"tiny"}"#).unwrap();
        begin(&folder, "tiny").unwrap();
        fs::write(folder.join(SWEEP), r#"{"scenario":"tiny"}"#).unwrap();
        fs::write(folder.join("runs.csv"), "mine").unwrap();
        assert!(matches!(begin(&folder, "tiny"), Err(Error::Owned(owned::Error::InTheWay(_)))));
        fs::remove_file(folder.join("runs.csv")).unwrap();
        // A file of somebody else that happens to have the name.
        let mine = r#"{"scenario":"tiny","notes":"mine"}"#;
        fs::write(folder.join(SWEEP), mine).unwrap();
        assert!(matches!(begin(&folder, "tiny"), Err(Error::Foreign(..))));
        assert_eq!(fs::read_to_string(folder.join(SWEEP)).unwrap(), mine);
        fs::remove_dir_all(&folder).unwrap();
    }
}
