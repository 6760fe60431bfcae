//! The verdict of the AQM on a packet that arrives, for the queue that it joins.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::aqm::{self, Verdict};
use super::mechanism::Moved;

impl Switch {
    /// What happens to a packet that is to join `queue`. `Congested`: it is to carry the signal, and can.
    // Inlined for feedback among data too: a call would slow data down.
    #[inline(always)]
    pub(super) fn aqm_verdict(
        &mut self,
        egress: usize,
        queue: usize,
        moved: Option<Moved>,
        packet: &Packet,
        now: Instant,
    ) -> Verdict {
        let (aqm, mut view) = self.aqm(egress, now);
        let verdict = aqm.on_arrival(queue, packet, &mut view);
        match self.in_queue(queue, verdict) {
            Verdict::Congested if !self.can_mark(packet) => Verdict::Drop,
            Verdict::Pass
                if moved.is_some_and(|moved| moved.marks) && packet.ecn().is_capable() =>
            {
                Verdict::Congested
            }
            verdict => verdict,
        }
    }

    /// The queue management of a port, and what it may look at.
    #[inline(always)]
    pub(super) fn aqm(&mut self, port: usize, now: Instant) -> (&mut aqm::State, aqm::View<'_>) {
        let port = &mut self.ports[port];
        let control = port.queues.len() - 1;
        let view = aqm::View {
            queues: &port.queues[..control],
            memory: self.occupancy.congestion(),
            indicates: self.indication.is_some(),
            tx: &port.tx,
            now,
            rng: &mut self.rng,
        };
        (self.shared_aqm.as_deref_mut().unwrap_or(&mut port.aqm), view)
    }

    /// A verdict of the AQM, without marks in a queue in which a mechanism wants none.
    #[inline]
    pub(super) fn in_queue(&self, queue: usize, verdict: Verdict) -> Verdict {
        let unmarked = verdict == Verdict::Congested && self.unmarked >> queue & 1 != 0;
        if unmarked { Verdict::Pass } else { verdict }
    }
}
