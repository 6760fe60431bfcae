//! Earlier runs: which are offered, which are refused, and what stays of the others.

use crate::synthetic::{Case, VARIANTS, ending, manifest, run, tables};
#[allow(dead_code)] // It makes whole experiments too.
use floodway_model::Table;
use floodway_model::table::fingerprint;
use floodway_report::manifest::Record;
use floodway_report::{Directory, Earlier, Experiment, INTERRUPTED, Manifest, Run, Status};
use std::fs;
use std::path::{Path, PathBuf};

const CASE: Case = Case { replications: 2, flows: 50, unfinished: true, drops: true };

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("floodway-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The run as it would be simulated, with a key and the fingerprint that it has.
fn simulated<'a>(of: &'a [Table], variant: usize, replication: u32, key: &'a str) -> Run<'a> {
    Run { fingerprint: fingerprint(of), key, ..run(of, variant, replication) }
}

/// Fills a directory with the runs of some variants, and leaves it as if killed then.
fn killed(path: &Path, variants: &[usize], stop: &str) {
    let mut directory = Directory::create(path, true, &manifest(CASE)).unwrap();
    for &variant in variants {
        for replication in 0..2 {
            let of = tables(CASE, variant, replication);
            let run = Run { stop, ..simulated(&of, variant, replication, "k") };
            directory.add_run(&run).unwrap();
        }
    }
}

fn earlier(path: &Path) -> Earlier {
    Directory::earlier(path, &manifest(CASE)).unwrap()
}

fn error(path: &Path, manifest: &Manifest) -> String {
    Directory::earlier(path, manifest).unwrap_err().to_string()
}

/// All the runs that are offered and whole.
fn whole(earlier: &Earlier) -> Vec<&Record> {
    let all = VARIANTS.iter().flat_map(|variant| (0..9).map(move |at| (variant, at)));
    let there = all.filter_map(|(variant, replication)| earlier.run(variant, replication));
    there.filter(|record| earlier.load(record).is_ok()).collect()
}

#[test]
fn nothing_is_offered_where_nothing_is() {
    let folder = Folder::new("resume-nothing");
    assert!(earlier(&folder.0).is_empty());
    // Something that was killed before it had written anything else.
    fs::write(folder.0.join("manifest.json.41-0.part"), "{").unwrap();
    assert!(earlier(&folder.0).is_empty());
    Directory::create(&folder.0, false, &manifest(CASE)).unwrap();

    let missing = folder.0.join("a/b");
    assert!(earlier(&missing).is_empty());
    assert!(!missing.exists(), "looking changes nothing");
    let directory = Directory::resume(&earlier(&missing), &[], &manifest(CASE)).unwrap();
    assert_eq!(Directory::open(directory.path()).unwrap().manifest.status, Status::Running);
}

#[test]
fn an_experiment_that_goes_on_ends_like_one_that_was_not_stopped() {
    let folder = Folder::new("resume-equal");
    let (stopped, straight) = (folder.0.join("stopped"), folder.0.join("straight"));
    let all = || (0..2).flat_map(|replication| (0..3).map(move |variant| (variant, replication)));

    let mut directory = Directory::create(&straight, false, &manifest(CASE)).unwrap();
    let mut experiment = Experiment::new(&manifest(CASE));
    for (variant, replication) in all() {
        let of = tables(CASE, variant, replication);
        let run = simulated(&of, variant, replication, "k");
        directory.add_run(&run).unwrap();
        experiment.add_run(&run);
    }
    let expected = directory.finish(&experiment, &ending()).unwrap();

    killed(&stopped, &[0, 2], "flows_done");
    fs::write(stopped.join("report.html"), "old").unwrap();
    fs::write(stopped.join("report.html.41-7.part"), "half").unwrap();
    let earlier = earlier(&stopped);
    let kept = whole(&earlier);
    assert_eq!(kept.len(), 4);
    let mut directory = Directory::resume(&earlier, &kept, &manifest(CASE)).unwrap();
    for old in ["report.html", "report.html.41-7.part"] {
        assert!(!stopped.join(old).exists(), "it is not of these runs");
    }
    // If it is killed now, nothing is lost.
    assert_eq!(whole(&self::earlier(&stopped)).len(), 4);
    let mut experiment = Experiment::new(&manifest(CASE));
    for (variant, replication) in all() {
        let of = tables(CASE, variant, replication);
        let run = simulated(&of, variant, replication, "k");
        match earlier.run(VARIANTS[variant], replication) {
            Some(record) => {
                let loaded = earlier.load(record).unwrap();
                assert_eq!(format!("{:?}", loaded.run()), format!("{run:?}"));
                experiment.add_run(&loaded.run());
            }
            None => {
                directory.add_run(&run).unwrap();
                experiment.add_run(&run);
            }
        }
    }
    assert_eq!(directory.finish(&experiment, &ending()).unwrap(), expected);
    let read = |path: &Path| Directory::open(path).unwrap();
    assert_eq!(read(&stopped).manifest, read(&straight).manifest);
    assert_eq!(read(&stopped).summary, Some(expected));
    for file in ["report.html", "dictionary.md"] {
        let text = |path: &Path| fs::read_to_string(path.join(file)).unwrap();
        assert_eq!(text(&stopped), text(&straight), "{file}");
    }
}

#[test]
fn only_runs_of_this_experiment_that_ended_are_offered() {
    let folder = Folder::new("resume-offer");
    killed(&folder.0, &[0, 1], INTERRUPTED);
    assert!(earlier(&folder.0).is_empty());

    killed(&folder.0, &[0, 1], "time_limit");
    let mut fewer = manifest(CASE);
    fewer.replications = 1;
    fewer.variants.remove(1);
    let offered = Directory::earlier(&folder.0, &fewer).unwrap();
    assert!(offered.run("without-ci", 0).is_some() && offered.run("without-ci", 1).is_none());
    assert!(offered.run("ci-local", 0).is_none() && offered.run("ci", 0).is_none());
}

#[test]
fn what_is_not_kept_is_removed_and_nothing_else() {
    let folder = Folder::new("resume-clear");
    killed(&folder.0, &[0, 1], "flows_done");
    let place = |name: &str| folder.0.join("runs").join(name);
    // Of a run that was being written when the program was killed.
    let unfinished = |listed: &mut serde_json::Value| {
        listed["runs/ci/0"] = serde_json::json!(["flows.parquet", "drops.parquet"]);
    };
    change_list(&folder.0, unfinished);
    fs::create_dir_all(place("ci/0")).unwrap();
    fs::write(place("ci/0/flows.parquet"), "half").unwrap();
    fs::write(place("ci/0/drops.parquet.41-9.part"), "half").unwrap();
    // Of the user.
    let own = ["ci-local/0/plot.png", "ci-local/0/own.csv", "without-ci/1/own.parquet"];
    for name in own {
        fs::write(place(name), "mine").unwrap();
    }
    let earlier = earlier(&folder.0);
    let kept = [earlier.run("without-ci", 1).unwrap()];
    let directory = Directory::resume(&earlier, &kept, &manifest(CASE)).unwrap();
    let mut others: Vec<_> = own.iter().map(|name| format!("runs/{name}")).collect();
    others.sort();
    assert_eq!(directory.others(), others);
    assert!(own.iter().all(|name| place(name).exists()));
    assert!(place("without-ci/1/flows.parquet").exists());
    assert!(!place("without-ci/0").exists() && !place("ci").exists());
    assert_eq!(fs::read_dir(place("ci-local/0")).unwrap().count(), 2);
    let runs = Directory::open(&folder.0).unwrap().manifest.runs;
    assert!(runs.len() == 1 && runs[0].replication == 1);
}

/// Changes the list of files in a manifest.
fn change_list(path: &Path, change: impl Fn(&mut serde_json::Value)) {
    let file = path.join("manifest.json");
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut manifest["files"]);
    fs::write(&file, manifest.to_string()).unwrap();
}

