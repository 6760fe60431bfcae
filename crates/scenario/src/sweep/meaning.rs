//! What paths and values of a sweep mean, however they are written.

use std::sync::Arc;

use floodway_model::{Bytes, Duration, Rate};

use crate::renamed;
use crate::text::{Entry, Item, Source, Value as Written, parse_value};

/// The keys of a path as a `--set` reads them: `workload.01` is `workload.1`, and old names are the new ones.
pub(super) fn keys(path: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for part in path.split('.').map(str::trim) {
        let number = part.parse::<usize>().ok();
        // A variant may have any name.
        let number = number.filter(|_| keys != ["variants"]);
        keys.push(number.map_or_else(|| part.to_owned(), |number| number.to_string()));
    }
    renamed::current(&mut keys);
    keys
}

/// The same with the number of a workload in place of its name, if only one has it.
pub(super) fn named_keys(path: &str, names: &[String]) -> Vec<String> {
    let mut keys = keys(path);
    let above = if keys.first().is_some_and(|key| key == "variants") { 2 } else { 0 };
    if let Some([list, key, ..]) = keys.get_mut(above..)
        && list == "workload"
        && names.iter().filter(|name| *name == key).count() == 1
        && let Some(number) = names.iter().position(|name| name == key)
    {
        *key = number.to_string();
    }
    keys
}

/// Why what has these keys cannot be varied, and what to do instead; none if it can.
pub(super) fn fixed(keys: &[String]) -> Option<(&'static str, &'static str)> {
    match keys.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["name" | "question"] => Some((
            "it says what the whole sweep is and changes no run",
            "vary a setting of the model",
        )),
        ["replications"] => Some((
            "it says how often each point is run and changes no run",
            "give --replications for all points, or --until",
        )),
        ["variants", _] => Some((
            "all points have the same variants",
            "vary a setting of the variant: variants.ci.switch.latency",
        )),
        _ => None,
    }
}

/// What a value says, however it is written: the same for `0.2` and `0.20`, for `1MB` and `1000KB`.
pub(super) fn meant(text: &str) -> String {
    let source = Arc::new(Source::new("", text.to_owned()));
    item_meant(&parse_value(&source, 0))
}

fn item_meant(item: &Item) -> String {
    match &item.value {
        Written::Text(text) => match numbers(std::slice::from_ref(text)) {
            Some((number, unit)) => format!("{:?} {unit}", number[0]),
            None => format!("{text:?}"),
        },
        // Large seeds differ where numbers with a point no longer do.
        Written::Whole(number) if *number as f64 as i128 != *number => number.to_string(),
        Written::Whole(number) => format!("{:?} ", *number as f64),
        Written::Real(number) => format!("{number:?} "),
        Written::Truth(truth) => truth.to_string(),
        Written::Date(date) => date.clone(),
        Written::List(items) => {
            format!("[{}]", items.iter().map(item_meant).collect::<Vec<_>>().join(", "))
        }
        Written::Table(table) => {
            let field = |entry: &Entry| format!("{}={}", entry.key, item_meant(&entry.item));
            let mut fields: Vec<_> = table.entries.iter().map(field).collect();
            fields.sort();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// All values as numbers in one base unit.
pub(super) fn numbers(values: &[String]) -> Option<(Vec<f64>, &'static str)> {
    let all = |of: &dyn Fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        values.iter().map(|value| of(value)).collect()
    };
    let plain = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    let time = |text: &str| Some(text.parse::<Duration>().ok()?.0 as f64 / 1e3);
    let bytes = |text: &str| Some(text.parse::<Bytes>().ok()?.0 as f64);
    let rate = |text: &str| Some(text.parse::<Rate>().ok()?.0 as f64);
    None.or_else(|| Some((all(&plain)?, "")))
        .or_else(|| Some((all(&time)?, "ns")))
        .or_else(|| Some((all(&bytes)?, "bytes")))
        .or_else(|| Some((all(&rate)?, "b/s")))
}
