//! Hashes everything that decides what a simulation does besides its parameters: the sources of
//! this crate, of `engine` and of `model` without their comments, and the version of the one library
//! that they compute with.

#[path = "src/digest.rs"]
mod digest;

use std::fs;
use std::path::{Path, PathBuf};

use digest::Digest;

const ENGINE: &str = "../engine/src";
const MODEL: &str = "../model/src";
const LOCK: &str = "../../Cargo.lock";

fn main() {
    let mut digest = Digest::new();
    for folder in ["src", ENGINE, MODEL] {
        println!("cargo::rerun-if-changed={folder}");
        for file in files(Path::new(folder)) {
            let text = fs::read_to_string(&file);
            let text = code(&text.unwrap_or_else(|error| panic!("{}: {error}", file.display())));
            // Names and lengths tell where one file ends and the next one begins.
            let names: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
            digest.add(format!("{} {}\n", names.join("/"), text.len()).as_bytes());
            digest.add(text.as_bytes());
        }
    }
    println!("cargo::rerun-if-changed={LOCK}");
    digest.add(libm().as_bytes());
    println!("cargo::rustc-env=FLOODWAY_SOURCES={}", digest.hex());
}

/// All Rust files of a folder and the folders in it, in order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it is listed").path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    let source = |path: &PathBuf| path.extension().is_some_and(|end| end == "rs");
    paths.into_iter().flat_map(below).filter(source).collect()
}

/// A source without lines that are only a comment, and without empty lines. Comments at the end of a
/// line stay, because what looks like one may be in a text.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What the lock file says of `libm`, which computes the logarithms of random times. Nothing if
/// another workspace uses this crate and locks it in its own way.
fn libm() -> String {
    let lock = fs::read_to_string(LOCK).unwrap_or_default();
    let package = lock.split("[[package]]").find(|package| package.contains("name = \"libm\""));
    package.unwrap_or_default().to_owned()
}
