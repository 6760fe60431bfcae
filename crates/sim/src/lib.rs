//! The simulator itself: switches, hosts, and every algorithm family.
//!
//! - [`switch`]: a packet's life in a switch; classification, queue management, scheduling, path
//!   choice and flow control
//! - [`host`]: NIC, transports and congestion control
//! - [`failure`]: links that fail during a run
//! - [`link`]: the sending end of a link, and its pauses
//! - [`telemetry`]: what switches write into packets
//! - [`search`]: shortest ways between switches, towards many at once; [`routing`] and [`ideal`] are
//!   made from it
//! - [`distances`]: how far hosts are from each other
//! - [`deadlock`]: ports that wait for each other in a circle
//! - `auditor`: checks of every event, independent of what they check
//! - [`metric`]: what is counted while a run goes on
//! - `run`: switches and hosts on the threads of `floodway-engine`
//! - [`simulation`]: from a [`Spec`] to an [`Outcome`]

mod auditor;
pub mod deadlock;
mod digest;
pub mod distances;
pub mod failure;
pub mod host;
pub mod ideal;
pub mod link;
pub mod metric;
mod outcome;
pub mod routing;
mod run;
pub mod search;
pub mod simulation;
#[cfg(test)]
mod small;
pub mod switch;
pub mod telemetry;

#[cfg(test)]
extern crate self as floodway_sim;

use digest::Digest;
use floodway_model::family::Entry;
use floodway_model::{Duration, FlowSpec, Graph, Operation, Trigger};
use serde::Serialize;

pub use floodway_engine::{MAX_PORTS, Progress, Stop};
pub use outcome::Outcome;
pub use simulation::Simulation;

/// Everything that a simulation is made from. Valid by construction in `floodway-scenario`. Its serialization, which has
/// every field of everything in it, is what [`Spec::key`] hashes.
#[derive(Clone, Debug, Serialize)]
pub struct Spec {
    /// The network. Every host has one link.
    pub graph: Graph,
    /// All switches.
    pub switch: switch::Spec,
    /// All hosts.
    pub host: host::Spec,
    /// How flows are sent: one for each workload, by its number.
    pub profiles: Vec<host::Profile>,
    /// What is sent, in order of start.
    pub flows: Vec<FlowSpec>,
    /// Which flows begin after which others.
    pub triggers: Vec<Trigger>,
    /// Which flows are one thing to whoever waits for it, by workload and number.
    pub operations: Vec<Operation>,
    /// Preamble and inter-frame gap that a frame costs on the wire, in bytes.
    pub wire_overhead: u16,
    /// When to stop at the latest. A run stops earlier when all flows that end have ended.
    pub end: Duration,
    /// When the measurement begins: flows that start before this do not count, nor does what
    /// switches and hosts do, and queues are not sampled.
    pub warmup: Duration,
    /// When the measured interval ends, at the earliest: what switches and hosts do after it does not
    /// count.
    pub measured_until: Duration,
    /// By workload: whether the measured interval lasts until its flows have completed, if that is
    /// later than `measured_until`; empty for none.
    pub awaited: Vec<bool>,
    /// Time between two samples of all queue depths.
    pub sample_interval: Duration,
    /// Time between two samples of what every flow that has no size has delivered; above zero, or
    /// `None` for no such samples.
    pub flow_samples: Option<Duration>,
    /// Whether every data queue of a switch records how long it is and how long packets have
    /// waited when they leave.
    pub departures: bool,
    /// Whether every data packet that arrives during the measurement is recorded by how long it
    /// took from the memory of the source to that of the destination.
    pub latencies: bool,
    /// The most moments, at least two, at which the state of every port is recorded; `None` for no
    /// record.
    pub record: Option<u32>,
    /// Links that fail; those of one link follow each other.
    pub failures: Vec<failure::Failure>,
    /// Decides every random choice.
    pub seed: u64,
}

/// A hash of the sources that decide what a simulation does: of this crate, of `floodway-engine`
/// and `floodway-model`, and of the library that they compute logarithms with.
pub const SOURCES: &str = env!("FLOODWAY_SOURCES");

/// The version of the form in which [`Spec::key`] writes a simulation down. To be raised when the form changes without a
/// change of [`SOURCES`], which a new version of `serde_json` could cause.
const KEY_FORMAT: u32 = 1;

impl Spec {
    /// Distinguishes this simulation from every other one: equal keys have equal outcomes, on any number of threads. It
    /// holds for programs with the same [`SOURCES`] only, so it identifies stored runs and is not for citing results;
    /// fingerprints are.
    pub fn key(&self) -> String {
        let mut digest = Digest::new();
        digest.add(format!("{KEY_FORMAT} {SOURCES} ").as_bytes());
        // JSON, in which numbers read back to the same bits. No valid simulation has a number that is not finite.
        serde_json::to_writer(&mut digest, self).expect("a digest takes everything");
        digest.hex()
    }
}

/// A hash of bytes, the one of [`Spec::key`]: FNV-1a of 128 bits, in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    let mut digest = Digest::new();
    digest.add(bytes);
    digest.hex()
}

/// Every algorithm of every family, in the order of a packet's way.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    let switch = [
        switch::classify::CATALOGUE,
        switch::aqm::CATALOGUE,
        switch::aqm::dualpi2::low_latency::CATALOGUE,
        switch::fabric::CATALOGUE,
        switch::buffer::CATALOGUE,
        switch::discipline::CATALOGUE,
        switch::overflow::CATALOGUE,
        switch::scheduler::CATALOGUE,
        switch::path::CATALOGUE,
        switch::flow_control::CATALOGUE,
    ];
    let host = [
        host::transport::CATALOGUE,
        host::transport::rocev2::recovery::CATALOGUE,
        host::congestion::CATALOGUE,
        host::application::CATALOGUE,
    ];
    switch.into_iter().chain(host).flatten()
}

#[cfg(test)]
mod tests {
    #[test]
    fn fnv_published_vectors() {
        let hash = |text: &str| super::hash(text.as_bytes());
        assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