/// A version before this one did not list its files.
#[test]
fn without_a_list_the_tables_of_runs_are_removed_and_nothing_else() {
    let folder = Folder::new("resume-unlisted");
    killed(&folder.0, &[0, 1], "flows_done");
    change_list(&folder.0, |listed| *listed = serde_json::Value::Null);
    let place = |name: &str| folder.0.join("runs").join(name);
    for name in ["mine", "without-ci/9", "ci/0"] {
        fs::create_dir_all(place(name)).unwrap();
    }
    // What that version left of a run when it was killed.
    fs::write(place("ci/0/flows.parquet"), "half").unwrap();
    fs::write(place("ci/0/flows.csv.41-9.part"), "half").unwrap();
    let own = [
        "mine/flows.parquet",
        "without-ci/9/flows.parquet",
        "without-ci/flows.parquet",
        "without-ci/0/joined.parquet",
        "without-ci/0/joined.csv.41-9.part",
    ];
    for name in own {
        fs::write(place(name), "mine").unwrap();
    }
    let earlier = earlier(&folder.0);
    let kept = [earlier.run("ci-local", 1).unwrap()];
    let directory = Directory::resume(&earlier, &kept, &manifest(CASE)).unwrap();
    let mut others: Vec<_> = own.iter().map(|name| format!("runs/{name}")).collect();
    others.sort();
    assert_eq!(directory.others(), others);
    assert!(!place("ci").exists() && !place("ci-local/0").exists());
    assert_eq!(fs::read_dir(place("without-ci/0")).unwrap().count(), 2);
    assert_eq!(whole(&self::earlier(&folder.0)).len(), 1);
}

