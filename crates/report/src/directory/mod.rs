//! The results directory.
//!
//! ```text
//! manifest.json    what was run, how far it came; written first, last, and while it runs
//! summary.json     the numbers
//! report.html      the page
//! dictionary.md    what the tables' columns mean
//! runs/<variant>/<replication>/<table>.parquet
//! runs/<variant>/<replication>/trace.pftrace    of recorded runs, if asked for
//! ```
//!
//! The manifest has a run only after all its tables are there, with a checksum of each: whenever
//! the program dies, what the manifest lists can be told from what it does not. It is not written
//! after every run, so a program that is killed may have finished a few more runs than it lists.
//! Its list of files has every file before it is written, or the journal beside it has, which is
//! there while a command runs. Only files of these lists are ever replaced or removed.

mod earlier;
mod error;
mod journal;
mod listed;
mod owner;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use floodway_model::Table;

use crate::files::{self, named};
use crate::format::{self, Sheet};
use crate::manifest::{
    Ending, Listed, Manifest, Record, SCHEMA, TableFile, folder, hex, needs_no_file,
};
use crate::owned::{self, HERE};
use crate::{Experiment, Run, Summary, html, trace};
pub use earlier::{Earlier, Loaded};
pub use error::Error;
use journal::{Journal, Pace};
use listed::{BESIDE, is_due, listed};
use owner::{others, owner, refuse_links};

const MANIFEST: &str = "manifest.json";
const SUMMARY: &str = "summary.json";
const REPORT: &str = "report.html";
const DICTIONARY: &str = "dictionary.md";
const RUNS: &str = "runs";

/// The name of the format that can be read back.
pub const READABLE: &str = "parquet";

/// A results directory that is being filled.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    manifest: Manifest,
    begun: Instant,
    /// The time that the kept runs took earlier, in seconds.
    earlier_s: f64,
    /// What is below the folder of runs and not floodway's.
    others: Vec<String>,
    /// What the manifest on the disk does not list yet.
    journal: Journal,
    /// When the manifest was written.
    pace: Pace,
    /// Whether there are runs or files that the manifest on the disk does not have.
    behind: bool,
}

/// A file in the folder of a run that is not made from its tables.
#[derive(Clone, Copy)]
pub struct Extra<'a> {
    /// Its name.
    pub name: &'static str,
    /// What it is, in messages: `the capture`.
    pub what: &'static str,
    /// What writes it.
    pub write: &'a dyn Fn(&mut (dyn io::Write + Send)) -> io::Result<()>,
}

/// A results directory as it is found.
#[derive(Clone, Debug)]
pub struct Results {
    /// Where it is.
    pub path: PathBuf,
    /// What was run.
    pub manifest: Manifest,
    /// What came out; none of an experiment that did not end.
    pub summary: Option<Summary>,
}

impl Results {
    /// The charts of its page, drawn again from the tables of its runs, as [`Results::experiment`] reads them.
    pub fn figures(&self) -> Result<Vec<html::Drawn>, Error> {
        let experiment = self.experiment()?;
        let ending = Ending {
            status: self.manifest.status,
            wall_s: self.manifest.wall_s,
            peak_rss_bytes: self.manifest.peak_rss_bytes,
        };
        Ok(html::figures(&self.manifest, &experiment.summary(&ending), &experiment))
    }

    /// The charts of a page about one of the runs alone.
    pub fn figures_of(&self, record: &Record) -> Result<Vec<html::Drawn>, Error> {
        Ok(html::figures_of_run(&self.manifest, &self.load(record)?.run()))
    }

    /// The experiment again, from the tables of its runs, which must be what they were. Fails if some
    /// were not kept as Parquet.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        let mut experiment =
            Experiment::new(&Manifest { runs: Vec::new(), ..self.manifest.clone() });
        for record in &self.manifest.runs {
            experiment.add_run(&self.load(record)?.run());
        }
        Ok(experiment)
    }

    /// A run with its tables. Fails if they are not to the bit what they were, or not kept as Parquet.
    pub fn load(&self, record: &Record) -> Result<Loaded, Error> {
        if record.tables.is_empty() {
            return Err(Error::NoParquet(self.path.clone()));
        }
        Earlier::at(&self.path).load(record)
    }
}

