//! The interface between a flow-control mechanism and its switch. A mechanism subscribes to events
//! and answers them with actions. The switch executes the actions before it calls the next
//! mechanism, so each mechanism sees queues and counters as the previous one left them. Mechanisms
//! are called in the order of the rows in [`flow_control`](super::flow_control).

use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Body, Bytes, Class, Duration, FlowId, Instant, NodeId, Packet, PortIx, Tos};

use super::Spec;
use super::buffer::Buffer;
use super::discipline::{Discipline, Sizes};
use super::flow_control::drc::Peers;
use super::flow_control::pausing::{Held, Paused, Source};
use super::flow_control::pfc::watchdog::Event;
use super::occupancy::Occupancy;
use super::port::{DropReason, Port};
use crate::allowance::Allowance;
use crate::link::Link;
use crate::metric::Tally;
use crate::routing::{Hops, Routes};

/// A set of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(u16);

impl Events {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// A data packet has arrived from a neighbor, and no mechanism has moved it yet.
    pub const ARRIVED: Self = Self(1);
    /// The queue of a data packet is about to be chosen: its home queue, or another one.
    pub const PLACED: Self = Self(1 << 1);
    /// A packet is about to be admitted to a data queue.
    pub const ADMITTED: Self = Self(1 << 2);
    /// A packet has joined a data queue and is counted there.
    pub const JOINED: Self = Self(1 << 3);
    /// Disables the bypass: packets that could go straight to the wire join their queue like
    /// others, so that the mechanism sees them.
    pub const LONE: Self = Self(1 << 4);
    /// A packet has left a data queue and is no longer counted there.
    pub const LEFT: Self = Self(1 << 5);
    /// A packet is dropped.
    pub const DROPPED: Self = Self(1 << 6);
    /// A neighbor pauses or resumes classes.
    pub const PAUSED: Self = Self(1 << 7);
    /// A congestion isolation message for this switch has arrived.
    pub const FRAME: Self = Self(1 << 8);
    /// A message from a switch to a host is about to leave this switch, which generated it
    /// ([`Action::Send`]) or forwards it.
    pub const TRANSIT: Self = Self(1 << 9);
    /// The time given by [`Mechanism::next_wake`] has been reached.
    pub const TIMER: Self = Self(1 << 10);
    /// A link control frame is about to leave.
    pub const LINK_CONTROL: Self = Self(1 << 11);
    /// A packet that a mechanism moved has joined its queue and is counted there.
    pub const MOVED: Self = Self(1 << 12);
    /// All events.
    pub const ALL: Self = Self(u16::MAX);

    /// The union of two sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two sets intersect.
    #[inline(always)]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// The switch on which a mechanism is to run.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The switch's name.
    pub name: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// Tier: number of hops from the hosts.
    pub tier: u8,
    /// Its ports.
    pub ports: &'a [SitePort],
    /// Number of data queues per port.
    pub queues: usize,
    /// Buffer size of a data queue, if queues have buffers of their own.
    pub queue_size: Bytes,
    /// Static latency of the switch.
    pub latency: Duration,
    /// What its neighbors know of each other's routes.
    pub peers: &'a Peers,
    /// The sizes of the flows, if a discipline needs them.
    pub sizes: Option<&'a Arc<Sizes>>,
}

#[cfg(test)]
impl<'a> Site<'a> {
    /// A leaf switch with one data queue at each of these ports.
    pub fn with_ports(name: &'a str, seed: u64, ports: &'a [SitePort]) -> Self {
        let (queue_size, latency) = (Bytes(1_000_000), Duration::ZERO);
        Self {
            name,
            seed,
            tier: 0,
            ports,
            queues: 1,
            queue_size,
            latency,
            peers: &NO_PEERS,
            sizes: None,
        }
    }
}

#[cfg(test)]
static NO_PEERS: Peers = Peers::NONE;

#[cfg(test)]
impl SitePort {
    /// A port to a host, at 100 Gb/s.
    pub const HOST: Self = Self { link: Link::PLAIN, peer: NodeKind::Host };
}

/// A port of the switch on which a mechanism is to run.
#[derive(Clone, Copy, Debug)]
pub struct SitePort {
    /// Its link.
    pub link: Link,
    /// The kind of node at the other end.
    pub peer: NodeKind,
}

