//! Changes to the files of a checkout, which are made together.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::skeletons::filled;
use crate::failure::Failure;
use crate::save::{is_taken, make_folder, save};

/// The expected messages of broken scenarios.
const EXPECTED: &str = "crates/scenario/tests/bad/expected.txt";

/// A checkout with changes that are not written yet.
pub struct Tree {
    root: PathBuf,
    /// By path: what the file is to be.
    changed: BTreeMap<String, String>,
    new: BTreeMap<String, String>,
}

impl Tree {
    /// Without changes.
    pub fn new(root: PathBuf) -> Self {
        Self { root, changed: BTreeMap::new(), new: BTreeMap::new() }
    }

    /// Makes the changes of a skeleton, whose parts are in two texts. A part begins with a line `==> KIND PLACE`:
    ///
    /// - `new FILE`: a file.
    /// - `module FILE`: a `mod` line, in alphabetical order.
    /// - `insert FILE`: lines before the first line `before` that follows the line `after`; its first two lines say
    ///   which these are.
    /// - `row FILE`: the same of the row of a family, whose members are listed in expected messages too.
    /// - `section FILE`: an expected message, in the order of the names of scenarios.
    /// - `let NAME`: a value for `{{NAME}}` elsewhere.
    pub fn apply(&mut self, parts: [&str; 2], family: &str, name: &str) -> Result<(), String> {
        let mut values = vec![
            ("family", family.to_owned()),
            ("name", name.to_owned()),
            ("Name", camel_case(name)),
        ];
        for part in parts.iter().flat_map(|parts| parts.split("==> ").skip(1)) {
            let (head, text) = part.split_once('\n').expect("a part has a text");
            let (kind, place) = head.split_once(' ').expect("a part has a place");
            let (file, text) = (filled(place, &values), filled(text, &values));
            match kind {
                "new" => self.add(file, text)?,
                "module" => self.add_module(&file, name, &text)?,
                "insert" => drop(self.insert(&file, &text)?),
                "row" => self.add_row(&file, name, &text)?,
                "section" => self.add_section(&file, &text)?,
                "let" => values.push((place, text.trim_end().to_owned())),
                other => unreachable!("a skeleton has no part {other}"),
            }
        }
        Ok(())
    }

    /// Writes all files; which.
    pub fn write(self) -> Result<String, Failure> {
        let mut report = String::new();
        for (what, files) in [("new", self.new), ("changed", self.changed)] {
            for (file, text) in files {
                let path = self.root.join(&file);
                if let Some(folder) = path.parent() {
                    make_folder(folder)?;
                }
                save(&path, "the skeleton", &text)?;
                let _ = writeln!(report, "{what:8} {file}");
            }
        }
        Ok(report)
    }

    /// A file that is not there yet.
    fn add(&mut self, file: String, text: String) -> Result<(), String> {
        if is_taken(&self.root.join(&file)) {
            return Err(format!("{file} is there already; choose another name"));
        }
        self.new.insert(file, text);
        Ok(())
    }

    /// The lines of a file as it is to be.
    fn lines(&self, file: &str) -> Result<Vec<String>, String> {
        let text = match self.changed.get(file) {
            Some(text) => text.clone(),
            None => fs::read_to_string(self.root.join(file)).map_err(|error| {
                format!("cannot read {file}: {error}; run this in a complete checkout of floodway")
            })?,
        };
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Inserts a text before the line with this number.
    fn put(&mut self, file: &str, mut lines: Vec<String>, at: usize, text: &str) {
        lines.insert(at, text.trim_end().to_owned());
        self.changed.insert(file.to_owned(), lines.join("\n") + "\n");
    }

    fn add_module(&mut self, file: &str, name: &str, text: &str) -> Result<(), String> {
        let lines = self.lines(file)?;
        let modules =
            || lines.iter().enumerate().filter_map(|(at, line)| Some((at, module(line)?)));
        if modules().any(|(_, module)| module == name) {
            return Err(format!("{file} has a module `{name}` already; choose another name"));
        }
        let next = modules().find(|(_, module)| *module > name).map(|(at, _)| at);
        let Some(mut at) = next.or_else(|| Some(modules().next_back()?.0 + 1)) else {
            return Err(unlike(file, "mod"));
        };
        // Attributes stay with their module.
        while next.is_some() && at > 0 && lines[at - 1].starts_with("#[") {
            at -= 1;
        }
        self.put(file, lines, at, text);
        Ok(())
    }

    /// The lines between which the text was inserted.
    fn insert(&mut self, file: &str, text: &str) -> Result<Vec<String>, String> {
        let (after, rest) = text.split_once('\n').expect("a line `after`");
        let (before, text) = rest.split_once('\n').expect("a line `before`");
        let (after, before) = (&after["after: ".len()..], &before["before: ".len()..]);
        let lines = self.lines(file)?;
        let found = lines.iter().position(|line| line.trim() == after);
        let begin = found.ok_or_else(|| unlike(file, after))? + 1;
        let found = lines[begin..].iter().position(|line| line == before);
        let end = begin + found.ok_or_else(|| unlike(file, before))?;
        let between = lines[begin..end].to_vec();
        self.put(file, lines, end, text);
        Ok(between)
    }

    fn add_row(&mut self, file: &str, name: &str, text: &str) -> Result<(), String> {
        let rows = self.insert(file, text)?;
        let members: Vec<&str> = rows.iter().filter_map(|line| member(line)).collect();
        let plain = |name: &str| name.replace('_', "");
        if let Some(taken) = members.iter().find(|member| plain(member) == plain(name)) {
            return Err(format!("`{name}` would be taken for `{taken}`; choose another name"));
        }
        let list = members.join(", ");
        let text = self.lines(EXPECTED)?.join("\n") + "\n";
        let longer = text.replace(&format!(": {list}\n"), &format!(": {list}, {name}\n"));
        if longer != text {
            self.changed.insert(EXPECTED.to_owned(), longer);
        }
        Ok(())
    }

    /// Sections are in the order of the scenarios. Those at the end are about files that are not there.
    fn add_section(&mut self, file: &str, text: &str) -> Result<(), String> {
        let lines = self.lines(file)?;
        let own = text.lines().next().and_then(section).expect("a section has a name");
        let folder = self.root.join(file).with_file_name("");
        let is_behind = |line: &String| {
            section(line)
                .is_some_and(|name| name > own || !is_taken(&folder.join(format!("{name}.toml"))))
        };
        let at = lines.iter().position(is_behind).unwrap_or(lines.len());
        self.put(file, lines, at, text);
        Ok(())
    }
}

/// The name of an expected message.
fn section(line: &str) -> Option<&str> {
    line.strip_prefix("=== ")
}

/// The module that a line declares.
fn module(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("mod ")?;
    let is_declaration = before.is_empty() || before.starts_with("pub");
    rest.strip_suffix(';').filter(|_| is_declaration)
}

/// The member of a family that a line of its rows begins: `Step = "step" in step: …` or `pfc: …`.
fn member(line: &str) -> Option<&str> {
    let row = line.strip_prefix("    ").filter(|row| row.starts_with(char::is_alphabetic))?;
    match row.split_once(" = \"") {
        Some((_, rest)) => rest.split('"').next(),
        None => row.split_once(':').map(|(name, _)| name),
    }
}

fn unlike(file: &str, line: &str) -> String {
    format!(
        "{file} has no line `{}` where it is expected, so this program and the checkout are of different \
         versions; run the program of the checkout, or add the algorithm by hand as CONTRIBUTING.md says",
        line.trim()
    )
}

/// `my_aqm` as the name of a variant: `MyAqm`.
fn camel_case(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}
