//! What `floodway run` leaves behind and says about it.

use std::fs;
use std::path::Path;

use crate::common::{floodway, json, manifest, place, word};

#[test]
fn a_run_prints_its_answer_and_leaves_its_results() {
    let out = place("complete");
    let said = floodway(&["run", "tiny.toml", "--out", word(&out)]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.starts_with("ci vs. without-ci: "), "{}", said.out);
    let last: Vec<_> = said.out.lines().rev().take(2).collect();
    let shown = out.display();
    assert_eq!(last[0], format!("results in {shown}; open {shown}/report.html in a browser"));
    assert!(
        last[1].starts_with("4 runs of ") && last[1].ends_with(" packet-hops a second and core")
    );

    let manifest = manifest(&out).unwrap();
    assert_eq!((&manifest["status"], &manifest["seed"]), (&"complete".into(), &1.into()));
    assert_eq!(manifest["runs"].as_array().unwrap().len(), 4);
    for file in ["summary.json", "report.html", "dictionary.md", "runs/ci/1/flows.parquet"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let fingerprint = manifest["fingerprint"].as_str().unwrap();
    assert!(said.out.contains(fingerprint), "{}", said.out);
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads: &str, more: &[&str]| {
        let out = place(&format!("threads-{threads}-{}", more.len()));
        let words = ["run", "tiny.toml", "--json", "--threads", threads, "--out", word(&out)];
        let mut value = json(&[&words, more].concat());
        for key in ["fingerprint", "hops", "hops_per_second", "peak_rss_bytes", "variants"] {
            assert!(!value[key].is_null(), "{key}");
        }
        for cost in ["hops_per_second", "peak_rss_bytes", "wall_s"] {
            value.as_object_mut().unwrap().remove(cost);
        }
        value
    };
    // Runs side by side, and more threads than runs.
    let alone = run("1", &[]);
    assert_eq!(alone, run("2", &[]));
    assert_eq!(alone, run("9", &[]));
    // Several threads in one run.
    let one = ["--variant", "ci", "--quick"];
    assert_eq!(run("1", &one), run("3", &one));
}

#[test]
fn options_reach_the_runs() {
    let out = place("options");
    let words = [
        &["run", "tiny.toml", "--out", word(&out), "--quick", "--variant", "ci", "--seed", "7"][..],
        &["--replications", "3", "--set", "arrivals=50us", "--format", "csv", "-q"],
    ];
    let said = floodway(&words.concat());
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    let manifest = manifest(&out).unwrap();
    assert_eq!((&manifest["seed"], &manifest["replications"]), (&7.into(), &3.into()));
    let overrides = serde_json::json!(["arrivals=50us", "replications=3", "seed=7"]);
    assert_eq!(manifest["scenario"]["overrides"], overrides);
    let runs = manifest["runs"].as_array().unwrap();
    assert!(runs.len() == 3 && runs.iter().all(|run| run["variant"] == "ci"));
    let flows = fs::read_to_string(out.join("runs/ci/2/flows.csv")).unwrap();
    assert!(flows.starts_with("variant,replication,flow,"), "{flows}");
    assert!(!out.join("runs/without-ci").exists());
}

#[test]
fn verbose_tells_of_every_run() {
    let out = place("verbose");
    let said = floodway(&["run", "tiny.toml", "--out", word(&out), "--quick", "-v"]);
    assert_eq!(said.code, Some(0));
    assert!(said.err.starts_with("tiny: 2 variants x 1 replication = 2 runs\n"), "{}", said.err);
    let lines: Vec<_> = said.err.lines().rev().take(2).collect();
    assert!(lines[1].starts_with("without-ci 0: ") && lines[0].starts_with("ci 0: "));
    assert!(lines[0].contains(" packet-hops a second, flows_done, fingerprint "), "{}", lines[0]);
}

#[test]
fn seeds_make_other_results_and_the_same_seed_the_same() {
    let fingerprint = |seed: &str, name: &str| {
        let out = place(name);
        let words = ["run", "tiny.toml", "--quick", "--json", "--seed", seed, "--out", word(&out)];
        json(&words)["fingerprint"].as_str().unwrap().to_owned()
    };
    let first = fingerprint("1", "seed-a");
    assert_eq!(first, fingerprint("1", "seed-b"));
    assert_ne!(first, fingerprint("2", "seed-c"));
}

#[test]
fn existing_results_are_kept_unless_forced() {
    let out = place("occupied");
    let words = ["run", "tiny.toml", "--quick", "-q", "--out", word(&out)];
    assert_eq!(floodway(&words).code, Some(0));
    let before = manifest(&out).unwrap();
    let said = floodway(&words);
    assert_eq!(
        said.err,
        format!(
            "error: `{}` already holds results of scenario `tiny` from {}; replace them with \
             `--force`, go on with them with `--resume`, or keep them and choose another \
             directory: `--out DIR`\n",
            out.display(),
            before["started"].as_str().unwrap()
        )
    );
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert_eq!(manifest(&out).unwrap(), before);
    assert_eq!(floodway(&[&words[..], &["--force", "--seed", "2"]].concat()).code, Some(0));
    assert_ne!(manifest(&out).unwrap()["fingerprint"], before["fingerprint"]);
}

#[test]
fn other_data_is_never_replaced() {
    let out = place("foreign");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("thesis.txt"), "years of work").unwrap();
    let said = floodway(&["run", "tiny.toml", "--quick", "--force", "--out", word(&out)]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("is not empty and not a results directory"), "{}", said.err);
    assert_eq!(fs::read_to_string(out.join("thesis.txt")).unwrap(), "years of work");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

/// A path below a file stands for a directory that cannot be made, whoever runs the tests.
#[test]
fn an_impossible_directory_is_told_before_anything_runs() {
    let file = place("file");
    fs::write(&file, "").unwrap_or_else(|_| fs::remove_file(&file).unwrap());
    let said = floodway(&["run", "endless.toml", "-q", "--out", word(&file.join("below"))]);
    fs::remove_file(&file).unwrap();
    assert_eq!(said.code, Some(1));
    let cause = "a part of this path is a file, not a directory";
    let remedy = "rename that file, or use another directory: `--out DIR`";
    assert!(said.err.contains(cause) && said.err.contains(remedy), "{}", said.err);
}

#[test]
fn an_unsound_run_is_an_error_and_its_results_are_kept() {
    let out = place("unsound");
    let said = floodway(&["run", "lossy.toml", "-q", "--out", word(&out)]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    let mut lines = said.err.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("error: base replication 0: switch: "), "{first}");
    assert!(first.ends_with(" packets of lossless classes were dropped"), "{first}");
    assert!(lines.next().unwrap().starts_with("note: the results are not sound. "));
    assert_eq!(manifest(&out).unwrap()["status"], "complete");
}

#[test]
fn a_trace_is_kept_of_first_runs_and_said_where() {
    let out = place("traced");
    let words = ["run", "tiny.toml", "--trace", "perfetto", "--replications", "2", "--out"];
    let said = floodway(&[&words[..], &[word(&out)]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let closing = format!(
        "traces in {}; open them at https://ui.perfetto.dev\n",
        out.join("runs/*/0/trace.pftrace").display()
    );
    assert!(said.out.ends_with(&closing), "{}", said.out);
    for variant in ["without-ci", "ci"] {
        let trace =
            |replication: u32| out.join(format!("runs/{variant}/{replication}/trace.pftrace"));
        // A packet of a trace is field 1 with a length.
        assert_eq!(fs::read(trace(0)).unwrap()[0], 0x0a);
        assert!(!trace(1).exists());
    }

    // A trace changes nothing, is written again if it is lost, and goes with the results.
    let plain = place("traced-not");
    let words = ["run", "tiny.toml", "--replications", "2", "--quiet", "--out"];
    floodway(&[&words[..], &[word(&plain)]].concat());
    let print = |out: &Path| manifest(out).unwrap()["fingerprint"].clone();
    assert_eq!(print(&out), print(&plain));
    let lost = out.join("runs/ci/0/trace.pftrace");
    let before = fs::read(&lost).unwrap();
    fs::remove_file(&lost).unwrap();
    let again =
        ["run", "tiny.toml", "--trace", "perfetto", "--replications", "2", "--resume", "--out"];
    let said = floodway(&[&again[..], &[word(&out), "--verbose"]].concat());
    assert!(said.err.contains("ci 0: there already"), "{}", said.err);
    assert_eq!(fs::read(&lost).unwrap(), before);
    let words = ["run", "tiny.toml", "--replications", "1", "--quiet", "--force", "--out"];
    floodway(&[&words[..], &[word(&out)]].concat());
    assert!(!lost.exists());
}
