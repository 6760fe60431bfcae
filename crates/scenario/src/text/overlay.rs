//! Overlays: a variant, `[quick]` and every `--set` change the document below them.
//!
//! - Tables are merged key by key; anything else is replaced.
//! - Where exactly one member of a family is chosen (`switch.aqm`), naming another member
//!   replaces the one below; naming the same one merges their parameters. A member's name as
//!   text, `aqm = "drop_tail"`, chooses it with its defaults or with the parameters below. What
//!   stands beside the member of a workload, its `congestion`, stays when the member is replaced.
//! - A mechanism that may be absent (`switch.flow_control.pfc`), or a book of a shared memory, is
//!   removed by `false`; `true` puts it there with its defaults or leaves it as it is.
//! - A link of a custom topology that is written as text is the table of its `ends`.
//! - Elements of a list are addressed by their index: `workload.0.many_to_many.load`; a workload also
//!   by its name, if it has one that no other has: `workload.training.many_to_many.load`.

use std::sync::Arc;

use super::item::{Entry, Item, Table, Value, parse_value};
use super::problem::Problem;
use super::source::{Place, Source};
use super::suggest;
use crate::{renamed, workload};

/// The families whose members stand side by side, each absent or present.
const SIDE_BY_SIDE: &str = "switch.flow_control";

/// Whether exactly one member of a family stands at this path.
fn is_family(path: &[String]) -> bool {
    let path = match path {
        // The list, or indices and names of its elements: several stand side by side.
        [first] if first == "workload" => return false,
        [first, _index] if first == "workload" => return true,
        // Families beside a workload's member: of hosts, or of workloads alone.
        [first, _index, rest @ ..] if first == "workload" && is_beside(&rest[0]) => {
            let rest = rest.join(".");
            let own = format!("workload.{rest}");
            if crate::catalogue().any(|entry| entry.family == own) {
                return true;
            }
            format!("host.{rest}")
        }
        path => path.join("."),
    };
    path != SIDE_BY_SIDE && crate::catalogue().any(|entry| entry.family == path)
}

/// Whether a key of an element of `workload` is no member but stands beside one.
fn is_beside(key: &str) -> bool {
    workload::BESIDE.contains(&key)
}

/// A memory whose two books may each be absent.
const BOOKS: &str = "switch.buffer.shared";

/// Whether something that may be absent stands at this path: a mechanism or a book.
pub fn is_optional(path: &[String]) -> bool {
    let Some((last, parent)) = path.split_last() else { return false };
    match parent.join(".").as_str() {
        SIDE_BY_SIDE => true,
        "switch" => last == "congestion_indication",
        BOOKS => ["ingress", "egress"].contains(&last.as_str()),
        _ => false,
    }
}

/// Whether a link of a custom topology stands at this path.
pub fn is_link(path: &[String]) -> bool {
    path.len() == 4 && path[..3] == ["topology", "custom", "links"]
}

/// Writes a document's shorthands out: a member's name alone as its table, the ends of a link alone
/// as its table, and `true` as a mechanism's empty table. `false` stays, because it has to remove what is below.
/// Old names of parameters become the new ones; the warnings of that are added to `warnings`.
pub fn normalize(item: &mut Item, warnings: &mut Vec<Problem>) {
    normalize_at(item, &mut Vec::new(), warnings);
}

