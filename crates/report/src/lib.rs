//! From tables to answers: statistics across runs, and results as text, files and pages.
//!
//! A program that runs an experiment declares it in a [`Manifest`], opens a [`Directory`] and an
//! [`Experiment`] with it, gives every [`Run`] to both as it finishes, in any order, and ends with
//! [`Directory::finish`], which writes summary and page and returns the [`Summary`] that
//! [`terminal::table`] prints. To go on with an experiment that was interrupted, it asks for the
//! [`Earlier`] runs first and gives those that are still good to the experiment only.
//!
//! - [`statistics`]: quantiles, intervals and paired changes
//! - [`metrics`], [`scalars`], [`shapes`], [`links`]: what is kept of one run
//! - [`Experiment`]: runs in, summary out
//! - [`summary`]: the numbers, as `summary.json` has them
//! - [`manifest`]: what was run, how and when
//! - [`directory`]: the results directory
//! - [`owned`]: which files of a directory may be replaced or removed
//! - [`lock`]: one command per results directory
//! - [`mod@format`]: tables as files
//! - [`trace`]: recorded runs for viewers of traces
//! - [`store`]: runs by what simulation they are
//! - [`terminal`]: the summary as text
//! - [`why`]: what flows spent their time on
//! - [`chart`]: pictures as SVG
//! - [`html`]: the page that explains it all
//! - [`study`]: claims, verdicts and evidence
//! - [`sample`]: runs of a published study to run again
//! - [`sweep`]: runs at the points of a grid
//! - [`markdown`]: a study as text for a repository

mod answer;
pub mod better;
pub mod chart;
mod deadlock;
mod dictionary;
pub mod directory;
pub mod entries;
mod evidence;
mod experiment;
mod files;
pub mod flent;
pub mod flow_times;
pub mod format;
pub mod host_ports;
pub mod html;
pub mod jobs;
mod latency;
pub mod links;
pub mod lock;
pub mod manifest;
pub mod markdown;
pub mod metrics;
mod operations;
pub mod owned;
pub mod pings;
mod profiles;
pub mod recording;
pub mod sample;
mod sampling;
pub mod scalars;
pub mod shapes;
pub mod statistics;
pub mod store;
pub mod study;
pub mod summary;
pub mod sweep;
pub mod terminal;
mod throughput;
pub mod together;
pub mod trace;
mod video;
mod voice;
mod web;
pub mod why;
pub mod words;

pub use directory::{Directory, Earlier};
pub use experiment::Experiment;
pub use lock::Lock;
pub use manifest::{Ending, InputFile, Manifest, Scenario, Status, Variant};
pub use store::Store;
pub use summary::Summary;

use floodway_model::Table;

/// What one run, a variant in a replication, yields.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The variant's name, one of the manifest's.
    pub variant: &'a str,
    /// The replication, counted from 0; its traffic is the same in every variant.
    pub replication: u32,
    /// Its seed.
    pub seed: u64,
    /// What simulation it is, by a hash of everything that decides its tables; empty if nobody
    /// will want to know.
    pub key: &'a str,
    /// Its tables.
    pub tables: &'a [Table],
    /// Packet-hops: one frame over one link.
    pub hops: u64,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// The simulated time at the end, in nanoseconds.
    pub simulated_ns: f64,
    /// The fingerprint of its tables.
    pub fingerprint: u64,
    /// What was wrong with it; empty in a sound run.
    pub violations: &'a [String],
    /// Why it ended, in a word or two; [`INTERRUPTED`] keeps it out of the statistics.
    pub stop: &'a str,
}

/// The [`Run::stop`] of a run that was cut short from outside. Its tables are kept, but its
/// numbers do not enter the statistics, because it does not cover the same time as the others.
pub const INTERRUPTED: &str = "interrupted";
