//! Runs by what simulation they are: a cache from which any experiment can take a run that another
//! has made.
//!
//! A run is known by its key ([`crate::Run::key`]), a hash of all parameters, of the seed and of the
//! program's model, so nothing in the store is ever wrong for a key; it can be deleted at any time, as
//! a whole or in parts. A run is a folder `<first two digits>/<key>` with its tables as Parquet and
//! `run.json`, which is written last, into a folder of another name that is then renamed: whoever
//! reads, on this machine or on others that share the file system, sees whole runs only. Such a folder
//! is locked as long as it is written to, so that one that a killed program left can be told from
//! others ([`Store::collect`]).

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use floodway_model::table::fingerprint;
use floodway_model::{Table, tables};
use serde::{Deserialize, Serialize};

use crate::files::{self, IoError, named};
use crate::format::{Sheet, parquet};
use crate::manifest::{TableFile, hex, needs_no_file};
use crate::{INTERRUPTED, Run};

const RUN: &str = "run.json";

/// What the names of folders that are written to begin with.
const PART: &str = "part-";

/// The file in them that is locked.
const LOCK: &str = ".lock";

/// A folder that is younger may belong to a program that has not locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder without a lock, of a program that took none, is left alone for so long.
const RECENT: Duration = Duration::from_secs(86_400);

/// The store.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

/// A run of the store, whatever variant and replication it was.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its tables.
    pub tables: Vec<Table>,
    /// Their fingerprint.
    pub fingerprint: u64,
    /// Its seed.
    pub seed: u64,
    /// Packet-hops.
    pub hops: u64,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// The simulated time at the end, in nanoseconds.
    pub simulated_ns: f64,
    /// Why it ended.
    pub stop: String,
    /// What was wrong with it; empty in a sound run.
    pub violations: Vec<String>,
}

/// What `run.json` holds.
#[derive(Debug, Serialize, Deserialize)]
struct Card {
    key: String,
    fingerprint: String,
    seed: u64,
    hops: u64,
    wall_s: f64,
    simulated_ns: f64,
    stop: String,
    violations: Vec<String>,
    tables: Vec<TableFile>,
}

impl Store {
    /// The store in this directory, which is made when the first run is put there.
    pub fn new(path: &Path) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn folder(&self, key: &str) -> PathBuf {
        self.path.join(key.get(..2).unwrap_or("_")).join(key)
    }

    /// Whether a symbolic link stands where the folder of a run is or would be, which is not followed:
    /// neither is anything read there, nor written or removed.
    fn is_behind_link(&self, key: &str) -> bool {
        let folder = self.folder(key);
        folder.is_symlink() || folder.parent().is_some_and(Path::is_symlink)
    }

    /// The run of this key, if it is there and whole. One that is damaged is as good as none.
    pub fn find(&self, key: &str) -> Option<Stored> {
        if self.is_behind_link(key) {
            return None;
        }
        let folder = self.folder(key);
        let card = folder.join(RUN);
        if card.is_symlink() {
            return None;
        }
        let card: Card = serde_json::from_slice(&files::read(&card).ok()?).ok()?;
        let read = |file: &TableFile| {
            let Some(checksum) = &file.checksum else { return tables::empty(&file.name) };
            let path = folder.join(format!("{}.parquet", file.name));
            if path.is_symlink() {
                return None;
            }
            let whole = hex(files::checksum(&path).ok()?.0) == *checksum;
            whole.then(|| parquet::read(&path).ok()).flatten()
        };
        let tables: Vec<Table> = card.tables.iter().map(read).collect::<Option<_>>()?;
        let fingerprint = fingerprint(&tables);
        (card.key == key && hex(fingerprint) == card.fingerprint).then_some(Stored {
            tables,
            fingerprint,
            seed: card.seed,
            hops: card.hops,
            wall_s: card.wall_s,
            simulated_ns: card.simulated_ns,
            stop: card.stop,
            violations: card.violations,
        })
    }

