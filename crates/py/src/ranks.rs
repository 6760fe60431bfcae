//! Runs over the processes of a communicator of mpi4py.
//!
//! Its messages are sent by `python/floodway/_messages.py`, so that it does not matter which MPI mpi4py was built with.

use std::fmt;
use std::path::PathBuf;

use floodway_lab::Budget;
use floodway_lab::ranks::{self, Refused, agree, dismiss, follow, one};
use floodway_scenario::Variant;
use floodway_sim::simulation::Run;
use floodway_sim::{Letters, Progress, Ranks, Totals};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::background::{self, Desk};
use crate::error;
use crate::experiment::{self, News};
use crate::scenario::Checked;
use crate::simulate::{self, Outcome};

/// An instance of the class `Messages` in Python, and its two numbers.
pub struct Communicator {
    messages: Py<PyAny>,
    rank: usize,
    count: usize,
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.count)
    }
}

impl Communicator {
    /// Of an instance of the class.
    pub fn new(messages: &Bound<'_, PyAny>) -> PyResult<Self> {
        let number = |name: &str| messages.getattr(name)?.extract();
        let (rank, count) = (number("rank")?, number("count")?);
        Ok(Self { rank, count, messages: messages.clone().unbind() })
    }

    /// The result of this rank if no rank has failed. Otherwise the first rank that has raises why.
    pub fn need<T: Send>(&self, py: Python<'_>, result: PyResult<T>) -> PyResult<T> {
        let failed = result.is_err();
        match py.detach(|| ranks::first(self, failed)) {
            Some(first) if result.is_ok() => Err(PyRuntimeError::new_err(format!(
                "rank {first} cannot run this, so no rank does: its exception has the reason"
            ))),
            _ => result,
        }
    }

    /// Calls a method. A failure of communication ends all ranks, because the others would wait forever.
    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| {
            let messages = self.messages.bind(py);
            call(messages).unwrap_or_else(|error| {
                error.print(py);
                let _ = messages.call_method0("abort");
                std::process::exit(1)
            })
        })
    }
}

impl Ranks for Communicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.count
    }

    fn exchange(&self, mine: Totals, letters: &mut [Letters]) -> Totals {
        self.call(|messages| {
            let out: Vec<_> = letters
                .iter()
                .map(|letters| (letters.rank, PyBytes::new(messages.py(), &letters.out)))
                .collect();
            let all = messages.call_method1("exchange", (mine.words(), out))?;
            let (words, arrived): ([u64; Totals::WORDS], Vec<Bound<'_, PyBytes>>) =
                all.extract()?;
            for (letters, arrived) in letters.iter_mut().zip(arrived) {
                letters.into.clear();
                letters.into.extend(arrived.as_bytes());
            }
            Ok(Totals::from_words(words))
        })
    }

    fn gather(&self, mine: Vec<u8>, take: &mut dyn FnMut(usize, Vec<u8>)) {
        if self.rank > 0 {
            return self.call(|messages| {
                messages.call_method1("give", (0, PyBytes::new(messages.py(), &mine))).map(|_| ())
            });
        }
        take(0, mine);
        for rank in 1..self.count {
            take(rank, self.call(|messages| octets(&messages.call_method1("get", (rank,))?)));
        }
    }

    fn broadcast(&self, mine: Vec<u8>) -> Vec<u8> {
        self.call(|messages| {
            octets(&messages.call_method1("broadcast", (PyBytes::new(messages.py(), &mine),))?)
        })
    }
}

fn octets(from: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(from.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Why an experiment cannot go over ranks.
fn refused(reason: &Refused) -> PyErr {
    error::value(&error::in_python(&reason.to_string()))
}

/// Runs one variant in one replication by all ranks together, and calls `watch` as [`simulate::tell`] does. Rank 0 has
/// the outcome.
#[pyfunction]
pub fn simulate_over(
    py: Python<'_>,
    scenario: &Checked,
    variant: &str,
    replication: u32,
    threads: usize,
    messages: &Bound<'_, PyAny>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<Outcome>> {
    let ranks = &Communicator::new(messages)?;
    let (of, seed) = (scenario.scenario(), scenario.replication_seed(replication));
    let ready = || -> PyResult<&Variant> {
        let variant = scenario.variant(py, variant)?;
        let mut budget = Budget::of_one(variant, seed, 1);
        budget.share(ranks.ranks());
        let checked = budget.check(&of.file_name);
        checked.map_err(|refused| error::scenario(py, &refused))?;
        Ok(variant)
    };
    let variant = ranks.need(py, ready())?;
    let work = |desk: &Desk<Progress>| {
        let watch = |progress| desk.say(progress);
        let spec = variant.build_replication(replication, seed);
        one((&variant.name, spec), ranks, &Run { threads, stop: &desk.stop, watch: &watch })
    };
    let watch = watch.as_ref();
    let outcome = background::work(py, work, |progress| simulate::tell(watch, progress))?;
    let outcome = outcome.map_err(|reason| refused(&reason))?;
    outcome.map(|outcome| Outcome::new(py, outcome)).transpose()
}

/// Runs variants in all replications, each run by all ranks together. Rank 0 goes through the experiment as if it were
/// alone, says to the others what to run, and writes the results: see [`experiment::execute`]. `place`: the directory,
/// what is to become of results there, and the form of traces.
#[pyfunction]
pub fn execute_over(
    py: Python<'_>,
    scenario: &Checked,
    variants: Vec<String>,
    place: (PathBuf, String, Option<String>),
    threads: usize,
    messages: &Bound<'_, PyAny>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let ranks = &Communicator::new(messages)?;
    let named = variants.iter().map(|name| scenario.variant(py, name)).collect::<PyResult<_>>();
    let variants: Vec<&Variant> = ranks.need(py, named)?;
    let (scenario, (path, existing, trace)) = (scenario.scenario(), place);
    let traced = trace.is_some();
    let agreed = py.detach(|| agree(scenario, &variants, traced, ranks));
    agreed.map_err(|reason| refused(&reason))?;
    if ranks.rank() == 0 {
        let (what, place) = ((scenario, &*variants), (&*path, &*existing));
        let (kept, crew) = ((trace.as_deref(), Vec::new()), (Some(threads), Some(ranks)));
        let done = experiment::execute(py, what, place, kept, crew, watch.as_ref());
        py.detach(|| dismiss(ranks));
        return done;
    }
    let work = |desk: &Desk<News>| follow(scenario, &variants, traced, (ranks, &desk.stop));
    background::work(py, work, |_| Ok(()))?;
    Ok(Vec::new())
}
