//! Runs the built program as a user would.

pub mod pages;
pub mod results;

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex};
use std::thread::{self, ThreadId, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a command said, and its exit status.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program that is tested: the one that `FLOODWAY` names, if it is set, as `make test` does with the optimized one, so
/// that it is built once and runs fast; else the one that was built with the tests.
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        env::var("FLOODWAY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_floodway").to_owned())
    });
    &PROGRAM
}

/// The program with these words after its name, in the folder of the test scenarios.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(words).current_dir(scenarios()).stdin(Stdio::null());
    command
}

/// The folder of the test scenarios.
pub fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// Runs the program to its end.
pub fn floodway(words: &[&str]) -> Said {
    said(command(words).output().expect("the program starts"))
}

/// What it said.
pub fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs the program, which must succeed and print one JSON value.
pub fn json(words: &[&str]) -> Value {
    let said = floodway(words);
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}:\n{}", said.out))
}

/// An empty place for the results of a test, which does not exist yet. Tests run at once, so that each has places of
/// its own.
pub fn place(name: &str) -> PathBuf {
    static USED: LazyLock<Mutex<HashMap<String, ThreadId>>> = LazyLock::new(Default::default);
    let me = thread::current().id();
    let owner = *USED.lock().unwrap().entry(name.to_owned()).or_insert(me);
    assert_eq!(owner, me, "two tests use the place {name}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    path
}

/// The manifest in a results directory, if it is there.
pub fn manifest(place: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(place.join("manifest.json")).ok()?;
    Some(serde_json::from_str(&text).expect("a manifest is always whole"))
}

/// A path as an argument.
pub fn word(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// Starts the scenario that does not end, and waits until its first run is kept.
pub fn endless(out: &Path, threads: &str) -> Child {
    let words = ["run", "endless.toml", "--threads", threads, "--out", word(out)];
    let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let is_there = || manifest(out).is_some_and(|of| !of["runs"].as_array().unwrap().is_empty());
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run has ended");
        sleep(Duration::from_millis(10));
    }
    child
}

/// Sends a signal, such as `-INT`, to a child that has not been waited for.
pub fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// The whole of a quick study in networks of 32 hosts, for a third of a millisecond.
pub fn tiny_study(out: &Path) -> Vec<&str> {
    let mut words = vec!["study", "ci", "--quick", "--out", word(out)];
    for setting in [
        "topology.clos.leaves=8",
        "topology.clos.spines=4",
        "topology.clos.hosts_per_leaf=4",
        "workload.0.many_to_many.clusters=2",
        "workload.0.many_to_many.cluster_size=10",
        "workload.1.incast.sets=1",
        "workload.1.incast.senders=4",
        "arrivals=120us",
        "warmup=40us",
        "limit=300us",
        "replications=2",
    ] {
        words.extend(["--set", setting]);
    }
    words
}
