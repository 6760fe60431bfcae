//! When the manifest is written, and what it lists ahead.

use super::ahead::Pace;
use super::*;
use crate::manifest::{Scenario, Status, Variant};
use std::mem;
use std::ops::Range;
use std::time::Duration;

const VARIANTS: [&str; 2] = ["a", "b"];

/// An empty folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("floodway-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// The manifest on the disk.
    fn manifest(&self) -> Manifest {
        Directory::open(&self.0).unwrap().manifest
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn manifest(replications: u32) -> Manifest {
    let variants = VARIANTS.map(|name| Variant { name: name.to_owned(), ..Variant::default() });
    Manifest { replications, ..Manifest::new(Scenario::default(), variants.into()) }
}

fn run<'a>(variant: &'a str, replication: u32, tables: &'a [Table]) -> Run<'a> {
    Run {
        variant,
        replication,
        seed: 1,
        key: "",
        tables,
        hops: 1,
        wall_s: 0.0,
        simulated_ns: 1.0,
        fingerprint: 1,
        violations: &[],
        stop: "time_limit",
    }
}

fn tables(names: &[&'static str]) -> Vec<Table> {
    names.iter().map(|name| Table::new(*name, "").u64("flow", "", vec![1])).collect()
}

/// A directory whose manifest is only written when it has to be.
fn lazy(folder: &Folder, replications: u32) -> Directory {
    let mut directory = Directory::create(&folder.0, true, &manifest(replications)).unwrap();
    directory.pace.rest = u32::MAX;
    directory
}

/// Adds a run of each variant in these replications. At how many of them the manifest was written.
fn add(directory: &mut Directory, replications: Range<u32>, tables: &[Table]) -> usize {
    let runs = replications.flat_map(|replication| VARIANTS.map(|variant| (variant, replication)));
    let mut before = directory.pace.ended();
    runs.filter(|&(variant, replication)| {
        directory.add_run(&run(variant, replication, tables)).unwrap();
        let now = directory.pace.ended();
        mem::replace(&mut before, now) != now
    })
    .count()
}

/// The paths that a manifest lists below the folder of runs.
fn listed(manifest: &Manifest) -> BTreeSet<String> {
    let files = manifest.files.iter().flatten().filter(|(folder, _)| *folder != HERE);
    files.flat_map(|(at, names)| names.iter().map(move |name| format!("{at}/{name}"))).collect()
}

/// The paths of the runs of some replications with these tables.
fn paths(replications: Range<u32>, tables: &[&str]) -> BTreeSet<String> {
    let folders = replications.flat_map(|at| VARIANTS.map(|variant| folder(variant, at)));
    let name = |folder: String| tables.iter().map(move |name| format!("{folder}/{name}.parquet"));
    folders.flat_map(name).collect()
}

#[test]
fn the_manifest_is_written_ever_less_often() {
    let (few, many) = (Folder::new("few-writes"), Folder::new("many-writes"));
    let tables = tables(&["flows"]);
    // For each variant in replication 0, which lists 1 too, and then where the list ends: in
    // replications 2, 6 and 14, and in those and 30 and 62.
    assert_eq!(add(&mut lazy(&few, 16), 0..16, &tables), 5);
    assert_eq!(add(&mut lazy(&many, 64), 0..64, &tables), 7);
}

#[test]
fn the_manifest_is_written_after_ten_times_as_long_as_that_took() {
    let (begun, second) = (Instant::now(), Duration::from_secs(1));
    let mut pace = Pace::new();
    assert!(pace.is_due(Instant::now()), "at first nothing is known to take long");
    pace.wrote(begun, begun + second);
    assert!(!pace.is_due(begun + 10 * second));
    assert!(pace.is_due(begun + 11 * second));
}

#[test]
fn a_killed_program_leaves_a_list_of_all_that_it_wrote() {
    let folder = Folder::new("killed");
    let mut directory = lazy(&folder, 100);
    add(&mut directory, 0..5, &tables(&["flows"]));
    // Killed: nothing is written any more.
    mem::forget(directory);
    let there = folder.manifest();
    assert_eq!(there.status, Status::Running);
    assert_eq!(listed(&there), paths(0..6, &["flows"]), "those of replication 5 are listed ahead");
    assert_eq!(there.runs.len(), 4, "at replication 2 it was written last");

    // The next command knows what is floodway's: it removes all of it, and nothing else.
    let other = folder.0.join("runs/a/3/notes.txt");
    fs::write(&other, "mine").unwrap();
    drop(Directory::create(&folder.0, true, &manifest(100)).unwrap());
    assert_eq!(listed(&folder.manifest()), BTreeSet::new());
    assert_eq!(fs::read_dir(folder.0.join("runs/a/3")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(folder.0.join("runs")).unwrap().count(), 1, "b is gone");
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
}

#[test]
fn after_an_error_all_runs_count_and_nothing_is_listed_ahead() {
    let folder = Folder::new("error");
    let mut directory = lazy(&folder, 100);
    add(&mut directory, 0..5, &tables(&["flows"]));
    assert_eq!(folder.manifest().runs.len(), 4);
    drop(directory);
    let there = folder.manifest();
    assert_eq!((there.status, there.runs.len()), (Status::Running, 10));
    assert_eq!(listed(&there), paths(0..5, &["flows"]));
}

#[test]
fn a_table_that_some_runs_do_not_have_is_not_listed_in_the_end() {
    let folder = Folder::new("some");
    let mut directory = lazy(&folder, 8);
    add(&mut directory, 0..3, &tables(&["flows"]));
    add(&mut directory, 3..4, &tables(&["flows", "drops"]));
    add(&mut directory, 4..8, &tables(&["flows"]));
    assert!(listed(&directory.manifest).contains("runs/a/7/drops.parquet"));
    let ending = Ending { status: Status::Complete, wall_s: 1.0, peak_rss_bytes: None };
    let experiment = Experiment::new(&manifest(8));
    directory.finish(&experiment, &ending).unwrap();
    let there = folder.manifest();
    assert_eq!((there.status, there.runs.len()), (Status::Complete, 16));
    let expected = &paths(0..8, &["flows"]) | &paths(3..4, &["drops"]);
    assert_eq!(listed(&there), expected);
}

#[test]
fn a_file_that_somebody_puts_where_a_run_will_be_is_refused_and_stays() {
    let folder = Folder::new("put");
    let mut directory = lazy(&folder, 8);
    add(&mut directory, 0..2, &tables(&["flows"]));
    add(&mut directory, 2..3, &tables(&["flows"]));
    assert!(listed(&directory.manifest).contains("runs/a/4/flows.parquet"));
    let mine = folder.0.join("runs/a/4/flows.parquet");
    fs::create_dir_all(mine.parent().unwrap()).unwrap();
    fs::write(&mine, "mine").unwrap();
    add(&mut directory, 3..4, &tables(&["flows"]));
    let error = directory.add_run(&run("a", 4, &tables(&["flows"]))).unwrap_err();
    assert!(error.to_string().contains("is in the way"), "{error}");
    drop(directory);
    assert_eq!(listed(&folder.manifest()), paths(0..4, &["flows"]));
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}
