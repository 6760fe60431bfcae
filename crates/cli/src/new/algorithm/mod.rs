//! `floodway new algorithm`: the skeleton of a new member of a family, in a checkout of floodway.

mod skeletons;
mod tree;

use std::path::{Path, PathBuf};

use floodway_scenario::suggest;

use crate::failure::Failure;
use crate::list::catalogue;
use crate::options::AlgorithmOptions;
use crate::output;
use skeletons::{COMMON, NEXT, SKELETONS, Skeleton, filled};
use tree::Tree;

/// What a checkout of floodway has.
const MARKS: [&str; 3] = ["CONTRIBUTING.md", "crates/sim/src/lib.rs", "crates/scenario/tests/bad"];

/// Which names Rust keeps for itself.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum \
    extern false final fn for gen if impl in let loop macro match mod move mut override \
    priv pub ref return self static struct super trait true try type typeof unsafe \
    unsized use virtual where while yield";

/// Writes the files of a new algorithm and adds it to its family. Either all is written or nothing.
pub fn algorithm(options: &AlgorithmOptions) -> Result<(), Failure> {
    let name = &*options.name;
    let skeleton = skeleton(&options.family).map_err(Failure::Unknown)?;
    if let Some(cause) = bad_name(name) {
        return Err(Failure::Unknown(format!(
            "`{name}` {cause}; write lower-case letters and digits, with `_` between words, like \
             `my_{}`",
            skeleton.family.rsplit('.').next().unwrap_or_default()
        )));
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::System("find the current directory", error))?;
    let mut tree = Tree::new(checkout(&here).map_err(Failure::Unknown)?);
    tree.apply([skeleton.text, COMMON], skeleton.family, name).map_err(Failure::Unknown)?;
    let written = tree.write()?;
    let members = catalogue().filter(|entry| entry.family == skeleton.family);
    if let Some(close) = suggest::closest(name, members.map(|entry| entry.name)) {
        output::note(&format!(
            "{} already has `{close}`, whose name is similar; if `{name}` is something else, go on",
            skeleton.family
        ));
    }
    let next = filled(NEXT, &[("family", skeleton.family), ("name", name)]);
    output::print(&format!("{written}{next}"))
}

/// The skeleton of a family; why there is none.
fn skeleton(family: &str) -> Result<&'static Skeleton, String> {
    let find = |name: &str| SKELETONS.iter().find(|skeleton| skeleton.family == name);
    if let Some(skeleton) = find(family) {
        return Ok(skeleton);
    }
    let supported = || SKELETONS.iter().map(|skeleton| skeleton.family);
    if catalogue().any(|entry| entry.family == family) {
        return Err(format!(
            "a new member of `{family}` needs more than a file and a row, so there is no skeleton \
             for it; CONTRIBUTING.md lists what it needs, in its section \"Families\". There are \
             skeletons for {}",
            supported().collect::<Vec<_>>().join(", ")
        ));
    }
    let all = catalogue().map(|entry| entry.family);
    let by_last = supported().find(|name| name.rsplit('.').next() == Some(family));
    let close = by_last.or_else(|| suggest::closest(family, all));
    Err(match close {
        Some(close) => format!("there is no family `{family}`; did you mean `{close}`?"),
        None => format!(
            "there is no family `{family}`; there are skeletons for {}",
            supported().collect::<Vec<_>>().join(", ")
        ),
    })
}

/// Why this cannot be the name of an algorithm, which is that of a module too.
fn bad_name(name: &str) -> Option<&'static str> {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.split('_').all(word) {
        return Some("is not in snake_case");
    }
    KEYWORDS.split_whitespace().any(|keyword| keyword == name).then_some("is a keyword of Rust")
}

/// The checkout that a folder is in.
fn checkout(here: &Path) -> Result<PathBuf, String> {
    let is_root = |folder: &&Path| MARKS.iter().all(|mark| folder.join(mark).exists());
    here.ancestors().find(is_root).map(Path::to_path_buf).ok_or_else(|| {
        format!(
            "{} is not in a checkout of floodway, and a new algorithm is part of its sources; run \
             this in a clone of its repository",
            here.display()
        )
    })
}
