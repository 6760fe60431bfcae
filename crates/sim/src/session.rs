//! A simulation that another program drives: it injects flows, advances time, and collects completions.
//!
//! Nodes are independent within a window, so all of a window is simulated before its completions are known. What another
//! program does because of a completion can therefore not take effect at once. A [`Session`] has a host latency for that: a
//! flow that is injected at a time starts the latency later. With a latency of at least a window, the flow always starts
//! in a window that has not been simulated, and every event is at its exact time.

mod kernels;
pub mod reading;
mod steering;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::AtomicBool;

use floodway_engine::{Limits, Stop};
use floodway_model::graph::NodeKind;
use floodway_model::{
    Duration, FlowId, FlowSpec, Instant, NodeId, Operation, Progressions, Reuse, Trigger,
};

use crate::Spec;
use crate::deadlock;
use crate::kernel::Backend;
use crate::outcome::Outcome;
use crate::run::{Finished, Live};
use crate::simulation::{Blocks, Rest, Simulation, ending, layout, violations};

use kernels::Ordered;

/// How a session is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The workload to which injected flows belong: an index of [`Spec::profiles`].
    pub workload: u16,
    /// Time from the injection of a flow to its start, at least a window; `None` for exactly a window.
    pub latency: Option<Duration>,
    /// Number of threads, at least 1. It does not affect results.
    pub threads: usize,
    /// Whether the auditor checks the invariants at every event; in builds with debug assertions it always does.
    pub audit: bool,
}

/// A flow that has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The flow, as [`Session::inject`] returned it.
    pub flow: FlowId,
    /// When it started: the latency after its injection.
    pub start: Instant,
    /// When its last byte arrived at the destination.
    pub at: Instant,
}

/// What is wrong with a call of a session. The session is as it was before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The latency is shorter than a window.
    Latency {
        /// The latency.
        latency: Duration,
        /// The window.
        window: Duration,
    },
    /// The latency is not shorter than the simulation, so that no flow could start.
    Endless {
        /// The latency.
        latency: Duration,
        /// The end.
        end: Instant,
    },
    /// The simulation cannot be a session.
    Refused {
        /// Why.
        cause: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A node that is not a host of the network.
    UnknownHost {
        /// Its number.
        host: u32,
        /// Number of hosts.
        hosts: usize,
    },
    /// A flow from a host to itself.
    ToItself {
        /// The name of the host.
        host: String,
    },
    /// A flow without a byte.
    Empty,
    /// A flow with more packets than can be numbered.
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The largest possible size.
        most: u64,
    },
    /// A flow that there is not.
    UnknownFlow {
        /// Its number.
        flow: FlowId,
        /// Number of flows.
        flows: usize,
    },
    /// A flow with a size, which cannot be stopped.
    HasSize {
        /// The flow.
        flow: FlowId,
    },
    /// A time that has passed.
    Past {
        /// The time.
        at: Instant,
        /// The time of the session.
        now: Instant,
    },
    /// A time after the end of the simulation.
    AfterEnd {
        /// The time.
        at: Instant,
        /// The end.
        end: Instant,
    },
    /// A flow that would start at the end of the simulation or later.
    TooLate {
        /// When it is injected.
        at: Instant,
        /// The latency.
        latency: Duration,
        /// The end.
        end: Instant,
    },
    /// The caller has interrupted the call. It can be repeated.
    Interrupted,
    /// A flow that would start in what an interrupted call has simulated already.
    Simulated {
        /// When it would start.
        start: Instant,
        /// The time until which everything has been simulated.
        reached: Instant,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency { latency, window } => write!(
                f,
                "the host latency of {latency} is shorter than a window of {window}, the shortest time in which a frame \
                 crosses a link: it must be at least {window}"
            ),
            Self::Endless { latency, end } => write!(
                f,
                "with a host latency of {latency} no flow can start before the end of the simulation, {end}: lower the \
                 latency, or raise `limit` in the scenario"
            ),
            Self::Refused { cause, remedy } => write!(f, "{cause}: {remedy}"),
            Self::UnknownHost { host, hosts } => write!(
                f,
                "there is no host {host}: the network has {hosts} hosts, with the numbers 0 to {}",
                hosts - 1
            ),
            Self::ToItself { host } => write!(
                f,
                "a flow from {host} to itself does not cross the network: source and destination must differ"
            ),
            Self::Empty => write!(f, "a flow of 0 bytes: the size must be at least 1 byte"),
            Self::TooLarge { bytes, most } => write!(
                f,
                "a flow of {bytes} bytes has more packets than can be numbered: at most {most} bytes are possible"
            ),
            Self::UnknownFlow { flow, flows } => {
                write!(f, "there is no flow {}: there are {flows} flows, counted from 0", flow.0)
            }
            Self::HasSize { flow } => write!(
                f,
                "flow {} has a size and ends by itself: only long-lived flows can be stopped",
                flow.0
            ),
            Self::Past { at, now } => {
                write!(
                    f,
                    "{at} has passed: the session is at {now}, and the time must not be before that"
                )
            }
            Self::AfterEnd { at, end } => write!(
                f,
                "{at} is after the end of the simulation, {end}: raise `limit` in the scenario"
            ),
            Self::TooLate { at, latency, end } => write!(
                f,
                "a flow that is injected at {at} starts {latency} later, which is not before the end of the simulation, \
                 {end}: raise `limit` in the scenario"
            ),
            Self::Interrupted => write!(f, "the session was interrupted"),
            Self::Simulated { start, reached } => write!(
                f,
                "a flow that starts at {start} comes too late: the call that was interrupted has simulated until {reached}, \
                 so repeat it first"
            ),
        }
    }
}

