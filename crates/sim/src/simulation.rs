//! Builds a simulation from its specification, runs it, and returns its outcome.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use floodway_engine::{Layout, Limits, Progress, Windows};
use floodway_model::flow::numbered;
use floodway_model::graph::{Attachment, Node, NodeKind};
use floodway_model::packet::length;
use floodway_model::{
    Bytes, Duration, FlowId, FlowSpec, Graph, Instant, NodeId, PortIx, Program, Rate, Trigger,
};

use crate::Spec;
use crate::audit::Audit;
use crate::auditor::Network;
use crate::deadlock::{self, Deadlocks};
use crate::distances::Distances;
use crate::failure::{self, Outages};
use crate::host::{Connections, Host, KernelHost, Profile, Shared, followers};
use crate::kernel::{Backend, Octets};
use crate::link::Link;
use crate::metric::{Metrics, Sampling};
use crate::observe::capture::{self, Wanted};
use crate::observe::delays::{self, Chosen, Explained};
use crate::observe::{Kinds, Observers, Sent, Setup};
use crate::outcome::Outcome;
use crate::pace::Pacing;
use crate::routing::Routes;
use crate::run::{self, Finished, Measurement, Nodes};
use crate::switch::{Knowledge, Switch};

/// A network that is ready to run.
pub struct Simulation {
    spec: Spec,
    nodes: Nodes,
    metrics: Metrics,
    windows: Windows,
    longest_hop: Duration,
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
        let flows = by_flow.iter().filter(|awaited| **awaited).count();
        let shared = Arc::new(Shared {
            host: spec.host.clone(),
            profiles: profiles(&spec),
            switch: Arc::new(spec.switch.clone()),
            places: places(&spec),
            flows: spec.flows.clone(),
            followers: followers(&spec.flows, &spec.triggers),
            connections: Connections::new(&spec.reuses, &spec.flows),
            tiers: tiers(&spec.graph),
            distances: asks_for_answers(&spec).then(|| Distances::of(&spec)),
            telemetry: wants_telemetry(&spec),
            awaited: by_flow,
            awaited_jobs: if spec.programs.is_empty() { Vec::new() } else { spec.awaited.clone() },
            seed: spec.seed,
        });
        let jobs = working(&spec).filter(|program| shared.awaits_job(program.workload)).count();
        let awaited = (flows + jobs) as u64;
        let tables = Routes::of(&spec.graph);
        let knowledge = Knowledge::of(&spec, &shared, &tables);
        let nodes = Nodes {
            switches: switches(&spec, &shared, (tables, &knowledge), here),
            hosts: hosts(&spec, &shared, &knowledge, here),
            kernels: Vec::new(),
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
            self.nodes.kernels.push(KernelHost::new(host, backend, octets.clone()));
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
        let layout = layout(&self.spec, (self.windows, self.longest_hop), run.threads);
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
            flows: ending(&self.spec),
            until_acknowledged: self.awaited > 0,
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
        let nics = self.nodes.hosts.iter_mut().chain(kernels).map(|host| &mut host.nic.tx);
        ports.map(|port| &mut port.tx).chain(nics).for_each(|tx| tx.examine(every_one, some));
        let measurement = Measurement {
            interval: [Instant(self.spec.warmup.0), least_end(&self.spec)],
            awaited: self.awaited,
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
    let flows = spec.flows.iter().filter(|flow| !flow.is_persistent()).count();
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

/// Transport profiles by workload; a single one if all are equal.
fn profiles(spec: &Spec) -> Vec<Profile> {
    let mut profiles = spec.profiles.clone();
    if profiles.windows(2).all(|pair| pair[0] == pair[1]) {
        profiles.truncate(1);
    }
    profiles
}

/// Whether some congestion control relies on answers of receivers.
fn asks_for_answers(spec: &Spec) -> bool {
    spec.profiles.iter().any(|profile| profile.congestion.needs().is_about_answers())
}

/// Whether some packets have room for telemetry.
fn wants_telemetry(spec: &Spec) -> bool {
    spec.profiles.iter().any(|profile| profile.transport.telemetry())
}

/// By flow: its index among the flows of its sender, and among those of its receiver.
fn places(spec: &Spec) -> Vec<(u32, u32)> {
    let mut next = vec![(0, 0); spec.graph.nodes.len()];
    let place = |flow: &FlowSpec| {
        let sent = next[flow.src.index()].0;
        next[flow.src.index()].0 += 1;
        let received = next[flow.dst.index()].1;
        next[flow.dst.index()].1 += 1;
        (sent, received)
    };
    spec.flows.iter().map(place).collect()
}

fn switches(
    spec: &Spec,
    shared: &Shared,
    (tables, knowledge): (Vec<Routes>, &Knowledge),
    here: &dyn Fn(NodeId) -> bool,
) -> Vec<Switch> {
    let make = |(id, routes): (NodeId, Routes)| {
        let mut switch =
            Switch::new(id, (spec, &shared.switch), routes, &links(spec, id), knowledge);
        switch.ports.iter_mut().for_each(|port| port.telemetry = shared.telemetry);
        switch
    };
    let routed = spec.graph.switches().zip(tables).filter(|(id, _)| here(*id));
    let mut switches: Vec<Switch> = routed.map(make).collect();
    let mut epochs = vec![VecDeque::new(); spec.graph.switches().count()];
    for (at, tables) in failure::epochs(&spec.failures, &spec.graph) {
        epochs.iter_mut().zip(tables).for_each(|(epochs, routes)| epochs.push_back((at, routes)));
    }
    let epochs = spec.graph.switches().zip(epochs).filter(|(id, _)| here(*id));
    for (switch, (_, epochs)) in switches.iter_mut().zip(epochs) {
        switch.fail(spec, epochs);
    }
    switches
}

fn hosts(
    spec: &Spec,
    shared: &Arc<Shared>,
    knowledge: &Knowledge,
    here: &dyn Fn(NodeId) -> bool,
) -> Vec<Host> {
    let nodes = spec.graph.nodes.len();
    let (mut outgoing, mut incoming) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (id, flow) in numbered(&spec.flows) {
        outgoing[flow.src.index()].push(id);
        incoming[flow.dst.index()].push(id);
    }
    let mut triggers: BTreeMap<NodeId, Vec<Trigger>> = BTreeMap::new();
    for trigger in &spec.triggers {
        let source = spec.flows[trigger.begins.index()].src;
        triggers.entry(source).or_default().push(*trigger);
    }
    let mut programs: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
    for (index, program) in (0..).zip(&spec.programs) {
        programs.entry(program.host).or_default().push(index);
    }
    let make = |id: NodeId| {
        let link = links(spec, id)[0];
        let mut sends: Vec<FlowId> = std::mem::take(&mut outgoing[id.index()]);
        sends.shrink_to_fit();
        let mut host = Host::new(id, link, shared.clone(), sends, &incoming[id.index()]);
        let here = programs.get(&id).map_or(&[][..], Vec::as_slice);
        let triggers = triggers.get(&id).map_or(&[][..], Vec::as_slice);
        host.wait_for(triggers, (&spec.programs, here));
        host.regulate(knowledge.peers.regulator(link.peer));
        let end = (id, PortIx(0));
        host.fail(Outages::at(spec, end));
        host.hold(Pacing::at(spec, end));
        if let Some(limit) = spec.record {
            host.record(limit, &sampling(spec, 0));
        }
        host
    };
    spec.graph.hosts().filter(|id| here(*id)).map(make).collect()
}

/// The links of a node, as its transmitters see them.
fn links(spec: &Spec, id: NodeId) -> Vec<Link> {
    let ports = spec.graph.node(id).ports.iter();
    let link = |(port, end): (usize, &Attachment)| Link {
        peer: end.peer,
        peer_port: end.peer_port,
        rate: end.rate,
        rate_back: spec.graph.rate_to(end),
        line: end.line,
        delay: end.delay,
        latency: match spec.graph.node(end.peer).kind {
            NodeKind::Host => Duration::ZERO,
            NodeKind::Switch { .. } => spec.switch.latency,
        },
        response: response(spec, spec.graph.rate_to(end)),
        wire_overhead: spec.wire_overhead,
        largest_frame: largest_frame(spec),
        node: id,
        port: PortIx(port as u16),
    };
    ports.enumerate().map(link).collect()
}

/// Response time of a port of this rate to a pause frame.
fn response(spec: &Spec, rate: Rate) -> Duration {
    let flow_control = &spec.switch.flow_control;
    let pfc = flow_control.pfc.as_ref().map(|pfc| pfc.response_at(rate));
    pfc.or(flow_control.pause.as_ref().map(|pause| pause.response)).unwrap_or_default()
}

/// Which nodes are on which of so many threads, with these windows and longest time on a link.
pub(crate) fn layout(spec: &Spec, (windows, hop): (Windows, Duration), threads: usize) -> Layout {
    let ports = |node: &Node| match node.kind {
        NodeKind::Host => 1,
        NodeKind::Switch { .. } => node.ports.len(),
    };
    let ports: Vec<usize> = spec.graph.nodes.iter().map(ports).collect();
    Layout::new(&ports, &groups(&spec.graph), windows, hop, threads)
}

/// Nodes that belong on the same thread: a switch with its hosts.
pub(crate) fn groups(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut groups: BTreeMap<NodeId, Vec<NodeId>> =
        graph.switches().map(|switch| (switch, vec![switch])).collect();
    for host in graph.hosts() {
        let edge = graph.node(host).ports[0].peer;
        groups.entry(edge).or_default().push(host);
    }
    groups.into_values().collect()
}

/// Length of the longest frame: a full packet of the workload with the largest packets.
fn largest_frame(spec: &Spec) -> u16 {
    let frames = spec.profiles.iter().map(|profile| profile.transport.largest_frame());
    frames.max().unwrap_or(length::SHORTEST_FRAME)
}

/// Windows as long as the shortest time from a decision to send to the arrival; and the longest
/// such time.
pub(crate) fn windows(spec: &Spec) -> (Windows, Duration) {
    let largest = largest_frame(spec);
    // Link control has the shortest Ethernet frames, or credit frames of any length.
    let credit = spec.switch.flow_control.cbfc.iter().map(|cbfc| cbfc.frame.0 as u16);
    let frames = spec.profiles.iter().map(|profile| profile.transport.shortest_frame());
    let shortest = frames.chain(credit).min().unwrap_or(length::SHORTEST_FRAME);
    let overhead = u64::from(spec.wire_overhead);
    let time = |end: &Attachment, frame: u16| {
        end.delay + end.rate.time_for(Bytes(end.on_wire(frame, overhead)))
    };
    let links = || spec.graph.ends();
    let shortest = links().map(|end| time(end, shortest)).min();
    let longest = links().map(|end| time(end, largest)).max().unwrap_or_default();
    let response = links().map(|end| response(spec, end.rate)).max().unwrap_or_default();
    let longest = longest + spec.switch.latency.max(response);
    let ports = spec.graph.nodes.iter().map(|node| node.ports.len()).max().unwrap_or(1);
    (Windows::new(shortest.unwrap_or(Duration(u64::MAX)), ports), longest)
}

/// Number of switch tiers.
fn tiers(graph: &Graph) -> u8 {
    let tier = |id| match graph.node(id).kind {
        NodeKind::Switch { tier } => tier + 1,
        NodeKind::Host => 0,
    };
    graph.switches().map(tier).max().unwrap_or(0)
}

/// The programs that have steps, which at some time have all finished.
fn working(spec: &Spec) -> impl Iterator<Item = &Program> {
    spec.programs.iter().filter(|program| !program.steps.is_empty())
}

/// By flow: whether the measured interval is extended until it has completed. This applies to the
/// flows of awaited workloads that are measured. Empty for none.
fn awaited(spec: &Spec) -> Vec<bool> {
    if !spec.awaited.contains(&true) {
        return Vec::new();
    }
    // The start of a flow with dependencies is not known in advance.
    let mut waits: Vec<bool> = spec.flows.iter().map(|flow| flow.in_turn).collect();
    spec.triggers.iter().for_each(|trigger| waits[trigger.begins.index()] = true);
    let sent = spec.programs.iter().flat_map(Program::sent);
    sent.for_each(|(_, flow)| waits[flow.index()] = true);
    let is_awaited = |(flow, waits): (&FlowSpec, bool)| {
        let of_workload = spec.awaited.get(usize::from(flow.workload)).copied().unwrap_or(false);
        of_workload && !flow.is_persistent() && (waits || flow.start.0 >= spec.warmup.0)
    };
    spec.flows.iter().zip(waits).map(is_awaited).collect()
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
