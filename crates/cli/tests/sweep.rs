//! `floodway sweep`: a grid of runs, each made once.

mod common;

use std::fs;
use std::path::Path;

use common::{floodway, json, place, word};
use serde_json::Value;

/// A sweep with results and a cache of its own.
fn words<'a>(file: &'a str, out: &'a Path, cache: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["sweep", file, "--out", word(out), "--cache", word(cache)];
    [&words[..], more].concat()
}

fn runs(sweep: &Value) -> &Vec<Value> {
    sweep["runs"].as_array().unwrap()
}

#[test]
fn every_point_is_run_once_and_never_again() {
    let (out, cache) = (place("swept"), place("swept-cache"));
    let first = json(&words("swept.toml", &out, &cache, &["--json"]));
    // 2 senders and sizes, 3 of these, 2 variants, 2 replications.
    assert_eq!(first["points"].as_array().unwrap().len(), 6);
    assert_eq!((runs(&first).len(), &first["provenance"]["reused"]), (24, &0.into()));
    assert_eq!(first["axes"][1]["values"], serde_json::json!(["20KB", "40KB", "60KB"]));
    assert_eq!(first["axes"][1]["numbers"], serde_json::json!([20e3, 40e3, 60e3]));

    // Each is what `run` makes of the same settings.
    let alone = place("swept-alone");
    let settings = ["workload.0.incast.senders=4", "workload.0.incast.bytes=60KB"];
    let summary = json(&[
        "run",
        "swept.toml",
        "--set",
        settings[0],
        "--set",
        settings[1],
        "--out",
        word(&alone),
        "--json",
    ]);
    let manifest = common::manifest(&alone).unwrap();
    let of = |run: &&Value| run["point"] == 5 && run["variant"] == "deep";
    let same: Vec<&Value> = runs(&first).iter().filter(of).collect();
    let last = &manifest["runs"][3];
    assert_eq!(same.len(), 2);
    assert_eq!((&same[1]["fingerprint"], &same[1]["key"]), (&last["fingerprint"], &last["key"]));
    let mean = summary["variants"]["deep"]["fct"]["all"]["mean_ns"]["mean"].as_f64().unwrap();
    let means = same.iter().map(|run| run["numbers"]["fct_mean_ns"].as_f64().unwrap());
    assert!((means.sum::<f64>() / 2.0 - mean).abs() < 1e-6);

    // Another time nothing is simulated, on any number of threads, and the tables say the same.
    let table = fs::read_to_string(out.join("runs.csv")).unwrap();
    assert_eq!(table.lines().count(), 25);
    assert!(table.starts_with("point,workload.0.incast.senders,workload.0.incast.bytes,variant,"));
    let again = json(&words("swept.toml", &out, &cache, &["--json", "--threads", "3"]));
    assert_eq!(again["provenance"]["reused"], 24);
    assert_eq!(again["provenance"]["fingerprint"], first["provenance"]["fingerprint"]);
    assert_eq!(fs::read_to_string(out.join("runs.csv")).unwrap(), table);
    let kept: Value = serde_json::from_slice(&fs::read(out.join("sweep.json")).unwrap()).unwrap();
    assert_eq!(kept, again);

    // Other sweeps share the runs; one that is damaged is made again.
    let key = runs(&first)[0]["key"].as_str().unwrap().to_owned();
    fs::write(cache.join(&key[..2]).join(&key).join("flows.parquet"), "no").unwrap();
    let (other, vary) = (place("swept-other"), "workload.0.incast.bytes=20KB");
    let more = ["--json", "--vary", vary, "--replications", "3"];
    let wider = json(&words("swept.toml", &other, &cache, &more));
    assert_eq!((runs(&wider).len(), &wider["provenance"]["reused"]), (12, &7.into()));
    for file in ["report.html", "points.csv", "points.parquet", "runs.parquet"] {
        assert!(other.join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(other.join("report.html")).unwrap();
    assert!(page.contains("How long do incasts take?"));
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn it_goes_on_until_enough_is_known() {
    let (out, cache) = (place("until"), place("until-cache"));
    let more = [
        "--vary",
        "workload.0.many_to_many.load=0.3,0.6",
        "--until",
        "fct_mean_ns=0.2",
        "--at-most",
        "9",
        "--json",
    ];
    let sweep = json(&words("tiny.toml", &out, &cache, &more));
    let mut numbers = Vec::new();
    for point in 0..2 {
        for variant in ["without-ci", "ci"] {
            let of = |run: &&Value| run["point"] == point && run["variant"] == variant;
            let runs = runs(&sweep).iter().filter(of);
            let means: Vec<f64> =
                runs.map(|run| run["numbers"]["fct_mean_ns"].as_f64().unwrap()).collect();
            let estimate = floodway_report::statistics::Estimate::of(means.iter().copied());
            let (low, high) = estimate.interval().unwrap();
            let known = (high - low) / 2.0 <= 0.2 * estimate.mean.unwrap();
            numbers.push((means.len(), known));
        }
    }
    // Both variants of a point are repeated as often, and nobody stops early.
    for point in numbers.chunks(2) {
        assert_eq!(point[0].0, point[1].0, "{numbers:?}");
        assert!(point[0].0 == 9 || point.iter().all(|cell| cell.1), "{numbers:?}");
    }
    // Nobody looks at fewer than five.
    assert!(numbers.iter().all(|cell| cell.0 >= 5), "{numbers:?}");
    let caveats = sweep["caveats"].as_array().unwrap();
    let told = "Runs were repeated until intervals were narrow enough, and that makes them somewhat \
                too narrow: less than 95 % of them hold the true mean.";
    assert!(caveats.contains(&told.into()), "{caveats:?}");

    // Any width will do, and still there are five; or fewer, if no more are allowed.
    for (at_most, replications) in [("9", 5), ("3", 3)] {
        let any = ["--until", "fct_mean_ns=1000", "--at-most", at_most, "--json"];
        let vary = ["--vary", "workload.0.many_to_many.load=0.3"];
        let sweep = json(&words("tiny.toml", &out, &cache, &[&vary[..], &any].concat()));
        assert_eq!(runs(&sweep).len(), 2 * replications);
    }
}

#[test]
fn a_wrong_metric_is_told_when_the_first_run_ends() {
    // Of each point one variant is done at once, and the other takes hours.
    for (name, more) in [
        ("wrong-until", &["--until", "fct_p99=0.1"][..]),
        ("wrong-metric", &["--metric", "fct_p99"]),
    ] {
        let (out, cache) = (place(name), place(&format!("{name}-cache")));
        let vary = ["--vary", "workload.0.incast.senders=2,3", "--threads", "2"];
        let said = floodway(&words("endless.toml", &out, &cache, &[&vary[..], more].concat()));
        assert_eq!(said.code, Some(2), "{}", said.err);
        let told = "error: these runs have no metric `fct_p99`; did you mean `fct_p99_ns`?";
        assert!(said.err.contains(told), "{}", said.err);
        // What has ended is not lost.
        let vary = ["--vary", "workload.0.incast.senders=2", "--variant", "short", "--json"];
        let sweep = json(&words("endless.toml", &out, &cache, &vary));
        assert_eq!(sweep["provenance"]["reused"], 1);
    }
}

#[test]
fn the_plan_is_commands() {
    let (out, cache) = (place("planned"), place("planned-cache"));
    let said = floodway(&["sweep", "swept.toml", "--plan", "--variant", "deep"]);
    assert_eq!(said.out.lines().count(), 6);
    assert_eq!(
        said.out.lines().nth(4),
        Some(
            "floodway run swept.toml --set workload.0.incast.senders=4 --set \
             workload.0.incast.bytes=40KB --variant deep --out results/point-4"
        )
    );
    assert!(!out.exists() && !cache.exists());
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let (out, cache) = (place("wrong"), place("wrong-cache"));
    for (more, code, expected) in [
        (
            &["--vary", "workload.0.incast.bytes"][..],
            2,
            "error: there is no `=` between path and values\n --> --vary:1:1\n",
        ),
        (
            &["--vary", "workload.0.incast.bites=1KB"],
            2,
            "(at the point workload.0.incast.senders=2, workload.0.incast.bytes=20KB, \
             workload.0.incast.bites=1KB of the sweep)\n",
        ),
        (
            &["--until", "fct_p99=0.1"],
            2,
            "error: these runs have no metric `fct_p99`; did you mean `fct_p99_ns`?",
        ),
        (&["--at-most", "4"], 2, "error: `--at-most` says how long to go on with `--until`"),
        (
            &["--until", "fct_p99_ns", "--at-most", "2", "--replications", "5"],
            2,
            "error: at_most is 2, but the scenario asks for 5 replications at least\n",
        ),
        (
            &["--vary", "workload.0.incast.bytes=1KB..2KB/1000000000"],
            2,
            "error: a range of 1000000000 steps has more than 100000 values\n",
        ),
        (
            &["--vary", "seed=1..400/400", "--vary", "switch.latency=1ns..400ns/400"],
            2,
            "error: the sweep has more than 100000 points\n",
        ),
        (&["--vary", "seed=1,2", "--vary", "seed=3"], 2, "error: `seed` is varied twice\n"),
        (&["--vary", "seed=1,,2"], 2, "error: value 2 of `seed` is empty\n"),
        (&["--variant", "deeper"], 2, "did you mean `deep`?"),
        (&["--until", "fct_p99_ns=-1"], 2, "half_width is -1, not above 0"),
    ] {
        let said = floodway(&words("swept.toml", &out, &cache, more));
        assert_eq!(said.code, Some(code), "{}", said.err);
        assert!(said.err.contains(expected), "{expected}\n{}", said.err);
        assert_eq!(said.out, "");
    }
    let said = floodway(&words("tiny.toml", &out, &cache, &[]));
    assert_eq!(
        said.err,
        "error: the scenario `tiny` has no `[sweep]`, so nothing is varied; say what, as in `--vary \
         switch.queue.size=500KB,1MB`\n"
    );
    let foreign = place("foreign-sweep");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "").unwrap();
    let said = floodway(&words("swept.toml", &foreign, &cache, &["-q"]));
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("does not hold a sweep of `swept`"), "{}", said.err);
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let (out, cache) = (place("stopped-sweep"), place("stopped-sweep-cache"));
    // At each point one variant is done at once, and the other takes hours.
    let more = ["--vary", "workload.0.incast.senders=2,3", "--threads", "3"];
    let words = words("endless.toml", &out, &cache, &more);
    let child = common::command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    let begun = Instant::now();
    let kept = || {
        let groups = fs::read_dir(&cache).into_iter().flatten().flatten();
        groups.filter(|group| group.file_name().len() == 2).count()
    };
    while kept() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run has ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let said = common::said(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(said.err.contains("and the same command goes on from there\n"), "{}", said.err);

    let more = ["--vary", "workload.0.incast.senders=2,3", "--variant", "short", "--json"];
    let sweep = json(&self::words("endless.toml", &out, &cache, &more));
    assert_eq!((runs(&sweep).len(), &sweep["provenance"]["reused"]), (2, &2.into()));
}
