//! A permutation: every host sends to one other and receives from one other. A network without
//! contention carries it at full rate, so what is missing is due to the network.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. Hosts are named: none is taken from the order of placement, and flows may run on hosts
/// of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that send and receive, at least 2: by number, like "0-9" or "0, 2, 5-7", by name, like
    /// "host 0-9", or "all". Default all.
    #[serde(default = "Hosts::all")]
    pub hosts: Hosts,
    /// The n-th host sends to the one so many places after it, and from the beginning of the list
    /// again where it ends. Default none: to whom each sends is drawn at random, anew in every
    /// replication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<u32>,
    /// Size of each host's one message. Default without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// When all start, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// From when on flows without `bytes` send nothing new. Default without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("bytes", self.bytes, check::ENDLESS);
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        check::starts(self.start, self.bytes.is_some(), settings, findings);
        check::stops(self.stop, self.start, self.bytes.is_some(), findings);
        let hosts = check::several("hosts", &self.hosts, settings, findings)?;
        let count = hosts.len();
        if let Some(shift) = self.shift.filter(|&shift| (shift as usize).is_multiple_of(count)) {
            findings.error(
                "shift",
                format!("{shift} places after each of {count} hosts is itself"),
                format!("write a number from 1 to {}", count - 1),
            );
        }
        Some(Arc::new(Placed { spec: self.clone(), hosts }))
    }

    fn all_have_sizes(&self) -> bool {
        self.bytes.is_some()
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    hosts: Vec<u32>,
}

impl Placed {
    /// By place of the sender: that of its receiver.
    fn receivers(&self, around: Surroundings<'_>) -> Vec<usize> {
        let count = self.hosts.len();
        if let Some(shift) = self.spec.shift {
            return (0..count).map(|place| (place + shift as usize) % count).collect();
        }
        // Every order is equally likely, and so is every one in which no host keeps its place: about
        // one in e of all.
        let mut rng = around.stream();
        let mut places: Vec<usize> = (0..count).collect();
        loop {
            rng.shuffle(&mut places);
            if places.iter().enumerate().all(|(place, to)| place != *to) {
                return places;
            }
        }
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let Spec { bytes, start, stop, .. } = self.spec;
        let hosts = around.named(&self.hosts);
        let bytes = bytes.map_or(FlowSpec::PERSISTENT, |bytes| bytes.0);
        let stop = stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
        let pairs = hosts.iter().zip(self.receivers(around));
        pairs
            .map(|(&src, to)| FlowSpec { stop, ..around.message(src, hosts[to], bytes, start) })
            .collect()
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        if self.spec.bytes.is_some() { self.hosts.len() as f64 } else { 0.0 }
    }

    fn persistent_flows(&self) -> u64 {
        if self.spec.bytes.is_none() { self.hosts.len() as u64 } else { 0 }
    }

    fn is_finite(&self) -> bool {
        self.spec.bytes.is_some()
    }

    fn largest_flow(&self) -> u64 {
        self.spec.bytes.map_or(0, |bytes| bytes.0)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }
}
