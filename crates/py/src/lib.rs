//! The compiled half of the Python package `floodway`: scenarios in, tables out.
//!
//! What users see is written in Python, in `python/floodway`, which calls this module for what
//! Rust has to do. Values cross the border in three forms: mappings as JSON, tables as Arrow, which
//! is the memory of the result itself, and everything else as Python's own types.
//!
//! - [`scenario`]: scenarios that are valid
//! - [`session`]: a run that Python drives
//! - [`ranks`]: runs over the processes of a communicator of mpi4py
//! - [`simulate`]: a simulation that Python can watch and interrupt
//! - [`experiment`]: whole experiments and studies
//! - [`sweep`]: sweeps, and their runs one by one
//! - [`background`]: work that Python can watch and interrupt
//! - [`statistics`]: changes with intervals, and charts of them
//! - [`table`]: tables as Arrow
//! - [`chart`]: charts with their numbers
//! - [`results`]: results directories
//! - [`why`]: explanations of stored runs
//! - [`headroom`]: headrooms, vendors' tables of them, and pools
//! - [`operator`]: configurations of switches, lint and device profiles
//! - [`program`]: the command `floodway`
//! - [`error`]: what is wrong, as exceptions of the package

pub mod background;
pub mod chart;
pub mod error;
pub mod experiment;
pub mod headroom;
pub mod operator;
pub mod program;
pub mod ranks;
pub mod results;
pub mod scenario;
pub mod session;
pub mod simulate;
pub mod statistics;
pub mod sweep;
pub mod table;
pub mod why;

/// The module `floodway._floodway`.
#[pyo3::pymodule]
mod _floodway {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::chart::Picture;
    #[pymodule_export]
    use crate::error::printable;
    #[pymodule_export]
    use crate::experiment::study;
    #[pymodule_export]
    use crate::headroom::{headroom, headroom_risk, headroom_search, headroom_table};
    #[pymodule_export]
    use crate::operator::{
        Imported, import_sonic, is_configuration, lint_scenario, profile, profiles,
    };
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::ranks::{execute_over, simulate_over};
    #[pymodule_export]
    use crate::results::{Stored, open, together};
    #[pymodule_export]
    use crate::scenario::{Checked, load, parse};
    #[pymodule_export]
    use crate::session::{Session, octets, picoseconds};
    #[pymodule_export]
    use crate::simulate::Outcome;
    #[pymodule_export]
    use crate::statistics::{better, change, chart_of_changes, chart_of_points, levels_of, remedy};
    #[pymodule_export]
    use crate::sweep::{Grid, Held, Swept};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::why::Explained;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("sources", floodway_sim::SOURCES)
    }
}
