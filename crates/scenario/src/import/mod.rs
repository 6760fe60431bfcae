//! Experiments of other tools, written as scenarios.

pub mod hpcc;
