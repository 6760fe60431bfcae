//! Switches: a packet's life is told by `Switch::take_in` and
//! `Switch::send_next`.

pub mod aqm;
mod arrival;
mod audit;
pub mod buffer;
mod build;
pub mod check;
pub mod classify;
pub mod congestion_indication;
mod crossing;
mod departure;
pub mod discipline;
pub mod fabric;
pub mod feedback;
pub mod flow_control;
mod knowledge;
mod link_control;
pub mod mechanism;
pub mod occupancy;
pub mod overflow;
pub mod path;
pub mod port;
pub mod queue;
mod rerouting;
mod rests;
pub mod scheduler;
mod spec;
pub mod stopped;
mod timer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use floodway_engine::{Node, Timers};
use floodway_model::id::CLASSES;
use floodway_model::random::Stream;
use floodway_model::{Body, Class, FlowId, Instant, NodeId, Packet};

use crate::context::Context;
use crate::observe::{Fact, Kinds};
use crate::routing::{Hops, Routes};
use aqm::Verdict;
use buffer::Buffer;
use congestion_indication::Indication;
use fabric::Crossbar;
use flow_control::Mechanisms;
use flow_control::pausing::source_of;
use mechanism::{Actions, Arrived, Events, Fate, Joined, Left, Moved, Transit};
use occupancy::Occupancy;
use overflow::Trimming;
use port::{DropReason, Port};
use queue::Queued;

pub use knowledge::Knowledge;
pub use spec::{QueueSpec, Spec};

/// A switch: store and forward, with queues at the egress. In order of use.
#[derive(Debug)]
#[repr(C)]
pub struct Switch {
    id: NodeId,
    tier: u8,
    /// Whether the queue management judges packets that leave.
    decides_on_departure: bool,
    /// Whether every packet joins its queue, also if the port is idle: somebody is to see it leave.
    bypass_disabled: bool,
    /// Some feedback waits with the data.
    feedback_among_data: bool,
    /// All queues are first in, first out, with neither a discipline nor a crossbar before them.
    only_fifos: bool,
    /// Packets that a mechanism has moved are kept in order behind this queue.
    kept_behind: u8,
    /// Bit q: the AQM marks nothing in data queue q.
    unmarked: u8,
    spec: Arc<Spec>,
    routes: Routes,
    /// The ports.
    pub ports: Box<[Port]>,
    /// Frames that came in to be forwarded.
    pub received: u64,
    /// One slot per port, for its next transmission; then one for samples and refreshes, and one for
    /// the crossbar.
    timers: Timers,
    rng: Stream,
    /// Data bytes in all its queues.
    pub occupancy: Occupancy,
    /// The queue management of all ports, in place of their own, if it measures the memory.
    shared_aqm: Option<Box<aqm::State>>,
    /// What is between its ports; `None` if that is nothing.
    pub crossbar: Option<Box<Crossbar>>,
    /// `None` without layer 2 congestion indication.
    pub indication: Option<Box<Indication>>,
    /// `None` if what finds no room is dropped.
    pub trimming: Option<Box<Trimming>>,
    /// The memory for data, with the ingress half of the books. The egress half is kept by the
    /// queues; both count the same data packets.
    buffer: Buffer,
    /// Flow-control mechanisms of this switch.
    mechanisms: Mechanisms,
    /// Scratch buffer for their actions.
    actions: Actions,
    /// By port, bit c: a mechanism has paused class c of the neighbour, and will resume it.
    paused_until_resumed: Box<[u8]>,
    /// Frames that came in for the switch itself.
    pub consumed: u64,
    /// Frames made here.
    pub emitted: u64,
    /// Of these, PFC frames where one may be about several classes.
    pub pfc_frames: u64,
    /// Frames dropped.
    pub dropped: u64,
    /// Of these, data that found no room in a class that must not lose any.
    lossless_dropped: u64,
    /// By flow: its data packets that were dropped.
    pub lost: BTreeMap<FlowId, u64>,
    next_sample: usize,
    next_sample_at: Instant,
    /// What the choice among equal ways remembers.
    path: path::State,
    /// When links are known to have failed or to work again, ascending, and the routes from then on.
    epochs: VecDeque<(Instant, Routes)>,
}

impl Switch {
    /// Which node of the graph it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Steps from the hosts.
    pub fn tier(&self) -> u8 {
        self.tier
    }

    /// How many ports it has.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// The queue for feedback and notifications, above all data queues, unless `switch.feedback` has them
    /// among the data.
    fn control_queue(&self) -> usize {
        usize::from(self.spec.queue.count)
    }

