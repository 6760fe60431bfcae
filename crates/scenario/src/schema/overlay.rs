//! The schema of an overlay, from that of what it is laid on: nothing has to be there, and an
//! element of a list is addressed by its index, a workload also by its name.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What the name of a definition ends in if it is the overlay of the one without it.
const OVERLAY: &str = "Overlay";

/// Adds the overlay of every definition that needs one, and gives the names of those.
pub fn add(definitions: &mut Map<String, Value>) -> BTreeSet<String> {
    // A definition differs from its overlay if what it refers to does: until no more do.
    let mut changed = BTreeSet::new();
    loop {
        let differs = |name: &&String| of(&definitions[*name], &changed) != definitions[*name];
        let more: BTreeSet<_> = definitions.keys().filter(differs).cloned().collect();
        if more == changed {
            break;
        }
        changed = more;
    }
    for name in &changed {
        definitions.insert(format!("{name}{OVERLAY}"), of(&definitions[name], &changed));
    }
    changed
}

/// The overlay of a schema; `changed` are the definitions that have one of their own.
pub fn of(schema: &Value, changed: &BTreeSet<String>) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut over = fields.clone();
    let referred = schema["$ref"].as_str().and_then(|path| path.strip_prefix(REFERENCE));
    if let Some(name) = referred.filter(|name| changed.contains(*name)) {
        over["$ref"] = format!("{REFERENCE}{name}{OVERLAY}").into();
    }
    if schema["type"] == "array" {
        return of_list(schema, INDEX, changed);
    }
    if let Some(properties) = schema["properties"].as_object() {
        over.remove("required");
        let of_field = |(name, field): (&String, &Value)| (name.clone(), of(field, changed));
        over["properties"] = properties.iter().map(of_field).collect::<Map<_, _>>().into();
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        over["anyOf"] = choices.iter().map(|choice| of(choice, changed)).collect();
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let mut members: Vec<_> = choices.iter().map(|choice| of_member(choice, changed)).collect();
        // Where things stand beside a member, they may be changed alone.
        if schema["properties"].is_object() {
            let named = |choice: &Value| json!({ "required": choice["required"] });
            let any: Vec<_> = choices.iter().map(named).collect();
            members.push(json!({ "not": { "anyOf": any } }));
        }
        over["oneOf"] = members.into();
    }
    over.into()
}

/// How a reference to a definition begins.
const REFERENCE: &str = "#/$defs/";

/// A member of a family: its name is what chooses it, so that has to be there.
fn of_member(member: &Value, changed: &BTreeSet<String>) -> Value {
    let mut over = of(member, changed);
    if let Some(required) = member.get("required") {
        over["required"] = required.clone();
    }
    over
}

/// Keys that are indices of a list.
const INDEX: &str = "^[0-9]+$";

/// Keys that are indices or names. It is not the empty pattern, which matches too, because some validators take that for none.
pub const INDEX_OR_NAME: &str = ".";

/// A list replaces the one below; a table changes elements by their keys, which match a pattern.
pub fn of_list(list: &Value, keys: &str, changed: &BTreeSet<String>) -> Value {
    let element = match list.get("items") {
        Some(element) => of(element, changed),
        None => json!({}),
    };
    let mut whole = list.clone();
    let description = whole["description"].take();
    if let Value::Object(fields) = &mut whole {
        fields.remove("description");
    }
    let by_key = json!({
        "type": "object",
        "patternProperties": { keys: element },
        "additionalProperties": false,
    });
    let mut over = json!({ "anyOf": [whole, by_key] });
    if !description.is_null() {
        over["description"] = description;
    }
    over
}
