//! Runs that are cut short: what is there is kept and says so.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{self, command, endless, floodway, manifest, place, said, send, word};

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for (signal, threads) in [("-INT", "1"), ("-TERM", "4")] {
        let out = place(&format!("interrupted{signal}"));
        let child = endless(&out, threads);
        send(signal, &child);
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{}", said.err);
        let note = format!(
            "note: interrupted: 1 of 2 runs ended by themselves and are kept in {}; the same \
             command with `--resume` goes on from there\n",
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
    let mut child = endless(&out, "2");
    child.kill().unwrap();
    child.wait().unwrap();
    let manifest = manifest(&out).unwrap();
    assert_eq!(manifest["status"], "running");
    let note = manifest["note"].as_str().unwrap();
    assert!(note.starts_with("this run did not finish: "), "{note}");
    assert_eq!(manifest["runs"].as_array().unwrap().len(), 1);
    assert!(out.join("runs/short/0/flows.parquet").is_file());

    // The next run goes on with it or replaces it when told to, and not before.
    let words = ["run", "endless.toml", "--variant", "short", "-q", "--out", word(&out)];
    assert_eq!(floodway(&words).code, Some(2));
    assert_eq!(floodway(&[&words[..], &["--resume"]].concat()).code, Some(0));
    let resumed = common::manifest(&out).unwrap();
    assert_eq!((&resumed["status"], &resumed["runs"]), (&"complete".into(), &manifest["runs"]));
    assert_eq!(floodway(&[&words[..], &["--force"]].concat()).code, Some(0));
    let forced = common::manifest(&out).unwrap();
    assert_eq!(forced["status"], "complete");
    assert_ne!(forced["runs"][0]["wall_s"], manifest["runs"][0]["wall_s"], "it ran again");
}

/// Runs that were there are still there if the command that goes on with them does not come to
/// them.
#[test]
fn what_was_kept_survives_an_interruption() {
    let out = place("kept");
    let words = ["run", "endless.toml", "-q", "--replications", "3", "--out", word(&out)];
    assert_eq!(floodway(&[&words[..], &["--variant", "short"]].concat()).code, Some(0));
    let before = manifest(&out).unwrap();

    let mut command = command(&[&words[..], &["--resume", "--threads", "1"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while manifest(&out).unwrap()["status"] != "running" {
        sleep(Duration::from_millis(10));
    }
    send("-INT", &child);
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(said.err.starts_with("note: interrupted: 3 of 6 runs ended "), "{}", said.err);
    let after = manifest(&out).unwrap();
    let whole = |run: &&serde_json::Value| run["stop"] != "interrupted";
    let kept: Vec<_> = after["runs"].as_array().unwrap().iter().filter(whole).collect();
    assert_eq!(kept, before["runs"].as_array().unwrap().iter().collect::<Vec<_>>());
    let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["variants"]["short"]["replications"], 3);
}
