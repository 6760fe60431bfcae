//! `floodway list`: what scenarios and options can name.

use std::fmt::Write;

use floodway_model::family::Entry;
use floodway_report::format;
use floodway_scenario::presets;
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

/// Every algorithm, topology, workload, preset, format and study.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    floodway_scenario::catalogue()
        .chain(presets::CATALOGUE.iter().map(|preset| &preset.entry))
        .chain(format::CATALOGUE.iter().map(|format| &format.entry))
        .chain(floodway_study::CATALOGUE.iter().map(|study| &study.entry))
}

/// The members of a family, or of all families of a part.
fn members(wanted: &str) -> Result<Vec<&'static Entry>, Failure> {
    let part = format!("{wanted}.");
    let belongs = |entry: &&Entry| entry.family == wanted || entry.family.starts_with(&part);
    let found: Vec<_> = catalogue().filter(belongs).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut families: Vec<_> = catalogue().map(|entry| entry.family).collect();
    families.dedup();
    let likeness = |family: &&&str| {
        // The last word is enough: `aqm` means `switch.aqm`.
        let last = family.rsplit('.').next().unwrap_or(family);
        strsim::jaro_winkler(wanted, family).max(strsim::jaro_winkler(wanted, last))
    };
    let closest = families.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let remedy = match closest.filter(|family| likeness(family) > 0.8) {
        Some(family) => format!("did you mean `{family}`?"),
        None => format!("the families are {}", families.join(", ")),
    };
    Err(Failure::Unknown(format!("there is no family `{wanted}`; {remedy}")))
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
