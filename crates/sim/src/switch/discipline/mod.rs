//! Queue disciplines: the order in which the packets of a data queue leave, and which of them is
//! dropped when there is no room. A flow-control mechanism may bring a discipline of its own. First
//! in, first out has no code here: queues implement it themselves. The rest is kept out of line so
//! that such queues are not slowed down.

pub mod cake;
mod check;
#[cfg(test)]
mod conformance;
pub mod fifo;
pub mod flows;
pub mod fq;
pub mod fq_codel;
mod sizes;
pub mod srpt;
#[cfg(test)]
pub(super) mod stand;

use std::any::Any;
use std::fmt::Debug;

use floodway_model::random::Stream;
use floodway_model::{Body, Instant, Packet};

use super::Switch;
use super::aqm::Verdict;
use super::mechanism::Site;
use super::port::DropReason;
use super::queue::Queued;
use crate::context::Context;
use crate::link::Transmitter;
use crate::metric::Tally;
use crate::observe::{Fact, Kinds};

pub use sizes::Sizes;

floodway_model::family! {
    /// The order in which the packets of a data queue leave.
    "switch.queue.discipline":
    Fifo = "fifo" (fifo::Spec): "First in, first out; a packet that finds no room is dropped.",
    Fq = "fq" (fq::Spec):
        "Flow queueing: flows are served by deficit round robin, new ones first (RFC 8290, without CoDel).",
    FqCodel = "fq_codel" (fq_codel::Spec):
        "Flow queueing with CoDel in the queue of each flow (RFC 8290).",
    Cake = "cake" (cake::Spec):
        "Flow queueing with host isolation, tins by DSCP, the AQM COBALT and a shaper that knows the line (CAKE).",
    Srpt = "srpt" (srpt::Spec):
        "The flow with the least left goes first; for want of room the packet with the most is dropped (SRPT, pFabric).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Fifo(fifo::Spec {})
    }
}

impl Spec {
    /// Builds the discipline of a data queue of a port; `None` for first in, first out.
    pub fn build(&self, site: &Site<'_>, port: usize, queue: usize) -> Option<Box<dyn Discipline>> {
        match self {
            Self::Fifo(_) => None,
            Self::Fq(spec) => Some(Box::new(spec.build(site, queue))),
            Self::FqCodel(spec) => Some(Box::new(spec.build(site, queue))),
            Self::Cake(spec) => Some(Box::new(spec.build(site, port, queue))),
            Self::Srpt(spec) => Some(Box::new(srpt::Srpt::new(spec, site))),
        }
    }

    /// Whether it needs the sizes of flows.
    pub const fn needs_sizes(&self) -> bool {
        matches!(self, Self::Srpt(_))
    }

    /// Whether packets leave in the order of their arrival.
    pub const fn is_fifo(&self) -> bool {
        matches!(self, Self::Fifo(_))
    }

    /// Whether it has an AQM of its own, which decides on packets that leave.
    pub const fn has_aqm(&self) -> bool {
        matches!(self, Self::FqCodel(_) | Self::Cake(_))
    }

    /// Whether it drops acknowledgements for newer ones.
    pub fn filters_acks(&self) -> bool {
        matches!(self, Self::Cake(spec) if !spec.ack_filter.is_off())
    }

    /// Whether packets leave it with the DSCP 0.
    pub const fn washes(&self) -> bool {
        matches!(self, Self::Cake(spec) if spec.wash)
    }

    /// The path of the field because of which its AQM never marks; `None` if it may mark, or if it has none.
    pub fn no_marks(&self) -> Option<&'static str> {
        match self {
            Self::FqCodel(spec) => spec.no_marks(),
            _ => None,
        }
    }

    /// The fields of its AQM that, with these values, affect only ECN-capable packets.
    pub fn needs_ecn(&self) -> &'static [&'static str] {
        match self {
            Self::FqCodel(spec) => spec.needs_ecn(),
            _ => &[],
        }
    }
}

/// What the AQM of a discipline sees of the switch when a packet is about to leave.
#[derive(Debug)]
pub struct Leaving<'a> {
    /// Current time.
    pub now: Instant,
    /// Whether every packet can signal congestion, because layer 2 congestion indication is
    /// enabled.
    pub indicates: bool,
    /// Largest possible frame on the link, in bytes as backlogs count them.
    pub largest_frame: u64,
    /// The RNG stream of the switch.
    pub rng: &'a mut Stream,
}

impl Leaving<'_> {
    /// Whether the packet can signal congestion, so that it need not be dropped instead.
    pub fn can_mark(&self, packet: &Packet) -> bool {
        self.indicates || packet.ecn().is_capable()
    }
}

/// Decides the order in which the packets of one data queue leave. The discipline holds the
/// packets; the queue keeps the counters.
pub trait Discipline: Debug + Send {
    /// Whether a packet that finds the port idle may bypass the queue and go to the wire. The
    /// discipline writes into the packet what it must carry on the link. `rng` is that of the
    /// switch.
    fn passes(&mut self, _packet: &mut Packet, _now: Instant, _rng: &mut Stream) -> bool {
        true
    }

    /// Adds a packet.
    fn push(&mut self, queued: Queued, now: Instant, rng: &mut Stream);

    /// The wire is free: decides which packet is at the head. If none may be sent, returns the
    /// earliest time at which one may, as far as known, or [`Instant::NEVER`]. Also called before a
    /// packet that finds the wire free, and possibly several times at the same time.
    fn settle(&mut self, _now: Instant) -> Instant {
        Instant::NEVER
    }

    /// The packet that leaves next; `None` if the queue is empty, or if none of its packets may be
    /// sent.
    fn head(&self) -> Option<&Queued>;

    /// The same, for modification.
    fn head_mut(&mut self) -> Option<&mut Packet>;

