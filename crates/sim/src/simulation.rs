//! Builds a simulation from its specification, runs it, and returns its outcome.

mod build;
#[cfg(test)]
mod memory;
mod work;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use floodway_engine::{Layout, Limits, Progress, Windows};
use floodway_model::{Duration, FlowSpec, Instant, NodeId, Program, Progressions};

use crate::Spec;
use crate::audit::Audit;
use crate::auditor::Network;
use crate::deadlock::{self, Deadlocks};
use crate::distances::Distances;
use crate::host::{Connections, KernelHost, MultiportHost, Several, Shared, followers};
use crate::kernel::{Backend, Octets};
use crate::metric::{Metrics, Sampling};
use crate::observe::capture::{self, Wanted};
use crate::observe::delays::{self, Chosen, Explained};
use crate::observe::{Kinds, Observers, Sent, Setup};
use crate::outcome::Outcome;
use crate::rounds;
use crate::routing::Routes;
use crate::run::{self, Finished, Measurement, Nodes};
use crate::switch::Knowledge;

pub(crate) use build::{Blocks, groups, layout, windows};
use build::{asks_for_answers, hosts, places, profiles, switches, tiers, wants_telemetry};

/// A network that is ready to run.
pub struct Simulation {
    spec: Spec,
    nodes: Nodes,
    metrics: Metrics,
    windows: Windows,
    longest_hop: Duration,
    blocks: Blocks,
    /// Number of flows and of ranks whose completion extends the measured interval.
    awaited: u64,
    /// Network information for the auditor; `None` if it is off.
    audited: Option<Arc<Network>>,
    /// Whether every frame is recorded.
    traced: bool,
    /// What is captured.
    captured: Option<Wanted>,
    /// Flows whose delays are explained.
    explained: Chosen,
    /// Octets of frames of kernels; `None` if no host is one.
    octets: Option<Arc<Octets>>,
}

/// How to run a simulation.
pub struct Run<'a> {
    /// Number of threads, at least 1. It does not affect results.
    pub threads: usize,
    /// Set externally to end the run early.
    pub stop: &'a AtomicBool,
    /// Called from time to time with the progress.
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

impl Simulation {
    /// Builds all nodes.
    pub fn new(spec: Spec) -> Self {
        Self::with_nodes(spec, &|_| true)
    }

    /// Builds these nodes of the network. What all nodes share is built as a whole: the graph, the
    /// list of flows and, until the switches have taken theirs, the routing tables.
    pub(crate) fn with_nodes(spec: Spec, here: &dyn Fn(NodeId) -> bool) -> Self {
        let by_flow = awaited(&spec);
        let flows = by_flow.each().filter(|awaited| *awaited).count();
        let shared = Arc::new(Shared {
            host: spec.host.clone(),
            profiles: profiles(&spec),
            switch: Arc::new(spec.switch.clone()),
            places: places(&spec),
            flows: spec.flows.clone(),
            followers: if spec.flows.each().any(|flow| flow.stop < Instant::NEVER) {
                followers(&spec.flows, &spec.triggers, |port| spec.graph.host_of(port))
            } else {
                // None can be too late.
                Vec::new()
            },
            several: Several::of(&spec.graph, &spec.flows),
            connections: Connections::new(&spec.reuses, &spec.flows),
            tiers: tiers(&spec.graph),
            distances: asks_for_answers(&spec).then(|| Distances::of(&spec)),
            telemetry: wants_telemetry(&spec),
            requests: spec.profiles.iter().any(|one| one.transport.requests()),
            awaited: by_flow,
            sampled: spec.sampled,
            awaited_jobs: if spec.programs.is_empty() { Vec::new() } else { spec.awaited.clone() },
            seed: spec.seed,
        });
        let jobs = working(&spec).filter(|program| shared.awaits_job(program.workload)).count();
        let awaited = (flows + jobs) as u64;
        let tables = Routes::of(&spec.graph);
        let knowledge = Knowledge::of(&spec, &shared, &tables);
        let (hosts, multiport) = hosts(&spec, &shared, &knowledge, here);
        let nodes = Nodes {
            switches: switches(&spec, &shared, (tables, &knowledge), here),
            hosts,
            kernels: Vec::new(),
            multiport,
        };
        let (windows, longest_hop) = windows(&spec);
        let queues = usize::from(spec.switch.queue.count) + 1;
        let metrics = Metrics::new(sampling(&spec, awaited), usize::from(shared.tiers), queues);
        let explained = spec.explained.map(|sample| Chosen::sample(&spec, sample));
        Self {
            spec,
            nodes,
            metrics,
            windows,
            longest_hop,
            blocks: Blocks::IfUseful,
            awaited,
            audited: None,
            traced: false,
            captured: None,
            explained: explained.unwrap_or_default(),
            octets: None,
        }
        .audited(cfg!(debug_assertions))
    }

