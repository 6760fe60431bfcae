//! Scenarios that are valid, for Python.

use std::path::PathBuf;

use floodway_lab::Budget;
use floodway_model::Rate;
use floodway_report::{Run, html};
use floodway_scenario::derived::Derived;
use floodway_scenario::import::sonic::Options;
use floodway_scenario::import::sonic::patch::{Operation, patches};
use floodway_scenario::{Error, Overrides, Scenario, Variant};
use floodway_study::RunClaims;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::chart::Picture;
use crate::error;
use crate::experiment;
use crate::simulate::{self, Outcome};
use crate::table::Table;

/// The name of a switch and its patch.
type Patch = (String, String);

/// A valid scenario.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Checked(Scenario);

/// Reads and checks a scenario file.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf, quick: bool, set: Vec<String>) -> PyResult<Checked> {
    let found = py.detach(|| Scenario::load(&path, &Overrides { quick, set }).and_then(claimed));
    found.map(Checked).map_err(|error| error::scenario(py, &error))
}

/// The same scenario, if its claims are right too.
fn claimed(scenario: Scenario) -> Result<Scenario, Error> {
    RunClaims::of(&scenario)?;
    Ok(scenario)
}

/// Checks a scenario. Files that it names are sought beside `file`.
#[pyfunction]
pub fn parse(
    py: Python<'_>,
    text: &str,
    file: &str,
    quick: bool,
    set: Vec<String>,
) -> PyResult<Checked> {
    let found =
        py.detach(|| Scenario::parse(text, file, &Overrides { quick, set }).and_then(claimed));
    found.map(Checked).map_err(|error| error::scenario(py, &error))
}

#[pymethods]
impl Checked {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn question(&self) -> &str {
        &self.0.question
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    #[getter]
    fn replications(&self) -> u32 {
        self.0.replications
    }

    /// The names of the variants, the baseline first.
    #[getter]
    fn variants(&self) -> Vec<&str> {
        self.0.variants().iter().map(|variant| &*variant.name).collect()
    }

    /// Instances of `Problem`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.0.warnings().iter().map(|warning| error::problem(py, warning)).collect()
    }

    /// All parameters of a variant, as JSON.
    fn settings(&self, py: Python<'_>, variant: &str) -> PyResult<String> {
        let settings = &self.variant(py, variant)?.settings;
        Ok(serde_json::to_string(settings).expect("settings are JSON"))
    }

    /// What `floodway check --json` says of these variants, without the warnings, as JSON.
    fn derived(&self, py: Python<'_>, variants: Vec<String>) -> PyResult<String> {
        let variants: Vec<&Variant> =
            variants.iter().map(|name| self.variant(py, name)).collect::<PyResult<_>>()?;
        let derived = py.detach(|| {
            let seed = self.0.replication_seed(0);
            Derived {
                scenario: self.0.name.clone(),
                replications: self.0.replications,
                variants: variants.iter().map(|variant| variant.derived(seed)).collect(),
            }
        });
        Ok(serde_json::to_string(&derived).expect("numbers and names are JSON"))
    }

    /// What a variant changes in configurations of SONiC: by switch its name, and the operations as the text of
    /// a JSON patch; and the settings that it changes and a patch cannot have. `rate`: of ports without one.
    fn patches(
        &self,
        py: Python<'_>,
        variant: &str,
        paths: Vec<PathBuf>,
        rate: &str,
    ) -> PyResult<(Vec<Patch>, Vec<String>)> {
        let rate: Rate =
            rate.parse().map_err(|error| PyValueError::new_err(format!("`rate`: {error}")))?;
        let settings = &self.variant(py, variant)?.settings;
        let found = py.detach(|| patches(settings, &paths, Options { rate, ..Options::default() }));
        let found = found.map_err(|error| error::scenario(py, &error))?;
        let text = |operations: &[Operation]| {
            serde_json::to_string_pretty(operations).expect("it has only texts") + "\n"
        };
        let patches = found.switches.iter().map(|(name, all)| (name.clone(), text(all))).collect();
        Ok((patches, found.unsaid))
    }

    /// The seed of a replication, counted from 0.
    pub(crate) fn replication_seed(&self, replication: u32) -> u64 {
        self.0.replication_seed(replication)
    }

    /// Runs one variant in one replication, and calls `watch` with the simulated time and its
    /// limit, both in nanoseconds, packet-hops, and flows that have ended and that will. `audit`: whether the invariants of the
    /// simulation are checked at every event.
    fn simulate(
        &self,
        py: Python<'_>,
        variant: &str,
        replication: u32,
        threads: Option<usize>,
        audit: bool,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Outcome> {
        let variant = self.variant(py, variant)?;
        let seed = self.0.replication_seed(replication);
        Budget::of_one(variant, seed, 1)
            .check(&self.0.file_name)
            .map_err(|refused| error::scenario(py, &refused))?;
        let build = || variant.build_replication(replication, seed);
        simulate::simulate(py, build, (threads, audit), watch.as_ref())
    }

    /// The charts of a page about one run alone, from its tables.
    fn charts(
        &self,
        py: Python<'_>,
        variant: &str,
        replication: u32,
        simulated_ns: f64,
        tables: Vec<PyRef<'_, Table>>,
    ) -> PyResult<Vec<Picture>> {
        let variant = self.variant(py, variant)?;
        let tables: Vec<_> = tables.iter().map(|table| table.of_one_run()).collect();
        let figures = py.detach(|| {
            let manifest = floodway_describe::manifest(&self.0, &[variant]);
            let run = Run {
                variant: &variant.name,
                replication,
                seed: self.0.replication_seed(replication),
                key: "",
                tables: &tables,
                hops: 0,
                wall_s: 0.0,
                simulated_ns,
                fingerprint: 0,
                violations: &[],
                stop: "",
            };
            html::figures_of_run(&manifest, &run)
        });
        Ok(figures.into_iter().map(Picture).collect())
    }

    /// Runs variants in all replications into a results directory; see [`experiment::execute`]. Notes
    /// about files there that are not floodway's.
    #[pyo3(signature = (variants, place, kept, threads, watch))]
    fn execute(
        &self,
        py: Python<'_>,
        variants: Vec<String>,
        place: (PathBuf, String),
        kept: (Option<String>, Vec<String>),
        threads: Option<usize>,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let (path, existing) = place;
        let variants: Vec<&Variant> =
            variants.iter().map(|name| self.variant(py, name)).collect::<PyResult<_>>()?;
        let place = (&*path, &*existing);
        let kept = (kept.0.as_deref(), kept.1);
        let crew = (threads, None);
        experiment::execute(py, (&self.0, &variants), place, kept, crew, watch.as_ref())
    }
}

impl Checked {
    pub(crate) const fn scenario(&self) -> &Scenario {
        &self.0
    }

    pub(crate) fn variant(&self, py: Python<'_>, name: &str) -> PyResult<&Variant> {
        self.0.variant(name).map_err(|error| error::scenario(py, &error))
    }
}
