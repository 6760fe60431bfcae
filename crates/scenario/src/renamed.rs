//! Parameters whose names have changed. An old name is accepted for one version, with a warning that gives
//! the new one.

use crate::text::{Problem, Table};

/// By path of the table, in which `*` is any element of a list: the old name and the new one.
const RENAMED: &[(&str, &str, &str)] = &[
    ("host", "memory", "buffer"),
    ("switch.flow_control.drc", "memory", "buffer"),
    ("switch.aqm.ramp", "low", "kmin"),
    ("switch.aqm.ramp", "high", "kmax"),
    ("switch.aqm.ramp", "max_probability", "pmax"),
    ("switch.aqm.ramp", "above_high", "above_kmax"),
    ("switch.aqm.ramp.by_rate.*", "low", "kmin"),
    ("switch.aqm.ramp.by_rate.*", "high", "kmax"),
    ("switch.aqm.ramp.by_rate.*", "max_probability", "pmax"),
    ("switch.flow_control.congestion_isolation.curve", "low", "kmin"),
    ("switch.flow_control.congestion_isolation.curve", "high", "kmax"),
    ("switch.flow_control.congestion_isolation.curve", "max_probability", "pmax"),
    ("switch.flow_control.congestion_isolation.curve", "above_high", "above_kmax"),
    ("switch.flow_control.congestion_isolation.curve.by_rate.*", "low", "kmin"),
    ("switch.flow_control.congestion_isolation.curve.by_rate.*", "high", "kmax"),
    ("switch.flow_control.congestion_isolation.curve.by_rate.*", "max_probability", "pmax"),
];

/// How a warning of an old name ends.
const ACCEPTED: &str = "; the old name is accepted until the next version";

/// Whether a problem is that a name is an old one.
pub(crate) fn is_of_a_name(problem: &Problem) -> bool {
    problem.message.ends_with(ACCEPTED)
}

/// Every renamed parameter: the path of its table, in which `*` is any element of a list, its old and its new
/// name.
pub fn renamed() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    RENAMED.iter().copied()
}

/// The new name of a parameter of the table at a path, if it has one.
pub(crate) fn new_name(table: &[String], old: &str) -> Option<&'static str> {
    let is_here = |pattern: &str| {
        let mut keys = table.iter();
        pattern.split('.').all(|part| keys.next().is_some_and(|key| part == "*" || part == key))
            && keys.next().is_none()
    };
    let found = RENAMED.iter().find(|(table, name, _)| *name == old && is_here(table));
    found.map(|(_, _, new)| *new)
}

/// The same path with the new names. What is in a variant is under `variants` and its name.
pub(crate) fn current(keys: &mut [String]) {
    let root =
        if keys.first().is_some_and(|key| key == "variants") { 2.min(keys.len()) } else { 0 };
    let keys = &mut keys[root..];
    for at in 1..keys.len() {
        if let Some(new) = new_name(&keys[..at], &keys[at]) {
            keys[at] = new.to_owned();
        }
    }
}

/// Gives the parameters of the table at a path their new names, with a warning for each. One that is there
/// under both names stays as it is: it is refused when the table is decoded.
pub(crate) fn rename(table: &mut Table, path: &[String], warnings: &mut Vec<Problem>) {
    for at in 0..table.entries.len() {
        let Some(new) = new_name(path, &table.entries[at].key) else { continue };
        if table.get(new).is_some() {
            continue;
        }
        let entry = &mut table.entries[at];
        let message = format!("`{}.{}` is now `{new}`{ACCEPTED}", path.join("."), entry.key);
        let place = entry.key_place.clone();
        warnings.push(Problem::warning(place, message, format!("write `{new}`")));
        entry.key = new.to_owned();
    }
}
