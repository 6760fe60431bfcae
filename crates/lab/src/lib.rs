//! Experiments and studies, run on all cores, with stored results that later commands can reuse. The
//! caller, the command line or another program, says what to run and receives progress reports.
//!
//! - [`mod@execute`]: runs an experiment into its results directory
//! - [`study`]: the experiments of a study, and the verdict on its claims
//! - [`sweep`]: runs the same scenario at every point of a grid
//! - [`mod@verify`]: repeats runs of a published study
//! - [`headroom`]: the worst case of a headroom, searched by simulation
//! - [`overflow`]: how likely a pool of headroom overflows
//! - [`capture`]: the frames of a run in octets
//! - [`Kernels`]: what starts the hosts of a run that are kernels
//! - [`ranks`]: one run over several processes
//! - [`session`]: a run that another program drives
//! - [`live`]: a run that a user steers while it goes on
//! - [`stored`]: finds a run in a results directory, and the scenario that was run
//! - [`why`]: repeats a stored run and explains the delays of its flows
//! - [`queue`]: distributes runs over threads
//! - [`board`]: progress of the runs
//! - [`budget`]: memory and disk space that the runs will need

pub mod board;
pub mod budget;
pub mod capture;
pub mod execute;
pub mod headroom;
mod kernels;
pub mod live;
pub mod overflow;
pub mod queue;
pub mod ranks;
pub mod session;
pub mod stored;
pub mod study;
pub mod sweep;
pub mod verify;
pub mod why;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use floodway_report::Run;
use floodway_sim::Ranks;

pub use board::Total;
pub use budget::Budget;
pub use execute::{Cost, Done, Existing, What, execute};
pub use kernels::{Kept, Kernels, Started};

/// Options for running an experiment, a study or a sweep.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Number of threads, at least 1. Threads go to separate runs first. With ranks, threads of each.
    pub threads: usize,
    /// Ends the command early when set. It is also set when results cannot be stored.
    pub stop: &'a AtomicBool,
    /// What to do with existing results.
    pub existing: Existing,
    /// File formats of the tables. [`Existing::Resume`] requires `parquet` among them.
    pub formats: &'a [String],
    /// Trace format in which recorded runs are also written: a name in
    /// [`floodway_report::trace::CATALOGUE`].
    pub trace: Option<&'a str>,
    /// What is captured of the first replication of every variant; `None` for nothing.
    pub capture: Option<&'a capture::Choice>,
    /// Starts the kernels of a run; `None` for simulations alone.
    pub kernels: Option<&'a dyn Kernels>,
    /// Whether the auditor checks the invariants of every simulation at every event; in builds with
    /// debug assertions it always does.
    pub audit: bool,
    /// The processes over which every run goes, one run at a time; `None` for this one alone. This is then rank 0.
    pub ranks: Option<&'a dyn Ranks>,
    /// The command line, word by word, for the provenance.
    pub command: &'a [String],
}

/// Receives progress reports, all on the thread that runs the experiment.
pub trait Watcher {
    /// An experiment begins; it has a name if it is one of several. If it continues earlier
    /// results, `kept` of its runs exist already.
    fn begin(&mut self, _name: Option<&str>, _kept: Option<usize>, _runs: usize) {}

    /// The directory of runs contains `count` files that floodway did not write, of which this is
    /// the first. They are left in place.
    fn others(&mut self, _first: &Path, _count: usize) {}

    /// Progress of all runs; called a few times per second.
    fn look(&mut self, _total: &Total, _stopping: bool) {}

    /// A run has ended, or existed already.
    fn ended(&mut self, _run: &Run, _there_already: bool) {}

    /// The experiment has ended.
    fn end(&mut self) {}
}

/// Ignores all reports.
impl Watcher for () {}

/// A message about files in the directory of runs that floodway did not write
/// ([`Watcher::others`]).
pub fn words_of_others(first: &Path, count: usize) -> String {
    let first = first.display();
    match count {
        1 => format!("`{first}` was not written by floodway and stays where it is"),
        _ => format!(
            "{count} files among the runs were not written by floodway and stay where they are, \
             the first is `{first}`"
        ),
    }
}

/// One thread per core.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