    /// Arrival time of the packet at the head; `None` if there is none, or if the discipline is that of a flow-control
    /// mechanism and stores no times.
    fn head_since(&self) -> Option<Instant>;

    /// Decision of its AQM, if it [has one](Spec::has_aqm), on the packet at the head, which is about to leave. The switch
    /// marks or drops the packet; after a drop it calls [`Discipline::settle`] and asks again.
    fn on_departure(&mut self, _leaving: &mut Leaving<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Removes the packet at the head.
    fn pop(&mut self) -> Option<Queued>;

    /// There is no room for this packet: removes a queued packet that is to be dropped instead.
    /// `None`: the packet itself is to be dropped.
    fn push_out(&mut self, _packet: &Packet, _now: Instant) -> Option<Queued> {
        None
    }

    /// A packet has joined, or room has been made with [`Discipline::push_out`]: removes a packet that is dropped
    /// nevertheless, in the same batch. Called until it returns `None`.
    fn push_out_more(&mut self) -> Option<Queued> {
        None
    }

    /// A packet of this queue is about to go to the wire.
    fn on_sent(&mut self, _packet: &Packet, _tx: &Transmitter, _now: Instant) {}

    /// A link control frame has arrived from the neighbor to which this queue sends.
    fn on_frame(&mut self, _frame: &Body, _now: Instant) {}

    /// The queued packets, in no particular order.
    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_>;

    /// Whether its accounting agrees with its packets.
    fn is_consistent(&self) -> bool {
        true
    }

    /// Into how many parts of the queue it divides traffic that may not be sent now, or only at a lower rate,
    /// because the neighbor has asked for it.
    fn held(&self) -> u64 {
        0
    }

    /// Adds its counters as of `now`.
    fn count(&self, _now: Instant, _tally: &mut Tally) {}

    /// For a downcast by the mechanism that owns it.
    fn as_any(&self) -> &dyn Any;
}

impl Switch {
    /// Whether a packet that finds the port idle may go straight to the wire. If so, the discipline
    /// counts it as sent.
    #[inline(never)]
    pub(super) fn passes_discipline(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &mut Packet,
        now: Instant,
    ) -> bool {
        let port = &mut self.ports[egress];
        let queue = &mut port.queues[queue];
        queue.settle(now);
        let passes = queue.passes(packet, now, &mut self.rng);
        if passes {
            queue.on_sent(packet, &port.tx, now);
        }
        passes
    }

    /// Queues the packet in the discipline of its queue, or first at an input of the crossbar.
    #[inline(never)]
    pub(super) fn push_by_discipline(
        &mut self,
        egress: usize,
        queue: usize,
        queued: Queued,
        now: Instant,
        context: &mut Context,
    ) {
        if self.crossbar.is_some() {
            return self.enter_input(egress, queue, queued, now);
        }
        let port = &mut self.ports[egress];
        if port.tx.busy_until <= now {
            port.queues[queue].settle(now);
        }
        port.queues[queue].push_ordered(&queued, now, &mut self.rng);
        self.discard_more(egress, queue, now, context);
    }

    /// Drops what the discipline has chosen beside the packet that has joined, or beside the one for which there was no room.
    fn discard_more(&mut self, egress: usize, queue: usize, now: Instant, context: &mut Context) {
        while let Some(out) = self.ports[egress].queues[queue].push_out_more() {
            self.discard(egress, queue, DropReason::PushedOut, &out, now, context);
        }
    }

    /// The packet has been refused. If its queue has no room, the discipline may drop other packets
    /// until it fits. Returns whether it may join.
    #[cold]
    pub(super) fn push_out(
        &mut self,
        egress: usize,
        queue: usize,
        mut reason: DropReason,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) -> bool {
        while matches!(reason, DropReason::QueueFull | DropReason::EgressThreshold) {
            let queues = &mut self.ports[egress].queues;
            let Some(out) = queues[queue].push_out(packet, now) else { return false };
            self.discard(egress, queue, DropReason::PushedOut, &out, now, context);
            match self.admit(egress, queue, packet) {
                Ok(()) => {
                    self.discard_more(egress, queue, now, context);
                    return true;
                }
                Err(other) => reason = other,
            }
        }
        false
    }

    /// Called before a queue is selected: every discipline of the port decides which packet is at
    /// its head. Returns the earliest time at which a queue that may not send now may send, as far
    /// as known.
    #[inline(never)]
    pub(super) fn settle(&mut self, index: usize, now: Instant) -> Instant {
        let queues = self.ports[index].queues.iter_mut();
        queues.map(|queue| queue.settle(now)).min().unwrap_or(Instant::NEVER)
    }

    /// A packet of `queue` has gone to the wire: updates the discipline and the crossbar.
    #[inline(never)]
    pub(super) fn after_sending(
        &mut self,
        index: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
    ) {
        let port = &mut self.ports[index];
        port.queues[queue].on_sent(packet, &port.tx, now);
        if queue != self.control_queue()
            && let Some(crossbar) = &mut self.crossbar
        {
            crossbar.depart(index, queue, packet.bytes, now);
            self.watch_crossbar();
        }
    }

    /// A link control frame about queues of a port has arrived.
    #[inline(never)]
    pub(super) fn on_link_control(
        &mut self,
        port: usize,
        frame: &Body,
        now: Instant,
        context: &mut Context,
    ) {
        if let Body::Bfc { class, physical_queue: queue, stop } = *frame {
            let class = class.into();
            let fact = || Fact::QueuePaused { port, class, queue, stop };
            context.state(Kinds::PAUSED, self.id, now, fact);
        }
        self.ports[port].queues.iter_mut().for_each(|queue| queue.on_frame(frame, now));
        self.kick_port(port, now, context);
    }
}
