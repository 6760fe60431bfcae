//! Sweeps: the same scenario at every point of a grid of settings.
//!
//! ```toml
//! [[sweep.vary]]                         # each is a dimension of the grid
//! path = "workload.0.many_to_many.load"
//! from = 0.2
//! to = 0.8
//! steps = 4                              # 0.2, 0.4, 0.6, 0.8
//!
//! [[sweep.vary]]
//! path = "switch.queue.size"
//! values = ["500KB", "1MB", "2MB"]
//!
//! [sweep.until]                          # repeat until this is known so well
//! metric = "fct_p99_ns"
//! half_width = 0.05
//!
//! [sweep.reference]                      # the point from which changes are counted
//! "switch.queue.size" = "1MB"
//! ```
//!
//! A point is the scenario with one setting more for each dimension, as `--set` would give them, so
//! it has all variants, and errors are found before anything runs. Replications have the same seeds at
//! all points, so that points are compared in pairs.

mod meaning;
mod reference;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::footprint;
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Place, Problem, Source};

use meaning::{fixed, keys, meant, named_keys, numbers};
pub use reference::{Origin, Reference};

/// What a scenario file says of its sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The dimensions of the grid; the first is along the axis of charts.
    pub vary: Vec<Vary>,
    /// When there are enough replications. Default: as many as `replications` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The point from which changes are counted: a value of each varied path, or of some, by its path:
    /// `"switch.queue.size" = "1MB"`. Default: the point with the scenario's own values, or if the grid
    /// has none the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<serde_json::Map<String, Value>>,
}

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
    /// Whether neighbours in a range have the same difference or the same ratio. Default linear.
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

/// When there are enough replications: at every point and in every variant neither end of the 95 %
/// confidence interval of a metric's mean is farther from the mean than this part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The metric, one of the columns of the sweep's results: `fct_p99_ns`.
    pub metric: String,
    /// The distance from the mean to the farther end of its interval, as a part of the mean, above 0.
    /// Default 0.05.
    #[serde(default = "half_width")]
    pub half_width: f64,
    /// The most replications of a point and variant. Default 30.
    #[serde(default = "at_most")]
    pub at_most: u32,
}

fn half_width() -> f64 {
    0.05
}

fn at_most() -> u32 {
    30
}

/// A dimension of a grid with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is varied.
    pub path: String,
    /// The values in order, as they are set.
    pub values: Vec<String>,
    /// The same as numbers in the base unit of what is varied (ns, bytes, bits a second, or none),
    /// and that unit; none if they are not numbers of one kind.
    pub numbers: Option<(Vec<f64>, &'static str)>,
}

/// A point of a grid: the scenario with these settings.
#[derive(Clone, Debug)]
pub struct Point {
    /// Which value of each axis.
    pub at: Vec<usize>,
    /// The scenario.
    pub scenario: Scenario,
}

/// A sweep that is valid at every point.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The dimensions.
    pub axes: Vec<Axis>,
    /// When there are enough replications; none if the scenario says how many.
    pub until: Option<Until>,
    /// All points, the last axis changing fastest. There is at least one.
    pub points: Vec<Point>,
    /// The point from which changes are counted.
    pub reference: Reference,
    /// The names of the workloads, empty for one that has none.
    names: Vec<String>,
}

/// What was asked for in place of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arguments<'a> {
    /// Dimensions, as [`Vary::parse`] reads them: they are added to those of the file, or replace those
    /// of the same path.
    pub vary: &'a [String],
    /// Settings of the reference point, `path=value` between commas; empty: what the file says.
    pub reference: &'a [String],
    /// The variants that are run; empty: all. The others do not decide which point has the scenario's
    /// own values.
    pub variants: &'a [String],
}

/// The most points that a sweep may have, and so the most values of an axis.
const MOST_POINTS: usize = 100_000;

