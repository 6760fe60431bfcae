//! `floodway new`: every template is a valid scenario that runs, and so is what stands in it
//! commented out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{self, Said, place, said};
use floodway_scenario::{Overrides, Scenario};

const TEMPLATES: [&str; 10] = [
    "clos",
    "fat-tree",
    "training",
    "dumbbell",
    "rrul",
    "dsl",
    "cable",
    "l4s",
    "backplane",
    "custom",
];

fn text(template: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/new/templates");
    fs::read_to_string(folder.join(format!("{template}.toml"))).unwrap()
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = place(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn floodway_in(folder: &Path, words: &[&str]) -> Said {
    let mut command = Command::new(common::program());
    said(command.args(words).current_dir(folder).output().unwrap())
}

#[test]
fn every_template_runs_in_both_sizes() {
    let folder = folder("templates");
    for template in TEMPLATES {
        let file = format!("my-{template}.toml");
        let name = format!("my-{template}");
        let new = floodway_in(&folder, &["new", &name, "--template", template]);
        assert_eq!((new.code, new.err.as_str()), (Some(0), ""), "{template}");
        assert!(new.out.starts_with(&format!("wrote {file}: ")), "{}", new.out);
        assert!(new.out.contains(&format!("\nfloodway run {file} ")), "{}", new.out);
        let check = floodway_in(&folder, &["check", &file]);
        // Nothing is doubtful in it. What lint finds may be what it is about, such as pauses without marks.
        let doubtful = check.err.lines().find(|line| {
            line.starts_with("error") || (line.starts_with("warning: ") && !line.contains(": ["))
        });
        assert_eq!((check.code, doubtful), (Some(0), None), "{template}");
        assert!(check.out.starts_with(&format!("{name}: ")), "{}", check.out);
        let run = floodway_in(&folder, &["run", &file, "-q"]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{template}");
        assert!(folder.join("results").join(&name).join("report.html").is_file());
        let quick = floodway_in(
            &folder,
            &["run", &file, "-q", "--quick", "--out", "results/quick", "--force"],
        );
        assert_eq!((quick.code, quick.err.as_str()), (Some(0), ""), "{template}");
    }
    let help = floodway_in(&folder, &["new", "--help"]).out;
    let listed: Vec<_> = help.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    let names: Vec<_> = listed.iter().map(|line| line.split_once(':').unwrap().0).collect();
    assert_eq!(names, TEMPLATES);
}

/// The blocks of a template that are commented out: the numbers of their lines.
fn commented_out(text: &str) -> Vec<Vec<usize>> {
    let is_code = |line: &str| {
        let Some(code) = line.strip_prefix("# ") else { return false };
        let word = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '.');
        let assigns = code.split_once(" = ").is_some_and(|(key, _)| key.chars().all(word));
        code.starts_with('[') || assigns
    };
    let lines: Vec<_> = text.lines().enumerate().filter(|(_, line)| is_code(line)).collect();
    let blocks = lines.chunk_by(|(before, _), (after, _)| before + 1 == *after);
    blocks.map(|block| block.iter().map(|(number, _)| *number).collect()).collect()
}

#[test]
fn what_is_commented_out_is_valid_too() {
    let mut count = 0;
    for template in TEMPLATES {
        let text = text(template);
        for block in commented_out(&text) {
            let line = |(number, line): (usize, &str)| match block.contains(&number) {
                true => format!("{}\n", line.strip_prefix("# ").unwrap()),
                false => format!("{line}\n"),
            };
            let changed: String = text.lines().enumerate().map(line).collect();
            if let Err(error) = Scenario::parse(&changed, template, &Overrides::default()) {
                panic!("{template}: {}", error.plain());
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// A slip of the name of a template is a name like any other, and is pointed out.
#[test]
fn a_name_that_is_nearly_a_template_is_pointed_out() {
    let folder = folder("slip");
    let said = floodway_in(&folder, &["new", "rrull"]);
    assert_eq!(said.code, Some(0));
    let hint = "no template has the name `rrull`: did you mean `rrul`?\n";
    assert!(said.out.contains(hint), "{}", said.out);
    for words in
        [&["new", "rrul"][..], &["new", "rrull2", "--template", "rrul"], &["new", "study-7"]]
    {
        let said = floodway_in(&folder, words);
        assert!(!said.out.contains("did you mean"), "{words:?}: {}", said.out);
    }
}

#[test]
fn nothing_is_written_over() {
    let folder = folder("new");
    let new = |words: &[&str]| floodway_in(&folder, &[&["new"], words].concat());
    let refused = |words: &[&str], expected: &str| {
        let said = new(words);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(2), "", expected));
    };
    // An ending that somebody gives although it is none of the name's.
    assert_eq!(new(&["mine.toml"]).code, Some(0));
    assert!(fs::read_to_string(folder.join("mine.toml")).unwrap().starts_with("name = \"mine\"\n"));
    fs::write(folder.join("mine.toml"), "mine").unwrap();
    refused(
        &["mine"],
        "error: mine.toml is there already; choose another name, another file with --out, or \
         replace it with --force\n",
    );
    assert_eq!(fs::read_to_string(folder.join("mine.toml")).unwrap(), "mine");
    assert_eq!(new(&["mine", "--force"]).code, Some(0));
    assert_eq!(new(&["other", "--out", "a/b c.toml"]).code, Some(0));
    let there = fs::read_to_string(folder.join("a/b c.toml")).unwrap();
    assert!(there.starts_with("name = \"other\"\n"), "{there}");
    refused(
        &["x", "--out", "a"],
        "error: a is a directory; name a file in it with --out, like a/mine.toml\n",
    );
    refused(
        &["a b"],
        "error: the name contains ' '; name it with letters, digits, `-`, `_` and `.`, because its \
         results go to a directory of that name. Another place for the file is --out\n",
    );
    // A schema beside it is named, for editors.
    let schema = floodway_in(&folder, &["schema"]).out;
    fs::write(folder.join("floodway.schema.json"), &schema).unwrap();
    assert_eq!(new(&["edited"]).code, Some(0));
    let there = fs::read_to_string(folder.join("edited.toml")).unwrap();
    let (first, rest) = there.split_once("\n\n").unwrap();
    assert_eq!(first, "#:schema ./floodway.schema.json");
    assert!(rest.starts_with("name = \"edited\"\n"));
    assert_eq!(floodway_in(&folder, &["check", "edited.toml"]).code, Some(0));
}
