//! A results directory belongs to one command at a time, and only floodway's own files in it are
//! ever replaced or removed.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::common::{self, Said, endless, floodway, manifest, place, word};
use floodway_report::Lock;

const OWN: [&str; 4] =
    ["runs/ci/0/joined.parquet", "runs/ci/0/my-analysis.csv", "runs/mine/joined.parquet", "a.csv"];

/// Runs a scenario into a directory.
fn run(out: &Path, more: &[&str]) -> Said {
    floodway(&[&["run", "tiny.toml", "--quick", "--out", word(out)], more].concat())
}

#[test]
fn files_of_others_stay_and_are_mentioned() {
    for option in ["--force", "--resume"] {
        let out = place(&format!("own{option}"));
        assert_eq!(run(&out, &["-q", "--format", "parquet", "--format", "csv"]).code, Some(0));
        fs::create_dir_all(out.join("runs/mine")).unwrap();
        for name in OWN {
            fs::write(out.join(name), "mine").unwrap();
        }
        let seed = ["--seed", "2"];
        let said = run(&out, &[&[option][..], &seed].concat());
        assert_eq!(said.code, Some(0), "{}", said.err);
        let note = format!(
            "note: 3 files among the runs were not written by floodway and stay where they are, the \
             first is `{}`\n",
            out.join(OWN[0]).display()
        );
        assert!(said.err.contains(&note), "{}", said.err);
        for name in OWN {
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine", "{name}");
        }
        // Those of floodway are gone: this run has written no text.
        assert!(!out.join("runs/ci/0/flows.csv").exists());
        assert!(out.join("runs/ci/0/flows.parquet").exists());
        for name in &OWN[1..3] {
            fs::remove_file(out.join(name)).unwrap();
        }
        let said = run(&out, &[&[option][..], &seed].concat());
        let note = format!(
            "note: `{}` was not written by floodway and stays where it is\n",
            out.join(OWN[0]).display()
        );
        assert!(said.err.contains(&note), "{}", said.err);
        assert_eq!(manifest(&out).unwrap()["status"], "complete");
    }
}

#[test]
fn symbolic_links_are_not_followed() {
    for option in ["--force", "--resume"] {
        let (host, victim) = (place(&format!("host{option}")), place(&format!("victim{option}")));
        fs::create_dir_all(victim.join("deep")).unwrap();
        fs::write(victim.join("model.parquet"), "mine").unwrap();
        fs::write(victim.join("deep/data.csv"), "mine").unwrap();
        fs::create_dir_all(&host).unwrap();
        let foreign = r#"{"floodway":"0.1.0","schema":1,"scenario":{"name":"tiny"}}"#;
        fs::write(host.join("manifest.json"), foreign).unwrap();
        symlink(&victim, host.join("runs")).unwrap();
        let refused = |link: &str| {
            let said = run(&host, &[option]);
            let error = format!(
                "error: `{}` is a symbolic link, and results are neither written nor removed \
                 through one; remove the link, or choose another directory: `--out DIR`\n",
                host.join(link).display()
            );
            assert_eq!((said.code, said.err), (Some(2), error));
            assert_eq!(fs::read_dir(&victim).unwrap().count(), 2);
            assert!(victim.join("model.parquet").exists() && victim.join("deep/data.csv").exists());
        };
        refused("runs");
        fs::remove_file(host.join("runs")).unwrap();
        fs::create_dir_all(host.join("runs/ci")).unwrap();
        symlink(&victim, host.join("runs/ci/0")).unwrap();
        refused("runs/ci/0");
        fs::remove_file(host.join("runs/ci/0")).unwrap();
        assert_eq!(run(&host, &[option, "-q"]).code, Some(0));
    }
}

#[test]
fn the_second_command_in_a_directory_is_refused() {
    let out = place("locked");
    let mut child = endless(&out, "1");
    let before = fs::read(out.join("manifest.json")).unwrap();
    let lock = fs::read_to_string(out.join(".floodway.lock")).unwrap();
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let error = format!(
        "error: `{out}` is in use by another floodway command: process {}, `floodway run endless.toml \
         --threads 1 --out {out}`, since {}; wait until it has ended, or choose another directory: \
         `--out DIR`\n",
        child.id(),
        lock["started"].as_str().unwrap(),
        out = out.display()
    );
    for option in [&[][..], &["--force"], &["--resume"]] {
        let words = ["run", "endless.toml", "--variant", "short", "-q", "--out", word(&out)];
        let said = floodway(&[&words[..], option].concat());
        assert_eq!((said.code, said.out.as_str(), &said.err), (Some(2), "", &error), "{option:?}");
    }
    assert_eq!(fs::read(out.join("manifest.json")).unwrap(), before);
    assert!(out.join("runs/short/0/flows.parquet").exists());

    // A command that is killed leaves its file, but not its lock.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(out.join(".floodway.lock").exists());
    let words = ["run", "endless.toml", "--variant", "short", "-q", "--resume", "--out"];
    assert_eq!(floodway(&[&words[..], &[word(&out)]].concat()).code, Some(0));
    assert!(!out.join(".floodway.lock").exists());
}