    /// A frame to be forwarded has arrived.
    fn take_in(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        self.received += 1;
        let Some(egress) = self.forward(packet, now) else {
            return self.drop_unroutable(packet, now, context);
        };
        let queue = self.spec.data_queue(packet);
        if self.mechanisms.wants().has(Events::ARRIVED) {
            self.ask_arrived(&Arrived { egress, home: queue, packet }, now, context);
        }
        let moved = match self.mechanisms.wants().has(Events::PLACED) {
            true => self.ask_moves(&Arrived { egress, home: queue, packet }, now),
            false => None,
        };
        let queue = moved.map_or(queue, |moved| moved.queue);
        let verdict = self.aqm_verdict(egress, queue, moved, packet, now);
        if verdict == Verdict::Drop {
            return self.drop(egress, queue, DropReason::Aqm, packet, now, context);
        }
        if let Err(reason) = self.admit(egress, queue, packet)
            && (self.only_fifos || !self.push_out(egress, queue, reason, packet, now, context))
            && !self.overflows(egress, queue, (reason, verdict), packet, now, context)
        {
            return;
        }
        if verdict == Verdict::Congested {
            self.mark(egress, queue, packet, now, context);
        }
        if moved.is_none() && !self.bypass_disabled && self.ports[egress].passes(queue, now) {
            return self.pass(egress, queue, packet, now, context);
        }
        self.enqueue(egress, queue, moved, packet, now, context);
    }

    /// Feedback or a notification has arrived, to be forwarded.
    fn take_in_control(&mut self, packet: &Packet, now: Instant, context: &mut Context) {
        self.received += 1;
        match self.forward(packet, now) {
            Some(egress) => self.enqueue_control(egress, packet, now, context),
            None => self.drop_unroutable(packet, now, context),
        }
    }

    /// A message from a switch to a host has arrived. It is forwarded unless a mechanism consumes it.
    fn take_in_message(&mut self, packet: &Packet, now: Instant, context: &mut Context) {
        let Some(egress) = self.forward(packet, now) else {
            self.received += 1;
            return self.drop_unroutable(packet, now, context);
        };
        if self.transit(&Transit { frame: packet, egress, own: false }, now, context)
            == Fate::Consume
        {
            self.consumed += 1;
        } else {
            self.received += 1;
            self.enqueue_control(egress, packet, now, context);
        }
    }

    /// The port has nothing else to send: the packet goes straight to the wire, if the discipline of its queue lets it.
    #[inline(always)]
    fn pass(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &mut Packet,
        now: Instant,
        context: &mut Context,
    ) {
        if !self.only_fifos && !self.passes_discipline(egress, queue, packet, now) {
            return self.enqueue(egress, queue, None, packet, now, context);
        }
        let port = &mut self.ports[egress];
        port.queues[queue].pass(packet.bytes);
        port.occupancy.pass(packet.bytes);
        self.occupancy.pass(packet.bytes);
        port.stamp(packet, now);
        port.tx.transmit(packet, Class(queue as u8), now, context);
    }

    /// The packet joins `queue`; flow control is told.
    fn enqueue(
        &mut self,
        egress: usize,
        queue: usize,
        moved: Option<Moved>,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let fact = || Fact::Joined { port: egress, queue, packet };
        context.state(Kinds::JOINED, self.id, now, fact);
        let source = source_of(packet);
        self.occupancy.join(packet.bytes);
        let port = &mut self.ports[egress];
        port.occupancy.join(packet.bytes);
        self.buffer.join(source, &port.queues[queue], packet.bytes);
        let not_before = moved.map_or(0, |moved| moved.not_before);
        port.waiting |= 1 << queue;
        let queued = Queued { packet: *packet, not_before };
        if self.only_fifos {
            port.queues[queue].push(queued, now);
        } else {
            self.push_by_discipline(egress, queue, queued, now);
        }

        let joined = Joined { egress, queue, packet };
        if moved.is_some() {
            self.ask_moved(&joined, now, context);
        }
        if self.mechanisms.wants().has(Events::JOINED) {
            self.ask_joined(&joined, now, context);
        }
        self.kick_port(egress, now, context);
    }