impl Directory {
    /// Begins a results directory: makes it if need be and writes the manifest, which says that
    /// the run is under way, so that it says so if the program dies.
    ///
    /// A directory that is not empty is refused. With `force` the results in it are replaced, but
    /// nothing that floodway did not write is touched.
    pub fn create(path: &Path, force: bool, manifest: &Manifest) -> Result<Self, Error> {
        check(manifest)?;
        if let (Some(owner), false) = (owner(path)?, force) {
            return Err(Error::Occupied(path.into(), owner.scenario, owner.started));
        }
        Self::begin(path, manifest.clone(), &BTreeSet::new(), 0.0)
    }

    /// Whether the results of an experiment may go into a directory at all, which holds earlier
    /// results or nothing. Looking for it changes nothing there.
    pub fn may_hold(path: &Path, manifest: &Manifest) -> Result<(), Error> {
        check(manifest)?;
        owner(path).map(|_| ())
    }

    /// The runs that are there from earlier commands with this scenario, and could be kept. None
    /// if there are no results; results of other scenarios, and anything else, are refused.
    pub fn earlier(path: &Path, manifest: &Manifest) -> Result<Earlier, Error> {
        check(manifest)?;
        if !manifest.formats.iter().any(|name| name == READABLE) {
            return Err(Error::NotReadable);
        }
        Earlier::find(path, manifest)
    }

    /// Begins like [`Directory::create`], but some of the earlier runs stay, as if they had been
    /// added; all other results are removed.
    pub fn resume(earlier: &Earlier, kept: &[&Record], manifest: &Manifest) -> Result<Self, Error> {
        let mut manifest = manifest.clone();
        kept.iter().for_each(|&run| manifest.add(run.clone()));
        let folder = |run: &&Record| folder(&run.variant, run.replication);
        let folders = kept.iter().map(folder).collect();
        Self::begin(earlier.path(), manifest, &folders, earlier.time_of(kept))
    }

    /// Removes what is there, except runs in some folders, after everything that would be refused.
    fn begin(
        path: &Path,
        mut manifest: Manifest,
        kept: &BTreeSet<String>,
        earlier_s: f64,
    ) -> Result<Self, Error> {
        named(fs::create_dir_all(path), "make the results directory", path)?;
        let old = match owner(path)? {
            Some(_) => {
                refuse_links(path, &manifest)?;
                listed(path)?
            }
            None => Listed::new(),
        };
        let others = others(path, &old)?;
        if let Some(due) = others.iter().find(|&other| is_due(other, &manifest)) {
            return Err(owned::Error::InTheWay(path.join(due)).into());
        }
        owned::refuse_taken(path, &old, HERE, BESIDE)?;
        let journal = Journal::new(path);
        journal.refuse_other()?;
        manifest.files = Some(old.clone());
        let mut directory = Self {
            path: path.into(),
            manifest,
            begun: Instant::now(),
            earlier_s,
            others,
            journal,
            pace: Pace::new(),
            behind: false,
        };
        // Before anything is removed: no run is listed whose tables are not there.
        directory.write_progress()?;
        let kept = |folder: &str| kept.contains(folder);
        directory.manifest.files = Some(owned::clear(path, MANIFEST, &old, kept)?);
        directory.list(HERE, &BESIDE.map(str::to_owned))?;
        directory.write_progress()?;
        Ok(directory)
    }

    /// Lists files of a folder that are to be written. Those that are there and are not floodway's
    /// are refused. Whether any is new on the list.
    fn list(&mut self, folder: &str, names: &[String]) -> Result<bool, Error> {
        let listed = self.manifest.files.get_or_insert_default();
        Ok(owned::list(&self.path, listed, folder, names.iter().map(String::as_str))?)
    }

