//! The schema of scenario files. What it accepts and refuses is compared with a validator that is not ours in
//! `python/tests/test_schema.py`.

use floodway_scenario::file_schema;
use serde_json::Value;

#[test]
fn every_field_has_a_meaning() {
    fn go(value: &Value, path: &str) {
        if let Some(fields) = value["properties"].as_object() {
            for (name, field) in fields {
                let own = field["description"].as_str().or(value["description"].as_str());
                assert!(own.is_some_and(|text| text.len() > 5), "{path} {name}: {field}");
            }
        }
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| go(value, &format!("{path}/{key}")))
            }
            Value::Array(values) => values.iter().for_each(|value| go(value, path)),
            _ => {}
        }
    }
    go(&file_schema(), "");
}
