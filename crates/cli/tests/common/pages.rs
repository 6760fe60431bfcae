//! What pages of the documentation have between their words: code, commands and links.

use std::path::Path;
use std::process::Command;

use super::{Said, said};

/// A block of code.
#[derive(Debug)]
pub struct Block<'a> {
    /// What it is written in.
    pub language: &'a str,
    /// Its lines.
    pub text: &'a str,
}

/// The blocks of a page.
pub fn all_blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, begun)) = rest.split_once("\n```") {
        let (language, begun) = begun.split_once('\n').expect("a block begins with a line");
        // An empty block ends where it begins.
        let (text, after) = match begun.strip_prefix("```") {
            Some(after) => ("", after),
            None => begun.split_once("\n```").expect("a block ends"),
        };
        found.push(Block { language, text });
        rest = after;
    }
    found
}

/// The blocks of a page that are in this language.
pub fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let found = all_blocks(page).into_iter().filter(|block| block.language == language);
    found.map(|block| block.text).collect()
}

/// Runs a line that calls the program, in a folder; whatever comes of it.
pub fn tried(line: &str, folder: &Path) -> Said {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("floodway"), "{line}");
    let mut command = Command::new(super::program());
    said(command.args(words).current_dir(folder).output().unwrap())
}

/// Runs a line that calls the program, in a folder; it must succeed.
pub fn run(line: &str, folder: &Path) -> Said {
    let said = tried(line, folder);
    assert_eq!(said.code, Some(0), "{line}\n{}{}", said.out, said.err);
    said
}

/// The targets of a page's links, images among them, that are no addresses of the web.
pub fn links(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        if in_code {
            continue;
        }
        let targets = line.split("](").skip(1);
        let targets = targets.map(|rest| rest.split_once(')').expect("a link ends").0);
        found.extend(targets.filter(|target| !target.contains(':')));
    }
    found
}

/// The anchors of a page: those of its headings, as code hosts and mdBook make them, and those that
/// are written.
pub fn anchors(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found: Vec<String> = Vec::new();
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        let written = line.split("<a id=\"").skip(1);
        found.extend(written.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        let title = line.trim_start_matches('#');
        if in_code || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let fits = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let letters = title.trim().to_lowercase();
        found.push(letters.chars().filter(fits).map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    found
}
