//! Runs over the processes of a communicator of mpi4py.
//!
//! Its messages are sent by `python/floodway/_ranks.py`, so that it does not matter which MPI mpi4py was built with.

use std::fmt;

use floodway_lab::ranks::{self, Refused};
use floodway_sim::{Letters, Ranks, Totals};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;

/// An instance of the class `Ranks` in Python, and the two numbers that are asked for most.
pub struct Communicator {
    ranks: Py<PyAny>,
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
    pub fn new(ranks: &Bound<'_, PyAny>) -> PyResult<Self> {
        let number = |name: &str| ranks.getattr(name)?.extract();
        Ok(Self { rank: number("rank")?, count: number("count")?, ranks: ranks.clone().unbind() })
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
            let ranks = self.ranks.bind(py);
            call(ranks).unwrap_or_else(|error| {
                error.print(py);
                let _ = ranks.call_method0("abort");
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
        self.call(|ranks| {
            let out: Vec<_> = letters
                .iter()
                .map(|letters| (letters.rank, PyBytes::new(ranks.py(), &letters.out)))
                .collect();
            let all = ranks.call_method1("exchange", (mine.words(), out))?;
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
            return self.call(|ranks| {
                ranks.call_method1("give", (0, PyBytes::new(ranks.py(), &mine))).map(|_| ())
            });
        }
        take(0, mine);
        for rank in 1..self.count {
            take(rank, self.call(|ranks| octets(&ranks.call_method1("get", (rank,))?)));
        }
    }

    fn broadcast(&self, mine: Vec<u8>) -> Vec<u8> {
        self.call(|ranks| {
            octets(&ranks.call_method1("broadcast", (PyBytes::new(ranks.py(), &mine),))?)
        })
    }
}

fn octets(from: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(from.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Refuses an option that one process alone can have.
pub fn refuse(option: &str, asked: bool, reason: &str) -> PyResult<()> {
    let text =
        || format!("`{option}` does not work with `comm`, because {reason}: leave out one of them");
    if asked { Err(error::value(&text())) } else { Ok(()) }
}

/// Why an experiment cannot go over ranks.
pub fn refused(refused: &Refused) -> PyErr {
    error::value(&error::in_python(&refused.to_string()))
}
