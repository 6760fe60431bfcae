//! `floodway sweep`: a grid of runs, each made once.

use std::fs;
use std::path::Path;

use crate::common::{self, floodway, json, place, word};
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
    let text = fs::read(out.join("sweep.json")).unwrap();
    let mut kept: Value = serde_json::from_slice(&text).unwrap();
    assert!(kept.as_object_mut().unwrap().remove("files").is_some());
    assert_eq!(kept, again);

    // Other sweeps share the runs; one that is damaged is made again.
    let key = runs(&first)[0]["key"].as_str().unwrap().to_owned();
    fs::write(cache.join(&key[..2]).join(&key).join("flows.parquet"), "no").unwrap();
    let (other, vary) = (place("swept-other"), "workload.0.incast.bytes=20KB");
    let more = ["--json", "--vary", vary, "--replications", "3"];
    let wider = json(&words("swept.toml", &other, &cache, &more));
    assert_eq!((runs(&wider).len(), &wider["provenance"]["reused"]), (12, &7.into()));
    for file in ["report.html", "points.csv", "points.parquet", "points_long.csv", "runs.parquet"] {
        assert!(other.join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(other.join("report.html")).unwrap();
    assert!(page.contains("How long do incasts take?"));
    // But for where its library says that it is from.
    assert_eq!(page.matches("http://").count() + page.matches("https://").count(), 1);
    assert!(page.contains("/*! https://github.com/leeoniya/uPlot"));
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
            let scale = floodway_report::statistics::Scale::NON_NEGATIVE;
            let estimate = floodway_report::statistics::Estimate::of(means.iter().copied(), scale);
            let (mean, (low, high)) = (estimate.mean.unwrap(), estimate.interval().unwrap());
            let known = (high - mean).max(mean - low) <= 0.2 * mean;
            numbers.push((means.len(), known));
        }
    }
    // Both variants of a point are repeated as often, and none stops early.
    for point in numbers.chunks(2) {
        assert_eq!(point[0].0, point[1].0, "{numbers:?}");
        assert!(point[0].0 == 9 || point.iter().all(|cell| cell.1), "{numbers:?}");
    }
    // No interval is computed of fewer than five.
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
fn a_wrong_metric_is_an_error_when_the_first_run_ends() {
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
fn points_are_compared_with_the_reference() {
    let (out, cache) = (place("reference"), place("reference-cache"));
    // Two workloads of one network, the first with a name; only the second's size is varied.
    let file = place("named").with_extension("toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "name = \"named\"\narrivals = \"20us\"\nlimit = \"2ms\"\nreplications = 3\n\
        share_hosts = true\n[topology.star]\nhosts = 8\n[switch.queue]\nsize = \"2MB\"\n\
        [[workload]]\nname = \"bulk\"\n[workload.incast]\nsenders = 6\nbytes = \"60KB\"\n\
        [[workload]]\n[workload.incast]\nsenders = 2\nbytes = \"20KB\"\n";
    fs::write(&file, text).unwrap();
    let more = ["--vary", "switch.queue.size=20KB,40KB,1MB,2000KB", "--json"];
    let sweep = json(&words(word(&file), &out, &cache, &more));
    // 2000KB is the scenario's own 2MB.
    assert_eq!(sweep["reference"], serde_json::json!({ "point": 3, "origin": "scenario" }));
    let of = |point: usize| {
        let cells = sweep["comparisons"].as_array().unwrap().iter();
        let mut cells = cells.filter(|cell| cell["metric"] == "fct_mean_ns");
        cells.find(|cell| cell["point"] == point).unwrap().clone()
    };
    // The pairs from the runs themselves: the geometric mean of their ratios.
    let value = |point: usize, replication: usize| {
        let run = &runs(&sweep)[point * 3 + replication];
        assert_eq!((&run["point"], &run["replication"]), (&point.into(), &replication.into()));
        run["numbers"]["fct_mean_ns"].as_f64().unwrap()
    };
    for point in [0, 1] {
        let product: f64 = (0..3).map(|at| value(point, at) / value(3, at)).product();
        let percent = of(point)["vs_reference"]["percent"].as_f64().unwrap();
        assert!((percent - (product.cbrt() - 1.0) * 100.0).abs() < 1e-9, "{percent}");
    }
    // All 400 KB fit into 1 MB, so more of it never acts.
    assert_eq!(of(2)["same_as_reference"], true);
    assert_eq!(of(3)["vs_reference"], Value::Null);
    assert_eq!(of(0)["place"]["in_best_set"], false);
    assert_eq!(of(2)["place"]["in_best_set"], true);
    let caveats = sweep["caveats"].as_array().unwrap();
    let told =
        "`size=1MB` and `size=2000KB` have the same runs: what differs between them never acted.";
    assert!(caveats.contains(&told.into()), "{caveats:?}");
    // A row of the long table for every metric and point.
    let long = fs::read_to_string(out.join("points_long.csv")).unwrap();
    let metrics = sweep["metrics"].as_object().unwrap().len();
    assert_eq!(long.lines().count(), 1 + 4 * metrics);
    assert!(long.starts_with("point,switch.queue.size,variant,metric,unit,n,mean,low,high,bound,"));

    // A workload is varied by its name, and the reference says the same by its number.
    let more = [
        "--vary",
        "workload.bulk.incast.senders=2,4,6",
        "--reference",
        "workload.0.incast.senders=4",
        "--json",
    ];
    let sweep = json(&words(word(&file), &out, &cache, &more));
    assert_eq!(sweep["reference"], serde_json::json!({ "point": 1, "origin": "given" }));
    assert_eq!(sweep["traffic"], serde_json::json!([[0], [1], [2]]));
    let cells = sweep["comparisons"].as_array().unwrap();
    // Other senders are other traffic, of which none is the best.
    assert!(cells.iter().all(|cell| cell["place"].is_null() && cell["point"].is_u64()));
    assert!(cells.iter().any(|cell| cell["vs_reference"].is_object()));
}

#[test]
fn a_metric_of_a_workload_is_named_by_the_workloads_name() {
    let (out, cache) = (place("alias"), place("alias-cache"));
    let file = place("alias-file").with_extension("toml");
    let text = "name = \"alias\"\narrivals = \"100us\"\nlimit = \"200us\"\nreplications = 2\nflow_samples = \"20us\"\n\
        [topology.star]\nhosts = 4\n\
        [[workload]]\nname = \"bulk\"\n[workload.long_flows]\ncount = 2\nfrom = \"0-1\"\nto = \"2-3\"\n";
    fs::write(&file, text).unwrap();
    let vary = ["--vary", "switch.latency=100ns,200ns", "--at-most", "2", "--json"];
    let more =
        ["--until", "workload_bulk_goodput_bps=0.5", "--metric", "workload_bulk_goodput_bps"];
    let sweep = json(&words(word(&file), &out, &cache, &[&vary[..], &more].concat()));
    assert_eq!(sweep["shown"], serde_json::json!(["workload_0_goodput_bps"]));
    assert!(sweep["until"].as_str().unwrap().contains("workload_0_goodput_bps"));
    let wrong = ["--vary", "switch.latency=100ns", "--metric", "workload_bulk_goodput"];
    let said = floodway(&words(word(&file), &out, &cache, &wrong));
    let told = "error: these runs have no metric `workload_0_goodput`; did you mean \
                `workload_0_goodput_bps`?";
    assert!(said.err.contains(told), "{}", said.err);
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
fn errors_come_before_anything_runs() {
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
            "error: at_most is 2, but the scenario requires at least 5 replications\n",
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
        (
            &["--reference", "workload.0.incast.bytes=50KB"],
            2,
            "error: the grid has no point with `workload.0.incast.bytes=50KB`\n \
             --> --reference:1:1\n  |\n1 | workload.0.incast.bytes=50KB\n  \
             | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  = help: did you mean 40KB? The values of \
             `workload.0.incast.bytes` are: 20KB, 40KB, 60KB\n",
        ),
        (
            &["--reference", "switch.queue.size=1MB"],
            2,
            "error: `switch.queue.size` is not varied, so a reference cannot have it\n",
        ),
        (&["--reference", ""], 2, "error: the reference is empty\n"),
        (
            &["--vary", "workload.insect.incast.bytes=1KB"],
            2,
            "error: `insect` is not an element of `workload`\n",
        ),
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
    assert_eq!(said.code, Some(2));
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
