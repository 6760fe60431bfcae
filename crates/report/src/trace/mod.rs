//! Recorded runs as traces: files that viewers of traces open. Each form is a folder here and a row
//! below.

pub mod perfetto;

use std::io;
use std::path::{Path, PathBuf};

use floodway_model::Table;
use floodway_model::family::Entry;
use floodway_model::tables::samples;

use crate::Run;
use crate::manifest::folder;

/// What writes the tables of a recorded run as a trace.
pub type Write = fn(&[Table], &mut (dyn io::Write + Send)) -> io::Result<()>;

/// A form of traces.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name and what opens it.
    pub entry: Entry,
    /// How to open it, as the end of a sentence.
    pub opened_with: &'static str,
    /// The end of its files' names.
    pub extension: &'static str,
    /// What writes it.
    pub write: Write,
}

/// The forms.
pub const CATALOGUE: &[Form] = &[Form {
    entry: Entry {
        family: "trace",
        name: "perfetto",
        summary: "for Perfetto's viewer: queues and links as counters, pauses and flows as slices",
    },
    opened_with: "open them at https://ui.perfetto.dev",
    extension: "pftrace",
    write: perfetto::write,
}];

/// The form of this name.
pub fn named(name: &str) -> Option<&'static Form> {
    CATALOGUE.iter().find(|form| form.entry.name == name)
}

/// Whether a run was recorded, so that there is something to trace.
pub fn recorded(run: &Run) -> bool {
    samples::View::of(run.tables).is_some()
}

/// The trace of a run in a results directory.
pub fn file(results: &Path, form: &Form, variant: &str, replication: u32) -> PathBuf {
    results.join(folder(variant, replication)).join(name(form))
}

/// The name of a trace in the folder of its run.
pub fn name(form: &Form) -> String {
    format!("trace.{}", form.extension)
}
