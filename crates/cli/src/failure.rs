//! Why the program ends without success: what it says then, and its exit status.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use floodway_machine::printable;

use crate::output::{self, Paint};

/// A reason to end without success.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong, or asks for help.
    Usage(clap::Error),
    /// Something that the command line names does not exist: cause and remedy.
    Unknown(String),
    /// The scenario is wrong.
    Scenario(floodway_scenario::Error),
    /// Results cannot be kept.
    Results(floodway_report::directory::Error),
    /// The results of a study cannot be kept.
    Study(floodway_report::study::Error),
    /// The results of a sweep cannot be kept.
    Sweep(floodway_report::sweep::Error),
    /// Standard output takes no more.
    Output(io::Error),
    /// What the system refuses: the attempt, and its answer.
    System(&'static str, io::Error),
    /// Runs that were not sound, by what is wrong with them.
    Violations(Vec<String>),
    /// Findings of lint, although `--deny-findings` allows none.
    Findings(String),
    /// Claims that do not hold, although `--insist` asks for it.
    Claims(Vec<String>),
    /// A measurement in another process failed.
    Measurement(String),
    /// A kernel has failed, or a command in it: cause, and what it said.
    Kernel(String),
    /// Published results are of another version.
    Outdated(String),
    /// Another rank has said what is wrong.
    OfAnotherRank,
    /// Somebody asked for it, and was told what is left.
    Interrupted,
}

/// Whether something was run, or is about to be.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// From now on runs are made: what is wrong after this is no refusal.
pub fn runs_begin() {
    RUNNING.store(true, Ordering::Relaxed);
}

impl Failure {
    /// The exit status, of which the help texts say what it means.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(error) if !error.use_stderr() => 0,
            Self::Interrupted => 130,
            Self::Usage(_) | Self::Unknown(_) | Self::Scenario(_) | Self::OfAnotherRank => 2,
            Self::Results(error) => Self::of_directory(error.is_of_system()),
            Self::Study(error) => Self::of_directory(error.is_of_system()),
            Self::Sweep(error) => Self::of_directory(error.is_of_system()),
            Self::Output(_)
            | Self::System(..)
            | Self::Violations(_)
            | Self::Claims(_)
            | Self::Findings(_)
            | Self::Measurement(_)
            | Self::Kernel(_)
            | Self::Outdated(_) => 1,
        }
    }

    /// Of a directory with which something is wrong: floodway refuses it before it runs anything.
    fn of_directory(is_of_system: bool) -> u8 {
        if is_of_system || RUNNING.load(Ordering::Relaxed) { 1 } else { 2 }
    }

    /// Says what is wrong on standard error.
    pub fn tell(&self) {
        match self {
            // Help and version have no words of others in them, so clap may color them.
            Self::Usage(error) if !error.use_stderr() => error.print().unwrap_or(()),
            Self::Usage(error) => output::problem(&error.render().to_string()),
            Self::Unknown(text)
            | Self::Outdated(text)
            | Self::Kernel(text)
            | Self::Findings(text) => error(text),
            // What another process said may have several lines.
            Self::Measurement(text) => output::told(Paint::Red, "error", text),
            Self::Scenario(error) => output::problem(&error.plain()),
            Self::Results(problem) => error(&problem.to_string()),
            Self::Study(problem) => error(&problem.to_string()),
            Self::Sweep(problem) => error(&problem.to_string()),
            Self::Output(problem) => {
                let reason = reason(problem);
                error(&format!(
                    "cannot write to standard output: {reason}; check what it is connected to"
                ));
            }
            Self::System(attempt, problem) => error(&format!("cannot {attempt}: {problem}")),
            Self::Violations(violations) => {
                violations.iter().for_each(|violation| error(violation));
                output::note(
                    "the results are not sound. Unless the scenario makes losses in a lossless \
                     class unavoidable (`floodway check` warns then), this is a fault of floodway: \
                     please report it with the scenario and the seed",
                );
            }
            Self::Claims(claims) => claims.iter().for_each(|claim| error(claim)),
            Self::Interrupted | Self::OfAnotherRank => {}
        }
    }
}

/// On one line, whatever names and paths are in it.
fn error(text: &str) {
    output::told(Paint::Red, "error", &printable::line(text));
}

/// What the system said, in its words but without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the device is full".to_owned(),
        _ => error.to_string(),
    }
}

/// A panic is always a fault of the program. The first one ends it: the other threads of the run
/// would only add that they were left alone. With `RUST_BACKTRACE=1` it says where it came from.
pub fn on_panic(info: &PanicHookInfo) {
    // A damaged Parquet file: it becomes an error about that file.
    if floodway_machine::damaged::is_reading() {
        return;
    }
    let text = format!(
        "floodway has a fault: {info}\nplease report it with the command line and the scenario; \
         runs that had finished are kept"
    );
    output::told(Paint::Red, "error", &text);
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        eprintln!("{trace}");
    }
    // Other ranks of the run would wait for this one.
    floodway_mpi::abort(101);
    std::process::exit(101);
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

impl From<floodway_scenario::Error> for Failure {
    fn from(error: floodway_scenario::Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<floodway_report::directory::Error> for Failure {
    fn from(error: floodway_report::directory::Error) -> Self {
        Self::Results(error)
    }
}

impl From<floodway_report::study::Error> for Failure {
    fn from(error: floodway_report::study::Error) -> Self {
        Self::Study(error)
    }
}

impl From<floodway_lab::study::Failure> for Failure {
    fn from(failure: floodway_lab::study::Failure) -> Self {
        use floodway_lab::study::Failure as Why;
        match failure {
            Why::Scenario(error) => error.into(),
            Why::Results(error) => error.into(),
            Why::Study(error) => error.into(),
            Why::Interrupted(_) => Self::Interrupted,
        }
    }
}

impl From<floodway_lab::stored::Failure> for Failure {
    fn from(failure: floodway_lab::stored::Failure) -> Self {
        use floodway_lab::stored::Failure as Why;
        match failure {
            Why::Unknown(text) => Self::Unknown(text),
            Why::Scenario(error) => error.into(),
            Why::Results(error) => error.into(),
            Why::Differs(text) => Self::Outdated(text),
            Why::Violations(violations) => Self::Violations(violations),
            Why::Interrupted => Self::Interrupted,
        }
    }
}

impl From<floodway_lab::verify::Failure> for Failure {
    fn from(failure: floodway_lab::verify::Failure) -> Self {
        use floodway_lab::verify::Failure as Why;
        match failure {
            Why::Sample(error) => Self::Unknown(error.to_string()),
            Why::Foreign(text) => Self::Unknown(text),
            Why::Scenario(error) => error.into(),
            Why::Differs(text) => Self::Outdated(text),
            Why::Interrupted => Self::Interrupted,
        }
    }
}
