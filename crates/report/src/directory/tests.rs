//! When the manifest is written, and what the journal lists until then.

use super::journal::Pace;
use super::*;
use crate::manifest::{Scenario, Status, Variant};
use crate::owned::JOURNAL;
use floodway_model::tables::complete;
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
    names.iter().map(|name| complete(Table::new(*name, "").u64("flow", "", vec![1]))).collect()
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
fn new_files_are_listed_without_writing_the_manifest() {
    let folder = Folder::new("no-writes");
    let mut directory = lazy(&folder, 64);
    assert_eq!(add(&mut directory, 0..64, &tables(&["flows"])), 0);
    let lines = fs::read_to_string(folder.0.join(JOURNAL)).unwrap();
    let lines: Vec<_> = lines.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!((lines.len(), lines[1]), (128, r#"{"runs/b/0":["flows.parquet"]}"#));
    // Whoever writes the manifest removes it.
    directory.write_progress().unwrap();
    assert!(!folder.0.join(JOURNAL).exists());
    assert_eq!(listed(&folder.manifest()), paths(0..64, &["flows"]));
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
fn a_killed_program_leaves_a_list_of_all_that_it_wrote_and_of_nothing_else() {
    let folder = Folder::new("killed");
    let mut directory = lazy(&folder, 100);
    add(&mut directory, 0..5, &tables(&["flows"]));
    // Killed: nothing is written any more.
    mem::forget(directory);
    let there = folder.manifest();
    assert_eq!((there.status, there.runs.len()), (Status::Running, 0));
    assert_eq!(listed(&there), BTreeSet::new());
    let mut all = Listed::new();
    journal::read(&folder.0, &mut all).unwrap();
    assert_eq!(listed(&Manifest { files: Some(all), ..there }), paths(0..5, &["flows"]));

    // The next command knows what is floodway's: it removes all of it, and nothing else, also not
    // where the killed program would have written later.
    let notes = folder.0.join("runs/a/3/notes.txt");
    let later = folder.0.join("runs/a/5/flows.parquet");
    for mine in [&notes, &later] {
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(mine, "mine").unwrap();
    }
    drop(Directory::create(&folder.0, true, &manifest(5)).unwrap());
    assert_eq!(listed(&folder.manifest()), BTreeSet::new());
    for (there, count) in [("runs/a/3", 1), ("runs/a", 2), ("runs", 1)] {
        assert_eq!(fs::read_dir(folder.0.join(there)).unwrap().count(), count, "{there}");
    }
    for mine in [notes, later] {
        assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
    }
    assert!(!folder.0.join(JOURNAL).exists());
}

#[test]
fn the_next_command_reads_a_journal_whose_last_line_was_cut_off() {
    let folder = Folder::new("cut");
    drop(lazy(&folder, 8));
    let lines = r#"{"runs/a/0":["flows.parquet"]}"#.to_owned() + "\n{\"runs/a/1\":[\"flo";
    fs::write(folder.0.join(JOURNAL), lines).unwrap();
    for place in ["runs/a/0", "runs/a/1"] {
        fs::create_dir_all(folder.0.join(place)).unwrap();
        fs::write(folder.0.join(place).join("flows.parquet"), "").unwrap();
    }
    let directory = Directory::create(&folder.0, true, &manifest(1)).unwrap();
    assert_eq!(directory.others(), ["runs/a/1/flows.parquet"]);
    assert!(!folder.0.join("runs/a/0").exists());
}

#[test]
fn a_journal_that_leads_out_of_the_directory_is_refused() {
    let folder = Folder::new("out");
    drop(lazy(&folder, 8));
    let outside = folder.0.with_extension("outside");
    fs::write(&outside, "mine").unwrap();
    let name = outside.file_name().unwrap().to_str().unwrap();
    fs::write(folder.0.join(JOURNAL), format!("{{\"..\":[\"{name}\"]}}\n")).unwrap();
    let error = Directory::create(&folder.0, true, &manifest(8)).unwrap_err().to_string();
    let file = folder.0.join(JOURNAL);
    let expected = format!("`{}` lists `../{name}`, which is no plain path below ", file.display());
    assert!(error.starts_with(&expected), "{error}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    fs::remove_file(outside).unwrap();
}

/// Before anything is removed: no run could be written after that.
#[test]
#[cfg(unix)]
fn what_is_no_file_where_the_journal_goes_is_refused() {
    let folder = Folder::new("no-journal");
    let mut directory = lazy(&folder, 8);
    add(&mut directory, 0..2, &tables(&["flows"]));
    drop(directory);
    let (path, outside) = (folder.0.join(JOURNAL), folder.0.with_extension("outside"));
    let make: [&dyn Fn(); 2] = [&|| fs::create_dir(&path).unwrap(), &|| {
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
    }];
    for make in make {
        make();
        let error = Directory::create(&folder.0, true, &manifest(8)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{}` is in the way: ", path.display())), "{error}");
        assert_eq!(folder.manifest().runs.len(), 4);
        assert!(folder.0.join("runs/b/1/flows.parquet").is_file() && !outside.exists());
    }
}

#[test]
fn a_folder_has_one_spelling() {
    let folder = Folder::new("spelling");
    let mut directory = lazy(&folder, 8);
    add(&mut directory, 0..1, &tables(&["flows"]));
    drop(directory);
    // Kept under one spelling, the files would be removed under another one.
    let journal = folder.0.join(JOURNAL);
    for place in ["runs/a/0/", "runs//a/0", "runs/./a/0"] {
        fs::write(&journal, format!("{{\"{place}\":[\"flows.parquet\"]}}\n")).unwrap();
        let error = Directory::create(&folder.0, true, &manifest(8)).unwrap_err().to_string();
        let expected = format!("lists `{place}/flows.parquet`, which is no plain path below ");
        assert!(error.contains(&expected), "{error}");
        assert!(folder.0.join("runs/a/0/flows.parquet").is_file());
    }
}

#[test]
fn after_an_error_all_runs_count_and_all_files_are_in_the_manifest() {
    let folder = Folder::new("error");
    let mut directory = lazy(&folder, 100);
    add(&mut directory, 0..5, &tables(&["flows"]));
    assert_eq!(folder.manifest().runs.len(), 0);
    drop(directory);
    let there = folder.manifest();
    assert_eq!((there.status, there.runs.len()), (Status::Running, 10));
    assert_eq!(listed(&there), paths(0..5, &["flows"]));
    assert!(!folder.0.join(JOURNAL).exists());
}

#[test]
fn a_file_that_somebody_puts_where_a_run_will_be_is_refused_and_stays() {
    let folder = Folder::new("put");
    let mut directory = lazy(&folder, 8);
    add(&mut directory, 0..3, &tables(&["flows"]));
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

#[test]
fn a_table_of_another_version_is_refused_by_name() {
    let folder = Folder::new("columns");
    let mut directory = lazy(&folder, 1);
    let narrow =
        Table::new("flows", "").u64("flow", "", vec![1]).text("workload", "", vec![String::new()]);
    directory.add_run(&run("a", 0, &[narrow])).unwrap();
    drop(directory);
    let results = Directory::open(&folder.0).unwrap();
    let error = results.table(&results.manifest.runs[0], "flows").unwrap_err();
    let place = folder.0.join("runs/a/0");
    assert_eq!(
        error.to_string(),
        format!(
            "table `flows` in `{}` has no column `workload` with whole numbers: another version of floodway wrote it; \
             run the experiment again with this one",
            place.display()
        )
    );
}
