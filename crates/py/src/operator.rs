//! Configurations of switches for Python: as scenarios, and what lint finds in either; and device profiles.

use std::path::PathBuf;

use floodway_model::Rate;
use floodway_scenario::Overrides;
use floodway_scenario::device;
use floodway_scenario::import::sonic::{self, Fate, Options, Row};
use floodway_scenario::lint::{self, Finding};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error;

/// An instance of `Problem`.
type Found<'py> = Bound<'py, PyAny>;

/// A finding: its name, why it is one, and the problem.
type Named<'py> = (&'static str, &'static str, Found<'py>);

/// Configurations that were read.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Imported(sonic::Imported);

/// Reads configurations of SONiC. `rate`: of ports without one. `profile`: the model of the switches.
#[pyfunction]
pub fn import_sonic(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: &str,
    rate: &str,
    profile: Option<&str>,
) -> PyResult<Imported> {
    let rate: Rate =
        rate.parse().map_err(|error| PyValueError::new_err(format!("`rate`: {error}")))?;
    let profile = profile.map(device::switch).transpose().map_err(|why| error::value(&why))?;
    let found = py.detach(|| sonic::import(&paths, name, Options { rate, profile }));
    found.map(Imported).map_err(|error| error::scenario(py, &error))
}

#[pymethods]
impl Imported {
    /// The scenario file.
    #[getter]
    fn toml(&self) -> &str {
        &self.0.scenario
    }

    /// How many fields the configurations have.
    #[getter]
    fn fields(&self) -> usize {
        self.0.fields
    }

    /// By field what became of it, its key, its value and its meaning.
    #[getter]
    fn account(&self) -> Vec<(&'static str, String, String, String)> {
        let row = |row: &'_ Row| {
            let fate = match row.fate {
                Fate::Kept => "taken over",
                Fate::Differs => "differs",
                Fate::Nothing => "no counterpart or no effect",
            };
            (fate, row.key.clone(), row.value.clone(), row.meaning.clone())
        };
        self.0.rows.iter().map(row).collect()
    }

    /// Instances of `Problem`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Found<'py>>> {
        self.0.warnings.iter().map(|warning| error::problem(py, warning)).collect()
    }

    /// What is missing among the files.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// What lint finds in the configurations.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Named<'py>>> {
        named(py, &self.0.findings)
    }
}

/// What lint finds in variants of a scenario.
#[pyfunction]
pub fn lint_scenario<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    quick: bool,
    set: Vec<String>,
    variants: Vec<String>,
) -> PyResult<Vec<Named<'py>>> {
    let found = py.detach(|| lint::text(text, file, &Overrides { quick, set }, &variants));
    named(py, &found.map_err(|error| error::scenario(py, &error))?)
}

/// Whether lint takes a path for one of configurations, and not for a scenario.
#[pyfunction]
pub fn is_configuration(path: PathBuf) -> bool {
    sonic::is_configuration(&path)
}

/// The device profiles of the package, as JSON.
#[pyfunction]
pub fn profiles() -> String {
    serde_json::to_string(device::shipped()).expect("numbers and names are JSON")
}

/// A device profile by its name or its file, as JSON.
#[pyfunction]
pub fn profile(py: Python<'_>, name: &str) -> PyResult<String> {
    let found = device::DeviceProfile::load(name).map_err(|error| error::scenario(py, &error))?;
    Ok(serde_json::to_string(&found).expect("numbers and names are JSON"))
}

fn named<'py>(py: Python<'py>, findings: &[Finding]) -> PyResult<Vec<Named<'py>>> {
    let one = |finding: &Finding| {
        Ok((finding.name.text(), finding.name.why(), error::problem(py, &finding.problem)?))
    };
    findings.iter().map(one).collect()
}
