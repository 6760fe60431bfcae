//! Experiments and studies: run over all cores, kept, and found again. Whoever runs them, the command
//! line or a program, says what to run and watches.
//!
//! - [`mod@execute`]: an experiment into its results directory
//! - [`study`]: the experiments of a study, and the verdict on its claims
//! - [`sweep`]: the same scenario at every point of a grid
//! - [`mod@verify`]: runs of a published study once more
//! - [`queue`]: runs, shared out over threads
//! - [`board`]: how far they have come
//! - [`budget`]: how much memory and space runs will take

pub mod board;
pub mod budget;
pub mod execute;
pub mod queue;
pub mod study;
pub mod sweep;
pub mod verify;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use floodway_report::Run;

pub use board::Total;
pub use budget::Budget;
pub use execute::{Cost, Done, Existing, execute};

/// How to run something.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Threads, at least 1; shared out over runs first.
    pub threads: usize,
    /// Ends it early when set. Also set when results cannot be kept.
    pub stop: &'a AtomicBool,
    /// What to do with results that are there.
    pub existing: Existing,
    /// The forms of the tables. [`Existing::Resume`] needs `parquet` among them.
    pub formats: &'a [String],
    /// Whether recorded runs are kept as traces too: a name of [`floodway_report::trace::CATALOGUE`].
    pub trace: Option<&'a str>,
    /// Whether the invariants of every simulation are checked at every event, which a build with debug
    /// assertions always does.
    pub audit: bool,
    /// What was asked for, word by word, for the provenance.
    pub command: &'a [String],
}

/// Who is told how it goes. All is told on the thread that runs the experiment.
pub trait Watcher {
    /// An experiment begins, of this name if it is one of several. Of its runs so many are there
    /// already, if it goes on with earlier ones.
    fn begin(&mut self, _name: Option<&str>, _kept: Option<usize>, _runs: usize) {}

    /// Among the folders of runs there are so many files that floodway did not write, of which this
    /// is the first. They stay.
    fn others(&mut self, _first: &Path, _count: usize) {}

    /// How far all its runs have come; told some times a second.
    fn look(&mut self, _total: &Total, _stopping: bool) {}

    /// A run has ended, or was there already.
    fn ended(&mut self, _run: &Run, _there_already: bool) {}

    /// The experiment has ended.
    fn end(&mut self) {}
}

/// Nobody.
impl Watcher for () {}

/// A sentence about files among the runs that floodway did not write ([`Watcher::others`]).
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
