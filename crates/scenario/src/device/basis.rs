//! On what a variant rests: which of the settings of its switches and hosts come from profiles, with what
//! evidence, which the scenario writes itself, and which are floodway's defaults.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{DeviceValue, Evidence, Named};
use crate::document::Document;
use crate::text::{Item, Place};

/// A value of a profile that a variant uses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Used {
    /// The profile.
    pub profile: String,
    /// The value.
    #[serde(flatten)]
    pub value: DeviceValue,
}

/// Where the settings of switches and hosts come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// The profiles with the models that they describe.
    pub profiles: Vec<(String, String)>,
    /// The values of profiles that are used.
    pub values: Vec<Used>,
    /// Values of profiles that the scenario, an overlay or another choice in it replaces.
    pub replaced: Vec<String>,
    /// Settings of switches and hosts that the scenario writes.
    pub own: usize,
    /// Settings of switches and hosts that nobody writes.
    pub defaults: usize,
}

/// The values of profiles that are still there in a document under which they were laid.
pub fn used(document: &Item, profiles: &Named) -> Option<Basis> {
    if profiles.is_empty() {
        return None;
    }
    let (mut values, mut replaced) = (Vec::new(), Vec::new());
    for (profile, _) in profiles {
        for value in &profile.values {
            let place = document.written(&value.path);
            let is_its = place.is_some_and(|place| Arc::ptr_eq(&place.source, &profile.text));
            match is_its {
                true => values.push(Used { profile: profile.name.clone(), value: value.clone() }),
                false => replaced.push(value.path.clone()),
            }
        }
    }
    let names = profiles.iter().map(|(profile, _)| (profile.name.clone(), profile.model.clone()));
    Some(Basis { profiles: names.collect(), values, replaced, own: 0, defaults: 0 })
}

impl Basis {
    /// Counts the settings that are not from profiles: those that are written otherwise, and in the settings as
    /// they are used those that nobody writes.
    pub fn count(&mut self, document: &Item, profiles: &Named, settings: &Document) {
        let of_profile = |place: &Place| {
            profiles.iter().any(|(profile, _)| Arc::ptr_eq(&place.source, &profile.text))
        };
        for key in ["switch", "host"] {
            let table = document.table().and_then(|table| table.get(key));
            self.own += table.map_or(0, |entry| written(&entry.item, &of_profile));
        }
        let tables = [
            ("switch", serde_json::to_value(&settings.switch)),
            ("host", serde_json::to_value(&settings.host)),
        ];
        let mut leaves = Vec::new();
        for (name, table) in tables {
            collect(name.to_owned(), &table.unwrap_or(Value::Null), &mut leaves);
        }
        self.defaults = leaves.iter().filter(|leaf| document.written(leaf).is_none()).count();
    }

    /// How many values of profiles have each class of evidence, those that occur.
    pub fn classes(&self) -> Vec<(Evidence, usize)> {
        let of = |class| self.values.iter().filter(|used| used.value.evidence == class).count();
        let all = Evidence::ALL.into_iter().map(|class| (class, of(class)));
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// The values that are assumed.
    pub fn assumed(&self) -> impl Iterator<Item = &Used> {
        self.values.iter().filter(|used| used.value.evidence == Evidence::Assumed)
    }

    /// The profiles, in words.
    pub fn names(&self) -> String {
        let each = self.profiles.iter().map(|(name, model)| format!("{name} ({model})"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Where the settings are from, and how those from profiles are known, in words.
    pub fn evidence(&self) -> String {
        let count = self.values.len();
        let total = count + self.own + self.defaults;
        let classes: Vec<String> =
            self.classes().iter().map(|(class, count)| format!("{count} {class}")).collect();
        let classes = match classes.is_empty() {
            true => String::new(),
            false => format!(" ({})", classes.join(", ")),
        };
        format!(
            "of {total} settings of switches and hosts {count} are from profiles{classes}, {} are the \
             scenario's own and {} are defaults of floodway",
            self.own, self.defaults
        )
    }

    /// The share of the values from profiles that are assumed, and which they are, in words.
    pub fn assumptions(&self) -> String {
        let each = self.assumed();
        let each = each.map(|used| format!("{} = {}", used.value.path, shown(&used.value.value)));
        let each: Vec<String> = each.collect();
        match each.is_empty() {
            true => "none of the values from profiles".to_owned(),
            false => format!(
                "{:.0} % of the values from profiles: {}",
                100.0 * each.len() as f64 / self.values.len() as f64,
                each.join(", ")
            ),
        }
    }
}

/// How many settings of a table are written, other than in profiles; a list is one.
fn written(item: &Item, of_profile: &dyn Fn(&Place) -> bool) -> usize {
    match item.table() {
        Some(table) => table.entries.iter().map(|entry| written(&entry.item, of_profile)).sum(),
        None => usize::from(!of_profile(&item.place)),
    }
}

/// The paths of all settings in a table; a list is one.
fn collect(path: String, of: &Value, leaves: &mut Vec<String>) {
    match of {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(format!("{path}.{key}"), value, leaves);
            }
        }
        Value::Null => {}
        _ => leaves.push(path),
    }
}

/// A value as a scenario has it, on one line.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let each = fields.iter().map(|(key, value)| format!("{key} {}", shown(value)));
            each.collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => {
            let each: Vec<String> = items.iter().map(shown).collect();
            let gap = if items.iter().any(Value::is_object) { "; " } else { ", " };
            format!("[{}]", each.join(gap))
        }
        other => other.to_string(),
    }
}
