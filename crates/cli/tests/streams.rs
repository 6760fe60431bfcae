//! Standard output that is full, or that is not read to its end.

use std::fs::File;

use crate::common::{command, place, said, word};

/// Lint finds nothing in this.
const CHECK: [&str; 4] = ["check", "tiny.toml", "--set", "switch.aqm.ramp.kmax=150KB"];

#[test]
fn a_full_device_is_an_error() {
    let out = place("full");
    let cases: [&[&str]; 5] = [
        &["list"],
        &CHECK,
        &["reference"],
        &["run", "tiny.toml", "--quick", "--json", "--out", word(&out)],
        &["bench", "incast", "--quick", "--json", "--threads", "1"],
    ];
    for words in cases {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let said = said(command(words).stdout(full).output().unwrap());
        assert_eq!(
            said.err,
            "error: cannot write to standard output: the device is full; check what it is \
             connected to\n",
            "{words:?}"
        );
        assert_eq!(said.code, Some(1), "{words:?}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for words in [&["reference"][..], &["list"], &CHECK] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let said = said(command(words).stdout(writer).output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn standard_error_may_be_full_too() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let status = command(&["check", "nothing.toml"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
    let out = place("full-error");
    let words = ["run", "tiny.toml", "--quick", "-v", "--out", word(&out)];
    let said = said(command(&words).stderr(full()).output().unwrap());
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("results in "));
}