impl std::error::Error for Error {}

/// A simulation into which flows are injected while it runs.
///
/// Its time, [`Session::now`], is zero at first and advances only by [`Session::advance`] and [`Session::next`]. The
/// simulation runs at most one window ahead of it; completions in that window are returned when their time has come.
/// Results do not depend on the number of threads, nor on how many calls divide the time.
pub struct Session {
    live: Live,
    rest: Rest,
    options: Options,
    latency: Duration,
    window: Duration,
    end: Instant,
    now: Instant,
    /// Everything before this time has been simulated.
    reached: Instant,
    /// Injected flows that the nodes do not know yet.
    waiting: Vec<FlowSpec>,
    /// Completions of injected flows that have not been returned, in order.
    completions: VecDeque<Completion>,
    /// The first injected flow.
    first: u32,
    /// Injected flows that have not completed.
    in_flight: u64,
    /// Awaited flows that the simulation has by itself.
    awaited: u64,
    /// The largest flow in bytes.
    most: u64,
    /// Long-lived flows of kernels.
    ordered: Ordered,
    begun: std::time::Instant,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut session = f.debug_struct("Session");
        session.field("now", &self.now).field("in_flight", &self.in_flight);
        session.finish_non_exhaustive()
    }
}

impl Session {
    /// Opens a session at time zero. The simulation may have flows of its own.
    pub fn open(spec: Spec, options: Options) -> Result<Self, Error> {
        Self::connected(spec, options, Vec::new())
    }

