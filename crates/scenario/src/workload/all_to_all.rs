//! All to all: every host sends a message to every other, once. It is the shuffle of a distributed
//! computation, and the exchange of tokens between the experts of a model.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Collective, CollectiveKind, Duration, FlowId, FlowSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// What a message takes in memory that begins when others have been handed over, in bytes (measured).
const OF_ONE_THAT_ENDED: f64 = 130.0;

/// What a message takes that begins with all others, in bytes (measured).
const OF_ONE_AT_ONCE: f64 = 700.0;

/// Parameters. Hosts are named: none is taken from the order of placement, and flows may run on hosts
/// of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that send and receive, at least 2: by number, like "0-9" or "0, 2, 5-7", by name, like
    /// "host 0-9", or "all". Default all.
    #[serde(default = "Hosts::all")]
    pub hosts: Hosts,
    /// Size of each message.
    pub bytes: Bytes,
    /// In which order a host sends its messages. Default `shifted`.
    #[serde(default)]
    pub order: Order,
    /// How many messages a host sends at the same time: the next begins when all packets of one have
    /// left the host's memory. Default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// When it starts, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "it is the size of each message, for example \"64KB\"";
        findings.positive("bytes", self.bytes, why);
        findings.range("at_once", self.at_once, 1.., "remove it to send all at once");
    }
}

/// In which order a host sends its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The n-th host first to the one after it, then to the second after it and so on, from the
    /// beginning of the list again where it ends, so that hosts in step send to different ones.
    #[default]
    Shifted,
    /// At random, each host in an order of its own.
    Random,
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        check::starts(self.start, true, settings, findings);
        let hosts = check::several("hosts", &self.hosts, settings, findings)?;
        Some(Arc::new(Placed { spec: self.clone(), hosts }))
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    hosts: Vec<u32>,
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let Spec { bytes, start, order, at_once, .. } = self.spec;
        let hosts = around.named(&self.hosts);
        let at_once = at_once.map_or(hosts.len(), |count| count as usize);
        let mut traffic = Traffic::default();
        for (place, &src) in hosts.iter().enumerate() {
            let mut steps: Vec<usize> = (1..hosts.len()).collect();
            if order == Order::Random {
                around.stream_of(src).shuffle(&mut steps);
            }
            let first = traffic.flows.len();
            for (number, step) in steps.into_iter().enumerate() {
                let dst = hosts[(place + step) % hosts.len()];
                let after =
                    number.checked_sub(at_once).map(|before| FlowId((first + before) as u32));
                let message = around.message(src, dst, bytes.0, start);
                traffic.then(message, after.as_slice(), Duration::ZERO);
            }
        }
        // With the block of a host that stays with it.
        let (ranks, bytes) = (hosts.len() as u32, bytes.0.saturating_mul(hosts.len() as u64));
        traffic.collective(0, Collective { kind: CollectiveKind::AllToAll, ranks, bytes });
        traffic
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        let hosts = self.hosts.len() as f64;
        hosts * (hosts - 1.0)
    }

    /// Messages in a regular order take next to nothing before they begin, and are a row of a table when they have
    /// arrived.
    fn bytes_per_flow(&self) -> f64 {
        let ranks = self.hosts.len();
        let at_once = self.spec.at_once.map_or(ranks, |count| ranks.min(count as usize));
        match self.spec.order {
            Order::Shifted if ranks >= 2 => {
                let open = at_once as f64 / ranks as f64;
                OF_ONE_THAT_ENDED + open * (OF_ONE_AT_ONCE - OF_ONE_THAT_ENDED)
            }
            _ => OF_ONE_AT_ONCE,
        }
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.spec.bytes.0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }
}
