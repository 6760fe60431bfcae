//! The simulator itself: switches, hosts, and every algorithm family.
//!
//! - [`switch`]: switch data path; classification, AQM, scheduling, path selection and flow control
//! - [`host`]: NIC, transports and congestion control
//! - [`failure`]: links that fail during a run
//! - [`errors`], [`retry`]: bit errors of links, and the retry that sends frames with errors again
//! - [`link`]: the transmitter of a link, and the pauses that it obeys
//! - [`telemetry`]: in-band network telemetry that switches write into packets
//! - [`search`]: shortest paths between switches, for many destinations at once; the basis of
//!   [`routing`] and [`ideal`]
//! - [`distances`]: distances between hosts
//! - [`deadlock`]: detection of ports that are blocked on each other in a cycle
//! - [`kernel`]: hosts that are real kernels
//! - `auditor`: checks of every event, independent of the code that they check
//! - `observe`: facts reported by nodes, and the observers that turn them into tables
//! - [`metric`]: counters and samples of a run
//! - `run`: switches and hosts on the threads of `floodway-engine`
//! - `audit`: checks of sums at the end of every run
//! - [`rounds`]: rounds of a job of which only the first are simulated
//! - [`over`]: a run over several processes
//! - [`session`]: a simulation that another program drives
//! - [`simulation`]: from a [`Spec`] to an [`Outcome`]

pub mod allowance;
mod audit;
mod auditor;
mod context;
pub mod csig;
pub mod deadlock;
mod digest;
pub mod distances;
pub mod errors;
pub mod failure;
pub mod host;
pub mod ideal;
pub mod kernel;
pub mod link;
pub mod loss;
pub mod metric;
mod observe;
mod outcome;
pub mod over;
pub mod pace;
pub mod retry;
pub mod rounds;
pub mod routing;
mod run;
pub mod search;
pub mod session;
pub mod simulation;
#[cfg(test)]
mod small;
pub mod switch;
pub mod telemetry;

#[cfg(test)]
extern crate self as floodway_sim;

use digest::Digest;
use floodway_model::family::Entry;
use floodway_model::{
    Duration, FlowSpec, Graph, Operation, Program, Progressions, Reuse, SharedList, Trigger,
};
use serde::Serialize;

pub use floodway_engine::{Letters, MAX_PORTS, Progress, Ranks, Stop, Totals};
pub use observe::{Sent, capture, delays};
pub use outcome::Outcome;
pub use session::Session;
pub use simulation::Simulation;

/// All parameters of a simulation. Valid by construction in `floodway-scenario`.
#[derive(Clone, Debug, Serialize)]
pub struct Spec {
    /// The network. Every host has one link.
    pub graph: Graph,
    /// Parameters of all switches.
    pub switch: switch::Spec,
    /// Parameters of all hosts.
    pub host: host::Spec,
    /// Transport profiles of flows: one for each workload, by its number.
    pub profiles: Vec<host::Profile>,
    /// The flows, in order of start.
    pub flows: Progressions<FlowSpec>,
    /// Dependencies between flows: which flows begin after which others.
    pub triggers: Progressions<Trigger>,
    /// Flows that are sent over the connections of others.
    pub reuses: SharedList<Reuse>,
    /// Programs of the ranks of jobs, which begin flows on their hosts, in order of workload and rank.
    pub programs: SharedList<Program>,
    /// Groups of flows that form one operation for the application, by workload and number.
    pub operations: SharedList<Operation>,
    /// Preamble and interframe gap of a frame on the wire, in bytes.
    pub wire_overhead: u16,
    /// Time limit of the run. It ends earlier if all flows with a size have completed.
    pub end: Duration,
    /// Start of the measured interval. Flows that start earlier are not counted, nor are events in
    /// switches and hosts before it, and queues are not sampled.
    pub warmup: Duration,
    /// Earliest end of the measured interval. Events in switches and hosts after its end are not
    /// counted.
    pub measured_until: Duration,
    /// By workload: whether the measured interval is extended until its flows have completed, if
    /// that is later than `measured_until`; empty for none.
    pub awaited: Vec<bool>,
    /// Interval between two samples of all queue depths.
    pub sample_interval: Duration,
    /// Interval between two samples of the bytes delivered by every long-lived flow; above zero, or
    /// `None` for no such samples.
    pub flow_samples: Option<Duration>,
    /// Whether to record, for every data queue of a switch, the queue length and the sojourn time
    /// of each departing packet.
    pub departures: bool,
    /// Whether to record the latency of every data packet that arrives in the measured interval,
    /// from the memory of the source host to that of the destination host.
    pub latencies: bool,
    /// Maximum number of samples, at least two, of the state of every port in the record; `None`
    /// for no record.
    pub record: Option<u32>,
    /// The measured flows whose delays are explained, on one thread; `None` for none.
    pub explained: Option<observe::delays::Sample>,
    /// Link failures; those of one link do not overlap.
    pub failures: Vec<failure::Failure>,
    /// What links lose at random, at most one entry for each direction.
    pub losses: Vec<loss::Loss>,
    /// Bit errors of links, and what sends frames with errors again: at most one entry for each direction, in order of
    /// node and port.
    pub errors: Vec<errors::Errors>,
    /// What ports are held to that send at less than the rate of their link, at most one entry for each.
    pub paces: Vec<pace::Pace>,
    /// Queue management that changes during the run, in order of time; [possible](switch::change::Change::check).
    pub changes: Vec<switch::change::Change>,
    /// Hosts that are kernels, in order of their nodes, with flows between each two of them that begin when a connection
    /// does.
    pub kernels: Vec<kernel::Kernel>,
    /// The rounds of a job that are simulated, after which the run ends; `None` for all.
    pub sampled: Option<rounds::SampledRounds>,
    /// Seed of all random number streams.
    pub seed: u64,
}

/// A hash of the sources that determine the results of a simulation: of this crate, of
/// `floodway-engine` and `floodway-model`, and of the library that computes their logarithms.
pub const SOURCES: &str = env!("FLOODWAY_SOURCES");

/// The version of the form in which [`Spec::key`] writes a simulation down. To be raised when the form changes without a
/// change of [`SOURCES`], which a new version of `serde_json` could cause.
const KEY_FORMAT: u32 = 1;

impl Spec {
    /// Whether the measured interval is extended until this flow has completed, if it starts when it says.
    pub(crate) fn awaits(&self, flow: &FlowSpec) -> bool {
        let of_workload = self.awaited.get(usize::from(flow.workload)).copied().unwrap_or(false);
        of_workload && !flow.is_persistent() && flow.start.0 >= self.warmup.0
    }

    /// The same simulation in which each of these flows sends only a byte. Flows keep their numbers, and
    /// those that depend on others still begin.
    #[must_use]
    pub fn without(mut self, flows: impl IntoIterator<Item = floodway_model::FlowId>) -> Self {
        for flow in flows {
            self.flows[flow.index()].bytes = 1;
        }
        self
    }

    /// Identifies this simulation: equal keys have equal outcomes, on any number of threads. This
    /// holds only for programs with the same [`SOURCES`], so a key serves to find stored results
    /// again, not to cite them; fingerprints are for citation.
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

/// Every algorithm of every family, in the order in which a packet meets them.
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
        host::application::video::abr::CATALOGUE,
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
