//! The results directory: what is in it, what it refuses, and what it says then.

use crate::synthetic::{Case, VARIANTS, ending, experiment, manifest, run, tables};
use floodway_model::Table;
use floodway_model::table::Values;
use floodway_report::{Directory, Ending, Manifest, Status};
use parquet::data_type::AsBytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs;
use std::path::{Path, PathBuf};

const CASE: Case = Case { replications: 2, flows: 300, unfinished: true, drops: true };

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("floodway-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn filled(path: &Path, manifest: &Manifest) -> floodway_report::Summary {
    let mut directory = Directory::create(path, false, manifest).unwrap();
    let experiment = experiment(CASE, |run| directory.add_run(run).unwrap());
    directory.finish(&experiment, &ending()).unwrap()
}

fn error(path: &Path, force: bool) -> String {
    Directory::create(path, force, &manifest(CASE)).unwrap_err().to_string()
}

#[test]
fn a_finished_experiment_reads_back() {
    let folder = Folder::new("whole");
    let out = folder.join("out");
    let summary = filled(&out, &manifest(CASE));
    let mut names: Vec<_> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["dictionary.md", "manifest.json", "report.html", "runs", "summary.json"]);

    let results = Directory::open(&out).unwrap();
    assert_eq!(results.summary.as_ref(), Some(&summary));
    let manifest = results.manifest;
    assert_eq!((manifest.status, manifest.note.as_str()), (Status::Complete, "every run finished"));
    assert_eq!(manifest.fingerprint.as_deref(), Some(summary.fingerprint.as_str()));
    assert_eq!(manifest.hops, 6 * 31_400_000 + 2 * 3_000);
    assert_eq!(manifest.runs.len(), 6);
    assert_eq!(manifest.runs[5].folder, "runs/ci/1");
    assert_eq!((manifest.runs[5].seed, manifest.runs[5].stop.as_str()), (8, "flows_done"));

    let json = summary.json();
    for key in ["fingerprint", "hops", "hops_per_second", "peak_rss_bytes", "variants"] {
        assert!(!json[key].is_null(), "{key}");
    }
    let mice = &json["variants"]["ci"]["fct"]["under_100KB"]["mean_ns"];
    assert!(mice["mean"].as_f64() > Some(0.0) && mice["low"].as_f64() < mice["mean"].as_f64());
    assert_eq!(mice["change"]["kind"], "ratio");
    assert!(mice["change"]["percent"].as_f64() < Some(-50.0));
    let dictionary = fs::read_to_string(out.join("dictionary.md")).unwrap();
    assert!(dictionary.contains("| `fct_ns` | real number | Its completion time; NaN if it did"));
}

#[test]
fn tables_read_back_from_parquet() {
    let folder = Folder::new("parquet");
    let out = folder.join("out");
    filled(&out, &manifest(CASE));
    for (variant, name) in VARIANTS.iter().enumerate() {
        for table in tables(CASE, variant, 1) {
            let path = out.join(format!("runs/{name}/1/{}.parquet", table.name));
            if table.rows() > 0 {
                same(&table, name, &path);
            } else {
                assert!(!path.exists(), "{}", path.display());
            }
        }
    }
}

fn same(table: &Table, variant: &str, path: &Path) {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let fields: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|field| field.name().to_string())
        .collect();
    let columns = table.columns.iter().map(|column| &*column.name);
    let expected: Vec<&str> = ["variant", "replication"].into_iter().chain(columns).collect();
    assert_eq!(fields, expected);
    let mut rows = 0;
    for (at, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let row = row.unwrap();
        let values: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(values[0], &Field::Str(variant.to_string()));
        assert_eq!(values[1], &Field::ULong(1));
        for (column, value) in table.columns.iter().zip(&values[2..]) {
            match (&column.values, value) {
                (Values::U64(of), Field::ULong(value)) => assert_eq!(of.at(at), *value),
                (Values::Text(of), Field::Str(value)) => assert_eq!(&of[at], value),
                (Values::F64(of), Field::Double(value)) => {
                    assert_eq!(of.at(at).to_bits().as_bytes(), value.to_bits().as_bytes());
                }
                (_, value) => panic!("{} came back as {value:?}", column.name),
            }
        }
        rows += 1;
    }
    assert_eq!(rows, table.rows(), "{}", path.display());
}

