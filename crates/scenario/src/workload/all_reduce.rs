//! All-reduce: every rank has as many bytes as the others and in the end the sum of all of them, the
//! collective between the steps of data-parallel training. Adding up takes no time here; `compute` is
//! for what goes on between rounds.
//!
//! Ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
//! 2009; Baidu, 2017; NCCL): the data is cut into as many chunks as there are ranks, and each rank
//! sends a chunk to the next one in every one of 2 (N - 1) steps: first a sum that grows, then the
//! whole sum. A rank begins a step when it has received what it is to send, and has sent what came
//! before. On an idle star it takes 2 (N - 1) times as long as one chunk.
//!
//! Tree: sums go up a binary tree of the ranks, of which the first is the root, and come down again
//! from there. With the data cut into `chunks`, these follow each other.
//!
//! [`collective`](super::collective) has other algorithms, and other collectives.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Bytes, Collective, CollectiveKind, Duration, FlowId, FlowSpec, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::schedule::part;
use super::{Hosts, Parameters, Ready, Surroundings, Traffic, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// Parameters. Every message is a flow of its own, with a congestion control that begins anew. Hosts
/// are named: none is taken from the order of placement, and flows may run on hosts of other
/// workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The ranks, at least 2, in their order: hosts by number, like "0-9" or "0, 4, 1, 5", by name,
    /// like "host 0-9", or "all". Default all.
    #[serde(default = "Hosts::all")]
    pub ranks: Hosts,
    /// What every rank has to be added up.
    pub bytes: Bytes,
    /// Who sends what to whom. Default `ring`.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Chunks that the data of a tree is cut into. Default 1; a ring has as many as ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// How often, one after the other. Default 1.
    #[serde(default = "one")]
    pub rounds: u32,
    /// Time from when a rank has finished a round to when it has data for the next. Default 0ns.
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
        findings.range("chunks", self.chunks, 1.., "");
    }
}

fn one() -> u32 {
    1
}

/// Who sends what to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// To the next rank, 2 (N - 1) times a part of N.
    #[default]
    Ring,
    /// Up a binary tree and down again.
    Tree,
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
        let chunks = match (self.algorithm, self.chunks) {
            (Algorithm::Ring, None) => ranks.len() as u64,
            (Algorithm::Ring, Some(_)) => {
                findings.error(
                    "chunks",
                    format!("a ring of {} ranks has {0} chunks", ranks.len()),
                    "remove `chunks`, or choose algorithm = \"tree\"",
                );
                return None;
            }
            (Algorithm::Tree, chunks) => chunks.unwrap_or(1).into(),
        };
        if self.bytes.0 < chunks {
            findings.error(
                "bytes",
                format!("{} cannot be cut into {chunks} chunks", self.bytes),
                format!("write at least \"{chunks}B\""),
            );
        }
        Some(Arc::new(Placed { spec: self.clone(), ranks }))
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    ranks: Vec<u32>,
}

impl Placed {
    fn chunks(&self) -> u64 {
        match self.spec.algorithm {
            Algorithm::Ring => self.ranks.len() as u64,
            Algorithm::Tree => self.spec.chunks.unwrap_or(1).into(),
        }
    }

    /// Messages of one round.
    fn messages(&self) -> u64 {
        2 * (self.ranks.len() as u64 - 1) * self.chunks()
    }

    fn message(&self, around: &Surroundings<'_>, ends: [NodeId; 2], number: u64) -> FlowSpec {
        let bytes = part(self.spec.bytes.0, self.chunks(), number);
        around.message(ends[0], ends[1], bytes, self.spec.start)
    }

    /// Adds a round of a ring. `last` are the messages of the last step before it, by their sender,
    /// and then those of its own.
    fn ring(
        &self,
        ranks: &[NodeId],
        last: &mut Vec<FlowId>,
        traffic: &mut Traffic,
        around: &Surroundings<'_>,
    ) {
        let count = ranks.len();
        for step in 0..2 * (count - 1) {
            let delay = if step == 0 { self.spec.compute } else { Duration::ZERO };
            let before = std::mem::take(last);
            for (place, &src) in ranks.iter().enumerate() {
                let number = (place + 2 * count - step) % count;
                let message =
                    self.message(around, [src, ranks[(place + 1) % count]], number as u64);
                // What it has received, and what it has sent.
                let after = [(place + count - 1) % count, place];
                let after: Vec<FlowId> =
                    after.iter().filter_map(|&of| before.get(of).copied()).collect();
                last.push(traffic.then(message, &after, delay));
            }
        }
    }

    /// Adds a round of a tree. `last` are the messages down of the round before it, by their receiver,
    /// and then those of its own.
    fn tree(
        &self,
        ranks: &[NodeId],
        last: &mut Vec<Vec<FlowId>>,
        traffic: &mut Traffic,
        around: &Surroundings<'_>,
    ) {
        let count = ranks.len();
        let children = |place: usize| (2 * place + 1..2 * place + 3).filter(|&child| child < count);
        let parent = |place: usize| (place - 1) / 2;
        let before = std::mem::replace(last, vec![Vec::new(); count]);
        // By sender: what it has sent up, chunk by chunk.
        let mut up: Vec<Vec<FlowId>> = vec![Vec::new(); count];
        for number in 0..self.chunks() {
            // Children have higher numbers.
            for place in (1..count).rev() {
                let mut after: Vec<FlowId> =
                    children(place).map(|child| up[child][number as usize]).collect();
                let first = number == 0 && after.is_empty();
                // A leaf begins when it has all of the round before; the others hear of it by their
                // children.
                let delay = if first { self.spec.compute } else { Duration::ZERO };
                if first && let Some(down) = before.get(place) {
                    after.extend(down);
                }
                after.extend(up[place].last());
                let ends = [ranks[place], ranks[parent(place)]];
                let flow = traffic.then(self.message(around, ends, number), &after, delay);
                up[place].push(flow);
            }
        }
        for number in 0..self.chunks() {
            for place in 1..count {
                let from = parent(place);
                let mut after: Vec<FlowId> = match from {
                    0 => children(0).map(|child| up[child][number as usize]).collect(),
                    _ => vec![last[from][number as usize]],
                };
                after.extend(last[place].last());
                let ends = [ranks[from], ranks[place]];
                let message = self.message(around, ends, number);
                last[place].push(traffic.then(message, &after, Duration::ZERO));
            }
        }
    }
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.traffic(around).flows
    }

    fn traffic(&self, around: Surroundings<'_>) -> Traffic {
        let ranks = around.named(&self.ranks);
        let mut traffic = Traffic::default();
        let (mut ring, mut tree) = (Vec::new(), Vec::new());
        for _ in 0..self.spec.rounds {
            let first = traffic.flows.len() as u32;
            match self.spec.algorithm {
                Algorithm::Ring => self.ring(&ranks, &mut ring, &mut traffic, &around),
                Algorithm::Tree => self.tree(&ranks, &mut tree, &mut traffic, &around),
            }
            let (kind, ranks) = (CollectiveKind::AllReduce, ranks.len() as u32);
            traffic.collective(first, Collective { kind, ranks, bytes: self.spec.bytes.0 });
        }
        traffic
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        self.messages() as f64 * f64::from(self.spec.rounds)
    }

    fn waits_for_arrivals(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn largest_flow(&self) -> u64 {
        part(self.spec.bytes.0, self.chunks(), 0)
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["bytes".to_owned()]
    }
}
