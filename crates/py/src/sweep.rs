//! Sweeps, and their runs one by one, for whoever shares them out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use floodway_lab::board::Board;
use floodway_lab::sweep::{self as lab, Failure, Made, Order, Task};
use floodway_lab::{Budget, Existing, How};
use floodway_report::store::Store;
use floodway_report::study::Provenance;
use floodway_report::sweep::{self as results, Meaning, Row};
use floodway_report::{INTERRUPTED, Lock, manifest};
use floodway_scenario::suggest::remedy;
use floodway_scenario::sweep::{Arguments, Spec, Until};
use floodway_scenario::{Overrides, Scenario, Sweep};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::background::{self, Desk};
use crate::chart::Picture;
use crate::error;
use crate::experiment::{News, Teller, command, pictures, tell};
use crate::table::Table;

/// A sweep that is valid at every point.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Grid {
    sweep: Sweep,
    variants: Vec<String>,
}

/// A results directory that nobody else writes to.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Held(Mutex<Option<Lock>>);

#[pymethods]
impl Held {
    /// Lets others write there.
    fn release(&self) {
        self.0.lock().expect("nothing panics with it").take();
    }
}

/// What came out of a sweep.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Swept {
    result: results::Sweep,
    /// Its page.
    #[pyo3(get)]
    page: PathBuf,
}

/// A run: its row as JSON, what its metrics are as JSON, whether it was in the cache, the nanoseconds
/// that it simulated, and its packet-hops, none if it was in the cache.
type Found = (String, String, bool, f64, u64);

