//! How far results lean on values of device profiles that are assumed.

use crate::manifest::ProfileValue;

/// What a reader must know of them before using the numbers; none if no value is assumed.
pub fn caveat(values: &[ProfileValue]) -> Option<String> {
    let mut assumed: Vec<&str> = values
        .iter()
        .filter(|value| value.evidence == ProfileValue::ASSUMED)
        .map(|value| value.path.as_str())
        .collect();
    let count = assumed.len();
    if count == 0 {
        return None;
    }
    assumed.sort_unstable();
    assumed.dedup();
    let paths: Vec<String> = assumed.iter().map(|path| format!("`{path}`")).collect();
    let (values, are) = match values.len() {
        1 => ("the one value".to_owned(), "is"),
        many => (format!("{count} of {many} values"), if count == 1 { "is" } else { "are" }),
    };
    Some(format!(
        "Switches and NICs: {values} of device profiles {are} assumed ({}). Vary them to see whether the answer \
         depends on them.",
        paths.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(path: &str, evidence: &str) -> ProfileValue {
        ProfileValue { path: path.into(), evidence: evidence.into(), ..ProfileValue::default() }
    }

    #[test]
    fn assumed_values_are_named_once() {
        assert_eq!(caveat(&[value("switch.cell", "datasheet")]), None);
        let values = [
            value("switch.latency", "assumed"),
            value("switch.cell", "measured"),
            // Of another profile, in another variant.
            value("switch.latency", "assumed"),
        ];
        assert_eq!(
            caveat(&values).unwrap(),
            "Switches and NICs: 2 of 3 values of device profiles are assumed (`switch.latency`). Vary them to see \
             whether the answer depends on them."
        );
    }
}
