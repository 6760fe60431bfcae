//! Looks for faults of floodway: random valid scenarios, run in every way that must give the same,
//! and broken files for every reader.
//!
//! - [`generate`], [`schema`], [`repair`]: random valid scenarios
//! - [`compare`]: what has to be the same, and what must never be
//! - [`readers`], [`captures`], [`imports`], [`mutate`]: broken files
//! - [`finding`](mod@finding): faults
//! - [`shrink`]: smaller files that fail in the same way
//! - [`work`]: one attack after another in a process
//! - [`standing`]: all attacks alternately, for as long as asked

pub mod captures;
pub mod chakra;
pub mod compare;
pub mod finding;
pub mod generate;
pub mod goal;
pub mod imports;
pub mod mutate;
pub mod readers;
pub mod repair;
pub mod schema;
pub mod shrink;
pub mod standing;
pub mod work;