#[pymethods]
impl Grid {
    /// The grid of a scenario with these dimensions more, as `--vary` takes them, and this reference, as
    /// `--reference` takes it, for these variants or all, repeated until, as `--until` takes it, but at most so often.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: (String, String, bool, Vec<String>),
        vary: Vec<String>,
        reference: Vec<String>,
        until: Option<String>,
        at_most: Option<u32>,
        variants: Vec<String>,
    ) -> PyResult<Self> {
        let (text, file, quick, set) = scenario;
        let load = |overrides: &Overrides| Scenario::parse(&text, &file, overrides);
        let made = py.detach(|| {
            let overrides = Overrides { quick, set };
            let base = load(&overrides)?;
            for name in &variants {
                base.variant(name)?;
            }
            let mut spec: Spec = base.sweep.clone().unwrap_or_default();
            if spec.vary.is_empty() && vary.is_empty() {
                return Ok(Err(nothing_varied(&base.name)));
            }
            if let Some(until) = until {
                spec.until = Some(Until::parse(&until)?);
            }
            match (&mut spec.until, at_most) {
                (Some(until), Some(at_most)) => until.at_most = at_most,
                (None, Some(_)) => return Ok(Err(NO_UNTIL.to_owned())),
                _ => {}
            }
            let wanted = |name: &&String| variants.is_empty() || variants.contains(name);
            let names: Vec<String> = base
                .variants()
                .iter()
                .map(|variant| &variant.name)
                .filter(wanted)
                .cloned()
                .collect();
            let arguments = Arguments { vary: &vary, reference: &reference, variants: &variants };
            let sweep = Sweep::new(&spec, arguments, &overrides, load)?;
            Ok(Ok(Self { sweep, variants: names }))
        });
        let made: Result<Self, String> = made.map_err(|failed| error::scenario(py, &failed))?;
        made.map_err(|text| error::value(&text))
    }

    /// By point: its settings.
    #[getter]
    fn points(&self) -> Vec<Vec<String>> {
        self.sweep.points.iter().map(|point| self.sweep.settings(point)).collect()
    }

    /// The variants that are run.
    #[getter]
    fn variants(&self) -> Vec<String> {
        self.variants.clone()
    }

    /// What is to be run next, as (point, variant, replication), after runs whose rows are these;
    /// `metrics` says what their numbers are.
    fn due(&self, rows: Vec<String>, metrics: Vec<String>) -> PyResult<Vec<(usize, usize, u32)>> {
        let due = lab::due(&self.sweep, &self.variants, &self.rows(rows)?, &meanings(metrics)?);
        Ok(due.into_iter().map(|task| (task.point, task.variant, task.replication)).collect())
    }

    /// Makes a run, or takes it from the cache.
    fn make(
        &self,
        py: Python<'_>,
        task: (usize, usize, u32),
        cache: Option<PathBuf>,
        threads: Option<usize>,
    ) -> PyResult<Found> {
        let store = cache.map(|path| Store::new(&path));
        let path = PathBuf::new();
        let order = self.order(store.as_ref(), &path, &[]);
        let (point, variant, replication) = task;
        let task = Task { point, variant, replication };
        let threads = background::threads(threads)?;
        let work = |desk: &Desk<()>| {
            let job = lab::job(&order, (0, &task));
            let job = floodway_lab::queue::Job { threads, ..job };
            lab::make(&order, &job, &desk.stop, &Board::new(1), 0)
        };
        let made = background::work(py, work, |()| Ok(()))?;
        let Made { row, metrics, simulated_ns, found } =
            made.map_err(|failed| error::results_text(py, failed.to_string()))?;
        let row = Row { point, ..row };
        let json = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("it is JSON");
        Ok((
            json(&|| serde_json::to_string(&row)),
            json(&|| serde_json::to_string(&metrics)),
            found,
            simulated_ns,
            if found { 0 } else { row.hops },
        ))
    }

    /// Makes the results directory for runs that others make, before they begin, and locks it. The
    /// time, and the lock.
    fn begin(&self, py: Python<'_>, path: PathBuf) -> PyResult<(String, Held)> {
        Budget::of_sweep(&self.sweep, &self.variants, 1)
            .check(&self.sweep.points[0].scenario.file_name)
            .map_err(|refused| error::scenario(py, &refused))?;
        let begun = lab::begin(&path, &self.sweep.points[0].scenario.name, &command(py));
        let lock = begun.map_err(|failure| failed(py, failure))?;
        Ok((manifest::now(), Held(Mutex::new(Some(lock)))))
    }

    /// Whether runs with these metrics have those that are asked for; if not, it is raised.
    fn look_for(&self, py: Python<'_>, metrics: Vec<String>, shown: Vec<String>) -> PyResult<()> {
        let known = lab::known(&self.order(None, Path::new(""), &shown), &meanings(metrics)?);
        known.map_err(|failure| failed(py, failure))
    }

    /// Whether there may be runs with the metrics that are asked for, if one has these; if not, it is
    /// raised.
    fn possible(&self, py: Python<'_>, metrics: String, shown: Vec<String>) -> PyResult<()> {
        let order = self.order(None, Path::new(""), &shown);
        let possible = lab::possible(&order, &meanings(vec![metrics])?);
        possible.map_err(|failure| failed(py, failure))
    }

    /// Writes the results of runs that others have made; `metrics` says what their numbers are.
    /// `made` is how many of them were in a cache, when the first began, and how many threads made
    /// them.
    fn finish(
        &self,
        py: Python<'_>,
        rows: Vec<String>,
        metrics: Vec<String>,
        made: (usize, String, usize),
        path: PathBuf,
        shown: Vec<String>,
    ) -> PyResult<Swept> {
        let (found, started, threads) = made;
        let (rows, known) = (self.rows(rows)?, meanings(metrics)?);
        let order = self.order(None, &path, &shown);
        let provenance =
            Provenance { command: command(py), started, threads, ..Provenance::default() };
        let written = py.detach(|| {
            let result = lab::result(&order, rows, known, found, provenance);
            let page = results::finish(&path, &result)?;
            Ok::<_, results::Error>(Swept { result, page })
        });
        written.map_err(|failed| error::results_text(py, failed.to_string()))
    }

    /// Runs all of it, and calls `watch` as [`tell`] does.
    fn run(
        &self,
        py: Python<'_>,
        path: PathBuf,
        cache: Option<PathBuf>,
        shown: Vec<String>,
        threads: Option<usize>,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Swept> {
        let store = cache.map(|path| Store::new(&path));
        let order = self.order(store.as_ref(), &path, &shown);
        let (threads, command) = (background::threads(threads)?, command(py));
        let work = |desk: &Desk<News>| {
            let existing = Existing::Resume;
            let how = How {
                threads,
                stop: &desk.stop,
                existing,
                formats: &[],
                trace: None,
                capture: None,
                kernels: None,
                ranks: None,
                audit: false,
                command: &command,
            };
            lab::run(&order, &how, &mut Teller::new(desk))
        };
        let swept = background::work(py, work, |news| tell(watch.as_ref(), news))?;
        let swept = swept.map_err(|failure| failed(py, failure))?;
        Ok(Swept { result: swept.result, page: swept.page })
    }
}