    /// What is below the folder of runs and was not written by floodway, as paths relative to the
    /// results directory. It stays there.
    pub fn others(&self) -> &[String] {
        &self.others
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long the experiment has taken so far, in seconds, with the time that the kept runs
    /// took earlier.
    pub fn wall_s(&self) -> f64 {
        self.earlier_s + self.begun.elapsed().as_secs_f64()
    }

    /// Keeps the tables of a finished run. The manifest on the disk has it now or later: see
    /// [`Directory::catch_up`].
    pub fn add_run(&mut self, run: &Run) -> Result<(), Error> {
        self.add_run_with(run, &[])
    }

    /// The same, with further files in the folder of the run.
    pub fn add_run_with(&mut self, run: &Run, extras: &[Extra<'_>]) -> Result<(), Error> {
        self.list_run(run, extras)?;
        let tables = self.write_run(run, extras, |_| true)?;
        self.manifest.record(run, tables);
        self.behind = true;
        self.catch_up()
    }

    /// Writes the manifest if it lacks runs and enough time has passed since it was written, so that
    /// a program that is killed loses little and much time is not spent on it. To be called from time
    /// to time while runs are under way.
    pub fn catch_up(&mut self) -> Result<(), Error> {
        if self.behind && self.pace.is_due(Instant::now()) {
            self.write_progress()?;
        }
        Ok(())
    }

    /// Writes the tables of an earlier run in the forms that are not there yet.
    pub fn complete_run(&mut self, run: &Run) -> Result<(), Error> {
        self.list_run(run, &[])?;
        self.write_run(run, &[], |path| !path.exists()).map(|_| ())
    }

    /// Makes sure that a list on the disk has the files of a run.
    fn list_run(&mut self, run: &Run, extras: &[Extra<'_>]) -> Result<(), Error> {
        let (folder, mut names) = (folder(run.variant, run.replication), self.names(run));
        names.extend(extras.iter().map(|extra| extra.name.to_owned()));
        if self.list(&folder, &names)? {
            self.behind = true;
            self.journal.list(&folder, &names)?;
        }
        Ok(())
    }

    /// The names of all files of a run.
    fn names(&self, run: &Run) -> Vec<String> {
        let tables = self.manifest.formats.iter().flat_map(|format| {
            let with_file = run.tables.iter().filter(|table| !needs_no_file(table));
            with_file.map(move |table| format!("{}.{format}", table.name))
        });
        let trace = self.trace(run).map(trace::name);
        tables.chain(trace).collect()
    }

    /// The form of the trace of a run, if there is to be one.
    fn trace(&self, run: &Run) -> Option<&'static trace::Form> {
        let form = self.manifest.trace.as_deref().and_then(trace::named);
        form.filter(|_| trace::recorded(run))
    }

    /// Writes those files of a run that are wanted. Returns the tables that can be read back.
    fn write_run(
        &self,
        run: &Run,
        extras: &[Extra<'_>],
        wanted: impl Fn(&Path) -> bool,
    ) -> Result<Vec<TableFile>, Error> {
        let folder = self.path.join(folder(run.variant, run.replication));
        named(fs::create_dir_all(&folder), "make the folder of a run", &folder)?;
        let mut readable = Vec::new();
        let mut written = Vec::new();
        for name in &self.manifest.formats {
            let format = format::named(name).expect("formats were checked at the start");
            for table in run.tables {
                if needs_no_file(table) {
                    if name == READABLE {
                        readable.push(TableFile { name: table.name.to_string(), checksum: None });
                    }
                    continue;
                }
                let path = folder.join(format!("{}.{name}", table.name));
                if !wanted(&path) {
                    continue;
                }
                let sheet = Sheet { run: Some((run.variant, run.replication)), table };
                let what = format!("table `{}`", table.name);
                let sum = files::write_unsynced(&path, &what, |out| (format.write)(&sheet, out))?;
                written.push(path);
                if name == READABLE {
                    let (name, checksum) = (table.name.to_string(), Some(hex(sum.0)));
                    readable.push(TableFile { name, checksum });
                }
            }
        }
        if let Some(form) = self.trace(run) {
            let path = folder.join(trace::name(form));
            if wanted(&path) {
                files::write_unsynced(&path, "the trace", |out| (form.write)(run.tables, out))?;
                written.push(path);
            }
        }
        for extra in extras {
            let path = folder.join(extra.name);
            files::write_unsynced(&path, extra.what, |out| (extra.write)(out))?;
            written.push(path);
        }
        if !written.is_empty() {
            files::sync(&written)?;
            // The folder of the run, of its variant, and of all runs.
            folder.ancestors().take(3).try_for_each(files::sync_folder)?;
        }
        Ok(readable)
    }

    /// Ends it: writes summary, page and dictionary, and last the manifest that says how the
    /// experiment ended.
    pub fn finish(mut self, experiment: &Experiment, ending: &Ending) -> Result<Summary, Error> {
        // Before anything that may fail, so that no run is lost.
        self.leave_off()?;
        self.manifest.end(ending);
        let summary = experiment.summary(ending);
        self.write_json(SUMMARY, "the summary", &summary)?;
        let page = html::page(&self.manifest, &summary, experiment);
        let report = self.path.join(REPORT);
        files::write(&report, "the report", |out| out.write_all(page.as_bytes()))?;
        let dictionary = self.path.join(DICTIONARY);
        let text = experiment.dictionary();
        files::write(&dictionary, "the data dictionary", |out| out.write_all(text.as_bytes()))?;
        self.write_manifest()?;
        Ok(summary)
    }

    /// Reads a results directory back: its manifest, and its summary if it has one.
    pub fn open(path: &Path) -> Result<Results, Error> {
        let manifest = path.join(MANIFEST);
        if matches!(manifest.try_exists(), Ok(false)) {
            return Err(Error::NoResults(path.into()));
        }
        let manifest = read_json(&manifest, "read the manifest")?;
        let summary = path.join(SUMMARY);
        let summary = match summary.try_exists() {
            Ok(true) => Some(read_json(&summary, "read the summary")?),
            _ => None,
        };
        Ok(Results { path: path.into(), manifest, summary })
    }

    /// Writes the manifest if it has to say something else than on the disk.
    fn leave_off(&mut self) -> Result<(), Error> {
        if self.behind { self.write_progress() } else { Ok(()) }
    }

    fn write_progress(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        self.manifest.wall_s = self.wall_s();
        self.write_manifest()?;
        self.pace.wrote(begun, Instant::now());
        self.behind = false;
        Ok(())
    }

    fn write_manifest(&mut self) -> Result<(), Error> {
        self.write_json(MANIFEST, "the manifest", &self.manifest)?;
        files::sync_folder(&self.path)?;
        self.journal.clear()
    }

    fn write_json(
        &self,
        name: &str,
        what: &str,
        value: &impl serde::Serialize,
    ) -> Result<(), Error> {
        let path = self.path.join(name);
        files::write(&path, what, |out| {
            serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
            writeln!(out)
        })?;
        Ok(())
    }
}

impl Drop for Directory {
    /// What was kept before an error counts. It is that error which is reported, not this one.
    fn drop(&mut self) {
        let _ = self.leave_off();
    }
}

impl Results {
    /// Reads a table of one of the runs, which fails if its file is not to the bit what it was.
    pub fn table(&self, run: &Record, name: &str) -> Result<Table, Error> {
        let folder = self.path.join(folder(&run.variant, run.replication));
        match run.tables.iter().find(|table| table.name == name) {
            Some(table) => earlier::read_table(&folder, table),
            None => Err(Error::NoTable(folder, name.to_owned())),
        }
    }
}

/// Whether there can be results like these.
fn check(manifest: &Manifest) -> Result<(), Error> {
    for variant in &manifest.variants {
        check_name(&variant.name)?;
    }
    for name in &manifest.formats {
        if format::named(name).is_none() {
            let known: Vec<_> = format::CATALOGUE.iter().map(|known| known.entry.name).collect();
            return Err(Error::Format(name.clone(), known.join(", ")));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.+=,@%".contains(letter);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(Error::Name(name.to_string()));
    }
    Ok(())
}

/// Reads a file of this schema.
fn read_json<T: DeserializeOwned>(path: &Path, action: &str) -> Result<T, Error> {
    let bytes = named(files::read(path), action, path)?;
    let malformed = |error: serde_json::Error| Error::Malformed {
        path: path.into(),
        reason: error.to_string(),
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(malformed)?;
    let found = value.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(0);
    if found != u64::from(SCHEMA) {
        let by = value.get("floodway").and_then(|by| by.as_str()).unwrap_or("of that time");
        return Err(Error::Schema {
            path: path.into(),
            found,
            by: by.to_string(),
            version: env!("CARGO_PKG_VERSION"),
        });
    }
    serde_json::from_value(value).map_err(malformed)
}
