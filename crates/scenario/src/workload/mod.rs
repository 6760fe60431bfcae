//! Workloads: families of traffic, each turned into a list of flows from a few numbers, the
//! hosts it runs on, and chance.
//!
//! Each workload has hosts of its own, or with `share_hosts` all have the same; some name theirs by
//! number instead, whatever the others have. Every workload has
//! random streams of its own, one or one per host, named after its number, so variants of a
//! scenario send the same flows and a change to one workload leaves the others as they are.

pub mod all_reduce;
pub mod all_to_all;
pub mod builtin;
pub mod chakra;
mod check;
pub mod collective;
pub mod distribution;
mod entry;
pub mod exponential;
pub mod file;
pub mod goal;
mod hosts;
pub mod incast;
pub mod incast_series;
pub mod linux;
pub mod list;
pub mod long_flows;
pub mod many_to_many;
pub mod permutation;
pub mod ping;
pub mod poisson;
pub mod rpc;
pub mod saturated;
mod sizes;
pub mod training;
pub mod voice;
pub mod web;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use floodway_model::random::Stream;
use floodway_model::{
    Bytes, Collective, Duration, FlowId, FlowSpec, Graph, Instant, NodeId, Operation, Page,
    Program, Progressions, Rate, Reuse, Trigger, Voice,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, Sampling};
pub(crate) use entry::BESIDE;
pub use entry::Entry;
pub use hosts::{Ends, Hosts, Part, Unknown};

use crate::check::Problems;
use crate::document::Document;
use crate::ports;

floodway_model::family! {
    /// What hosts send.
    "workload" as Parameters:
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
    Permutation = "permutation" (permutation::Spec):
        "Every host sends to one other and receives from one other.",
    AllToAll = "all_to_all" (all_to_all::Spec):
        "Every host sends a message to every other: the shuffle of a computation.",
    AllReduce = "all_reduce" (all_reduce::Spec):
        "The collective of training: a sum over all ranks that all of them have, by ring or tree.",
    Collective = "collective" (collective::Spec):
        "All-reduce, reduce-scatter, all-gather, broadcast or all-to-all, by the algorithms of NCCL and MPI.",
    Goal = "goal" (goal::Spec):
        "A job from a file of LogGOPSim or ATLAHS: what each rank computes, sends and receives.",
    Chakra = "chakra" (chakra::Spec):
        "A job from Chakra traces, a file per rank: what it computes, and in which collectives it takes part.",
    Training = "training" (training::Spec):
        "A training job by the shape of its model: data, tensor, pipeline and expert parallelism.",
    Rpc = "rpc" (rpc::Spec):
        "Requests and responses in a closed loop: the next request waits for the response.",
    Saturated = "saturated" (saturated::Spec):
        "Message after message between hosts that are named, as fast as they leave.",
    Ping = "ping" (ping::Spec):
        "A request and its echo at an interval: what latency other traffic leaves.",
    Voice = "voice" (voice::Spec):
        "Calls: packets at the interval of a codec in both directions, rated by the E-model.",
    Web = "web" (web::Spec):
        "Web pages, one after the other: TCP, TLS and HTTP, objects of a published model or by hand.",
    Linux = "linux" (linux::Spec):
        "Hosts that are Linux kernels, each with a command: for `floodway emulate`.",
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
        let mut hosts: Vec<_> = graph.first_ports().collect();
        if self == Self::Random {
            Stream::named(seed, "placement").shuffle(&mut hosts);
        }
        hosts
    }
}

/// The parameters of a workload, as they are written.
pub(crate) trait Parameters {
    /// Checks what needs no network; `path` is that of the parameters. What they are made into if
    /// that is possible: with their sizes read and their hosts found.
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready>;

    /// Whether none of its flows is without a size.
    fn all_have_sizes(&self) -> bool {
        true
    }

    /// Of a job that does the same several times, how often, and the field that says it.
    fn rounds(&self) -> Option<(u32, &'static str)> {
        None
    }

