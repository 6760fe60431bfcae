//! Jobs in GOAL: every rank is a program that its host runs, and every message is a flow.

use std::sync::Arc;

use floodway_model::check::{Check, Findings, count_of, rough_time};
use floodway_model::program::{self, Edge, Program, SendEnd};
use floodway_model::{Duration, FlowId, FlowSpec, Instant, NodeId, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::{Problems, files};
use crate::document::Document;
use crate::files::goal::{Action, Job, Rank};

/// Parameters. Every message is a flow of its own, with a congestion control that begins anew. Hosts
/// are named: none is taken from the order of placement, and flows may run on hosts of other
/// workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The file, its path relative to the scenario file: a text, or the binary form that `txt2bin` makes.
    pub path: String,
    /// The hosts of the ranks, in order of their numbers, like "0-9" or "0, 4, 1, 5", by name, like
    /// "host 0-9", or "all", of which there may be more than ranks. Default all.
    #[serde(default = "Hosts::all")]
    pub ranks: Hosts,
    /// The unit of time of `calc`; half of it makes all computations twice as fast. Default 1ns.
    #[serde(default = "nanosecond")]
    pub unit: Duration,
    /// When a send is finished, so that what requires it may begin. Default `handed_over`.
    #[serde(default)]
    pub sends: Sends,
    /// When all ranks begin, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

fn nanosecond() -> Duration {
    Duration::from_ns(1)
}

/// When a send is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sends {
    /// When all of the message has left the memory of the sender for the first time.
    #[default]
    HandedOver,
    /// When the sender has an acknowledgement of all of it. The transport must have such.
    Acknowledged,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.positive("unit", self.unit, "GOAL has nanoseconds by convention: \"1ns\"");
        findings.within_a_run("unit", self.unit);
    }
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let job = files::read_job(path, &self.path, findings);
        let findings = &mut findings.within(path);
        // What begins later may be measured.
        check::starts(self.start, false, settings, findings);
        let Some(job) = job else {
            check::numbers("ranks", &self.ranks, settings, findings);
            return None;
        };
        let ranks = job.ranks.len();
        let hosts = check::hosts_of_ranks(ranks, &self.ranks, "path", settings, findings)?;
        let count = count_of(ranks as u64, "rank");
        if job.messages.is_empty() {
            findings.error(
                "path",
                format!("the job has {count} and no message"),
                "take a file with send and recv",
            );
            return None;
        }
        self.check_times(&job, settings, findings)?;
        if let Some(nic) = job.ranks.iter().flat_map(|rank| &rank.steps).find(|step| step.nic > 0) {
            findings.warn(
                "path",
                format!("an operation has nic {}, which does not choose a port", nic.nic),
                "of a host with several, `ports` chooses the port of a message",
            );
        }
        Some(Arc::new(Placed { spec: self.clone(), job, hosts }))
    }
}

impl Spec {
    /// Whether every computation, and all of a stream, is possible.
    fn check_times(
        &self,
        job: &Job,
        settings: &Document,
        findings: &mut Findings<'_>,
    ) -> Option<()> {
        let mut longest: Option<(Duration, usize, usize)> = None;
        for (number, rank) in job.ranks.iter().enumerate() {
            let mut streams = [0u64; 256];
            for step in &rank.steps {
                let Action::Compute(units) = step.action else { continue };
                let sum = &mut streams[usize::from(step.cpu)];
                let time = units.checked_mul(self.unit.0).and_then(|time| sum.checked_add(time));
                // So that times of a run cannot overflow.
                let Some(time) = time.filter(|&time| time < u64::MAX / 4) else {
                    findings.error(
                        ["unit", "path"],
                        format!("rank {number} computes for longer than any run"),
                        "shorten its calc, or make `unit` smaller",
                    );
                    return None;
                };
                *sum = time;
            }
            let most = streams.iter().enumerate().max_by_key(|(_, time)| **time);
            if let Some((cpu, &time)) = most
                && longest.is_none_or(|(most, ..)| Duration(time) > most)
            {
                longest = Some((Duration(time), number, cpu));
            }
        }
        let left = Duration(settings.limit.0.saturating_sub(self.start.0));
        if let Some((time, rank, cpu)) = longest.filter(|(time, ..)| *time > left) {
            findings.warn(
                ["/limit", "unit"],
                format!(
                    "cpu {cpu} of rank {rank} computes for {}, and the run ends {} after the start of \
                     the job",
                    rough_time(time),
                    rough_time(left)
                ),
                "the job will not finish: raise `limit`",
            );
        }
        Some(())
    }
}

/// With its file read and its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    job: Job,
    hosts: Vec<u32>,
}

impl Placed {
    /// The program of a rank, with the flow of each of its steps that has one.
    fn program(
        &self,
        (number, rank): (usize, &Rank),
        flows: &[FlowId],
        (host, workload): (NodeId, u16),
    ) -> Program {
        let step = |(step, flow): (&crate::files::goal::Step, &FlowId)| program::Step {
            action: match step.action {
                Action::Compute(units) => program::Action::Compute(self.spec.unit * units),
                Action::Send(_) => program::Action::Send(*flow),
                Action::Receive(_) => program::Action::Receive(*flow),
            },
            stream: step.cpu,
            line: step.line,
        };
        Program {
            host,
            workload,
            rank: number as u32,
            start: Instant::ZERO + self.spec.start,
            sends: match self.spec.sends {
                Sends::HandedOver => SendEnd::HandedOver,
                Sends::Acknowledged => SendEnd::Acknowledged,
            },
            steps: rank.steps.iter().zip(flows).map(step).collect(),
            edges: rank.edges.iter().copied().collect::<Box<[Edge]>>(),
            nodes: Box::default(),
            rounds: Box::default(),
        }
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let hosts = around.named(&self.hosts);
        let mut traffic = Traffic::default();
        // By rank and step; computations have none.
        let mut of: Vec<Vec<FlowId>> =
            self.job.ranks.iter().map(|rank| vec![FlowId(0); rank.steps.len()]).collect();
        for message in &self.job.messages {
            let ends = [message.from, message.to].map(|(rank, _)| hosts[rank as usize]);
            // A flow has at least a byte, which fits into the frame of a message without any.
            let bytes = message.bytes.max(1);
            let flow = around.message(ends[0], ends[1], bytes, self.spec.start);
            let flow = traffic.then(flow, &[], Duration::ZERO);
            for (rank, step) in [message.from, message.to] {
                of[rank as usize][step as usize] = flow;
            }
        }
        for ((number, rank), flows) in self.job.ranks.iter().enumerate().zip(&of) {
            let place = (hosts[number], around.number);
            traffic.programs.push(self.program((number, rank), flows, place));
        }
        let all: Vec<FlowId> = (0..traffic.flows.len() as u32).map(FlowId).collect();
        traffic.operations.push(Operation { job: true, ..Operation::of(0, all) });
        traffic
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        self.job.messages.len() as f64
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn waits_for_acknowledgements(&self) -> Option<&'static str> {
        (self.spec.sends == Sends::Acknowledged).then_some("sends")
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.job.messages.iter().map(|message| message.bytes.max(1)).max().unwrap_or(0)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["path".to_owned()]
    }
}
