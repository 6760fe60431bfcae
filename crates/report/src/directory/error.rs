//! What can be wrong with a results directory.

use std::path::PathBuf;

use crate::files::IoError;
use crate::lock;
use crate::manifest::SCHEMA;
use crate::owned;

/// Why results cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Something there is not floodway's.
    #[error(transparent)]
    Owned(#[from] owned::Error),
    /// Another command writes there.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// There are results already.
    #[error(
        "`{0}` already holds results of scenario `{1}` from {2}; replace them with `--force`, go on \
         with them with `--resume`, or keep them and choose another directory: `--out DIR`"
    )]
    Occupied(PathBuf, String, String),
    /// There are results of another experiment.
    #[error(
        "`{0}` holds results of scenario `{1}`, and `{2}` cannot go on with them; replace them with \
         `--force`, or keep them and choose another directory: `--out DIR`"
    )]
    Other(PathBuf, String, String),
    /// Tables that cannot be read back.
    #[error(
        "only tables in the format `parquet` can be read back, so there is nothing to go on with; \
         add `--format parquet`, or leave `--resume` out"
    )]
    NotReadable,
    /// Results whose tables cannot be read back.
    #[error(
        "`{0}` has no tables as Parquet, which alone can be read back: run the scenario again with \
         `--format parquet`"
    )]
    NoParquet(PathBuf),
    /// A run that was there is not as it was when it was kept.
    #[error(
        "the run in `{0}` is not as it was written: {1}; run the scenario again with `--resume`"
    )]
    Changed(PathBuf, String),
    /// A run has no such table that can be read back.
    #[error(
        "the run in `{0}` has no table `{1}` as `parquet`; `manifest.json` lists those that it has"
    )]
    NoTable(PathBuf, String),
    /// A table that another version wrote: where, its name, a column, and its type in words.
    #[error(
        "table `{1}` in `{0}` has no column `{2}` with {3}: another version of floodway wrote it; run the experiment \
         again with this one"
    )]
    NoColumn(PathBuf, String, &'static str, &'static str),
    /// There is something else.
    #[error(
        "`{0}` is not empty and not a results directory, so nothing is written there; choose \
         another directory: `--out DIR` (`--force` replaces results of floodway only)"
    )]
    Foreign(PathBuf),
    /// It is unknown whose results there are.
    #[error(
        "cannot read `{0}`: {1}; so it is not known whose results these are, and nothing is written \
         there. Repair the file, or choose another directory: `--out DIR`"
    )]
    Unreadable(PathBuf, String),
    /// Not a results directory.
    #[error(
        "`{0}` holds no results: there is no `manifest.json` in it; give the directory that a run wrote"
    )]
    NoResults(PathBuf),
    /// A file of the results cannot be understood.
    #[error("cannot read `{path}`: {reason}; run the scenario again")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Results of a version that is newer or older than this.
    #[error(
        "`{path}` has schema {found}, and this floodway {version} reads schema {SCHEMA}; use \
         floodway {by}, which wrote it, or run the scenario again"
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// Who wrote it.
        by: String,
        /// Who reads it.
        version: &'static str,
    },
    /// A variant's name cannot be a folder's.
    #[error(
        "the variant name `{0}` cannot be a folder's; use letters, digits and any of `-_.+=,@%` \
         and do not begin with a dot"
    )]
    Name(String),
    /// An unknown format.
    #[error("there is no format `{0}` for tables; choose from: {1}")]
    Format(String, String),
}

impl Error {
    /// Whether the system refused to read or write, and not floodway to replace or go on with what is there.
    pub fn is_of_system(&self) -> bool {
        match self {
            Self::Io(_) => true,
            Self::Owned(error) => error.is_of_system(),
            Self::Lock(error) => error.is_of_system(),
            _ => false,
        }
    }
}
