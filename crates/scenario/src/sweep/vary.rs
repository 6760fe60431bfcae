//! One dimension of a sweep, as it is written and as a list of values.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::meaning::{fixed, keys, meant, numbers};
use super::{Axis, MOST_POINTS, problem};
use crate::text::{Error, Problem};

/// One dimension of a sweep: a list of values, or a range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// What is varied, as `--set` names it: `switch.queue.size`.
    pub path: String,
    /// The values in order, each as it would stand in the file. Default none: a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// The first value of a range: a number, or a quantity like "100KB". Default none: a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The last value of a range, in the same unit. Default none: a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
    /// How many values a range has, both ends included; at least 2. Default none: a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Whether neighbors in a range have the same difference or the same ratio. Default linear.
    #[serde(default)]
    pub scale: Scale,
}

/// How the values of a range are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The same difference from each to the next.
    #[default]
    Linear,
    /// The same ratio of each to the one before.
    Log,
}

impl Vary {
    /// Reads the argument of a `--vary`: `PATH=V1,V2,…`, or a range `PATH=FROM..TO/STEPS`, spread by
    /// ratio with `/STEPSlog`.
    pub fn parse(argument: &str) -> Result<Self, Error> {
        const HELP: &str = "write a list like --vary switch.queue.size=500KB,1MB, or a range like \
                            --vary workload.0.many_to_many.load=0.2..0.8/4";
        let wrong = |message: String| problem("--vary", argument, message, HELP);
        let Some((path, values)) = argument.split_once('=') else {
            return Err(wrong("there is no `=` between path and values".to_owned()).into());
        };
        let path = path.trim().to_owned();
        let list =
            Self { path, values: None, from: None, to: None, steps: None, scale: Scale::Linear };
        let Some((from, rest)) = values.split_once("..") else {
            let values = split(values).into_iter().map(|value| Value::String(value.to_owned()));
            return Ok(Self { values: Some(values.collect()), ..list });
        };
        let Some((to, steps)) = rest.split_once('/') else {
            return Err(wrong("the range does not say in how many steps".to_owned()).into());
        };
        let (steps, scale) = match steps.trim().strip_suffix("log") {
            Some(steps) => (steps, Scale::Log),
            None => (steps.trim(), Scale::Linear),
        };
        let steps =
            steps.trim().parse().map_err(|_| wrong(format!("`{steps}` is no number of steps")))?;
        let end = |text: &str| Some(Value::String(text.trim().to_owned()));
        Ok(Self { from: end(from), to: end(to), steps: Some(steps), scale, ..list })
    }

    pub(super) fn axis(&self, whose: &str) -> Result<Axis, Error> {
        let wrong = |message: String, help: &str| problem(whose, &self.path, message, help);
        if self.path.trim().is_empty() {
            return Err(wrong("the path is empty".to_owned(), "name what is varied").into());
        }
        if let Some((reason, help)) = fixed(&keys(&self.path)) {
            return Err(wrong(format!("`{}` cannot be varied: {reason}", self.path), help).into());
        }
        let values = match (&self.values, &self.from, &self.to, self.steps) {
            (Some(values), None, None, None) => values.iter().map(as_written).collect(),
            (None, Some(from), Some(to), Some(steps)) => self.range(from, to, steps, &wrong)?,
            (Some(_), ..) => {
                let message = format!("`{}` has both a list and a range", self.path);
                let help = "keep `values`, or `from`, `to` and `steps`; not both";
                return Err(wrong(message, help).into());
            }
            _ => {
                let message = format!("`{}` has neither a list nor a whole range", self.path);
                let help = "give `values`, or `from`, `to` and `steps`";
                return Err(wrong(message, help).into());
            }
        };
        if values.is_empty() {
            return Err(wrong(format!("`{}` has no values", self.path), "give one at least").into());
        }
        if let Some(at) = values.iter().position(|value| value.trim().is_empty()) {
            let message = format!("value {} of `{}` is empty", at + 1, self.path);
            return Err(wrong(message, "write a value there, or leave out a comma").into());
        }
        let mut seen: BTreeMap<String, &String> = BTreeMap::new();
        for value in &values {
            let message = match seen.insert(meant(value), value) {
                None => continue,
                Some(other) if other == value => {
                    format!("`{}` has the value {value} twice", self.path)
                }
                Some(other) => {
                    format!("`{}` has the same value twice, as {other} and {value}", self.path)
                }
            };
            return Err(wrong(message, "leave one out: every point is run once").into());
        }
        let numbers = numbers(&values);
        Ok(Axis { path: self.path.clone(), values, numbers })
    }

