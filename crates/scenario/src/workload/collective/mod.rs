//! Collectives: what the ranks of a computation have in the end is made of what each of them had. In
//! [`schedule`] is who sends what to whom; here every message of it is a flow, and rounds follow each
//! other.
//!
//! A rank sends a message when it has received what it is to send and has sent what came before. Adding up
//! takes no time. A rank begins its part of a round when it has finished that of the round before and
//! `compute` has passed; it does not wait for the others.

mod hierarchical;
mod rails;
mod rooted;
pub mod schedule;

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Collective, CollectiveKind, Duration, FlowId, FlowSpec, Trigger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;
use schedule::{Algorithm, Plan, Schedule};

/// Parameters. Every message is a flow of its own, with a congestion control that begins anew. Hosts
/// are named: none is taken from the order of placement, and flows may run on hosts of other
/// workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What the ranks have in the end.
    pub operation: Kind,
    /// The ranks, at least 2, in their order: hosts by number, like "0-9" or "0, 4, 1, 5", by name,
    /// like "host 0-9", or "all". Default all.
    #[serde(default = "Hosts::all")]
    pub ranks: Hosts,
    /// Its size as nccl-tests defines it: the buffer of all-reduce and broadcast, all of the input of
    /// reduce-scatter and of all-to-all, all of the output of all-gather.
    pub bytes: Bytes,
    /// Who sends what to whom. Default `ring`; `direct` for all-to-all, which has no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// Ranks of each server, which follow each other in `ranks`. `hierarchical` needs it. With it, each channel of a
    /// `ring` leaves and enters servers by other ranks, so that as many channels use as many NICs. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_server: Option<u32>,
    /// Parts of the data that are carried side by side, each with flows of its own, which ECMP can
    /// send on different paths. Default 1.
    #[serde(default = "one")]
    pub channels: u32,
    /// Chunks that each message is cut into and that follow each other: a rank sends one on when it has
    /// received it. Of `ring` and the trees. Default 1.
    #[serde(default = "one")]
    pub chunks: u32,
    /// How often, one after the other. Default 1.
    #[serde(default = "one")]
    pub rounds: u32,
    /// Time from when a rank has finished its part of a round to when it begins the next. Default 0ns.
    #[serde(default)]
    pub compute: Duration,
    /// When the first round starts, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        findings.range("rounds", self.rounds, 1.., "or remove the workload");
        findings.within_a_run("compute", self.compute);
        findings.range("channels", self.channels, 1..=MOST_CHANNELS, "NCCL has up to 32");
        findings.range("chunks", self.chunks, 1..=MOST_CHUNKS, "each is a flow of its own");
    }
}

/// More than any library has.
pub(super) const MOST_CHANNELS: u32 = 1_024;

/// More than is of any use.
pub(super) const MOST_CHUNKS: u32 = 65_536;

pub(super) fn one() -> u32 {
    1
}

/// What the ranks have in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Each the sum of what all had.
    AllReduce,
    /// Each its part of that sum.
    ReduceScatter,
    /// Each the parts of all.
    AllGather,
    /// Each what the first rank had.
    Broadcast,
    /// Each a part of what each had.
    AllToAll,
}

impl From<Kind> for CollectiveKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::AllReduce => Self::AllReduce,
            Kind::ReduceScatter => Self::ReduceScatter,
            Kind::AllGather => Self::AllGather,
            Kind::Broadcast => Self::Broadcast,
            Kind::AllToAll => Self::AllToAll,
        }
    }
}

impl Parameters for Spec {
    fn rounds(&self) -> Option<(u32, &'static str)> {
        Some((self.rounds, "rounds"))
    }

