//! Device profiles: what is known of a model of a switch or a NIC, as settings of a scenario that each say how
//! they are known. `profile = ["arista-7260cx3", "connectx-6-dx"]` at the top of a scenario puts them below all
//! that the scenario and its overlays write. Profiles of users are files of the same form.

pub mod basis;
mod lay;
mod library;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use floodway_model::{Bytes, Duration, Rate};
use serde::{Deserialize, Serialize};

use crate::text::{Error, Item, Place, Problem, Source, Value, decode, parse};

pub use basis::Basis;
pub(crate) use lay::{Named, check_rates, lay_under, named};
pub use library::{find, shipped};

/// The key at the top of a scenario that names profiles.
pub const KEY: &str = "profile";

/// How a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Somebody measured it at the device.
    Measured,
    /// The vendor documents it.
    Datasheet,
    /// A standard says it of every such device.
    Standard,
    /// It is in a configuration or table that comes with the device or with its operating system.
    #[serde(rename = "vendor table")]
    VendorTable,
    /// None of these: a usual value, or general knowledge.
    Assumed,
}

impl Evidence {
    /// All classes, the best first.
    pub const ALL: [Self; 5] =
        [Self::Measured, Self::Datasheet, Self::Standard, Self::VendorTable, Self::Assumed];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Datasheet => "datasheet",
            Self::Standard => "standard",
            Self::VendorTable => "vendor table",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a profile describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// A switch: its values are in `switch`.
    Switch,
    /// A NIC: its values are in `host`.
    Nic,
}

impl Device {
    /// For tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Nic => "nic",
        }
    }

    /// Who has its ports in a scenario, for messages.
    const fn noun(self) -> &'static str {
        match self {
            Self::Switch => "a switch",
            Self::Nic => "a host",
        }
    }

    /// The table of a scenario in which its values are.
    const fn table(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Nic => "host",
        }
    }
}

/// A profile as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    device: Device,
    model: String,
    summary: String,
    rates: Vec<Rate>,
    #[serde(default)]
    fact: Vec<Fact>,
    value: Vec<WrittenValue>,
}

/// Something known of a device that is no setting of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// What it is: `ports`, `buffer`.
    pub name: String,
    /// The value in words.
    pub value: String,
    /// How it is known.
    pub evidence: Evidence,
    /// From where.
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenValue {
    path: String,
    value: serde_json::Value,
    #[serde(default)]
    evidence: Option<Evidence>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    range: Option<[serde_json::Value; 2]>,
}

/// A setting of a scenario, and how it is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceValue {
    /// Where it is in a scenario: `switch.cell`.
    pub path: String,
    /// What it is, as a scenario has it.
    pub value: serde_json::Value,
    /// How it is known.
    pub evidence: Evidence,
    /// From where.
    pub source: String,
    /// Between which values it may be, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[serde_json::Value; 2]>,
}

/// The profile of a switch that is part of the program, or what is wrong with the name.
pub fn switch(name: &str) -> Result<&'static DeviceProfile, String> {
    let switches = || shipped().iter().filter(|profile| profile.device == Device::Switch);
    switches().find(|profile| profile.name == name).ok_or_else(|| {
        let names: Vec<&str> = switches().map(|profile| profile.name.as_str()).collect();
        let help = crate::suggest::remedy(name, "profiles", &names);
        format!("there is no profile of a switch `{name}`; {help}")
    })
}

/// A device profile.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceProfile {
    /// Its name, or its file.
    pub name: String,
    /// What it describes.
    pub device: Device,
    /// The model.
    pub model: String,
    /// What it is, in one line.
    pub summary: String,
    /// The rates that its ports can have.
    pub rates: Vec<Rate>,
    /// What else is known of it.
    pub facts: Vec<Fact>,
    /// The settings.
    pub values: Vec<DeviceValue>,
    #[serde(skip)]
    text: Arc<Source>,
    /// The values as they are written, in the order of `values`: where each path stands, and the value.
    #[serde(skip)]
    items: Vec<(Place, Item)>,
}

impl DeviceProfile {
    /// Reads a profile: one that is part of the program by its name, any other by its path. Values of a file that no
    /// scenario takes are errors.
    pub fn load(name: &str) -> Result<Self, Error> {
        if !is_file(name) {
            return find(name).map_err(|(message, help)| {
                let source = Arc::new(Source::new("profile", name.to_owned()));
                Problem::error(Place::at(&source, 0..name.len()), message, help).into()
            });
        }
        let text = crate::read::text_file(Path::new(name), "profile", ".toml")?;
        let profile = Self::parse(name, &Arc::new(Source::new(name, text)))?;
        match Error::of(lay::refused(&profile)) {
            Some(error) => Err(error),
            None => Ok(profile),
        }
    }

