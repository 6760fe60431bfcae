//! Values that follow from others: `xon = "xoff - 20KB"`, `kmax = "4 * kmin"`, `xoff = "auto"`.
//!
//! They are computed when everything that changes a scenario has been applied: `[quick]`, the variant, every `--set`. So a
//! sweep over XOFF moves XON with it.
//!
//! An expression has sizes, times, rates or plain numbers, `+`, `-`, `*`, `/` and brackets, and the names of other values:
//! of a key in the same table, or a path from the top of the file. At least one of its names must be that of a value that
//! is written; other text is left alone.

use std::fmt::Display;
use std::str::FromStr;

use floodway_model::{Bytes, Duration, Rate};

use crate::check::{self, Pausing};
use crate::document::Document;
use crate::files::Files;
use crate::text::{Item, Place, Problem, Value, decode, suggest};

/// The word for a value that is computed from the network.
const AUTO: &str = "auto";

/// Keys whose text is for people, or the path of a file, in which `/` divides nothing.
const PROSE: [&str; 7] = ["name", "question", "extends", "path", "files", "groups", "trace"];

/// What can be computed from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Computed {
    /// The highest XOFF with enough headroom above it.
    Xoff,
    /// The headroom that the neediest link takes.
    Headroom,
}

/// The values that can be computed from the network.
const COMPUTED: [(&str, Computed); 3] = [
    ("switch.flow_control.pfc.xoff", Computed::Xoff),
    ("switch.flow_control.pause.xoff", Computed::Xoff),
    ("switch.buffer.shared.headroom", Computed::Headroom),
];

/// Replaces what follows from other values by what it comes to.
pub fn derive(document: &mut Item, files: &Files) -> Result<(), Vec<Problem>> {
    let auto: Vec<(&str, Computed)> =
        COMPUTED.into_iter().filter(|(path, _)| is_auto(document, path)).collect();
    if !auto.is_empty() {
        // What follows from these comes after them.
        resolve(document)?;
        compute(document, &auto, files)?;
    }
    resolve(document)
}

