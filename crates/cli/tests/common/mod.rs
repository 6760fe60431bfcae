//! Runs the built program as a user would.

#![allow(dead_code)] // Each test program uses a part of it.

pub mod pages;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a command said, and its exit status.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program with these words after its name, in the folder of the test scenarios.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_floodway"));
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

/// An empty place for the results of a test, which does not exist yet.
pub fn place(name: &str) -> PathBuf {
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
