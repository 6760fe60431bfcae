//! Queues by DSCP (RFC 2474): the maps of switches from code point to traffic class and from there to queue, in one
//! step. The sending host writes the DSCP of a workload into its packets, and no switch changes it, so a flow has
//! the same class on its whole path.
//!
//! Feedback of RoCEv2 is not classified here: `switch.feedback` says which class it has.

use floodway_model::check::{Check, Findings};
use floodway_model::marking::DSCPS;
use floodway_model::{Dscp, Ecn, Marking, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Classifier;
use crate::switch::check::Facts;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The queue of packets whose DSCP no entry of `queues` has, counted from 0. Default 0.
    pub default: u8,
    /// Which DSCPs go to which queue: `{ queue = 1, dscp = ["EF", "CS6", 3] }`. Default none: all data goes to
    /// the default queue.
    #[schemars(with = "Vec<Of>")]
    pub queues: Map,
}

/// The DSCPs of one queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Of {
    /// The queue, counted from 0.
    pub queue: u8,
    /// Its DSCPs, by name or number.
    pub dscp: Vec<Marking>,
}

/// A list of entries, and the same as a table that is indexed by DSCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Of>", into = "Vec<Of>")]
pub struct Map {
    entries: Vec<Of>,
    by_dscp: [u8; DSCPS as usize],
}

/// No queue: the DSCP is in no entry.
const NONE: u8 = u8::MAX;

impl From<Vec<Of>> for Map {
    fn from(entries: Vec<Of>) -> Self {
        let mut by_dscp = [NONE; DSCPS as usize];
        for of in &entries {
            of.dscp.iter().for_each(|marking| by_dscp[usize::from(marking.dscp().0)] = of.queue);
        }
        Self { entries, by_dscp }
    }
}

impl From<Map> for Vec<Of> {
    fn from(map: Map) -> Self {
        map.entries
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl Map {
    /// The entries as written.
    pub fn entries(&self) -> &[Of] {
        &self.entries
    }
}

impl Check for Spec {
    fn check(&self, findings: &mut Findings<'_>) {
        let mut seen: Vec<(Marking, usize)> = Vec::new();
        for (number, of) in self.queues.entries.iter().enumerate() {
            let place = format!("queues.{number}.dscp");
            if of.dscp.is_empty() {
                findings.idle(&format!("queues.{number}.queue"), "its list of DSCPs is empty");
            }
            for (index, marking) in of.dscp.iter().enumerate() {
                if let Some((_, earlier)) = seen.iter().find(|(other, _)| other == marking) {
                    let first = self.queues.entries[*earlier].queue;
                    findings.error(
                        &format!("{place}.{index}"),
                        match first == of.queue {
                            true => format!("DSCP {marking} is twice in queue {first}"),
                            false => format!(
                                "DSCP {marking} is in queue {first} and in queue {}",
                                of.queue
                            ),
                        },
                        format!("a DSCP has one queue: write {marking} once"),
                    );
                }
                seen.push((*marking, number));
            }
        }
    }
}

impl Classifier for Spec {
    fn check_beside(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        facts.check_queue("default", self.default, findings);
        for (number, of) in self.queues.entries.iter().enumerate() {
            facts.check_queue(&format!("queues.{number}.queue"), of.queue, findings);
        }
    }

    #[inline]
    fn queue(&self, dscp: Dscp, _: Ecn, _: NodeId, _: u8) -> u8 {
        match self.queues.by_dscp.get(usize::from(dscp.0)) {
            Some(&queue) if queue != NONE => queue,
            _ => self.default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_decides_and_otherwise_the_default() {
        let of = |queue, dscp: &[u8]| Of {
            queue,
            dscp: dscp.iter().map(|&number| Marking::new(number).unwrap()).collect(),
        };
        let queues = Map::from(vec![of(2, &[46, 48]), of(0, &[3])]);
        let spec = Spec { default: 1, queues };
        let queue = |dscp| spec.queue(Dscp(dscp), Ecn::NotEct, NodeId(0), 3);
        assert_eq!([46, 48, 3, 0, 63].map(queue), [2, 2, 0, 1, 1]);
    }
}