fn at<'a>(document: &'a Item, path: &[&str]) -> Option<&'a Item> {
    let mut at = document;
    for key in path {
        at = match &at.value {
            Value::Table(table) => &table.get(key)?.item,
            Value::List(items) => items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

fn is_auto(document: &Item, path: &str) -> bool {
    let path: Vec<&str> = path.split('.').collect();
    at(document, &path).is_some_and(|item| is_text(item, AUTO))
}

fn is_text(item: &Item, wanted: &str) -> bool {
    matches!(&item.value, Value::Text(text) if text.trim() == wanted)
}

/// Computes what follows from the network.
fn compute(
    document: &mut Item,
    auto: &[(&str, Computed)],
    files: &Files,
) -> Result<(), Vec<Problem>> {
    // Defaults stand for what is not known yet. They change nothing that headroom depends on.
    let mut known = document.clone();
    let mut unknown: Vec<Vec<String>> = Vec::new();
    pending(&known, &mut Vec::new(), document, &mut unknown);
    for (path, _) in auto {
        unknown.push(path.split('.').map(str::to_owned).collect());
    }
    for path in &unknown {
        known.remove(path);
    }
    let mut settings: Document = decode(&known)?;
    let Some(graph) = check::network_of(&known, &mut settings, files) else {
        // The network itself is wrong, which the checks say.
        for path in &unknown {
            document.remove(path);
        }
        return Ok(());
    };
    let pausing = Pausing::of(&settings);
    for (path, what) in auto {
        let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
        let place = document.locate(path);
        let wrong =
            |message: String, help: &str| vec![Problem::error(place.clone(), message, help)];
        let Some(pausing) = &pausing else {
            let message = format!("`{path}` is \"auto\", but nothing is paused");
            return Err(wrong(message, "write a size, or enable [switch.flow_control.pfc]"));
        };
        let value = match what {
            Computed::Headroom => pausing.largest_headroom(&settings, &graph),
            Computed::Xoff => match pausing.highest_xoff(&settings, &graph) {
                Ok(xoff) => xoff,
                Err((message, help)) => return Err(wrong(message, &help)),
            },
        };
        if let Some(item) = document.at_mut(&keys) {
            item.value = Value::Text(value.to_string());
        }
    }
    Ok(())
}

/// The paths of expressions that are still there.
fn pending(item: &Item, path: &mut Vec<String>, document: &Item, found: &mut Vec<Vec<String>>) {
    each(item, path, &mut |path, item| {
        if let Value::Text(text) = &item.value
            && names(text)
                .is_some_and(|names| names.iter().any(|name| find(document, path, name).is_some()))
        {
            found.push(path.to_vec());
        }
    });
}

/// Calls `visit` with every value that is no table or list, and its path.
fn each(item: &Item, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &Item)) {
    let mut go = |key: String, item: &Item, path: &mut Vec<String>| {
        path.push(key);
        each(item, path, visit);
        path.pop();
    };
    match &item.value {
        Value::Table(table) => {
            for entry in &table.entries {
                if !PROSE.contains(&entry.key.as_str()) {
                    go(entry.key.clone(), &entry.item, path);
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                go(index.to_string(), item, path);
            }
        }
        _ => visit(path, item),
    }
}

/// Computes the expressions of a document. Those that follow from a value that is computed from the network are left while
/// that is not known.
fn resolve(document: &mut Item) -> Result<(), Vec<Problem>> {
    let mut all = Vec::new();
    pending(&document.clone(), &mut Vec::new(), document, &mut all);
    let mut values = Vec::new();
    let mut problems = Vec::new();
    for path in all {
        match value_at(document, &path, &mut Vec::new()) {
            Ok(Some(quantity)) => values.push((path, quantity)),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for (path, quantity) in values {
        if let Some(item) = document.at_mut(&path) {
            item.value = quantity.written();
        }
    }
    Ok(())
}

/// A number with what it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quantity {
    kind: Kind,
    value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Bytes,
    Duration,
    Rate,
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Bytes => "a size",
            Self::Duration => "a duration",
            Self::Rate => "a rate",
        }
    }
}

impl Quantity {
    fn of(kind: Kind, value: f64) -> Self {
        Self { kind, value }
    }

    /// A quantity as it is written.
    fn parse(text: &str) -> Option<Self> {
        fn parsed<T: FromStr>(text: &str) -> Option<T> {
            text.parse().ok()
        }
        let number = || parsed::<f64>(text).filter(|value| value.is_finite());
        let bytes = || parsed::<Bytes>(text).map(|of| Self::of(Kind::Bytes, of.0 as f64));
        let time = || parsed::<Duration>(text).map(|of| Self::of(Kind::Duration, of.0 as f64));
        let rate = || parsed::<Rate>(text).map(|of| Self::of(Kind::Rate, of.0 as f64));
        number()
            .map(|value| Self::of(Kind::Number, value))
            .or_else(bytes)
            .or_else(time)
            .or_else(rate)
    }

    /// As a scenario has it: in whole bytes, picoseconds or bits per second, rounded down.
    fn written(self) -> Value {
        let whole = self.value as u64;
        match self.kind {
            Kind::Number if self.value == libm::trunc(self.value) && self.value.abs() < 1e15 => {
                Value::Whole(self.value as i128)
            }
            Kind::Number => Value::Real(self.value),
            Kind::Bytes => Value::Text(Bytes(whole).to_string()),
            Kind::Duration => Value::Text(Duration(whole).to_string()),
            Kind::Rate => Value::Text(Rate(whole).to_string()),
        }
    }
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Quantity(Quantity),
    Name(&'a str),
    Sign(char),
}

/// The parts of an expression; none if the text is none: it has an operator between two parts that can be computed with.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let length = if "+-*/()".contains(first) {
            tokens.push(Token::Sign(first));
            1
        } else {
            let end = rest.find(|letter: char| letter.is_whitespace() || "+-*/()".contains(letter));
            let word = &rest[..end.unwrap_or(rest.len())];
            let is_name = |word: &str| {
                word.starts_with(|first: char| first.is_ascii_lowercase())
                    && word
                        .chars()
                        .all(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter))
            };
            tokens.push(match Quantity::parse(word) {
                Some(quantity) => Token::Quantity(quantity),
                None if is_name(word) => Token::Name(word),
                None => return None,
            });
            word.len()
        };
        rest = rest[length..].trim_start();
    }
    let has_operator =
        tokens.iter().any(|token| matches!(token, Token::Sign(sign) if "+-*/".contains(*sign)));
    has_operator.then_some(tokens)
}

