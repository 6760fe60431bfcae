//! The schema of scenario files, by a validator that knows nothing of floodway: what is valid
//! passes, and what is wrong in its structure does not.

use std::fs;
use std::path::{Path, PathBuf};

use floodway_scenario::{Overrides, Scenario, file_schema};
use jsonschema::Validator;
use serde_json::Value;

fn validator() -> Validator {
    let schema = file_schema();
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario files in a folder and those below it.
fn scenarios(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
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

/// What is written in a file, if that is TOML at all.
fn value(path: &Path) -> Option<Value> {
    toml::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn parsed(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the validator has against a file.
fn faults(validator: &Validator, value: &Value) -> String {
    let fault =
        |error: jsonschema::ValidationError| format!("{}: {error}\n", error.instance_path());
    validator.iter_errors(value).map(fault).collect()
}

#[test]
fn what_is_valid_passes() {
    let validator = validator();
    let folders = ["../../scenarios", "tests/warned", "../cli/tests/scenarios", "../cli/src/new"];
    let files: Vec<_> = folders.into_iter().flat_map(scenarios).collect();
    assert!(files.len() > 80, "{}", files.len());
    for file in files {
        let value = value(&file).unwrap_or_else(|| panic!("{}", file.display()));
        let faults = faults(&validator, &value);
        // An editor marks old names, which the program accepts with a warning.
        let has_old_names = file.ends_with("warned/renamed.toml");
        assert_eq!(faults.is_empty(), !has_old_names, "{}\n{faults}", file.display());
    }
}

/// How messages about structure begin or go on: what a schema can say too.
const OF_STRUCTURE: [&str; 6] = [
    " has no field `",
    " has no member `",
    " needs the field `",
    " names none of its members",
    " takes one member",
    " not a whole number from ",
];

/// How messages about the kind of a value end.
const OF_KIND: [&str; 4] =
    [" not a number", " not true or false", " not a table", " not text in quotes"];

#[test]
fn what_is_wrong_in_its_structure_does_not_pass() {
    let validator = validator();
    let (mut count, mut wrong) = (0, String::new());
    for file in scenarios("tests/bad") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        // What is wrong in a setting of the command line is not in the file.
        if text.starts_with("# floodway check FILE") {
            continue;
        }
        let Some(value) = value(&file) else { continue };
        let error = Scenario::load(&file, &Overrides::default()).expect_err("it is wrong");
        let of_structure = error.problems().iter().any(|problem| {
            let own = problem.place.source.name() == file.display().to_string();
            let message = &problem.message;
            let structure = OF_STRUCTURE.iter().any(|words| message.contains(words));
            own && (structure || OF_KIND.iter().any(|words| message.ends_with(words)))
        });
        if !of_structure {
            continue;
        }
        count += 1;
        if validator.is_valid(&value) {
            wrong.push_str(&format!("=== {name} passes\n{}", error.plain()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 50, "{count}");
}

const BASE: &str = "name = \"s\"\narrivals = \"1ms\"\nlimit = \"2ms\"\n\
                    [topology.clos]\nleaves = 4\n[[workload]]\n[workload.incast]\nsenders = 3\n";

#[test]
fn overlays_need_not_be_whole() {
    let validator = validator();
    let valid = |more: &str| validator.is_valid(&parsed(&format!("{BASE}{more}")));
    for (more, expected) in [
        ("", true),
        ("[variants.a]\n", true),
        ("[variants.a.topology.clos]\nspines = 2\n", true),
        ("[variants.a.topology.clos]\nspine = 2\n", false),
        ("[variants.a.topology.clos]\nspines = \"2\"\n", false),
        ("[variants.a]\nseed = 2\n", false),
        ("[variants]\na = false\n", false),
        ("[variants.\"a b\"]\n", false),
        ("[variants.a.workload.0.incast]\nbytes = \"1KB\"\n", true),
        ("[variants.a.workload.0.incast]\nbyte = \"1KB\"\n", false),
        ("[variants.a.workload.0]\ncongestion = \"dcqcn\"\n", true),
        ("[variants.a.workload.0]\ncongestion = \"dcqn\"\n", false),
        // A schema cannot know which names workloads have.
        ("[variants.a.workload.x.incast]\nbytes = \"1KB\"\n", true),
        ("[variants.a.workload.x.incast]\nbyte = \"1KB\"\n", false),
        ("[quick]\nworkload.x.incast.bytes = \"1KB\"\n", true),
        ("[variants.a.failure.0]\nat = \"1us\"\n", true),
        ("[variants.a.failure.x]\nat = \"1us\"\n", false),
        // A list replaces the one below and so is whole.
        ("[[variants.a.workload]]\n[variants.a.workload.incast]\nbytes = \"1KB\"\n", false),
        ("[variants.a.switch.flow_control]\npfc = true\n", true),
        ("[variants.a.switch]\naqm = \"red\"\nflow_control.pfc = false\n", true),
        ("[variants.a.switch]\naqm = false\n", false),
        ("[quick]\nseed = 3\nlimit = \"1ms\"\n[quick.variants]\na = false\n", true),
        ("[quick]\nname = \"q\"\n", false),
        ("[switch.flow_control]\npfc = true\n", true),
        ("[host]\nbuffer = false\n", true),
        ("[host]\nbuffer = true\n", false),
        ("[host]\ncongestion = true\n", false),
        ("[switch.queue]\nsize = \"2 MB\"\n", true),
        ("[switch.queue]\nsize = \".5MiB\"\n", true),
        ("[switch.queue]\nsize = \"2_000KB\"\n", true),
        ("[switch.queue]\nsize = \"2mb\"\n", false),
        ("[switch.queue]\nsize = \"2MB/s\"\n", false),
        ("[switch.queue]\nsize = 2\n", false),
        ("[switch.queue]\ncount = 300\n", false),
    ] {
        assert_eq!(valid(more), expected, "{more}");
    }
}

#[test]
fn an_extension_is_an_overlay_with_a_name() {
    let validator = validator();
    let valid = |text: &str| validator.is_valid(&parsed(text));
    assert!(valid("extends = \"a.toml\"\nname = \"b\"\n"));
    assert!(valid("extends = \"a.toml\"\nname = \"b\"\n[topology.clos]\nspines = 2\n"));
    assert!(valid("extends = \"a.toml\"\nname = \"b\"\n[variants]\nold = false\n"));
    assert!(!valid("extends = \"a.toml\"\n"));
    assert!(!valid("extends = 3\nname = \"b\"\n"));
    assert!(!valid("extends = \"a.toml\"\nname = \"b\"\n[topology.clos]\nspine = 2\n"));
    assert!(!valid("name = \"b\"\n[topology.clos]\nspines = 2\n"));
}

#[test]
fn every_field_has_a_meaning() {
    fn go(value: &Value, path: &str) {
        if let Some(fields) = value["properties"].as_object() {
            for (name, field) in fields {
                let own = field["description"].as_str().or(value["description"].as_str());
                assert!(own.is_some_and(|text| text.len() > 5), "{path} {name}: {field}");
            }
        }
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| go(value, &format!("{path}/{key}")))
            }
            Value::Array(values) => values.iter().for_each(|value| go(value, path)),
            _ => {}
        }
    }
    go(&file_schema(), "");
}
