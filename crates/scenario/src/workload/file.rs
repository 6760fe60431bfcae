//! Flows that are read from a file, of our own making or another tool's.

use std::sync::Arc;

use floodway_model::{Duration, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Parameters, Ready, Surroundings, Workload, list};
use crate::check::{Findings, files};
use crate::document::Document;
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

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Findings<'_>) -> Option<Ready> {
        let list = files::check_flows(path, self, settings, findings)?;
        Some(Arc::new(Read(list)))
    }

    fn all_have_sizes(&self) -> bool {
        // Only tables may have flows without a size.
        matches!(self.format(), Some(Format::Hpcc | Format::Htsim))
    }
}

/// As a list, its hosts found.
#[derive(Debug)]
struct Read(list::Spec);

impl Workload for Read {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.0.flows(around)
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        self.0.expected_flows(around)
    }

    fn persistent_flows(&self) -> u64 {
        self.0.persistent_flows()
    }

    fn largest_flow(&self) -> u64 {
        self.0.largest_flow()
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["path".to_owned()]
    }
}
