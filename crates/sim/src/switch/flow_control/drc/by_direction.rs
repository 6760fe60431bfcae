//! Queue discipline of a data queue whose next hop is a switch: queues by direction, each
//! rate-limited according to feedback from that switch.

use std::any::Any;

use floodway_model::random::Stream;
use floodway_model::{Body, Instant, Packet};

use super::{Directions, Regulator, Statuses};
use crate::link::Transmitter;
use crate::metric::Tally;
use crate::switch::discipline::Discipline;
use crate::switch::queue::Queued;

/// A data queue with queues by direction. Every data queue of a port receives the same feedback, so
/// that their regulators agree.
#[derive(Debug)]
pub(super) struct ByDirection {
    class: usize,
    regulator: Box<Regulator>,
    directions: Directions<Queued>,
}

impl ByDirection {
    /// An empty queue for a class.
    pub(super) fn new(regulator: Box<Regulator>, class: usize) -> Self {
        Self { class, directions: Directions::new(regulator.directions()), regulator }
    }

    fn direction(&self, packet: &Packet) -> u16 {
        self.regulator.direction(packet.dst, packet.flow)
    }
}

impl Discipline for ByDirection {
    fn passes(&mut self, packet: &mut Packet, now: Instant, _: &mut Stream) -> bool {
        let direction = self.direction(packet);
        self.directions.eligible_at(direction, self.class, &self.regulator) <= now
    }

    fn push(&mut self, queued: Queued, _: Instant, _: &mut Stream) {
        self.directions.push(self.direction(&queued.packet), queued);
    }

    fn settle(&mut self, now: Instant) -> Instant {
        match self.directions.settle(self.class, &self.regulator, now) {
            true => Instant::NEVER,
            false => self.directions.next(self.class, &self.regulator),
        }
    }

    fn head(&self) -> Option<&Queued> {
        self.directions.head()
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        self.directions.head_mut().map(|queued| &mut queued.packet)
    }

    fn head_since(&self) -> Option<Instant> {
        None
    }

    fn pop(&mut self) -> Option<Queued> {
        self.directions.pop().map(|(_, queued)| queued)
    }

    fn on_sent(&mut self, packet: &Packet, tx: &Transmitter, now: Instant) {
        let direction = self.direction(packet);
        let spacing = self.regulator.spacing(direction, tx.wire_time(packet.bytes));
        self.directions.defer(direction, now + spacing);
    }

    fn on_frame(&mut self, frame: &Body, now: Instant) {
        if let Body::Drc { group, mask, statuses } = *frame {
            self.regulator.on_feedback(group, mask, Statuses(statuses), now);
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.directions.iter())
    }

    fn is_consistent(&self) -> bool {
        self.directions.is_consistent()
    }

    /// Cuts and stops apply to the whole port, so only the first class counts them.
    fn held(&self) -> u64 {
        self.regulator.held(self.class)
    }

    fn count(&self, now: Instant, tally: &mut Tally) {
        if self.class == 0 {
            self.regulator.count(now, tally);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