impl Sweep {
    /// The sweep of a scenario that `load` reads: all points of `spec` with these arguments.
    pub fn new(
        spec: &Spec,
        arguments: Arguments,
        overrides: &Overrides,
        load: impl Fn(&Overrides) -> Result<Scenario, Error>,
    ) -> Result<Self, Error> {
        let base = load(overrides)?;
        let names = base.variants()[0].workload_names();
        let mut axes: Vec<Axis> = Vec::new();
        for vary in &spec.vary {
            axes.push(vary.axis("[[sweep.vary]]")?);
        }
        once(&axes, &names, "[[sweep.vary]]")?;
        let more = arguments.vary.iter().map(|argument| Vary::parse(argument)?.axis("--vary"));
        let more: Vec<Axis> = more.collect::<Result<_, Error>>()?;
        once(&more, &names, "--vary")?;
        for axis in more {
            let keys = named_keys(&axis.path, &names);
            match axes.iter_mut().find(|known| named_keys(&known.path, &names) == keys) {
                Some(known) => *known = axis,
                None => axes.push(axis),
            }
        }
        let given = match (arguments.reference, &spec.reference) {
            ([], None) => None,
            ([], Some(values)) => Some(reference::Given::of_file(values)?),
            (settings, _) => Some(reference::Given::parse(settings)?),
        };
        if let Some(until) = &spec.until {
            until.check()?;
        }
        let count =
            axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
        let count = count.filter(|count| *count <= MOST_POINTS).ok_or_else(|| {
            let message = format!("the sweep has more than {MOST_POINTS} points");
            let sizes = axes.iter().map(|axis| format!("{} of {}", axis.values.len(), axis.path));
            let sizes = sizes.collect::<Vec<_>>().join(" × ");
            problem("[[sweep.vary]]", &sizes, message, "vary less, or in fewer steps")
        })?;
        let sizes = axes.iter().map(|axis| format!("{} of {}", axis.values.len(), axis.path));
        let source = Source::new("[[sweep.vary]]", sizes.collect::<Vec<_>>().join(" × "));
        footprint::refuse_points(&Place::whole(&Arc::new(source)), &base, count)?;
        let points = (0..count).map(|number| {
            let mut rest = number;
            let mut at: Vec<usize> = Vec::new();
            for axis in axes.iter().rev() {
                at.insert(0, rest % axis.values.len());
                rest /= axis.values.len();
            }
            let mut overrides = overrides.clone();
            overrides.set.extend(settings(&axes, &at));
            let scenario = load(&overrides).map_err(|error| at_point(error, &axes, &at))?;
            Ok(Point { scenario, at })
        });
        let points: Vec<Point> = points.collect::<Result<_, Error>>()?;
        if let Some(until) = &spec.until {
            until
                .allow(points.iter().map(|point| point.scenario.replications).max().unwrap_or(1))?;
        }
        let reference =
            reference::of(given.as_ref(), &axes, &points, (&base, arguments.variants), &names)?;
        let mut sweep = Self { axes, until: spec.until.clone(), points, reference, names };
        if let Some(until) = &mut sweep.until {
            until.metric = metric(&until.metric, &sweep.names);
        }
        Ok(sweep)
    }

    /// The name of a metric in results: `workload_0_goodput_bps` for `workload_training_goodput_bps`
    /// if the first workload is called `training`, and any other as it is.
    pub fn metric(&self, name: &str) -> String {
        metric(name, &self.names)
    }

    /// By point and then by variant, which traffic there is: two with the same number send the same
    /// flows in each replication and measure the same ones.
    pub fn traffic(&self, variants: &[String]) -> Vec<Vec<usize>> {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut of = |scenario: &Scenario, name: &String| {
            let variant = scenario.variant(name).expect("all points have all variants");
            let next = known.len();
            *known.entry(scenario.traffic(variant)).or_insert(next)
        };
        let of_point =
            |point: &Point| variants.iter().map(|name| of(&point.scenario, name)).collect();
        self.points.iter().map(of_point).collect()
    }

