//! Workloads: families of traffic, each turned into a list of flows from a few numbers, the
//! hosts it runs on, and chance.
//!
//! Each workload has hosts of its own, or with `share_hosts` all have the same; some name theirs by
//! number instead, whatever the others have. Every workload has
//! random streams of its own, one or one per host, named after its number, so variants of a
//! scenario send the same flows and a change to one workload leaves the others as they are.

pub mod builtin;
pub mod distribution;
mod entry;
pub mod exponential;
pub mod file;
mod hosts;
pub mod incast;
pub mod incast_series;
pub mod list;
pub mod long_flows;
pub mod many_to_many;
pub mod poisson;
pub mod saturated;

use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, FlowSpec, Graph, NodeId, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, Sampling};
pub(crate) use entry::BESIDE;
pub use entry::Entry;
pub use hosts::{Ends, Hosts, Part, Unknown};

use crate::document::Document;

floodway_model::family! {
    /// What hosts send.
    "workload":
    ManyToMany = "many_to_many" (many_to_many::Spec):
        "Clusters whose members send to each other at random: Poisson arrivals at a given load.",
    Incast = "incast" (incast::Spec):
        "Many senders to one receiver, once or without end.",
    IncastSeries = "incast_series" (incast_series::Spec):
        "Incast after incast among the same hosts: Poisson arrivals at a given load.",
    List = "list" (list::Spec): "Flows written out one by one.",
    File = "file" (file::Spec):
        "Flows from a file: CSV, Parquet, or those of the HPCC simulator and htsim.",
    LongFlows = "long_flows" (long_flows::Spec):
        "A number of flows without a size between hosts that are named.",
    Poisson = "poisson" (poisson::Spec):
        "Flows with sizes between hosts that are named: Poisson arrivals, by load or number.",
    Saturated = "saturated" (saturated::Spec):
        "Message after message between hosts that are named, as fast as they leave.",
}

/// In which order hosts are given to the workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// At random, anew in every replication.
    #[default]
    Random,
    /// In order of their numbers.
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
    /// As written.
    IncastSeries(incast_series::Spec),
    /// As written, or as read from a file.
    List(list::Spec),
    /// With its hosts found.
    LongFlows(long_flows::Spec, Ends),
    /// With its sizes read and its hosts found.
    Poisson(poisson::Spec, Distribution, Ends),
    /// With its sizes read and its hosts found.
    Saturated(saturated::Spec, Distribution, Ends),
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
    /// The most that a host's NIC takes before it sends it.
    pub memory: Bytes,
    /// Decides every random choice.
    pub seed: u64,
}