    /// The same with the kernels of [`Spec::kernels`], whose backends these are, in their order.
    pub fn connected(
        spec: Spec,
        options: Options,
        backends: Vec<Box<dyn Backend>>,
    ) -> Result<Self, Error> {
        refuse(&spec, options, backends.len())?;
        let ordered = Ordered::of(&spec);
        let (first, end) = (spec.flows.len() as u32, Instant(spec.end.0));
        let payload = spec.profiles[usize::from(options.workload)].transport.payload();
        let waits = spec.awaited.get(usize::from(options.workload)).copied().unwrap_or(false);
        let mut simulation = Simulation::new(spec);
        if !backends.is_empty() {
            simulation = simulation.connected(backends);
        }
        if options.audit {
            simulation = simulation.audited(true);
        }
        let window = simulation.windows().0.length();
        let latency = options.latency.unwrap_or(window);
        if latency < window {
            return Err(Error::Latency { latency, window });
        }
        if latency.0 >= end.0 {
            return Err(Error::Endless { latency, end });
        }
        let awaited = simulation.awaited();
        if waits {
            simulation = simulation.open_ended();
        }
        // In blocks, what has happened on one side would be known too late.
        let threads = (1, options.threads);
        let layout = layout(simulation.spec(), simulation.windows(), threads, Blocks::None);
        let (rest, live) =
            simulation.begin(|nodes, measurement| Live::new(nodes, &layout, measurement));
        Ok(Self {
            live,
            rest,
            options,
            latency,
            window,
            end,
            now: Instant::ZERO,
            reached: Instant::ZERO,
            waiting: Vec::new(),
            completions: VecDeque::new(),
            first,
            in_flight: 0,
            awaited,
            most: payload.saturating_mul(u64::from(u32::MAX) - 1),
            ordered,
            begun: std::time::Instant::now(),
        })
    }

    /// The time of the session.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The end of the simulation, after which nothing can be injected.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Time from the injection of a flow to its start.
    pub fn latency(&self) -> Duration {
        self.latency
    }

    /// The length of a window, the least latency.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Number of injected flows whose completion has not been returned.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// What is simulated, with the injected flows that have been handed to the nodes.
    pub fn spec(&self) -> &Spec {
        &self.rest.spec
    }

    /// The host of this name.
    pub fn host(&self, name: &str) -> Option<NodeId> {
        let graph = &self.rest.spec.graph;
        graph.hosts().find(|host| graph.node(*host).name == name)
    }

    /// Injects a flow now. It starts after the latency.
    pub fn inject(&mut self, src: NodeId, dst: NodeId, bytes: u64) -> Result<FlowId, Error> {
        self.inject_at(src, dst, bytes, self.now)
    }

    /// Injects a flow at a time that may be later than now. It starts the latency after that time.
    pub fn inject_at(
        &mut self,
        src: NodeId,
        dst: NodeId,
        bytes: u64,
        at: Instant,
    ) -> Result<FlowId, Error> {
        self.check_ends(src, dst)?;
        if bytes == 0 {
            return Err(Error::Empty);
        }
        if bytes > self.most {
            return Err(Error::TooLarge { bytes, most: self.most });
        }
        if at < self.now {
            return Err(Error::Past { at, now: self.now });
        }
        let start = at + self.latency;
        if start >= self.end {
            return Err(Error::TooLate { at, latency: self.latency, end: self.end });
        }
        // The latency is at least a window, and only calls that are interrupted are more than that ahead.
        if start < self.reached {
            return Err(Error::Simulated { start, reached: self.reached });
        }
        self.in_flight += 1;
        let (stop, workload) = (Instant::NEVER, self.options.workload);
        Ok(self.wait(FlowSpec { src, dst, bytes, start, stop, workload, in_turn: false }))
    }

    /// Keeps a flow until it is handed over, and gives its number.
    fn wait(&mut self, flow: FlowSpec) -> FlowId {
        let number = FlowId((self.rest.spec.flows.len() + self.waiting.len()) as u32);
        self.waiting.push(flow);
        number
    }

    fn check_ends(&self, src: NodeId, dst: NodeId) -> Result<(), Error> {
        for host in [src, dst] {
            self.check_host(host)?;
        }
        if src == dst {
            return Err(Error::ToItself { host: self.rest.spec.graph.node(src).name.clone() });
        }
        Ok(())
    }

    fn check_host(&self, host: NodeId) -> Result<(), Error> {
        let graph = &self.rest.spec.graph;
        match graph.nodes.get(host.index()).map(|node| node.kind) {
            Some(NodeKind::Host) => Ok(()),
            _ => Err(Error::UnknownHost { host: host.0, hosts: graph.hosts().count() }),
        }
    }

