//! Which way a packet goes where there is more than one, and what happens to those that have none.
//! Kept out of line, so that switches that hash are not slower.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::port::DropReason;
use crate::routing::Hops;

impl Switch {
    /// The egress port among several, by what the path choice remembers or sees.
    #[inline(never)]
    pub(super) fn choose_way(&mut self, packet: &Packet, now: Instant) -> Option<usize> {
        let Hops::Equal(ports @ [_, ..]) = self.routes.towards(packet.dst) else { return None };
        let equal = (ports, self.routes.group(packet.dst));
        let port = self.path.choose(&self.spec.path, (packet, self.id), equal, &self.ports, now);
        Some(usize::from(port))
    }

    /// A packet has come to which no way leads on. It is counted where it came in.
    #[cold]
    pub(super) fn drop_unroutable(&mut self, packet: Packet) {
        let queue = if packet.is_control() { self.control_queue() } else { self.classify(&packet) };
        self.drop(packet.ingress.index(), queue, DropReason::NoRoute, packet);
    }
}
