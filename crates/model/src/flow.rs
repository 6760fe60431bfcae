//! What hosts are asked to send.

use serde::Serialize;

use crate::id::{FlowId, NodeId};
use crate::units::{Duration, Instant};

/// One message from one host to another. Its place in the flow list is its [`FlowId`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowSpec {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host, another one.
    pub dst: NodeId,
    /// Payload in bytes, at least 1; [`FlowSpec::PERSISTENT`] for one without a size.
    pub bytes: u64,
    /// When the application hands it to the sender; if it is `in_turn` or has a [`Trigger`], the
    /// earliest moment.
    pub start: Instant,
    /// When a flow without a size ends: from then on the sender makes no new packet, but repeats
    /// what was lost. With a size, and `in_turn` or with a [`Trigger`]: when it is too late for it
    /// to begin.
    /// [`Instant::NEVER`] for one without end, and for every other flow with a size.
    pub stop: Instant,
    /// Which workload of the scenario made it, counted from 0.
    pub workload: u16,
    /// Whether it begins when the flow before it, in the list of all flows, of the same sender and
    /// workload has been handed over: all of its packets have left the source's memory for the
    /// first time. A flow without a size never has. The first one of all begins at its `start`.
    pub in_turn: bool,
}

impl FlowSpec {
    /// The size of a flow that sends as fast as it may, until its `stop` or without end.
    pub const PERSISTENT: u64 = u64::MAX;

    /// Whether it has no size, so that it has a rate but never completes.
    pub const fn is_persistent(&self) -> bool {
        self.bytes == Self::PERSISTENT
    }

    /// From when on a sender that has begun makes no new packet: the `stop` of a flow without a
    /// size.
    pub const fn sends_until(&self) -> Instant {
        if self.is_persistent() { self.stop } else { Instant::NEVER }
    }
}

/// A flow begins after another. What happens is known where it happens: the source of `begins` is
/// either the destination of `after`, and it happens when all of `after` has arrived there, or its
/// source, and it happens when `after` has been handed over, all of its packets having left the
/// source's memory for the first time. A flow with several triggers, or in turn besides, begins when
/// the last has happened and its delay has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trigger {
    /// The flow that is waited for, one with a size.
    pub after: FlowId,
    /// The flow that waits.
    pub begins: FlowId,
    /// How much later it begins.
    pub delay: Duration,
}

/// Flows that are one thing to whoever waits for it, a call and its answer or all messages of a
/// collective: it begins with the first of them that begins and is complete when all are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Its number among those of the same workload, counted from 0.
    pub number: u32,
    /// All flows of it, of one workload; the first is that of the node that asks for it.
    pub flows: Box<[FlowId]>,
}

/// Gives each flow of a list its identifier.
pub fn numbered(flows: &[FlowSpec]) -> impl Iterator<Item = (FlowId, &FlowSpec)> {
    flows.iter().enumerate().map(|(index, flow)| (FlowId(index as u32), flow))
}
