//! Values that are not divided any further, by their paths.

use serde_json::Value;

/// Those within a value, such as `workload.0.incast.senders`. Fields that are null are left out.
pub fn leaves(of: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    collect(of, String::new(), &mut found);
    found
}

fn collect<'a>(of: &'a Value, path: String, found: &mut Vec<(String, &'a Value)>) {
    let below = |part: &str| match path.as_str() {
        "" => part.to_owned(),
        path => format!("{path}.{part}"),
    };
    match of {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| collect(value, below(field), found));
        }
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(at, value)| collect(value, below(&at.to_string()), found));
        }
        Value::Null => {}
        leaf => found.push((path, leaf)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_name_fields_and_places() {
        let value = json!({"a": {"b": [1, {"c": "x"}], "none": null}, "d": true});
        let paths: Vec<_> =
            leaves(&value).into_iter().map(|(path, of)| (path, of.to_string())).collect();
        let expected = [("a.b.0", "1"), ("a.b.1.c", "\"x\""), ("d", "true")];
        assert_eq!(paths, expected.map(|(path, of)| (path.to_owned(), of.to_owned())));
    }
}
