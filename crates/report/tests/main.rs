//! Pages, tables and results directories of made-up and of real runs: one file for each subject, and one program for
//! all of them, because linking takes longer than testing.

mod check;
mod coverage;
mod directory;
mod experiment;
mod interval_coverage;
mod page;
mod parquet;
mod playback;
mod resume;
mod sampled_rounds;
mod specimen;
mod study;
mod synthetic;
mod terminal;
mod throughput;