impl Grid {
    fn order<'a>(
        &'a self,
        store: Option<&'a Store>,
        path: &'a Path,
        shown: &'a [String],
    ) -> Order<'a> {
        Order { sweep: &self.sweep, variants: &self.variants, store, path, shown }
    }

    /// Rows by their tasks, without those that were cut short.
    fn rows(&self, texts: Vec<String>) -> PyResult<BTreeMap<Task, Row>> {
        let mut rows = BTreeMap::new();
        for text in texts {
            let row: Row = serde_json::from_str(&text).map_err(malformed)?;
            let variant = self.variants.iter().position(|name| *name == row.variant);
            let variant = variant.filter(|_| row.point < self.sweep.points.len());
            let Some(variant) = variant else {
                return Err(PyValueError::new_err("a row is of another sweep"));
            };
            if row.stop != INTERRUPTED {
                let (point, replication) = (row.point, row.replication);
                rows.insert(Task { point, variant, replication }, row);
            }
        }
        Ok(rows)
    }
}

#[pymethods]
impl Swept {
    /// All of it, as JSON.
    #[getter]
    fn json(&self) -> String {
        serde_json::to_string(&self.result).expect("a sweep is JSON")
    }

    /// What it comes to, in sentences.
    #[getter]
    fn answer(&self) -> Vec<String> {
        self.result.answer()
    }

    /// The charts of its page.
    #[getter]
    fn charts(&self) -> Vec<Picture> {
        pictures(&self.result.sections())
    }

    /// The tables `runs`, `points` and `points_long`.
    #[getter]
    fn tables(&self) -> (Table, Table, Table) {
        let [runs, points, long] = self.result.tables();
        (runs.into(), points.into(), long.into())
    }
}

/// Why there is no grid.
fn nothing_varied(name: &str) -> String {
    format!(
        "the scenario `{name}` has no `[sweep]`, so nothing is varied; say what, as in \
         `vary={{\"switch.queue.size\": [\"500KB\", \"1MB\"]}}`"
    )
}

/// What is wrong with a number of replications alone.
const NO_UNTIL: &str = "`at_most` says how long to go on with `until`, which is not given";

/// What metrics are, of all these runs.
fn meanings(metrics: Vec<String>) -> PyResult<BTreeMap<String, Meaning>> {
    let mut known = BTreeMap::new();
    for text in metrics {
        let more: BTreeMap<_, _> = serde_json::from_str(&text).map_err(malformed)?;
        known.extend(more);
    }
    Ok(known)
}

fn malformed(error: serde_json::Error) -> PyErr {
    error::value(&format!("this is no row of a sweep: {error}"))
}

fn failed(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Results(failed) => error::results_text(py, failed.to_string()),
        Failure::Scenario(refused) => error::scenario(py, &refused),
        Failure::Locked(failed) => error::results_text(py, failed.to_string()),
        Failure::Metric { name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let remedy = remedy(&name, "metrics", &known);
            error::value(&format!("these runs have no metric `{name}`; {remedy}"))
        }
        Failure::Interrupted(runs) => {
            error::results_text(py, format!("the sweep was interrupted after {runs} runs"))
        }
    }
}