    /// Keeps a run, unless it was cut short or its place is behind a symbolic link. One of the same key is
    /// replaced.
    pub fn put(&self, run: &Run) -> Result<(), IoError> {
        if run.stop == INTERRUPTED || self.is_behind_link(run.key) {
            return Ok(());
        }
        let folder = self.folder(run.key);
        let part = self.path.join(part());
        let result = self.write(run, &part).and_then(|()| self.move_to(&part, &folder, run.key));
        if result.is_err() {
            // The first failure is the one to report.
            let _ = fs::remove_dir_all(&part);
        }
        result.map_err(IoError::of_cache)
    }

    /// Removes what killed programs have left of runs that they were writing. What cannot be removed
    /// stays: it is not in the way.
    pub fn collect(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let part = entry.file_name().to_str().is_some_and(is_part);
            if part && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = collect(&entry.path());
            }
        }
    }

    fn write(&self, run: &Run, folder: &Path) -> Result<(), IoError> {
        named(fs::create_dir_all(folder), "make a folder of the cache", folder)?;
        // Where locks are not supported, folders are distinguished by their age.
        let lock = File::create(folder.join(LOCK)).ok().filter(|lock| lock.try_lock().is_ok());
        let (mut tables, mut written) = (Vec::new(), Vec::new());
        for table in run.tables {
            if needs_no_file(table) {
                tables.push(TableFile { name: table.name.to_string(), checksum: None });
                continue;
            }
            let path = folder.join(format!("{}.parquet", table.name));
            let sheet = Sheet { run: Some((run.variant, run.replication)), table };
            let sum = files::write_unsynced(&path, "a table of the cache", |out| {
                parquet::write(&sheet, out)
            })?;
            tables.push(TableFile { name: table.name.to_string(), checksum: Some(hex(sum.0)) });
            written.push(path);
        }
        files::sync(&written)?;
        let card = Card {
            key: run.key.to_owned(),
            fingerprint: hex(run.fingerprint),
            seed: run.seed,
            hops: run.hops,
            wall_s: run.wall_s,
            simulated_ns: run.simulated_ns,
            stop: run.stop.to_owned(),
            violations: run.violations.to_vec(),
            tables,
        };
        files::write(&folder.join(RUN), "a run of the cache", |out| {
            serde_json::to_writer(out, &card).map_err(io::Error::from)
        })?;
        let path = folder.join(LOCK);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                named(Err(error), "remove a file of the cache", &path)?;
            }
            _ => {}
        }
        drop(lock);
        files::sync_folder(folder)
    }

    /// Renames a folder to that of a run. One that is there is replaced only if it is damaged: else
    /// somebody was faster with the same run.
    fn move_to(&self, part: &Path, folder: &Path, key: &str) -> Result<(), IoError> {
        let parent = folder.parent().expect("it lies in the store");
        named(fs::create_dir_all(parent), "make a folder of the cache", parent)?;
        if fs::rename(part, folder).is_ok() {
            return files::sync_folder(parent);
        }
        if self.find(key).is_none() {
            // A folder is not renamed onto another one.
            let _ = remove_run(folder);
            match fs::rename(part, folder) {
                Err(_) if folder.join(RUN).exists() => {}
                // Something of others is in the way, which stays: this run is not kept.
                Err(error) if is_taken(error.kind()) => {}
                result => {
                    named(result, "put a run into the cache", folder)?;
                    return files::sync_folder(parent);
                }
            }
        }
        named(fs::remove_dir_all(part), "remove a folder of the cache", part)
    }
}

/// Removes a folder that no process writes to any more.
fn collect(part: &Path) -> io::Result<()> {
    let changed = fs::metadata(part)?.modified()?;
    let age = SystemTime::now().duration_since(changed).unwrap_or_default();
    let lock = match File::open(part.join(LOCK)) {
        Ok(file) if age > YOUNG && file.try_lock().is_ok() => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound && age > RECENT => None,
        _ => return Ok(()),
    };
    let removed = remove_run(part);
    drop(lock);
    removed
}

