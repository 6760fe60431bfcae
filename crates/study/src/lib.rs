//! Studies: the experiments behind a set of published claims, and what comes of each claim.
//!
//! ```text
//! Study::plan(level)   the experiments: scenario files with settings, by level
//! Evidence::add(run)   what the runs say, kept by experiment, variant and replication
//! Study::judge()       claims with verdicts, and sections with charts
//! ```
//!
//! A claim is one row: what was claimed and where, the rule by which it is judged, written down
//! before the runs, and the function that measures it. Whoever runs the experiments (the command
//! line) only carries runs from the plan to the evidence.
//!
//! - [`plan`]: levels and experiments
//! - [`evidence`]: what is kept of the runs
//! - [`flows`], [`histogram`]: completion times by group of flows
//! - [`deliveries`], [`fairness`]: rates over time, and how evenly flows share
//! - [`traffic`]: what became of the packets of a workload
//! - [`frames`]: frames of interactive applications
//! - [`departures`]: lengths of queues and waiting times at departures
//! - [`measure`]: numbers with intervals from the evidence
//! - [`library`]: what the scenarios say
//! - [`claim`]: rules and verdicts
//! - [`section`], [`exhibit`], [`curves`]: sections, their charts of rows and tables, and of lines
//! - [`matrix`]: their grids of small charts and heat maps
//! - [`ci`]: the study of Congestion Isolation
//! - [`sfc`]: the study of Source Flow Control
//! - [`dualq`]: the study of the DualQ Coupled AQM
//! - [`short_range`]: the study of rate control in short-range interconnects
//! - [`interplay`]: Congestion Isolation with other congestion controls and memories

pub mod ci;
pub mod claim;
pub mod curves;
pub mod deliveries;
pub mod departures;
pub mod dualq;
pub mod evidence;
pub mod exhibit;
pub mod fairness;
pub mod flows;
pub mod frames;
pub mod histogram;
pub mod interplay;
pub mod library;
pub mod matrix;
pub mod measure;
pub mod plan;
pub mod section;
pub mod sfc;
pub mod short_range;
pub mod traffic;

use floodway_model::family::Entry;
use floodway_report::study::{Claim, Section};

pub use claim::{Row, Rule};
pub use evidence::{Case, Evidence};
pub use flows::{FlowGroup, Quantile};
pub use measure::Measured;
pub use plan::{Experiment, Level};

/// One study.
#[derive(Debug)]
pub struct Study {
    /// Its name on the command line, and what it is in a line.
    pub entry: Entry,
    /// Its title.
    pub title: &'static str,
    /// What it asks, in one sentence.
    pub question: &'static str,
    /// Its scenarios: pairs of file name and text.
    pub library: &'static [(&'static str, &'static str)],
    /// The groups of flows that it looks at, in the order of its charts.
    pub groups: &'static [FlowGroup],
    /// Whether the measured flows of every run are kept, some 40 bytes each, and not only what
    /// groups come to: for measures of the same flow in two runs.
    pub keeps_flows: bool,
    /// Its experiments.
    pub plan: fn(Level) -> Vec<Experiment>,
    /// Its claims in order.
    pub claims: &'static [&'static [Row]],
    /// What the evidence answers, in a few sentences.
    pub answer: fn(&Evidence) -> Vec<String>,
    /// The sections of its report.
    pub sections: fn(&Evidence) -> Vec<Section>,
}

/// All studies.
pub static CATALOGUE: &[&Study] =
    &[&ci::STUDY, &sfc::STUDY, &dualq::STUDY, &short_range::STUDY, &interplay::STUDY];

impl Study {
    /// The verdict on every claim.
    pub fn judge(&self, evidence: &Evidence) -> Vec<Claim> {
        self.claims.iter().copied().flatten().map(|row| row.judge(evidence)).collect()
    }
}
