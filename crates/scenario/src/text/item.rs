//! A TOML document as a tree in which every key and value knows its place.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::problem::Problem;
use super::source::{Place, Source};
use crate::renamed;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Where it stands; of a table, where its header does.
    pub place: Place,
}

/// What can be written in TOML.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text in quotes.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// A number with a point or an exponent.
    Real(f64),
    /// `true` or `false`.
    Truth(bool),
    /// A date or time, which no scenario has a use for.
    Date(String),
    /// Values in brackets, or tables under `[[...]]`.
    List(Vec<Item>),
    /// Keys with values.
    Table(Table),
}

/// Keys with values in order of appearance.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub item: Item,
}

impl Table {
    /// The entry of this key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    /// Takes the entry of this key out.
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }
}

impl Item {
    /// An empty table at a place.
    pub fn empty(place: Place) -> Self {
        Self { value: Value::Table(Table::default()), place }
    }

    /// A table with one entry at a place.
    pub fn nested(key: &str, key_place: Place, item: Item) -> Self {
        let place = key_place.clone();
        let entries = vec![Entry { key: key.to_owned(), key_place, item }];
        Self { value: Value::Table(Table { entries }), place }
    }

    /// The table that it is.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Takes an entry out of a table.
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        match &mut self.value {
            Value::Table(table) => table.take(key),
            _ => None,
        }
    }

    /// What it is, in words.
    pub fn noun(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text {text:?}"),
            Value::Whole(number) => format!("the number {number}"),
            Value::Real(number) => format!("the number {number}"),
            Value::Truth(truth) => truth.to_string(),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// One step down: a key, or an index of a list.
    fn step(&self, key: &str) -> Option<(&Place, &Item)> {
        match &self.value {
            Value::Table(table) => table.get(key).map(|entry| (&entry.key_place, &entry.item)),
            Value::List(items) => {
                let item = items.get(key.parse::<usize>().ok()?)?;
                Some((&item.place, item))
            }
            _ => None,
        }
    }

    /// What is at a path, to change it.
    pub fn at_mut(&mut self, path: &[String]) -> Option<&mut Self> {
        let Some((key, rest)) = path.split_first() else { return Some(self) };
        let next = match &mut self.value {
            Value::Table(table) => &mut table.get_mut(key)?.item,
            Value::List(items) => items.get_mut(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
        next.at_mut(rest)
    }

    /// The place of the value at a path like `switch.queue.size`, if it was written.
    pub fn written(&self, path: &str) -> Option<Place> {
        let mut at = self;
        for key in path.split('.') {
            at = at.step(key)?.1;
        }
        Some(at.place.clone())
    }

    /// The same, but not of a value that comes from a named set, whose key stands elsewhere.
    pub fn written_itself(&self, path: &str) -> Option<Place> {
        let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
        let mut at = (None, self);
        for key in &keys {
            let (place, next) = at.1.step(key)?;
            at = (Some(place), next);
        }
        let (key_place, (key, table)) = (at.0?, keys.split_last()?);
        let is_index = key.parse::<usize>().is_ok();
        let word = key_place.word().trim_matches(['"', '\'']);
        let own = is_index || word == key || renamed::new_name(table, word) == Some(key);
        own.then(|| at.1.place.clone())
    }

    /// The place of the value at a path, or of the innermost table around it that was written.
    pub fn locate(&self, path: &str) -> Place {
        let mut place = &self.place;
        let mut at = self;
        for key in path.split('.') {
            match at.step(key) {
                Some((_, next)) => {
                    at = next;
                    place = &next.place;
                }
                None => break,
            }
        }
        place.clone()
    }

    /// Removes what is at a path; whether there was anything.
    pub fn remove(&mut self, path: &[String]) -> bool {
        let Some((key, rest)) = path.split_first() else { return false };
        match &mut self.value {
            Value::Table(table) if rest.is_empty() => table.take(key).is_some(),
            Value::Table(table) => table.get_mut(key).is_some_and(|next| next.item.remove(rest)),
            Value::List(items) => {
                let index = key.parse::<usize>().ok().filter(|&index| index < items.len());
                match index {
                    Some(index) if rest.is_empty() => {
                        items.remove(index);
                        true
                    }
                    Some(index) => items[index].remove(rest),
                    None => false,
                }
            }
            _ => false,
        }
    }
}

/// Reads a document.
pub fn parse(source: &Arc<Source>) -> Result<Item, Problem> {
    let text = source.inner();
    let document = DeTable::parse(text).map_err(|error| syntax_problem(source, &error))?;
    let table = convert_table(source, 0, document.get_ref());
    Ok(Item { value: Value::Table(table), place: Place::whole(source) })
}

/// Reads the value of a `--set`, which starts at `offset` of its source. What is not TOML is
/// text, so that `2MB` needs no quotes.
pub fn parse_value(source: &Arc<Source>, offset: usize) -> Item {
    let written = &source.inner()[offset..];
    let text = written.trim();
    let start = offset + (written.len() - written.trim_start().len());
    match DeValue::parse(text) {
        Ok(value) => convert(source, start, &value),
        Err(_) => Item {
            value: Value::Text(text.to_owned()),
            place: Place::at(source, start..start + text.len()),
        },
    }
}

fn convert(source: &Arc<Source>, offset: usize, value: &toml::Spanned<DeValue<'_>>) -> Item {
    let span = value.span();
    let place = Place::at(source, span.start + offset..span.end + offset);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            // The parser has checked the digits; more than 38 of them fit nothing here.
            match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Whole(number),
                Err(_) => Value::Real(f64::INFINITY),
            }
        }
        DeValue::Float(number) => Value::Real(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(truth) => Value::Truth(*truth),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| convert(source, offset, item)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(source, offset, table)),
    };
    Item { value, place }
}

fn convert_table(source: &Arc<Source>, offset: usize, table: &DeTable<'_>) -> Table {
    let mut sorted: Vec<_> = table.iter().collect();
    // The parser sorts by name; the order of variants is that of their appearance.
    sorted.sort_by_key(|(key, _)| key.span().start);
    let entries = sorted.into_iter().map(|(key, value)| {
        let span = key.span();
        Entry {
            key: key.get_ref().to_string(),
            key_place: Place::at(source, span.start + offset..span.end + offset),
            item: convert(source, offset, value),
        }
    });
    Table { entries: entries.collect() }
}

/// Says what the parser found in the terms of a scenario's author.
fn syntax_problem(source: &Arc<Source>, error: &toml::de::Error) -> Problem {
    let place = match error.span() {
        Some(span) => Place::at(source, span),
        None => Place::whole(source),
    };
    let word = place.word().to_owned();
    let found = error.message();
    let value_expected = found.starts_with("string values must be quoted")
        || found.starts_with("invalid float")
        || found.starts_with("invalid integer");
    if found == "duplicate key" {
        return Problem::error(
            place,
            format!("`{word}` is there twice"),
            "keep one of the two, or give the second another name",
        );
    }
    if value_expected && !word.is_empty() {
        let value = place.position().map_or(String::new(), |at| {
            let after = at.text.split_once('=').map_or("", |(_, value)| value);
            after.split('#').next().unwrap_or("").trim().to_owned()
        });
        return Problem::error(
            place,
            format!("`{value}` is not a value"),
            format!("text and quantities are written in quotes: \"{value}\""),
        );
    }
    if value_expected {
        return Problem::error(
            place,
            "a value is missing",
            "write one after the `=`, quantities in quotes: \"6ms\"",
        );
    }
    Problem::error(
        place,
        format!("this is not TOML: {found}"),
        "a scenario consists of [tables] and lines like: key = \"value\"",
    )
}
