//! Makes a draft valid: what an error of `check` points to is removed or gets another value.

use std::collections::BTreeMap;
use std::ops::Range;

use floodway_scenario::{Problem, Scenario};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::generate::{Draft, parse};

/// The keys that lead to a value.
pub type Path = Vec<String>;

/// Repairs a draft until it is valid; `None` if it is not after so many rounds.
pub fn repair(draft: &mut Draft<'_>, file_name: &str, rounds: usize) -> Option<Scenario> {
    let mut tried: BTreeMap<Path, u64> = BTreeMap::new();
    for _ in 0..rounds {
        let text = draft.text();
        let error = match parse(&text, file_name) {
            Ok(scenario) => return Some(scenario),
            Err(error) => error,
        };
        // Repairs of earlier problems move what later ones point to only in the text.
        let mut paths: Vec<Path> =
            error.problems().iter().map(|problem| place(&text, problem)).collect();
        paths.sort();
        paths.dedup();
        for path in paths.into_iter().rev() {
            let times = tried.entry(path.clone()).or_default();
            *times += 1;
            mend(draft, path, *times);
        }
    }
    None
}

/// Where in the document a problem is; empty if that is not known.
fn place(text: &str, problem: &Problem) -> Path {
    let offset = problem.place.range.as_ref().map(|range| range.start);
    let same_text = problem.place.source.inner() == text;
    offset.filter(|_| same_text).and_then(|offset| path_at(text, offset)).unwrap_or_default()
}

/// The keys of the innermost value around a byte of a text.
pub fn path_at(text: &str, offset: usize) -> Option<Path> {
    let table = DeTable::parse(text).ok()?;
    let mut best = None;
    search(table.get_ref(), offset, &mut Vec::new(), &mut best);
    best.map(|(_, path)| path)
}

type Best = Option<(usize, Path)>;

fn search(table: &DeTable<'_>, offset: usize, path: &mut Path, best: &mut Best) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        take(key.span(), offset, path, best);
        search_value(value, offset, path, best);
        path.pop();
    }
}

fn search_value(value: &Spanned<DeValue<'_>>, offset: usize, path: &mut Path, best: &mut Best) {
    take(value.span(), offset, path, best);
    match value.get_ref() {
        DeValue::Table(table) => search(table, offset, path, best),
        DeValue::Array(elements) => {
            for (number, element) in elements.iter().enumerate() {
                path.push(number.to_string());
                search_value(element, offset, path, best);
                path.pop();
            }
        }
        _ => {}
    }
}

fn take(span: Range<usize>, offset: usize, path: &Path, best: &mut Best) {
    let length = span.len();
    if span.contains(&offset) && best.as_ref().is_none_or(|(shortest, _)| length <= *shortest) {
        *best = Some((length, path.clone()));
    }
}

/// Removes a value or gives it another; the more often that was tried, the more goes.
fn mend(draft: &mut Draft<'_>, mut path: Path, times: u64) {
    for _ in 0..times / 3 {
        path.pop();
    }
    if path.is_empty() {
        path = some_path(draft);
    }
    // In an overlay the schema is that of what it lies on.
    let overlay = if path[0] == "variants" { 2.min(path.len()) } else { 0 };
    let required = overlay == 0 && draft.schema().is_required(&path);
    let another = times % 3 == 1 && draft.chance(0.5);
    if required || another {
        // A member of a family that may not stand there is replaced with its family.
        if required && path.len() > 1 && times > 1 {
            path.pop();
        }
        let schema = draft.schema();
        let below = &path[overlay..];
        if !below.is_empty()
            && let Some(found) = schema.find(schema.scenario(), below)
        {
            let value = draft.value(found, below);
            set(&mut draft.document, &path, value);
        }
    } else {
        remove(&mut draft.document, &path);
    }
}

/// A random optional value of the document.
fn some_path(draft: &mut Draft<'_>) -> Path {
    let mut all = Vec::new();
    paths(&draft.document, &mut Vec::new(), &mut all);
    all.retain(|path| !draft.schema().is_required(path));
    match all.len() {
        0 => vec!["switch".to_owned()],
        count => all.swap_remove(draft.below(count as u64) as usize),
    }
}

/// The paths of all values, tables and lists included.
pub fn paths(value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(number, item)| (number.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in children {
        path.push(key);
        found.push(path.clone());
        paths(value, path, found);
        path.pop();
    }
}

/// The value at a path.
pub fn get<'a>(document: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(document, |value, key| match value {
        Value::Object(fields) => fields.get_mut(key),
        Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

fn set(document: &mut Value, path: &[String], value: Value) {
    if let Some(there) = get(document, path) {
        *there = value;
    }
}

/// Removes the value at a path, and an overlay or list with it that is empty then.
pub fn remove(document: &mut Value, path: &[String]) {
    let Some((last, parent)) = path.split_last() else { return };
    match get(document, parent) {
        Some(Value::Object(fields)) => {
            fields.remove(last);
        }
        Some(Value::Array(items)) => {
            if let Ok(number) = last.parse::<usize>()
                && number < items.len()
                && (items.len() > 1 || parent != ["workload"])
            {
                items.remove(number);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_paths() {
        let text = "a = 1\n[b.c]\nd = [1, { e = 2 }]\n[[w]]\nx = 1\n[[w]]\ny.z = \"t\"\n";
        let path = |part: &str| path_at(text, text.find(part).unwrap()).unwrap().join(".");
        assert_eq!(path("a = "), "a");
        assert_eq!(path("2 }"), "b.c.d.1.e");
        assert_eq!(path("c]"), "b.c");
        assert_eq!(path("z ="), "w.1.y.z");
        assert_eq!(path("\"t\""), "w.1.y.z");
        assert_eq!(path_at(text, text.len()), None);
    }
}
