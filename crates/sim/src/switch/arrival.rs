//! AQM verdict on an arriving packet, for the queue that it is about to join.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::aqm::{self, Verdict};
use super::mechanism::Moved;

impl Switch {
    /// AQM verdict for a packet about to join `queue`. `Congested`: the packet must carry the
    /// congestion signal and is able to.
    // Inlined although feedback queued with data calls it too: a function call would slow down the
    // data path.
    #[inline(always)]
    pub(super) fn aqm_verdict(
        &mut self,
        egress: usize,
        queue: usize,
        moved: Option<Moved>,
        packet: &Packet,
        now: Instant,
    ) -> Verdict {
        let verdict = match self.decides_on_arrival {
            true => self.verdict_on_arrival(egress, queue, packet, now),
            false => Verdict::Pass,
        };
        match self.at_queue(egress, queue, verdict) {
            Verdict::Congested if !self.can_mark(packet) => Verdict::Drop,
            Verdict::Pass
                if moved.is_some_and(|moved| moved.marks) && packet.ecn().is_capable() =>
            {
                Verdict::Congested
            }
            verdict => verdict,
        }
    }

    #[inline(always)]
    fn verdict_on_arrival(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
    ) -> Verdict {
        let (aqm, mut view) = self.aqm(egress, now);
        aqm.on_arrival(queue, packet, &mut view)
    }

    /// The AQM state of a port and the view that the AQM has of the switch.
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

    /// The AQM verdict, with `Congested` turned into `Pass` in a queue where a mechanism allows no
    /// marks, and at ports to hosts if nothing is marked there.
    #[inline]
    pub(super) fn at_queue(&self, port: usize, queue: usize, verdict: Verdict) -> Verdict {
        let unmarked = verdict == Verdict::Congested
            && (self.unmarked >> queue & 1 != 0
                || !self.spec.marks_to_hosts && self.ports[port].to_host);
        if unmarked { Verdict::Pass } else { verdict }
    }
}