#[test]
fn lists_that_lead_out_of_the_directory_are_refused() {
    let folder = Folder::new("resume-outside");
    let out = folder.0.join("out");
    fs::write(folder.0.join("victim"), "mine").unwrap();
    for (below, name) in [
        ("..", "victim"),
        ("runs/../..", "victim"),
        (".", "../victim"),
        ("runs", "../../victim"),
        (folder.0.to_str().unwrap(), "victim"),
        ("", "victim"),
        (".", ".."),
    ] {
        killed(&out, &[0], "flows_done");
        let before = fs::read(out.join("manifest.json")).unwrap();
        change_list(&out, |listed| listed[below] = serde_json::json!([name]));
        let expected = format!(
            "`{out}/manifest.json` lists `{below}/{name}`, which is no plain path below `{out}`, so nothing is \
             removed there; remove the results yourself, or choose another directory: `--out DIR`",
            out = out.display()
        );
        let said = Directory::create(&out, true, &manifest(CASE)).unwrap_err().to_string();
        assert_eq!(said, expected);
        let earlier = earlier(&out);
        let said = Directory::resume(&earlier, &[], &manifest(CASE)).unwrap_err().to_string();
        assert_eq!(said, expected);
        assert!(out.join("runs/without-ci/0/flows.parquet").exists());
        assert!(folder.0.join("victim").exists());
        fs::write(out.join("manifest.json"), before).unwrap();
    }
}

/// Whoever put a file where a table goes is told before anything runs, and also when it happens
/// meanwhile.
#[test]
fn files_of_others_are_not_replaced() {
    let folder = Folder::new("resume-in-the-way");
    killed(&folder.0, &[0], "flows_done");
    let table = folder.0.join("runs/ci/0/flows.parquet");
    fs::create_dir_all(table.parent().unwrap()).unwrap();
    fs::write(&table, "mine").unwrap();
    let expected = format!(
        "`{}` is in the way: floodway did not write it and does not replace it; move it elsewhere, \
         or choose another directory: `--out DIR`",
        table.display()
    );
    let resumed = Directory::resume(&earlier(&folder.0), &[], &manifest(CASE));
    assert_eq!(resumed.unwrap_err().to_string(), expected);
    let forced = Directory::create(&folder.0, true, &manifest(CASE));
    assert_eq!(forced.unwrap_err().to_string(), expected);
    let mine = fs::read(&table).unwrap();
    fs::remove_file(&table).unwrap();
    let mut directory = Directory::create(&folder.0, true, &manifest(CASE)).unwrap();
    fs::write(&table, &mine).unwrap();
    let of = tables(CASE, 2, 0);
    assert_eq!(directory.add_run(&run(&of, 2, 0)).unwrap_err().to_string(), expected);
    assert_eq!(fs::read(&table).unwrap(), b"mine");
}

/// Whatever happens to the files of a run, it is not taken for whole.
#[test]
fn a_run_that_changed_is_not_loaded() {
    let folder = Folder::new("resume-changed");
    killed(&folder.0, &[0], "flows_done");
    let earlier = earlier(&folder.0);
    let record = earlier.run("without-ci", 0).unwrap();
    let path = folder.0.join("runs/without-ci/0/counters.parquet");
    let good = fs::read(&path).unwrap();
    assert!(earlier.load(record).is_ok());
    let place = folder.0.join("runs/without-ci/0");
    let changed = |what: &str| {
        format!(
            "the run in `{}` is not as it was written: {what}; run the scenario again with \
             `--resume`",
            place.display()
        )
    };

    for byte in (0..good.len()).step_by(3) {
        let mut bad = good.clone();
        bad[byte] ^= 0x40;
        fs::write(&path, bad).unwrap();
        let error = earlier.load(record).unwrap_err().to_string();
        assert_eq!(error, changed("the checksum of table `counters` is another"));
    }
    // A table of the run that was written in its place, when the program died before it could
    // tell the manifest.
    let other = folder.0.join("runs/without-ci/1/counters.parquet");
    fs::copy(other, &path).unwrap();
    assert!(earlier.load(record).is_err());
    fs::remove_file(&path).unwrap();
    assert!(earlier.load(record).unwrap_err().to_string().contains("it does not exist"));
    fs::write(&path, &good).unwrap();
    assert!(earlier.load(record).is_ok());

    // A manifest with fewer tables than there were.
    let mut short = record.clone();
    short.tables.pop();
    let error = earlier.load(&short).unwrap_err().to_string();
    assert_eq!(error, changed("the fingerprint of its tables is another"));
    let error = earlier.load(&Record { tables: Vec::new(), ..short }).unwrap_err().to_string();
    assert_eq!(error, changed("the fingerprint of its tables is another"));
}

