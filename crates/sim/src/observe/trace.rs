//! Trace of every frame that is sent on a link, for comparison with a second simulator in tests.

use floodway_model::{Class, Instant, NodeId, Packet, PortIx};

use super::{At, Fact, Kinds, Observer, Setup};

/// A frame sent on a link.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When its transmission began.
    pub at: Instant,
    /// The node and port at the other end of the link.
    pub to: (NodeId, PortIx),
    /// When it is handled there: after its last bit has arrived and the latencies have elapsed.
    pub handled_at: Instant,
    /// The class in which it was sent.
    pub class: Class,
    /// The frame.
    pub packet: Packet,
}

/// The trace; frames of one thread are in their order.
#[derive(Debug, Default)]
pub struct Trace {
    /// The frames, including those lost on links.
    pub frames: Vec<Sent>,
}

impl Observer for Trace {
    const WANTS: Kinds = Kinds::SENT;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.traced.then(Self::default)
    }

    fn on(&mut self, fact: &Fact<'_>, at: &At) {
        if let Fact::Sent { to, packet, class, handled_at, .. } = *fact {
            self.frames.push(Sent { at: at.now, to, handled_at, class, packet: *packet });
        }
    }

    fn merge(&mut self, other: Self) {
        self.frames.extend(other.frames);
    }
}
