//! What is in directories of results, and whether two hold the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// What says how long something took, when, on how many threads and for whom, and what a cache had: two commands
/// with the same results differ in these fields of JSON files and in nothing else.
const OF_COMMANDS: [&str; 9] = [
    "command",
    "hops_per_second",
    "peak_rss_bytes",
    "provenance",
    "reused",
    "run_s",
    "started",
    "threads",
    "wall_s",
];

/// Pages and the text of a study show some of these in between.
fn is_page(name: &str) -> bool {
    name.ends_with(".html") || name.ends_with("README.md")
}

/// A JSON file without what another command would say otherwise.
pub fn json_of_results(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    let mut value = serde_json::from_str(&text).unwrap();
    leave_out(&mut value);
    value
}

fn leave_out(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OF_COMMANDS.contains(&name.as_str()));
            fields.values_mut().for_each(leave_out);
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out),
        _ => {}
    }
}

/// All files below a folder, by their paths from there.
pub fn files_below(folder: &Path) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(at) = open.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path();
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Both folders have the same files, and these the same content to the byte; JSON files as far as it
/// does not depend on the command, pages not at all.
pub fn assert_same(one: &Path, other: &Path) {
    let files = files_below(one);
    assert_eq!(files, files_below(other), "{} and {}", one.display(), other.display());
    for name in files {
        let (one, other) = (one.join(&name), other.join(&name));
        if name.ends_with(".json") {
            // All of both would be pages long.
            let same = json_of_results(&one) == json_of_results(&other);
            assert!(same, "{} and {} differ", one.display(), other.display());
        } else if !is_page(&name) {
            assert!(
                fs::read(&one).unwrap() == fs::read(&other).unwrap(),
                "{} differs",
                one.display()
            );
        }
    }
}

/// The files that a marker lists, and those of the journal beside it, by their paths, with the marker
/// itself.
pub fn listed(folder: &Path, marker: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(marker)).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let lines = fs::read_to_string(folder.join(".floodway.files")).unwrap_or_default();
    let lines = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut found = vec![marker.to_owned()];
    for list in lines.chain([value["files"].clone()]) {
        let folders: BTreeMap<String, Vec<String>> = serde_json::from_value(list).unwrap();
        for (at, names) in folders {
            found.extend(names.into_iter().map(|name| match &*at {
                "." => name,
                _ => format!("{at}/{name}"),
            }));
        }
    }
    found
}
