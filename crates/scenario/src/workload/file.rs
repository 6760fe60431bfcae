//! Flows that are read from a file, of our own making or another tool's.

use std::sync::Arc;

use floodway_model::check::Check;
use floodway_model::{Duration, FlowId, FlowSpec, Instant, Trigger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Parameters, Ready, Surroundings, Traffic, Workload, list};
use crate::check::{Problems, files};
use crate::document::Document;
use crate::files::flows::{Format, Wait};

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
    /// replication, so that replications of flows that are always the same differ; one that waits for
    /// others, by so much later than they let it. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
    /// Whether flows that start at the same time are numbered in the order of the file, before those of
    /// other workloads, and not by source and destination. Numbers decide where ECMP sends a flow. Default
    /// false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep_order: bool,
}

impl Check for Spec {}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde has it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Spec {
    /// The format that is written, or that the name of the file tells.
    pub fn format(&self) -> Option<Format> {
        self.format.or_else(|| Format::of(&self.path))
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        Some(Arc::new(files::check_flows(path, self, settings, findings)?))
    }

    fn all_have_sizes(&self) -> bool {
        // Only tables may have flows without a size.
        matches!(self.format(), Some(Format::Hpcc | Format::Htsim))
    }
}

/// As a list, its hosts found.
#[derive(Debug)]
pub(crate) struct Read {
    /// The flows; those that wait start at zero.
    pub list: list::Spec,
    /// Which of them begin after which others.
    pub waits: Vec<Wait>,
    /// Whether they are numbered as they are here.
    pub keep_order: bool,
}

impl Workload for Read {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let mut flows = self.list.flows(around);
        // What jitter has made of their start is how much later than what they wait for they begin.
        let trigger = |&Wait { after, begins }: &Wait| {
            let delay = Duration(flows[begins as usize].start.0);
            Trigger { after: FlowId(after), begins: FlowId(begins), delay }
        };
        let triggers: Vec<Trigger> = self.waits.iter().map(trigger).collect();
        triggers.iter().for_each(|trigger| flows[trigger.begins.index()].start = Instant::ZERO);
        let in_order = self.keep_order.then_some(around.number).into_iter().collect();
        Traffic { flows, triggers, in_order, ..Traffic::default() }
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        self.list.expected_flows(around)
    }

    fn persistent_flows(&self) -> u64 {
        self.list.persistent_flows()
    }

    fn is_finite(&self) -> bool {
        self.list.is_finite()
    }

    fn largest_flow(&self) -> u64 {
        self.list.largest_flow()
    }

    fn largest_start(&self) -> Option<Duration> {
        let largest = self.list.flow.iter().max_by_key(|flow| (flow.bytes, flow.start));
        largest.filter(|_| self.waits.is_empty()).map(|flow| flow.start)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["path".to_owned()]
    }

    fn waits_for_arrivals(&self) -> bool {
        let flow = |place: u32| &self.list.flow[place as usize];
        self.waits.iter().any(|wait| flow(wait.after).dst == flow(wait.begins).src)
    }
}