/// What a mechanism sees of its switch.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Which switch it is.
    pub id: NodeId,
    /// Its parameters.
    pub spec: &'a Spec,
    /// Its ports, with their queues.
    pub ports: &'a [Port],
    /// The next hops to every host.
    pub routes: &'a Routes,
    /// Its data buffer, with the bytes held by each ingress port and class.
    pub buffer: &'a Buffer,
    /// Data bytes queued in the switch.
    pub occupancy: &'a Occupancy,
    /// By port, bit c: class c of the neighbor is paused until resumed.
    pub paused_until_resumed: &'a [u8],
    /// Current time.
    pub now: Instant,
}

impl View<'_> {
    /// A frame from this switch to the source of `packet`, about its flow.
    pub fn to_source(&self, packet: &Packet, bytes: u16, body: Body) -> Packet {
        own_frame(self.id, packet.src, packet.flow, bytes, self.spec, body)
    }

    /// Whether this class of a neighbor is paused until resumed.
    pub fn holds(&self, source: Source) -> bool {
        self.paused_until_resumed[source.port()] >> source.class() & 1 != 0
    }

    /// A frame from this switch to the neighbor at `port`, about a flow.
    pub fn to_neighbor(&self, flow: FlowId, port: usize, bytes: u16, body: Body) -> Packet {
        own_frame(self.id, self.ports[port].tx.link().peer, flow, bytes, self.spec, body)
    }

    /// Whether the host is attached to this switch.
    pub fn is_edge_of(&self, host: NodeId) -> bool {
        matches!(self.routes.towards(host), Hops::Host(_))
    }
}

/// Builds a frame that originates at a switch.
pub(super) fn own_frame(
    src: NodeId,
    dst: NodeId,
    flow: FlowId,
    bytes: u16,
    spec: &Spec,
    body: Body,
) -> Packet {
    Packet {
        flow,
        connection: 0,
        src,
        dst,
        bytes,
        ingress: PortIx(0),
        class: Class(spec.queue.count),
        tos: Tos::default(),
        indicated: false,
        physical_queue: 0,
        body,
    }
}

/// A data packet that has arrived and has no queue yet.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The egress port.
    pub egress: usize,
    /// The home queue: the data queue that the packet joins if its flow is not isolated.
    pub home: usize,
    /// The packet.
    pub packet: &'a Packet,
}

/// A packet that has joined a data queue and is counted there.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a> {
    /// Egress port.
    pub egress: usize,
    /// Queue.
    pub queue: usize,
    /// The packet: data, or feedback that is queued with data.
    pub packet: &'a Packet,
}

/// Where a mechanism moves a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The data queue that it joins instead of its home queue.
    pub queue: usize,
    /// The packet may leave once this many packets have left the queue given by
    /// [`Mechanism::keeps_behind`]; 0: at once. Behind a crossbar, where packets overtake others,
    /// it is the number of the packet that must have left.
    pub not_before: u64,
    /// Whether the packet is marked if it is ECN-capable and the AQM has not marked it.
    pub marks: bool,
}

/// A packet that has left a data queue and is no longer counted there.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    /// Egress port.
    pub egress: usize,
    /// Queue.
    pub queue: usize,
    /// The packet.
    pub packet: &'a Packet,
}

/// A packet that is dropped, on arrival or from its queue. In the latter case it is still counted there, and
/// [`Mechanism::on_left`] follows.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<'a> {
    /// The egress port that it is bound for.
    pub egress: usize,
    /// The queue there, the control queue included.
    pub queue: usize,
    /// The packet.
    pub packet: &'a Packet,
    /// The reason.
    pub reason: DropReason,
}

/// A message from a switch to a host that is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Transit<'a> {
    /// The message.
    pub frame: &'a Packet,
    /// The port that it is to leave by.
    pub egress: usize,
    /// Whether this switch generated the message.
    pub own: bool,
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is forwarded.
    Forward,
    /// It is consumed by this switch.
    Consume,
}

