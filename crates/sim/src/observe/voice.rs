//! Packets of calls: when each was sent and when it arrived.

use std::collections::BTreeMap;

use floodway_model::{Body, FlowId, Instant};
use serde::{Deserialize, Serialize};

use super::{At, Fact, Kinds, Observer, Setup};

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Its number in its flow, from 0.
    pub number: u32,
    /// When it was sent.
    pub sent: Instant,
    /// When it arrived.
    pub arrived: Instant,
}

/// The packets of calls whose receivers are on nodes of a thread, in order of arrival.
#[derive(Debug, Serialize, Deserialize)]
pub struct Calls {
    /// By flow. All flows of calls are there, and those of other threads are empty.
    pub flows: BTreeMap<FlowId, Vec<Heard>>,
}

impl Observer for Calls {
    const WANTS: Kinds = Kinds::DELIVERED;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        let calls = setup.spec.operations.iter().filter(|operation| operation.voice.is_some());
        let flows: BTreeMap<_, _> =
            calls.flat_map(|call| &call.flows).map(|flow| (*flow, Vec::new())).collect();
        (!flows.is_empty()).then_some(Self { flows })
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        let Fact::Delivered(delivery) = fact else { return };
        if let (Body::Data { psn, .. }, Some(sent)) = (delivery.packet.body, delivery.sent_at)
            && let Some(heard) = self.flows.get_mut(&delivery.packet.flow)
        {
            heard.push(Heard { number: psn, sent, arrived: at.now });
        }
    }

    fn merge(&mut self, other: Self) {
        for (flow, heard) in other.flows.into_iter().filter(|(_, heard)| !heard.is_empty()) {
            self.flows.insert(flow, heard);
        }
    }
}