/// Whether a folder could not be renamed because there is something that it cannot replace.
fn is_taken(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(kind, AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Removes the folder of a run, but nothing that a run does not have: it may be somebody else's.
fn remove_run(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(());
    }
    let ours = |name: &str| {
        let name = files::part_of(name).unwrap_or(name);
        name == LOCK || name == RUN || name.ends_with(".parquet")
    };
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // What is damaged may be no file any more.
        if !entry.file_type()?.is_dir() && entry.file_name().to_str().is_some_and(ours) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

/// Whether a name is one that [`part`] gives.
fn is_part(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.strip_prefix(PART).unwrap_or("").split('-').collect();
    let [process, count, rng] = parts[..] else { return false };
    let hex = rng.len() == 16 && rng.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits(process) && digits(count) && hex
}

/// The name of a folder into which no other process writes: of this process and of this call. Others that
/// share the file system may have processes of the same number, so chance is in it too.
fn part() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let rng = RandomState::new().build_hasher().finish();
    format!("{PART}{}-{number}-{rng:016x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_run(test: impl Fn(&Store, &Run)) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("floodway-store-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let tables = [Table::new("flows", "Flows.").u64("flow", "Its number.", vec![1, 2, 3])];
        let run = Run {
            variant: "a",
            replication: 4,
            seed: 7,
            key: "0123456789abcdef",
            tables: &tables,
            hops: 10,
            wall_s: 0.5,
            simulated_ns: 1e6,
            fingerprint: fingerprint(&tables),
            violations: &[],
            stop: "flows done",
        };
        test(&Store::new(&path), &run);
        let _ = fs::remove_dir_all(path);
    }

    #[test]
    fn a_run_comes_back_as_it_was() {
        with_run(|store, run| {
            assert!(store.find(run.key).is_none());
            store.put(run).unwrap();
            store.put(run).unwrap();
            let stored = store.find(run.key).unwrap();
            assert_eq!(stored.tables, run.tables);
            assert_eq!((stored.hops, stored.seed, stored.stop.as_str()), (10, 7, "flows done"));
            assert!(store.find("0123456789abcdee").is_none());
            // Nothing is left of folders that were written first.
            let names = fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name());
            assert_eq!(names.collect::<Vec<_>>(), ["01"]);
        });
    }

    #[test]
    fn what_is_damaged_is_not_there_and_can_be_put_again() {
        with_run(|store, run| {
            store.put(run).unwrap();
            let table = store.folder(run.key).join("flows.parquet");
            let mut bytes = fs::read(&table).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&table, bytes).unwrap();
            assert!(store.find(run.key).is_none());
            store.put(run).unwrap();
            assert!(store.find(run.key).is_some());
            fs::remove_file(store.folder(run.key).join(RUN)).unwrap();
            assert!(store.find(run.key).is_none());
        });
    }

    #[test]
    fn what_others_put_beside_a_damaged_run_stays() {
        with_run(|store, run| {
            store.put(run).unwrap();
            let folder = store.folder(run.key);
            fs::remove_file(folder.join(RUN)).unwrap();
            let notes = folder.join("notes.txt");
            fs::write(&notes, "mine").unwrap();
            store.put(run).unwrap();
            assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
            assert!(store.find(run.key).is_none());
            assert_eq!(fs::read_dir(store.path()).unwrap().count(), 1, "no part is left");
            fs::remove_file(&notes).unwrap();
            store.put(run).unwrap();
            assert!(store.find(run.key).is_some());
        });
    }

    #[test]
    #[cfg(unix)]
    fn links_in_the_cache_are_not_followed() {
        use std::os::unix::fs::symlink;
        with_run(|store, run| {
            store.put(run).unwrap();
            let folder = store.folder(run.key);
            let digits = folder.parent().unwrap();
            // Elsewhere is a whole run, which somebody else may have put there.
            let elsewhere = store.path().join("elsewhere");
            fs::rename(digits, &elsewhere).unwrap();
            symlink(&elsewhere, digits).unwrap();
            assert!(store.find(run.key).is_none());
            fs::remove_dir_all(elsewhere.join(run.key)).unwrap();
            store.put(run).unwrap();
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
            assert_eq!(fs::read_dir(store.path()).unwrap().count(), 2, "no part is left");

            // The same with the folder of the run.
            fs::remove_file(digits).unwrap();
            store.put(run).unwrap();
            fs::remove_dir(&elsewhere).unwrap();
            fs::rename(&folder, &elsewhere).unwrap();
            symlink(&elsewhere, &folder).unwrap();
            assert!(store.find(run.key).is_none());
            fs::remove_file(elsewhere.join(RUN)).unwrap();
            store.put(run).unwrap();
            assert!(!elsewhere.join(RUN).exists());

            // And with a file in it.
            fs::remove_file(&folder).unwrap();
            store.put(run).unwrap();
            for name in [RUN, "flows.parquet"] {
                assert!(store.find(run.key).is_some());
                fs::rename(folder.join(name), elsewhere.join(name)).unwrap();
                symlink(elsewhere.join(name), folder.join(name)).unwrap();
                assert!(store.find(run.key).is_none());
                fs::rename(elsewhere.join(name), folder.join(name)).unwrap();
            }
        });
    }

    #[test]
    fn a_cache_that_cannot_be_written_names_its_own_options() {
        with_run(|store, run| {
            fs::write(store.path(), "a file").unwrap();
            let said = store.put(run).unwrap_err().to_string();
            assert!(said.starts_with("cannot make a folder of the cache at `"), "{said}");
            assert!(
                said.ends_with(
                    "a part of this path is a file, not a directory; rename that file, or use \
                     another directory: `--cache DIR`, or none at all: `--no-cache`"
                ),
                "{said}"
            );
            fs::remove_file(store.path()).unwrap();
        });
    }

    #[test]
    fn folders_of_killed_programs_are_collected() {
        with_run(|store, run| {
            store.put(run).unwrap();
            assert_eq!(fs::read_dir(store.folder(run.key)).unwrap().count(), 2, "no lock is left");
            let folder = |name: &str, lock: bool, age: Duration| {
                let path = store.path().join(name);
                fs::create_dir_all(&path).unwrap();
                fs::write(path.join("flows.parquet.41-0.part"), "half").unwrap();
                fs::write(path.join("flows.parquet"), "whole").unwrap();
                let file = lock.then(|| File::create(path.join(LOCK)).unwrap());
                let open = File::open(&path).unwrap();
                open.set_modified(SystemTime::now() - age).unwrap();
                file
            };
            let name = |number: u32| format!("{PART}{number}-0-0123456789abcdef");
            folder(&name(1), true, 2 * YOUNG);
            folder(&name(2), true, YOUNG / 2);
            folder(&name(3), false, 2 * RECENT);
            folder(&name(4), false, 2 * YOUNG);
            folder("mine", false, 2 * RECENT);
            folder("part-1-of-my-thesis", false, 2 * RECENT);
            // One whose name could be ours, with something that is not.
            fs::create_dir(store.path().join(name(5))).unwrap();
            fs::write(store.path().join(name(5)).join("thesis.tex"), "mine").unwrap();
            folder(&name(5), false, 2 * RECENT);
            let held = folder(&name(6), true, 2 * RECENT).unwrap();
            held.try_lock().unwrap();
            store.collect();
            let names = || {
                let names = fs::read_dir(store.path()).unwrap();
                let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
                let mut names: Vec<_> = names.collect();
                names.sort();
                names
            };
            let thesis = "part-1-of-my-thesis".to_owned();
            let kept = ["01".into(), "mine".into(), thesis, name(2), name(4), name(5), name(6)];
            let mut kept = kept.to_vec();
            kept.sort();
            assert_eq!(names(), kept);
            let left: Vec<_> = fs::read_dir(store.path().join(name(5))).unwrap().collect();
            assert_eq!(left.len(), 1);
            assert!(store.find(run.key).is_some());
            drop(held);
            store.collect();
            assert!(!names().contains(&name(6)));
        });
    }

    #[test]
    fn a_run_that_was_cut_short_is_not_kept() {
        with_run(|store, run| {
            store.put(&Run { stop: INTERRUPTED, ..*run }).unwrap();
            assert!(store.find(run.key).is_none());
        });
    }
}
