//! What congestion means for a packet that arrives: Congestion Isolation chooses its queue, and queue
//! management judges it for the queue that it joins.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::aqm::{self, Verdict};
use super::flow_control::congestion_isolation::{Mark, Place, Port};

impl Switch {
    /// The queue that the packet joins, `queue` or the congesting one; in that one with the place of
    /// its flow in the stream table.
    #[inline]
    pub(super) fn isolate(
        &mut self,
        egress: usize,
        queue: usize,
        packet: &Packet,
        now: Instant,
    ) -> (usize, Option<Place>) {
        let port = &mut self.ports[egress];
        let (Some(spec), Some(table)) =
            (&self.spec.flow_control.congestion_isolation, &mut port.isolation)
        else {
            return (queue, None);
        };
        if queue != usize::from(spec.monitored) {
            return (queue, None);
        }
        let congesting = usize::from(spec.congesting);
        let asked = Port {
            monitored: &port.queues[queue],
            congesting: &port.queues[congesting],
            paused: port.tx.paused(now) >> congesting & 1 != 0,
        };
        match table.place(spec, packet.flow, asked, now, &mut self.chance) {
            Some(place) => (congesting, Some(place)),
            None => (queue, None),
        }
    }

    /// What happens to a packet that is to join `queue`. `Congested`: it tells of congestion, and can.
    // Feedback among data has a copy: data would pay for a call.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        egress: usize,
        queue: usize,
        isolated: Option<Place>,
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
            chance: &mut self.chance,
        };
        let aqm = self.shared_aqm.as_deref_mut().unwrap_or(&mut port.aqm);
        let verdict = aqm.on_arrival(queue, packet, &mut view);
        match self.in_queue(egress, queue, verdict) {
            Verdict::Congested if !self.can_tell(packet) => Verdict::Drop,
            Verdict::Pass
                if isolated.is_some_and(|place| self.isolation_marks(egress, place))
                    && packet.ecn().is_capable() =>
            {
                Verdict::Congested
            }
            verdict => verdict,
        }
    }

    /// A verdict of the queue management, as far as it holds in this queue: Congestion Isolation may
    /// have the congesting queue without marks.
    #[inline]
    pub(super) fn in_queue(&self, egress: usize, queue: usize, verdict: Verdict) -> Verdict {
        if verdict != Verdict::Congested {
            return verdict;
        }
        let isolation = self.spec.flow_control.congestion_isolation.as_ref();
        let silent = isolation.is_some_and(|spec| {
            let isolates = self.ports[egress].isolation.is_some();
            isolates && spec.mark == Mark::None && queue == usize::from(spec.congesting)
        });
        if silent { Verdict::Pass } else { verdict }
    }

    /// Whether packets of this isolated flow are marked for it.
    fn isolation_marks(&self, egress: usize, place: Place) -> bool {
        let spec = self.spec.flow_control.congestion_isolation.as_ref();
        let table = self.ports[egress].isolation.as_ref();
        spec.zip(table).is_some_and(|(spec, table)| table.marks(spec, place))
    }
}
