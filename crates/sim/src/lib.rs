//! The simulator itself: engine, switches, hosts, and every algorithm family.

pub mod host;
pub mod switch;

use floodway_model::family::Entry;
use floodway_model::{Duration, FlowSpec, Graph};

/// Everything that a simulation is made from. Valid by construction in `floodway-scenario`.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The network.
    pub graph: Graph,
    /// All switches.
    pub switch: switch::Spec,
    /// All hosts.
    pub host: host::Spec,
    /// What is sent, in order of start.
    pub flows: Vec<FlowSpec>,
    /// Preamble and inter-frame gap that a frame costs on the wire, in bytes.
    pub wire_overhead: u16,
    /// When to stop at the latest. A run stops earlier when all flows that end have ended.
    pub end: Duration,
    /// Flows that start before this are not measured, nor are queues sampled.
    pub warmup: Duration,
    /// Time between two samples of all queue depths.
    pub sample_interval: Duration,
    /// Decides every random choice.
    pub seed: u64,
}

/// Every algorithm of every family, in the order of a packet's way.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    let switch = [
        switch::classify::CATALOGUE,
        switch::aqm::CATALOGUE,
        switch::scheduler::CATALOGUE,
        switch::path::CATALOGUE,
        switch::flow_control::CATALOGUE,
    ];
    let host = [host::transport::CATALOGUE, host::congestion::CATALOGUE];
    switch.into_iter().chain(host).flatten()
}
