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
mod until;
mod vary;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::footprint;
use crate::renamed::is_of_a_name;
use crate::scenario::{Overrides, Scenario};
use crate::text::{Error, Place, Problem, Source};

use meaning::named_keys;
pub use reference::{Origin, Reference};
pub use until::Until;
pub use vary::{Scale, Vary};
use vary::{as_written, split};

/// The values of a dimension as the argument of a `--vary` gives it, `PATH=V1,V2,…` or
/// `PATH=FROM..TO/STEPS`, in their order. Whether a scenario has the path is not looked at.
pub fn levels(argument: &str) -> Result<Vec<String>, Error> {
    Ok(Vary::parse(argument)?.axis("--vary")?.values)
}

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
    warnings: Vec<Problem>,
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
        // The paths are the same at all points.
        let of_point = points.iter().take(1).flat_map(|point| point.scenario.warnings());
        let is_new = |of: &&Problem| is_of_a_name(of) && !base.warnings().contains(*of);
        let warnings = of_point.filter(is_new).cloned().collect();
        let until = spec.until.clone();
        let mut sweep = Self { axes, until, points, reference, names, warnings };
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

    /// What should be known before a run, besides the warnings of the scenario: old names in paths.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
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

fn problem(whose: &str, text: &str, message: String, help: &str) -> Problem {
    let source = Arc::new(Source::new(whose, text.to_owned()));
    Problem::error(Place::at(&source, 0..text.len()), message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "at_most is 4, but the scenario requires at least 5 replications"
        );
        assert_eq!(
            problem.help,
            "lower `replications` (`--replications`), or raise `at_most` (`--at-most`) to 5"
        );
        assert!(grid(&until.replace('4', "5"), &["seed=1,2"]).is_ok());
    }
}
