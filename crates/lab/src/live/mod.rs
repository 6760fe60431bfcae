//! A run that is steered while it goes on: long-lived flows of each workload come and go, and queue management is
//! switched from that of one variant to that of another. Rates, queuing delays and utilization are read as time advances.
//!
//! Every action takes effect at a time of the simulation, and [`Log`] has it: a run can be repeated from its log.

mod log;
mod sample;

use std::collections::BTreeMap;
use std::fmt;

use floodway_model::{Duration, FlowId, Instant, NodeId, PortIx};
use floodway_scenario::{Scenario, Variant, suggest};
use floodway_sim::session::{Options, Session};
use floodway_sim::switch::change::Change;
use floodway_sim::{Outcome, Spec, switch};
use serde::{Deserialize, Serialize};

use crate::session::{self, Error};
use crate::{Budget, Kept, Kernels};

pub use log::{Damaged, Entry, Head, Log};
pub use sample::{Flows, Queue, Sample};

/// The most flows of a workload at a time.
pub const MOST_FLOWS: u32 = 200;

/// What a user does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A workload has so many long-lived flows from now on: some are started, or the last ones stopped.
    Flows {
        /// The workload, by its name among [`Live::kinds`].
        kind: String,
        /// Number of flows.
        count: u32,
    },
    /// Switches have the queue management of this variant.
    Management(String),
}

/// A workload whose flows come and go.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name, or that of its congestion control.
    pub name: String,
    /// Its congestion control.
    pub congestion: String,
    /// Whether its hosts are Linux kernels.
    pub is_linux: bool,
    workload: u16,
    /// Senders and receivers of its flows, from the beginning again after the last.
    pairs: Vec<(NodeId, NodeId)>,
    /// Those that have not been stopped, in order of their start.
    flows: Vec<FlowId>,
}

impl Kind {
    /// Number of flows.
    pub fn count(&self) -> usize {
        self.flows.len()
    }
}

/// The queue management of a variant.
#[derive(Clone, Debug)]
pub struct Management {
    /// The name of the variant.
    pub name: String,
    /// Its AQM, or queue discipline with an AQM of its own.
    pub aqm: &'static str,
    /// The parameters of switches, or why a run cannot change to them.
    switch: Result<switch::Spec, String>,
}

impl Management {
    /// Why a run cannot change to it; `None` if it can.
    pub fn refused(&self) -> Option<&str> {
        self.switch.as_ref().err().map(String::as_str)
    }
}

/// Why an action is refused: cause and remedy, in a sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// Which run of a scenario it is, and how.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The variant at the beginning; the first if it is left out.
    pub variant: Option<String>,
    /// The replication, counted from 0.
    pub replication: u32,
    /// When it ends, before or at the time limit of the scenario; `None` for that.
    pub end: Option<Duration>,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Whether the auditor checks the invariants at every event.
    pub audit: bool,
}

/// What is left of a run that has ended.
#[derive(Debug)]
pub struct Closed {
    /// Its outcome.
    pub outcome: Outcome,
    /// What was done.
    pub log: Log,
    /// Files about its kernels.
    pub files: Vec<Kept>,
}

