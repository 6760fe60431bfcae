//! Remote procedure calls in a closed loop: a client has so many calls under way, and begins the next
//! when a response has come and it has thought about it. What a network does to calls it does to
//! their number too: on an idle one each of N loops makes a call every round trip.
//!
//! How many calls there will be is not known before, so there are as many as there could be if each
//! took no longer than light and the slowest link on the way make it take; those for which there is
//! no time never begin. They take memory all the same: about 700 bytes for a request and as much for
//! its response.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::graph::Attachment;
use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, FlowSpec, Instant, NodeId, PortIx, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distribution, Ends, Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::{Problems, sizes};
use crate::document::Document;

/// Parameters. Every request and every response is a flow of its own, with a congestion control that
/// begins anew. Hosts are named: none is taken from the order of placement, and flows may run on hosts
/// of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Hosts that call, by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or
    /// "left" or "right" for all on that side of a dumbbell. Default all.
    #[serde(default = "Hosts::all")]
    pub clients: Hosts,
    /// Hosts that answer likewise; each call goes to one drawn at random among the others. Default
    /// all.
    #[serde(default = "Hosts::all")]
    pub servers: Hosts,
    /// Calls that a client has under way. Default 1.
    #[serde(default = "one")]
    pub outstanding: u32,
    /// Sizes of requests: the name of a built-in distribution, one size like "64KB", an exponential
    /// distribution by its mean, least and most like "exponential(8000B, 46B, 64KB)" (the mean is
    /// that without the bounds; what is outside of them is drawn again), or a CSV file of
    /// `size_bytes,cdf`, its path relative to the scenario file.
    pub request: String,
    /// Sizes of responses likewise.
    pub response: String,
    /// Time from the arrival of a request to when its response begins. Default 0ns.
    #[serde(default)]
    pub service: Duration,
    /// Time from the arrival of a response to the next call, exponential with this mean. Default 0ns:
    /// at once.
    #[serde(default)]
    pub think: Duration,
    /// When the first calls begin; none begins when the arrivals are over. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// Each first call begins later by a time between zero and this, drawn anew in every replication,
    /// so that clients are not in step. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let why = "or remove the workload";
        findings.range("outstanding", self.outstanding, 1..=MOST_OUTSTANDING, why);
        findings.within_a_run("service", self.service);
        findings.within_a_run("think", self.think);
    }
}

fn one() -> u32 {
    1
}

/// Calls that one client has under way. Each is a chain of flows.
const MOST_OUTSTANDING: u32 = 1_000_000;

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let [request, response] = [("request", &self.request), ("response", &self.response)]
            .map(|(field, written)| sizes::check(path, field, written, None, None, findings));
        let findings = &mut findings.within(path);
        if check::starts(self.start, false, settings, findings) {
            check::jitter(self.jitter, settings.arrivals - self.start, findings);
        }
        let fields = ["clients", "servers"];
        let ends = check::ends(fields, [&self.clients, &self.servers], settings, findings)?;
        check::receivers(fields, &ends, findings);
        Some(Arc::new(Sized { spec: self.clone(), ends, request: request?, response: response? }))
    }
}

/// With its sizes read and its hosts found.
#[derive(Debug)]
struct Sized {
    spec: Spec,
    ends: Ends,
    request: Distribution,
    response: Distribution,
}

/// A way as an idle network has it.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// All delays, and the shortest frame on every link.
    shortest: Duration,
    delays: Duration,
    slowest: Rate,
}

/// The way of requests, and that of responses.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    pub(super) there: Way,
    pub(super) back: Way,
}

impl Ways {
    pub(super) fn between(around: &Surroundings<'_>, src: NodeId, dst: NodeId) -> Self {
        Self::by(around, &around.graph.path(src, dst).unwrap_or_default())
    }

    fn by(around: &Surroundings<'_>, path: &[(NodeId, PortIx)]) -> Self {
        let graph = around.graph;
        let links = || path.iter().map(|(node, port)| &graph.node(*node).ports[port.index()]);
        Self {
            there: Way::of(links().map(|link| (link.rate, link))),
            back: Way::of(links().map(|link| (graph.rate_to(link), link))),
        }
    }
}