#[test]
fn sweeps_and_studies_lock_their_directories_too() {
    let (swept, cache) = (place("locked-sweep"), place("locked-cache"));
    let sweep =
        ["sweep", "swept.toml", "-q", "--replications", "1", "--variant", "deep", "--cache"];
    let sweep = [&sweep[..], &[word(&cache), "--out", word(&swept)]].concat();
    assert_eq!(floodway(&sweep).code, Some(0));
    assert!(!swept.join(".floodway.lock").exists());
    let studied = place("locked-study");
    fs::create_dir_all(&studied).unwrap();
    fs::write(studied.join("study.json"), r#"{"study":"ci"}"#).unwrap();
    let study = ["study", "ci", "--quick", "-q", "--out", word(&studied)];
    for (out, words) in [(&swept, &sweep[..]), (&studied, &study)] {
        let count = fs::read_dir(out).unwrap().count();
        let lock = Lock::take(out, &["floodway".to_owned(), "bench".to_owned()]).unwrap();
        let said = floodway(words);
        let begin = format!(
            "error: `{}` is in use by another floodway command: process {}, `floodway bench`, since ",
            out.display(),
            std::process::id()
        );
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.starts_with(&begin), "{}", said.err);
        assert_eq!(fs::read_dir(out).unwrap().count(), count + 1, "the lock");
        drop(lock);
    }

    // What a killed sweep has left in the cache is removed by the next one.
    let part = cache.join("part-41-0-0123456789abcdef");
    fs::create_dir_all(&part).unwrap();
    fs::write(part.join(".lock"), "").unwrap();
    let hour = Duration::from_secs(3_600);
    File::open(&part).unwrap().set_modified(SystemTime::now() - hour).unwrap();
    assert_eq!(floodway(&sweep).code, Some(0));
    assert!(!part.exists());
}

/// Makes something that is no regular file at a path.
fn make(kind: &str, path: &Path, elsewhere: &Path) {
    match kind {
        "link" => symlink(elsewhere, path).unwrap(),
        "folder" => fs::create_dir(path).unwrap(),
        _ => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
    }
}

/// Removes it.
fn unmake(kind: &str, path: &Path) {
    match kind {
        "folder" => fs::remove_dir(path).unwrap(),
        _ => fs::remove_file(path).unwrap(),
    }
}

/// Expects an error and nothing else, with the exit status of a refusal.
fn refused(said: &Said, error: &str) {
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(2), "", error));
}

fn in_the_way(path: &Path) -> String {
    format!(
        "error: `{}` is in the way: floodway did not write it and does not replace it; move it \
         elsewhere, or choose another directory: `--out DIR`\n",
        path.display()
    )
}

fn is_a_link(path: &Path) -> String {
    format!(
        "error: `{}` is a symbolic link, and results are neither written nor removed through one; \
         remove the link, or choose another directory: `--out DIR`\n",
        path.display()
    )
}

