//! Incast: many senders to one receiver, all at once. Without a size the flows never end: the
//! "permanent many to one" of the Congestion Isolation decks.

use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Surroundings;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// How many such incasts, each on hosts of its own. Default 1.
    #[serde(default = "one")]
    pub sets: u32,
    /// Senders to each receiver.
    pub senders: u32,
    /// Size of each sender's one flow. Default without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// When all senders start. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

fn one() -> u32 {
    1
}

impl Spec {
    /// Hosts of one set: the senders and the receiver.
    pub fn hosts_per_set(&self) -> u64 {
        u64::from(self.senders) + 1
    }

    pub(super) fn hosts(&self) -> u64 {
        u64::from(self.sets).saturating_mul(self.hosts_per_set())
    }

    fn all_flows(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.senders)
    }

    pub(super) fn ending_flows(&self) -> u64 {
        if self.bytes.is_some() { self.all_flows() } else { 0 }
    }

    pub(super) fn persistent_flows(&self) -> u64 {
        if self.bytes.is_none() { self.all_flows() } else { 0 }
    }

    pub(super) fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let bytes = self.bytes.map_or(FlowSpec::PERSISTENT, |bytes| bytes.0);
        let start = Instant::ZERO + self.start;
        let workload = around.number;
        let sets = around.hosts.chunks_exact(self.hosts_per_set() as usize);
        let flows = sets.flat_map(|set| {
            let (&dst, senders) = set.split_first().expect("a set has its receiver");
            senders.iter().map(move |&src| FlowSpec {
                src,
                dst,
                bytes,
                start,
                stop: Instant::NEVER,
                workload,
                in_turn: false,
            })
        });
        flows.collect()
    }
}