/// An action that a mechanism requests from its switch.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Send a frame of the switch's own toward its destination, unless the next hop is port
    /// `except`, the egress port of the packet that the frame is about. That happens if links have
    /// failed since the packet arrived.
    Send {
        /// The frame.
        frame: Packet,
        /// Do not send by this port.
        except: Option<usize>,
    },
    /// Send a frame of the switch's own to the node at this port.
    SendTo {
        /// The node's port.
        port: usize,
        /// The frame.
        frame: Packet,
    },
    /// Pause a class of a neighbor with a PFC frame, until it is resumed.
    Pause {
        /// The class and the neighbor's port.
        source: Source,
        /// Pause time in this frame, in quanta of 512 bit times.
        quanta: u16,
    },
    /// Resume a class of a neighbor that was paused by [`Action::Pause`]. If other mechanisms still
    /// pause it ([`Mechanism::left`]), the frame carries the rest of their pause time instead of 0
    /// quanta.
    Resume {
        /// The class and the neighbor's port.
        source: Source,
    },
    /// Pause or resume everything that a neighbor sends, with a PAUSE frame.
    PausePort {
        /// The neighbor's port.
        port: usize,
        /// Pause time in quanta of 512 bit times; 0 to resume.
        quanta: u16,
    },
    /// Cancel the pause that stops a data queue.
    IgnorePause {
        /// Egress port and queue.
        place: Source,
    },
    /// Send a link control frame to the neighbor at this port. It replaces a queued frame about the
    /// same thing, whose content is older.
    SendLinkControl {
        /// The neighbor's port.
        port: usize,
        /// Content of the frame.
        body: Body,
        /// Length of the frame.
        bytes: u16,
    },
    /// Pause a physical queue of a neighbor.
    PauseQueue {
        /// The class and the neighbor's port.
        source: Source,
        /// The physical queue of the neighbor.
        theirs: u8,
        /// The egress port, queue and physical queue because of which it is paused.
        queue: (usize, usize, u8),
        /// The flow that fills it.
        flow: FlowId,
    },
    /// Drop all packets of a data queue.
    Discard {
        /// Egress port and queue.
        place: Source,
        /// The reason to record.
        reason: DropReason,
    },
    /// Read [`Mechanism::next_wake`] again. Every other action implies this.
    Arm,
    /// Pause a class of a neighbor with a PFC frame. The pause expires by itself.
    PauseFor {
        /// The class and the neighbor's port.
        source: Source,
        /// Pause time in quanta of 512 bit times, at least 1.
        quanta: u16,
        /// The destination whose congestion causes it, and the flow that is notified.
        cause: Option<(NodeId, FlowId)>,
    },
}

/// The actions that a mechanism requests, in order of execution.
pub type Actions = Vec<Action>;

/// The part of a mechanism that runs in a switch.
pub trait Mechanism: Sized {
    /// Its parameters.
    type Spec;

    /// What a transmitter may send on this link to a switch before it hears from it; `None` without such a limit.
    fn allowance(_spec: &Self::Spec, _link: &Link, _queues: u8) -> Option<Allowance> {
        None
    }