impl Way {
    /// Over these links at these rates.
    fn of<'a>(links: impl Iterator<Item = (Rate, &'a Attachment)> + Clone) -> Self {
        let delays = links.clone().map(|(_, link)| link.delay).sum::<Duration>();
        let frame = |(rate, link): (Rate, &Attachment)| {
            rate.time_for(Bytes(link.on_wire(SHORTEST_FRAME, 0)))
        };
        Self {
            shortest: delays + links.clone().map(frame).sum::<Duration>(),
            delays,
            slowest: links.map(|(rate, _)| rate).min().unwrap_or_default(),
        }
    }

    /// No message of this size takes less time.
    pub(super) fn least(&self, bytes: u64) -> Duration {
        self.shortest.max(self.delays + self.slowest.time_for(Bytes(bytes)))
    }
}

impl Sized {
    /// The servers that a client may call.
    fn servers(&self, client: u32) -> Vec<u32> {
        self.ends.receivers(client).collect()
    }
}

impl Workload for Sized {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let Spec { outstanding, service, think, start, jitter, .. } = self.spec;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let stop = Instant::ZERO + around.arrivals;
        let mut traffic = Traffic::default();
        for &number in &self.ends.from {
            let client = hosts[number as usize];
            let mut rng = around.stream_of(client);
            let servers = self.servers(number);
            let mut ways = BTreeMap::new();
            for _ in 0..outstanding {
                let begin = start + Duration(rng.below(jitter.0 + 1));
                let (mut earliest, mut before) = (Instant::ZERO + begin, None);
                let mut thought = Duration::ZERO;
                while earliest < stop {
                    let server = hosts[servers[rng.below(servers.len() as u64) as usize] as usize];
                    let Ways { there, back } = *ways
                        .entry(server)
                        .or_insert_with(|| Ways::between(&around, client, server));
                    let (asked, answered) =
                        (self.request.sample(rng.unit()), self.response.sample(rng.unit()));
                    let request = around.message(client, server, asked, begin);
                    let response = around.message(server, client, answered, begin);
                    let request =
                        traffic.then(FlowSpec { stop, ..request }, before.as_slice(), thought);
                    let response = traffic.then(response, &[request], service);
                    traffic.operation([request, response]);
                    before = Some(response);
                    if think > Duration::ZERO {
                        thought = Duration(rng.exponential(think.0 as f64) as u64);
                    }
                    earliest =
                        earliest + there.least(asked) + service + back.least(answered) + thought;
                }
            }
        }
        traffic
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        let Spec { outstanding, service, think, start, .. } = self.spec;
        let left = Duration(around.arrivals.0.saturating_sub(start.0)).as_secs();
        let mean = |sizes: &Distribution| sizes.mean() as u64;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        // To the first server, in place of all; most clients have the same.
        let mut last = (u32::MAX, Vec::new());
        let calls = |&client: &u32| {
            let Some(server) = self.ends.receivers(client).next() else { return 0.0 };
            let to = hosts[server as usize];
            if last.0 != server {
                last = (server, around.graph.distances(to));
            }
            let path = around.graph.path_by(&last.1, hosts[client as usize], to);
            let ways = Ways::by(&around, &path.unwrap_or_default());
            // Of what is refused as too long the sum may be more than can be counted in picoseconds.
            let (asked, answered) = (mean(&self.request), mean(&self.response));
            let least = ways.there.least(asked).as_secs() + ways.back.least(answered).as_secs();
            left / (least + service.as_secs() + think.as_secs()) + 1.0
        };
        2.0 * f64::from(outstanding) * self.ends.from.iter().map(calls).sum::<f64>()
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.request.largest().max(self.response.largest())
    }

    fn size_fields(&self) -> Vec<String> {
        let larger = self.request.largest() > self.response.largest();
        vec![if larger { "request" } else { "response" }.to_owned()]
    }
}
