//! The schema of scenario files, by which editors complete, explain and check them.
//!
//! To the structures it adds what a file has beyond them: variants and `[quick]` as overlays, and
//! files that extend another. A few things are said in a roundabout way, because editors understand
//! less than validators: the meaning of a field stands at the field and not beside a reference, and
//! where a whole file and an extension differ, there is a choice for completion that always holds,
//! beside the condition that judges.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::overlay;
use crate::read::SHARED;
use crate::text::overlay::is_optional;

/// The JSON Schema (draft 2020-12) of scenario files. What it accepts may still be refused by
/// `floodway check`, which knows what numbers mean.
pub fn file_schema() -> Value {
    let mut schema = super::json_schema();
    let mut definitions = match schema["$defs"].take() {
        Value::Object(definitions) => definitions,
        _ => panic!("a schema of structures has definitions"),
    };
    let mut scenario = schema;
    if let Value::Object(fields) = &mut scenario {
        for key in ["$defs", "$schema", "title", "description"] {
            fields.remove(key);
        }
    }
    let mut optional = Vec::new();
    find_optional(&scenario, &definitions, &mut Vec::new(), &mut optional);
    for (definition, field) in optional {
        let choices = definitions[&definition]["properties"][&field]["anyOf"].as_array_mut();
        let choices = choices.expect("what may be absent is a table or false");
        choices.iter_mut().filter(|choice| choice["type"] == "boolean").for_each(|choice| {
            *choice = json!({ "type": "boolean" });
        });
    }
    explain_members(&mut definitions);
    let plain = definitions.clone();
    definitions.values_mut().chain([&mut scenario]).for_each(|schema| tidy(schema, &plain));
    definitions.retain(|_, definition| !is_plain(definition));
    name_files(&mut scenario);

    let changed = overlay::add(&mut definitions);
    let parts = Parts::of(&scenario, &changed);
    definitions.extend(parts.into_definitions());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "floodway scenario",
        "description": "An experiment: a network, its switches and hosts, what is sent, and what is compared.",
        "type": "object",
        "anyOf": [{ "$ref": "#/$defs/Scenario" }, {}],
        "if": { "required": ["extends"] },
        "then": { "$ref": "#/$defs/Extension" },
        "else": { "$ref": "#/$defs/Scenario" },
        "$defs": definitions,
    })
}

/// The four things that a file has on its outside.
struct Parts {
    scenario: Value,
    extension: Value,
    variant: Value,
    quick: Value,
}

impl Parts {
    fn of(scenario: &Value, changed: &BTreeSet<String>) -> Self {
        let without = |schema: &Value, keys: &[&str]| {
            let mut schema = schema.clone();
            let fields = schema["properties"].as_object_mut().expect("a scenario has fields");
            fields.retain(|name, _| !keys.contains(&name.as_str()));
            schema
        };
        let set = |schema: &mut Value, name: &str, more: Value| {
            let field = schema["properties"][name].as_object_mut().expect("there is this field");
            field.extend(more.as_object().expect("it is a table").clone());
        };
        let mut over = overlay::of(scenario, changed);
        let workloads = &scenario["properties"]["workload"];
        over["properties"]["workload"] =
            overlay::of_list(workloads, overlay::INDEX_OR_NAME, changed);
        let variant = json!({ "$ref": "#/$defs/Variant" });
        let named = |variant: Value| {
            json!({
                "type": "object",
                "propertyNames": { "pattern": NAME, "maxLength": 64 },
                "additionalProperties": variant,
            })
        };
        // Where there are variants below, they can be taken away.
        let removable = named(json!({ "anyOf": [variant, { "const": false }] }));
        let meaning = &scenario["properties"]["quick"]["description"];
        let reference = json!({ "$ref": "#/$defs/Quick", "description": meaning });

        let mut whole = scenario.clone();
        set(&mut whole, "variants", named(variant));
        whole["properties"]["quick"] = reference.clone();
        let mut extension = over.clone();
        extension["required"] = json!(["name", "extends"]);
        set(&mut extension, "variants", removable.clone());
        // Claims are not those of the file below, so nothing is laid on them.
        for key in crate::claims::KEYS {
            extension["properties"][key] = scenario["properties"][key].clone();
        }
        extension["properties"]["quick"] = reference;
        let mut quick = without(&over, &["name", "quick", "sweep", "extends", "claim", "flows"]);
        set(&mut quick, "variants", removable);
        quick["description"] = meaning.clone();
        let mut variant = without(&over, &SHARED);
        variant["description"] = "A variant: an overlay on the rest of the file.".into();
        Self { scenario: whole, extension, variant, quick }
    }

