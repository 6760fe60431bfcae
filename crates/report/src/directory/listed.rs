//! Which files of a results directory floodway wrote.

use std::path::Path;

use serde_json::Value;

use super::{DICTIONARY, Error, MANIFEST, REPORT, RUNS, SUMMARY, check_name, journal};
use crate::files;
use crate::manifest::{Listed, Manifest, folder};
use crate::owned::{self, HERE, entries, read_marker, regular};
use crate::{format, trace};

/// The files beside the manifest.
pub(super) const BESIDE: [&str; 3] = [SUMMARY, REPORT, DICTIONARY];

/// The tables of floodway, those of earlier versions included.
const TABLES: [&str; 48] = [
    "backlogs",
    "collectives",
    "counters",
    "deadlock_flows",
    "deadlocks",
    "delay_cuts",
    "delay_losses",
    "delay_marks",
    "delay_parts",
    "delays",
    "deliveries",
    "departures",
    "depths",
    "drops",
    "entries",
    "explained",
    "flows",
    "frames",
    "headroom",
    "headroom_episodes",
    "inputs",
    "latencies",
    "links",
    "moments",
    "nodes",
    "occupancy",
    "operations",
    "packet_parts",
    "pages",
    "pause_causes",
    "pause_intervals",
    "pauses",
    "queues",
    "ranks",
    "record",
    "root_flows",
    "samples",
    "sojourn_series",
    "sojourns",
    "steps",
    "stretches",
    "switches",
    "timeline",
    "video_segments",
    "voice",
    "voice_packets",
    "waits",
    "watchdog_events",
];

/// The files that the manifest of a results directory lists, of whatever schema it is, and those of
/// the journal beside it. Of a manifest that does not list any, what its version wrote for its runs.
pub(super) fn listed(path: &Path) -> Result<Listed, Error> {
    let value = read_marker(path, MANIFEST).unwrap_or_default();
    let mut listed = match owned::listed(path, MANIFEST, &value)? {
        Some(listed) => listed,
        None => earlier(path, &value)?,
    };
    journal::read(path, &mut listed)?;
    Ok(listed)
}

/// What a version that did not list its files left in the folders of runs that it was asked for.
fn earlier(path: &Path, manifest: &Value) -> Result<Listed, Error> {
    let all = |key: &str| manifest.get(key).and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let of_runs = all("runs").filter_map(|run| text(run, "variant"));
    let variants = all("variants").filter_map(|variant| text(variant, "name")).chain(of_runs);
    let replications = manifest.get("replications").and_then(Value::as_u64).unwrap_or(0);

    let mut found = Listed::new();
    found.insert(HERE.to_owned(), BESIDE.map(str::to_owned).into());
    for variant in variants.filter(|name| check_name(name).is_ok()) {
        for (name, kind) in entries(&path.join(RUNS).join(&variant))? {
            let number = name.parse::<u32>().ok().filter(|number| number.to_string() == name);
            let Some(number) = number.filter(|&number| u64::from(number) < replications) else {
                continue;
            };
            let folder = folder(&variant, number);
            if !kind.is_dir() || found.contains_key(&folder) {
                continue;
            }
            let there = regular(&path.join(&folder))?;
            let names = there.iter().map(|name| files::part_of(name).unwrap_or(name));
            let ours = names.filter(|name| is_known(name, |_| true)).map(str::to_owned).collect();
            found.insert(folder, ours);
        }
    }
    Ok(found)
}

/// Whether a file of a run has the name of a table, in one of the formats that are wanted, or of a
/// trace.
fn is_known(name: &str, wanted: impl Fn(&str) -> bool) -> bool {
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    let mut traces = trace::CATALOGUE.iter();
    TABLES.contains(&stem) && format::named(end).is_some() && wanted(end)
        || stem == "trace" && traces.any(|form| form.extension == end)
}

/// Whether an experiment would write a file of this path, as far as that is known before.
pub(super) fn is_due(path: &str, manifest: &Manifest) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [_, variant, number, name] = parts[..] else { return false };
    let number = number.parse::<u32>().is_ok_and(|number| number < manifest.replications);
    let wanted = |end: &str| manifest.formats.iter().any(|format| format == end);
    let is_table = !name.starts_with("trace.") || manifest.trace.is_some();
    let known = manifest.variants.iter().any(|known| known.name == variant);
    known && number && is_table && is_known(name, wanted)
}
