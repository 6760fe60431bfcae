//! `floodway new algorithm`: what it writes is whole, its tests fail where they have to, and nothing is written over.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{self, Said, place, said};

const FAMILIES: [&str; 7] = [
    "host.congestion",
    "switch.aqm",
    "switch.classify",
    "switch.flow_control",
    "switch.path",
    "switch.queue.discipline",
    "switch.scheduler",
];

/// What is compiled, and what tests of it read.
const SOURCES: [&str; 7] =
    ["Cargo.lock", "Cargo.toml", "CONTRIBUTING.md", "crates", "docs", "rustfmt.toml", "scenarios"];

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else if from.exists() {
        fs::copy(from, to).unwrap();
    }
}

/// A copy of this checkout.
fn checkout(name: &str, files: &[&str]) -> PathBuf {
    let (root, copied) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), place(name));
    fs::create_dir_all(&copied).unwrap();
    for file in files {
        copy(&root.join(file), &copied.join(file));
    }
    copied
}

fn new(folder: &Path, family: &str, name: &str) -> Said {
    let mut command = Command::new(common::program());
    command.args(["new", "algorithm", family, name]).current_dir(folder);
    said(command.output().unwrap())
}

/// `new_aqm` for `switch.aqm`.
fn name(family: &str) -> String {
    format!("new_{}", family.rsplit('.').next().unwrap())
}

fn add_all(root: &Path) {
    for family in FAMILIES {
        let said = new(root, family, &name(family));
        assert_eq!((said.code, &*said.err), (Some(0), ""), "{family}");
        assert!(said.out.contains(&format!("ALGORITHM={family}.{}", name(family))), "{}", said.out);
        for line in said.out.lines().filter(|line| line.starts_with("new ")) {
            let text = fs::read_to_string(root.join(line["new".len()..].trim())).unwrap();
            assert!(!text.contains("{{"), "{line}: {text}");
        }
    }
}

/// Its file, its row, its broken scenario and its test, of all families together.
#[test]
fn every_family_has_a_skeleton() {
    let root =
        checkout("new-algorithm", &["CONTRIBUTING.md", "crates/sim", "crates/scenario/tests/bad"]);
    add_all(&root);
    let text = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let expected = text("crates/scenario/tests/bad/expected.txt");
    let sections: Vec<_> = expected.lines().filter_map(|line| line.strip_prefix("=== ")).collect();
    let scenarios = &sections[..sections.len() - 4];
    assert!(scenarios.is_sorted(), "{scenarios:?}");
    let modules = text("crates/sim/tests/main.rs");
    for family in FAMILIES {
        let name = name(family);
        assert!(expected.contains(&format!("error: `{family}.{name}.")), "{family}");
        // No message lists the classifiers.
        let listed = expected.contains(&format!(", {name}\n"));
        assert_eq!(listed, family != "switch.classify", "{family} among the members");
        assert!(modules.contains(&format!("mod {name};\n")), "{family}");
        assert!(text(&format!("crates/sim/tests/{name}.rs")).contains("f64 = f64::NAN;"));
        assert!(root.join(format!("crates/scenario/tests/bad/{name}_numbers.toml")).is_file());
    }
    // Not twice.
    let said = new(&root, "switch.aqm", "new_aqm");
    assert_eq!(said.code, Some(2));
    assert_eq!(
        said.err,
        "error: crates/sim/src/switch/aqm/new_aqm.rs is there already; choose another name\n"
    );
}

#[test]
fn what_cannot_be_a_new_algorithm_is_refused() {
    let root =
        checkout("no-algorithm", &["CONTRIBUTING.md", "crates/sim", "crates/scenario/tests/bad"]);
    let before = files(&root);
    for (family, name, cause) in [
        ("switch.aqm", "step", "aqm/step.rs is there already; choose another name"),
        ("switch.aqm", "stand", "aqm/stand.rs is there already"),
        ("switch.aqm", "code_l", "`code_l` would be taken for `codel`"),
        ("switch.aqm", "Sfb", "`Sfb` is not in snake_case; write lower-case letters"),
        ("switch.aqm", "a__b", "is not in snake_case"),
        ("switch.aqm", "loop", "`loop` is a keyword of Rust"),
        ("switch.path", "spray", "there already"),
        ("host.congestion", "naive", "main.rs has a module `naive` already"),
        ("aqm", "sfb", "there is no family `aqm`; did you mean `switch.aqm`?"),
        ("switch.buffer", "sfb", "CONTRIBUTING.md lists what it needs"),
    ] {
        let said = new(&root, family, name);
        assert_eq!((said.code, &*said.out), (Some(2), ""), "{family} {name}");
        assert!(said.err.contains(cause), "{family} {name}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    assert_eq!(files(&root), before);
    let outside = new(Path::new("/"), "switch.aqm", "sfb");
    assert!(outside.err.contains("/ is not in a checkout of floodway"), "{}", outside.err);
    // It is written, and so is what it may be mistaken for.
    let near = new(&root, "switch.aqm", "codell");
    assert_eq!(near.code, Some(0));
    assert!(near.err.contains("switch.aqm already has `codel`, whose name is similar; if `codell` is something else, go on"), "{}", near.err);
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { [path].into() }).collect()
}

/// Runs cargo in a copy of the sources, with the target directory of this one.
fn cargo(root: &Path, words: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    command.args(words).current_dir(root).env("CARGO_TARGET_DIR", target);
    said(command.output().unwrap())
}

/// The crate with every skeleton and its tests passes the type checker.
#[test]
fn every_skeleton_compiles() {
    let root = checkout("compiled-skeletons", &SOURCES);
    add_all(&root);
    let checked = cargo(&root, &["check", "--locked", "--tests", "--package", "floodway-sim"]);
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    assert!(!checked.err.contains("warning"), "{}", checked.err);
}

/// Every skeleton compiles, passes the tests of its family and its own but for the one whose expected value is
/// missing, and its message is the expected one. Takes minutes: `make check-skeletons`.
#[test]
#[ignore = "compiles a copy of the sources"]
fn every_skeleton_compiles_and_one_test_of_it_fails() {
    let root = checkout("skeletons", &SOURCES);
    add_all(&root);
    let formatted = cargo(&root, &["fmt", "--all"]);
    assert_eq!(formatted.code, Some(0), "{}", formatted.err);
    for words in [
        "test --package floodway-sim --lib conformance",
        "test --package floodway-sim --lib new_",
        "test --package floodway-scenario messages",
    ] {
        let said = cargo(&root, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(said.code, Some(0), "{words}\n{}\n{}", said.out, said.err);
    }
    let own = cargo(&root, &["test", "--package", "floodway-sim", "--test", "networks", "new_"]);
    let own_tests = || own.out.lines().filter(|line| line.starts_with("test new_"));
    let count = |result: &str| own_tests().filter(|line| line.ends_with(result)).count();
    assert_eq!((count("... ok"), count("... FAILED")), (7, 7), "{}\n{}", own.out, own.err);
    assert_eq!(own.out.matches("NaN on paper").count(), 7, "{}", own.out);
}