#[test]
fn a_sweep_replaces_only_what_it_lists() {
    let folder = place("own-sweep");
    let [out, cache, elsewhere] = ["out", "cache", "elsewhere"].map(|name| folder.join(name));
    let words =
        ["sweep", "swept.toml", "-q", "--replications", "1", "--variant", "deep", "--cache"];
    let sweep = || floodway(&[&words[..], &[word(&cache), "--out", word(&out)]].concat());
    assert_eq!(sweep().code, Some(0));
    // What is no file is not replaced, nor is anything written through it.
    for (kind, name) in [("link", "report.html"), ("folder", "points.csv"), ("fifo", "runs.csv")] {
        let path = out.join(name);
        fs::remove_file(&path).unwrap();
        make(kind, &path, &elsewhere);
        let before = fs::read(out.join("sweep.json")).unwrap();
        refused(&sweep(), &in_the_way(&path));
        assert_eq!(fs::read(out.join("sweep.json")).unwrap(), before);
        assert!(out.join("points_long.csv").exists() && !elsewhere.exists());
        unmake(kind, &path);
        assert_eq!(sweep().code, Some(0));
    }
    // A file that somebody put where an interrupted sweep had written nothing.
    let marker = r#"{"scenario":"swept","files":{}}"#;
    fs::write(out.join("sweep.json"), marker).unwrap();
    fs::remove_file(out.join("report.html")).unwrap();
    for name in ["points.csv", "points.parquet"] {
        fs::write(out.join(name), "mine").unwrap();
    }
    for name in ["points_long.csv", "points_long.parquet", "runs.csv", "runs.parquet"] {
        fs::remove_file(out.join(name)).unwrap();
    }
    let first = ["points.csv", "points.parquet"].map(|name| in_the_way(&out.join(name)));
    let said = sweep();
    assert!(first.contains(&said.err), "{}", said.err);
    assert_eq!(fs::read_to_string(out.join("sweep.json")).unwrap(), marker);
    for name in ["points.csv", "points.parquet"] {
        assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
        fs::remove_file(out.join(name)).unwrap();
    }
    // A list that leads elsewhere, as text and in number.
    fs::write(&elsewhere, "mine").unwrap();
    let many: Vec<_> = (0..20_000).map(|number| format!("file-{number}")).collect();
    for (folder, name) in [(".", "../elsewhere"), ("..", "elsewhere"), ("/", "x"), ("", "x")] {
        let marker = serde_json::json!({
            "scenario": "swept", "files": { "many": many, folder: [name] }
        });
        fs::write(out.join("sweep.json"), marker.to_string()).unwrap();
        let error = format!(
            "error: `{out}/sweep.json` lists `{folder}/{name}`, which is no plain path below `{out}`, so \
             nothing is removed there; remove the results yourself, or choose another directory: \
             `--out DIR`\n",
            out = out.display()
        );
        refused(&sweep(), &error);
    }
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    // A file of somebody else that happens to have its name, and the same scenario.
    let other = r#"{"scenario":"swept","notes":"mine"}"#;
    fs::write(out.join("sweep.json"), other).unwrap();
    fs::write(out.join("report.html"), "mine").unwrap();
    let foreign = format!(
        "error: `{}` is not empty and does not hold a sweep of `swept`, so nothing is written \
         there; choose another directory: `--out DIR`\n",
        out.display()
    );
    refused(&sweep(), &foreign);
    assert_eq!(fs::read_to_string(out.join("sweep.json")).unwrap(), other);
    assert_eq!(fs::read_to_string(out.join("report.html")).unwrap(), "mine");
    fs::remove_file(out.join("report.html")).unwrap();
    // The marker is not written through a link either, and nothing is read from what has no end.
    for kind in ["link", "fifo"] {
        fs::remove_file(out.join("sweep.json")).unwrap();
        fs::write(&elsewhere, marker).unwrap();
        make(kind, &out.join("sweep.json"), &elsewhere);
        fs::write(out.join("thesis.tex"), "mine").unwrap();
        let error = match kind {
            "link" => is_a_link(&out.join("sweep.json")),
            _ => foreign.clone(),
        };
        refused(&sweep(), &error);
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), marker);
    }
    // What a sweep leaves that is killed before it has written anything has no owner.
    fs::remove_dir_all(&out).unwrap();
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("sweep.json.41-0.part"), "{").unwrap();
    fs::write(out.join(".floodway.lock"), "{").unwrap();
    assert_eq!(sweep().code, Some(0));
    assert!(!out.join("sweep.json.41-0.part").exists());
    // The directory itself may be a link, and so may the cache.
    for of in [&out, &cache] {
        let real = of.with_extension("real");
        fs::rename(of, &real).unwrap();
        symlink(&real, of).unwrap();
    }
    assert_eq!(sweep().code, Some(0));
    assert!(out.is_symlink() && cache.is_symlink());
}

