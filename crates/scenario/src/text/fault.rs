//! Why a value does not fit: what serde finds, in the terms of a scenario's author.

use std::fmt;

use serde::de::{self, Unexpected};

use super::item::Item;
use super::overlay;
use super::problem::Problem;
use super::source::Place;
use super::suggest;
use crate::{presets, renamed};

/// Why a value does not fit, and where.
#[derive(Debug)]
pub struct Fault {
    /// Why.
    pub kind: Kind,
    /// The keys that lead there, innermost first.
    pub path: Vec<String>,
    place: Option<Place>,
}

/// Why a value does not fit.
#[derive(Debug)]
pub enum Kind {
    /// A struct has no such field.
    UnknownField { name: String, fields: &'static [&'static str] },
    /// A family has no such member.
    UnknownMember { name: String, members: &'static [&'static str] },
    /// Not exactly one member is named.
    NotOne { members: String, found: Vec<String> },
    /// Another member is named beside the one that counts.
    Second(&'static str),
    /// A required field is not there.
    Missing(&'static str),
    /// A list of a fixed length has another.
    WrongLength { found: usize, expected: usize },
    /// Another kind of value is expected.
    WrongType { found: String, expected: String },
    /// The number 0 where at least this is expected.
    TooLow(u32),
    /// What a type says of its text.
    Other(String),
}

/// Whether this is the path of a member of `topology`.
fn is_topology(path: &[String]) -> bool {
    matches!(path, [first, _] if first == "topology")
}

impl Fault {
    /// A fault whose place is not known yet.
    pub fn new(kind: Kind) -> Self {
        Self { kind, path: Vec::new(), place: None }
    }

    /// The same at a place, unless a more exact one is known.
    pub fn at(mut self, place: &Place) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// The same one key further in.
    pub fn under(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }

    /// As it is shown, at its `path` in `document`.
    pub fn problem(&self, path: &[String], document: &Item) -> Problem {
        let place = match self.kind {
            Kind::Second(name) => document.locate(&format!("{}.{name}", path.join("."))),
            _ => self.place.clone().unwrap_or_else(|| document.place.clone()),
        };
        let owner = |path: &[String]| match path {
            [] => "a scenario".to_owned(),
            keys => format!("`{}`", keys.join(".")),
        };
        let (message, help) = match &self.kind {
            Kind::UnknownField { name, fields } => {
                let table = &path[..path.len() - 1];
                let preset = presets::takes_preset(table).then_some(presets::KEY);
                let fields: Vec<_> = fields.iter().copied().chain(preset).collect();
                match renamed::new_name(table, name) {
                    // Alone it would have been renamed.
                    Some(new) => (
                        format!("{} has both `{name}` and its new name `{new}`", owner(table)),
                        format!("keep `{new}`"),
                    ),
                    None if is_topology(table) && *name == "ports" => (
                        format!("hosts of {} have one port", owner(table)),
                        "remove it, or choose [topology.star], [topology.clos] or [topology.fat_tree], which have the \
                         field, [topology.rails] with NVLink, or [topology.custom], where hosts may have several links"
                            .to_owned(),
                    ),
                    None => (
                        format!("{} has no field `{name}`", owner(table)),
                        suggest::remedy(name, "fields", &fields),
                    ),
                }
            }
            Kind::UnknownMember { name, members } => (
                format!("{} has no member `{name}`", owner(path)),
                suggest::remedy(name, "members", members),
            ),
            Kind::NotOne { members, found } if found.is_empty() => (
                format!("{} names none of its members", owner(path)),
                format!("write one of them: {members}"),
            ),
            Kind::NotOne { found, .. } => {
                let found: Vec<_> = found.iter().map(|name| format!("`{name}`")).collect();
                (
                    format!("{} takes one member and has {}", owner(path), found.join(" and ")),
                    "keep one of them".to_owned(),
                )
            }
            Kind::Second(name) => (
                format!("{} takes one member, and `{name}` is a second one", owner(path)),
                "keep one of them".to_owned(),
            ),
            Kind::Missing(field) => (
                format!("{} needs the field `{field}`", owner(path)),
                format!("add `{field}`{}", example(path, field)),
            ),
            Kind::WrongLength { found, expected } => (
                format!("{} has {found} {}, not {expected}", owner(path), values(*found)),
                format!("write {expected} values"),
            ),
            Kind::WrongType { found, expected } => (
                format!("{} is {found}, not {expected}", owner(path)),
                match expected.as_str() {
                    _ if overlay::is_link(path) => LINK.to_owned(),
                    "a table" => format!("write it as a table: [{}]", path.join(".")),
                    _ => format!("write {expected}"),
                },
            ),
            Kind::TooLow(least) => (
                format!("{} is 0, and must be at least {least}", owner(path)),
                format!("write {least} or more"),
            ),
            Kind::Other(message) => {
                (format!("{}: {message}", owner(path)), value_remedy(message, place.word()))
            }
        };
        Problem::error(place, message, help)
    }
}

fn values(count: usize) -> &'static str {
    if count == 1 { "value" } else { "values" }
}

