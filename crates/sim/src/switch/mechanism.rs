//! The interface between a flow-control mechanism and its switch. A mechanism says which events it wants to see,
//! and answers them with actions. The switch carries these out before it asks the next mechanism, so each
//! mechanism sees queues and counters as the one before has left them. The order is that of the rows in
//! [`flow_control`](super::flow_control).

use std::sync::Arc;

use floodway_model::graph::NodeKind;
use floodway_model::random::Stream;
use floodway_model::{Body, Bytes, Class, Duration, FlowId, Instant, NodeId, Packet, PortIx, Tos};

use super::buffer::Buffer;
use super::discipline::{Discipline, Sizes};
use super::flow_control::drc::Peers;
use super::flow_control::pausing::{Held, Paused, Source};
use super::flow_control::pfc::watchdog::Event;
use super::occupancy::Occupancy;
use super::port::{DropReason, Port};
use super::{Spec, Switch};
use crate::context::Context;
use crate::link::Link;
use crate::metric::Tally;
use crate::routing::{Hops, Routes};

/// A set of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(u16);

impl Events {
    /// None.
    pub const NONE: Self = Self(0);
    /// A data packet has arrived from a neighbour, and no mechanism has moved it yet.
    pub const ARRIVED: Self = Self(1);
    /// The queue of a data packet is about to be chosen: its own, or another.
    pub const PLACED: Self = Self(1 << 1);
    /// A packet is about to be admitted to a data queue.
    pub const ADMITTED: Self = Self(1 << 2);
    /// A packet has joined a data queue and is counted there.
    pub const JOINED: Self = Self(1 << 3);
    /// Packets that could go straight to the wire join their queue like others, so they are seen too.
    pub const LONE: Self = Self(1 << 4);
    /// A packet has left a data queue and is no longer counted there.
    pub const LEFT: Self = Self(1 << 5);
    /// A packet is dropped.
    pub const DROPPED: Self = Self(1 << 6);
    /// A neighbour pauses or resumes classes.
    pub const PAUSED: Self = Self(1 << 7);
    /// A congestion isolation message for this switch has arrived.
    pub const FRAME: Self = Self(1 << 8);
    /// A message from a switch to a host is about to leave this switch, which made it
    /// ([`Action::Send`]) or forwards it.
    pub const TRANSIT: Self = Self(1 << 9);
    /// The time of [`Mechanism::next_wake`] has come.
    pub const TIMER: Self = Self(1 << 10);
    /// A link control frame is about to leave.
    pub const LINK_CONTROL: Self = Self(1 << 11);
    /// A packet that a mechanism has moved has joined its queue, and is accounted for.
    pub const MOVED: Self = Self(1 << 12);
    /// All.
    pub const ALL: Self = Self(u16::MAX);

    /// Those of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has one of the others.
    #[inline(always)]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// Where a mechanism is to run.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The switch's name.
    pub name: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// Steps from the hosts.
    pub tier: u8,
    /// Its ports.
    pub ports: &'a [SitePort],
    /// How many data queues a port has.
    pub queues: usize,
    /// The memory of a data queue, if it has its own.
    pub queue_size: Bytes,
    /// The latency of the switch.
    pub latency: Duration,
    /// What its neighbours know of each other's routes.
    pub peers: &'a Peers,
    /// How much the flows send, if a discipline asks.
    pub sizes: Option<&'a Arc<Sizes>>,
}

#[cfg(test)]
impl<'a> Site<'a> {
    /// A leaf with one data queue at each of these ports.
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
    /// To a host, with 100 Gb/s.
    pub const HOST: Self = Self { link: Link::PLAIN, peer: NodeKind::Host };
}

/// A port of a switch in which a mechanism is to run.
#[derive(Clone, Copy, Debug)]
pub struct SitePort {
    /// Its link.
    pub link: Link,
    /// What is at the other end.
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
    /// Its buffer for data, with what each ingress port and class holds of it.
    pub buffer: &'a Buffer,
    /// Data bytes in its queues.
    pub occupancy: &'a Occupancy,
    /// By port, bit c: class c of the neighbour is paused until it is resumed.
    pub paused_until_resumed: &'a [u8],
    /// The time.
    pub now: Instant,
}

impl View<'_> {
    /// A frame from this switch to the source of `packet`, about its flow.
    pub fn to_source(&self, packet: &Packet, bytes: u16, body: Body) -> Packet {
        own_frame(self.id, packet.src, packet.flow, bytes, self.spec, body)
    }

    /// Whether this class of a neighbour is paused until it is resumed.
    pub fn holds(&self, source: Source) -> bool {
        self.paused_until_resumed[source.port()] >> source.class() & 1 != 0
    }

    /// A frame from this switch to the neighbour at `port`, about a flow.
    pub fn to_neighbor(&self, flow: FlowId, port: usize, bytes: u16, body: Body) -> Packet {
        own_frame(self.id, self.ports[port].tx.link().peer, flow, bytes, self.spec, body)
    }

    /// Whether a host is attached here.
    pub fn is_edge_of(&self, host: NodeId) -> bool {
        matches!(self.routes.towards(host), Hops::Host(_))
    }
}

