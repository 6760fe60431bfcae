//! Pings: a client sends a small request at an interval, and the server echoes it as soon as it has
//! arrived. Beside other traffic they measure the latency that a user has under load.
//!
//! Every request and every echo is a flow of its own. They are datagrams of UDP unless their workload has another
//! transport, so a lost one stays lost, and the next ping is sent at its time whatever became of the one before.
//! Where flows are hashed into queues, every ping is hashed anew, as the connections of `curl` are, while a socket
//! that stays open would share a queue with a download always or never.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Duration, FlowSpec, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ends, Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. The n-th of `clients` pings the n-th of `servers`, from the beginning again where that list ends.
/// Hosts are named: none is taken from the order of placement, and pings may run on hosts of other workloads. They are
/// sent over UDP unless the workload has a transport of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that send requests, by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or
    /// "left" or "right" for all on that side of a dumbbell. Default right: the homes, where flows go from left to
    /// right by default.
    #[serde(default = "Hosts::right")]
    pub clients: Hosts,
    /// Hosts that echo them likewise. Default left.
    #[serde(default = "Hosts::left")]
    pub servers: Hosts,
    /// Time between two requests of a client. Default 200ms (the step of flent).
    #[serde(default = "interval")]
    pub interval: Duration,
    /// Payload of a request and of its echo. Default 56B (ping(8): with the headers of ICMP or UDP and IP 84 bytes).
    #[serde(default = "payload")]
    pub payload: Bytes,
    /// When the first request is sent, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// From when on no request is sent. Default the end of the arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Each client starts later by a time between zero and this, drawn anew in every replication, so
    /// that pings of several workloads are not in step. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
}

fn interval() -> Duration {
    Duration::from_ms(200)
}

fn payload() -> Bytes {
    Bytes(56)
}

/// The largest payload of a UDP datagram over IPv4 (RFC 768, RFC 791).
const LARGEST: Bytes = Bytes(65_507);

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("interval", self.interval, "for example \"200ms\"");
        findings.within_a_run("interval", self.interval);
        const USUAL: &str = "ping(8) has 56B";
        findings.positive("payload", self.payload, USUAL);
        if self.payload > LARGEST {
            let message =
                format!("`payload` is {}, and a datagram has at most {LARGEST}", self.payload);
            findings.error(["payload", "", ""], message, USUAL);
        }
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let fields = ["clients", "servers"];
        let ends = check::ends(fields, [&self.clients, &self.servers], settings, findings);
        if let Some(ends) = &ends {
            check::others(ends, "ping", findings);
        }
        let (start, arrivals) = (self.start, settings.arrivals);
        if check::starts(start, false, settings, findings)
            && check::stops(self.stop, start, false, findings)
        {
            let end = self.stop.map_or(arrivals, |stop| stop.min(arrivals));
            check::jitter(self.jitter, end - start, findings);
        }
        Some(Arc::new(Placed { spec: self.clone(), ends: ends? }))
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    ends: Ends,
}

impl Placed {
    /// From when on no request is sent.
    fn end(&self, arrivals: Duration) -> Duration {
        self.spec.stop.map_or(arrivals, |stop| stop.min(arrivals))
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let Spec { interval, payload, start, jitter, .. } = self.spec;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let end = self.end(around.arrivals);
        let mut rng = around.stream();
        let mut traffic = Traffic::default();
        for (client, server) in self.ends.cycled() {
            let [client, server] = [client, server].map(|number| hosts[number as usize]);
            let mut at = start + Duration(rng.below(jitter.0 + 1));
            while at < end {
                let request = around.message(client, server, payload.0, at);
                let echo = around.message(server, client, payload.0, at);
                traffic.ping(request, echo);
                at += interval;
            }
        }
        traffic
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        let left = self.end(around.arrivals).0.saturating_sub(self.spec.start.0) as f64;
        let each = left / self.spec.interval.0.max(1) as f64 + 1.0;
        2.0 * each * self.ends.from.len() as f64
    }

    fn times_flows(&self) -> bool {
        false
    }

    fn largest_flow(&self) -> u64 {
        self.spec.payload.0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["payload".to_owned()]
    }
}
