//! Part of the mutated copy of the sources only (`mutants/run.py`): parameters doubled where they
//! are used. A fraction (a number with a point, at most 1) is halved.

use std::process;

use floodway_model::mutant::{NAME, reached};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Spec;
use crate::host::{application, congestion, transport};
use crate::switch;

/// The specification with the parameter of `MUTANT` changed.
pub fn changed(mut spec: Spec) -> Spec {
    if NAME.is_empty() || NAME.starts_with("bug:") {
        return spec;
    }
    change("switch", &mut spec.switch);
    change("host.buffer", &mut spec.host.buffer);
    for profile in &mut spec.profiles {
        change("host.transport", &mut profile.transport);
        change("host.congestion", &mut profile.congestion);
        change("host.application", &mut profile.application);
    }
    spec
}

/// The paths of all numeric parameters, from the schema.
pub fn all() -> Vec<String> {
    let mut paths = vec!["host.buffer".to_owned()];
    list::<switch::Spec>("switch", &mut paths);
    list::<transport::Spec>("host.transport", &mut paths);
    list::<congestion::Spec>("host.congestion", &mut paths);
    list::<application::Spec>("host.application", &mut paths);
    paths.sort();
    paths.dedup();
    paths
}

fn list<T: JsonSchema>(root: &str, paths: &mut Vec<String>) {
    let schema = schema_for!(T).to_value();
    walk(&schema, &schema, root, paths);
}

fn walk(root: &Value, schema: &Value, path: &str, paths: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        walk(root, root.pointer(pointer).expect("references are of this schema"), path, paths);
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        let members = schema[several].as_array().into_iter().flatten();
        members.for_each(|member| walk(root, member, path, paths));
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        walk(root, member, &format!("{path}.{name}"), paths);
    }
    if !schema["items"].is_null() {
        walk(root, &schema["items"], &format!("{path}.0"), paths);
    }
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.contains(&json!(kind)),
        one => *one == json!(kind),
    };
    let quantity = is("string") && !schema["pattern"].is_null();
    if is("number") || is("integer") || quantity {
        paths.push(path.to_owned());
    }
}

fn change<T: Serialize + DeserializeOwned>(root: &str, part: &mut T) {
    let mut value = serde_json::to_value(&*part).expect("it is data");
    if NAME.as_str() == "reach" {
        reach(root, &mut value);
        return;
    }
    let Some(rest) = NAME.strip_prefix(root) else { return };
    // What is not in the range of the type when it is doubled is halved.
    let mut refused = None;
    for changed in [doubled, halved] {
        let mut value = value.clone();
        let Some(place) = place(&mut value, rest) else { return };
        let Some(new) = changed(place) else { continue };
        *place = new;
        match serde_json::from_value(value) {
            Ok(new) => return *part = new,
            Err(error) => refused = Some(error),
        }
    }
    if let Some(error) = refused {
        eprintln!("MUTANT {}: {error}", NAME.as_str());
        process::exit(99)
    }
}

/// The member that a path leads to.
fn place<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').skip(1).try_fold(value, |value, name| match value {
        Value::Array(items) => items.get_mut(name.parse::<usize>().expect("an index")),
        other => other.get_mut(name),
    })
}

/// Notes all parameters that would change.
fn reach(path: &str, value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.iter_mut().for_each(|(name, value)| reach(&format!("{path}.{name}"), value));
        }
        Value::Array(items) => {
            items.iter_mut().take(1).for_each(|value| reach(&format!("{path}.0"), value));
        }
        other => {
            if doubled(other).or_else(|| halved(other)).is_some() {
                reached(path);
            }
        }
    }
}

/// Twice the number, of a fraction half of it; `None` if that is the same or it is no number.
fn doubled(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64()?;
            let new = if number.abs() <= 1.0 { number / 2.0 } else { number * 2.0 };
            (new != number).then(|| json!(new))
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.checked_mul(2).filter(|new| *new != number).map(|new| json!(new)),
            None => number.as_u64()?.checked_mul(2).map(|new| json!(new)),
        },
        Value::String(text) => {
            let end = text.find(|c: char| c.is_ascii_alphabetic())?;
            let number: f64 = text[..end].parse().ok()?;
            (number != 0.0).then(|| json!(format!("{}{}", 2.0 * number, &text[end..])))
        }
        _ => None,
    }
}

/// Half of a whole number; `None` if that is the same or it is no whole number.
fn halved(value: &Value) -> Option<Value> {
    let new = match value.as_i64() {
        Some(number) => json!(number / 2),
        None => json!(value.as_u64()? / 2),
    };
    (new != *value).then_some(new)
}
