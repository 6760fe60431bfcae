//! Clusters whose members send to each other: to any other member with equal probability, flows
//! arriving at each sender as a Poisson process.
//!
//! The load is that of a sender: payload bytes per second over the rate of the host's link. With
//! a mean flow size of S bytes, flows arrive every 8 S / (load x rate) seconds on average.
//! Headers, preamble and gap come on top: at 1024 bytes per packet, a load of 0.30 keeps a
//! 100 Gb/s link busy for 0.324 of the time.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::units::PS_PER_S;
use floodway_model::{Duration, FlowSpec, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::{size_fields, with_sizes};
use super::{Demand, Distribution, Parameters, Ready, Surroundings, Workload};
use crate::check::Problems;
use crate::document::Document;

with_sizes! {
    /// Parameters.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Spec {
        /// Clusters.
        pub clusters: u32,
        /// Hosts in each cluster, at least 2.
        pub cluster_size: u32,
        /// Payload that each host offers, as a part of its link's rate, above 0 and at most 1.
        pub load: f64,
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.weight("load", self.load, "it is the part of each host's link that payload takes");
        findings.range("clusters", self.clusters, 1.., "");
        findings.range(
            "cluster_size",
            self.cluster_size,
            2..,
            "the hosts of a cluster send to each other",
        );
    }
}

impl Parameters for Spec {
    fn ready(
        &self,
        path: &str,
        _settings: &Document,
        findings: &mut Problems<'_>,
    ) -> Option<Ready> {
        let sizes = self.distribution(path, findings)?;
        Some(Arc::new(Sized { spec: self.clone(), sizes }))
    }
}

/// With its sizes read.
#[derive(Debug)]
struct Sized {
    spec: Spec,
    sizes: Distribution,
}

impl Sized {
    /// Flows per second of one sender.
    fn arrival_rate(&self, rate: Rate) -> f64 {
        self.spec.load * rate.0 as f64 / (8.0 * self.sizes.mean())
    }
}

impl Workload for Sized {
    fn hosts(&self) -> u64 {
        u64::from(self.spec.clusters) * u64::from(self.spec.cluster_size)
    }

    fn takes(&self) -> (String, &'static str) {
        let size = self.spec.cluster_size;
        let what = match self.spec.clusters {
            1 => format!("a cluster of {size}"),
            clusters => format!("{clusters} clusters of {size}"),
        };
        (what, "clusters")
    }

    fn load(&self) -> Option<f64> {
        Some(self.spec.load)
    }

    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let mut flows = Vec::new();
        let size = self.spec.cluster_size as usize;
        for cluster in around.hosts.chunks_exact(size) {
            for (place, &src) in cluster.iter().enumerate() {
                let mut rng = around.stream_of(src);
                let gap_ps = PS_PER_S as f64 / self.arrival_rate(around.rate(src));
                let mut now_ps = 0.0;
                loop {
                    now_ps += rng.exponential(gap_ps);
                    if now_ps >= around.arrivals.0 as f64 {
                        break;
                    }
                    // Uniform among the others: the member after it, the second after it, ...
                    let step = 1 + rng.below(size as u64 - 1) as usize;
                    let dst = cluster[(place + step) % size];
                    let bytes = self.sizes.sample(rng.unit());
                    flows.push(around.message(src, dst, bytes, Duration(now_ps as u64)));
                }
            }
        }
        flows
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        let per_second = |&host| self.arrival_rate(around.rate(host));
        around.hosts.iter().map(per_second).sum::<f64>() * around.arrivals.as_secs()
    }

    fn largest_flow(&self) -> u64 {
        self.sizes.largest()
    }

    fn size_fields(&self) -> Vec<String> {
        size_fields()
    }

    fn demands(&self, around: Surroundings<'_>) -> Vec<Demand> {
        let clusters = around.hosts.chunks_exact(self.spec.cluster_size as usize);
        let load = self.spec.load;
        let demand = |cluster: &[NodeId]| Demand {
            from: cluster.iter().map(|&src| (src, load * around.rate(src).0 as f64)).collect(),
            to: cluster.to_vec(),
        };
        clusters.map(demand).collect()
    }
}
