//! A simulation that Python can watch and interrupt.
//!
//! It runs on a thread of its own, which never needs the interpreter. The thread that called waits
//! without holding the interpreter, and takes it now and then to look for signals and to tell how
//! far the run is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use floodway_report::manifest::hex;
use floodway_sim::simulation::Run;
use floodway_sim::{self as sim, Progress, Simulation, Spec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// How often it is looked for signals. People feel a tenth of a second as at once.
const POLL: Duration = Duration::from_millis(100);

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
/// something, which is passed on.
pub fn simulate(
    py: Python<'_>,
    build: impl FnOnce() -> Spec + Send,
    threads: Option<usize>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let threads = match threads {
        Some(0) => return Err(PyValueError::new_err("a run needs at least 1 thread")),
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let (stop, shared) = (AtomicBool::new(false), Shared::default());
    let outcome = thread::scope(|scope| {
        let running = scope.spawn(|| {
            let watch = |progress| shared.change(|state| state.progress = Some(progress));
            let run = Run { threads, stop: &stop, watch: &watch };
            let outcome = Simulation::new(build()).run_with(&run);
            shared.change(|state| state.ended = true);
            shared.news.notify_one();
            outcome
        });
        let mut raised = None;
        // One that has panicked has finished, but does not say so.
        while !py.detach(|| shared.wait()) && !running.is_finished() {
            if raised.is_none()
                && let Err(error) = shared.look(py, watch)
            {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let outcome = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map_or(Ok(outcome), Err)
    })?;
    Outcome::new(py, outcome)
}

/// What both threads see.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    /// What the watcher has not been told yet.
    progress: Option<Progress>,
    ended: bool,
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for the end of the run, but not for long. Whether it has ended.
    fn wait(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.news.wait_timeout_while(state, POLL, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    /// Looks for signals, and tells what is new.
    fn look(&self, py: Python<'_>, watch: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let mut progress = None;
        self.change(|state| progress = state.progress.take());
        if let (Some(watch), Some(Progress { now, end, hops, flows })) = (watch, progress) {
            watch.call1((now.0 as f64 / 1e3, end.0 as f64 / 1e3, hops, flows.0, flows.1))?;
        }
        Ok(())
    }
}

impl Outcome {
    fn new(py: Python<'_>, outcome: sim::Outcome) -> PyResult<Self> {
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
