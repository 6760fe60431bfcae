//! The results directory of a sweep.
//!
//! ```text
//! sweep.json                what was varied, and every run with its numbers; at first only whose it is
//! runs.csv, .parquet        a row per run
//! points.csv, .parquet      a row per point and variant
//! points_long.csv, .parquet a row per point, variant and metric
//! report.html               the page
//! ```

use std::io;
use std::path::{Path, PathBuf};

use floodway_machine::read;
use serde_json::Value;

use super::Sweep;
use crate::files::{self, IoError, named};
use crate::format::{self, Sheet};
use crate::html;

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
    /// It is a file.
    #[error("`{0}` is a file; choose a directory: `--out DIR`")]
    File(PathBuf),
    /// There is something else.
    #[error(
        "`{0}` is not empty and does not hold a sweep of `{1}`, so nothing is written there; choose \
         another directory: `--out DIR`"
    )]
    Foreign(PathBuf, String),
}

/// Makes the directory of a sweep of this scenario, or begins anew in one that is there: its page and
/// tables may be of another grid, and would be taken for this one's if it is interrupted.
pub fn begin(path: &Path, scenario: &str) -> Result<(), Error> {
    if path.is_file() {
        return Err(Error::File(path.into()));
    }
    let file = path.join(SWEEP);
    let begun = read::bytes(&file, read::limit(16)).ok();
    let begun = begun.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let ours = begun.is_some_and(|begun| begun["scenario"] == scenario);
    let empty = std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
    if !ours && !empty {
        return Err(Error::Foreign(path.into(), scenario.to_owned()));
    }
    named(std::fs::create_dir_all(path), "make the results directory", path)?;
    let tables = TABLES.iter().flat_map(|table| {
        format::CATALOGUE.iter().map(move |format| format!("{table}.{}", format.entry.name))
    });
    for name in tables.chain([REPORT.to_owned()]) {
        let old = path.join(name);
        match std::fs::remove_file(&old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                named(Err(error), "remove old results", &old)?;
            }
            _ => {}
        }
    }
    let begun = serde_json::json!({ "scenario": scenario });
    files::write(&file, "the sweep", |out| writeln!(out, "{begun}"))?;
    Ok(())
}

/// Writes what came out. Returns the path of the page.
pub fn finish(path: &Path, sweep: &Sweep) -> Result<PathBuf, Error> {
    for table in sweep.tables() {
        for format in format::CATALOGUE {
            let file = path.join(format!("{}.{}", table.name, format.entry.name));
            let what = format!("table `{}`", table.name);
            let sheet = Sheet { run: None, table: &table };
            files::write(&file, &what, |out| (format.write)(&sheet, out))?;
        }
    }
    files::write(&path.join(SWEEP), "the sweep", |out| {
        serde_json::to_writer_pretty(&mut *out, sweep).map_err(io::Error::from)?;
        writeln!(out)
    })?;
    let report = path.join(REPORT);
    let page = html::sweep(sweep);
    files::write(&report, "the report", |out| out.write_all(page.as_bytes()))?;
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
            let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        begin(&folder, "tiny").unwrap();
        finish(&folder, &sweep()).unwrap();
        for table in TABLES {
            assert!(names().contains(&format!("{table}.csv")), "{:?}", names());
        }
        std::fs::write(folder.join("notes.txt"), "mine").unwrap();
        begin(&folder, "tiny").unwrap();
        assert_eq!(names(), ["notes.txt", "sweep.json"]);
        let text = std::fs::read_to_string(folder.join(SWEEP)).unwrap();
        assert_eq!(text, "{\"scenario\":\"tiny\"}\n");
        assert!(matches!(begin(&folder, "other"), Err(Error::Foreign(..))));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
