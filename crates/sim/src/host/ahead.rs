//! Asking for memory that a host is about to need, in large networks.

use floodway_model::{Body, Packet};
use floodway_prefetch::{ask_for, ask_for_lines};

use super::Host;

/// Lines of a host that most frames need.
const LINES: usize = 9;

impl Host {
    /// Asks for the host, then, in three steps, for the receiver or the sender of a frame.
    #[inline]
    pub(super) fn look(&self, packet: &Packet, step: usize) {
        if step == 0 {
            return self.look_at_itself();
        }
        match packet.body {
            Body::Data { .. } | Body::Segment { .. } => {
                self.receivers.look(packet.connection, step)
            }
            _ => self.look_at_sender(packet.connection, step),
        }
    }

    /// Asks for what its own events need.
    #[inline]
    pub(super) fn look_at_itself(&self) {
        ask_for_lines(self, LINES);
    }

    fn look_at_sender(&self, connection: u32, step: usize) {
        if step == 1 {
            return self.slots.look(connection);
        }
        let Some(place) = self.senders.get(self.slots.of(connection) as usize) else { return };
        match (step, place) {
            (2, place) => ask_for(place),
            (_, Some(sender)) => ask_for_lines(&**sender, 5),
            (_, None) => {}
        }
    }
}
