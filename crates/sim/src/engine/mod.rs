//! The engine: nodes, the windows in which they are independent, and the threads that share them.
//!
//! Every node is a logical process that owns its state. No frame crosses a link in less than a
//! window, so within a window each node can be run by itself, from its sorted arrivals and its own
//! alarms; threads share out the nodes and meet at a barrier per window. With one thread the same
//! code runs, and since the order of a node's events depends on nothing but their times, kinds and
//! ports, results are the same to the bit for any number of threads.

mod alarms;
mod barrier;
mod governor;
mod meeting;
mod order;
mod threads;
mod windows;
mod wire;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use floodway_model::{Class, Duration, Instant, NodeId, Packet, PortIx};

pub use alarms::Alarms;
pub use windows::Windows;
pub use wire::MAX_PORTS;

use crate::auditor::{Auditor, Findings, Network};
use crate::deadlock::Deadlocks;
use crate::host::Host;
use crate::metric::{Metrics, Tally};
use crate::switch::Switch;
use governor::{Governor, Reading};
use threads::Threads;
use wire::Wire;
use worker::Worker;

/// What benches may see and nobody else.
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench {
    pub use super::order::Order;
    pub use super::wire::Wire;
}

/// What a node can reach besides itself.
#[derive(Debug)]
pub struct Context {
    wire: Wire,
    /// Where facts are counted.
    pub metrics: Metrics,
    /// Checks every event, if that is asked for.
    pub auditor: Option<Box<Auditor>>,
}

impl Context {
    /// Puts a frame on the wire to a port of a node, where it arrives at `at`, sent in this class.
    #[inline]
    pub fn send(&mut self, to: (NodeId, PortIx), at: Instant, packet: &Packet, class: Class) {
        self.wire.send(to, at, packet, class);
    }
}

/// A logical process.
pub trait Node {
    /// A frame has arrived.
    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context);

    /// When the node has something to do by itself; [`Instant::NEVER`] if it has not.
    fn next_wake(&self) -> Instant;

    /// That moment has come.
    fn wake(&mut self, now: Instant, context: &mut Context);

    /// Adds what the node has counted until `now`, for which it need not have been woken.
    fn tally(&self, now: Instant, tally: &mut Tally);
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// When it ends at the latest.
    pub end: Instant,
    /// Packet-hops so far.
    pub hops: u64,
    /// Flows that have ended, and all that will.
    pub flows: (u64, u64),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All flows that end have ended.
    FlowsDone,
    /// The time limit was reached.
    TimeLimit,
    /// Somebody asked for it.
    Interrupted,
}

/// Everything that is simulated, before it is shared out.
pub(crate) struct Nodes {
    /// In order of their identifiers.
    pub switches: Vec<Switch>,
    /// In order of their identifiers.
    pub hosts: Vec<Host>,
    /// Nodes that belong on one thread, such as a leaf and its hosts.
    pub groups: Vec<Vec<NodeId>>,
    /// What auditors know of the network; `None` without them.
    pub audited: Option<Arc<Network>>,
}

/// When to stop and whom to tell.
pub(crate) struct Limits<'a> {
    pub windows: Windows,
    /// The longest time from sending to arrival: for so long there are lists of arrivals.
    pub longest_hop: Duration,
    pub end: Instant,
    /// Flows that end.
    pub flows: u64,
    /// When the measured interval begins, and when it ends at the earliest: a tally is taken before the
    /// first window that touches the time after it.
    pub measurement: [Instant; 2],
    /// Flows until whose completion it lasts: it ends with the window in which the last of them ends.
    pub awaited: u64,
    /// Whether it goes on until the senders know that everything has arrived.
    pub until_acknowledged: bool,
    pub stop: &'a AtomicBool,
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

/// What is left after a run, the nodes in order of their identifiers.
pub(crate) struct Finished {
    pub switches: Vec<Switch>,
    pub hosts: Vec<Host>,
    pub in_flight: Vec<Packet>,
    pub metrics: Metrics,
    pub deadlocks: Deadlocks,
    /// What the auditors have found.
    pub findings: Findings,
    pub stop: Stop,
    pub now: Instant,
}