    /// Reads the text of a profile.
    pub(crate) fn parse(name: &str, text: &Arc<Source>) -> Result<Self, Error> {
        let document = parse(text)?;
        let written: Written = decode(&document).map_err(|problems| {
            // The decoder speaks of scenarios.
            let of_profile = |problem: Problem| {
                let message = match problem.message.strip_prefix("a scenario ") {
                    Some(rest) => format!("a profile {rest}"),
                    None => problem.message,
                };
                let missing = message.strip_prefix("a profile needs the field `");
                let field = missing.and_then(|rest| rest.strip_suffix('`'));
                let help = field.and_then(example).map_or(problem.help, str::to_owned);
                Problem { message, help, ..problem }
            };
            Error::new(problems.into_iter().map(of_profile).collect())
        })?;
        let problems = check(&written, &document);
        if let Some(error) = Error::of(problems) {
            return Err(error);
        }
        let items = values(&document).filter_map(|value| {
            let table = value.table()?;
            Some((table.get("path")?.item.place.clone(), table.get("value")?.item.clone()))
        });
        let items = items.collect();
        let Written { device, model, summary, rates, fact, value } = written;
        let value_of = |WrittenValue { path, value, evidence, source, range }| DeviceValue {
            path,
            value,
            // Checked: it is there.
            evidence: evidence.unwrap_or(Evidence::Assumed),
            source,
            range,
        };
        Ok(Self {
            name: name.to_owned(),
            device,
            model,
            summary,
            rates,
            facts: fact,
            values: value.into_iter().map(value_of).collect(),
            text: Arc::clone(text),
            items,
        })
    }

    /// The text of its file, to be edited.
    pub fn text(&self) -> &str {
        self.text.inner()
    }
}

/// What to write for a field that is missing.
fn example(field: &str) -> Option<&'static str> {
    Some(match field {
        "device" => {
            "add what it describes, a switch or a NIC: device = \"switch\" or device = \"nic\""
        }
        "model" => "add the model, for example: model = \"Arista 7260CX3\"",
        "summary" => "add one line about it, for example: summary = \"64 x 100G, Tomahawk 2\"",
        "rates" => "add the rates of its ports, for example: rates = [\"25Gbps\", \"100Gbps\"]",
        "value" => {
            "add its settings, for example the lines: [[value]], path = \"switch.cell\", value = \"208B\", \
             evidence = \"datasheet\", source = \"the document and the place in it\""
        }
        _ => return None,
    })
}

/// Whether a name in a scenario is that of a file.
fn is_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

