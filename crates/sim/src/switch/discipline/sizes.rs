//! Remaining size of a flow, as a sender would write it into the header of each packet.

use floodway_model::{Body, FlowSpec, Packet};

/// The sizes of all flows.
#[derive(Debug)]
pub struct Sizes(Box<[Size]>);

#[derive(Debug)]
struct Size {
    bytes: u64,
    payload: u64,
}

impl Sizes {
    /// By flow: its bytes, and the payload bytes of a full packet.
    pub fn new(flows: impl Iterator<Item = (u64, u64)>) -> Self {
        Self(flows.map(|(bytes, payload)| Size { bytes, payload }).collect())
    }

    /// Bytes of the flow from the first byte of this packet on; 0 for a packet without data, and
    /// the largest number if the flow is long-lived, without a size.
    pub fn left(&self, packet: &Packet) -> u64 {
        let (Body::Data { psn, .. } | Body::Segment { psn, .. }) = packet.body else { return 0 };
        let flow = &self.0[packet.flow.index()];
        match flow.bytes {
            FlowSpec::PERSISTENT => u64::MAX,
            bytes => bytes.saturating_sub(u64::from(psn) * flow.payload),
        }
    }
}
