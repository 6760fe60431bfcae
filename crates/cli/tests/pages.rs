//! The pages of the documentation: the tutorial does what it says, every page is in the book, and
//! links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::common::pages::{all_blocks, anchors, links, run, tried};
use crate::common::place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The scenario that the tutorial adds to.
const SCENARIO: &str = "first.toml";

#[test]
fn every_command_of_the_tutorial_works() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let folder = place("tutorial");
    fs::create_dir_all(&folder).unwrap();
    // Whatever was said so far: the tutorial shows parts of it.
    let mut all = String::new();
    let (mut commands, mut shown) = (0, 0);
    for block in all_blocks(&page) {
        match block.language {
            "sh" => {
                for line in block.text.lines() {
                    all += &run(line, &folder).out;
                    commands += 1;
                }
            }
            // What is to stand at the end of the scenario.
            "toml" => {
                let scenario = fs::read_to_string(folder.join(SCENARIO)).unwrap();
                fs::write(folder.join(SCENARIO), format!("{scenario}\n{}\n", block.text)).unwrap();
            }
            "text" => {
                assert!(all.contains(block.text), "not said:\n{}\nbut:\n{all}", block.text);
                shown += 1;
            }
            // A command that fails, and what is said then.
            "console" if block.text.starts_with("$ ") => {
                let (line, expected) = block.text[2..].split_once('\n').unwrap();
                let said = tried(line, &folder);
                assert_eq!((said.code, said.err.trim_end()), (Some(2), expected), "{line}");
                shown += 1;
            }
            "console" | "sql" | "python" => {}
            other => panic!("what is to become of a block of {other}?"),
        }
    }
    assert!(commands >= 10 && shown >= 2, "{commands} commands, {shown} answers");
    for results in ["first", "first-busy", "first-text", "mine"] {
        assert!(folder.join("results").join(results).join("report.html").is_file(), "{results}");
    }
    let runs = fs::read_dir(folder.join("results/first/runs/hpcc")).unwrap().count();
    assert_eq!(runs, 10);
    // What its queries ask for is there.
    let dictionary = fs::read_to_string(folder.join("results/first/dictionary.md")).unwrap();
    let flows = dictionary.split("\n## ").find(|table| table.starts_with("flows\n")).unwrap();
    for column in ["variant", "fct_ns", "bytes", "measured"] {
        assert!(page.contains(column) && flows.contains(&format!("| `{column}` |")), "{column}");
    }
}

/// Commands of a page succeed in turn, with its scenarios under their names, and what it shows they say.
fn works(page: &str) -> usize {
    let text = fs::read_to_string(root().join(format!("docs/{page}.md"))).unwrap();
    let folder = place(page);
    fs::create_dir_all(&folder).unwrap();
    let (mut all, mut shown) = (String::new(), 0);
    for block in all_blocks(&text) {
        match block.language {
            "sh" => block.text.lines().for_each(|line| all += &run(line, &folder).out),
            "toml" => {
                let named = block.text.lines().find_map(|line| line.strip_prefix("name = \""));
                let name = named.expect("a whole scenario has a name").trim_end_matches('"');
                fs::write(folder.join(format!("{name}.toml")), block.text).unwrap();
            }
            "text" => {
                assert!(all.contains(block.text), "not said:\n{}\nbut:\n{all}", block.text);
                shown += 1;
            }
            other => panic!("what is to become of a block of {other}?"),
        }
    }
    shown
}

#[test]
fn commands_of_concepts_and_tasks_say_what_is_shown() {
    assert_eq!(works("concepts"), 1);
    assert!(works("tasks") >= 7);
}

/// The commands of the tour succeed, and the claim that it adds to a scenario is judged.
#[test]
fn every_command_of_the_tour_works() {
    // Its blocks stand in lists.
    let page = fs::read_to_string(root().join("docs/tour.md")).unwrap().replace("\n   ", "\n");
    let folder = place("tour");
    fs::create_dir_all(&folder).unwrap();
    let mut said = Vec::new();
    for block in all_blocks(&page) {
        match block.language {
            "sh" => said.extend(block.text.lines().map(|line| run(line, &folder).out)),
            "toml" => {
                let scenario = fs::read_to_string(folder.join("mine.toml")).unwrap();
                fs::write(folder.join("mine.toml"), format!("{scenario}\n{}\n", block.text))
                    .unwrap();
            }
            "python" => {}
            other => panic!("what is to become of a block of {other}?"),
        }
    }
    assert_eq!(said.len(), 8);
    assert!(said[3].contains("leaf 2 to host 10, which 7 flows of incast fill"), "{}", said[3]);
    assert!(said[5].contains("mean completion time below 100 KB"), "{}", said[5]);
    assert!(said[7].contains("codel vs. drop-tail: mean goodput"), "{}", said[7]);
}

/// All pages and notebooks in a folder and those below it.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut pages(&path));
        } else if path.extension().is_some_and(|is| is == "md" || is == "ipynb") {
            found.insert(path);
        }
    }
    found
}

/// Where a link on a page leads.
fn target(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap().to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{link}"),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn every_page_is_in_the_book() {
    let summary = root().join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary).unwrap();
    let listed: Vec<_> = links(&text).into_iter().map(|link| target(&summary, link)).collect();
    let once: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "a page stands there twice");
    let mut all = pages(&root().join("docs"));
    all.remove(&summary);
    assert!(all.len() > 40, "{}", all.len());
    for page in all {
        assert!(once.contains(&page), "{} is not in docs/SUMMARY.md", page.display());
    }
    for page in once {
        assert!(page.is_file(), "docs/SUMMARY.md has {}, which is not there", page.display());
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let summary = root().join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary).unwrap();
    let mut count = 0;
    for page in links(&text).into_iter().map(|link| target(&summary, link)) {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let shown = format!("{link} on {}", page.display());
            let there = if file.is_empty() { page.clone() } else { target(&page, file) };
            assert!(there.exists(), "{shown}");
            if !anchor.is_empty() {
                let there = fs::read_to_string(&there).unwrap();
                assert!(anchors(&there).iter().any(|it| it == anchor), "{shown}");
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}