/// The names in an expression; none if the text is none.
fn names(text: &str) -> Option<Vec<&str>> {
    let name = |token| if let Token::Name(name) = token { Some(name) } else { None };
    Some(tokens(text)?.into_iter().filter_map(name).collect())
}

/// What a name means in an expression at a path: a key beside it, or else a path from the top.
fn find<'a>(document: &'a Item, path: &[String], name: &str) -> Option<(Vec<String>, &'a Item)> {
    let beside: Vec<String> =
        path[..path.len() - 1].iter().cloned().chain(name.split('.').map(str::to_owned)).collect();
    let top: Vec<String> = name.split('.').map(str::to_owned).collect();
    [beside, top].into_iter().find_map(|path| {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let item = at(document, &keys)?;
        let is_value = matches!(item.value, Value::Text(_) | Value::Whole(_) | Value::Real(_));
        is_value.then_some((path, item))
    })
}

/// The value at a path; none if it is not known yet, because it depends on one that is computed from the network.
fn value_at(
    document: &Item,
    path: &[String],
    on_the_way: &mut Vec<Vec<String>>,
) -> Result<Option<Quantity>, Problem> {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let Some(item) = at(document, &keys) else { return Ok(None) };
    let text = match &item.value {
        Value::Whole(value) => return Ok(Some(Quantity::of(Kind::Number, *value as f64))),
        Value::Real(value) => return Ok(Some(Quantity::of(Kind::Number, *value))),
        Value::Text(text) => text,
        _ => return Ok(None),
    };
    if let Some(quantity) = Quantity::parse(text) {
        return Ok(Some(quantity));
    }
    if text.trim() == AUTO {
        return Ok(None);
    }
    let wrong = |message: String, help: String| Problem::error(item.place.clone(), message, help);
    if on_the_way.iter().any(|other| other == path) {
        let message = format!("`{}` follows from itself", path.join("."));
        return Err(wrong(message, "write one of the values as a quantity".to_owned()));
    }
    let Some(tokens) = tokens(text) else {
        let message = format!("\"{text}\" is no quantity, so nothing follows from it");
        return Err(wrong(message, "write a number with its unit, like \"750KB\"".to_owned()));
    };
    on_the_way.push(path.to_vec());
    let mut reader = Reader { document, path, place: &item.place, tokens: &tokens, on_the_way };
    let value = reader.sum()?;
    if let Some(token) = reader.tokens.first() {
        let message = format!("\"{text}\" cannot be computed: there is {} too much", shown(token));
        return Err(wrong(message, EXAMPLE.to_owned()));
    }
    on_the_way.pop();
    match value {
        Some(value) if value.kind != Kind::Number && value.value < 0.0 => {
            let message = format!("\"{text}\" comes to less than zero");
            Err(wrong(
                message,
                "subtract less, or add a lower limit to what it follows from".to_owned(),
            ))
        }
        Some(value) if !value.value.is_finite() => {
            Err(wrong(format!("\"{text}\" divides by zero"), EXAMPLE.to_owned()))
        }
        value => Ok(value),
    }
}

const EXAMPLE: &str = "write it like \"xoff - 20KB\", \"4 * kmin\" or \"(kmin + kmax) / 2\"";