    /// The same job with so many rounds.
    fn with_rounds(&self, _rounds: u32) -> Option<Box<dyn Parameters>> {
        None
    }
}

/// A workload that is ready to make flows.
pub type Ready = Arc<dyn Workload>;

/// What a workload that is ready is asked.
pub trait Workload: fmt::Debug + Send + Sync {
    /// How many hosts it takes from the order of placement.
    fn hosts(&self) -> u64 {
        0
    }

    /// Of one that takes hosts: what needs so many, and the field that says it.
    fn takes(&self) -> (String, &'static str) {
        (String::new(), "")
    }

    /// A host that it names by number and a network of `hosts` hosts does not have, if that was not
    /// looked for when it was made ready: the path of the number below the parameters, and the
    /// number.
    fn unknown_hosts(&self, _hosts: u64) -> Vec<(String, u32)> {
        Vec::new()
    }

    /// Payload that each of its hosts offers, as a part of its link's rate, if it is said.
    fn load(&self) -> Option<f64> {
        None
    }

    /// The field that says how much is offered, if every link is to be asked whether it carries
    /// that.
    fn offers(&self) -> Option<&'static str> {
        None
    }

    /// Its flows, in no particular order.
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec>;

    /// Its flows, and which of them wait for each other or belong together.
    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        Traffic { flows: self.flows(around), ..Traffic::default() }
    }

    /// How many flows with a size are expected; of a saturated workload all that may begin.
    fn expected_flows(&self, around: Surroundings<'_>) -> f64;

    /// What a flow takes in memory, its place in the results included, in bytes (measured).
    fn bytes_per_flow(&self) -> f64 {
        700.0
    }

    /// Whether their completion times are measured, and not those of pings, calls or pages that they belong to.
    fn times_flows(&self) -> bool {
        true
    }

    /// How many flows have no size: they have an end in time or none, and never complete.
    fn persistent_flows(&self) -> u64 {
        0
    }

    /// If its flows are long-lived: between which hosts more of them would go, sender and receiver by number, in order and
    /// then from the beginning again. Empty for other workloads.
    fn long_pairs(&self) -> Vec<(u32, u32)> {
        Vec::new()
    }

    /// The largest size of a flow in bytes; 0 if none has a size.
    fn largest_flow(&self) -> u64;

    /// When the largest flow starts, if that is written in a file.
    fn largest_start(&self) -> Option<Duration> {
        None
    }

    /// Where it may be written how large that is, most telling first.
    fn size_fields(&self) -> Vec<String>;

    /// Whether how much it sends is given, at least of some flows, and neither a rate nor a time: it is
    /// measured until that has arrived.
    fn is_finite(&self) -> bool {
        false
    }

    /// Whether how much a NIC takes decides how many flows it has.
    fn fills_memory(&self) -> bool {
        false
    }

    /// Whether flows begin when others have arrived.
    fn waits_for_arrivals(&self) -> bool {
        false
    }

    /// The field that says that something begins when a message has been acknowledged, if so.
    fn waits_for_acknowledgements(&self) -> Option<&'static str> {
        None
    }

    /// Of a training job, what follows from the shape of its model; `name` is that of the workload in texts.
    fn training(&self, _name: String) -> Option<training::Numbers> {
        None
    }

    /// Its steady traffic, pair by pair. Single incasts, flows of a list, flows without a size and
    /// saturated hosts are none: they send as fast as they may.
    fn demands(&self, _around: Surroundings<'_>) -> Vec<Demand> {
        Vec::new()
    }
}

/// What is sent. Flows are known by their places in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Which of them begin after which others.
    pub triggers: Vec<Trigger>,
    /// Which of them are sent over the connections of others.
    pub reuses: Vec<Reuse>,
    /// Programs of ranks, which begin some of them.
    pub programs: Vec<Program>,
    /// Which of them are one thing to whoever waits for it, in order of their numbers.
    pub operations: Vec<Operation>,
    /// Workloads whose flows are numbered in the order in which they are here.
    pub in_order: BTreeSet<u16>,
}