#[test]
fn largest_numbers_and_no_rows_survive() {
    let folder = Folder::new("extremes");
    let path = folder.join("a.parquet");
    for rows in [0, 1, 40_000] {
        let table = Table::new("a", "")
            .u64("many", "", vec![u64::MAX; rows])
            .f64("real", "", vec![f64::NAN; rows])
            .text("words", "", vec!["µ, \"x\"\n".to_string(); rows]);
        let sheet = floodway_report::format::Sheet { run: Some(("ci", 1)), table: &table };
        let mut file = fs::File::create(&path).unwrap();
        floodway_report::format::parquet::write(&sheet, &mut file).unwrap();
        same(&table, "ci", &path);
    }
}

#[test]
fn tables_are_also_csv_if_asked() {
    let folder = Folder::new("csv");
    let out = folder.join("out");
    let mut manifest = manifest(CASE);
    manifest.formats.push("csv".to_string());
    filled(&out, &manifest);
    let text = fs::read_to_string(out.join("runs/ci/0/counters.csv")).unwrap();
    assert!(text.starts_with("variant,replication,name,value,meaning\nci,0,pause_frames,"));
    assert!(out.join("runs/ci/0/counters.parquet").exists());

    manifest.formats.push("xlsx".to_string());
    assert_eq!(
        Directory::create(&folder.join("b"), false, &manifest).unwrap_err().to_string(),
        "there is no format `xlsx` for tables; choose from: parquet, csv"
    );
}

#[test]
fn a_killed_run_leaves_a_directory_that_says_so() {
    let folder = Folder::new("killed");
    let mut directory = Directory::create(&folder.0, false, &manifest(CASE)).unwrap();
    let of_run = tables(CASE, 0, 0);
    directory.add_run(&run(&of_run, 0, 0)).unwrap();
    drop(directory);
    let results = Directory::open(&folder.0).unwrap();
    assert_eq!(results.manifest.status, Status::Running);
    assert_eq!(
        results.manifest.note,
        "this run did not finish: either it is still under way, or it was killed; the runs listed \
         here are whole, and nothing else is"
    );
    assert_eq!((results.manifest.runs.len(), results.summary), (1, None));
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let folder = Folder::new("interrupted");
    let mut directory = Directory::create(&folder.0, false, &manifest(CASE)).unwrap();
    let mut experiment = floodway_report::Experiment::new(&manifest(CASE));
    for (variant, stop) in [(0, "flows_done"), (1, "interrupted")] {
        let of_run = tables(CASE, variant, 0);
        let run = floodway_report::Run { stop, ..run(&of_run, variant, 0) };
        directory.add_run(&run).unwrap();
        experiment.add_run(&run);
    }
    let ending = Ending { status: Status::Interrupted, ..ending() };
    let summary = directory.finish(&experiment, &ending).unwrap();
    assert_eq!(summary.variant("ci-local").replications, 0);
    assert!(
        summary.caveats.contains(
            &"ci-local replication 0 was interrupted at 12.0 ms of simulated time: its tables are \
          kept, but its numbers are not in the statistics."
                .to_string()
        )
    );
    assert!(folder.join("runs/ci-local/0/flows.parquet").exists());
    assert_eq!(Directory::open(&folder.0).unwrap().manifest.status, Status::Interrupted);
}

