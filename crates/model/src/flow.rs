//! What hosts are asked to send.

use crate::id::{FlowId, NodeId};
use crate::units::Instant;

/// One message from one host to another. Its place in the flow list is its [`FlowId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host, another one.
    pub dst: NodeId,
    /// Payload in bytes, at least 1; [`FlowSpec::PERSISTENT`] for one that never ends.
    pub bytes: u64,
    /// When the application hands it to the sender.
    pub start: Instant,
    /// Which workload of the scenario made it, counted from 0.
    pub workload: u16,
}

impl FlowSpec {
    /// The size of a flow that never ends.
    pub const PERSISTENT: u64 = u64::MAX;

    /// Whether it never ends, so that it has a rate but no completion time.
    pub const fn is_persistent(&self) -> bool {
        self.bytes == Self::PERSISTENT
    }
}

/// Gives each flow of a list its identifier.
pub fn numbered(flows: &[FlowSpec]) -> impl Iterator<Item = (FlowId, &FlowSpec)> {
    flows.iter().enumerate().map(|(index, flow)| (FlowId(index as u32), flow))
}
