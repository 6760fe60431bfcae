//! What the discipline of a queue decides. A queue without one is first in, first out.

use floodway_model::random::Stream;
use floodway_model::{Body, Instant, Packet};

use super::{Queue, Queued};
use crate::link::Transmitter;
use crate::metric::Tally;
use crate::switch::aqm::Verdict;
use crate::switch::discipline::Leaving;

impl Queue {
    /// Adds a packet, in the order of the discipline if there is one.
    pub fn push_ordered(&mut self, queued: &Queued, now: Instant, rng: &mut Stream) {
        let Some(discipline) = self.ordering() else { return self.push(queued, now) };
        discipline.push(*queued, now, rng);
        self.count_in(&queued.packet);
    }

    /// Whether a packet that finds the port idle may bypass the queue; see
    /// [`Discipline::passes`](crate::switch::discipline::Discipline::passes).
    pub fn passes(&mut self, packet: &mut Packet, now: Instant, rng: &mut Stream) -> bool {
        let discipline = self.ordering();
        discipline.is_none_or(|discipline| discipline.passes(packet, now, rng))
    }

    /// See [`Discipline::settle`](crate::switch::discipline::Discipline::settle).
    pub fn settle(&mut self, now: Instant) -> Instant {
        let discipline = self.ordering();
        discipline.map_or(Instant::NEVER, |discipline| discipline.settle(now))
    }

    /// See [`Discipline::push_out`](crate::switch::discipline::Discipline::push_out).
    pub fn push_out(&mut self, packet: &Packet, now: Instant) -> Option<Packet> {
        let out = self.ordering()?.push_out(packet, now)?.packet;
        self.count_out(&out);
        Some(out)
    }

    /// See [`Discipline::push_out_more`](crate::switch::discipline::Discipline::push_out_more).
    pub fn push_out_more(&mut self) -> Option<Packet> {
        let out = self.ordering()?.push_out_more()?.packet;
        self.count_out(&out);
        Some(out)
    }

    /// See [`Discipline::on_departure`](crate::switch::discipline::Discipline::on_departure).
    pub fn on_departure(&mut self, leaving: &mut Leaving<'_>) -> Verdict {
        let discipline = self.ordering();
        discipline.map_or(Verdict::Pass, |discipline| discipline.on_departure(leaving))
    }

    /// See [`Discipline::on_sent`](crate::switch::discipline::Discipline::on_sent).
    pub fn on_sent(&mut self, packet: &Packet, tx: &Transmitter, now: Instant) {
        if let Some(discipline) = self.ordering() {
            discipline.on_sent(packet, tx, now);
        }
    }

    /// See [`Discipline::on_frame`](crate::switch::discipline::Discipline::on_frame).
    pub fn on_frame(&mut self, frame: &Body, now: Instant) {
        if let Some(discipline) = self.ordering() {
            discipline.on_frame(frame, now);
        }
    }

    /// Adds the counters of the discipline as of `now`.
    pub fn count(&self, now: Instant, tally: &mut Tally) {
        if let Some(discipline) = self.discipline_ref() {
            discipline.count(now, tally);
        }
    }
}
