//! A results directory belongs to one command at a time, and only floodway's own files in it are
//! ever replaced or removed.

#![cfg(unix)]

mod common;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use common::{Said, command, floodway, manifest, place, word};
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
            assert_eq!((said.code, said.err), (Some(1), error));
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

/// Starts a command that does not end, and waits until its first run is kept.
fn started(out: &Path) -> Child {
    let words = ["run", "endless.toml", "--threads", "1", "--out", word(out)];
    let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let is_there = || manifest(out).is_some_and(|of| !of["runs"].as_array().unwrap().is_empty());
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run has ended");
        sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn the_second_command_in_a_directory_is_refused() {
    let out = place("locked");
    let mut child = started(&out);
    let before = fs::read(out.join("manifest.json")).unwrap();
    let lock = fs::read_to_string(out.join(".floodway.lock")).unwrap();
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let error = format!(
        "error: `{out}` is in use by another floodway command: process {}, `{} run endless.toml \
         --threads 1 --out {out}`, since {}; wait until it has ended, or choose another directory: \
         `--out DIR`\n",
        child.id(),
        env!("CARGO_BIN_EXE_floodway"),
        lock["started"].as_str().unwrap(),
        out = out.display()
    );
    for option in [&[][..], &["--force"], &["--resume"]] {
        let words = ["run", "endless.toml", "--variant", "short", "-q", "--out", word(&out)];
        let said = floodway(&[&words[..], option].concat());
        assert_eq!((said.code, said.out.as_str(), &said.err), (Some(1), "", &error), "{option:?}");
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
        assert_eq!(said.code, Some(1), "{}", said.err);
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
