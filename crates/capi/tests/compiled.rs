//! Programs in C and C++ that use sessions, compiled with the compilers of this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the libraries of this crate are that belong to this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    test.parent().expect("it is in a directory").to_owned()
}

/// Whether there is this compiler; if not, that is said, and an error if `FLOODWAY_INSIST` asks for all tests.
fn is_there(compiler: &str) -> bool {
    let version = Command::new(compiler).arg("--version").stdout(Stdio::null()).status();
    let is_there = version.is_ok_and(|status| status.success());
    if !is_there {
        assert_ne!(env::var("FLOODWAY_INSIST").as_deref(), Ok("1"), "there is no `{compiler}`");
        println!("skipped: there is no compiler `{compiler}`");
    }
    is_there
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles these sources and runs the program with these arguments; what it prints.
fn run(
    name: &str,
    compiler: &str,
    options: &[&str],
    sources: &[PathBuf],
    arguments: &[&str],
) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).unwrap();
    let (program, libraries) = (directory.join("program"), libraries());
    let compiled = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1"])
        .args(options)
        .arg("-I")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .args(sources)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-lfloodway_c")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{compiler}: {errors}");
    let ran = Command::new(&program).args(arguments).current_dir(&directory).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{name} printed:\n{printed}{errors}");
    printed
}

#[test]
fn a_program_in_c() {
    if !is_there("cc") {
        return;
    }
    let tables = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables of C");
    let _ = fs::remove_dir_all(&tables);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session.c");
    let options = ["-std=c99", "-pedantic"];
    let printed = run("c", "cc", &options, &[source], &[tables.to_str().unwrap()]);
    assert_eq!(printed, "all is well\n");
    let flows = fs::read_to_string(tables.join("flows.csv")).unwrap();
    assert_eq!(flows.lines().count(), 3, "{flows}");
}

/// The adapter for ASTRA-sim, with a stand-in for that and a small job: see `contrib/astra-sim`.
#[test]
fn the_adapter_for_astra_sim() {
    if !is_there("c++") {
        return;
    }
    let adapter = root().join("contrib/astra-sim");
    let (include, stand_in) =
        (adapter.display().to_string(), adapter.join("test").display().to_string());
    let options = ["-std=c++17", "-I", &include, "-I", &stand_in];
    let sources = [adapter.join("floodway_network.cc"), adapter.join("test/ring.cc")];
    assert_eq!(run("astra", "c++", &options, &sources, &[]), "all is well\n");
}
