//! Studies, on tables that are made up and on short runs: one file for each subject, and one program for all of them,
//! because linking takes longer than testing.

mod ci;
mod distributions;
mod dualq;
mod factors;
mod folder;
mod grid;
mod many;
mod measures;
mod plan;
mod quantities;
mod readings;
mod run_claims;
mod sfc;
mod short_range;
mod synthetic;
mod together;
mod whole;