impl Traffic {
    /// Adds a flow that begins a delay after each of these.
    fn then(&mut self, flow: FlowSpec, after: &[FlowId], delay: Duration) -> FlowId {
        let begins = FlowId(self.flows.len() as u32);
        self.flows.push(flow);
        self.triggers.extend(after.iter().map(|&after| Trigger { after, begins, delay }));
        begins
    }

    /// These flows are the next operation.
    fn operation(&mut self, flows: impl IntoIterator<Item = FlowId>) {
        let number = self.operations.len() as u32;
        self.operations.push(Operation::of(number, flows.into_iter().collect::<Progressions<_>>()));
    }

    /// The flows from this one on are the next operation, a collective.
    fn collective(&mut self, first: u32, collective: Collective) {
        self.operation((first..self.flows.len() as u32).map(FlowId));
        if let Some(operation) = self.operations.last_mut() {
            operation.collective = Some(collective);
        }
    }

    /// Adds a ping as the next operation: a request, and its echo as soon as it has arrived.
    fn ping(&mut self, request: FlowSpec, echo: FlowSpec) {
        let request = self.then(request, &[], Duration::ZERO);
        let echo = self.then(echo, &[request], Duration::ZERO);
        self.operation([request, echo]);
        self.operations.last_mut().into_iter().for_each(|operation| operation.ping = true);
    }

    /// Adds a call as the next operation: the flow of the host that calls, and that of the other.
    fn call(&mut self, up: FlowSpec, down: FlowSpec, voice: Voice) {
        let flows = [up, down].map(|flow| self.then(flow, &[], Duration::ZERO));
        self.operation(flows);
        self.operations.last_mut().into_iter().for_each(|operation| operation.voice = Some(voice));
    }

    /// The flows from this one on are the next operation, a page.
    fn page(&mut self, first: u32, page: Page) {
        self.operation((first..self.flows.len() as u32).map(FlowId));
        self.operations.last_mut().into_iter().for_each(|operation| operation.page = Some(page));
    }

    /// Adds what another workload sends.
    fn extend(&mut self, other: Self) {
        let offset = self.flows.len() as u32;
        let moved = |flow: FlowId| FlowId(flow.0 + offset);
        self.flows.extend(other.flows);
        self.in_order.extend(other.in_order);
        let others = (other.triggers, other.reuses, other.programs);
        self.rename(others, other.operations, moved);
    }

    fn rename(
        &mut self,
        (triggers, reuses, programs): (Vec<Trigger>, Vec<Reuse>, Vec<Program>),
        operations: Vec<Operation>,
        name: impl Fn(FlowId) -> FlowId,
    ) {
        self.programs.extend(programs.into_iter().map(|program| program.renamed(&name)));
        self.triggers.extend(triggers.into_iter().map(|Trigger { after, begins, delay }| {
            Trigger { after: name(after), begins: name(begins), delay }
        }));
        let reuses = reuses.into_iter();
        self.reuses
            .extend(reuses.map(|Reuse { flow, of }| Reuse { flow: name(flow), of: name(of) }));
        self.operations.extend(operations.into_iter().map(|operation| {
            let flows = operation.flows.each().map(&name).collect();
            Operation { flows, ..operation }
        }));
    }

