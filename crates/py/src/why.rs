//! Explanations of stored runs, which are repeated for them.

use std::path::Path;

use floodway_lab::stored;
use floodway_lab::why::{Question, answer};
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

/// What is asked about a run: a path, another variant, a root, causes to be left out or, without these, where the time of flows goes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    flows: Vec<u64>,
    slowest: usize,
    sample: usize,
    root: Option<String>,
    without: Vec<String>,
    against: Option<String>,
    is_path: bool,
    path: Option<u64>,
    packets: bool,
}

impl Asked {
    fn question(&self) -> Question {
        match self {
            Self { is_path: true, path, .. } => Question::Path(*path),
            Self { against: Some(baseline), .. } => Question::Against(baseline.clone()),
            Self { root: Some(port), .. } => Question::Root(port.clone()),
            Self { without, .. } if !without.is_empty() => Question::Without(without.clone()),
            Self { flows, slowest, packets, .. } => {
                let (slowest, packets) = (*slowest, *packets);
                Question::Delays { flows: flows.clone(), slowest, packets }
            }
        }
    }
}

/// Repeats a stored run to answer a question about its delays, or until a signal's handler or `watch` raises something, which is
/// passed on. `scenario`: the file that was run, if it is not where the results say.
pub fn explain(
    py: Python<'_>,
    (results, record): (&Results, &Record),
    scenario: Option<&Path>,
    asked: Asked,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Explained> {
    let (question, sample) = (asked.question(), asked.sample);
    let work = |desk: &Desk<Progress>| {
        let scenario = stored::scenario(results, scenario)?;
        let watch = |progress| desk.say(progress);
        let how = Run { threads: 1, stop: &desk.stop, watch: &watch };
        answer((results, record, &scenario), &question, sample, &how)
    };
    let explained = background::work(py, work, |progress| tell(watch, progress))?;
    let explained = explained.map_err(|failure| error::stored(py, &failure))?;
    let tables = explained.tables.into_iter().map(|table| Py::new(py, Table::from(table)));
    Ok(Explained {
        text: error::printable(&explained.text),
        json: explained.json.to_string(),
        tables: tables.collect::<PyResult<_>>()?,
    })
}