#[test]
fn results_are_replaced_only_by_force_and_nothing_else_ever() {
    let folder = Folder::new("force");
    let out = folder.join("out");
    filled(&out, &manifest(CASE));
    let place = out.display();
    assert_eq!(
        error(&out, false),
        format!(
            "`{place}` already holds results of scenario `ci-lossless` from 2026-03-14T09:26:53Z; \
             replace them with `--force`, go on with them with `--resume`, or keep them and choose \
             another directory: `--out DIR`"
        )
    );
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(out.join("runs/ci/0/plot.png"), "mine").unwrap();
    fs::write(out.join("runs/ci/0/own.csv"), "mine").unwrap();
    fs::create_dir_all(out.join("runs/mine")).unwrap();
    fs::write(out.join("runs/mine/a.parquet"), "mine").unwrap();
    Directory::create(&out, true, &manifest(CASE)).unwrap();
    assert!(!out.join("summary.json").exists() && !out.join("report.html").exists());
    assert!(!out.join("runs/without-ci").exists(), "old runs are gone");
    assert!(!out.join("runs/ci/0/flows.parquet").exists());
    assert!(out.join("notes.txt").exists() && out.join("runs/ci/0/plot.png").exists());
    assert!(out.join("runs/ci/0/own.csv").exists() && out.join("runs/mine/a.parquet").exists());

    let foreign = folder.join("foreign");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("manifest.json"), "{\"name\": \"an app\"}").unwrap();
    for force in [false, true] {
        assert_eq!(
            error(&foreign, force),
            format!(
                "`{}` is not empty and not a results directory, so nothing is written there; \
                 choose another directory: `--out DIR` (`--force` replaces results of floodway only)",
                foreign.display()
            )
        );
    }
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
}

#[test]
fn every_file_is_listed_before_it_is_written() {
    let folder = Folder::new("listed");
    let out = folder.join("out");
    let mut manifest = manifest(CASE);
    manifest.formats.push("csv".to_string());
    filled(&out, &manifest);
    let files = Directory::open(&out).unwrap().manifest.files.unwrap();
    let mut count = 0;
    let mut open = vec![out.clone()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() != "manifest.json" {
                let below = at.strip_prefix(&out).unwrap().to_str().unwrap();
                let names = &files[if below.is_empty() { "." } else { below }];
                assert!(names.contains(path.file_name().unwrap().to_str().unwrap()), "{path:?}");
                count += 1;
            }
        }
    }
    assert_eq!(count, files.values().map(|names| names.len()).sum::<usize>());

    // A table that cannot be written is on the list, because a part of it may be there.
    let mut directory = Directory::create(&out, true, &manifest).unwrap();
    let table = out.join("runs/ci/0/flows.parquet");
    let of_run = tables(CASE, 2, 0);
    fs::create_dir_all(out.join("runs/ci")).unwrap();
    fs::write(out.join("runs/ci/0"), "").unwrap();
    assert!(directory.add_run(&run(&of_run, 2, 0)).is_err() && !table.exists());
    drop(directory);
    let files = Directory::open(&out).unwrap().manifest.files.unwrap();
    assert!(files["runs/ci/0"].contains("flows.parquet"));
}

