//! What congestion means for a packet that arrives: a mechanism may choose its queue, and queue management
//! judges it for the queue that it joins.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::aqm::{self, Verdict};
use super::mechanism::Moved;

impl Switch {
    /// What happens to a packet that is to join `queue`. `Congested`: it tells of congestion, and can.
    // Feedback among data has a copy: data would pay for a call.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        egress: usize,
        queue: usize,
        moved: Option<Moved>,
        packet: &Packet,
        now: Instant,
    ) -> Verdict {
        let port = &mut self.ports[egress];
        let control = port.queues.len() - 1;
        let mut view = aqm::View {
            queues: &port.queues[..control],
            memory: self.occupancy.congestion(),
            indicates: self.indication.is_some(),
            tx: &port.tx,
            now,
            chance: &mut self.rng,
        };
        let aqm = self.shared_aqm.as_deref_mut().unwrap_or(&mut port.aqm);
        let verdict = aqm.on_arrival(queue, packet, &mut view);
        match self.in_queue(queue, verdict) {
            Verdict::Congested if !self.can_tell(packet) => Verdict::Drop,
            Verdict::Pass
                if moved.is_some_and(|moved| moved.marks) && packet.ecn().is_capable() =>
            {
                Verdict::Congested
            }
            verdict => verdict,
        }
    }

    /// A verdict of the queue management, as far as it holds in this queue: a mechanism may want it without
    /// marks.
    #[inline]
    pub(super) fn in_queue(&self, queue: usize, verdict: Verdict) -> Verdict {
        let unmarked = verdict == Verdict::Congested && self.unmarked >> queue & 1 != 0;
        if unmarked { Verdict::Pass } else { verdict }
    }
}
