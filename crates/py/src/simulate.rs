//! A simulation, which Python can watch and interrupt.

use floodway_report::manifest::hex;
use floodway_sim::simulation::Run;
use floodway_sim::{self as sim, Progress, Simulation, Spec};
use pyo3::prelude::*;

use crate::background;
use crate::table::Table;

/// What came out of a run.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Outcome {
    /// Its tables, in order.
    tables: Vec<Py<Table>>,
    /// Why it ended.
    stop: &'static str,
    /// Simulated time at its end, in nanoseconds.
    simulated_ns: f64,
    /// Frames put on links.
    hops: u64,
    /// Seconds that it took.
    wall_s: f64,
    /// Of all tables, in hexadecimal.
    fingerprint: String,
    /// What should not have happened.
    violations: Vec<String>,
}

/// Builds a simulation and runs it to its end, or until a signal's handler or `watch` raises
/// something, which is passed on. `audit`: whether its invariants are checked at every event.
pub fn simulate(
    py: Python<'_>,
    build: impl FnOnce() -> Spec + Send,
    (threads, audit): (Option<usize>, bool),
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let threads = background::threads(threads)?;
    let work = |desk: &background::Desk<Progress>| {
        let watch = |progress| desk.say(progress);
        let simulation = Simulation::new(build());
        let simulation = if audit { simulation.audited(true) } else { simulation };
        simulation.run_with(&Run { threads, stop: &desk.stop, watch: &watch })
    };
    let outcome = background::work(py, work, |progress| tell(watch, progress))?;
    Outcome::new(py, outcome)
}

/// Passes on how far a simulation is: the simulated time and its limit, both in nanoseconds, packet-hops, and
/// flows that have ended and that will.
pub fn tell(watch: Option<&Bound<'_, PyAny>>, progress: Progress) -> PyResult<()> {
    let Some(watch) = watch else { return Ok(()) };
    let Progress { now, end, hops, flows } = progress;
    let (now, end) = (now.0 as f64 / 1e3, end.0 as f64 / 1e3);
    watch.call1((now, end, hops, flows.0, flows.1)).map(|_| ())
}

impl Outcome {
    /// Its tables and numbers, for Python.
    pub fn new(py: Python<'_>, outcome: sim::Outcome) -> PyResult<Self> {
        let tables = outcome.tables.into_iter().map(|table| Py::new(py, Table::from(table)));
        Ok(Self {
            tables: tables.collect::<PyResult<_>>()?,
            stop: outcome.stop.name(),
            simulated_ns: outcome.simulated.0 as f64 / 1e3,
            hops: outcome.hops,
            wall_s: outcome.wall.as_secs_f64(),
            fingerprint: hex(outcome.fingerprint),
            violations: outcome.violations,
        })
    }
}
