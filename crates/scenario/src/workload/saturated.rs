//! Hosts that always have something to send: message after message, each begun when the one before
//! has left the source's memory, from the beginning until the arrivals end. What they are not able
//! to send is not sent later, so that the load follows what the network carries.

use std::sync::Arc;

use floodway_model::check::Check;
use floodway_model::{Duration, FlowSpec, Instant, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::{size_fields, with_sizes};
use super::{Distribution, Ends, Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

with_sizes! {
    /// Parameters. Every message is a flow of its own. Hosts are named: none is taken from the order of
    /// placement, and flows may run on hosts of other workloads.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Spec {
        /// Senders by number, like "0-9" or "0, 2, 5-7", "all", or "left" or "right" for all on that
        /// side of a dumbbell. Default all.
        #[serde(default = "Hosts::all")]
        pub from: Hosts,
        /// Receivers likewise. Default all.
        #[serde(default = "Hosts::all")]
        pub to: Hosts,
        /// To whom a host sends. Default `random`.
        #[serde(default)]
        pub towards: Towards,
    }
}

impl Check for Spec {}

/// Messages beyond what a sender can have sent: one that is on the wire when the arrivals end, one
/// that has begun after it, and one that never begins, which shows that there was always another.
const BEYOND: u32 = 3;

/// To whom a host sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Towards {
    /// Each message to a receiver drawn at random among the others.
    #[default]
    Random,
    /// Every message of the n-th sender to the receiver after the n-th, and from the beginning of
    /// the list again where it ends: with the same hosts in both lists a permutation, which a
    /// network without contention carries at full rate.
    Next,
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let sizes = self.distribution(path, findings);
        let findings = &mut findings.within(path);
        let ends = check::ends(["from", "to"], [&self.from, &self.to], settings, findings)?;
        check::receivers(["from", "to"], &ends, findings);
        let itself = |(place, src): &(usize, &u32)| self.partner(*place, &ends) == Some(**src);
        let itself = ends.from.iter().enumerate().find(itself).filter(|_| ends.to.len() > 1);
        if let Some((_, host)) = itself {
            findings.error(
                ["to", "from", "towards"],
                format!("host {host} would send to itself"),
                "the n-th of `from` sends to the one after the n-th of `to`: change their order, or \
                 write towards = \"random\"",
            );
        }
        Some(Arc::new(Sized { spec: self.clone(), sizes: sizes?, ends }))
    }
}

/// With its sizes read and its hosts found.
#[derive(Debug)]
struct Sized {
    spec: Spec,
    sizes: Distribution,
    ends: Ends,
}

impl Workload for Sized {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let Self { spec, sizes, ends } = self;
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let stop = Instant::ZERO + around.arrivals;
        let mut flows = Vec::new();
        for (place, &number) in ends.from.iter().enumerate() {
            let src = hosts[number as usize];
            let mut rng = around.stream_of(src);
            let (others, most): (Vec<u32>, u64) =
                (ends.receivers(number).collect(), most(src, around));
            let (mut sum, mut beyond) = (0, 0);
            while beyond < BEYOND {
                let dst = spec
                    .partner(place, ends)
                    .unwrap_or_else(|| others[rng.below(others.len() as u64) as usize]);
                let bytes = sizes.sample(rng.unit());
                sum += bytes;
                beyond += u32::from(sum > most);
                let message = around.message(src, hosts[dst as usize], bytes, Duration::ZERO);
                flows.push(FlowSpec { stop, in_turn: true, ..message });
            }
        }
        flows
    }

    fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        let messages =
            |src: &NodeId| most(*src, around) as f64 / self.sizes.mean() + f64::from(BEYOND);
        around.named(&self.ends.from).iter().map(messages).sum()
    }

    fn largest_flow(&self) -> u64 {
        self.sizes.largest()
    }

    fn size_fields(&self) -> Vec<String> {
        size_fields()
    }

    fn fills_memory(&self) -> bool {
        true
    }
}

impl Spec {
    /// The one receiver of the n-th sender, if it has only one.
    pub fn partner(&self, place: usize, ends: &Ends) -> Option<u32> {
        match self.towards {
            Towards::Random => None,
            Towards::Next => Some(ends.to[(place + 1) % ends.to.len()]),
        }
    }
}

/// More than a sender can hand over until the arrivals end: payload alone at the rate of its link,
/// and a NIC's memory full, in bytes.
fn most(src: NodeId, around: Surroundings<'_>) -> u64 {
    around.rate(src).bytes_in(around.arrivals).0.saturating_add(around.memory.0)
}
