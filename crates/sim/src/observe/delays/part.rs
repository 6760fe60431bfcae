//! Parts of the time that a flow takes.

use floodway_model::{Delay, FlowId, Instant, NodeId};

/// What a flow spends an interval on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A frame of the flow is put on a wire.
    Serialization,
    /// It propagates on a link, or a node processes it.
    Propagation,
    /// The sender waits because congestion control limits its rate.
    Rate,
    /// The sender waits because a window or a lack of credit limits it.
    Window,
    /// The connection is set up: the sender has not sent any data yet.
    Handshake,
    /// The sender waits for the detection of a loss (a timeout or a negative acknowledgement), or sends a
    /// packet again.
    Recovery,
    /// The receiver has a packet and has not yet sent the answer to it.
    Answer,
    /// Queued behind frames of the same flow.
    OwnFlow,
    /// Queued while the port sends a frame of another flow, in the same class.
    OtherFlow(FlowId),
    /// Queued while the port sends a frame of another class.
    OtherClass(FlowId),
    /// Queued while the port sends a MAC control frame.
    Control,
    /// Queued in a class that is paused. The index of the pause in [`Explained::pauses`].
    ///
    /// [`Explained::pauses`]: super::Explained::pauses
    Paused(usize),
    /// Queued although the port is idle and the class is not paused: held by the scheduler, by a
    /// mechanism, or to keep packets in order. Also the time for which a link sends frames with errors again.
    Held,
    /// The same by Directional Rate Control, because of the egress port to which the frame goes in the next node.
    HeldFor(NodeId, usize),
}

impl Kind {
    /// What it is without its cause.
    pub const fn delay(self) -> Delay {
        match self {
            Self::Serialization => Delay::Serialization,
            Self::Propagation => Delay::Propagation,
            Self::Rate => Delay::Rate,
            Self::Window => Delay::Window,
            Self::Handshake => Delay::Handshake,
            Self::Recovery => Delay::Recovery,
            Self::Answer => Delay::Answer,
            Self::OwnFlow => Delay::OwnFlow,
            Self::OtherFlow(_) => Delay::OtherFlows,
            Self::OtherClass(_) => Delay::OtherClasses,
            Self::Control => Delay::MacControl,
            Self::Paused(_) => Delay::Paused,
            Self::Held | Self::HeldFor(..) => Delay::Held,
        }
    }

    /// Whether an idle network takes this time too.
    pub const fn is_ideal(self) -> bool {
        self.delay().is_ideal()
    }
}

/// An interval of the time of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its start.
    pub from: Instant,
    /// Its end.
    pub to: Instant,
    /// What it is spent on.
    pub kind: Kind,
    /// The node.
    pub node: NodeId,
    /// The port there.
    pub port: usize,
    /// Whether it is part of a round trip that the sender waits for, because its window is full.
    pub in_window: bool,
}

/// Appends a part. An empty part is left out, and one that continues the last one is merged with it.
pub fn push(parts: &mut Vec<Part>, part: Part) {
    if part.from >= part.to {
        return;
    }
    if let Some(last) = parts.last_mut()
        && last.to == part.from
        && (Part { from: part.from, to: part.to, ..*last }) == part
    {
        last.to = part.to;
        return;
    }
    parts.push(part);
}

/// The parts that lie in an interval, clipped to it.
pub fn clip(parts: &[Part], from: Instant, to: Instant) -> impl Iterator<Item = Part> {
    let first = parts.partition_point(move |part| part.to <= from);
    let inside = parts[first..].iter().take_while(move |part| part.from < to);
    inside.map(move |part| Part { from: part.from.max(from), to: part.to.min(to), ..*part })
}
