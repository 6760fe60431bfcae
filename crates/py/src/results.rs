//! Results directories, for Python.

use std::path::PathBuf;

use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_report::together::{Together, labels};
use floodway_report::{Directory, flent, html};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::chart::Picture;
use crate::error;
use crate::table::{Table, leading};
use crate::why::{Asked, Explained, explain};

/// A results directory as it was found.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Stored(Results);

/// Opens a results directory.
#[pyfunction]
pub fn open(py: Python<'_>, path: PathBuf) -> PyResult<Stored> {
    Directory::open(&path).map(Stored).map_err(|error| error::results(py, &error))
}

/// Results directories side by side: the summary as JSON, the charts, and the page.
#[pyfunction]
pub fn together(
    py: Python<'_>,
    all: Vec<PyRef<'_, Stored>>,
) -> PyResult<(String, Vec<Picture>, String)> {
    let all: Vec<&Results> = all.iter().map(|stored| &stored.0).collect();
    let labels = labels(&all).map_err(|path| {
        let text = format!("{} is there twice: name different results directories", path.display());
        PyValueError::new_err(text)
    })?;
    let named: Vec<_> = labels.into_iter().zip(all).collect();
    let found = py.detach(|| {
        let Together { manifest, summary, experiment } = Together::of(&named)?;
        let pictures = html::figures(&manifest, &summary, &experiment);
        let page = html::page(&manifest, &summary, &experiment);
        let summary = serde_json::to_string(&summary.json()).expect("a summary is JSON");
        Ok((summary, pictures.into_iter().map(Picture).collect(), page))
    });
    found.map_err(|failed| error::results(py, &failed))
}

#[pymethods]
impl Stored {
    /// What was run, as JSON.
    #[getter]
    fn manifest(&self) -> String {
        serde_json::to_string(&self.0.manifest).expect("a manifest is JSON")
    }

    /// What came out, as JSON, if the experiment has ended.
    #[getter]
    fn summary(&self) -> Option<String> {
        let summary = self.0.summary.as_ref();
        summary.map(|summary| serde_json::to_string(summary).expect("a summary is JSON"))
    }

    /// The charts of the page, drawn again from the tables.
    fn charts(&self, py: Python<'_>) -> PyResult<Vec<Picture>> {
        let figures =
            py.detach(|| self.0.figures()).map_err(|failed| error::results(py, &failed))?;
        Ok(figures.into_iter().map(Picture).collect())
    }

    /// The charts of a page about one run alone, by the run's place in the manifest.
    fn charts_of_run(&self, py: Python<'_>, run: usize) -> PyResult<Vec<Picture>> {
        let record = &self.0.manifest.runs[run];
        let figures = py.detach(|| self.0.figures_of(record));
        let figures = figures.map_err(|failed| error::results(py, &failed))?;
        Ok(figures.into_iter().map(Picture).collect())
    }

    /// Reads a table of a run, by the run's place in the manifest.
    fn table(&self, py: Python<'_>, run: usize, name: &str) -> PyResult<Table> {
        Ok(self.read(py, run, name)?.1.into())
    }

    /// Reads a table of some runs as one, which begins with the columns `variant` and
    /// `replication`.
    fn table_of_runs(&self, py: Python<'_>, runs: Vec<usize>, name: &str) -> PyResult<Table> {
        let mut tables = Vec::with_capacity(runs.len());
        for run in runs {
            let (record, table) = self.read(py, run, name)?;
            tables.push((leading(&record.variant, record.replication, table.rows()), table));
        }
        Table::of_runs(tables).map_err(|name| {
            let path = self.0.path.display();
            let text = format!(
                "the tables `{name}` of `{path}` differ in their columns; read those of one run"
            );
            error::results_text(py, text)
        })
    }

    /// A run as the JSON of a data file of flent, by the run's place in the manifest.
    fn flent(&self, py: Python<'_>, run: usize) -> PyResult<String> {
        let record = self.record(run)?;
        let json = py.detach(|| flent::of_stored(&self.0, record, &record.variant));
        json.map(|json| json.to_string()).map_err(|failed| match failed {
            flent::Failed::Tables(failed) => error::results(py, &failed),
            flent::Failed::Unfit(unfit) => {
                let path = self.0.path.display();
                error::results_text(py, format!("{path}, variant {}: {unfit}", record.variant))
            }
        })
    }

    /// Repeats a run, by its place in the manifest, to answer a question about its delays. `scenario`: the file that was run, if it is
    /// not where the results say. `watch` is called as in [`crate::simulate::tell`].
    fn why(
        &self,
        py: Python<'_>,
        run: usize,
        scenario: Option<PathBuf>,
        asked: Asked,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Explained> {
        let of = (&self.0, self.record(run)?);
        explain(py, of, scenario.as_deref(), asked, watch.as_ref())
    }
}

impl Stored {
    fn record(&self, run: usize) -> PyResult<&Record> {
        let record = self.0.manifest.runs.get(run);
        record.ok_or_else(|| PyIndexError::new_err("there is no such run"))
    }

    fn read(
        &self,
        py: Python<'_>,
        run: usize,
        name: &str,
    ) -> PyResult<(&Record, floodway_model::Table)> {
        let record = self.record(run)?;
        let table = py.detach(|| self.0.table(record, name));
        Ok((record, table.map_err(|error| error::results(py, &error))?))
    }
}