/// A frame that a switch makes.
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
        lane: 0,
        body,
    }
}

/// A data packet that has arrived, and for which no queue is chosen yet.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The egress port that it is bound for.
    pub egress: usize,
    /// The data queue that it joins if its flow is not isolated.
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
    /// The data queue that it joins in place of its own.
    pub queue: usize,
    /// It may leave once this many packets have left the queue of [`Mechanism::keeps_behind`]; 0: at once.
    /// Behind a crossbar, where packets overtake others, it is the number of the packet that must have left.
    pub not_before: u64,
    /// Whether it is marked, if it is ECN-capable and the AQM has not marked it.
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

/// A message from a switch to a host, which is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Transit<'a> {
    /// The message.
    pub frame: &'a Packet,
    /// The port by which it is to leave.
    pub egress: usize,
    /// Whether this switch has just made it.
    pub own: bool,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Forward,
    /// It ends here.
    Consume,
}

/// What a switch is to do.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Send a frame of its own towards its destination, unless the next hop is by port `except`: that of the
    /// packet that the frame is about, if links have failed since it came.
    Send {
        /// The frame.
        frame: Packet,
        /// Not by this port.
        except: Option<usize>,
    },
    /// Send a frame of its own to the node at this port.
    SendTo {
        /// The node's port.
        port: usize,
        /// The frame.
        frame: Packet,
    },
    /// Pause a class of a neighbour by a PFC frame, until it is resumed.
    Pause {
        /// The class and the neighbour's port.
        source: Source,
        /// Quanta of 512 bit times that this frame says.
        quanta: u16,
    },
    /// Resume a class of a neighbour that was paused by [`Action::Pause`]. If other mechanisms still pause it
    /// ([`Mechanism::left`]), the frame has the rest of their pause instead of 0 quanta.
    Resume {
        /// The class and the neighbour's port.
        source: Source,
    },
    /// Pause or resume all that a neighbour sends, by a PAUSE frame.
    PausePort {
        /// The neighbour's port.
        port: usize,
        /// Quanta of 512 bit times, 0 to resume.
        quanta: u16,
    },
    /// Stop obeying the pause of a data queue.
    IgnorePause {
        /// Egress port and queue.
        place: Source,
    },
    /// Send a link control frame to the neighbour at this port, in place of one that waits and says the same of
    /// another moment.
    SendLinkControl {
        /// The neighbour's port.
        port: usize,
        /// What the frame says.
        body: Body,
    },
    /// Drop all packets of a data queue.
    Discard {
        /// Egress port and queue.
        place: Source,
        /// Why.
        reason: DropReason,
    },
    /// Read [`Mechanism::next_wake`] again. Every other action does that too.
    Arm,
    /// Pause a class of a neighbour by a PFC frame. The pause ends by itself.
    PauseFor {
        /// The class and the neighbour's port.
        source: Source,
        /// Quanta of 512 bit times, at least 1.
        quanta: u16,
    },
}

/// What a mechanism wants done, in this order.
pub type Actions = Vec<Action>;

/// The half of a mechanism that is in a switch.
pub trait Mechanism: Sized {
    /// Its parameters.
    type Spec;

    /// Builds it for a switch; `None` where it does not run.
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

    /// The events that it wants to see.
    fn wants(&self) -> Events;

