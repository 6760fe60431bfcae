//! Flows written out one by one, for experiments in which every flow matters.
//!
//! Hosts are named by their numbers, so the list takes none from the order of placement, and its
//! flows may run on hosts of other workloads.

use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Surroundings;

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

impl Spec {
    fn sized(&self) -> impl Iterator<Item = u64> + '_ {
        self.flow.iter().filter_map(|flow| flow.bytes).map(|bytes| bytes.0)
    }

    pub(super) fn ending_flows(&self) -> u64 {
        self.sized().count() as u64
    }

    pub(super) fn persistent_flows(&self) -> u64 {
        self.flow.len() as u64 - self.ending_flows()
    }

    pub(super) fn largest_flow(&self) -> u64 {
        self.sized().max().unwrap_or(0)
    }

    pub(super) fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let hosts: Vec<NodeId> = around.graph.hosts().collect();
        let mut chance = around.stream();
        let spec = |flow: &Flow| FlowSpec {
            src: hosts[flow.src as usize],
            dst: hosts[flow.dst as usize],
            bytes: flow.bytes.map_or(FlowSpec::PERSISTENT, |bytes| bytes.0),
            start: Instant::ZERO + flow.start + Duration(chance.below(self.jitter.0 + 1)),
            stop: flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop),
            workload: around.number,
            in_turn: false,
        };
        self.flow.iter().map(spec).collect()
    }
}
