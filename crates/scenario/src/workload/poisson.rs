//! Flows with sizes between hosts that are named, arriving as one Poisson process: each goes from
//! a sender drawn at random to a receiver drawn at random among the others.
//!
//! The load is a part of the rate of a link that all flows share, in payload. With a mean size of
//! S bytes, flows arrive every 8 S / (load x rate) seconds on average: of 100 KB at a load of 0.5
//! of 40 Mb/s, every 40 ms.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::units::PS_PER_S;
use floodway_model::{Duration, FlowSpec, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::{size_fields, with_sizes};
use super::{Demand, Distribution, Ends, Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;
use crate::ports;

with_sizes! {
    /// Parameters. How often flows arrive is said by `load` or by `flows_per_second`. Hosts are named:
    /// none is taken from the order of placement, and flows may run on hosts of other workloads.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Spec {
        /// Payload of all flows as a part of the rate `of`, above 0. Default none: `flows_per_second`
        /// says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub load: Option<f64>,
        /// The rate that `load` is a part of. Default that of the slowest link on the path from the
        /// first sender to the first receiver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub of: Option<Rate>,
        /// Flows that arrive per second, of all senders together. Default none: `load` says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub flows_per_second: Option<f64>,
        /// Senders by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or "left" or
        /// "right" for all on that side of a dumbbell. Default left.
        #[serde(default = "Hosts::left")]
        pub from: Hosts,
        /// Receivers likewise. Default right.
        #[serde(default = "Hosts::right")]
        pub to: Hosts,
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        match (self.load, self.flows_per_second) {
            (None, None) => findings.error(
                "",
                "nothing says how often flows arrive",
                "add `load`, a part of the bottleneck's rate such as 0.5, or `flows_per_second`",
            ),
            (Some(_), Some(_)) => findings.error(
                "flows_per_second",
                "both `load` and `flows_per_second` say how often flows arrive",
                "keep one of the two",
            ),
            _ => {}
        }
        let why = "it is the part of the bottleneck's rate that payload takes";
        findings.positive("load", self.load, why);
        findings.positive("flows_per_second", self.flows_per_second, "");
        findings.positive("of", self.of, "the load is a part of it, for example \"40Mbps\"");
        if self.of.is_some() && self.load.is_none() && self.flows_per_second.is_some() {
            let remedy = "remove it, or write `load` instead of `flows_per_second`";
            findings.error("of", "`of` is a rate that no `load` is a part of", remedy);
        }
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let sizes = self.distribution(path, findings);
        let findings = &mut findings.within(path);
        let ends = check::ends(["from", "to"], [&self.from, &self.to], settings, findings);
        let (sizes, ends) = (sizes?, ends?);
        check::receivers(["from", "to"], &ends, findings);
        Some(Arc::new(Sized { spec: self.clone(), sizes, ends }))
    }
}

/// With its sizes read and its hosts found.
#[derive(Debug)]
struct Sized {
    spec: Spec,
    sizes: Distribution,
    ends: Ends,
}

impl Sized {
    /// Flows per second.
    fn arrival_rate(&self, graph: &Graph) -> f64 {
        let Spec { load, of, flows_per_second, .. } = self.spec;
        flows_per_second.unwrap_or_else(|| {
            let of = of.unwrap_or_else(|| slowest(graph, &self.ends));
            load.unwrap_or(0.0) * of.0 as f64 / (8.0 * self.sizes.mean())
        })
    }
}

impl Workload for Sized {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let Self { sizes, ends, .. } = self;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        // By number of a host: its place among the receivers, if it has one.
        let mut places = vec![None; hosts.len()];
        (0..).zip(&ends.to).for_each(|(place, &dst)| places[dst as usize] = Some(place));
        let mut rng = around.stream();
        let gap_ps = PS_PER_S as f64 / self.arrival_rate(around.graph);
        let mut flows = Vec::new();
        let mut now_ps = 0.0;
        loop {
            now_ps += rng.exponential(gap_ps);
            if now_ps >= around.arrivals.0 as f64 {
                return flows;
            }
            let src = ends.from[rng.below(ends.from.len() as u64) as usize];
            let own_place = places[src as usize];
            let others = ends.to.len() - usize::from(own_place.is_some());
            let drawn = rng.below(others as u64) as usize;
            // The sender's own place is passed over.
            let place = drawn + usize::from(own_place.is_some_and(|own| drawn >= own));
            let (src, dst) = (hosts[src as usize], hosts[ends.to[place] as usize]);
            let bytes = sizes.sample(rng.unit());
            flows.push(around.message(src, dst, bytes, Duration(now_ps as u64)));
        }
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        self.arrival_rate(around.graph) * around.arrivals.as_secs()
    }

    fn largest_flow(&self) -> u64 {
        self.sizes.largest()
    }

    fn size_fields(&self) -> Vec<String> {
        size_fields()
    }

    fn offers(&self) -> Option<&'static str> {
        Some(if self.spec.load.is_some() { "load" } else { "flows_per_second" })
    }

    fn demands(&self, around: Surroundings<'_>) -> Vec<Demand> {
        let Self { sizes, ends, .. } = self;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let offered = self.arrival_rate(around.graph) * 8.0 * sizes.mean();
        let of_one = offered / ends.from.len() as f64;
        let from = ends.from.iter().map(|&src| (hosts[src as usize], of_one)).collect();
        vec![Demand { from, to: ends.to.iter().map(|&dst| hosts[dst as usize]).collect() }]
    }
}

/// The slowest link on the way from the first sender to the first receiver.
fn slowest(graph: &Graph, ends: &Ends) -> Rate {
    let hosts: Vec<NodeId> = graph.first_ports().collect();
    let path = ends
        .first()
        .and_then(|(src, dst)| ports::path(graph, hosts[src as usize], hosts[dst as usize]))
        .unwrap_or_default();
    let rates = path.iter().map(|(node, port)| graph.node(*node).ports[port.index()].rate);
    rates.min().unwrap_or_default()
}