impl Surroundings<'_> {
    /// The rate of a host's link.
    pub fn rate(&self, host: NodeId) -> Rate {
        self.graph.node(host).ports[0].rate
    }

    /// The random stream of a host in this workload.
    pub fn stream_of(&self, host: NodeId) -> Stream {
        Stream::named(self.seed, &format!("workload {} host {}", self.number, host.0))
    }

    /// The random stream of this workload as a whole.
    pub fn stream(&self) -> Stream {
        Stream::named(self.seed, &format!("workload {}", self.number))
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
    /// How many hosts it takes from the order of placement.
    pub fn hosts(&self) -> u64 {
        match self {
            Self::ManyToMany(spec, _) => spec.hosts(),
            Self::Incast(spec) => spec.hosts(),
            Self::IncastSeries(spec) => spec.hosts(),
            Self::List(_) | Self::LongFlows(..) | Self::Poisson(..) | Self::Saturated(..) => 0,
        }
    }

    /// Its flows, in no particular order.
    pub fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        match self {
            Self::ManyToMany(spec, sizes) => spec.flows(sizes, around),
            Self::Incast(spec) => spec.flows(around),
            Self::IncastSeries(spec) => spec.flows(around),
            Self::List(spec) => spec.flows(around),
            Self::LongFlows(spec, ends) => spec.flows(ends, around),
            Self::Poisson(spec, sizes, ends) => spec.flows(sizes, ends, around),
            Self::Saturated(spec, sizes, ends) => spec.flows(sizes, ends, around),
        }
    }

    /// How many flows with a size are expected; of a saturated workload all that may begin.
    pub fn expected_flows(&self, around: Surroundings<'_>) -> f64 {
        match self {
            Self::ManyToMany(spec, sizes) => spec.expected_flows(sizes, around),
            Self::Incast(spec) => spec.ending_flows() as f64,
            Self::IncastSeries(spec) => spec.expected_flows(around),
            Self::List(spec) => spec.ending_flows() as f64,
            Self::LongFlows(..) => 0.0,
            Self::Poisson(spec, sizes, ends) => spec.expected_flows(sizes, ends, around),
            Self::Saturated(spec, sizes, ends) => spec.expected_flows(sizes, ends, around),
        }
    }

    /// How many flows have no size: they have an end in time or none, and never complete.
    pub fn persistent_flows(&self) -> u64 {
        match self {
            Self::ManyToMany(..)
            | Self::IncastSeries(_)
            | Self::Poisson(..)
            | Self::Saturated(..) => 0,
            Self::Incast(spec) => spec.persistent_flows(),
            Self::List(spec) => spec.persistent_flows(),
            Self::LongFlows(spec, ends) => spec.flow_count(ends),
        }
    }

    /// The largest size of a flow in bytes; 0 if none has a size.
    pub fn largest_flow(&self) -> u64 {
        match self {
            Self::ManyToMany(_, sizes) => sizes.largest(),
            Self::Incast(spec) => spec.bytes.map_or(0, |bytes| bytes.0),
            Self::IncastSeries(spec) => spec.bytes.0,
            Self::List(spec) => spec.largest_flow(),
            Self::LongFlows(..) => 0,
            Self::Poisson(_, sizes, _) | Self::Saturated(_, sizes, _) => sizes.largest(),
        }
    }

    /// Whether how much a NIC takes decides how many flows it has.
    pub fn fills_memory(&self) -> bool {
        matches!(self, Self::Saturated(..))
    }

    /// Its steady traffic, pair by pair. Single incasts, flows of a list, flows without a size and
    /// saturated hosts are none: they send as fast as they may.
    pub fn demands(&self, around: Surroundings<'_>) -> Vec<Demand> {
        match self {
            Self::ManyToMany(spec, _) => spec.demands(around),
            Self::IncastSeries(spec) => spec.demands(around),
            Self::Poisson(spec, sizes, ends) => spec.demands(sizes, ends, around),
            Self::Incast(_) | Self::List(_) | Self::LongFlows(..) | Self::Saturated(..) => {
                Vec::new()
            }
        }
    }
}

/// The flows of all workloads, in order of start, then of sender and receiver; flows in turn keep
/// the order in which their workload has them.
pub fn flows(workloads: &[Ready], settings: &Document, graph: &Graph, seed: u64) -> Vec<FlowSpec> {
    let order = settings.placement.order(graph, seed);
    let mut flows = Vec::new();
    for (workload, around) in surroundings(workloads, settings, graph, &order, seed) {
        flows.extend(workload.flows(around));
    }
    flows.sort_by_key(|flow| (flow.start, flow.src, (!flow.in_turn).then_some(flow.dst)));
    flows
}

/// The most that a NIC takes before it sends it, of all classes.
pub fn memory(settings: &Document) -> Bytes {
    let of_class = settings.host.memory.map_or(0, |memory| memory.0);
    Bytes(of_class.saturating_mul(settings.switch.queue.count.into()))
}

/// Every workload with its part of `order`: the beginning if hosts are shared, else what follows
/// the parts of the workloads before it.
pub fn surroundings<'a>(
    workloads: &'a [Ready],
    settings: &'a Document,
    graph: &'a Graph,
    order: &'a [NodeId],
    seed: u64,
) -> impl Iterator<Item = (&'a Ready, Surroundings<'a>)> {
    let arrivals = settings.arrivals;
    let memory = memory(settings);
    let mut rest = order;
    workloads.iter().enumerate().map(move |(number, workload)| {
        let (hosts, after) = rest.split_at(workload.hosts() as usize);
        if !settings.share_hosts {
            rest = after;
        }
        (workload, Surroundings { graph, number: number as u16, hosts, arrivals, memory, seed })
    })
}
