//! What is estimated before runs is what they take, within a factor; and what does not fit is
//! refused before anything runs.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::common::{self, floodway, json, place, word};

/// A scenario with this workload on two leaves with four hosts each.
fn scenario(name: &str, more: &str) -> PathBuf {
    let folder = place(&format!("budget-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("s.toml");
    let text = format!(
        "name = \"{name}\"\narrivals = \"1ms\"\nlimit = \"20ms\"\n[topology.clos]\nleaves = 2\n\
         spines = 2\nhosts_per_leaf = 4\n[host.congestion.line_rate]\n[[workload]]\n{more}"
    );
    fs::write(&file, text).unwrap();
    file
}

fn poisson(flows_per_second: f64) -> String {
    format!(
        "[workload.poisson]\nsizes = \"1000B\"\nfrom = \"all\"\nto = \"all\"\n\
         flows_per_second = {flows_per_second:e}\n"
    )
}

/// The estimate for a number of threads over what the process held at most.
#[cfg(target_os = "linux")]
fn ratio(file: &std::path::Path, threads: u64, options: &[&str]) -> f64 {
    let set: Vec<&str> = ["check", word(file), "--json"].iter().chain(options).copied().collect();
    let budget = &json(&set)["budget"];
    let of = |key: &str| budget[key].as_f64().unwrap();
    // `check` estimates for as many threads as there are cores.
    let at_once = |threads: f64| threads.min(of("runs"));
    let more = at_once(threads as f64) - at_once(of("threads"));
    let estimate = of("memory_bytes") + more * of("run_bytes");
    let (out, threads) = (file.with_file_name("out"), threads.to_string());
    let run = ["run", word(file), "--json", "--out", word(&out), "--threads", &threads];
    let summary = json(&run.iter().chain(options).copied().collect::<Vec<_>>());
    estimate / summary["peak_rss_bytes"].as_f64().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn estimates_are_near_what_is_taken() {
    let mut list = String::new();
    for flow in 0..10_000 {
        let (src, dst) = (flow % 8, (flow + 3) % 8);
        let start = flow * 50;
        writeln!(
            list,
            "[[workload.list.flow]]\nsrc = {src}\ndst = {dst}\nbytes = \"1000B\"\n\
             start = \"{start}ns\""
        )
        .unwrap();
    }
    let cases = [
        ("written out", ratio(&scenario("listed", &list), 1, &[])),
        ("many flows", ratio(&scenario("flows", &poisson(5e7)), 1, &[])),
        ("at once", ratio(&scenario("both", &poisson(4e7)), 2, &["--set", "replications=2"])),
    ];
    for (what, ratio) in cases {
        assert!((0.6..=2.5).contains(&ratio), "{what}: {ratio}");
    }
}

#[test]
fn too_many_runs_are_refused_by_every_command() {
    let file = scenario("runs", &poisson(1e5));
    let set = ["--set", "replications=200000000"];
    for command in ["check", "run", "sweep"] {
        let seen = floodway(&[&[command, word(&file)], &set[..]].concat());
        assert_eq!(seen.code, Some(2));
        assert_eq!(
            seen.err,
            "error: `replications` is 200000000\n --> --set:1:14\n  |\n1 | \
             replications=200000000\n  |              ^^^^^^^^^\n  = help: write a number from 1 to 1000000; \
             10 give a confidence interval worth having\n"
        );
    }
    let vary = "switch.queue.size=1MB,2MB";
    let seen = floodway(&["sweep", word(&file), "--vary", vary, "--set", "replications=1000000"]);
    assert_eq!(seen.code, Some(2));
    assert!(
        seen.err.contains("error: these are 2000000 runs, and at most 1000000 are possible"),
        "{}",
        seen.err
    );
}

#[test]
#[cfg(target_os = "linux")]
fn runs_that_do_not_fit_are_refused_in_place_of_an_abort() {
    let file = scenario("limit", &poisson(2e9));
    let limited = |command: &str| {
        let script = format!("ulimit -v 500000; exec \"$0\" {command} \"$1\" --set seed=1");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, common::program(), word(&file)]);
        common::said(shell.output().unwrap())
    };
    for command in ["check", "run --threads 1"] {
        let seen = limited(command);
        assert_eq!(seen.code, Some(2), "{}", seen.err);
        assert!(seen.err.contains("error: 1 run needs roughly 1.4"), "{}", seen.err);
        assert!(
            seen.err.contains("left of the process (`ulimit -v` or `ulimit -d`)"),
            "{}",
            seen.err
        );
        assert!(seen.err.contains("make it smaller, with fewer flows"), "{}", seen.err);
    }
    let rows = "a = 1\n".repeat(4_000_000);
    fs::write(&file, rows).unwrap();
    let seen = limited("check");
    assert_eq!(seen.code, Some(2), "{}", seen.err);
    assert!(
        seen.err.contains("error: to read the 24.0 MB of this file takes roughly 576 MB of memory"),
        "{}",
        seen.err
    );
}