    /// The settings that make a point, as `path=value`.
    pub fn settings(&self, point: &Point) -> Vec<String> {
        settings(&self.axes, &point.at).collect()
    }
}

/// A metric of a workload by its number, where it is given by a name that only one workload has.
fn metric(metric: &str, names: &[String]) -> String {
    let Some(rest) = metric.strip_prefix("workload_") else { return metric.to_owned() };
    let of = |(number, name): (usize, &String)| {
        let rest = rest.strip_prefix(name.as_str())?.strip_prefix('_')?;
        let once = names.iter().filter(|other| *other == name).count() == 1;
        (once && !name.is_empty()).then(|| (name.len(), format!("workload_{number}_{rest}")))
    };
    // One name may begin with another.
    let longest = names.iter().enumerate().filter_map(of).max_by_key(|found| found.0);
    longest.map_or_else(|| metric.to_owned(), |found| found.1)
}

/// The same error with the point where it is one.
fn at_point(error: Error, axes: &[Axis], at: &[usize]) -> Error {
    let point = settings(axes, at).collect::<Vec<_>>().join(", ");
    let told = error.problems().iter().cloned().map(|problem| Problem {
        help: format!("{} (at the point {point} of the sweep)", problem.help),
        ..problem
    });
    Error::new(told.collect())
}

fn settings<'a>(axes: &'a [Axis], at: &'a [usize]) -> impl Iterator<Item = String> + 'a {
    axes.iter().zip(at).map(|(axis, &at)| format!("{}={}", axis.path, axis.values[at]))
}

impl Until {
    /// Reads `METRIC` or `METRIC=HALF_WIDTH`.
    pub fn parse(argument: &str) -> Result<Self, Error> {
        let (metric, half_width) = match argument.split_once('=') {
            None => (argument, half_width()),
            Some((metric, width)) => {
                let width = width.trim().parse().map_err(|_| {
                    let message = format!("`{width}` is not a number");
                    problem("--until", argument, message, "write it like --until fct_p99_ns=0.05")
                })?;
                (metric, width)
            }
        };
        let until = Self { metric: metric.trim().to_owned(), half_width, at_most: at_most() };
        until.check()?;
        Ok(until)
    }

    /// Whether the most replications are at least those that the scenario asks for.
    fn allow(&self, replications: u32) -> Result<(), Error> {
        if self.at_most >= replications {
            return Ok(());
        }
        let message = format!(
            "at_most is {}, but the scenario asks for {replications} replications at least",
            self.at_most
        );
        let help = format!(
            "lower `replications` (`--replications`), or raise `at_most` (`--at-most`) to \
             {replications}"
        );
        Err(problem("sweep.until", &self.metric, message, &help).into())
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |what: String, help: &str| problem("sweep.until", &self.metric, what, help);
        if self.metric.is_empty() {
            return Err(wrong("the metric has no name".to_owned(), "name one: fct_p99_ns").into());
        }
        if !(self.half_width > 0.0 && self.half_width.is_finite()) {
            let message = format!("half_width is {}, not above 0", self.half_width);
            return Err(wrong(message, "0.05 is a twentieth of the mean to both sides").into());
        }
        if self.at_most < 2 {
            let message = format!("at_most is {}", self.at_most);
            return Err(wrong(message, "an interval needs at least 2 replications").into());
        }
        Ok(())
    }
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

