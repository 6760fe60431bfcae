//! A run that Python drives.
//!
//! It is simulated on the thread that calls, without the interpreter, and in slices: between two of them the thread looks for
//! signals. Most calls are so short that a thread of their own ([`background`]) would take longer to start.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration as Wall, Instant as Clock};

use floodway_lab::session::{self as lab, Choice, Error};
use floodway_model::{Bytes, Duration, Instant, NodeId};
use floodway_sim::session::{self, Completion};
use floodway_sim::{self as sim};
use pyo3::exceptions::PyValueError;
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
    session: Mutex<Option<Open>>,
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

/// An open session.
struct Open {
    session: sim::Session,
    /// Completions of a call of `advance` that was interrupted.
    waiting: VecDeque<Completion>,
    /// Simulated time between two looks for signals.
    slice: Duration,
}

/// Windows in the first slice.
const FIRST: u64 = 16;

/// Wall-clock time of a slice: shorter ones are doubled, and longer ones halved. People feel a tenth of a second as at once.
const SHORT: Wall = Wall::from_millis(10);
const LONG: Wall = Wall::from_millis(100);

impl Open {
    /// Carries out `step` until the end of a slice, or until an earlier time. Whether it has come to that.
    fn slice<T>(
        &mut self,
        until: Instant,
        step: impl FnOnce(&mut sim::Session, Instant) -> Result<T, session::Error>,
    ) -> Result<(T, bool), session::Error> {
        // A time that has passed, or one after the end, is an error from the first slice on.
        let to = match until > self.session.end() {
            true => until,
            false => until.min(self.session.now() + self.slice),
        };
        let begun = Clock::now();
        let found = step(&mut self.session, to)?;
        let took = begun.elapsed();
        if took < SHORT {
            self.slice = Duration(self.slice.0.saturating_mul(2));
        } else if took > LONG {
            self.slice = Duration((self.slice.0 / 2).max(self.session.window().0));
        }
        Ok((found, to == until))
    }
}

fn raise(py: Python<'_>, found: &Error) -> PyErr {
    match found {
        Error::Scenario(found) => error::scenario(py, found),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn raised(found: &session::Error) -> PyErr {
    PyValueError::new_err(found.to_string())
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
            session: Mutex::new(Some(Open {
                slice: session.window() * FIRST,
                waiting: VecDeque::new(),
                session,
            })),
        })
    }

    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |open| Ok(open.session.now().0))
    }

    #[getter]
    fn in_flight(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |open| Ok(open.session.in_flight() + open.waiting.len() as u64))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Injects a flow between hosts with these numbers, now or at a time.
    fn inject(
        &self,
        py: Python<'_>,
        source: u32,
        destination: u32,
        bytes: u64,
        at: Option<u64>,
    ) -> PyResult<u32> {
        let node = |number: u32| self.nodes.get(number as usize).copied().unwrap_or(NodeId(number));
        self.with(py, |Open { session, .. }| {
            let at = at.map_or(session.now(), Instant);
            let flow = session.inject_at(node(source), node(destination), bytes, at);
            Ok(flow.map_err(|found| raised(&found))?.0)
        })
    }

    fn advance(&self, py: Python<'_>, until: u64) -> PyResult<Vec<Arrived>> {
        loop {
            let all = self.with(py, |open| {
                let advanced = open.slice(Instant(until), sim::Session::advance);
                let (found, is_there) = advanced.map_err(|found| raised(&found))?;
                open.waiting.extend(found);
                Ok(is_there.then(|| open.waiting.drain(..).map(arrived).collect()))
            })?;
            if let Some(all) = all {
                return Ok(all);
            }
            py.check_signals()?;
        }
    }

    fn next(&self, py: Python<'_>, until: Option<u64>) -> PyResult<Option<Arrived>> {
        loop {
            let next = self.with(py, |open| {
                if let Some(waiting) = open.waiting.pop_front() {
                    return Ok(Some(Some(waiting)));
                }
                if until.is_none() && open.session.in_flight() == 0 {
                    return Ok(Some(None));
                }
                let end = until.map_or(open.session.end(), Instant);
                let advanced = open.slice(end, |session, to| session.next(Some(to)));
                let (found, is_there) = advanced.map_err(|found| raised(&found))?;
                Ok((found.is_some() || is_there).then_some(found))
            })?;
            if let Some(next) = next {
                return Ok(next.map(arrived));
            }
            py.check_signals()?;
        }
    }

    /// Ends the session; what came out of it.
    fn close(&self, py: Python<'_>) -> PyResult<Outcome> {
        let taken = py.detach(|| {
            let taken = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.map(|open| open.session.close())
        });
        Outcome::new(py, taken.ok_or_else(closed)?)
    }
}

impl Session {
    /// Does something with the open session. Others may use the interpreter meanwhile, also those who wait for it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Open) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            call(session.as_mut().ok_or_else(closed)?)
        })
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the session is closed: open another one")
}