/// The remedy for a quantity that its type could not read; `word` is what was written.
fn value_remedy(message: &str, word: &str) -> String {
    let written = word.trim_matches(['"', '\'']);
    let number: String =
        written.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_')).collect();
    if let Some((_, units)) = message.rsplit_once(" takes ") {
        let unit = written[number.len()..].trim();
        return match suggest::closest(unit, units.split(", ")) {
            // Whether the value fits then is not known here.
            Some(unit) => format!("did you mean the unit `{unit}`?"),
            None => "write one of these units after the number".to_owned(),
        };
    }
    if message.ends_with("is not a list of hosts") {
        return HOSTS.to_owned();
    }
    if message.contains("has no unit") {
        return "add the unit, all in quotes".to_owned();
    }
    if message.contains("is too large") {
        return "write a smaller value".to_owned();
    }
    if message.contains("is no whole number of") {
        return "write a whole number of this unit, or a larger unit".to_owned();
    }
    if let Some((_, right)) = message.split_once(" is spelled ") {
        return format!("write {right}");
    }
    "write the number first and its unit after it".to_owned()
}

/// What hosts look like where a workload names them.
const HOSTS: &str = "write numbers of hosts, like \"0-9\" or \"0, 2, 5-7\", names, like \
                     \"host 0-9\", or the word left or right for all on one side of a dumbbell";

/// What an element of `links` looks like.
const LINK: &str = "write the ends of a link, like \"access -- core\", or a table, like \
                    { ends = \"access -- core\", rate = \"1Gbps\" }";

/// What a required field looks like.
fn example(path: &[String], field: &str) -> &'static str {
    let custom = path.len() > 1 && path[1] == "custom";
    match field {
        "hosts" if custom => ", for example: hosts = [\"client 0-3\", \"server\"]",
        "switches" if custom => ", for example: switches = [\"access\", \"core\"]",
        "links" if custom => {
            ", for example: links = [\"client 0-3 -- access\", \"access -- core\"]"
        }
        "link" => ", for example: link = [\"leaf 0\", \"spine 1\"]",
        "at" => ", for example: at = \"2ms\"",
        "ends" => ", for example: ends = \"access -- core\"",
        "name" => ", for example: name = \"ci-lossless\"",
        "arrivals" => ", the time during which flows start, for example: arrivals = \"6ms\"",
        "limit" => ", the time to stop at the latest, for example: limit = \"30ms\"",
        "topology" => ", for example the lines: [topology.clos] and leaves = 16",
        "workload" => ", for example the lines: [[workload]], [workload.incast], senders = 20",
        "sizes" => ", for example: sizes = \"data_mining\"",
        "load" => ", for example: load = 0.3",
        "request" => ", for example: request = \"256B\"",
        "response" => ", for example: response = \"64KB\"",
        "operation" => ", for example: operation = \"all_reduce\"",
        "bytes" => ", for example: bytes = \"256KB\"",
        "count" => ", for example: count = 3",
        "path" if path[0] == "topology" => ", for example: path = \"topology.txt\"",
        "path" => ", for example: path = \"flows.csv\"",
        "id" => ", for example: id = \"A1\"",
        "quotation" => ", what is claimed in the words of its source, in quotes",
        "source" => ", for example: source = \"the paper, section 3\"",
        "metric" => ", what the number is in words, in quotes",
        "number" => {
            ", for example the lines: [[claim.number]], metric = \"…\", rule = { less = 5 }"
        }
        "rule" => ", what counts as reproduced, for example: rule = { less = 5 }",
        "measure" => ", for example: measure = { fct = \"mean\", from = \"red\", to = \"step\" }",
        "flow" => ", for example the lines: [[workload.list.flow]], src = 0, dst = 1",
        _ => ", a number",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match found {
            Unexpected::Bool(truth) => truth.to_string(),
            Unexpected::Signed(number) => format!("the number {number}"),
            Unexpected::Unsigned(number) => format!("the number {number}"),
            Unexpected::Float(number) => format!("the number {number}"),
            Unexpected::Str(text) => format!("the text {text:?}"),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        Self::new(Kind::WrongType { found, expected: expected.to_string() })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = expected.to_string();
        match (found, expected.strip_prefix("a nonzero ")) {
            (Unexpected::Signed(0) | Unexpected::Unsigned(0), Some(_)) => {
                Self::new(Kind::TooLow(1))
            }
            (found, _) => Self::invalid_type(found, &&*expected),
        }
    }

    fn unknown_variant(name: &str, members: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownMember { name: name.to_owned(), members })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Kind::Missing(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Kind::Second(field))
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        match length {
            0 => Self::new(Kind::NotOne { members: expected.to_string(), found: Vec::new() }),
            _ => Self::custom(format_args!("{length} values are not {expected}")),
        }
    }
}
