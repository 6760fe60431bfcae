//! `floodway list`: what scenarios and options can name.

use std::fmt::Write;

use floodway_model::family::Entry;
use floodway_report::{format, trace};
use floodway_scenario::{presets, suggest};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::options::ListOptions;
use crate::output;

/// Shows the catalogue, or a part of it.
pub fn list(options: &ListOptions) -> Result<(), Failure> {
    let entries = match &options.family {
        Some(family) => members(family)?,
        None => catalogue().collect(),
    };
    if options.json {
        return output::print_json(&entries.iter().map(|entry| as_json(entry)).collect::<Value>());
    }
    output::print(&as_text(&entries))
}

/// Every algorithm, topology, workload, preset, form of tables and of traces, and study.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    floodway_scenario::catalogue()
        .chain(presets::CATALOGUE.iter().map(|preset| &preset.entry))
        .chain(format::CATALOGUE.iter().map(|format| &format.entry))
        .chain(trace::CATALOGUE.iter().map(|form| &form.entry))
        .chain(floodway_study::CATALOGUE.iter().map(floodway_study::Built::entry))
}

/// The members of a family, or of all families of a part.
fn members(wanted: &str) -> Result<Vec<&'static Entry>, Failure> {
    let part = format!("{wanted}.");
    let belongs = |entry: &&Entry| entry.family == wanted || entry.family.starts_with(&part);
    let found: Vec<_> = catalogue().filter(belongs).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    Err(Failure::Unknown(format!("there is no family `{wanted}`; {}", remedy(wanted))))
}

/// What somebody who wants this family may mean: a family or the last word of one, `aqm`, a part, or
/// a member.
fn remedy(wanted: &str) -> String {
    let mut families: Vec<_> = catalogue().map(|entry| entry.family).collect();
    families.dedup();
    let last = |family: &&'static str| family.rsplit('.').next().unwrap_or(family);
    let by_last = |word: &str| families.iter().copied().find(|family| last(family) == word);
    let of_member = |name: &str| catalogue().find(|entry| entry.name == name);
    let member = |entry: &Entry| {
        format!("`{}` is a member of `{1}`: floodway list {1}", entry.name, entry.family)
    };
    let exactly = by_last(wanted).map(|family| format!("did you mean `{family}`?"));
    if let Some(remedy) = exactly.or_else(|| of_member(wanted).map(member)) {
        return remedy;
    }
    let parts = families.iter().filter_map(|family| Some(family.split_once('.')?.0));
    let close = suggest::closest(wanted, families.iter().copied().chain(parts));
    let close = close.or_else(|| by_last(suggest::closest(wanted, families.iter().map(last))?));
    if let Some(family) = close {
        return format!("did you mean `{family}`?");
    }
    match suggest::closest(wanted, catalogue().map(|entry| entry.name)).and_then(of_member) {
        Some(entry) => format!("did you mean `{}`? {}", entry.name, member(entry)),
        None => format!("the families are {}", families.join(", ")),
    }
}

fn as_json(entry: &Entry) -> Value {
    json!({ "family": entry.family, "name": entry.name, "summary": entry.summary })
}

fn as_text(entries: &[&Entry]) -> String {
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for family in entries.chunk_by(|a, b| a.family == b.family) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{}", family[0].family);
        for entry in family {
            let _ = writeln!(text, "  {:width$}  {}", entry.name, entry.summary);
        }
    }
    text
}
