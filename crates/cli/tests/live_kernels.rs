//! Linux kernels whose flows are steered. Without a kernel only what is refused is tested, and that is said.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::common::{Said, command, floodway, place, said, word};
use crate::emulate::kernel;
use crate::live::Running;

/// Starts a run with these options, and gives also the folder for temporary files.
fn begin(name: &str, options: &[&str]) -> (Running, PathBuf) {
    let (out, temporary) = (place(name), place(&format!("{name}-tmp")));
    fs::create_dir_all(&temporary).unwrap();
    let words = ["live", "live-linux.toml", "--port", "0", "--until", "100s", "--out", word(&out)];
    let mut program = command(&[&words[..], options].concat());
    program.env("TMPDIR", &temporary);
    (Running::start(program, out), temporary)
}

/// Nothing of its kernels is left.
fn nothing_is_left(temporary: &Path) {
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0, "temporary files are left");
    let of_kernels = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(temporary))
    };
    let left = fs::read_dir("/proc").unwrap().flatten().filter(of_kernels).count();
    assert_eq!(left, 0, "processes are left");
}

fn text(said: &Said) -> String {
    said.err.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A link of 40 Mb/s has 1430 octets of payload in frames of 1500, timestamps being 12 octets of 1442.
#[test]
fn flows_of_kernels_are_steered_and_repeated() {
    if !kernel() {
        return;
    }
    let (run, temporary) = begin("live-kernels", &["--speed", "max"]);
    let state = run.state("");
    assert_eq!(
        state["fixed"]["kinds"],
        json!([
            { "name": "cubic", "congestion": "cubic", "linux": true },
            { "name": "scalable", "congestion": "dctcp", "linux": true },
        ])
    );
    let refused = state["fixed"]["managements"][2]["refused"].as_str().unwrap();
    assert!(refused.starts_with("its Linux kernels differ"), "{refused}");
    // Cubic alone fills the link, and waits behind drop-tail.
    let state = run.wait(3.0);
    let last =
        |state: &serde_json::Value| state["samples"].as_array().unwrap().last().unwrap().clone();
    let sample = last(&state);
    let rate = sample["flows"][0]["rates_mbps"][0].as_f64().unwrap();
    assert!((rate - 40.0 * 1430.0 / 1500.0).abs() < 0.8, "{sample}");
    assert!(sample["queues"][0]["mean_ms"].as_f64().unwrap() > 20.0, "{sample}");
    assert_eq!(state["now"]["flows"], json!([1, 0]));
    let (status, body) = run.post(r#"{"flows":{"kind":"cubic","count":201}}"#);
    assert_eq!(
        (status, body.as_str()),
        (400, "201 flows of kind `cubic` are too many: at most 200 are possible")
    );
    // Two flows of DCTCP come, and the queues are separate.
    assert_eq!(run.post(r#"{"flows":{"kind":"scalable","count":2}}"#).0, 200);
    assert_eq!(run.post(r#"{"management":"dualq"}"#).0, 200);
    let time = run.state("?since=0")["now"]["time_s"].as_f64().unwrap();
    let state = run.wait(time + 4.0);
    let sample = last(&state);
    let rates = |kind: usize| {
        let rates = sample["flows"][kind]["rates_mbps"].as_array().unwrap();
        rates.iter().map(|rate| rate.as_f64().unwrap()).collect::<Vec<f64>>()
    };
    assert_eq!((rates(0).len(), rates(1).len()), (1, 2));
    assert!(rates(1).iter().all(|rate| *rate > 3.0), "{sample}");
    let delay = |queue: usize| sample["queues"][queue]["mean_ms"].as_f64().unwrap();
    assert!(delay(0) < 1.5 && delay(0) < delay(1), "{sample}");
    // Cubic stops, and comes again with a connection of its own.
    assert_eq!(run.post(r#"{"flows":{"kind":"cubic","count":0}}"#).0, 200);
    let time = run.state("?since=0")["now"]["time_s"].as_f64().unwrap();
    let state = run.wait(time + 1.0);
    assert_eq!(last(&state)["queues"][1]["backlog_bytes"], 0);
    assert_eq!(run.post(r#"{"flows":{"kind":"cubic","count":2}}"#).0, 200);
    run.wait(time + 2.0);
    let (said, out) = run.end();
    assert_eq!(said.code, Some(0), "{}", said.err);
    nothing_is_left(&temporary);
    // What the program in the kernel said of the flows that were stopped.
    let output = fs::read_to_string(out.join("output.txt")).unwrap();
    assert!(output.contains("flow 20000 cubic: "), "{output}");
    let table = fs::read_to_string(out.join("kernels.csv")).unwrap();
    let sent: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
    assert!(sent[3].parse::<u64>().unwrap() > 5_000, "{table}");

    // A repetition has the same frames at the same times in every kernel.
    let (log, again) = (out.join("actions.jsonl"), place("live-kernels-again"));
    for threads in ["1", "2"] {
        let repeat = [
            "live",
            "live-linux.toml",
            "--until",
            "100s",
            "--replay",
            word(&log),
            "--out",
            word(&again),
            "--force",
            "--threads",
            threads,
        ];
        let said = floodway(&repeat);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(fs::read_to_string(again.join("kernels.csv")).unwrap(), table);
    }
    // The log is of this kernel.
    let other =
        fs::read_to_string(&log).unwrap().replacen("\"kernel\":\"", "\"kernel\":\"other-", 1);
    fs::write(again.join("other.jsonl"), other).unwrap();
    let path = again.join("other.jsonl");
    let said = floodway(&[
        "live",
        "live-linux.toml",
        "--until",
        "100s",
        "--replay",
        word(&path),
        "--out",
        word(&again),
        "--force",
    ]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(text(&said).contains("error: the log is of the Linux kernel `other-"), "{}", said.err);
}

/// What goes wrong in a kernel ends the run at once, and the page knows why.
#[test]
fn a_run_ends_with_the_failure_of_a_kernel() {
    if !kernel() {
        return;
    }
    let fail = |name: &str, setting: &str, options: &[&str]| {
        let words = [&["--speed", "max", "--set", setting][..], options].concat();
        let (run, temporary) = begin(name, &words);
        let (said, _) = run.ended();
        nothing_is_left(&temporary);
        assert_eq!(said.code, Some(1), "{}", said.err);
        text(&said).split_once("error: ").unwrap().1.to_owned()
    };
    assert_eq!(
        fail("live-status", "workload.2.linux.run=\"sleep 1; echo hello; exit 3\"", &[]),
        "host 2: the command has ended with status 3; its output ends with: hello"
    );
    let off = fail("live-off", "workload.0.linux.run=\"sleep 1; endpoint off\"", &[]);
    assert!(off.starts_with("host 0: the kernel has ended with "), "{off}");
    let hangs = "workload.0.linux.run=\"while :; do :; done\"";
    let hangs = fail("live-hangs", hangs, &["--patience", "2"]);
    assert!(
        hangs.starts_with("host 0: the kernel has failed: it computes for 2 s already"),
        "{hangs}"
    );
    // The program for flows is killed, and says so before the command ends.
    let taken = "workload.2.linux.run=\"sleep 1; kill $(pidof endpoint); sleep 1\"";
    let killed = fail("live-killed", taken, &[]);
    assert!(killed.contains("the command has ended with status 143"), "{killed}");
    let early = "workload.0.linux.start=\"0ns\"";
    let early = fail("live-early", early, &[]);
    assert!(early.contains("give it a later `start`"), "{early}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_kernel_is_reported_and_one_that_nobody_needs() {
    let empty = place("live-empty");
    fs::create_dir_all(&empty).unwrap();
    let out = place("live-missing");
    let mut none = command(&["live", "live-linux.toml", "--out", word(&out)]);
    let none = said(none.env("FLOODWAY_ORACLE", &empty).output().unwrap());
    assert_eq!(none.code, Some(2));
    assert!(text(&none).contains("error: there is no Linux kernel in `"), "{}", none.err);
    let needless = floodway(&["live", "live.toml", "--kernel", word(&empty), "--out", word(&out)]);
    assert_eq!(needless.code, Some(2));
    assert_eq!(
        text(&needless),
        "error: no host of the scenario is a Linux kernel; add [workload.linux] to a [[workload]], or leave `--kernel` out"
    );
}
