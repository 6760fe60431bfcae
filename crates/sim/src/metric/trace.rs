//! Every frame that is put on a link: what tests compare with a second simulator.

use floodway_model::{Class, Instant, NodeId, Packet, PortIx};

/// A frame that was put on a link.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When its transmission began.
    pub at: Instant,
    /// The node and port at the other end of the link.
    pub to: (NodeId, PortIx),
    /// When it is handled there: after its last bit has arrived and the latencies have passed.
    pub handled_at: Instant,
    /// The class in which it was sent.
    pub class: Class,
    /// The frame.
    pub packet: Packet,
}
