//! Explanations of stored runs, which are repeated for them.

use std::path::Path;

use floodway_lab::stored;
use floodway_lab::why::{Order, Plan};
use floodway_report::directory::Results;
use floodway_report::manifest::Record;
use floodway_sim::Progress;
use floodway_sim::simulation::Run;
use pyo3::prelude::*;

use crate::background::{self, Desk};
use crate::error;
use crate::simulate::tell;
use crate::table::Table;

/// What explains a run.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Explained {
    /// What `floodway why` prints.
    text: String,
    /// What it prints with `--json`.
    json: String,
    /// The tables of explained delays.
    tables: Vec<Py<Table>>,
}

/// Repeats a stored run and explains its delays, or until a signal's handler or `watch` raises something, which is
/// passed on. `scenario`: the file that was run, if it is not where the results say.
pub fn explain(
    py: Python<'_>,
    (results, record): (&Results, &Record),
    scenario: Option<&Path>,
    order: &Order,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Explained> {
    let work = |desk: &Desk<Progress>| {
        let scenario = stored::scenario(results, scenario)?;
        let plan = Plan::new(results, record, &scenario, order)?;
        let watch = |progress| desk.say(progress);
        plan.run(&Run { threads: 1, stop: &desk.stop, watch: &watch })
    };
    let explained = background::work(py, work, |progress| tell(watch, progress))?;
    let explained = explained.map_err(|failure| error::stored(py, &failure))?;
    let (text, json) = (explained.text(), explained.json().to_string());
    let tables = explained.tables.into_iter().map(|table| Py::new(py, Table::from(table)));
    Ok(Explained { text: error::printable(&text), json, tables: tables.collect::<PyResult<_>>()? })
}
