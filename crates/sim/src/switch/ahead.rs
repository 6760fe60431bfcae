//! Asking for memory that a switch is about to need. In large networks, most of the state of a port is not in the caches
//! when a frame arrives for it.

use floodway_model::{Body, Instant, Packet};
use floodway_prefetch::ask_for_lines;

use super::Switch;
use super::port::Port;
use crate::routing::Hops;

/// Lines of a port that most frames need.
const LINES: usize = 5;

/// No port is known.
const NONE: u32 = u32::MAX;

impl Switch {
    /// Asks for the port of a frame, then for its queue, then for the end of that. Returns the port.
    #[inline]
    pub(super) fn look(&self, packet: &Packet, step: usize, found: u32) -> u32 {
        if step == 0 {
            let found = self.port_of(packet).map_or(NONE, |port| port as u32);
            if let Some(port) = self.ports.get(found as usize) {
                ask_for_lines(port, LINES);
                self.timers.ask_for(found as usize);
            }
            return found;
        }
        if let Some(port) = self.ports.get(found as usize) {
            let queue = match packet.body {
                Body::Data { .. } | Body::Segment { .. } => self.spec.data_queue(packet),
                _ => self.control_queue(),
            };
            port.look(queue, step);
        }
        found
    }

    /// The egress port of a frame, or, of one that ends here, the ingress port; `None` if it depends on more.
    fn port_of(&self, packet: &Packet) -> Option<usize> {
        if packet.is_one_hop() {
            return Some(usize::from(packet.ingress.0));
        }
        match self.routes.towards(packet.dst) {
            Hops::Host(port) => Some(usize::from(port)),
            Hops::Equal([port]) => Some(usize::from(*port)),
            Hops::Equal(ports) => {
                let (flow, entropy) = (packet.flow, packet.entropy());
                let choice = self.spec.path.by_flow(flow, entropy, self.id, ports.len())?;
                ports.get(choice).map(|&port| usize::from(port))
            }
        }
    }

    /// Asks for the ports whose timers expire before `end`, and for what they send.
    pub(super) fn look_at_timers(&self, end: Instant) {
        let due = || self.timers.due(end).filter_map(|slot| self.ports.get(slot));
        due().for_each(|port| ask_for_lines(port, LINES));
        for step in 1..3 {
            due().for_each(|port| port.look(port.waiting.trailing_zeros() as usize, step));
        }
    }
}

impl Port {
    /// Asks for a queue; in the second step, for what it holds.
    #[inline]
    fn look(&self, queue: usize, step: usize) {
        let Some(queue) = self.queues.get(queue) else { return };
        match step {
            1 => ask_for_lines(queue, 2),
            2 => queue.look(),
            _ => {}
        }
    }
}
