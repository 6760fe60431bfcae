//! Completion files of the HPCC simulator: written from results, and compared with them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{floodway, json, place, word};

const CONFIG: &str = include_str!("../../scenario/tests/fct/config.txt");
const TOPOLOGY: &str = include_str!("../../scenario/tests/fct/topology.txt");

const FLOWS: &str = "2\n0 1 3 100 1000 2\n0 1 3 200 5000 2.0001\n";

/// By hand: see the tests of the scenario crate.
const FCT: &str = "\
0b000001 0b000101 10000 100 1000 2000000000 4177 4243
0b000001 0b000101 10001 200 5000 2000100000 4512 4579
";

/// A folder with the experiment and results of it.
fn results(test: &str) -> (PathBuf, PathBuf) {
    let folder = place(test);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let (config, out) = (folder.join("config.txt"), folder.join("results"));
    let said = floodway(&["import", "hpcc", word(&config), "--out", word(&folder)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let scenario = folder.join("scenario.toml");
    let said = floodway(&["run", word(&scenario), "--quiet", "--out", word(&out)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    (folder, out)
}

/// What is refused, on standard error.
fn refused(words: &[&str]) -> String {
    let said = floodway(words);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    said.err
}

#[test]
fn a_run_is_written_and_compared_with_itself_and_with_another() {
    let (folder, out) = results("fct-export");
    let said = floodway(&["export", "hpcc", word(&out)]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), FCT), "{}", said.err);
    let file = folder.join("fct.txt");
    let write = ["export", "hpcc", word(&out), "--out", word(&file)];
    let said = floodway(&write);
    assert_eq!(said.out, format!("{}: 2 of 2 flows have completed\n", file.display()));
    assert_eq!(fs::read_to_string(&file).unwrap(), FCT);
    assert!(refused(&write).contains("is there already; name another file with --out"));

    let same = floodway(&["compare", "hpcc", word(&out), word(&file)]);
    assert_eq!(
        same.out,
        "2 flows have completed in both\n\n\
         Completion time in the run relative to the file\n\
         \x20 equal to 1 ns             2 of 2, 100.0 %\n\
         \x20 within 1 %                2 of 2, 100.0 %\n\
         \x20 median                    +0.01 %\n\
         \x20 1st and 99th percentile   +0.01 %, +0.01 %\n\
         \x20 10th and 90th percentile  +0.01 %, +0.01 %\n\
         \x20 worst                     +0.01 %\n",
        "{}",
        same.err
    );
    // Another simulator in which the second flow took 4000 ns: 4512.64 are 12.82 % more.
    fs::write(&file, FCT.replace(" 4512 ", " 4000 ")).unwrap();
    let said = floodway(&["compare", "hpcc", word(&out), word(&file)]);
    let last = said.out.lines().last().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(last, "1 0 1 5000 2000100000 4512.640 4000 +12.82 %", "{}", said.out);
    let value = json(&["compare", "hpcc", word(&out), word(&file), "--json"]);
    assert_eq!((value["in_both"].as_u64(), value["equal"].as_u64()), (Some(2), Some(1)));
    assert_eq!(value["largest"][0]["flow"], 1);
    assert!((value["worst_ratio"].as_f64().unwrap() - 1.12816).abs() < 1e-9);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (folder, out) = results("fct-refused");
    let file = folder.join("fct.txt");
    let compare = ["compare", "hpcc", word(&out), word(&file)];
    fs::write(&file, FCT.replace(" 4512 ", " ")).unwrap();
    assert_eq!(
        refused(&compare),
        format!(
            "error: a completion has 8 numbers, and the line has 7\n \
             --> {}:2:1\n  |\n\
             2 | 0b000001 0b000101 10001 200 5000 2000100000 4579\n  \
             | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  \
             = help: write the addresses of source and destination, their ports, bytes, and start, \
             completion time and standalone time in nanoseconds: \
             0b000001 0b000101 10000 100 1000 2000000000 4383 4252\n",
            file.display()
        )
    );
    fs::write(&file, FCT.replace(" 2000", " 3000")).unwrap();
    assert!(
        refused(&compare)
            .contains("is one of the run: the first is 0 to 1, 1000 B at 3000000000 ns")
    );
    fs::write(&file, FCT).unwrap();
    let none = refused(&["export", "hpcc", word(&out), "--variant", "other"]);
    assert!(
        none.contains("it has `base` 0; choose one with --variant and --replication"),
        "{none}"
    );
    change(&folder, "flow.txt", "5000", "5001");
    assert!(refused(&compare).contains("is not what it was when"));
    fs::remove_file(folder.join("scenario.toml")).unwrap();
    assert!(refused(&compare).contains("the scenario of these results; name it with --scenario"));
}

fn change(folder: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    fs::write(folder.join(name), text.replace(from, to)).unwrap();
}