    /// Sets whether an auditor checks the invariants of the simulation at every event. Its findings
    /// are added to the violations of the outcome, which is otherwise the same. Default off, except
    /// in builds with debug assertions.
    #[must_use]
    pub fn audited(mut self, audited: bool) -> Self {
        self.audited = audited.then(|| Arc::new(Network::new(&self.spec)));
        self
    }

    /// Runs in blocks of at most so many ports, however small the network is, if all its links join two sides.
    /// Results are those of a large network: flows end the run, or the measured interval, only before windows whose
    /// numbers are multiples of those that a block runs at a time. For tests.
    #[must_use]
    pub fn in_blocks_of(mut self, ports: usize) -> Self {
        self.blocks = Blocks::Of(ports);
        self
    }

    /// Explains the delays of these flows, instead of those that [`Spec::explained`] asks for. The
    /// simulation then runs on one thread.
    #[must_use]
    pub fn explaining(mut self, flows: Chosen) -> Self {
        self.explained = flows;
        self
    }

    /// Captures the frames at these ports, for [`run_captured`](Self::run_captured).
    #[must_use]
    pub fn capturing(mut self, wanted: Wanted) -> Self {
        self.captured = Some(wanted);
        self
    }

    /// Connects the kernels of [`Spec::kernels`], in their order. Without that these hosts do nothing, which is a
    /// violation. The simulation needs at least one thread that can wait for them.
    #[must_use]
    pub fn connected(mut self, backends: Vec<Box<dyn Backend>>) -> Self {
        let octets = Arc::new(Octets::new(&self.spec.graph, &self.spec.kernels));
        for (kernel, backend) in self.spec.kernels.iter().zip(backends) {
            let place = self.nodes.hosts.iter().position(|host| host.id() == kernel.host);
            let host = self.nodes.hosts.remove(place.expect("a kernel is a host, once"));
            self.nodes.kernels.push(KernelHost::new(host, kernel, backend, octets.clone()));
        }
        self.octets = Some(octets);
        self
    }

    /// What is simulated.
    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Runs the simulation to its end on one thread.
    pub fn run(self) -> Outcome {
        self.run_with(&Run { threads: 1, stop: &AtomicBool::new(false), watch: &|_| {} })
    }

    /// Runs the simulation to its end.
    pub fn run_with(self, run: &Run) -> Outcome {
        self.run_explained(run).0
    }

    /// Runs the simulation to its end, and also returns its explanations, if flows were to be explained.
    /// Their tables are part of the outcome. One that does not add up to the completion time is a violation.
    pub fn run_explained(self, run: &Run) -> (Outcome, Option<Explained>) {
        let (outcome, explained, _) = self.run_whole(run);
        (outcome, explained)
    }

    /// Runs the simulation to its end, and also returns what the captured ports have seen, in their order; nothing if
    /// none are [captured](Self::capturing).
    pub fn run_captured(self, run: &Run) -> (Outcome, Vec<capture::Port>) {
        let (outcome, _, captured) = self.run_whole(run);
        (outcome, captured.unwrap_or_default())
    }

    fn run_whole(self, run: &Run) -> (Outcome, Option<Explained>, Option<Vec<capture::Port>>) {
        let begun = std::time::Instant::now();
        let threads = if self.explained.flows.is_empty() { run.threads } else { 1 };
        let (spec, mut finished) = self.finish(&Run { threads, ..*run });
        let explained = finished.observers.take_explained();
        let captured = finished.observers.take_captured();
        let wall = begun.elapsed();
        let mut violations = violations(&spec, &finished);
        if let Some(explained) = &explained {
            violations.extend(explained.violations());
        }
        let mut outcome = Outcome::new(&spec, finished, violations, wall);
        if let Some(explained) = &explained {
            outcome.tables.extend(delays::tables(&spec, explained));
        }
        (outcome, explained, captured)
    }

    /// Runs the simulation to its end, and also returns every frame that was sent on a link.
    pub fn run_traced(mut self, run: &Run) -> (Outcome, Vec<Sent>) {
        self.traced = true;
        let (spec, mut finished) = self.finish(run);
        let trace = finished.observers.take_trace();
        let violations = violations(&spec, &finished);
        (Outcome::new(&spec, finished, violations, std::time::Duration::ZERO), trace)
    }

