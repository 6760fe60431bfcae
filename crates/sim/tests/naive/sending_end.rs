//! The sending end of a link: rate, delay, preamble and gap, and the pauses of its classes.

use floodway_model::graph::NodeKind;
use floodway_model::{Bytes, Instant, NodeId, PortIx, Rate};
use floodway_sim::Spec;

use super::World;
use super::frame::{Frame, Kind, after};
use super::heap::Event;

pub struct SendingEnd {
    pub node: NodeId,
    pub port: usize,
    pub rate: Rate,
    /// The rate at which the other end sends.
    back: Rate,
    /// When the frame on the wire ends, preamble and gap included.
    pub busy_until: Instant,
    /// By class.
    pub paused_until: [Instant; 8],
    to: (NodeId, PortIx),
    overhead: u16,
    /// From the end of a frame on the wire to its handling at the other end, in picoseconds.
    delay: u64,
    /// The same of a pause frame.
    pause_delay: u64,
}

impl SendingEnd {
    pub fn new(spec: &Spec, node: NodeId, port: usize) -> Self {
        let link = spec.graph.node(node).ports[port];
        let latency = match spec.graph.node(link.peer).kind {
            NodeKind::Host => 0,
            NodeKind::Switch { .. } => spec.switch.latency.0,
        };
        let back = spec.graph.rate_to(&link);
        let response =
            spec.switch.flow_control.pfc.as_ref().map_or(0, |pfc| pfc.response_at(back).0);
        Self {
            node,
            port,
            rate: link.rate,
            back,
            busy_until: Instant::ZERO,
            paused_until: [Instant::ZERO; 8],
            to: (link.peer, link.peer_port),
            overhead: spec.wire_overhead,
            delay: link.delay.0 + latency,
            pause_delay: link.delay.0 + response,
        }
    }

    pub fn is_free(&self, now: Instant) -> bool {
        self.busy_until <= now
    }

    pub fn is_paused(&self, class: usize, now: Instant) -> bool {
        self.paused_until[class] > now
    }

    /// What a frame of so many bytes takes of the wire, in bytes.
    pub fn on_wire(&self, bytes: u16) -> u64 {
        u64::from(bytes) + u64::from(self.overhead)
    }

    /// How long it is on the wire, in picoseconds.
    pub fn wire_time(&self, bytes: u16) -> u64 {
        self.rate.time_for(Bytes(self.on_wire(bytes))).0
    }

    /// How long a pause of this end lasts, in picoseconds: quanta of 512 bit times (IEEE 802.3 annex 31B).
    fn pause_time(&self, quanta: u16) -> u64 {
        self.rate.time_for(Bytes(u64::from(quanta) * 64)).0
    }

    /// How long the other end pauses.
    pub fn pause_there(&self, quanta: u16) -> u64 {
        self.back.time_for(Bytes(u64::from(quanta) * 64)).0
    }

    /// Puts a frame on the wire, which is free.
    pub fn transmit(&mut self, frame: Frame, class: usize, now: Instant, world: &mut World) {
        assert!(self.is_free(now));
        self.busy_until = after(now, self.wire_time(frame.bytes));
        let delay = match frame.kind {
            Kind::Pause { .. } => self.pause_delay,
            _ => self.delay,
        };
        let handled_at = after(self.busy_until, delay);
        world.send(now, self.to, handled_at, Frame { class: class as u8, ..frame });
        world.heap.push(self.busy_until, self.node, Event::Send(self.port));
    }

    /// Obeys a pause frame.
    pub fn pause(&mut self, class: usize, quanta: u16, now: Instant, world: &mut World) {
        let pfc = world.spec.switch.flow_control.pfc.as_ref();
        if quanta > 0 && pfc.is_some_and(|pfc| !pfc.refresh) {
            // Until a frame ends it.
            self.paused_until[class] = Instant::NEVER;
            return;
        }
        let until = after(now, self.pause_time(quanta));
        self.paused_until[class] = until;
        world.heap.push(until, self.node, Event::Send(self.port));
    }
}
