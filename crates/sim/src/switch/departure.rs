//! Departure of packets: the AQM verdict at dequeue, and the fact that a packet leaves. Kept out of
//! line so that switches that need neither are not slowed down.

use floodway_model::{Instant, Packet};

use super::Switch;
use super::aqm::Verdict;
use super::discipline::Leaving;
use super::port::DropReason;
use crate::context::Context;
use crate::observe::{Fact, Kinds};

impl Switch {
    /// AQM decision at dequeue on the free wire of port `index`, where `queue` was selected.
    /// Returns the queue whose head leaves, which may be another one after drops. `None` if every
    /// eligible packet was dropped, or if the wire is no longer free.
    #[inline(never)]
    pub(super) fn decide_departure(
        &mut self,
        index: usize,
        mut queue: usize,
        now: Instant,
        context: &mut Context,
    ) -> Option<usize> {
        while queue != self.control_queue() && self.decides_on_departure {
            match self.verdict(index, queue, now) {
                Verdict::Pass => break,
                Verdict::Congested => {
                    self.mark_head(index, queue, now, context);
                    break;
                }
                Verdict::Drop => self.drop_head(index, queue, now, context),
            }
            // Flow control, notified of the drop, may have started a transmission. Its end triggers
            // the next one.
            if self.ports[index].tx.busy_until > now {
                return None;
            }
            queue = self.select(index, now)?;
        }
        if context.wants(Kinds::LEAVES) {
            self.state_departure(index, queue, now, context);
        }
        Some(queue)
    }

    /// Reports that the packet at the head leaves.
    #[inline]
    fn state_departure(&self, port: usize, queue: usize, now: Instant, context: &mut Context) {
        let of = &self.ports[port].queues[queue];
        if let Some(since) = of.head_since()
            && of.head().is_some_and(Packet::is_data)
        {
            let length = of.len() as u64;
            let fact = || Fact::Leaves { port, queue, length, since };
            context.state(Kinds::LEAVES, self.id, now, fact);
        }
    }

    /// AQM verdict on the packet at the head; `Congested` only if the packet can signal it.
    fn verdict(&mut self, index: usize, queue: usize, now: Instant) -> Verdict {
        let head = self.ports[index].queues[queue].head();
        let packet = *head.expect("a queue that was selected has a packet");
        let verdict = if !self.only_fifos && self.spec.queue.discipline.has_aqm() {
            self.verdict_of_discipline(index, queue, now)
        } else {
            let (aqm, mut view) = self.aqm(index, now);
            aqm.on_departure(queue, &packet, &mut view)
        };
        match self.at_queue(index, queue, verdict) {
            Verdict::Congested if !self.can_mark(&packet) => Verdict::Drop,
            verdict => verdict,
        }
    }

    /// Verdict of the discipline's own AQM on the packet at the head.
    fn verdict_of_discipline(&mut self, index: usize, queue: usize, now: Instant) -> Verdict {
        let port = &mut self.ports[index];
        let largest_frame = port.tx.link().largest_frame.into();
        let indicates = self.indication.is_some();
        let mut leaving = Leaving { now, indicates, largest_frame, rng: &mut self.rng };
        port.queues[queue].on_departure(&mut leaving)
    }

    /// Makes the packet at the head, which is about to leave, signal congestion.
    fn mark_head(&mut self, index: usize, queue: usize, now: Instant, context: &mut Context) {
        let head = |switch: &mut Self| switch.ports[index].queues[queue].head_mut().copied();
        let mut packet = head(self).expect("a head that was judged is there");
        self.mark(index, queue, &mut packet, now, context);
        if let Some(head) = self.ports[index].queues[queue].head_mut() {
            *head = packet;
        }
    }

    /// Drops the packet at the head, for which the wire was free. The accounting is the same as if
    /// it had been sent.
    fn drop_head(&mut self, index: usize, queue: usize, now: Instant, context: &mut Context) {
        let port = &mut self.ports[index];
        let packet = port.queues[queue].pop().expect("a head that was judged is there");
        if port.queues[queue].is_empty() {
            port.waiting &= !(1 << queue);
        }
        let length = u32::from(packet.bytes) + u32::from(port.tx.link().wire_overhead);
        port.scheduler.take_back(queue, length);
        self.drop(index, queue, DropReason::Aqm, &packet, now, context);
        self.release(index, queue, &packet, now, context);
    }
}