/// The tables `[[value]]`.
fn values(document: &Item) -> impl Iterator<Item = &Item> {
    let values = document.table().and_then(|table| table.get("value"));
    let items = match values.map(|entry| &entry.item.value) {
        Some(Value::List(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter()
}

/// What is wrong with the range of a value. Choices have no order: there only the kind can be wrong.
fn check_range(
    value: &serde_json::Value,
    [low, high]: &[serde_json::Value; 2],
) -> Option<&'static str> {
    let [value, low, high] = [value, low, high].map(amount);
    if value.0 != low.0 || value.0 != high.0 {
        return Some("is of another kind than the value");
    }
    if low.1 > high.1 {
        return Some("begins above its end");
    }
    (value.1 < low.1 || value.1 > high.1).then_some("does not contain the value")
}

/// A value as a kind and a number; 0 for what has no order.
fn amount(value: &serde_json::Value) -> (&'static str, f64) {
    use serde_json::Value::{Array, Bool, Null, Number, Object, String};
    match value {
        Number(number) => ("number", number.as_f64().unwrap_or_default()),
        String(text) => {
            let time = text.parse().map(|time: Duration| ("time", time.0 as f64));
            let size = text.parse().map(|size: Bytes| ("size", size.0 as f64));
            let rate = text.parse().map(|rate: Rate| ("rate", rate.0 as f64));
            time.or(size).or(rate).unwrap_or(("choice", 0.0))
        }
        Bool(_) => ("switch", 0.0),
        Array(_) => ("list", 0.0),
        Object(_) => ("table", 0.0),
        Null => ("nothing", 0.0),
    }
}

/// What the structures do not say.
fn check(written: &Written, document: &Item) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut wrong = |place: &str, message: String, help: &str| {
        problems.push(Problem::error(document.locate(place), message, help));
    };
    for (name, text) in [("model", &written.model), ("summary", &written.summary)] {
        if text.trim().is_empty() {
            wrong(name, format!("`{name}` is empty"), "say which device it is");
        }
    }
    if written.rates.is_empty() || written.rates.contains(&Rate(0)) {
        let help = "write the rates of its ports: rates = [\"25Gbps\", \"100Gbps\"]";
        wrong("rates", "a device has ports with a rate above zero".to_owned(), help);
    }
    const SOURCE: &str =
        "name the document or file and the place in it; of an assumption, say on what it rests";
    for (at, fact) in written.fact.iter().enumerate() {
        if fact.source.trim().is_empty() {
            wrong(
                &format!("fact.{at}.source"),
                format!("the fact `{}` has no source", fact.name),
                SOURCE,
            );
        }
    }
    let table = written.device.table();
    for (at, value) in written.value.iter().enumerate() {
        let path = &value.path;
        if value.evidence.is_none() {
            let names: Vec<&str> = Evidence::ALL.iter().map(|class| class.name()).collect();
            let help =
                format!("write how the value is known: evidence = one of {}", names.join(", "));
            wrong(&format!("value.{at}.path"), format!("`{path}` has no evidence"), &help);
        }
        if value.source.trim().is_empty() {
            wrong(&format!("value.{at}.path"), format!("`{path}` has no source"), SOURCE);
        }
        if let Some(message) =
            value.range.as_ref().and_then(|range| check_range(&value.value, range))
        {
            let help = "write its lowest and its highest value, with the value itself between them";
            wrong(&format!("value.{at}.range"), format!("the range of `{path}` {message}"), help);
        }
        let place = format!("value.{at}.path");
        let keys: Vec<&str> = path.split('.').collect();
        if keys.len() < 2 || keys[0] != table || keys.iter().any(|key| key.is_empty()) {
            let message = format!("`{path}` is no setting of a {}", written.device.name());
            let help = match written.device {
                Device::Switch => "write paths in `switch`, such as switch.cell",
                Device::Nic => "write paths in `host`, such as host.buffer",
            };
            wrong(&place, message, help);
        } else if keys.last() == Some(&crate::presets::KEY) {
            let help = "write its values out: each has evidence and a source of its own";
            wrong(&place, format!("`{path}` names a preset"), help);
        }
        let within = |other: &str| {
            other == path || other.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
        };
        let others = written.value.iter().enumerate().filter(|(other, _)| *other != at);
        if let Some((_, other)) = others.clone().find(|(other, of)| of.path == *path && *other < at)
        {
            wrong(&place, format!("`{}` is there twice", other.path), "keep one of the two");
        } else if let Some((_, other)) =
            others.clone().find(|(_, of)| of.path != *path && within(&of.path))
        {
            let message = format!("`{path}` is a table, and `{}` is in it", other.path);
            wrong(&place, message, "write each value of the table by itself");
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "device = \"switch\"\nmodel = \"M\"\nsummary = \"S\"\nrates = [\"100Gbps\"]\n";

    fn problems(text: &str) -> Vec<String> {
        let source = Arc::new(Source::new("my.toml", format!("{HEAD}{text}")));
        let error = DeviceProfile::parse("my.toml", &source).expect_err("it is refused");
        error.problems().iter().map(|problem| problem.message.clone()).collect()
    }

    #[test]
    fn a_range_has_the_kind_of_its_value_and_contains_it() {
        let of = |value: &str, range: &str| {
            format!(
                "[[value]]\npath = \"switch.latency\"\nvalue = {value}\nrange = {range}\n\
                 evidence = \"assumed\"\nsource = \"x\"\n"
            )
        };
        for (value, range, wrong) in [
            ("\"450ns\"", "[\"30KB\", \"x\"]", "is of another kind than the value"),
            ("\"450ns\"", "[\"1us\", \"300ns\"]", "begins above its end"),
            ("\"450ns\"", "[\"500ns\", \"1us\"]", "does not contain the value"),
            ("0.2", "[0.3, 0.5]", "does not contain the value"),
        ] {
            let expected = format!("the range of `switch.latency` {wrong}");
            assert_eq!(problems(&of(value, range)), [expected]);
        }
        for (value, range) in
            [("\"450ns\"", "[\"450ns\", \"1us\"]"), ("\"nic\"", "[\"periodic\", \"nic\"]")]
        {
            let source = Arc::new(Source::new("my.toml", format!("{HEAD}{}", of(value, range))));
            assert!(DeviceProfile::parse("my.toml", &source).is_ok(), "{value} {range}");
        }
    }

    #[test]
    fn a_value_needs_evidence_and_a_source() {
        let value = "[[value]]\npath = \"switch.cell\"\nvalue = \"208B\"\n";
        assert_eq!(problems(&format!("{value}source = \"x\"")), ["`switch.cell` has no evidence"]);
        assert_eq!(
            problems(&format!("{value}evidence = \"assumed\"")),
            ["`switch.cell` has no source"]
        );
        assert_eq!(
            problems(&format!("{value}evidence = \"assumed\"\nsource = \" \"")),
            ["`switch.cell` has no source"]
        );
        let unknown = problems(&format!("{value}evidence = \"guessed\"\nsource = \"x\""));
        assert!(unknown[0].contains("guessed"), "{unknown:?}");
    }

    #[test]
    fn paths_are_those_of_the_device_and_do_not_overlap() {
        let value = |path: &str| {
            format!(
                "[[value]]\npath = \"{path}\"\nvalue = 1\nevidence = \"assumed\"\nsource = \"x\"\n"
            )
        };
        assert_eq!(problems(&value("host.buffer")), ["`host.buffer` is no setting of a switch"]);
        assert_eq!(problems(&value("switch")), ["`switch` is no setting of a switch"]);
        let twice = value("switch.cell") + &value("switch.cell");
        assert_eq!(problems(&twice), ["`switch.cell` is there twice"]);
        let within = value("switch.queue") + &value("switch.queue.count");
        assert_eq!(
            problems(&within),
            ["`switch.queue` is a table, and `switch.queue.count` is in it"]
        );
    }
}