/// Nothing is removed through a symbolic link, and nothing is written.
#[test]
#[cfg(unix)]
fn symbolic_links_are_refused() {
    use std::os::unix::fs::symlink;
    for below in ["runs", "runs/ci", "runs/ci/1", "manifest.json"] {
        let folder = Folder::new("links");
        let (out, elsewhere) = (folder.join("out"), folder.join("elsewhere"));
        filled(&out, &manifest(CASE));
        let link = out.join(below);
        fs::rename(&link, &elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let before = snapshot(&folder.0);
        let expected = format!(
            "`{}` is a symbolic link, and results are neither written nor removed through one; \
             remove the link, or choose another directory: `--out DIR`",
            link.display()
        );
        assert_eq!(error(&out, true), expected);
        let earlier = Directory::earlier(&out, &manifest(CASE));
        assert_eq!(earlier.unwrap_err().to_string(), expected);
        assert_eq!(snapshot(&folder.0), before, "{below}");
    }

    // A link that is made meanwhile.
    let folder = Folder::new("links-later");
    let (out, elsewhere) = (folder.join("out"), folder.join("elsewhere"));
    let mut directory = Directory::create(&out, false, &manifest(CASE)).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, out.join("runs")).unwrap();
    let of_run = tables(CASE, 0, 0);
    let said = directory.add_run(&run(&of_run, 0, 0)).unwrap_err().to_string();
    assert!(said.contains("/out/runs` is a symbolic link, and results are "), "{said}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    // The directory itself may be a link, and links of others stay.
    let folder = Folder::new("links-fine");
    let (real, out) = (folder.join("real"), folder.join("out"));
    fs::create_dir_all(&real).unwrap();
    symlink(&real, &out).unwrap();
    filled(&out, &manifest(CASE));
    let own = out.join("runs/ci/0/flows.csv");
    symlink(folder.join("missing"), &own).unwrap();
    let directory = Directory::create(&out, true, &manifest(CASE)).unwrap();
    assert_eq!(directory.others(), ["runs/ci/0/flows.csv"]);
    assert!(own.is_symlink() && !real.join("runs/ci/1").exists());
}

/// All paths below a folder with the contents of files.
#[cfg(unix)]
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(snapshot(&path));
        }
        let content = fs::read(&path).unwrap_or_default();
        found.push((path, content));
    }
    found.sort();
    found
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = Folder::new("places");
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(
        error(&file, true),
        format!("`{}` is a file; choose a directory: `--out DIR`", file.display())
    );
    let below = file.join("out");
    assert_eq!(
        error(&below, false),
        format!(
            "cannot look into the results directory at `{}`: a part of this path is a file, not a \
             directory; rename that file, or use another directory: `--out DIR`",
            below.display()
        )
    );
    // What goes wrong later is named too: a file stands where the folder of a run must be.
    let out = folder.join("out");
    let mut directory = Directory::create(&out, false, &manifest(CASE)).unwrap();
    fs::write(out.join("runs"), "").unwrap();
    let of_run = tables(CASE, 0, 0);
    assert_eq!(
        directory.add_run(&run(&of_run, 0, 0)).unwrap_err().to_string(),
        format!(
            "cannot make the folder of a run at `{}`: a part of this path is a file, not a \
             directory; rename that file, or use another directory: `--out DIR`",
            out.join("runs/without-ci/0").display()
        )
    );
}

#[test]
fn names_that_cannot_be_folders_are_refused() {
    let folder = Folder::new("names");
    for name in ["../x", "a/b", "", ".hidden", "a b"] {
        let mut manifest = manifest(CASE);
        manifest.variants[1].name = name.to_string();
        assert_eq!(
            Directory::create(&folder.0, false, &manifest).unwrap_err().to_string(),
            format!(
                "the variant name `{name}` cannot be a folder's; use letters, digits and any of \
                 `-_.+=,@%` and do not begin with a dot"
            )
        );
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new("open");
    let open = || Directory::open(&folder.0).unwrap_err().to_string();
    let place = folder.0.display();
    assert_eq!(
        open(),
        format!(
            "`{place}` holds no results: there is no `manifest.json` in it; give the directory \
             that a run wrote"
        )
    );
    fs::write(folder.join("manifest.json"), "{").unwrap();
    assert_eq!(
        open(),
        format!(
            "cannot read `{place}/manifest.json`: EOF while parsing an object at line 1 column 1; \
             run the scenario again"
        )
    );
    fs::write(folder.join("manifest.json"), "{\"schema\": 99, \"floodway\": \"9.0.0\"}").unwrap();
    assert_eq!(
        open(),
        format!(
            "`{place}/manifest.json` has schema 99, and this floodway {} reads schema 1; use \
             floodway 9.0.0, which wrote it, or run the scenario again",
            env!("CARGO_PKG_VERSION")
        )
    );
}