    fn range(
        &self,
        from: &Value,
        to: &Value,
        steps: u32,
        wrong: &dyn Fn(String, &str) -> Problem,
    ) -> Result<Vec<String>, Error> {
        let (from, to) = (as_written(from), as_written(to));
        let ((first, unit), (last, other)) = (in_unit(&from), in_unit(&to));
        let (Some(first), Some(last)) = (first, last) else {
            let message = format!("{from} to {to} is not a range of numbers");
            return Err(wrong(message, "give a list of `values`").into());
        };
        if unit != other {
            let message = format!("{from} and {to} are in different units");
            return Err(wrong(message, "write both in the same one").into());
        }
        if steps < 2 {
            let message = format!("a range cannot have {steps} steps");
            return Err(wrong(message, "both ends are steps: give 2 at least").into());
        }
        if steps as usize > MOST_POINTS {
            let message = format!("a range of {steps} steps has more than {MOST_POINTS} values");
            return Err(wrong(message, "take fewer steps: a run is made for each").into());
        }
        if self.scale == Scale::Log && !(first > 0.0 && last > 0.0) {
            let message = format!("{from} to {to} has no ratios");
            return Err(wrong(message, "a logarithmic range needs ends above 0").into());
        }
        let step = |number: u32| {
            let part = f64::from(number) / f64::from(steps - 1);
            let value = match self.scale {
                _ if number == 0 => first,
                _ if number == steps - 1 => last,
                Scale::Linear => first + (last - first) * part,
                Scale::Log => first * (last / first).powf(part),
            };
            // Whole numbers of what cannot be a part are for the user to see to; digits that come
            // from the computation are not.
            let digits = 9 - value.abs().log10().floor().clamp(-30.0, 9.0) as i32;
            let scale = 10f64.powi(digits.max(0));
            format!("{}{unit}", (value * scale).round() / scale)
        };
        Ok((0..steps).map(step).collect())
    }
}

/// Parts between commas that are not within brackets or quotes.
pub(super) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[begin..].trim());
    if parts == [""] { Vec::new() } else { parts }
}

/// A value as a `--set` takes it.
pub(super) fn as_written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(nested).collect();
            format!("[{}]", values.join(", "))
        }
        other => nested(other),
    }
}

/// A value within another, in TOML.
fn nested(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| format!("{key} = {}", nested(value));
            let fields: Vec<_> = fields.iter().map(field).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(_) => as_written(value),
        other => other.to_string(),
    }
}

/// The number at the beginning of a value, and what follows it.
fn in_unit(text: &str) -> (Option<f64>, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "._+-eE".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number.replace('_', "").parse().ok().filter(|value: &f64| value.is_finite()), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(argument: &str) -> Result<Axis, String> {
        let axis = Vary::parse(argument).and_then(|vary| vary.axis("--vary"));
        axis.map_err(|error| error.problems()[0].message.clone())
    }

    fn values(argument: &str) -> Vec<String> {
        axis(argument).unwrap().values
    }

    #[test]
    fn lists_and_ranges_are_written_out() {
        assert_eq!(values("a.b=1,2.5, 4"), ["1", "2.5", "4"]);
        assert_eq!(values("a=[1, 2],[3]"), ["[1, 2]", "[3]"]);
        assert_eq!(values("a=0.2..0.8/4"), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(values("a=0.1..0.3/3"), ["0.1", "0.2", "0.3"]);
        assert_eq!(values("a=100KB..500KB/3"), ["100KB", "300KB", "500KB"]);
        assert_eq!(values("a=1us..1000us/4log"), ["1us", "10us", "100us", "1000us"]);
        assert_eq!(values("a=8..2/3"), ["8", "5", "2"]);
        assert_eq!(values("a=1..2/4")[1], "1.333333333");
    }

    #[test]
    fn numbers_are_in_base_units() {
        let of = |argument: &str| axis(argument).unwrap().numbers;
        assert_eq!(of("a=0.5,2"), Some((vec![0.5, 2.0], "")));
        assert_eq!(of("a=500ns,2us"), Some((vec![500.0, 2_000.0], "ns")));
        assert_eq!(of("a=500B,2KB"), Some((vec![500.0, 2_000.0], "bytes")));
        assert_eq!(of("a=10Gbps"), Some((vec![1e10], "b/s")));
        assert_eq!(of("a=drop_tail,red"), None);
        assert_eq!(of("a=1,red"), None);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (argument, message) in [
            ("a", "there is no `=` between path and values"),
            ("a=", "`a` has no values"),
            ("=1", "the path is empty"),
            (
                "seed=9007199254740992,9007199254740993,9007199254740993",
                "`seed` has the value 9007199254740993 twice",
            ),
            ("a=1,2,1", "`a` has the value 1 twice"),
            ("a=0.2,0.20", "`a` has the same value twice, as 0.2 and 0.20"),
            ("a=1MB,2MB,1000KB", "`a` has the same value twice, as 1MB and 1000KB"),
            ("a=[1,2],[1, 2]", "`a` has the same value twice, as [1,2] and [1, 2]"),
            ("a=red,\"red\"", "`a` has the same value twice, as red and \"red\""),
            ("a=0.2,,", "value 2 of `a` is empty"),
            ("a=,1", "value 1 of `a` is empty"),
            ("a=0.2..0.8/1000000000", "a range of 1000000000 steps has more than 100000 values"),
            (
                "name=a,b",
                "`name` cannot be varied: it says what the whole sweep is and changes no run",
            ),
            (
                "replications=1,2",
                "`replications` cannot be varied: it says how often each point is run and changes no \
                 run",
            ),
            (
                "variants.ci=true,false",
                "`variants.ci` cannot be varied: all points have the same variants",
            ),
            ("a=1..2", "the range does not say in how many steps"),
            ("a=1..2/x", "`x` is no number of steps"),
            ("a=1..2/1", "a range cannot have 1 steps"),
            ("a=1KB..2MB/3", "1KB and 2MB are in different units"),
            ("a=x..y/3", "x to y is not a range of numbers"),
            ("a=0..2/3log", "0 to 2 has no ratios"),
        ] {
            assert_eq!(axis(argument).unwrap_err(), message);
        }
    }
}
