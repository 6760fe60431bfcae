//! Flows that are read from a file, of our own making or another tool's.

use floodway_model::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::files::flows::Format;

/// Parameters. The file names its hosts: none is taken from the order of placement, and flows may
/// run on hosts of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The file, its path relative to the scenario file.
    pub path: String,
    /// Whose format it has. Default by the end of its name: `csv` for .csv, `parquet` for .parquet,
    /// `hpcc` for .txt, `htsim` for .cm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The time in the file at which the run begins, for files whose first flow comes late: those of
    /// the HPCC simulator usually begin at 2s. Default 0ns.
    #[serde(default)]
    pub origin: Duration,
    /// Each flow starts later than written by a time between zero and this, drawn anew in every
    /// replication, so that replications of flows that are always the same differ. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
}

impl Spec {
    /// The format that is written, or that the name of the file tells.
    pub fn format(&self) -> Option<Format> {
        self.format.or_else(|| Format::of(&self.path))
    }
}