    fn with_rounds(&self, rounds: u32) -> Option<Box<dyn Parameters>> {
        Some(Box::new(Self { rounds, ..self.clone() }))
    }

    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        // Later rounds may be measured.
        check::starts(self.start, self.rounds == 1, settings, findings);
        let ranks = check::several("ranks", &self.ranks, settings, findings)?;
        let kind = self.operation.into();
        let (all, name) = (Algorithm::of(kind), kind.name());
        let algorithm = self.algorithm.unwrap_or(all[0]);
        if !all.contains(&algorithm) {
            let others: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            findings.error(
                "algorithm",
                format!("there is no {name} by {}", algorithm.name()),
                format!("those of {name} are: {}", others.join(", ")),
            );
            return None;
        }
        if algorithm == Algorithm::HalvingDoubling && !ranks.len().is_power_of_two() {
            findings.error(
                "algorithm",
                format!("{} ranks cannot be halved down to one", ranks.len()),
                "name 2, 4, 8, 16 … hosts in `ranks`, or choose algorithm = \"ring\"",
            );
            return None;
        }
        if self.chunks > 1 && !algorithm.has_chunks() {
            findings.error(
                "chunks",
                format!("messages of {} are not cut into chunks", algorithm.name()),
                "remove `chunks`, or choose algorithm = \"ring\"",
            );
            return None;
        }
        let per_server = self.in_server(algorithm, ranks.len(), findings)?;
        let (bytes, channels, chunks) = (self.bytes.0, self.channels, self.chunks);
        let plan =
            Plan { kind, algorithm, ranks: ranks.len(), per_server, bytes, channels, chunks };
        if bytes < plan.parts() {
            findings.error(
                "bytes",
                format!("{} cannot be cut into {} parts", self.bytes, plan.parts()),
                format!("write at least \"{}B\"", plan.parts()),
            );
        }
        Some(Arc::new(Placed { spec: self.clone(), plan, ranks }))
    }
}

impl Spec {
    /// The ranks of a server; all ranks if the algorithm has no servers.
    fn in_server(
        &self,
        algorithm: Algorithm,
        ranks: usize,
        findings: &mut Findings<'_>,
    ) -> Option<usize> {
        const FIELD: &str = "per_server";
        let by_rails = algorithm == Algorithm::Ring && self.operation != Kind::Broadcast;
        if algorithm != Algorithm::Hierarchical && !(by_rails && self.per_server.is_some()) {
            if self.per_server.is_some() {
                let message = format!("`{}` knows no servers", algorithm.name());
                findings.error(FIELD, message, "remove it, or choose algorithm = \"hierarchical\"");
                return None;
            }
            return Some(ranks);
        }
        let Some(per_server) = self.per_server else {
            let message = "`hierarchical` needs the number of ranks of each server";
            findings.error("algorithm", message, "add `per_server`, for example: per_server = 8");
            return None;
        };
        let in_server = per_server as usize;
        if in_server < 2 || in_server >= ranks || !ranks.is_multiple_of(in_server) {
            findings.error(
                FIELD,
                format!("{ranks} ranks cannot be several servers of {per_server}, each with several ranks"),
                "write a number from 2 on that divides the ranks into at least 2 servers, or choose \
                 algorithm = \"ring\"",
            );
            return None;
        }
        let servers = ranks / in_server;
        if by_rails && in_server == 2 && servers % 2 == 1 {
            findings.error(
                FIELD,
                format!("rings over {servers} servers of 2 ranks cannot stay on their rails"),
                "name an even number of servers in `ranks`, or leave `per_server` out",
            );
            return None;
        }
        Some(in_server)
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    plan: Plan,
    ranks: Vec<u32>,
}

impl Placed {
    /// Adds a round. `before` are the flows with which each rank has finished its part of the round before.
    fn round(
        &self,
        schedule: &Schedule,
        before: &[Vec<FlowId>],
        traffic: &mut Traffic,
        around: &Surroundings<'_>,
    ) {
        let ranks = around.named(&self.ranks);
        let first = traffic.flows.len() as u32;
        for (number, message) in (0..).zip(&schedule.messages) {
            let ends = [message.from, message.to].map(|rank| ranks[rank as usize]);
            let flow = around.message(ends[0], ends[1], message.bytes, self.spec.start);
            let after: Vec<FlowId> =
                schedule.after(number).iter().map(|of| FlowId(first + of)).collect();
            let begins = traffic.then(flow, &after, Duration::ZERO);
            if schedule.begins(number)
                && let Some(last) = before.get(message.from as usize)
            {
                let delay = self.spec.compute;
                traffic.triggers.extend(last.iter().map(|&after| Trigger { after, begins, delay }));
            }
        }
        let Plan { kind, bytes, .. } = self.plan;
        traffic.collective(first, Collective { kind, ranks: ranks.len() as u32, bytes });
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let schedule = self.plan.schedule();
        let finishes =
            if self.spec.rounds > 1 { schedule.finishes(self.plan.ranks) } else { Vec::new() };
        let mut traffic = Traffic::default();
        let mut before: Vec<Vec<FlowId>> = Vec::new();
        for _ in 0..self.spec.rounds {
            let first = traffic.flows.len() as u32;
            self.round(&schedule, &before, &mut traffic, &around);
            let flow = |message: &u32| FlowId(first + message);
            before = finishes.iter().map(|of| of.iter().map(flow).collect()).collect();
        }
        traffic
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        self.plan.messages() as f64 * f64::from(self.spec.rounds)
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        self.plan.largest()
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }
}
