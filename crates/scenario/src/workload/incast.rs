//! Incast: many senders to one receiver, all at once. Without a size the flows never end: the
//! "permanent many to one" of the Congestion Isolation decks.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

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

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("sets", self.sets, 1.., "or remove the workload");
        findings.range("senders", self.senders, 1.., "");
        findings.positive("bytes", self.bytes, check::ENDLESS);
    }
}

fn one() -> u32 {
    1
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let remedy = "the run stops then: start earlier, or raise `limit`";
        findings.below(("start", self.start), ("/limit", settings.limit), remedy);
        check::measured(self.start, self.bytes.is_some(), settings, findings);
        Some(Arc::new(self.clone()))
    }

    fn all_have_sizes(&self) -> bool {
        self.bytes.is_some()
    }
}

impl Spec {
    /// Hosts of one set: the senders and the receiver.
    pub fn hosts_per_set(&self) -> u64 {
        u64::from(self.senders) + 1
    }

    fn all_flows(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.senders)
    }
}

impl Workload for Spec {
    fn hosts(&self) -> u64 {
        u64::from(self.sets).saturating_mul(self.hosts_per_set())
    }

    fn takes(&self) -> (String, &'static str) {
        let what = match self.sets {
            1 => format!("an incast of {}:1", self.senders),
            sets => format!("{sets} incasts of {}:1", self.senders),
        };
        (what, "senders")
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        if self.bytes.is_some() { self.all_flows() as f64 } else { 0.0 }
    }

    fn persistent_flows(&self) -> u64 {
        if self.bytes.is_none() { self.all_flows() } else { 0 }
    }

    fn is_finite(&self) -> bool {
        self.bytes.is_some()
    }

    fn largest_flow(&self) -> u64 {
        self.bytes.map_or(0, |bytes| bytes.0)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }

    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let bytes = self.bytes.map_or(FlowSpec::PERSISTENT, |bytes| bytes.0);
        let sets = around.hosts.chunks_exact(self.hosts_per_set() as usize);
        let flows = sets.flat_map(|set| {
            let (&dst, senders) = set.split_first().expect("a set has its receiver");
            senders.iter().map(move |&src| around.message(src, dst, bytes, self.start))
        });
        flows.collect()
    }
}
