//! JSON Schemas: of a scenario's structures, from which the reference is made, and of scenario
//! files as editors need it.

mod file;
mod overlay;

use serde_json::{Value, json};

use crate::document::Document;
use crate::presets;

pub use file::file_schema;

/// The JSON Schema of a whole scenario: `topology`, `switch` and so on with every field's meaning
/// and default. What overlays may be is not in it: see [`file_schema`].
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Document).to_value();
    schema["title"] = "floodway scenario".into();
    add_shorthands(&mut schema);
    add_presets(&mut schema);
    schema
}

/// Adds the key that names a preset to the tables that take one.
fn add_presets(schema: &mut Value) {
    for preset in presets::CATALOGUE {
        let path: Vec<&str> = preset.table().split('.').collect();
        let Some(reference) = definition(schema, schema, &path) else {
            panic!("there is no table {}", preset.table());
        };
        let fields = &mut schema["$defs"][reference]["properties"];
        if fields[presets::KEY].is_null() {
            fields[presets::KEY] = json!({
                "description": presets::MEANING,
                "type": ["string", "boolean"],
                "enum": [false],
            });
        }
        let names = fields[presets::KEY]["enum"].as_array_mut();
        names.expect("it is a list").push(preset.entry.name.into());
    }
}

/// The name of the definition of the table at a path, from a table on.
fn definition(schema: &Value, table: &Value, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let members = table["oneOf"].as_array().into_iter().flatten();
    let tables = std::iter::once(table).chain(members);
    let field = tables.map(|table| &table["properties"][first]).find(|field| !field.is_null())?;
    // What may be absent refers to its definition as one of several.
    let several = field["anyOf"].as_array().into_iter().flatten();
    let mut references = std::iter::once(field).chain(several).map(|one| &one["$ref"]);
    let name = references.find_map(|reference| reference.as_str())?.rsplit('/').next()?;
    if rest.is_empty() {
        return Some(name.to_owned());
    }
    definition(schema, &schema["$defs"][name], rest)
}

/// Adds what the reader accepts beyond the structures: a member's name for the member with its
/// defaults, and false for what may be absent.
fn add_shorthands(schema: &mut Value) {
    // An element of `workload` is a table in any case: things stand beside its member.
    let is_table = schema.get("properties").is_some();
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf").filter(|_| !is_table) {
        let name = |choice: &Value| {
            let required = choice.get("required")?.as_array()?;
            (required.len() == 1).then(|| required[0].clone())
        };
        let names: Option<Vec<_>> = choices.iter().map(name).collect();
        if let Some(names) = names {
            choices.push(json!({ "enum": names }));
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        for choice in choices {
            if choice.get("type").is_some_and(|kind| kind == "null") {
                *choice = json!({ "type": "boolean", "const": false });
            }
        }
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type")
        && let Some(null) = kinds.iter_mut().find(|kind| *kind == "null")
    {
        *null = "boolean".into();
        schema["not"] = json!({ "const": true });
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(add_shorthands),
        Value::Array(elements) => elements.iter_mut().for_each(add_shorthands),
        _ => {}
    }
}