    /// The egress port; `None` if there is no way.
    #[inline(always)]
    fn forward(&mut self, packet: &Packet, now: Instant) -> Option<usize> {
        match self.routes.towards(packet.dst) {
            Hops::Host(port) => Some(usize::from(port)),
            Hops::Equal([port]) => Some(usize::from(*port)),
            Hops::Equal(ports) => match self.spec.path.by_flow(packet.flow, self.id, ports.len()) {
                Some(choice) => ports.get(choice).map(|&port| usize::from(port)),
                None => self.choose_next_hop(packet, now),
            },
        }
    }

    /// Whether there is room for the packet to wait.
    #[inline(always)]
    fn admit(&mut self, egress: usize, queue: usize, packet: &Packet) -> Result<(), DropReason> {
        if self.mechanisms.wants().has(Events::ADMITTED) {
            self.mechanisms.admit(egress, queue)?;
            self.admit_trimmable(egress, queue, packet)?;
        }
        let port = &self.ports[egress];
        if port.tx.is_closed() {
            return Err(DropReason::LinkDown);
        }
        self.buffer.admit(source_of(packet), port, queue, packet.bytes)
    }

    /// Feedback and notifications: one queue above the data queues, with its own limit.
    fn enqueue_control(
        &mut self,
        egress: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        if self.feedback_among_data
            && let Some(queue) = self.spec.feedback.queue(&packet.body)
        {
            return self.enqueue_among_data(egress, queue, packet, now, context);
        }
        let queue = self.control_queue();
        let (size, bytes) = (self.spec.queue.control_size.0, u64::from(packet.bytes));
        let port = &mut self.ports[egress];
        if port.passes(queue, now) && bytes <= size {
            port.queues[queue].pass(packet.bytes);
            return port.tx.transmit(packet, Class(queue as u8), now, context);
        }
        if port.tx.is_closed() {
            return self.drop(egress, queue, DropReason::LinkDown, packet, now, context);
        }
        if port.queues[queue].backlog() + bytes > size {
            return self.drop(egress, queue, DropReason::QueueFull, packet, now, context);
        }
        let fact = || Fact::Joined { port: egress, queue, packet };
        context.state(Kinds::JOINED, self.id, now, fact);
        port.waiting |= 1 << queue;
        port.queues[queue].push(Queued { packet: *packet, not_before: 0 }, now);
        self.kick_port(egress, now, context);
    }

    /// Something was put into a port: send it if the wire is free, else be there when it is.
    #[inline]
    fn kick_port(&mut self, port: usize, now: Instant, context: &mut Context) {
        let free = self.ports[port].tx.busy_until;
        if free <= now {
            self.send_next(port, now, context);
        } else if self.timers.at(port) > free {
            self.timers.set(port, free);
        }
    }

    /// The wire of `index` is free: select what goes next and send it.
    fn send_next(&mut self, index: usize, now: Instant, context: &mut Context) {
        let control = self.control_queue();
        let port = &mut self.ports[index];
        if let Some(frame) = port.pop_link_control() {
            let frame = match self.mechanisms.wants().has(Events::LINK_CONTROL) {
                true => Packet { body: self.ask_link_control(index, frame.body, now), ..frame },
                false => frame,
            };
            self.ports[index].tx.transmit(&frame, Class(control as u8), now, context);
            return self.rearm(index);
        }
        let Some(mut queue) = self.select(index, now) else { return };
        if self.bypass_disabled || self.decides_on_departure {
            let Some(leaves) = self.decide_departure(index, queue, now, context) else { return };
            queue = leaves;
        }
        let port = &mut self.ports[index];
        let queued = port.queues[queue].pop().expect("a queue that was selected has a packet");
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        port.stamp(&queued.packet, now);
        port.tx.transmit(&queued.packet, Class(queue as u8), now, context);
        self.rearm(index);
        if queue != control {
            self.release(index, queue, &queued.packet, now, context);
        }
        if !self.only_fifos {
            self.after_sending(index, queue, &queued.packet, now);
        }
    }