    /// Runs the simulation and returns its final state.
    pub(crate) fn finish(self, run: &Run) -> (Spec, Finished) {
        self.finish_by(run, run::run)
    }

    /// The same, with `by` as the function that runs the nodes.
    pub(crate) fn finish_by(
        self,
        run: &Run,
        by: impl FnOnce(Nodes, &Layout, &Limits<'_>, &Measurement<'_>) -> Finished,
    ) -> (Spec, Finished) {
        let windows = (self.windows, self.longest_hop);
        let layout = layout(&self.spec, windows, (1, run.threads), self.blocks);
        let find = |finished: &Finished| deadlock::find(&finished.switches, finished.now);
        self.finish_with(run, &layout, by, find)
    }

    /// The same with this layout; `find` finds the deadlocks.
    pub(crate) fn finish_with(
        self,
        run: &Run,
        layout: &Layout,
        by: impl FnOnce(Nodes, &Layout, &Limits<'_>, &Measurement<'_>) -> Finished,
        find: impl FnOnce(&Finished) -> Deadlocks,
    ) -> (Spec, Finished) {
        let limits = Limits {
            end: Instant(self.spec.end.0),
            flows: if self.spec.sampled.is_some() { self.awaited } else { ending(&self.spec) },
            until_acknowledged: self.awaited > 0 && self.spec.sampled.is_none(),
            stop: run.stop,
            watch: run.watch,
        };
        let begin = |nodes, measurement: &Measurement<'_>| by(nodes, layout, &limits, measurement);
        let (rest, mut finished) = self.begin(begin);
        let spec = rest.conclude(&mut finished, find);
        (spec, finished)
    }

