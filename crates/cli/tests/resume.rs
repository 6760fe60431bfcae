//! `floodway run --resume`: however an experiment was cut short, it ends as if it had not been.

use std::fs;
use std::path::Path;

use crate::common::results::assert_same;
use crate::common::{Said, floodway, manifest, place, word};
use serde_json::Value;

const TINY: [&str; 3] = ["run", "tiny.toml", "--out"];

/// The runs of the manifest without the time that they took.
fn runs(out: &Path) -> Vec<Value> {
    let mut runs = manifest(out).unwrap()["runs"].as_array().unwrap().clone();
    runs.iter_mut().for_each(|run| drop(run.as_object_mut().unwrap().remove("wall_s").unwrap()));
    runs
}

fn run(out: &Path, more: &[&str]) -> Said {
    let said = floodway(&[&TINY[..], &[word(out)], more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    said
}

#[test]
fn a_recorded_run_is_known_again_and_has_the_fingerprint_of_one_that_is_not() {
    let (out, without) = (place("recorded"), place("recorded-without"));
    run(&without, &[]);
    let record = ["--set", "record=5", "--resume"];
    run(&out, &record);
    for (replication, recorded) in [("0", true), ("1", false)] {
        let folder = out.join("runs/ci").join(replication);
        for table in ["record", "samples", "backlogs", "pause_intervals"] {
            assert_eq!(folder.join(format!("{table}.parquet")).is_file(), recorded, "{table}");
        }
    }
    let again = run(&out, &record);
    assert_eq!(again.err, "note: 4 of 4 runs are there already\n");
    let prints = |out: &Path| -> Vec<Value> {
        runs(out).iter().map(|run| run["fingerprint"].clone()).collect()
    };
    assert_eq!(prints(&out), prints(&without));
    // Another record is another simulation of the first replication, and of no other.
    let other = run(&out, &["--set", "record=6", "--resume"]);
    assert_eq!(other.err, "note: 2 of 4 runs are there already\n");
    assert_eq!(prints(&out), prints(&without));
}

#[test]
fn runs_that_are_there_are_not_repeated() {
    let (out, straight) = (place("resume"), place("resume-straight"));
    run(&straight, &[]);
    // The first time there is nothing to go on with, and nothing to say about it.
    assert_eq!(run(&out, &["--resume"]).err, "");
    let before = manifest(&out).unwrap();

    // One run is lost, another one damaged.
    fs::remove_dir_all(out.join("runs/ci/0")).unwrap();
    fs::write(out.join("runs/without-ci/1/flows.parquet"), "half").unwrap();
    let said = run(&out, &["--resume", "-v", "--threads", "1"]);
    let lines: Vec<_> = said.err.lines().skip_while(|line| !line.starts_with("note")).collect();
    assert_eq!(lines[0], "note: 2 of 4 runs are there already");
    let begin = |line: &str| line.split_once(": ").unwrap().0.to_owned();
    let order: Vec<_> = lines[1..].iter().map(|line| begin(line)).collect();
    assert_eq!(order, ["without-ci 0", "ci 0", "without-ci 1", "ci 1"]);
    assert!(lines[1].starts_with("without-ci 0: there already, flows_done, fingerprint "));
    assert!(lines[2].contains(" packet-hops a second, flows_done, fingerprint "));
    assert!(said.out.contains("\n2 runs of "), "only these cost something: {}", said.out);
    assert_same(&out, &straight);

    // What was there is as it was, even the time that it took.
    let after = manifest(&out).unwrap();
    for kept in [0, 3] {
        assert_eq!(after["runs"][kept], before["runs"][kept]);
    }
    assert!(after["wall_s"].as_f64() > Some(0.0));

    let said = run(&out, &["--resume", "--json"]);
    assert_eq!(said.err, "note: 4 of 4 runs are there already\n");
    assert_eq!(run(&out, &["--resume", "-q"]).err, "");
    assert_same(&out, &straight);
}

#[test]
fn only_what_would_come_out_the_same_is_kept() {
    let out = place("resume-changed");
    let straight = |name: &str, more: &[&str]| {
        let path = place(name);
        run(&path, more);
        path
    };
    run(&out, &[]);
    let there = |more: &[&str]| run(&out, &[&["--resume"], more].concat()).err;

    let more = ["--replications", "3"];
    assert_eq!(there(&more), "note: 4 of 6 runs are there already\n");
    assert_same(&out, &straight("resume-more", &more));

    // A setting that one variant overrides matters to the other one only.
    let of_one = ["--set", "variants.ci.switch.queue.size=900KB"];
    assert_eq!(there(&of_one), "note: 2 of 4 runs are there already\n");
    assert_same(&out, &straight("resume-one", &of_one));
    assert!(!out.join("runs/ci/2").exists(), "the third replication is of another experiment");

    assert_eq!(there(&["--seed", "7"]), "note: 0 of 4 runs are there already\n");
    assert_same(&out, &straight("resume-seed", &["--seed", "7"]));

    let quick = ["--quick", "--variant", "ci"];
    assert_eq!(there(&quick), "note: 0 of 1 runs are there already\n");
    assert!(!out.join("runs/without-ci").exists());

    let both = ["--quick", "--variant", "ci", "--format", "csv", "--format", "parquet"];
    assert_eq!(there(&both), "note: 1 of 1 runs are there already\n");
    assert!(out.join("runs/ci/0/flows.csv").is_file());
}

#[test]
fn words_that_make_no_sense_together_are_refused() {
    let out = place("resume-words");
    let words = |more: &[&'static str]| floodway(&[&TINY[..], &[word(&out)], more].concat());
    let said = words(&["--resume", "--force"]);
    assert_eq!(said.code, Some(2));
    let cause = "the argument '--resume' cannot be used with '--force'";
    assert!(said.err.contains(cause), "{}", said.err);
    let said = words(&["--resume", "--format", "csv"]);
    let cause = "error: only tables in the format `parquet` can be read back, ";
    assert!(said.err.starts_with(cause), "{}", said.err);
    assert_eq!((said.code, out.exists()), (Some(2), false));
}
