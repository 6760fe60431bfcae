//! Runs that are there from an earlier command, and what makes sure that they are what they were.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use floodway_model::table::fingerprint;
use floodway_model::tables::missing;
use floodway_model::{Table, tables};

use super::owner::{owner, refuse_links};
use super::{Error, MANIFEST, READABLE, read_json};
use crate::files;
use crate::format::parquet;
use crate::manifest::{Manifest, Record, TableFile, folder, hex};
use crate::{INTERRUPTED, Run};

/// The runs of earlier commands in a results directory. Looking for them changes nothing there.
#[derive(Clone, Debug)]
pub struct Earlier {
    path: PathBuf,
    /// By variant and replication.
    runs: BTreeMap<String, BTreeMap<u32, Record>>,
    /// Seconds of wall time for each second of a run.
    pace: f64,
}

/// An earlier run with its tables.
#[derive(Clone, Debug)]
pub struct Loaded {
    record: Record,
    tables: Vec<Table>,
    fingerprint: u64,
}

impl Earlier {
    /// Those in a directory that an experiment could use.
    pub(super) fn find(path: &Path, manifest: &Manifest) -> Result<Self, Error> {
        let none = Self::at(path);
        let Some(owner) = owner(path)? else { return Ok(none) };
        refuse_links(path, manifest)?;
        let scenario = &manifest.scenario.name;
        if owner.scenario != *scenario {
            return Err(Error::Other(path.into(), owner.scenario, scenario.clone()));
        }
        // A manifest of another schema has nothing that can be used.
        let Ok(old) = read_json::<Manifest>(&path.join(MANIFEST), "read the manifest") else {
            return Ok(none);
        };
        let run_s: f64 = old.runs.iter().map(|run| run.wall_s).sum();
        let pace = if run_s > 0.0 { old.wall_s / run_s } else { 0.0 };
        let usable = |run: &Record| {
            run.stop != INTERRUPTED
                && run.replication < manifest.replications
                && manifest.variants.iter().any(|variant| variant.name == run.variant)
        };
        let mut runs = BTreeMap::<String, BTreeMap<u32, Record>>::new();
        for run in old.runs.into_iter().filter(usable) {
            runs.entry(run.variant.clone()).or_default().entry(run.replication).or_insert(run);
        }
        Ok(Self { runs, pace, ..none })
    }

    /// None of a directory, from which runs can be loaded all the same.
    pub(super) fn at(path: &Path) -> Self {
        Self { path: path.into(), runs: BTreeMap::new(), pace: 0.0 }
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// What is known of a run, if it is there. Whether it is still what is wanted its key tells,
    /// and whether it is whole, [`Earlier::load`].
    pub fn run(&self, variant: &str, replication: u32) -> Option<&Record> {
        self.runs.get(variant)?.get(&replication)
    }

    /// Reads a run back, which fails if its tables are not to the bit what they were.
    pub fn load(&self, record: &Record) -> Result<Loaded, Error> {
        let folder = self.folder(record);
        let tables: Vec<_> = record
            .tables
            .iter()
            .map(|table| read_table(&folder, table))
            .collect::<Result<_, _>>()?;
        let fingerprint = fingerprint(&tables);
        if hex(fingerprint) != record.fingerprint {
            return Err(Error::Changed(
                folder,
                "the fingerprint of its tables is another".to_owned(),
            ));
        }
        Ok(Loaded { record: record.clone(), tables, fingerprint })
    }

    /// The folder of a run's tables.
    fn folder(&self, record: &Record) -> PathBuf {
        self.path.join(folder(&record.variant, record.replication))
    }

    /// The share of some runs in the time that the earlier commands took, in seconds.
    pub(super) fn time_of(&self, runs: &[&Record]) -> f64 {
        self.pace * runs.iter().map(|run| run.wall_s).sum::<f64>()
    }
}

/// Reads a table of a run back, which fails if its file is not to the bit what it was.
pub(super) fn read_table(folder: &Path, table: &TableFile) -> Result<Table, Error> {
    let changed = |what: String| Error::Changed(folder.into(), what);
    let Some(checksum) = &table.checksum else {
        let unknown = || changed(format!("table `{}` is of another version", table.name));
        return tables::empty(&table.name).ok_or_else(unknown);
    };
    let path = folder.join(format!("{}.{READABLE}", table.name));
    if hex(files::checksum(&path)?.0) != *checksum {
        return Err(changed(format!("the checksum of table `{}` is another", table.name)));
    }
    let read = parquet::read(&path).map_err(|error| changed(error.to_string()))?;
    match missing(&read) {
        None => Ok(read),
        Some((column, kind)) => {
            Err(Error::NoColumn(folder.into(), table.name.clone(), column, kind))
        }
    }
}

impl Loaded {
    /// The run as it was when it was made.
    pub fn run(&self) -> Run<'_> {
        let Self { record, tables, fingerprint } = self;
        Run {
            variant: &record.variant,
            replication: record.replication,
            seed: record.seed,
            key: &record.key,
            tables,
            hops: record.hops,
            wall_s: record.wall_s,
            simulated_ns: record.simulated_ns,
            fingerprint: *fingerprint,
            violations: &record.violations,
            stop: &record.stop,
        }
    }
}
