//! The reference point of a sweep, from which changes are counted.

use serde_json::Value;

use super::meaning::{meant, named_keys, numbers};
use super::{Axis, Point, as_written, problem, split};
use crate::scenario::Scenario;
use crate::text::{Error, Problem, suggest};

/// The point from which changes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// Its number.
    pub point: usize,
    /// Why it is this one.
    pub origin: Origin,
}

/// Why a point is the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Given,
    /// Its values are those that the scenario itself has.
    Scenario,
    /// It is the first: no point has the scenario's own values, and none was given.
    #[default]
    First,
}

const HELP: &str = "write it like --reference switch.queue.size=1MB";

/// Settings as they are given, with what gives them: `--reference` or `sweep.reference`.
pub struct Given {
    whose: &'static str,
    /// The text, the path and the value.
    parts: Vec<(String, String, String)>,
}

impl Given {
    /// Reads arguments of `--reference`: settings between commas.
    pub fn parse(arguments: &[String]) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for argument in arguments {
            let wrong = |message: &str| problem("--reference", argument, message.to_owned(), HELP);
            let settings = split(argument);
            if settings.is_empty() {
                return Err(wrong("the reference is empty").into());
            }
            for setting in settings {
                let Some((path, value)) = setting.split_once('=') else {
                    return Err(wrong(&format!("there is no `=` in `{setting}`")).into());
                };
                let part = (argument.clone(), path.trim().to_owned(), value.trim().to_owned());
                parts.push(part);
            }
        }
        Ok(Self { whose: "--reference", parts })
    }

    /// What a scenario file says: values by path, whose parts may also be tables in tables.
    pub fn of_file(values: &serde_json::Map<String, Value>) -> Result<Self, Error> {
        let mut parts = Vec::new();
        flatten("", values, &mut parts);
        if parts.is_empty() {
            let help = "name a value of a path that is varied, or leave `reference` out";
            let message = "the reference is empty".to_owned();
            return Err(problem("sweep.reference", "{}", message, help).into());
        }
        Ok(Self { whose: "sweep.reference", parts })
    }

    fn wrong(&self, part: usize, message: String, help: &str) -> Problem {
        problem(self.whose, &self.parts[part].0, message, help)
    }

    /// Which value of each axis is given; none where none is.
    fn place(&self, axes: &[Axis], names: &[String]) -> Result<Vec<Option<usize>>, Error> {
        let mut place = vec![None; axes.len()];
        for (number, (_, path, value)) in self.parts.iter().enumerate() {
            let keys = named_keys(path, names);
            let axis = axes.iter().position(|axis| named_keys(&axis.path, names) == keys);
            let Some(axis) = axis else {
                let paths: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).collect();
                let message = format!("`{path}` is not varied, so a reference cannot have it");
                let help = suggest::remedy(path, "varied paths", &paths);
                return Err(self.wrong(number, message, &help).into());
            };
            if place[axis].is_some() {
                let message = format!("the reference has two values of `{path}`");
                return Err(self.wrong(number, message, "leave one out").into());
            }
            let Axis { path, values, .. } = &axes[axis];
            if value.is_empty() {
                let message = format!("the reference has no value of `{path}`");
                let help = format!("the values of `{path}` are: {}", values.join(", "));
                return Err(self.wrong(number, message, &help).into());
            }
            let wanted = meant(value);
            place[axis] = values.iter().position(|value| meant(value) == wanted);
            if place[axis].is_none() {
                let message = format!("the grid has no point with `{path}={value}`");
                let nearest = nearest(value, values)
                    .map_or_else(String::new, |nearest| format!("did you mean {nearest}? "));
                let help = format!("{nearest}The values of `{path}` are: {}", values.join(", "));
                return Err(self.wrong(number, message, &help).into());
            }
        }
        Ok(place)
    }
}

fn flatten(
    above: &str,
    values: &serde_json::Map<String, Value>,
    parts: &mut Vec<(String, String, String)>,
) {
    for (key, value) in values {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Object(deeper) => flatten(&path, deeper, parts),
            value => {
                let value = as_written(value);
                parts.push((format!("{path}={value}"), path, value));
            }
        }
    }
}

/// The value of an axis that is nearest to one that it does not have: by size, or by its letters.
fn nearest<'a>(value: &str, values: &'a [String]) -> Option<&'a str> {
    let together: Vec<String> =
        std::iter::once(value.to_owned()).chain(values.iter().cloned()).collect();
    let Some((numbers, _)) = numbers(&together) else {
        return suggest::closest(value, values.iter().map(String::as_str));
    };
    let distance = |at: &usize| (numbers[at + 1] - numbers[0]).abs();
    let best = (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(&values[best])
}

