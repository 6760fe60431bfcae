//! Flows written out one by one, for experiments in which every flow matters.
//!
//! Hosts are named by their numbers, so the list takes none from the order of placement, and its
//! flows may run on hosts of other workloads.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. Hosts are named by their numbers: the list takes none from the order of placement,
/// and its flows may run on hosts of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Each flow starts later than written by a time between zero and this, drawn anew in every
    /// replication, so that replications of flows that are always the same differ. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
    /// The flows.
    pub flow: Vec<Flow>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        if self.flow.is_empty() {
            let remedy = "add one, for example the lines: [[workload.list.flow]], src = 0, dst = 1";
            findings.error("flow", "the list has no flows", remedy);
        }
        for (number, flow) in self.flow.iter().enumerate() {
            let findings = &mut findings.within(format!("flow.{number}"));
            if flow.src == flow.dst {
                let message = format!("host {} would send to itself", flow.src);
                findings.error("dst", message, "`src` and `dst` are two different hosts");
            }
            findings.positive("bytes", flow.bytes, check::ENDLESS);
            check::stops(flow.stop, flow.start, flow.bytes.is_some(), findings);
        }
    }
}

/// One flow, under a header `[[workload.list.flow]]` of its own. Without `bytes` it sends as fast
/// as it may, and has a rate instead of a completion time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Number of the sending host: 3 for `host 3`.
    pub src: u32,
    /// Number of the receiving host, another one.
    pub dst: u32,
    /// When it starts, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// Its size. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// From when on a flow without `bytes` sends nothing new; what is lost it still repeats. Default
    /// without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        for (number, flow) in self.flow.iter().enumerate() {
            let findings = &mut findings.within(format!("flow.{number}"));
            check::starts(flow.start, flow.bytes.is_some(), settings, findings);
        }
        self.check_jitter(settings, findings);
        Some(Arc::new(self.clone()))
    }

    fn all_have_sizes(&self) -> bool {
        self.flow.iter().all(|flow| flow.bytes.is_some())
    }
}

impl Spec {
    /// Whether every flow still begins in time if it starts later.
    pub fn check_jitter(&self, settings: &Document, findings: &mut Findings<'_>) {
        // What is left of each flow that begins in time at all, and of the arrivals after its start.
        let arrivals = settings.arrivals;
        let end = |flow: &Flow| flow.stop.map_or(arrivals, |stop| stop.min(arrivals));
        let left = |flow: &Flow| end(flow).0.saturating_sub(flow.start.0);
        if let Some(least) = self.flow.iter().map(left).filter(|&left| left > 0).min() {
            check::jitter(self.jitter, Duration(least), findings);
        }
    }

    fn sized(&self) -> impl Iterator<Item = u64> + '_ {
        self.flow.iter().filter_map(|flow| flow.bytes).map(|bytes| bytes.0)
    }
}

impl Workload for Spec {
    fn unknown_hosts(&self, hosts: u64) -> Vec<(String, u32)> {
        let ends = |(number, flow): (usize, &Flow)| {
            let path = move |field| format!("flow.{number}.{field}");
            [(path("src"), flow.src), (path("dst"), flow.dst)]
        };
        let all = self.flow.iter().enumerate().flat_map(ends);
        all.filter(|&(_, host)| u64::from(host) >= hosts).collect()
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        self.sized().count() as f64
    }

    fn persistent_flows(&self) -> u64 {
        (self.flow.len() - self.sized().count()) as u64
    }

    fn is_finite(&self) -> bool {
        self.sized().next().is_some()
    }

    fn largest_flow(&self) -> u64 {
        self.sized().max().unwrap_or(0)
    }

    fn size_fields(&self) -> Vec<String> {
        let largest = (0..self.flow.len()).max_by_key(|&flow| self.flow[flow].bytes);
        vec![format!("flow.{}.bytes", largest.unwrap_or(0))]
    }

    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let mut rng = around.stream();
        let spec = |flow: &Flow| FlowSpec {
            src: hosts[flow.src as usize],
            dst: hosts[flow.dst as usize],
            bytes: flow.bytes.map_or(FlowSpec::PERSISTENT, |bytes| bytes.0),
            start: Instant::ZERO + flow.start + Duration(rng.below(self.jitter.0 + 1)),
            stop: flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop),
            workload: around.number,
            in_turn: false,
        };
        self.flow.iter().map(spec).collect()
    }
}