fn shown(token: &Token<'_>) -> String {
    match token {
        Token::Quantity(_) => "a quantity".to_owned(),
        Token::Name(name) => format!("`{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

/// Computes an expression. Values that are not known yet are `None`.
struct Reader<'a, 'b> {
    document: &'a Item,
    path: &'a [String],
    place: &'a Place,
    tokens: &'a [Token<'a>],
    on_the_way: &'b mut Vec<Vec<String>>,
}

impl Reader<'_, '_> {
    fn wrong<T>(&self, message: impl Display, help: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::error(self.place.clone(), message.to_string(), help))
    }

    /// Takes one of these signs, if it comes next.
    fn take(&mut self, signs: &str) -> Option<char> {
        match self.tokens.split_first() {
            Some((Token::Sign(sign), rest)) if signs.contains(*sign) => {
                self.tokens = rest;
                Some(*sign)
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Option<Quantity>, Problem> {
        let mut left = self.product()?;
        while let Some(sign) = self.take("+-") {
            let right = self.product()?;
            let (Some(a), Some(b)) = (left, right) else {
                left = None;
                continue;
            };
            if a.kind != b.kind {
                let message = format!(
                    "{} and {} cannot be added or subtracted",
                    a.kind.noun(),
                    b.kind.noun()
                );
                return self.wrong(message, EXAMPLE);
            }
            let value = if sign == '+' { a.value + b.value } else { a.value - b.value };
            left = Some(Quantity { value, ..a });
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Option<Quantity>, Problem> {
        let mut left = self.one()?;
        while let Some(sign) = self.take("*/") {
            let right = self.one()?;
            let (Some(a), Some(b)) = (left, right) else {
                left = None;
                continue;
            };
            left = Some(match (sign, a.kind, b.kind) {
                ('*', kind, Kind::Number) | ('/', kind, Kind::Number) => {
                    let value = if sign == '*' { a.value * b.value } else { a.value / b.value };
                    Quantity { kind, value }
                }
                ('*', Kind::Number, kind) => Quantity { kind, value: a.value * b.value },
                ('/', one, other) if one == other => Quantity::of(Kind::Number, a.value / b.value),
                // Picoseconds and bits per second to bytes: what a link carries in a time.
                ('*', Kind::Rate, Kind::Duration) | ('*', Kind::Duration, Kind::Rate) => {
                    Quantity::of(Kind::Bytes, a.value * b.value / 8e12)
                }
                _ => {
                    let verb = if sign == '*' { "multiplied with" } else { "divided by" };
                    let message = format!("{} cannot be {verb} {}", a.kind.noun(), b.kind.noun());
                    return self.wrong(message, EXAMPLE);
                }
            });
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Option<Quantity>, Problem> {
        if self.take("(").is_some() {
            let value = self.sum()?;
            return match self.take(")") {
                Some(_) => Ok(value),
                None => self.wrong("a bracket is not closed", EXAMPLE),
            };
        }
        let Some((token, rest)) = self.tokens.split_first() else {
            return self.wrong("the expression ends too early", EXAMPLE);
        };
        self.tokens = rest;
        match token {
            Token::Quantity(quantity) => Ok(Some(*quantity)),
            Token::Name(name) => match find(self.document, self.path, name) {
                Some((path, _)) => value_at(self.document, &path, self.on_the_way),
                None => {
                    let parent: Vec<&str> =
                        self.path[..self.path.len() - 1].iter().map(String::as_str).collect();
                    let beside = at(self.document, &parent).and_then(Item::table);
                    let keys: Vec<&str> = beside
                        .map_or(&[][..], |table| &table.entries)
                        .iter()
                        .map(|entry| entry.key.as_str())
                        .collect();
                    let close = suggest::closest(name, keys.iter().copied());
                    let help = match close {
                        Some(close) => format!("did you mean `{close}`?"),
                        None => {
                            "write the other value down, too: defaults have no name here".to_owned()
                        }
                    };
                    self.wrong(
                        format!("there is no value `{name}` that this could follow from"),
                        help,
                    )
                }
            },
            Token::Sign(sign) => {
                self.wrong(format!("`{sign}` stands where a value should be"), EXAMPLE)
            }
        }
    }
}