    /// A data packet has arrived.
    fn on_arrived(&mut self, _arrived: &Arrived<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// The queue for a data packet, if not its own. `rng` is that of the switch.
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

    /// A packet has joined a data queue.
    fn on_joined(&mut self, _joined: &Joined<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// A packet that this mechanism has moved has joined the queue where it was moved to.
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

    /// A link control frame is about to leave by `port`: what it says, by now.
    fn on_link_control(&mut self, _port: usize, body: Body, _now: Instant) -> Body {
        body
    }

    /// A packet has left a data queue.
    fn on_left(&mut self, _left: &Left<'_>, _view: &View<'_>, _actions: &mut Actions) {}

    /// Whether this mechanism lets a packet join this queue.
    fn admits(&mut self, _egress: usize, _queue: usize) -> Result<(), DropReason> {
        Ok(())
    }

    /// A packet for this queue, the control queue included, is dropped.
    fn on_dropped(&mut self, _egress: usize, _queue: usize, _reason: DropReason) {}

    /// A frame from the neighbour at `port` pauses these classes, or resumes them (0 quanta). Returns the classes
    /// in which it is not obeyed.
    fn disobeys(&mut self, _port: usize, _classes: u8, _quanta: u16, _view: &View<'_>) -> u8 {
        0
    }

    /// That frame has taken effect in the classes in which it is obeyed.
    fn on_paused(&mut self, _port: usize, _classes: u8, _view: &View<'_>, _actions: &mut Actions) {}

    /// When its timer expires; [`Instant::NEVER`] without one.
    fn next_wake(&self) -> Instant {
        Instant::NEVER
    }

    /// Its timer has expired.
    fn on_timer(&mut self, _view: &View<'_>, _actions: &mut Actions) {}

    /// The link of a port is up again, and its other end has forgotten all pauses: repeats those that hold.
    fn on_link_up(&mut self, _port: usize, _view: &View<'_>, _actions: &mut Actions) {}

    /// The queue behind which moved packets are kept in order.
    fn keeps_behind(&self) -> Option<u8> {
        None
    }

    /// Bit q: the AQM marks nothing in data queue q.
    fn unmarked(&self) -> u8 {
        0
    }

    /// Whether it pauses neighbours as a whole, counted as class 0.
    fn stops_ports(&self) -> bool {
        false
    }

    /// The pauses sent to the neighbour at `port` for a class; `None` if it pauses no neighbours.
    fn pauses_sent(&self, _port: usize, _class: usize) -> Option<&Paused> {
        None
    }

    /// What must leave before this source is resumed; `None` if it has not paused it.
    fn held(&self, _source: Source, _buffer: &Buffer) -> Option<Held> {
        None
    }

    /// The storms of pauses that it has found.
    fn storms(&self) -> &[Event] {
        &[]
    }

    /// The quanta that are left of its own pause of this class of a neighbour, which another mechanism resumes.
    fn left(&self, _source: Source, _view: &View<'_>) -> u16 {
        0
    }

    /// Adds what it has counted.
    fn count(&self, _tally: &mut Tally) {}
}

/// A view of a switch whose mechanisms are borrowed separately.
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

impl Switch {
    /// Carries out what a mechanism wants done.
    #[cold]
    pub(super) fn carry_out(&mut self, now: Instant, context: &mut Context) {
        let mut actions = std::mem::take(&mut self.actions);
        let mut paused = 0..0;
        for action in actions.drain(..) {
            match action {
                Action::Send { frame, except } => self.send_own(&frame, except, now, context),
                Action::SendTo { port, frame } => {
                    self.emitted += 1;
                    self.enqueue_control(port, &frame, now, context);
                }
                Action::Pause { source, quanta } => {
                    self.paused_until_resumed[source.port()] |= 1 << source.class();
                    self.send_pfc(source, quanta, &mut paused, now, context);
                }
                Action::Resume { source } => {
                    self.paused_until_resumed[source.port()] &= !(1 << source.class());
                    let left = self.mechanisms.left(source, &view!(self, now));
                    self.send_pfc(source, left, &mut paused, now, context);
                }
                Action::PauseFor { source, quanta } => {
                    self.send_pfc(source, quanta, &mut paused, now, context);
                }
                Action::PausePort { port, quanta } => self.send_pause(port, quanta, now, context),
                Action::SendLinkControl { port, body } => {
                    self.send_link_control(port, body, now, context)
                }
                Action::IgnorePause { place } => {
                    let classes = 1 << place.class();
                    self.ports[place.port()].tx.pause(classes, 0, now, context);
                    self.kick_port(place.port(), now, context);
                }
                Action::Discard { place, reason } => {
                    self.discard_all(place.port(), place.class(), reason, now, context);
                    self.kick_port(place.port(), now, context);
                }
                Action::Arm => {}
            }
        }
        // A nested call may have put another vector here; this one has the capacity.
        self.actions = actions;
        self.send_combined(paused, now, context);
        self.set_timer();
    }

    fn send_own(
        &mut self,
        frame: &Packet,
        except: Option<usize>,
        now: Instant,
        context: &mut Context,
    ) {
        let Some(egress) = self.forward(frame, now).filter(|&egress| Some(egress) != except) else {
            return;
        };
        if self.transit(&Transit { frame, egress, own: true }, now, context) == Fate::Forward {
            self.emitted += 1;
            self.enqueue_control(egress, frame, now, context);
        }
    }

    /// A message from a switch to a host is about to leave.
    #[inline]
    pub(super) fn transit(
        &mut self,
        transit: &Transit<'_>,
        now: Instant,
        context: &mut Context,
    ) -> Fate {
        match self.mechanisms.wants().has(Events::TRANSIT) {
            true => self.ask_transit(transit, now, context),
            false => Fate::Forward,
        }
    }
}