    /// Gives the nodes, and what is measured, to `begin`; also returns what is needed after the run.
    pub(crate) fn begin<T>(
        mut self,
        begin: impl FnOnce(Nodes, &Measurement<'_>) -> T,
    ) -> (Rest, T) {
        let observers = |nodes: &[NodeId]| {
            Observers::new(&Setup {
                spec: &self.spec,
                nodes,
                audited: self.audited.as_ref(),
                traced: self.traced,
                captured: self.captured.as_ref(),
                octets: self.octets.as_ref(),
                explained: &self.explained,
            })
        };
        let wants = observers(&[]);
        let every_one = wants.want_of_all(Kinds::SENT);
        let some = wants.want(Kinds::SENT.and(Kinds::OCCUPIED));
        let ports = self.nodes.switches.iter_mut().flat_map(|switch| &mut switch.ports);
        let kernels = self.nodes.kernels.iter_mut().map(KernelHost::host_mut);
        let several = self.nodes.multiport.iter_mut().flat_map(MultiportHost::ports_mut);
        let hosts = self.nodes.hosts.iter_mut().chain(kernels).chain(several);
        let nics = hosts.map(|host| &mut host.nic.tx);
        ports.map(|port| &mut port.tx).chain(nics).for_each(|tx| tx.examine(every_one, some));
        let measurement = Measurement {
            interval: [Instant(self.spec.warmup.0), least_end(&self.spec)],
            awaited: self.awaited,
            ends_with_awaited: self.spec.sampled.is_some(),
            metrics: &self.metrics,
            telemetry: wants_telemetry(&self.spec),
            observers: &observers,
        };
        let begun = begin(self.nodes, &measurement);
        let Self { spec, metrics, audited, octets, .. } = self;
        (Rest { spec, metrics, audited, octets }, begun)
    }

    /// Waits for flows that are not known yet, of a workload whose flows are awaited: the measured interval ends when
    /// the session does.
    pub(crate) fn open_ended(mut self) -> Self {
        self.awaited = u64::MAX;
        let queues = usize::from(self.spec.switch.queue.count) + 1;
        let tiers = usize::from(tiers(&self.spec.graph));
        self.metrics = Metrics::new(sampling(&self.spec, self.awaited), tiers, queues);
        self
    }

    /// Number of flows and of ranks whose completion extends the measured interval.
    pub(crate) fn awaited(&self) -> u64 {
        self.awaited
    }

    /// The windows of a run, and the longest time on a link.
    pub(crate) fn windows(&self) -> (Windows, Duration) {
        (self.windows, self.longest_hop)
    }
}

/// What is left of a simulation while its nodes run.
pub(crate) struct Rest {
    pub spec: Spec,
    /// As they were before the run.
    pub metrics: Metrics,
    pub audited: Option<Arc<Network>>,
    octets: Option<Arc<Octets>>,
}

impl Rest {
    /// After a run: its specification, with the times at which flows of kernels have begun.
    pub(crate) fn conclude(
        self,
        finished: &mut Finished,
        find: impl FnOnce(&Finished) -> Deadlocks,
    ) -> Spec {
        // Before the pauses that are still active are ended below.
        finished.deadlocks = find(finished);
        finished.deadlocks.last_moved = last_moved(finished);
        let (now, metrics) = (finished.now, &mut finished.metrics);
        let observers = &mut finished.observers;
        for port in finished.switches.iter_mut().flat_map(|switch| &mut switch.ports) {
            port.tx.finish(now, metrics, observers);
        }
        for host in &mut finished.hosts {
            host.nic.tx.finish(now, metrics, observers);
        }
        observers.finish(now);
        let mut spec = self.spec;
        for (flow, began) in &finished.begun {
            spec.flows[flow.index()].start = *began;
        }
        if let Some(octets) = self.octets {
            finished.octets = octets.count() as u64;
        } else if let Some(kernel) = spec.kernels.first() {
            finished.unconnected = Some(kernel.host);
        }
        spec
    }
}

/// Number of flows and ranks after whose end a run is over. A rank is done after its last flow, if it goes on to compute.
pub(crate) fn ending(spec: &Spec) -> u64 {
    let flows = spec.flows.each().filter(|flow| !flow.is_persistent()).count();
    (flows + working(spec).count()) as u64
}

/// Detected errors, one sentence each, those of the auditor first.
pub(crate) fn violations(spec: &Spec, finished: &Finished) -> Vec<String> {
    let findings = finished.observers.auditor.as_ref();
    let mut wrong: Vec<String> =
        findings.map_or_else(Vec::new, |auditor| auditor.findings.messages(&spec.graph));
    wrong.extend(Audit::of(spec, finished).violations());
    wrong
}

/// End of the last transmission of a frame that had been queued.
fn last_moved(finished: &Finished) -> Instant {
    let ports = finished.switches.iter().flat_map(|switch| &switch.ports).map(|port| &port.tx);
    let nics = finished.hosts.iter().map(|host| &host.nic.tx);
    let idle_from = ports.chain(nics).map(|tx| tx.queues_idle_from().min(finished.now));
    idle_from.max().unwrap_or(Instant::ZERO)
}

/// The programs that have steps, which at some time have all finished.
fn working(spec: &Spec) -> impl Iterator<Item = &Program> {
    spec.programs.iter().filter(|program| !program.steps.is_empty())
}

/// By flow: whether the measured interval is extended until it has completed. This applies to the
/// flows of awaited workloads that are measured. Empty for none.
fn awaited(spec: &Spec) -> Progressions<bool> {
    if !spec.awaited.contains(&true) {
        return Progressions::default();
    }
    // The start of a flow with dependencies is not known in advance.
    let mut waits: Vec<bool> = spec.flows.each().map(|flow| flow.in_turn).collect();
    spec.triggers.each().for_each(|trigger| waits[trigger.begins.index()] = true);
    let sent = spec.programs.iter().flat_map(Program::sent);
    sent.for_each(|(_, flow)| waits[flow.index()] = true);
    if let Some(sampled) = &spec.sampled {
        // The rounds that are simulated, from the first flow on.
        return rounds::within(spec, sampled).into_iter().collect();
    }
    let is_awaited = |(flow, waits): (FlowSpec, bool)| {
        let of_workload = spec.awaited.get(usize::from(flow.workload)).copied().unwrap_or(false);
        of_workload && !flow.is_persistent() && (waits || flow.start.0 >= spec.warmup.0)
    };
    spec.flows.each().zip(waits).map(is_awaited).collect()
}

/// Earliest end of the measured interval.
fn least_end(spec: &Spec) -> Instant {
    Instant(spec.measured_until.max(spec.warmup).0)
}

/// Sampling times, for a run in which this many flows are awaited.
fn sampling(spec: &Spec, awaited: u64) -> Sampling {
    let span = spec.end.0.saturating_sub(spec.warmup.0);
    let interval = spec.sample_interval.0.max(1);
    Sampling {
        from: Instant(spec.warmup.0),
        interval: Duration(interval),
        count: span.div_ceil(interval) as usize,
        measured_until: match awaited {
            0 => least_end(spec),
            _ => Instant::NEVER,
        },
    }
}
