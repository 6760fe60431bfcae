//! Claims about results, each with the rule that judges it and what was expected before the runs.
//!
//! The study runs on traffic of its own (`seed=2`). Expectations rest on theory, on a rough model of
//! 2026 that was made before this simulator had TCP, and on runs of a minute with `seed=7`; where
//! one says "open", nothing of the kind had been measured.

pub mod alone;
pub mod further;
pub mod laws;
pub mod mixes;