/// A run that is steered.
pub struct Live {
    session: Session,
    kinds: Vec<Kind>,
    managements: Vec<Management>,
    /// The present one, by number.
    management: usize,
    /// Ports of switches, with their names.
    ports: Vec<((NodeId, PortIx), String)>,
    log: Log,
    readings: sample::Readings,
    /// Gives the files about its kernels when they are gone.
    files: Box<dyn FnOnce() -> Vec<Kept>>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Live {
    /// Opens a run at time zero. It is measured from the beginning, and ends at the time of the choice. `kernels` starts
    /// hosts that are kernels.
    pub fn open(
        scenario: &Scenario,
        choice: &Choice,
        kernels: Option<&dyn Kernels>,
    ) -> Result<Self, Error> {
        let variant = match &choice.variant {
            Some(name) => scenario.variant(name)?,
            None => &scenario.variants()[0],
        };
        let replication = session::replication(scenario, Some(choice.replication))?;
        let seed = scenario.replication_seed(replication);
        if variant.workloads().iter().all(|workload| workload.long_pairs().is_empty()) {
            return Err(nothing_to_steer(variant));
        }
        // Before anything is built: in a long run, other workloads may have more flows than memory has room for.
        for of in scenario.variants() {
            Budget::of_one(of, seed, 1).check(&scenario.file_name)?;
        }
        let most = scenario.variants().iter().map(|of| of.build(seed).switch.queue.count).max();
        let most = most.unwrap_or(1);
        let spec = prepared(variant, seed, (most, choice.end));
        let managements: Vec<Management> = scenario
            .variants()
            .iter()
            .map(|other| management(&spec, other, seed, (most, choice.end)))
            .collect();
        let mut kinds = kinds(variant, &spec);
        if kinds.is_empty() {
            return Err(nothing_to_steer(variant));
        }
        for (flow, of) in (0..).map(FlowId).zip(&spec.flows) {
            let mut simulated = kinds.iter_mut().filter(|kind| !kind.is_linux);
            if let Some(kind) = simulated.find(|kind| kind.workload == of.workload) {
                kind.flows.push(flow);
            }
        }
        let has_kernels = !spec.kernels.is_empty();
        let kernels = kernels.filter(|_| has_kernels);
        let head = Head {
            scenario: scenario.name.clone(),
            variant: variant.name.clone(),
            replication,
            key: spec.key(),
            kernel: kernels.map(Kernels::name),
        };
        let ports = ports(&spec);
        let options = Options {
            workload: kinds[0].workload,
            latency: None,
            threads: choice.threads,
            audit: choice.audit,
        };
        let started = kernels.map(|kernels| kernels.start(&spec)).unwrap_or_default();
        if kernels.is_some() && started.backends.len() < spec.kernels.len() {
            return Err(Error::Choice("the kernels of the run have not started".to_owned()));
        }
        let session = Session::connected(spec, options, started.backends)?;
        for flow in session.flows_of_kernels() {
            let of = session.spec().flows[flow.index()].workload;
            if let Some(kind) = kinds.iter_mut().find(|kind| kind.workload == of) {
                kind.flows.push(flow);
            }
        }
        let place = scenario.variants().iter().position(|other| other.name == variant.name);
        let readings = sample::Readings::of(&session, &ports, &kinds);
        Ok(Self {
            session,
            kinds,
            managements,
            management: place.unwrap_or(0),
            ports,
            log: Log::new(head),
            readings,
            files: started.files,
        })
    }

    /// The time of the run.
    pub fn now(&self) -> Instant {
        self.session.now()
    }

    /// When it ends.
    pub fn end(&self) -> Instant {
        self.session.end()
    }

    /// Workloads whose flows come and go.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// What queue management can be switched to, and what cannot; in order of the variants.
    pub fn managements(&self) -> &[Management] {
        &self.managements
    }

    /// The number of the present one.
    pub fn management(&self) -> usize {
        self.management
    }

    /// The names of the ports of switches, by number.
    pub fn ports(&self) -> impl Iterator<Item = &str> {
        self.ports.iter().map(|(_, name)| name.as_str())
    }

    /// What has been done so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Carries out an action now. Returns when it takes effect, which is at most a window later. Nothing has changed if it is
    /// refused.
    pub fn act(&mut self, action: &Action) -> Result<Instant, Refused> {
        let at = match action {
            Action::Flows { kind, count } => self.set_flows(kind, *count)?,
            Action::Management(name) => self.manage_by(name)?,
        };
        self.log.add(self.session.now(), action.clone());
        Ok(at)
    }

    fn set_flows(&mut self, kind: &str, count: u32) -> Result<Instant, Refused> {
        let Some(place) = self.kinds.iter().position(|of| of.name == kind) else {
            let known: Vec<&str> = self.kinds.iter().map(|of| of.name.as_str()).collect();
            let remedy = suggest::remedy(kind, "kinds of flows", &known);
            return Err(Refused(format!("there are no flows of kind `{kind}`: {remedy}")));
        };
        if count > MOST_FLOWS {
            return Err(Refused(format!(
                "{count} flows of kind `{kind}` are too many: at most {MOST_FLOWS} are possible"
            )));
        }
        let (session, kind) = (&mut self.session, &mut self.kinds[place]);
        let effect = session.now() + session.latency();
        if effect >= session.end() {
            return Err(Refused(format!(
                "the run ends at {}: start it again with a later `--until`",
                session.end()
            )));
        }
        let refused = |error: floodway_sim::session::Error| Refused(error.to_string());
        while kind.flows.len() < count as usize {
            let (src, dst) = kind.pairs[kind.flows.len() % kind.pairs.len()];
            kind.flows.push(session.start(src, dst, kind.workload).map_err(refused)?);
        }
        while kind.flows.len() > count as usize {
            let Some(&last) = kind.flows.last() else { break };
            session.stop(last).map_err(refused)?;
            kind.flows.pop();
        }
        Ok(effect)
    }

    fn manage_by(&mut self, name: &str) -> Result<Instant, Refused> {
        let Some(place) = self.managements.iter().position(|of| of.name == name) else {
            let known: Vec<&str> = self.managements.iter().map(|of| of.name.as_str()).collect();
            let remedy = suggest::remedy(name, "variants", &known);
            return Err(Refused(format!("there is no variant `{name}`: {remedy}")));
        };
        match &self.managements[place].switch {
            Err(reason) => Err(Refused(format!("switches cannot be those of `{name}`: {reason}"))),
            Ok(switch) => {
                let changed = self.session.change(switch.clone());
                let at = changed.map_err(|error| Refused(error.to_string()))?;
                self.management = place;
                Ok(at)
            }
        }
    }

    /// Advances by a step, or to the end, and reads what has happened in it at a port.
    pub fn advance(&mut self, step: Duration, port: usize) -> Result<Sample, Error> {
        let until = (self.session.now() + step).min(self.session.end());
        self.session.advance(until)?;
        self.session.look();
        Ok(self.readings.take(&self.session, &self.ports, &self.kinds, port))
    }

    /// The port whose link was used most in the last step; `None` if none was.
    pub fn busiest(&self) -> Option<usize> {
        self.readings.busiest()
    }

    /// Ends the run, and returns what is left of it.
    pub fn close(mut self) -> Closed {
        let now = self.session.now();
        let outcome = self.session.close();
        self.log.finish(now, outcome.fingerprint);
        Closed { outcome, log: self.log, files: (self.files)() }
    }

    /// Repeats a run from its log to the end, in steps of a second. `watch` is called with the time after each, and ends
    /// the repetition by returning false.
    pub fn replay(
        mut self,
        log: &Log,
        mut watch: impl FnMut(Instant) -> bool,
    ) -> Result<Option<Closed>, Error> {
        log.head.check(&self.log.head).map_err(Error::Choice)?;
        let Some((end, _)) = log.end else {
            return Err(Error::Choice(
                "the log has no end, because the run was not ended: add a line such as {\"at_ns\":5000000000,\"end\":null}"
                    .to_owned(),
            ));
        };
        let mut to = |session: &mut Session, at: Instant| -> Result<bool, Error> {
            while session.now() < at {
                session.advance((session.now() + Duration::from_ms(1_000)).min(at))?;
                if !watch(session.now()) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        for Entry { at, action } in &log.entries {
            if !to(&mut self.session, *at)? {
                return Ok(None);
            }
            let done = self.act(action);
            done.map_err(|Refused(reason)| Error::Choice(format!("at {at}: {reason}")))?;
        }
        let is_over = to(&mut self.session, end)?;
        Ok(is_over.then(|| self.close()))
    }
}

fn nothing_to_steer(variant: &Variant) -> Error {
    Error::Choice(format!(
        "no workload of variant `{}` has long-lived flows that could come and go: add a [[workload]] with \
         [workload.long_flows], without an application, or `long_flows` in [workload.linux]",
        variant.name
    ))
}

/// The simulation of a variant: with so many data queues, measured from the beginning, and without tables that grow with
/// time.
fn prepared(variant: &Variant, seed: u64, (queues, end): (u8, Option<Duration>)) -> Spec {
    let mut spec = variant.build(seed);
    spec.end = end.map_or(spec.end, |end| end.min(spec.end));
    spec.switch.queue.count = queues;
    (spec.warmup, spec.measured_until) = (Duration::ZERO, spec.end);
    (spec.departures, spec.latencies, spec.flow_samples) = (true, false, None);
    spec.awaited = Vec::new();
    spec
}

/// Whether the run can change to the queue management of a variant. Nothing else may differ.
fn management(
    now: &Spec,
    variant: &Variant,
    seed: u64,
    (queues, end): (u8, Option<Duration>),
) -> Management {
    let then = prepared(variant, seed, (queues, end));
    let one = variant.build(seed).switch.queue.count;
    let differs = || -> Option<String> {
        let differs =
            |what: &str| Some(format!("{what} differ, and only queue management can change"));
        if one != 1 && one != queues {
            return Some(format!("it has {one} data queues, and others have {queues}"));
        }
        if then.profiles != now.profiles || then.host != now.host {
            return differs("its hosts");
        }
        if then.kernels != now.kernels {
            return differs("its Linux kernels");
        }
        if then.flows[..] != now.flows[..] {
            return differs("its flows");
        }
        let network = |spec: &Spec| serde_json::to_string(&spec.graph).ok();
        if network(&then) != network(now) {
            return differs("its links");
        }
        let possible = Change::check(&now.switch, &then.switch, true);
        possible.err().map(|refusal| format!("{}: {}", refusal.cause, refusal.remedy))
    };
    let refused = differs();
    Management {
        name: variant.name.clone(),
        aqm: then.switch.aqm_name(),
        switch: match refused {
            None => Ok(then.switch),
            Some(reason) => Err(reason),
        },
    }
}

/// The workloads whose flows can come and go, in their order.
fn kinds(variant: &Variant, spec: &Spec) -> Vec<Kind> {
    let hosts: Vec<NodeId> = spec.graph.first_ports().collect();
    let names = variant.workload_names();
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut kinds = Vec::new();
    for (number, workload) in variant.workloads().iter().enumerate() {
        let (pairs, profile) = (workload.long_pairs(), &spec.profiles[number]);
        if pairs.is_empty() || profile.application.is_some() {
            continue;
        }
        let host = |(src, dst): (u32, u32)| (hosts[src as usize], hosts[dst as usize]);
        let pairs: Vec<(NodeId, NodeId)> = pairs.into_iter().map(host).collect();
        let kernel = spec.kernels.iter().find(|kernel| kernel.host == pairs[0].0);
        let congestion = match kernel {
            None => profile.congestion.name(),
            // What a kernel has by itself.
            Some(kernel) => kernel.congestion().unwrap_or("cubic"),
        };
        let name = if names[number].is_empty() { congestion } else { names[number].as_str() };
        let times = taken.entry(name.to_owned()).or_default();
        *times += 1;
        let name = if *times == 1 { name.to_owned() } else { format!("{name} {times}") };
        kinds.push(Kind {
            name,
            congestion: congestion.to_owned(),
            is_linux: kernel.is_some(),
            workload: number as u16,
            pairs,
            flows: Vec::new(),
        });
    }
    kinds
}

/// All ports of switches: "switch 0, port 2 to host 3".
fn ports(spec: &Spec) -> Vec<((NodeId, PortIx), String)> {
    let graph = &spec.graph;
    let of = |node: NodeId| {
        let ports = graph.node(node).ports.iter().enumerate();
        ports.map(move |(port, end)| {
            let (from, to) = (&graph.node(node).name, &graph.node(end.peer).name);
            ((node, PortIx(port as u16)), format!("{from} to {to}"))
        })
    };
    graph.switches().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
