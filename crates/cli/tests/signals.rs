//! Runs that are cut short: what is there is kept and says so.

#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{command, floodway, manifest, place, said, word};

/// Starts the scenario that does not end, and waits until its first run is kept.
fn started(out: &Path, threads: &str) -> Child {
    let words = ["run", "endless.toml", "--threads", threads, "--out", word(out)];
    let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let first_is_there = || {
        let manifest = manifest(out);
        manifest.is_some_and(|manifest| !manifest["runs"].as_array().unwrap().is_empty())
    };
    while !first_is_there() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run has ended");
        sleep(Duration::from_millis(10));
    }
    child
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for (signal, threads) in [("-INT", "1"), ("-TERM", "4")] {
        let out = place(&format!("interrupted{signal}"));
        let child = started(&out, threads);
        send(signal, &child);
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{}", said.err);
        let note = format!(
            "note: interrupted: 1 of 2 runs ended by themselves; what there is is kept in {}, and \
             the same command with `--force` starts again\n",
            out.display()
        );
        assert!(said.err.ends_with(&note), "{}", said.err);
        assert!(said.out.contains("long: 0 of 1 replications are there."), "{}", said.out);

        let manifest = manifest(&out).unwrap();
        assert_eq!(manifest["status"], "interrupted");
        assert!(manifest["note"].as_str().unwrap().starts_with("this run was interrupted: "));
        assert_eq!(manifest["runs"][0]["stop"], "time_limit");
        assert!(out.join("report.html").is_file() && out.join("summary.json").is_file());
    }
}

#[test]
fn a_killed_run_leaves_a_manifest_that_says_so() {
    let out = place("killed");
    let mut child = started(&out, "2");
    child.kill().unwrap();
    child.wait().unwrap();
    let manifest = manifest(&out).unwrap();
    assert_eq!(manifest["status"], "running");
    let note = manifest["note"].as_str().unwrap();
    assert!(note.starts_with("this run did not finish: "), "{note}");
    assert_eq!(manifest["runs"].as_array().unwrap().len(), 1);
    assert!(out.join("runs/short/0/flows.parquet").is_file());

    // The next run replaces it when told to, and not before.
    let words = ["run", "endless.toml", "--variant", "short", "-q", "--out", word(&out)];
    assert_eq!(floodway(&words).code, Some(1));
    assert_eq!(floodway(&[&words[..], &["--force"]].concat()).code, Some(0));
    assert_eq!(common::manifest(&out).unwrap()["status"], "complete");
}