    fn axis(&self, whose: &str) -> Result<Axis, Error> {
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
fn split(text: &str) -> Vec<&str> {
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

/// Refuses axes of the same path.
fn once(axes: &[Axis], names: &[String], whose: &str) -> Result<(), Error> {
    let mut seen: BTreeMap<Vec<String>, &str> = BTreeMap::new();
    for Axis { path, .. } in axes {
        let message = match seen.insert(named_keys(path, names), path) {
            None => continue,
            Some(other) if other == path => format!("`{path}` is varied twice"),
            Some(other) => format!("`{other}` and `{path}` are the same, so it is varied twice"),
        };
        return Err(problem(whose, path, message, "leave one out").into());
    }
    Ok(())
}

/// A value as a `--set` takes it.
fn as_written(value: &Value) -> String {
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

fn problem(whose: &str, text: &str, message: String, help: &str) -> Problem {
    let source = Arc::new(Source::new(whose, text.to_owned()));
    Problem::error(Place::at(&source, 0..text.len()), message, help)
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

    fn grid(spec: &str, vary: &[&str]) -> Result<Sweep, Problem> {
        const SCENARIO: &str = "name = \"s\"\narrivals = \"1us\"\nlimit = \"1ms\"\nreplications = 5\n\
            topology.star.hosts = 6\n[[workload]]\nincast = { senders = 2, bytes = \"20KB\" }\n\
            [[workload]]\nincast = { senders = 1, bytes = \"20KB\" }\n";
        let spec: Spec = toml::from_str(spec).unwrap();
        let vary: Vec<String> = vary.iter().map(|vary| (*vary).to_owned()).collect();
        let load = |overrides: &Overrides| Scenario::parse(SCENARIO, "s.toml", overrides);
        let arguments = Arguments { vary: &vary, ..Arguments::default() };
        Sweep::new(&spec, arguments, &Overrides::default(), load)
            .map_err(|error| error.problems()[0].clone())
    }

    #[test]
    fn a_path_is_varied_once_however_it_is_written() {
        let twice = |vary: &[&str]| grid("vary = []", vary).unwrap_err().message;
        assert_eq!(twice(&["seed=1,2", "seed=3,4"]), "`seed` is varied twice");
        assert_eq!(
            twice(&["workload.1.incast.senders=1", "workload.01.incast.senders=2"]),
            "`workload.1.incast.senders` and `workload.01.incast.senders` are the same, so it is \
             varied twice"
        );
        // What the command line varies replaces what the file does.
        let file = "[[vary]]\npath = \"workload.1.incast.senders\"\nvalues = [1, 2]";
        let sweep = grid(file, &["workload.01.incast.senders=2"]).unwrap();
        assert_eq!((sweep.axes.len(), sweep.points.len()), (1, 1));
    }

    #[test]
    fn what_a_file_says_twice_or_too_large_is_told() {
        let both = "[[vary]]\npath = \"seed\"\nvalues = [1]\nfrom = 1\nto = 2\nsteps = 2";
        let problem = grid(both, &[]).unwrap_err();
        assert_eq!(problem.message, "`seed` has both a list and a range");
        assert_eq!(problem.help, "keep `values`, or `from`, `to` and `steps`; not both");
        let wide = ["seed=1..1000/1000", "workload.0.incast.bytes=1KB..1000KB/1000"];
        let problem = grid("vary = []", &wide).unwrap_err();
        assert_eq!(problem.message, "the sweep has more than 100000 points");
        let until = "vary = []\nuntil = { metric = \"fct_p99_ns\", at_most = 4 }";
        let problem = grid(until, &["seed=1,2"]).unwrap_err();
        assert_eq!(
            problem.message,
            "at_most is 4, but the scenario asks for 5 replications at least"
        );
        assert_eq!(
            problem.help,
            "lower `replications` (`--replications`), or raise `at_most` (`--at-most`) to 5"
        );
        assert!(grid(&until.replace('4', "5"), &["seed=1,2"]).is_ok());
    }

    #[test]
    fn precision_is_read_and_checked() {
        let until = Until::parse("fct_p99_ns=0.1").unwrap();
        assert_eq!(
            (until.metric.as_str(), until.half_width, until.at_most),
            ("fct_p99_ns", 0.1, 30)
        );
        assert_eq!(Until::parse("x").unwrap().half_width, 0.05);
        let message = |text| Until::parse(text).unwrap_err().problems()[0].message.clone();
        assert_eq!(message("x=y"), "`y` is not a number");
        assert_eq!(message("x=0"), "half_width is 0, not above 0");
        assert_eq!(message("=1"), "the metric has no name");
    }
}