#[test]
fn a_study_replaces_only_what_it_lists() {
    let (out, elsewhere) = (place("own-study"), place("own-study-elsewhere"));
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(out.join("text")).unwrap();
    let study = || floodway(&common::tiny_study(&out));
    let marker = r#"{"study":"ci","level":"quick","settings":null,"files":{}}"#;
    fs::write(out.join("study.json"), marker).unwrap();
    for name in ["report.html", "text/README.md"] {
        fs::write(out.join(name), "mine").unwrap();
        refused(&study(), &in_the_way(&out.join(name)));
        assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
        fs::remove_file(out.join(name)).unwrap();
    }
    fs::remove_dir(out.join("text")).unwrap();
    for name in ["text", "latency"] {
        symlink(&elsewhere, out.join(name)).unwrap();
        refused(&study(), &is_a_link(&out.join(name)));
        fs::remove_file(out.join(name)).unwrap();
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    // A file of somebody else that happens to have its name, with a page beside it.
    let other = r#"{"study":"ci","notes":"mine"}"#;
    fs::write(out.join("study.json"), other).unwrap();
    fs::write(out.join("report.html"), "mine").unwrap();
    assert_eq!(study().code, Some(2));
    assert_eq!(fs::read_to_string(out.join("study.json")).unwrap(), other);
    assert_eq!(fs::read_to_string(out.join("report.html")).unwrap(), "mine");
    fs::remove_file(out.join("report.html")).unwrap();
    refused(&study(), &in_the_way(&out.join("study.json")));
    fs::write(out.join("study.json"), marker).unwrap();
    assert_eq!(fs::read_to_string(out.join("study.json")).unwrap(), marker);
}

#[test]
fn what_is_no_file_in_results_is_not_read() {
    let out = place("own-fifo");
    assert_eq!(run(&out, &["-q"]).code, Some(0));
    // A run whose table is gone is made again, unless something else is there.
    let table = out.join("runs/ci/0/flows.parquet");
    for kind in ["fifo", "link", "folder"] {
        fs::remove_file(&table).unwrap();
        make(kind, &table, &out.join("elsewhere"));
        let said = run(&out, &["-q", "--resume"]);
        // A folder is found only when the run has been made again, and that is no refusal.
        let code = if kind == "folder" { 1 } else { 2 };
        assert_eq!((said.code, said.err), (Some(code), in_the_way(&table)), "{kind}");
        assert!(!out.join("elsewhere").exists());
        unmake(kind, &table);
        assert_eq!(run(&out, &["-q", "--resume"]).code, Some(0));
    }
    let manifest = out.join("manifest.json");
    fs::remove_file(&manifest).unwrap();
    make("fifo", &manifest, &out);
    let said = run(&out, &["-q", "--resume"]);
    let unreadable = |reason: &str| {
        format!(
            "error: cannot read `{}`: {reason}; so it is not known whose results these are, and nothing is \
             written there. Repair the file, or choose another directory: `--out DIR`\n",
            manifest.display()
        )
    };
    let error = unreadable("it is a FIFO (a named pipe), not a regular file");
    assert_eq!((said.code, said.err), (Some(2), error));
    fs::remove_file(&manifest).unwrap();
    fs::write(&manifest, "{\"floodway\": \"0.1.0\",").unwrap();
    for option in ["--resume", "--force"] {
        let said = run(&out, &["-q", option]);
        let error = unreadable("EOF while parsing a value at line 1 column 21");
        assert_eq!((said.code, said.err), (Some(2), error), "{option}");
    }
}

#[test]
fn files_that_are_named_are_not_written_through_links() {
    let folder = place("own-named");
    fs::create_dir_all(&folder).unwrap();
    let elsewhere = folder.join("elsewhere");
    let named = |kind: &str, words: &[&str], path: &Path| {
        make(kind, path, &elsewhere);
        let what = match kind {
            "link" => "a symbolic link, and nothing is written through one",
            _ => "no regular file",
        };
        let error = format!(
            "error: {} is {what}; remove it, or choose another place with --out\n",
            path.display()
        );
        let said = floodway(words);
        assert!(said.err.ends_with(&error), "{}", said.err);
        assert_eq!((said.code, said.out.as_str(), elsewhere.exists()), (Some(2), "", false));
        unmake(kind, path);
    };
    for kind in ["link", "fifo"] {
        let file = folder.join("mine.toml");
        named(kind, &["new", "mine", "--out", word(&file)], &file);
        named(kind, &["new", "mine", "--force", "--out", word(&file)], &file);
        let imported = folder.join("imported");
        fs::create_dir_all(&imported).unwrap();
        let config = "../../../../scenarios/peers/hpcc-case-b/config.txt";
        let import = ["import", "hpcc", config, "--force", "--out", word(&imported)];
        named(kind, &import, &imported.join("scenario.toml"));
        let page = folder.join("floodway-run.1");
        named(kind, &["man", "--out", word(&folder)], &page);
    }
    // A page of the manual is replaced by another one, and by nothing else.
    let page = folder.join("floodway-run.1");
    fs::write(&page, "mine").unwrap();
    let error = format!(
        "error: {} is there already and no page of this manual; move it elsewhere, or choose \
         another directory with --out\n",
        page.display()
    );
    let said = floodway(&["man", "--out", word(&folder)]);
    assert_eq!((said.code, said.err), (Some(2), error));
    assert!(!folder.join("floodway.1").exists());
    fs::remove_file(&page).unwrap();
    for _ in 0..2 {
        assert_eq!(floodway(&["man", "--out", word(&folder)]).code, Some(0));
    }
}

/// No more of it is read than such a page may have.
#[test]
fn a_large_file_is_no_page_of_the_manual() {
    let out = place("own-man");
    fs::create_dir_all(&out).unwrap();
    let page = out.join("floodway.1");
    let text = ".TH floodway\n".to_owned() + &"x".repeat(1 << 20);
    fs::write(&page, &text).unwrap();
    let error = format!(
        "error: {} is there already and no page of this manual; move it elsewhere, or choose another \
         directory with --out\n",
        page.display()
    );
    refused(&floodway(&["man", "--out", word(&out)]), &error);
    assert_eq!(fs::read_to_string(&page).unwrap(), text);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}