    /// Builds the mechanism for a switch; `None` where it does not run.
    fn build(spec: &Self::Spec, site: &Site<'_>) -> Option<Self>;

    /// The queue discipline of data queue `queue` at a port, if this mechanism brings one.
    fn discipline(
        &self,
        _site: &Site<'_>,
        _port: usize,
        _queue: usize,
    ) -> Option<Box<dyn Discipline>> {
        None
    }

    /// The events to which the mechanism subscribes.
    fn wants(&self) -> Events;

    /// A data packet has arrived.
    fn on_arrived(&mut self, _arrived: &Arrived<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// Whether [`Mechanism::moves`] may return something for a data packet with this egress port and home queue.
    fn may_move(&self, _egress: usize, _home: usize, _ports: &[Port]) -> bool {
        true
    }

    /// The queue for a data packet, if not its home queue. `rng` is that of the switch.
    fn moves(
        &mut self,
        _arrived: &Arrived<'_>,
        _view: &View<'_>,
        _rng: &mut Stream,
    ) -> Option<Moved> {
        None
    }

    /// A congestion isolation message for this switch has arrived at `port`.
    fn on_frame(
        &mut self,
        _port: usize,
        _frame: &Packet,
        _view: &View<'_>,
        _actions: &mut Actions,
    ) {
    }

    /// Whether [`Mechanism::on_joined`] may have an effect. Asked first, because it usually has none.
    fn minds_joined(&self, _joined: &Joined<'_>, _ports: &[Port], _buffer: &Buffer) -> bool {
        true
    }

    /// The same about [`Mechanism::on_left`].
    fn minds_left(&self, _left: &Left<'_>, _ports: &[Port], _buffer: &Buffer) -> bool {
        true
    }

    /// A packet has joined a data queue.
    fn on_joined(&mut self, _joined: &Joined<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// A packet that this mechanism moved has joined the queue that it was moved to.
    fn on_moved(&mut self, _joined: &Joined<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// A message from a switch to a host is about to leave.
    fn on_transit(
        &mut self,
        _transit: &Transit<'_>,
        _view: &View<'_>,
        _actions: &mut Actions,
    ) -> Fate {
        Fate::Forward
    }

    /// A link control frame is about to leave by `port`. Returns its up-to-date content.
    fn on_link_control(&mut self, _port: usize, body: Body, _now: Instant) -> Body {
        body
    }

    /// A packet has left a data queue.
    fn on_left(&mut self, _left: &Left<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// Whether this mechanism lets a packet join this queue.
    fn admits(&mut self, _egress: usize, _queue: usize) -> Result<(), DropReason> {
        Ok(())
    }

    /// A packet is dropped.
    fn on_dropped(&mut self, _dropped: &Dropped<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// A frame from the neighbor at `port` pauses these classes, or resumes them (0 quanta).
    /// Returns the classes in which the mechanism does not obey it.
    fn disobeys(&mut self, _port: usize, _classes: u8, _quanta: u16, _view: &View<'_>) -> u8 {
        0
    }

    /// The frame has taken effect in the classes in which it is obeyed.
    fn on_paused(&mut self, _port: usize, _classes: u8, _view: &View<'_>, _actions: &mut Actions) {}

    /// When its timer expires; [`Instant::NEVER`] without one.
    fn next_wake(&self) -> Instant {
        Instant::NEVER
    }

    /// Its timer has expired.
    fn on_timer(&mut self, _view: &View<'_>, _actions: &mut Actions) {}

    /// The link of a port is up again, and its other end has lost all pause state: repeats the
    /// pauses that still apply.
    fn on_link_up(&mut self, _port: usize, _view: &View<'_>, _actions: &mut Actions) {}

    /// The queue behind which moved packets are held to preserve order.
    fn keeps_behind(&self) -> Option<u8> {
        None
    }

    /// Bit q: the AQM marks nothing in data queue q.
    fn unmarked(&self) -> u8 {
        0
    }

    /// Whether it pauses neighbors with PAUSE, all classes at once, counted as class 0.
    fn stops_ports(&self) -> bool {
        false
    }

    /// The pauses sent to the neighbor at `port` for a class; `None` if it does not pause
    /// neighbors.
    fn pauses_sent(&self, _port: usize, _class: usize) -> Option<&Paused> {
        None
    }

    /// What must leave before this source is resumed; `None` if the mechanism has not paused it.
    fn held(&self, _source: Source, _buffer: &Buffer) -> Option<Held> {
        None
    }

    /// Whether this source may send no more, as far as its credit has arrived there for sure.
    fn has_no_credit(&self, _source: Source) -> bool {
        false
    }

    /// The pause storms that it has detected.
    fn storms(&self) -> &[Event] {
        &[]
    }

    /// The quanta that remain of its own pause of this class of a neighbor, which another mechanism
    /// resumes.
    fn left(&self, _source: Source, _view: &View<'_>) -> u16 {
        0
    }

    /// Adds its counters to the tally.
    fn count(&self, _tally: &mut Tally) {}
}

/// A view of a switch, built from separate fields so that its mechanisms can be borrowed mutably at
/// the same time.
macro_rules! view {
    ($switch:expr, $now:expr) => {
        $crate::switch::mechanism::View {
            id: $switch.id,
            spec: &$switch.spec,
            ports: &$switch.ports,
            routes: &$switch.routes,
            buffer: &$switch.buffer,
            occupancy: &$switch.occupancy,
            paused_until_resumed: &$switch.paused_until_resumed,
            now: $now,
        }
    };
}
pub(super) use view;