    /// Advances to this time, and returns the completions until then, those at this time included, in order of time and
    /// flow.
    pub fn advance(&mut self, until: Instant) -> Result<Vec<Completion>, Error> {
        self.advance_while(until, &AtomicBool::new(false))
    }

    /// The same, unless `stop` is set meanwhile.
    pub fn advance_while(
        &mut self,
        until: Instant,
        stop: &AtomicBool,
    ) -> Result<Vec<Completion>, Error> {
        self.check_time(until)?;
        self.hand_over();
        while self.run(until, 0, stop)? {}
        self.now = until;
        let due = self.completions.partition_point(|completion| completion.at <= until);
        self.in_flight -= due as u64;
        Ok(self.completions.drain(..due).collect())
    }

    /// Advances to the next completion, or to a time if that comes first. Completions at the same time are returned one
    /// by one, in order of flow. Without a time, `None` means that no injected flow is in flight, or that those that are do
    /// not complete until the end of the simulation, which is then the time of the session.
    pub fn next(&mut self, until: Option<Instant>) -> Result<Option<Completion>, Error> {
        self.next_while(until, &AtomicBool::new(false))
    }

    /// The same, unless `stop` is set meanwhile.
    pub fn next_while(
        &mut self,
        until: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<Completion>, Error> {
        let limit = until.unwrap_or(self.end);
        self.check_time(limit)?;
        if until.is_none() && self.in_flight == 0 {
            return Ok(None);
        }
        self.hand_over();
        while self.completions.is_empty() && self.run(limit, 1, stop)? {}
        if let Some(next) = self.completions.front().copied().filter(|next| next.at <= limit) {
            self.completions.pop_front();
            self.in_flight -= 1;
            self.now = next.at;
            return Ok(Some(next));
        }
        self.now = limit;
        Ok(None)
    }

    fn check_time(&self, at: Instant) -> Result<(), Error> {
        if at < self.now {
            return Err(Error::Past { at, now: self.now });
        }
        if at > self.end {
            return Err(Error::AfterEnd { at, end: self.end });
        }
        Ok(())
    }

    /// Lets the nodes know of the injected flows.
    fn hand_over(&mut self) {
        if !self.waiting.is_empty() {
            self.live.add(std::mem::take(&mut self.waiting), &mut self.rest);
        }
    }

    /// Simulates what happens until this time, or until so many more flows have ended, if that is not 0. Whether there is
    /// more to simulate.
    fn run(&mut self, until: Instant, flows: u64, stop: &AtomicBool) -> Result<bool, Error> {
        let end = self.live.window_end(until).min(self.end);
        if end <= self.reached {
            return Ok(false);
        }
        let flows = if flows == 0 { 0 } else { self.live.flows_done() + flows };
        let limits = Limits { end, flows, until_acknowledged: false, stop, watch: &|_| {} };
        let mut completed = Vec::new();
        let (ended, _) = self.live.advance(&limits, &mut completed);
        self.reached = match ended {
            Stop::TimeLimit => end,
            Stop::FlowsDone | Stop::Interrupted => self.live.simulated().max(self.reached),
        };
        completed.sort_unstable_by_key(|&(flow, at)| (at, flow));
        let injected = completed.into_iter().filter(|(flow, _)| flow.0 >= self.first);
        let start = |flow: FlowId| self.rest.spec.flows[flow.index()].start;
        let completion = |(flow, at)| Completion { flow, start: start(flow), at };
        self.completions.extend(injected.map(completion));
        if ended == Stop::Interrupted { Err(Error::Interrupted) } else { Ok(self.reached < end) }
    }

    /// Ends the session and returns the outcome, with the tables of a run. If all flows with a size have completed, it ends
    /// when all are acknowledged, as a run does; otherwise at the end of the window of [`Session::now`].
    pub fn close(mut self) -> Outcome {
        self.hand_over();
        let (spec, never) = (&self.rest.spec, AtomicBool::new(false));
        let of_session = &spec.flows[self.first as usize..];
        let awaited = of_session.iter().filter(|flow| spec.awaits(flow));
        let awaited = self.awaited + awaited.count() as u64;
        self.live.set_awaited(awaited);
        let flows = ending(spec);
        let are_done = flows > 0 && self.live.flows_done() >= flows;
        let limits = Limits {
            end: if are_done { self.end } else { self.reached },
            flows: if are_done { flows } else { 0 },
            until_acknowledged: awaited > 0,
            stop: &never,
            watch: &|_| {},
        };
        let ended = self.live.advance(&limits, &mut Vec::new());
        let mut finished = self.live.finish(ended, &self.rest.metrics);
        let find = |finished: &Finished| deadlock::find(&finished.switches, finished.now);
        let spec = self.rest.conclude(&mut finished, find);
        let violations = violations(&spec, &finished);
        Outcome::new(&spec, finished, violations, self.begun.elapsed())
    }
}

/// What a session cannot have, because it is laid out for the flows that are known before a run.
fn refuse(spec: &Spec, options: Options, kernels: usize) -> Result<(), Error> {
    let refused = |cause, remedy| Err(Error::Refused { cause, remedy });
    if usize::from(options.workload) >= spec.profiles.len() {
        return refused(
            "injected flows need a workload whose place they take",
            "choose one of the scenario",
        );
    }
    if options.threads == 0 {
        return refused("a session has no threads", "it needs at least 1 thread");
    }
    if spec.kernels.len() != kernels {
        let cause = "a session cannot have hosts that are Linux kernels";
        return refused(cause, "remove [workload.linux] from the scenario");
    }
    if !spec.programs.is_empty() {
        let cause = "a session cannot have jobs whose ranks are programs";
        return refused(
            cause,
            "remove [workload.goal], [workload.chakra] or [workload.training], and inject the flows of the job",
        );
    }
    if spec.sampled.is_some() {
        let cause = "a session cannot sample the rounds of a job: it ends when its program ends it";
        return refused(cause, "remove [sampling] from the scenario");
    }
    if spec.graph.has_several_ports() {
        let cause = "a session cannot have hosts with several ports";
        return refused(cause, "give every host one port");
    }
    if spec.explained.is_some() {
        let cause = "a session cannot explain delays, for which flows are chosen before a run";
        return refused(cause, "remove `explained_flows` from the scenario");
    }
    if spec.switch.queue.discipline.needs_sizes() {
        let cause = "a session cannot have switches that know the size of every flow before a run";
        return refused(cause, "choose another [switch.queue.discipline]");
    }
    Ok(())
}

/// The same simulation without the flows of a workload, in whose place a session injects others.
#[must_use]
pub fn without_workload(mut spec: Spec, workload: u16) -> Spec {
    let stays = |flow: &FlowSpec| flow.workload != workload;
    let mut names = Vec::with_capacity(spec.flows.len());
    let mut next = 0;
    for flow in &spec.flows {
        names.push(stays(flow).then_some(FlowId(next)));
        next += u32::from(stays(flow));
    }
    let name = |flow: FlowId| names[flow.index()];
    let triggers = spec.triggers.iter().filter_map(|trigger| {
        let (after, begins) = (name(trigger.after)?, name(trigger.begins)?);
        Some(Trigger { after, begins, ..*trigger })
    });
    let triggers: Vec<Trigger> = triggers.collect();
    let operations = spec.operations.iter().filter_map(|operation| {
        let flows: Option<Progressions<FlowId>> = operation.flows.each().map(&name).collect();
        Some(Operation { flows: flows?, ..operation.clone() })
    });
    let operations: Vec<Operation> = operations.collect();
    let reuses = spec.reuses.iter();
    let reuses =
        reuses.filter_map(|Reuse { flow, of }| Some(Reuse { flow: name(*flow)?, of: name(*of)? }));
    let reuses: Vec<Reuse> = reuses.collect();
    spec.programs.retain(|program| program.workload != workload);
    spec.flows.retain(stays);
    let (triggers, operations, reuses) = (triggers.into(), operations.into(), reuses.into());
    Spec { triggers, operations, reuses, ..spec }
}