/// The reference of a grid: the point that is given, where a path that is not named has the
/// scenario's own value if there is such a point and else the first; or the point of the scenario's
/// own values; or the first.
pub fn of(
    given: Option<&Given>,
    axes: &[Axis],
    points: &[Point],
    (base, variants): (&Scenario, &[String]),
    names: &[String],
) -> Result<Reference, Error> {
    let own = points.iter().position(|point| is_same(&point.scenario, base, variants));
    let Some(given) = given else {
        return Ok(match own {
            Some(point) => Reference { point, origin: Origin::Scenario },
            None => Reference::default(),
        });
    };
    let place = given.place(axes, names)?;
    let rest = &points[own.unwrap_or(0)].at;
    let at: Vec<usize> =
        place.iter().zip(rest).map(|(given, rest)| given.unwrap_or(*rest)).collect();
    let point = points.iter().position(|point| point.at == at).expect("a grid has all points");
    Ok(Reference { point, origin: Origin::Given })
}

/// Whether these variants, or all, have the same values of everything in two scenarios.
fn is_same(one: &Scenario, other: &Scenario, variants: &[String]) -> bool {
    let counts = |name: &String| variants.is_empty() || variants.contains(name);
    let mut pairs = one.variants().iter().zip(other.variants());
    pairs.all(|(one, other)| !counts(&one.name) || one.settings == other.settings)
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Spec, Sweep};
    use super::*;
    use crate::scenario::Overrides;

    const SCENARIO: &str = "name = \"s\"\narrivals = \"1us\"\nlimit = \"1ms\"\nmeasure_until = \"arrivals\"\n\
        topology.star.hosts = 6\nswitch.queue.size = \"1MB\"\nswitch.latency = \"2us\"\n\
        [[workload]]\nname = \"training\"\nincast = { senders = 2, bytes = \"20KB\" }\n\
        [[workload]]\nname = \"a\"\nincast = { senders = 1, bytes = \"20KB\" }\n\
        [variants.one]\n[variants.two.switch.aqm.step]\n";
    const VARY: [&str; 2] = ["switch.queue.size=500KB,1000KB,2MB", "switch.latency=1us,2us"];

    fn sweep(spec: &str, vary: &[&str], reference: &[&str]) -> Result<Sweep, Error> {
        let owned = |of: &[&str]| -> Vec<String> { of.iter().map(|one| (*one).into()).collect() };
        let spec: Spec = toml::from_str(spec).unwrap();
        let (vary, reference) = (owned(vary), owned(reference));
        let arguments = Arguments { vary: &vary, reference: &reference, variants: &[] };
        let load = |overrides: &Overrides| Scenario::parse(SCENARIO, "s.toml", overrides);
        Sweep::new(&spec, arguments, &Overrides::default(), load)
    }

    fn reference(vary: &[&str], reference: &[&str]) -> (usize, Origin) {
        let Reference { point, origin } = sweep("vary = []", vary, reference).unwrap().reference;
        (point, origin)
    }

    #[test]
    fn the_scenarios_own_values_are_the_reference() {
        // 1000KB is the scenario's 1MB: the second of three sizes, and the second of two latencies.
        assert_eq!(reference(&VARY, &[]), (3, Origin::Scenario));
        assert_eq!(reference(&["switch.queue.size=500KB,2MB"], &[]), (0, Origin::First));
        // What one variant has otherwise counts too.
        assert_eq!(reference(&["switch.aqm=step,drop_tail"], &[]), (0, Origin::First));
        assert_eq!(reference(&["variants.two.switch.latency=1us,2us"], &[]), (1, Origin::Scenario));
        assert_eq!(
            reference(&["workload.training.incast.senders=1,2"], &[]),
            (1, Origin::Scenario)
        );
    }

    #[test]
    fn only_variants_that_are_run_decide_which_values_are_the_scenarios_own() {
        let load = |overrides: &Overrides| Scenario::parse(SCENARIO, "s.toml", overrides);
        // Only one of the variants has this AQM.
        let vary = ["switch.aqm=drop_tail,step".to_owned()];
        for (variant, expected) in [("one", 0), ("two", 1)] {
            let variants = [variant.to_owned()];
            let arguments = Arguments { vary: &vary, variants: &variants, ..Arguments::default() };
            let spec: Spec = toml::from_str("vary = []").unwrap();
            let sweep = Sweep::new(&spec, arguments, &Overrides::default(), load).unwrap();
            assert_eq!(sweep.reference, Reference { point: expected, origin: Origin::Scenario });
        }
    }

    #[test]
    fn a_reference_is_given_by_values_however_they_are_written() {
        assert_eq!(reference(&VARY, &["switch.queue.size=0.5MB,switch.latency=1000ns"]).0, 0);
        assert_eq!(reference(&VARY, &["switch.queue.size=2MB", "switch.latency=1us"]).0, 4);
        // What is not named has the scenario's own value.
        assert_eq!(reference(&VARY, &["switch.queue.size=2MB"]), (5, Origin::Given));
        let by_name = ["workload.training.incast.senders=1,2,3"];
        assert_eq!(reference(&by_name, &["workload.0.incast.senders=3"]).0, 2);
        // A file says it in one key or in tables; arguments replace all of it.
        for file in ["\"switch.queue.size\" = \"500KB\"", "switch.queue.size = \"500KB\""] {
            let spec = format!("vary = []\n[reference]\n{file}");
            assert_eq!(sweep(&spec, &VARY, &[]).unwrap().reference.point, 1);
            let other = sweep(&spec, &VARY, &["switch.latency=1us"]).unwrap();
            assert_eq!(other.reference.point, 2);
        }
    }

    #[test]
    fn a_wrong_reference_is_an_error_with_place_cause_and_remedy() {
        for (reference, message, help) in [
            (
                &["switch.queue.size=1500KB"][..],
                "the grid has no point with `switch.queue.size=1500KB`",
                "did you mean 1000KB? The values of `switch.queue.size` are: 500KB, 1000KB, 2MB",
            ),
            (
                &["switch.queue.sizes=1MB"],
                "`switch.queue.sizes` is not varied, so a reference cannot have it",
                "did you mean `switch.queue.size`? The varied paths are: switch.queue.size, \
                 switch.latency",
            ),
            (
                &["switch.latency=1us", "switch.latency=2us"],
                "the reference has two values of `switch.latency`",
                "leave one out",
            ),
            (
                &["switch.latency=1us,switch.latency=1us"],
                "the reference has two values of `switch.latency`",
                "leave one out",
            ),
            (
                &["switch.latency="],
                "the reference has no value of `switch.latency`",
                "the values of `switch.latency` are: 1us, 2us",
            ),
            (
                &["switch.latency"],
                "there is no `=` in `switch.latency`",
                "write it like --reference switch.queue.size=1MB",
            ),
        ] {
            let error = sweep("vary = []", &VARY, reference).unwrap_err();
            let text = reference.last().unwrap();
            let line = "^".repeat(text.len());
            let expected = format!(
                "error: {message}\n --> --reference:1:1\n  |\n1 | {text}\n  | {line}\n  = help: {help}\n"
            );
            assert_eq!(error.plain(), expected);
        }
        let message = |spec: &str, reference: &[&str]| {
            let error = sweep(spec, &VARY, reference).unwrap_err();
            let problem = &error.problems()[0];
            (problem.message.clone(), problem.help.clone())
        };
        assert_eq!(
            message("vary = []", &[""]),
            (
                "the reference is empty".to_owned(),
                "write it like --reference switch.queue.size=1MB".to_owned()
            )
        );
        assert_eq!(
            message("vary = []\n[reference]", &[]),
            (
                "the reference is empty".to_owned(),
                "name a value of a path that is varied, or leave `reference` out".to_owned()
            )
        );
        let file = "vary = []\nreference = { switch.latency = \"3us\" }";
        assert_eq!(
            message(file, &[]),
            (
                "the grid has no point with `switch.latency=3us`".to_owned(),
                "did you mean 2us? The values of `switch.latency` are: 1us, 2us".to_owned()
            )
        );
    }

    #[test]
    fn points_of_the_same_traffic_are_known() {
        let variants = ["one".to_owned(), "two".to_owned()];
        let traffic = |vary: &[&str]| sweep("vary = []", vary, &[]).unwrap().traffic(&variants);
        assert_eq!(traffic(&["switch.latency=1us,2us"]), [[0, 0], [0, 0]]);
        assert_eq!(traffic(&["workload.1.incast.senders=1,2"]), [[0, 0], [1, 1]]);
        assert_eq!(traffic(&["variants.two.workload.1.incast.senders=1,2"]), [[0, 0], [0, 1]]);
        // Other seeds are other flows, and a later warm-up measures others.
        assert_eq!(traffic(&["seed=1,2"]), [[0, 0], [1, 1]]);
        assert_eq!(traffic(&["warmup=0ns,100ns"]), [[0, 0], [1, 1]]);
    }

    #[test]
    fn metrics_of_a_workload_have_its_name_too() {
        let sweep = sweep("vary = []", &["switch.latency=1us"], &[]).unwrap();
        for (name, meant) in [
            ("workload_training_goodput_bps", "workload_0_goodput_bps"),
            ("workload_a_goodput_bps", "workload_1_goodput_bps"),
            ("workload_1_goodput_bps", "workload_1_goodput_bps"),
            ("workload_b_goodput_bps", "workload_b_goodput_bps"),
            ("fct_mean_ns", "fct_mean_ns"),
        ] {
            assert_eq!(sweep.metric(name), meant);
        }
    }
}
