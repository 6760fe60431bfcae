//! A run that Python drives.

use std::sync::{Mutex, PoisonError};

use floodway_lab::session::{self as lab, Choice, Error};
use floodway_model::{Bytes, Duration, Instant, NodeId};
use floodway_sim::session::{self, Completion};
use floodway_sim::{self as sim};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::scenario::Checked;
use crate::simulate::Outcome;
use crate::{background, error};

/// A flow that has arrived: its number, and when it started and arrived, in picoseconds.
type Arrived = (u32, u64, u64);

/// A run that Python drives. Times are picoseconds.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Session {
    /// `None` once it is closed.
    session: Mutex<Option<sim::Session>>,
    /// The variant, and the replication.
    #[pyo3(get)]
    variant: String,
    #[pyo3(get)]
    replication: u32,
    /// The names of the hosts, in order of their numbers.
    #[pyo3(get)]
    hosts: Vec<String>,
    #[pyo3(get)]
    latency: u64,
    #[pyo3(get)]
    window: u64,
    #[pyo3(get)]
    end: u64,
    nodes: Vec<NodeId>,
}

fn raise(py: Python<'_>, found: &Error) -> PyErr {
    match found {
        Error::Scenario(found) => error::scenario(py, found),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The error of a call. Who interrupts it sees what he has raised himself.
fn raised(found: &session::Error) -> PyErr {
    match found {
        session::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn arrived(completion: Completion) -> Arrived {
    (completion.flow.0, completion.start.0, completion.at.0)
}

/// A time, such as `2us`, in picoseconds.
#[pyfunction]
pub fn picoseconds(text: &str) -> PyResult<u64> {
    let time: Duration = text.parse().map_err(|found| PyValueError::new_err(format!("{found}")))?;
    Ok(time.0)
}

/// A size, such as `1MB`, in bytes.
#[pyfunction]
pub fn octets(text: &str) -> PyResult<u64> {
    let size: Bytes = text.parse().map_err(|found| PyValueError::new_err(format!("{found}")))?;
    Ok(size.0)
}

#[pymethods]
impl Session {
    /// Opens a session; see [`lab::open`]. `run`: variant, replication and workload; `how`: latency, threads and whether
    /// invariants are checked.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: PyRef<'_, Checked>,
        run: (Option<String>, Option<u32>, Option<String>),
        how: (Option<u64>, Option<usize>, bool),
    ) -> PyResult<Self> {
        let ((variant, replication, workload), (latency, threads, audit)) = (run, how);
        let latency = latency.map(Duration);
        let threads = background::threads(threads)?;
        let choice = Choice { variant, replication, workload, latency, threads, audit };
        let scenario = scenario.scenario();
        let opened = py.detach(|| -> Result<_, Error> {
            let variant = lab::variant(scenario, choice.variant.as_deref())?.name.clone();
            let replication = lab::replication(scenario, choice.replication)?;
            Ok((lab::open(scenario, &choice)?, variant, replication))
        });
        let (session, variant, replication) = opened.map_err(|found| raise(py, &found))?;
        let graph = &session.spec().graph;
        Ok(Self {
            variant,
            replication,
            hosts: graph.hosts().map(|host| graph.node(host).name.clone()).collect(),
            nodes: graph.hosts().collect(),
            latency: session.latency().0,
            window: session.window().0,
            end: session.end().0,
            session: Mutex::new(Some(session)),
        })
    }

    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.with(|session| Ok(session.now().0))
    }

    #[getter]
    fn in_flight(&self) -> PyResult<u64> {
        self.with(|session| Ok(session.in_flight()))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Injects a flow between hosts with these numbers, now or at a time.
    fn inject(&self, source: u32, destination: u32, bytes: u64, at: Option<u64>) -> PyResult<u32> {
        let node = |number: u32| self.nodes.get(number as usize).copied().unwrap_or(NodeId(number));
        self.with(|session| {
            let at = at.map_or(session.now(), Instant);
            let flow = session.inject_at(node(source), node(destination), bytes, at);
            Ok(flow.map_err(|found| raised(&found))?.0)
        })
    }

    fn advance(&self, py: Python<'_>, until: u64) -> PyResult<Vec<Arrived>> {
        let work = |desk: &background::Desk<()>| {
            self.with(|session| Ok(session.advance_while(Instant(until), &desk.stop)))
        };
        let all = background::work(py, work, |()| Ok(()))??.map_err(|found| raised(&found))?;
        Ok(all.into_iter().map(arrived).collect())
    }

    fn next(&self, py: Python<'_>, until: Option<u64>) -> PyResult<Option<Arrived>> {
        let work = |desk: &background::Desk<()>| {
            self.with(|session| Ok(session.next_while(until.map(Instant), &desk.stop)))
        };
        let next = background::work(py, work, |()| Ok(()))??.map_err(|found| raised(&found))?;
        Ok(next.map(arrived))
    }

    /// Ends the session; what came out of it.
    fn close(&self, py: Python<'_>) -> PyResult<Outcome> {
        let taken = py.detach(|| {
            let taken = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.map(sim::Session::close)
        });
        Outcome::new(py, taken.ok_or_else(closed)?)
    }
}

impl Session {
    fn with<T>(&self, call: impl FnOnce(&mut sim::Session) -> PyResult<T>) -> PyResult<T> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        call(session.as_mut().ok_or_else(closed)?)
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the session is closed: open another one")
}
