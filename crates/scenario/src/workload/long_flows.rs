//! Flows without a size between hosts that are named: the steady state in which congestion
//! controls are compared.

use std::sync::Arc;

use floodway_model::check::{Check, Findings};
use floodway_model::{Duration, FlowSpec, Instant, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ends, Hosts, Parameters, Ready, Surroundings, Workload, check};
use crate::check::Problems;
use crate::document::Document;

/// The most pairs that [`Workload::long_pairs`] lists.
pub(super) const MOST_PAIRS: usize = 1_000;

/// Parameters. Flow n goes from the n-th host of `from` to the n-th of `to`, from the beginning
/// again where a list ends, unless `pairs` says otherwise. Hosts are named: none is taken from the order of placement, and flows
/// may run on hosts of other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Flows, with `pairs = "all"` of every pair; 0 for none, where the number is varied.
    pub count: u32,
    /// Which senders send to which receivers. Default `in_turn`.
    #[serde(default)]
    pub pairs: Pairs,
    /// Senders by number, like "0-9" or "0, 2, 5-7", by name, like "host 0-9", "all", or "left" or
    /// "right" for all on that side of a dumbbell. Default left.
    #[serde(default = "Hosts::left")]
    pub from: Hosts,
    /// Receivers likewise. Default right.
    #[serde(default = "Hosts::right")]
    pub to: Hosts,
    /// When they start, before the arrivals end. Default 0ns.
    #[serde(default)]
    pub start: Duration,
    /// Each flow starts later by a time between zero and this, drawn anew in every replication, so
    /// that replications differ and flows are not in step. Default 0ns.
    #[serde(default)]
    pub jitter: Duration,
    /// From when on they send nothing new; what is lost is still repeated. Default without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

impl Check for Spec {}

/// Which senders send to which receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// The n-th of `from` to the n-th of `to`, from the beginning again where a list ends, `count`
    /// flows in all.
    #[default]
    InTurn,
    /// Every one of `from` to every one of `to` but itself, with `count` flows each.
    All,
}

impl Spec {
    /// Whether no flow goes from a host to itself, and there are flows at all.
    fn check_pairs(&self, ends: &Ends, findings: &mut Findings<'_>) {
        // After so many flows the pairs come again.
        let rounds = least_common_multiple(ends.from.len(), ends.to.len());
        let pairs = self.pairs(ends).take(rounds);
        if let Some((flow, (host, _))) = (0..).zip(pairs).find(|(_, (src, dst))| src == dst) {
            findings.error(
                ["to", "from", ""],
                format!("flow {flow} would go from host {host} to itself"),
                "flow n goes from the n-th host of `from` to the n-th of `to`: change their order",
            );
        }
        if self.pairs == Pairs::All && self.count > 0 && self.flow_count(ends) == 0 {
            let remedy = "add another host to `from` or `to`";
            findings.error(["to", "from", ""], "no sender has another host to send to", remedy);
        }
    }
}

pub(super) fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

impl Parameters for Spec {
    fn ready(&self, path: &str, settings: &Document, findings: &mut Problems<'_>) -> Option<Ready> {
        let findings = &mut findings.within(path);
        let ends = check::ends(["from", "to"], [&self.from, &self.to], settings, findings);
        if let Some(ends) = &ends {
            self.check_pairs(ends, findings);
        }
        let (start, arrivals) = (self.start, settings.arrivals);
        if check::starts(start, false, settings, findings)
            && check::stops(self.stop, start, false, findings)
        {
            let end = self.stop.map_or(arrivals, |stop| stop.min(arrivals));
            check::jitter(self.jitter, end - start, findings);
        }
        Some(Arc::new(Placed { spec: self.clone(), ends: ends? }))
    }

    fn all_have_sizes(&self) -> bool {
        false
    }
}

/// With its hosts found.
#[derive(Debug)]
struct Placed {
    spec: Spec,
    ends: Ends,
}

impl Workload for Placed {
    fn flows(&self, around: Surroundings<'_>) -> Vec<FlowSpec> {
        self.spec.flows(&self.ends, around)
    }

    fn expected_flows(&self, _around: Surroundings<'_>) -> f64 {
        0.0
    }

    fn persistent_flows(&self) -> u64 {
        self.spec.flow_count(&self.ends)
    }

    fn long_pairs(&self) -> Vec<(u32, u32)> {
        let rounds = least_common_multiple(self.ends.from.len(), self.ends.to.len());
        let count = match self.spec.pairs {
            Pairs::InTurn => rounds.min(MOST_PAIRS) as u32,
            Pairs::All => 1,
        };
        let one_round = Spec { count, ..self.spec.clone() };
        one_round.pairs(&self.ends).take(MOST_PAIRS).collect()
    }

    fn largest_flow(&self) -> u64 {
        0
    }

    fn size_fields(&self) -> Vec<String> {
        vec!["count".to_owned()]
    }
}

impl Spec {
    /// How many flows there are.
    pub fn flow_count(&self, ends: &Ends) -> u64 {
        match self.pairs {
            Pairs::InTurn => self.count.into(),
            Pairs::All => {
                let of = |&src: &u32| ends.receivers(src).count() as u64;
                u64::from(self.count) * ends.from.iter().map(of).sum::<u64>()
            }
        }
    }

    /// Sender and receiver of every flow, by number.
    pub fn pairs<'a>(&self, ends: &'a Ends) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let (count, all) = (self.count as usize, self.pairs == Pairs::All);
        let turns = ends.from.iter().cycle().zip(ends.to.iter().cycle());
        let turns = turns.map(|(&src, &dst)| (src, dst)).take(if all { 0 } else { count });
        let every = ends.from.iter().take(if all { usize::MAX } else { 0 }).flat_map(move |&src| {
            let pairs = ends.receivers(src).map(move |dst| (src, dst));
            pairs.flat_map(move |pair| std::iter::repeat_n(pair, count))
        });
        turns.chain(every)
    }

    fn flows(&self, ends: &Ends, around: Surroundings<'_>) -> Vec<FlowSpec> {
        let hosts: Vec<NodeId> = around.graph.first_ports().collect();
        let mut rng = around.stream();
        let flow = |(src, dst): (u32, u32)| FlowSpec {
            src: hosts[src as usize],
            dst: hosts[dst as usize],
            bytes: FlowSpec::PERSISTENT,
            start: Instant::ZERO + self.start + Duration(rng.below(self.jitter.0 + 1)),
            stop: self.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop),
            workload: around.number,
            in_turn: false,
        };
        self.pairs(ends).map(flow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three senders and two receivers have six pairs in turn, however many flows there are, and all of them are pairs of
    /// the same two lists.
    #[test]
    fn pairs_for_more_flows() {
        let pairs = |pairs| {
            let spec = Spec {
                count: 1,
                pairs,
                from: Hosts::left(),
                to: Hosts::right(),
                start: Duration::ZERO,
                jitter: Duration::ZERO,
                stop: None,
            };
            Placed { spec, ends: Ends { from: vec![0, 1, 2], to: vec![3, 4] } }.long_pairs()
        };
        let in_turn = [(0, 3), (1, 4), (2, 3), (0, 4), (1, 3), (2, 4)];
        assert_eq!(pairs(Pairs::InTurn), in_turn);
        let all = [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)];
        assert_eq!(pairs(Pairs::All), all);
    }

    #[test]
    fn multiples() {
        for (a, b, least) in [(1, 1, 1), (2, 3, 6), (4, 6, 12), (10, 10, 10), (5, 1, 5)] {
            assert_eq!(least_common_multiple(a, b), least);
        }
    }
}
