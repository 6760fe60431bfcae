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

/// Single flows of different kinds are different traffic, random marks need no bottleneck, and a
/// study adds queue management to what has none.
const MEANT: [&str; 3] =
    ["do not send the same flows", "the link between the switches carries", "nothing marks"];

#[test]
fn all_are_valid() {
    let files = shipped();
    assert!(!files.is_empty());
    for file in files {
        for quick in [false, true] {
            // Some need no smaller form.
            let text = std::fs::read_to_string(&file).unwrap();
            if quick && !text.contains("[quick") && !text.contains("extends") {
                continue;
            }
            let overrides = Overrides { quick, set: Vec::new() };
            let scenario = Scenario::load(&file, &overrides)
                .unwrap_or_else(|error| panic!("{}", error.plain()));
            let of_study = file.to_string_lossy().contains("dualq");
            for warning in scenario.warnings().iter().filter(|_| of_study) {
                let meant = MEANT.iter().any(|meant| warning.message.contains(meant));
                assert!(meant, "{}", warning.plain());
            }
        }
    }
}
