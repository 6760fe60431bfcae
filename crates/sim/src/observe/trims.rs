//! Number of packets trimmed by switches, by port and data queue.

use std::collections::BTreeMap;

use floodway_model::NodeId;
use floodway_model::table::Table;
use floodway_model::tables::trims;
use serde::{Deserialize, Serialize};

use super::{At, Fact, Kinds, Observer, Setup};
use crate::Spec;
use crate::outcome::{name_of, tier_of};

/// By switch, port and queue: trimmed packets, and the bytes cut off.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Trims {
    counts: BTreeMap<(NodeId, usize, usize), (u64, u64)>,
}

impl Observer for Trims {
    const WANTS: Kinds = Kinds::TRIMMED;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.spec.switch.overflow.trims().map(|_| Self::default())
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        if let Fact::Trimmed { port, queue, packet, header, .. } = *fact {
            let count = self.counts.entry((at.node, port, queue)).or_insert((0, 0));
            count.0 += 1;
            count.1 += u64::from(packet.bytes - header.bytes);
        }
    }

    fn merge(&mut self, other: Self) {
        self.counts.extend(other.counts);
    }
}

/// One row per port and data queue in which packets were trimmed.
pub fn table(spec: &Spec, trims: Option<&Trims>) -> Table {
    let counts = trims.iter().flat_map(|trims| &trims.counts);
    let row = |(&(node, port, queue), &(packets, bytes)): (&_, &(u64, u64))| trims::Row {
        node: name_of(spec, node),
        tier: tier_of(spec, node),
        port: port as u64,
        queue: queue as u64,
        packets,
        bytes,
    };
    counts.map(row).collect()
}