#[test]
fn time_is_counted_once_and_only_for_what_is_kept() {
    let folder = Folder::new("resume-time");
    let mut directory = Directory::create(&folder.0, false, &manifest(CASE)).unwrap();
    let mut experiment = Experiment::new(&manifest(CASE));
    // Each took 2.7 s, side by side 42.5 s in all.
    for variant in 0..3 {
        let of = tables(CASE, variant, 0);
        let run = simulated(&of, variant, 0, "k");
        directory.add_run(&run).unwrap();
        experiment.add_run(&run);
    }
    directory.finish(&experiment, &ending()).unwrap();
    let earlier = earlier(&folder.0);
    let kept = whole(&earlier);
    for (keep, expected) in [(3, 42.5), (2, 42.5 * 2.0 / 3.0), (0, 0.0)] {
        let directory = Directory::resume(&earlier, &kept[..keep], &manifest(CASE)).unwrap();
        let seconds = directory.wall_s() - expected;
        assert!((0.0..1.0).contains(&seconds), "{keep}: {seconds}");
        let told = Directory::open(&folder.0).unwrap().manifest.wall_s - expected;
        assert!((-1e-9..1.0).contains(&told), "{keep}: {told}");
    }
}

#[test]
fn forms_that_are_missing_are_written() {
    let folder = Folder::new("resume-forms");
    killed(&folder.0, &[0], "flows_done");
    let earlier = earlier(&folder.0);
    let kept = whole(&earlier);
    let mut both = manifest(CASE);
    both.formats.push("csv".to_string());
    let mut directory = Directory::resume(&earlier, &kept, &both).unwrap();
    let path = |end: &str| folder.0.join(format!("runs/without-ci/0/flows.{end}"));
    // What is there stays: it is not even written again.
    let written = fs::metadata(path("parquet")).unwrap().modified().unwrap();
    directory.complete_run(&earlier.load(kept[0]).unwrap().run()).unwrap();
    assert_eq!(fs::metadata(path("parquet")).unwrap().modified().unwrap(), written);
    let text = fs::read_to_string(path("csv")).unwrap();
    assert!(
        text.starts_with("variant,replication,workload,flow,") && text.lines().count() > 50,
        "{text}"
    );

    let csv = Manifest { formats: vec!["csv".to_string()], ..manifest(CASE) };
    assert_eq!(
        error(&folder.0, &csv),
        "only tables in the format `parquet` can be read back, so there is nothing to go on with; \
         add `--format parquet`, or leave `--resume` out"
    );
}

#[test]
fn results_of_others_are_refused_and_untouched() {
    let folder = Folder::new("resume-others");
    killed(&folder.0, &[0], "flows_done");
    let mut other = manifest(CASE);
    other.scenario.name = "mine".to_string();
    assert_eq!(
        error(&folder.0, &other),
        format!(
            "`{}` holds results of scenario `ci-lossless`, and `mine` cannot go on with them; \
             replace them with `--force`, or keep them and choose another directory: `--out DIR`",
            folder.0.display()
        )
    );
    assert_eq!(whole(&earlier(&folder.0)).len(), 2);

    let foreign = folder.0.join("runs");
    assert!(error(&foreign, &other).contains("is not empty and not a results directory"));
    let file = folder.0.join("manifest.json");
    assert!(error(&file, &other).ends_with("is a file; choose a directory: `--out DIR`"));
}

/// What another version wrote is known as results, but nothing in it can be used.
#[test]
fn results_of_another_schema_are_replaced() {
    let folder = Folder::new("resume-schema");
    killed(&folder.0, &[0], "flows_done");
    let file = folder.0.join("manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"schema\": 1,", "\"schema\": 99,")).unwrap();
    let earlier = earlier(&folder.0);
    assert!(earlier.is_empty());
    Directory::resume(&earlier, &[], &manifest(CASE)).unwrap();
    assert!(!folder.0.join("runs").exists());
    // A manifest from before runs had keys.
    let text = text.replace("\"key\"", "\"was\"").replace("\"tables\"", "\"were\"");
    fs::write(&file, text).unwrap();
    assert_eq!(self::earlier(&folder.0).run("without-ci", 0).unwrap().key, "");
}