/// Runs all nodes to the end, on as many of these threads as finish soonest.
// Not inlined: what counts instructions (bench/guard.py) knows it by its name.
#[inline(never)]
pub(crate) fn run(nodes: Nodes, threads: usize, limits: &Limits, metrics: &Metrics) -> Finished {
    let threads = threads.clamp(1, nodes.groups.len().max(1));
    let mut governor = Governor::new(threads);
    run_governed(nodes, threads, (limits, metrics), |now| governor.look(now))
}

/// Runs all nodes to the end. `metrics` is what each of the threads starts from. `look` says between
/// windows how many of the threads are to work from then on, if that changes.
pub(crate) fn run_governed(
    nodes: Nodes,
    threads: usize,
    (limits, metrics): (&Limits, &Metrics),
    look: impl FnMut(Reading) -> Option<usize>,
) -> Finished {
    let owner = share_out(&nodes, threads);
    let ahead = limits.windows.index(Instant(limits.longest_hop.0)) + 2;
    let ring = ahead.next_power_of_two().min(64);

    let ports = nodes.switches.iter().map(Switch::ports).max().unwrap_or(1);

    let mut shares: Vec<_> = (0..threads).map(|_| (Vec::new(), Vec::new())).collect();
    for switch in nodes.switches {
        shares[usize::from(owner[switch.id().index()])].0.push(switch);
    }
    for host in nodes.hosts {
        shares[usize::from(owner[host.id().index()])].1.push(host);
    }
    let worker = |(number, share)| {
        let own = (number as u16, threads as u16);
        let wire = Wire::new(limits.windows, ring, owner.clone(), own);
        let (switches, hosts): &(Vec<Switch>, Vec<Host>) = &share;
        let ids = || switches.iter().map(Switch::id).chain(hosts.iter().map(Host::id));
        let auditor = nodes.audited.as_ref().map(|network| Box::new(Auditor::new(network, ids())));
        let context = Context { wire, metrics: metrics.clone(), auditor };
        Worker::new((number, threads), share, (owner.len(), ports), limits.windows, context)
    };
    let workers: Vec<Worker> = shares.into_iter().enumerate().map(worker).collect();

    let running = Threads::new(workers, limits);
    let (stop, now) = running.run(look);

    let mut finished = Finished {
        switches: Vec::new(),
        hosts: Vec::new(),
        in_flight: Vec::new(),
        metrics: metrics.clone(),
        deadlocks: Deadlocks::default(),
        findings: Findings::default(),
        stop,
        now,
    };
    for mut worker in running.into_workers() {
        for number in 0..limits.measurement.len() {
            if worker.context.metrics.tallies[number].is_none() {
                worker.context.metrics.tallies[number] = Some(worker.tally(now));
            }
        }
        if let Some(mut auditor) = worker.context.auditor {
            auditor.finish(now);
            finished.findings.merge(auditor.findings);
        }
        finished.switches.extend(worker.switches);
        finished.hosts.extend(worker.hosts);
        finished.in_flight.extend(worker.context.wire.in_flight());
        finished.metrics.merge(&worker.context.metrics);
    }
    finished.switches.sort_by_key(Switch::id);
    finished.hosts.sort_by_key(Host::id);
    finished
}

/// The thread of each node: groups stay together, the heaviest first to the least loaded thread.
fn share_out(nodes: &Nodes, threads: usize) -> Vec<u16> {
    let mut owner = vec![0; nodes.switches.len() + nodes.hosts.len()];
    let mut weight = vec![1; owner.len()];
    for switch in &nodes.switches {
        weight[switch.id().index()] = switch.ports();
    }
    let weight_of = |group: &[NodeId]| group.iter().map(|node| weight[node.index()]).sum::<usize>();
    let mut groups: Vec<(usize, &Vec<NodeId>)> =
        nodes.groups.iter().map(|group| (weight_of(group), group)).collect();
    groups.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut load = vec![0; threads];
    for (weight, group) in groups {
        let thread = (0..threads).min_by_key(|&thread| load[thread]).expect("there is a thread");
        load[thread] += weight;
        for node in group {
            owner[node.index()] = thread as u16;
        }
    }
    owner
}
