//! The guide's scenarios are valid and its commands do what it says.

use std::fs;
use std::path::Path;

use crate::common::pages::{blocks, run};
use crate::common::place;

/// The name of a scenario, under which the guide has it saved.
fn name(scenario: &str) -> &str {
    let mut names = scenario.lines().filter_map(|line| line.strip_prefix("name = \""));
    names.next().expect("a whole scenario has a name").trim_end_matches('"')
}

#[test]
fn every_command_of_the_guide_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("docs/guide.md")).unwrap();

    // A folder with the guide's own scenario and those that come with the program.
    let folder = place("guide");
    fs::create_dir_all(folder.join("scenarios/ci")).unwrap();
    let shipped = "scenarios/ci/lossless.toml";
    fs::copy(root.join(shipped), folder.join(shipped)).unwrap();
    fs::create_dir_all(folder.join("scenarios/toolbox")).unwrap();
    for file in ["hpcc-files.toml", "topology.txt", "flow.txt"] {
        let file = format!("scenarios/toolbox/{file}");
        fs::copy(root.join(&file), folder.join(&file)).unwrap();
    }
    fs::create_dir_all(folder.join("scenarios/peers/hpcc-case-b")).unwrap();
    for file in ["config.txt", "topology.txt", "flow.txt"] {
        let file = format!("scenarios/peers/hpcc-case-b/{file}");
        fs::copy(root.join(&file), folder.join(&file)).unwrap();
    }
    let mut files = Vec::new();
    for scenario in blocks(&guide, "toml") {
        let file = format!("{}.toml", name(scenario));
        assert!(guide.contains(&format!("`{file}`")), "the guide does not say where {file} goes");
        fs::write(folder.join(&file), scenario).unwrap();
        files.push(file);
    }
    // In the order of the guide.
    let named = [
        "mine",
        "deep",
        "derived",
        "access",
        "incast",
        "backplane",
        "notified",
        "paths",
        "dual-homed",
        "network",
        "crossbar",
        "ring",
        "claimed",
    ];
    assert_eq!(files, named.map(|name| format!("{name}.toml")));

    let commands: Vec<_> = blocks(&guide, "sh").into_iter().flat_map(str::lines).collect();
    assert!(commands.len() > 6, "{commands:?}");
    for file in &files {
        let run = format!("floodway run {file}");
        assert!(commands.iter().any(|line| line.starts_with(&run)), "{file} is not run");
    }
    for line in commands {
        run(line, &folder);
    }
    let more = [
        "begun",
        "spread",
        "mine-again",
        "small",
        "derived-half",
        "access-reno",
        "incast-slower",
        "backplane-small",
        "network-fast",
        "hpcc-files",
        "case-b-run",
    ];
    let names = files.iter().map(|file| file.trim_end_matches(".toml"));
    for results in names.chain(more) {
        let report = folder.join("results").join(results).join("report.html");
        assert!(report.is_file(), "{results}");
    }
    // What the guide says is in the tables is there.
    for (runs, table) in [
        ("access/runs/dualpi2", "deliveries"),
        ("access/runs/dualpi2", "sojourns"),
        ("access/runs/dualpi2", "departures"),
        ("access/runs/dualpi2", "frames"),
        ("backplane/runs/drc", "latencies"),
        ("network/runs/indication", "entries"),
        ("crossbar/runs/voq", "inputs"),
        ("spread/runs/late", "samples"),
        ("spread/runs/late", "pause_intervals"),
    ] {
        let file = format!("results/{runs}/0/{table}.parquet");
        assert!(folder.join(&file).is_file(), "{file}");
    }
}
