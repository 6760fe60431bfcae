//! The scenarios that come with the program are valid, in both sizes.

use std::path::{Path, PathBuf};

use floodway_scenario::{Overrides, Scenario};

fn shipped() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn all_are_valid() {
    let files = shipped();
    assert!(!files.is_empty());
    for file in files {
        for quick in [false, true] {
            let overrides = Overrides { quick, set: Vec::new() };
            if let Err(error) = Scenario::load(&file, &overrides) {
                panic!("{}", error.plain());
            }
        }
    }
}
