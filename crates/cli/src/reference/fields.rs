//! The fields of a scenario file, from the JSON Schema that the code that reads them yields.

use std::fmt::Write;

use floodway_scenario::presets;
use floodway_scenario::workload::builtin::BUILTINS;
use serde_json::{Map, Value};

use crate::list::catalogue;

/// Every table of a scenario file, with its fields.
pub fn section() -> String {
    let schema = floodway_scenario::json_schema();
    let mut writer = Writer { definitions: &schema["$defs"], text: INTRODUCTION.to_owned() };
    writer.table("", &schema);
    writer.text + &sizes() + &presets() + &old_names()
}

/// The distributions of flow sizes that come with the program.
fn sizes() -> String {
    let mut text = String::from(
        "### Flow sizes\n\nNames for `sizes` in a workload.\n\n| name | what it is |\n| --- | --- |\n",
    );
    for builtin in BUILTINS {
        let _ = writeln!(text, "| `{}` | {}. |", builtin.name, one_line(builtin.summary));
    }
    text
}

/// Parameters that have another name than in the last version.
fn old_names() -> String {
    let mut text = String::from(
        "\n### Old names\n\nParameters that are named otherwise since this version. The old name is accepted until the \
         next version, with a warning; `*` is any element of a list.\n\n| table | old name | new name |\n\
         | --- | --- | --- |\n",
    );
    for (table, old, new) in floodway_scenario::renamed() {
        let _ = writeln!(text, "| `{table}` | `{old}` | `{new}` |");
    }
    text
}

/// Named sets of values.
fn presets() -> String {
    let mut text = String::from(
        "\n### Presets\n\nNames for `preset` in a table: they give every field of it that is not written, \
         also one that a variant or `--set` leaves out, and the congestion control where none is \
         written.\n",
    );
    for preset in presets::CATALOGUE {
        let (entry, table) = (&preset.entry, preset.table());
        let _ = writeln!(text, "\n`{}` in `{table}`: {}\n", entry.name, entry.summary);
        text.push_str("| field | value | from |\n| --- | --- | --- |\n");
        for (field, value, source) in preset.values {
            let _ = writeln!(text, "| `{field}` | `{value}` | {}. |", one_line(source));
        }
        if let (Some(control), Some(source)) = (preset.congestion(), preset.congestion_source()) {
            let _ = writeln!(text, "| congestion control | `{}` | {source}. |", control.name());
        }
    }
    text
}

const INTRODUCTION: &str = "\
## Scenario file

A scenario is a TOML file. Quantities are text with a unit: a rate `\"100Gbps\"`, a time `\"200ns\"`,
a size `\"750KB\"` (KB is 1000 bytes, KiB 1024). Where a table chooses a member of a family, the member's name is the
last part of the header: `[switch.aqm.ramp]`; the name alone, `aqm = \"ramp\"`, takes its defaults.
A mechanism that may be absent is switched off with `false`: `pfc = false`. After each default
stands where it comes from, where that is not plain.

";

struct Writer<'a> {
    definitions: &'a Value,
    text: String,
}

