//! The schema of scenario files as the generator reads it: what a table may hold, of what kind a
//! value is, and what the default of a field is.

use floodway_scenario::file_schema;
use serde_json::Value;

/// The schema of scenario files.
#[derive(Clone, Debug)]
pub struct Schema {
    whole: Value,
}

impl Default for Schema {
    fn default() -> Self {
        Self { whole: file_schema() }
    }
}

/// The unit of a quantity that is written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A duration.
    Time,
    /// A size.
    Bytes,
    /// A rate.
    Rate,
}

impl Schema {
    /// The schema of a whole scenario.
    pub fn scenario(&self) -> &Value {
        &self.whole["$defs"]["Scenario"]
    }

    /// What a reference refers to; anything else as it is.
    pub fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(name) => self.resolve(&self.whole["$defs"][name]),
            None => schema,
        }
    }

    /// The schema of the value at a path below `schema`; `None` if there is no such field.
    pub fn find<'a>(&'a self, schema: &'a Value, path: &[String]) -> Option<&'a Value> {
        let Some((first, rest)) = path.split_first() else { return Some(schema) };
        let schema = self.resolve(schema);
        let field = &schema["properties"][first];
        if !field.is_null() {
            return self.find(field, rest);
        }
        let element = &schema["items"];
        if !element.is_null() && first.parse::<usize>().is_ok() {
            return self.find(element, rest);
        }
        choices(schema).find_map(|choice| self.find(choice, path))
    }

    /// Whether the table of a field cannot be without it; elements of lists can be left out.
    pub fn is_required(&self, path: &[String]) -> bool {
        let Some((last, parent)) = path.split_last() else { return true };
        let Some(table) = self.find(self.scenario(), parent) else { return false };
        let table = self.resolve(table);
        // A member of a family is required where exactly one is chosen.
        std::iter::once(table)
            .chain(choices(table).map(|choice| self.resolve(choice)))
            .any(|table| names(table, "required").any(|name| name == last))
    }
}

/// What a value may be one of.
pub fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |key: &str| schema[key].as_array().into_iter().flatten();
    of("oneOf").chain(of("anyOf"))
}

/// The texts of a list of a schema.
pub fn names<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    schema[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The type of a value, without the `false` of what may be absent.
pub fn type_of(schema: &Value) -> &str {
    let several = schema["type"].as_array().and_then(|types| types.first());
    several.unwrap_or(&schema["type"]).as_str().unwrap_or("")
}

/// The unit of a text, if it is a quantity.
pub fn unit(schema: &Value) -> Option<Unit> {
    let pattern = schema["pattern"].as_str()?;
    [("bps", Unit::Rate), ("KiB", Unit::Bytes), ("ps|ns", Unit::Time)]
        .into_iter()
        .find_map(|(part, unit)| pattern.contains(part).then_some(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn fields_are_found_through_families_lists_and_references() {
        let schema = Schema::default();
        let find = |text: &str| schema.find(schema.scenario(), &path(text));
        let kind = |text: &str| schema.resolve(find(text).unwrap());
        assert_eq!(unit(kind("switch.queue.size")), Some(Unit::Bytes));
        assert_eq!(unit(kind("topology.clos.host_rate")), Some(Unit::Rate));
        assert_eq!(type_of(kind("workload.3.incast.senders")), "integer");
        assert_eq!(type_of(kind("switch.flow_control.pfc.queues.0")), "integer");
        assert!(find("switch.queue.sizes").is_none());
    }

    #[test]
    fn required_fields_are_known() {
        let schema = Schema::default();
        let required = |text: &str| schema.is_required(&path(text));
        assert!(required("limit") && required("workload.0.incast.senders"));
        assert!(required("topology.clos") && required("switch.aqm.red"));
        assert!(!required("warmup") && !required("workload.0") && !required("switch.aqm"));
        assert!(!required("switch.flow_control.pfc") && !required("workload.0.name"));
    }
}