    /// The queue that sends next on a free wire; `None`, and a timer for the end of the pause, if
    /// there is none that may.
    #[inline(always)]
    fn select(&mut self, index: usize, now: Instant) -> Option<usize> {
        let control = self.control_queue();
        let port = &mut self.ports[index];
        if port.waiting == 0 {
            self.timers.set(index, Instant::NEVER);
            return None;
        }
        // Only PAUSE stops the control queue, and the data queues with it.
        if port.waiting >> control & 1 != 0 && !port.tx.is_paused(control, now) {
            return Some(control);
        }
        let eligible = if self.only_fifos { Instant::NEVER } else { self.settle(index, now) };
        let port = &mut self.ports[index];
        let ready = port.waiting & !port.tx.paused(now);
        let mut heads = [0; CLASSES];
        let mut some = false;
        for (queue, head) in heads[..control].iter_mut().enumerate() {
            if ready >> queue & 1 == 0 {
                continue;
            }
            // None if the discipline holds back all that waits, or nothing of it has crossed.
            let Some(first) = port.queues[queue].head() else { continue };
            // The earlier packets of a moved flow go first.
            if first.not_before > 0
                && !port.queues[usize::from(self.kept_behind)].has_let_go(first.not_before)
            {
                continue;
            }
            let overhead = u32::from(port.tx.wire_overhead());
            *head = u32::from(first.packet.bytes) + overhead;
            some = true;
        }
        if some {
            let queues = &port.queues;
            let sojourn = |queue: usize| queues[queue].sojourn(now);
            return Some(port.scheduler.select(&heads[..control], sojourn));
        }
        // A held head waits for the monitored queue, whose pause ends at its own time.
        let stopped = (0..=control).filter(|queue| port.waiting >> queue & 1 != 0);
        let until = stopped.map(|queue| port.tx.pauses()[queue].until).filter(|&until| until > now);
        self.timers.set(index, until.min().unwrap_or(Instant::NEVER).min(eligible));
        None
    }

    /// After a transmission has begun: be there when it ends, if something waits.
    #[inline]
    fn rearm(&mut self, index: usize) {
        let port = &self.ports[index];
        let next = if port.has_backlog() { port.tx.busy_until } else { Instant::NEVER };
        self.timers.set(index, next);
    }

    /// A packet has left a data queue: settle the books and tell flow control.
    fn release(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
        context: &mut Context,
    ) {
        let source = source_of(packet);
        self.occupancy.leave(packet.bytes);
        if self.occupancy.congestion() == 0
            && let Some(aqm) = &mut self.shared_aqm
        {
            aqm.on_empty(now);
        }
        let port = &mut self.ports[egress];
        port.occupancy.leave(packet.bytes);
        self.buffer.leave(source, &port.queues[queue], packet.bytes);
        if self.mechanisms.wants().has(Events::LEFT) {
            self.ask_left(&Left { egress, queue, packet }, now, context);
        }
    }
}

impl Node<Context> for Switch {
    type Frame = Packet;

    fn arrive(&mut self, packet: &mut Packet, now: Instant, context: &mut Context) {
        let port = usize::from(packet.ingress.0);
        context.state(Kinds::ARRIVED, self.id, now, || Fact::Arrived { packet });
        match packet.body {
            Body::Pfc { classes, quanta, resumed } => {
                self.consumed += 1;
                for (classes, quanta) in [(classes, quanta), (resumed, 0)] {
                    match self.mechanisms.wants().has(Events::PAUSED) {
                        _ if classes == 0 => {}
                        true => self.ask_paused(port, (classes, quanta), now, context),
                        false => self.ports[port].tx.pause(classes, quanta, now, context),
                    }
                }
                self.kick_port(port, now, context);
            }
            Body::Pause { quanta } => {
                self.consumed += 1;
                self.ports[port].tx.pause(u8::MAX, quanta, now, context);
                self.kick_port(port, now, context);
            }
            Body::Cim => {
                self.consumed += 1;
                if self.mechanisms.wants().has(Events::FRAME) {
                    self.ask_frame(port, packet, now, context);
                }
            }
            Body::Bfc { .. } | Body::Drc { .. } => {
                self.consumed += 1;
                self.on_link_control(port, &packet.body, now, context);
            }
            Body::Data { .. }
            | Body::Segment { .. }
            | Body::TcpAck { .. }
            | Body::Syn { .. }
            | Body::SynAck { .. } => self.take_in(packet, now, context),
            Body::Ack { .. }
            | Body::Nak { .. }
            | Body::Cnp
            | Body::Credit { .. }
            | Body::Trimmed { .. }
            | Body::TrimNak { .. } => {
                self.take_in_control(packet, now, context);
            }
            Body::Indication { .. } | Body::Sfc { .. } | Body::Cnm { .. } => {
                self.take_in_message(packet, now, context);
            }
        }
    }

    #[inline]
    fn next_wake(&self) -> Instant {
        self.timers.next()
    }

    fn wake(&mut self, now: Instant, context: &mut Context) {
        let slot = self.timers.next_slot();
        if slot < self.ports.len() {
            self.send_next(slot, now, context);
        } else if slot > self.ports.len() {
            self.cross(now, context);
        } else {
            self.on_timer(now, context);
        }
    }
}