impl<'a> Writer<'a> {
    /// A structure: its own fields, then the tables in it.
    fn table(&mut self, path: &str, schema: &'a Value) {
        match (path, summary(path)) {
            ("", _) => self.text.push_str("### The file itself\n\n"),
            (_, Some(summary)) => {
                let _ = writeln!(self.text, "#### {}\n\n{summary}\n", code(path));
            }
            _ => {
                let _ = writeln!(self.text, "### {}\n", code(path));
            }
        }
        if !path.is_empty() {
            self.describe(schema);
        }
        let fields = fields(schema);
        let (tables, values): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(_, field)| self.table_of(field).is_some());
        if !values.is_empty() {
            self.text.push_str("| field | type | meaning |\n| --- | --- | --- |\n");
            for (name, field) in values {
                let need = if is_required(schema, name) { " **Required.**" } else { "" };
                let (kind, choices) = self.kind(field);
                let meaning = meaning(field);
                let _ = writeln!(self.text, "| `{name}` | {kind} | {meaning}{need}{choices} |");
            }
            self.text.push('\n');
        }
        for (name, field) in tables {
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            let table = self.table_of(field).expect("these are tables");
            match members(table) {
                Some(members) => self.family(&path, field, table, members),
                None => self.table(&path, table),
            }
        }
    }

    /// A family: what may stand beside a member, and its members, each with its fields.
    fn family(
        &mut self,
        path: &str,
        field: &'a Value,
        table: &'a Value,
        members: Vec<(&'a str, &'a Value)>,
    ) {
        let _ = writeln!(self.text, "### {}\n", code(path));
        self.describe(field);
        let names: Vec<_> = members.iter().map(|(name, _)| code(name)).collect();
        let several = field["type"] == "array";
        let how = if several { "Each element is one of" } else { "One of" };
        let _ = writeln!(self.text, "{how} {}.\n", names.join(", "));
        let beside = fields(table);
        if !beside.is_empty() {
            self.text.push_str("| beside it | meaning |\n| --- | --- |\n");
            for (name, field) in &beside {
                let _ = writeln!(self.text, "| `{name}` | {} |", meaning(field));
            }
            self.text.push('\n');
        }
        for (name, member) in members {
            self.table(&format!("{path}.{name}"), self.resolved(member));
        }
        for (name, field) in beside {
            let path = format!("{path}.{name}");
            let Some(table) = self.table_of(field) else { continue };
            match self::members(table) {
                None => self.table(&path, table),
                // Other families beside a member are those of hosts, which have their own place.
                Some(members) if catalogue().any(|entry| entry.family == path) => {
                    self.family(&path, field, table, members);
                }
                Some(_) => {}
            }
        }
    }

    fn describe(&mut self, schema: &Value) {
        // Structures that are described by their family's row say no more than this.
        let text = schema["description"].as_str().unwrap_or("");
        let text = one_line(text.strip_prefix("Parameters.").unwrap_or(text).trim());
        if !text.is_empty() {
            let _ = writeln!(self.text, "{text}\n");
        }
    }

    /// What `$ref` and the choice between a table and nothing lead to.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            return self.resolved(&self.definitions[name]);
        }
        match schema["anyOf"].as_array() {
            Some(choices) => {
                choices.iter().find(|c| !c["$ref"].is_null()).map_or(schema, |c| self.resolved(c))
            }
            None => schema,
        }
    }

    /// The structure or family that a field holds, by itself or as elements; `None` for a value.
    fn table_of(&self, field: &'a Value) -> Option<&'a Value> {
        let schema = self.resolved(field);
        let schema =
            if schema["type"] == "array" { self.resolved(&schema["items"]) } else { schema };
        let is_table = schema["properties"].is_object() || members(schema).is_some();
        is_table.then_some(schema)
    }

    /// The type of a value in a word or two, and the explanation of choices.
    fn kind(&self, field: &'a Value) -> (String, String) {
        let schema = self.resolved(field);
        let (kind, choices) = match schema["oneOf"].as_array() {
            Some(choices) => ("choice".to_owned(), explained(choices)),
            None => (self.plain_kind(field), String::new()),
        };
        let any = |list: &Value, test: fn(&Value) -> bool| {
            list.as_array().is_some_and(|list| list.iter().any(test))
        };
        let may_be_off = any(&field["anyOf"], |choice| choice["type"] == "boolean")
            || any(&field["type"], |kind| kind == "boolean");
        (if may_be_off { kind + " or `false`" } else { kind }, choices)
    }

    fn plain_kind(&self, field: &'a Value) -> String {
        let schema = self.resolved(field);
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        match (quantity(schema), kind) {
            (Some(quantity), _) => quantity.to_owned(),
            (_, Some("integer")) => "whole number".to_owned(),
            (_, Some("array")) => format!("list of {}", self.plain_kind(&schema["items"])),
            (_, Some("object") | None) => "table".to_owned(),
            (_, Some("string")) => "text".to_owned(),
            (_, Some(kind)) => kind.to_owned(),
        }
    }
}

/// What text with a unit is an amount of.
fn quantity(schema: &Value) -> Option<&'static str> {
    let example = schema["examples"][0].as_str()?;
    let units = [("bps", "rate"), ("B", "size"), ("s", "time")];
    units.iter().find(|(unit, _)| example.ends_with(unit)).map(|(_, quantity)| *quantity)
}

/// What a field says of itself, with its default.
fn meaning(field: &Value) -> String {
    let text = one_line(field["description"].as_str().unwrap_or(""));
    match &field["default"] {
        Value::Null => text,
        _ if text.contains("Default") => text,
        Value::String(default) => format!("{text} Default {default}."),
        default => format!("{text} Default {default}."),
    }
}

/// The fields of a structure by name.
fn fields(schema: &Value) -> Vec<(&str, &Value)> {
    let fields = schema["properties"].as_object().into_iter().flat_map(Map::iter);
    fields.map(|(name, field)| (name.as_str(), field)).collect()
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
}

/// The members of a family by name; `None` if this is no family.
fn members(schema: &Value) -> Option<Vec<(&str, &Value)>> {
    let choices = schema["oneOf"].as_array()?;
    let members: Vec<_> = choices.iter().filter_map(|choice| fields(choice).pop()).collect();
    (!members.is_empty()).then_some(members)
}

/// The choices of a word, with what each means.
fn explained(choices: &[Value]) -> String {
    let choice = |choice: &Value| {
        let name = choice["const"].as_str()?;
        let meaning = one_line(choice["description"].as_str().unwrap_or(""));
        Some(format!("<br>`{name}`: {meaning}"))
    };
    choices.iter().filter_map(choice).collect()
}

/// The catalogue's line about a member.
fn summary(path: &str) -> Option<&'static str> {
    let (family, name) = path.rsplit_once('.')?;
    let entry = catalogue().find(|entry| entry.family == family && entry.name == name)?;
    Some(entry.summary)
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Text as a cell of a table takes it.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
