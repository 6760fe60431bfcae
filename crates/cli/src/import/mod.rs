//! `floodway import`: an experiment of another simulator as a scenario.

mod hpcc;

use crate::failure::Failure;
use crate::options::{ImportFrom, ImportOptions};

/// Imports what was asked for.
pub fn import(options: &ImportOptions) -> Result<(), Failure> {
    match &options.from {
        ImportFrom::Hpcc(options) => hpcc::import(options),
    }
}
