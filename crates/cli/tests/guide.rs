//! The guide's scenarios are valid and its commands do what it says.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{place, said};

/// The blocks of a page that are in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|rest| rest.split_once("```").expect("it ends").0).collect()
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
    let scenarios = blocks(&guide, "toml");
    assert_eq!(scenarios.len(), 3);
    fs::write(folder.join("mine.toml"), scenarios[0]).unwrap();
    fs::write(folder.join("deep.toml"), scenarios[1]).unwrap();
    fs::write(folder.join("access.toml"), scenarios[2]).unwrap();

    let commands: Vec<_> = blocks(&guide, "sh").into_iter().flat_map(str::lines).collect();
    assert!(commands.len() > 6, "{commands:?}");
    for line in commands {
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some("floodway"), "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_floodway"));
        let said = said(command.args(words).current_dir(&folder).output().unwrap());
        assert_eq!(said.code, Some(0), "{line}\n{}{}", said.out, said.err);
    }
    for results in ["mine", "mine-again", "small", "deep", "access", "access-reno"] {
        let report = folder.join("results").join(results).join("report.html");
        assert!(report.is_file(), "{results}");
    }
    // What the guide says is in the tables is there.
    for table in ["deliveries", "sojourns", "departures", "frames"] {
        let file = format!("results/access/runs/dualpi2/0/{table}.parquet");
        assert!(folder.join(&file).is_file(), "{file}");
    }
}