    fn into_definitions(self) -> [(String, Value); 4] {
        [
            ("Scenario".to_owned(), self.scenario),
            ("Extension".to_owned(), self.extension),
            ("Variant".to_owned(), self.variant),
            ("Quick".to_owned(), self.quick),
        ]
    }
}

/// Names that become directories: [`crate::bad_name`] says the same.
const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";

/// The name of the file itself, and that of the file that it extends.
fn name_files(scenario: &mut Value) {
    let fields = &mut scenario["properties"];
    fields["name"]["pattern"] = NAME.into();
    fields["name"]["maxLength"] = 64.into();
    fields["extends"]["type"] = "string".into();
    if let Value::Object(extends) = &mut fields["extends"] {
        extends.remove("not");
    }
}

/// The fields that take `true` as well as `false`: definitions and names.
fn find_optional(
    table: &Value,
    definitions: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<(String, String)>,
) {
    let members = table["oneOf"].as_array().into_iter().flatten();
    for table in std::iter::once(table).chain(members) {
        for (name, field) in table["properties"].as_object().into_iter().flatten() {
            let Some(inner) = referred(field) else { continue };
            path.push(name.clone());
            for (field, _) in definitions[inner]["properties"].as_object().into_iter().flatten() {
                path.push(field.clone());
                if is_optional(path) {
                    found.push((inner.to_owned(), field.clone()));
                }
                path.pop();
            }
            find_optional(&definitions[inner], definitions, path, found);
            path.pop();
        }
    }
}

/// The definition that a field refers to, also one that may be absent.
fn referred(field: &Value) -> Option<&str> {
    let choices = field["anyOf"].as_array().into_iter().flatten();
    let mut references = std::iter::once(field).chain(choices).map(|schema| &schema["$ref"]);
    references.find_map(Value::as_str)?.strip_prefix("#/$defs/")
}

/// Gives the parameters of a member the member's own line: an editor shows nothing else.
fn explain_members(definitions: &mut Map<String, Value>) {
    let mut lines = Vec::new();
    for definition in definitions.values() {
        for member in definition["oneOf"].as_array().into_iter().flatten() {
            let field = member["properties"].as_object().and_then(|fields| fields.values().next());
            if let (Some(inner), Some(line)) =
                (field.and_then(referred), member["description"].as_str())
            {
                lines.push((inner.to_owned(), line.to_owned()));
            }
        }
    }
    for (name, line) in lines {
        let text = &mut definitions[&name]["description"];
        let more = text.as_str().unwrap_or("").trim_start_matches("Parameters.").trim();
        *text = match more {
            "" => line.into(),
            more => format!("{line}\n\n{more}").into(),
        };
    }
}

/// Whether a definition is a value and no table: a quantity, or one of a few words.
fn is_plain(definition: &Value) -> bool {
    let is_word = |choice: &Value| choice.get("const").is_some() || choice.get("enum").is_some();
    match definition["oneOf"].as_array() {
        Some(choices) => choices.iter().all(is_word),
        None => definition["properties"].is_null(),
    }
}

/// Writes plain values out where they are referred to, with the field's own meaning; gives whole
/// numbers their largest value; and leaves out defaults of whole tables, which an editor would
/// write into the file.
fn tidy(schema: &mut Value, definitions: &Map<String, Value>) {
    let inner = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    if let Some(value) = inner.map(|name| &definitions[name]).filter(|value| is_plain(value)) {
        let mut value = value.clone();
        if let (Value::Object(value), Value::Object(own)) = (&mut value, &*schema) {
            let own = own.iter().filter(|(key, _)| *key != "$ref");
            value.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        }
        *schema = value;
    }
    if schema["format"] == "uint32" {
        schema["maximum"] = u32::MAX.into();
    }
    match schema {
        Value::Object(fields) => {
            fields.remove("format");
            fields.remove("writeOnly");
            if fields.get("default").is_some_and(Value::is_object) {
                fields.remove("default");
            }
            for (key, value) in fields {
                // Fields are named by the file's author: they are no words of the schema.
                match (key.as_str(), value) {
                    ("properties", Value::Object(fields)) => {
                        fields.values_mut().for_each(|field| tidy(field, definitions));
                    }
                    ("default" | "examples" | "enum" | "const" | "required", _) => {}
                    (_, value) => tidy(value, definitions),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| tidy(value, definitions)),
        _ => {}
    }
}
