//! The program `floodway`, which the package brings along.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, without its name, and returns its exit status. `start` is what starts it again: the
/// interpreter and its arguments. It handles signals from then on, so the process should end afterwards.
#[pyfunction]
pub fn program(py: Python<'_>, start: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| floodway_cli::main(start, arguments))
}
