//! Workloads: families of traffic, each turned into a list of flows from a few numbers, the
//! hosts it runs on, and chance.
//!
//! The hosts of all workloads are disjoint. Every host has a random stream of its own, named
//! after its workload and itself, so variants of a scenario send the same flows and a change to
//! one workload leaves the others as they are.

pub mod builtin;
pub mod distribution;
pub mod incast;
pub mod many_to_many;

use floodway_model::random::Stream;
use floodway_model::{Duration, FlowSpec, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, Sampling};

floodway_model::family! {
    /// What hosts send.
    "workload":
    ManyToMany = "many_to_many" (many_to_many::Spec):
        "Clusters whose members send to each other at random: Poisson arrivals at a given load.",
    Incast = "incast" (incast::Spec):
        "Many senders to one receiver, once or without end.",
}

/// Which hosts a workload gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Hosts drawn at random, others in every replication.
    #[default]
    Random,
    /// Hosts in order of their numbers.
    Consecutive,
}

impl Placement {
    /// All hosts in the order in which workloads take them.
    pub fn order(self, graph: &Graph, seed: u64) -> Vec<NodeId> {
        let mut hosts: Vec<_> = graph.hosts().collect();
        if self == Self::Random {
            Stream::named(seed, "placement").shuffle(&mut hosts);
        }
        hosts
    }
}

/// A workload that is ready to make flows.
#[derive(Clone, Debug, PartialEq)]
pub enum Ready {
    /// With its sizes read.
    ManyToMany(many_to_many::Spec, Distribution),
    /// As written.
    Incast(incast::Spec),
}

/// What a workload needs to know of its scenario.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The network.
    pub graph: &'a Graph,
    /// Which workload it is, from 0.
    pub number: u16,
    /// The hosts that it has, as many as [`Ready::hosts`] says.
    pub hosts: &'a [NodeId],
    /// The time during which flows start.
    pub arrivals: Duration,
    /// Decides every random choice.
    pub seed: u64,
}

impl Surroundings<'_> {
    /// The rate of a host's link.
    pub fn rate(&self, host: NodeId) -> Rate {
        self.graph.node(host).ports[0].rate
    }

    /// The random stream of a host in this workload.
    pub fn stream(&self, host: NodeId) -> Stream {
        Stream::named(self.seed, &format!("workload {} host {}", self.number, host.0))
    }
}

/// Traffic from one host to another that is expected in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host.
    pub dst: NodeId,
    /// Payload in bits per second.
    pub rate: f64,
}

impl Ready {
    /// How many hosts it runs on.
    pub fn hosts(&self) -> u64 {
        match self {
            Self::ManyToMany(spec, _) => spec.hosts(),
            Self::Incast(spec) => spec.hosts(),
        }
    }

    /// Its flows, in no particular order.
    pub fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        match self {
            Self::ManyToMany(spec, sizes) => spec.flows(sizes, around),
            Self::Incast(spec) => spec.flows(around),
        }
    }

    /// How many flows that end are expected.
    pub fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        match self {
            Self::ManyToMany(spec, sizes) => spec.expected_flows(sizes, around),
            Self::Incast(spec) => spec.ending_flows() as f64,
        }
    }

    /// How many flows never end.
    pub fn persistent_flows(&self) -> u64 {
        match self {
            Self::ManyToMany(..) => 0,
            Self::Incast(spec) => spec.persistent_flows(),
        }
    }

    /// The largest flow that ends, in bytes; 0 if none does.
    pub fn largest_flow(&self) -> u64 {
        match self {
            Self::ManyToMany(_, sizes) => sizes.largest(),
            Self::Incast(spec) => spec.bytes.map_or(0, |bytes| bytes.0),
        }
    }

    /// Its steady traffic, pair by pair. Incasts have none: they send as fast as they may.
    pub fn demands(&self, around: Surroundings<'_>) -> Vec<Demand> {
        match self {
            Self::ManyToMany(spec, _) => spec.demands(around),
            Self::Incast(_) => Vec::new(),
        }
    }
}

/// The flows of all workloads, in order of start, then of sender and receiver.
pub fn flows(
    workloads: &[Ready],
    graph: &Graph,
    placement: Placement,
    arrivals: Duration,
    seed: u64,
) -> Vec<FlowSpec> {
    let order = placement.order(graph, seed);
    let mut flows = Vec::new();
    for (workload, around) in surroundings(workloads, graph, &order, arrivals, seed) {
        flows.extend(workload.flows(around));
    }
    flows.sort_by_key(|flow| (flow.start, flow.src, flow.dst));
    flows
}

/// Every workload with its share of `order`.
pub fn surroundings<'a>(
    workloads: &'a [Ready],
    graph: &'a Graph,
    order: &'a [NodeId],
    arrivals: Duration,
    seed: u64,
) -> impl Iterator<Item = (&'a Ready, Surroundings<'a>)> {
    let mut rest = order;
    workloads.iter().enumerate().map(move |(number, workload)| {
        let (hosts, after) = rest.split_at(workload.hosts() as usize);
        rest = after;
        (workload, Surroundings { graph, number: number as u16, hosts, arrivals, seed })
    })
}