fn normalize_at(item: &mut Item, path: &mut Vec<String>, warnings: &mut Vec<Problem>) {
    let place = item.place.clone();
    match &mut item.value {
        Value::Text(name) if is_family(path) => {
            *item = Item::nested(name, place.clone(), Item::empty(place));
        }
        Value::Text(_) if is_link(path) => *item = Item::nested("ends", place, item.clone()),
        Value::Truth(true) if is_optional(path) => *item = Item::empty(place),
        Value::Table(table) => {
            renamed::rename(table, path, warnings);
            for entry in &mut table.entries {
                path.push(entry.key.clone());
                normalize_at(&mut entry.item, path, warnings);
                path.pop();
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(index.to_string());
                normalize_at(item, path, warnings);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Lays `over` on `base`. Both are normalized.
pub fn merge(base: &mut Item, over: &Item) -> Result<(), Problem> {
    merge_at(base, over, &mut Vec::new())
}

fn merge_at(base: &mut Item, over: &Item, path: &mut Vec<String>) -> Result<(), Problem> {
    match (&mut base.value, &over.value) {
        (Value::Table(below), Value::Table(above)) => {
            let of_workload = path.first().is_some_and(|first| first == "workload");
            let stays = |entry: &Entry| of_workload && path.len() == 2 && is_beside(&entry.key);
            let replaces = |entry: &Entry| !stays(entry) && below.get(&entry.key).is_none();
            if is_family(path) && above.entries.iter().any(replaces) {
                below.entries.retain(stays);
                base.place = over.place.clone();
            }
            for entry in &above.entries {
                path.push(entry.key.clone());
                merge_entry(below, entry, path)?;
                path.pop();
            }
        }
        (Value::List(items), Value::Table(above)) => {
            for entry in &above.entries {
                let index = element(items, entry, path)?;
                path.push(index.to_string());
                merge_at(&mut items[index], &entry.item, path)?;
                path.pop();
            }
        }
        _ => *base = over.clone(),
    }
    Ok(())
}

fn merge_entry(below: &mut Table, entry: &Entry, path: &mut Vec<String>) -> Result<(), Problem> {
    match below.get_mut(&entry.key) {
        Some(existing) => merge_at(&mut existing.item, &entry.item, path),
        None => {
            below.entries.push(entry.clone());
            Ok(())
        }
    }
}

/// The index of the element of a list that a key addresses: by its number, or a workload by its name.
fn element(items: &[Item], entry: &Entry, path: &[String]) -> Result<usize, Problem> {
    let key = entry.key.as_str();
    let names: Vec<&str> = match path {
        [list] if list == "workload" => items.iter().map(name).collect(),
        _ => Vec::new(),
    };
    match key.parse::<usize>() {
        Ok(index) if index < items.len() => return Ok(index),
        Ok(_) => return Err(no_such_element(entry, path, items.len(), &[])),
        Err(_) => {}
    }
    let of_name: Vec<usize> = (0..names.len()).filter(|&at| names[at] == key).collect();
    match of_name[..] {
        [index] => Ok(index),
        [first, second, ..] => {
            let place = entry.key_place.clone();
            let message = format!("{} workloads have the name `{key}`", of_name.len());
            let help = format!(
                "write the number of the one that is meant, such as `workload.{first}` or \
                 `workload.{second}`, or rename one"
            );
            Err(Problem::error(place, message, help))
        }
        [] => Err(no_such_element(entry, path, items.len(), &names)),
    }
}

/// The name of a workload as it is written; empty if it has none.
fn name(workload: &Item) -> &str {
    let entry = workload.table().and_then(|table| table.get("name"));
    match entry.map(|entry| &entry.item.value) {
        Some(Value::Text(name)) => name,
        _ => "",
    }
}

fn no_such_element(entry: &Entry, path: &[String], count: usize, names: &[&str]) -> Problem {
    let list = path.join(".");
    let named: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let other = match suggest::closest(&entry.key, named.iter().copied()) {
        Some(best) => format!("did you mean `{list}.{best}`? "),
        None if named.is_empty() => String::new(),
        None => {
            let all: Vec<String> = named.iter().map(|name| format!("`{list}.{name}`")).collect();
            let verb = if all.len() == 1 { "is" } else { "are" };
            format!("by name there {verb} {}; ", all.join(", "))
        }
    };
    let help = match count {
        0 => format!("`{list}` is empty"),
        1 => format!("`{list}` has one element: write `{list}.0`"),
        _ => format!("`{list}` has {count} elements: write `{list}.0` to `{list}.{}`", count - 1),
    };
    Problem::error(
        entry.key_place.clone(),
        format!("`{}` is not an element of `{list}`", entry.key),
        other + &help,
    )
}

/// One `--set path=value`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The keys of the path.
    pub path: Vec<String>,
    /// Where the path stands.
    pub place: Place,
    /// The overlay that sets the value there.
    pub overlay: Item,
    /// Warnings of an old name in the path or the value.
    pub warnings: Vec<Problem>,
}

impl Setting {
    /// Reads the argument of a `--set`.
    pub fn parse(argument: &str) -> Result<Self, Problem> {
        const HELP: &str = "write it like --set switch.queue.size=2MB";
        let source: Arc<Source> = Arc::new(Source::new("--set", argument.to_owned()));
        let whole = Place::at(&source, 0..argument.len());
        let Some((written, _)) = argument.split_once('=') else {
            return Err(Problem::error(whole, "there is no `=` between path and value", HELP));
        };
        let mut keys = Vec::new();
        let mut start = 0;
        for part in written.split('.') {
            let key = part.trim();
            let at = start + (part.len() - part.trim_start().len());
            if key.is_empty() {
                let message = "the path has an empty part";
                return Err(Problem::error(Place::at(&source, at..at), message, HELP));
            }
            keys.push((key.to_owned(), Place::at(&source, at..at + key.len())));
            start += part.len() + 1;
        }
        let mut overlay = parse_value(&source, written.len() + 1);
        for (key, place) in keys.iter().rev() {
            overlay = Item::nested(key, place.clone(), overlay);
        }
        let mut warnings = Vec::new();
        normalize(&mut overlay, &mut warnings);
        let path = keys.into_iter().map(|(key, _)| key).collect();
        Ok(Self { path, place: Place::at(&source, 0..written.len()), overlay, warnings })
    }
}