    /// In order of start, then of sender and receiver; flows in turn, and those of workloads with
    /// operations, keep their order, and so do those of files that are to, before others.
    fn sort(&mut self) {
        let first = |operation: &Operation| self.flows[operation.flows.at(0).index()].workload;
        let ordered: BTreeSet<u16> = self.operations.iter().map(first).collect();
        let key = |flow: &FlowSpec| {
            let keeps = flow.in_turn || ordered.contains(&flow.workload);
            let free = !self.in_order.contains(&flow.workload);
            let ends = (flow.src, (!keeps).then_some(flow.dst));
            (flow.start, free.then_some(ends))
        };
        if self.triggers.is_empty() && self.operations.is_empty() {
            return self.flows.sort_by_key(key);
        }
        if self.flows.is_sorted_by_key(key) {
            return;
        }
        let mut order: Vec<u32> = (0..self.flows.len() as u32).collect();
        order.sort_by_key(|&place| key(&self.flows[place as usize]));
        let mut names = vec![FlowId(0); order.len()];
        (0..).zip(&order).for_each(|(name, &place)| names[place as usize] = FlowId(name));
        self.flows = order.iter().map(|&place| self.flows[place as usize].clone()).collect();
        let begin = (
            std::mem::take(&mut self.triggers),
            std::mem::take(&mut self.reuses),
            std::mem::take(&mut self.programs),
        );
        let operations = std::mem::take(&mut self.operations);
        self.rename(begin, operations, |flow| names[flow.index()]);
    }
}

/// What a workload needs to know of its scenario.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The network.
    pub graph: &'a Graph,
    /// Which workload it is, from 0.
    pub number: u16,
    /// The hosts that it has, as many as [`Workload::hosts`] says.
    pub hosts: &'a [NodeId],
    /// The time during which flows start.
    pub arrivals: Duration,
    /// The most that a host's NIC takes before it sends it.
    pub memory: Bytes,
    /// Decides every random choice.
    pub seed: u64,
}

impl Surroundings<'_> {
    /// The rate of a host's link, or of its links into the network together.
    pub fn rate(&self, host: NodeId) -> Rate {
        ports::rate(self.graph, host)
    }

    /// A message of this workload that begins at a time, or when others let it.
    fn message(&self, src: NodeId, dst: NodeId, bytes: u64, start: Duration) -> FlowSpec {
        FlowSpec {
            src,
            dst,
            bytes,
            start: Instant::ZERO + start,
            stop: Instant::NEVER,
            workload: self.number,
            in_turn: false,
        }
    }

    /// The hosts of these numbers.
    fn named(&self, numbers: &[u32]) -> Vec<NodeId> {
        let hosts: Vec<NodeId> = self.graph.first_ports().collect();
        numbers.iter().map(|&number| hosts[number as usize]).collect()
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

/// Traffic that is expected in the long run: each of some hosts sends to each of some others, as much
/// to one as to the other, and nothing to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The sending hosts, and the payload that each sends to all of `to` in bits per second.
    pub from: Vec<(NodeId, f64)>,
    /// The receiving hosts.
    pub to: Vec<NodeId>,
}

impl Demand {
    /// The same with `factor` times the traffic.
    pub fn times(mut self, factor: f64) -> Self {
        self.from.iter_mut().for_each(|(_, rate)| *rate *= factor);
        self
    }
}

/// The flows of all workloads, in order of start, then of sender and receiver; flows in turn, and
/// those of operations, keep the order in which their workload has them.
pub fn traffic(workloads: &[Ready], settings: &Document, graph: &Graph, seed: u64) -> Traffic {
    let order = order(settings, graph, seed);
    let mut all = Traffic::default();
    for (workload, around) in surroundings(workloads, settings, graph, &order, seed) {
        all.extend(workload.traffic(around));
    }
    ports::carry(&mut all, settings, graph);
    all.sort();
    ports::assign((&mut all.flows[..], &all.reuses[..]), settings, graph, seed);
    all
}

/// All hosts in the order in which workloads take them, without those that are kernels.
pub fn order(settings: &Document, graph: &Graph, seed: u64) -> Vec<NodeId> {
    let mut order = settings.placement.order(graph, seed);
    let kernels = linux::all(settings);
    if !kernels.is_empty() {
        let hosts: Vec<NodeId> = graph.first_ports().collect();
        order.retain(|node| !kernels.keys().any(|&kernel| hosts[kernel as usize] == *node));
    }
    order
}

/// The most that a NIC takes before it sends it, of all classes.
pub fn memory(settings: &Document) -> Bytes {
    let of_class = settings.host.buffer.map_or(0, |buffer| buffer.0);
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
