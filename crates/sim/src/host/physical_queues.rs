//! Physical queues of a NIC, for Backpressure Flow Control: the assignment of senders to queues,
//! and the senders that are blocked because the switch has paused their queue.

use floodway_model::id::CLASSES;
use floodway_model::random::mix;
use floodway_model::{Class, Duration, FlowId, Instant};

use crate::switch::flow_control::bfc::{Bits, Paused};

/// The physical queues of all classes.
#[derive(Debug)]
pub struct PhysicalQueues {
    count: u8,
    classes: [OfClass; CLASSES],
    /// Number of senders that had to share a physical queue.
    pub collisions: u64,
}

#[derive(Debug, Default)]
struct OfClass {
    /// Number of senders, by physical queue.
    senders: Vec<u32>,
    taken: Bits,
    paused: Paused,
    /// Senders that wait for the queue to resume, by physical queue.
    parked: Vec<Vec<u32>>,
    /// Where the search for a free physical queue begins.
    next: u8,
}

impl PhysicalQueues {
    /// With `count` physical queues in each class.
    pub(super) fn new(count: u8) -> Self {
        Self { count, classes: Default::default(), collisions: 0 }
    }

    /// Assigns a physical queue to a new sender: a free one if there is one, preferably one that is
    /// not paused; otherwise by hash.
    pub(super) fn take(&mut self, class: Class, flow: FlowId) -> u8 {
        let of = &mut self.classes[class.index()];
        if of.senders.is_empty() {
            of.senders.resize(self.count.into(), 0);
            of.parked.resize_with(self.count.into(), Vec::new);
        }
        let free = Bits::below(self.count).without(&of.taken);
        let may_send = free.without(of.paused.queues());
        let physical_queue = match may_send.next_from(of.next).or_else(|| free.next_from(of.next)) {
            Some(physical_queue) => physical_queue,
            None => {
                self.collisions += 1;
                (mix(u64::from(flow.0)) % u64::from(self.count)) as u8
            }
        };
        of.next = if physical_queue + 1 == self.count { 0 } else { physical_queue + 1 };
        of.taken.insert(physical_queue);
        of.senders[usize::from(physical_queue)] += 1;
        physical_queue
    }

    /// How many are paused.
    pub(super) fn held(&self) -> u64 {
        self.classes.iter().map(|of| u64::from(of.paused.queues().count())).sum()
    }

    /// Releases the physical queue of a sender that has ended.
    pub(super) fn give_back(&mut self, class: Class, physical_queue: u8) {
        let of = &mut self.classes[class.index()];
        let senders = &mut of.senders[usize::from(physical_queue)];
        *senders -= 1;
        if *senders == 0 {
            of.taken.remove(physical_queue);
        }
    }

    /// Whether the sender in this slot is blocked. If so, it is parked until its physical queue
    /// resumes.
    #[inline]
    pub(super) fn parks(&mut self, slot: u32, class: Class, physical_queue: u8) -> bool {
        let of = &mut self.classes[class.index()];
        let stops = of.paused.has(physical_queue);
        if stops {
            of.parked[usize::from(physical_queue)].push(slot);
        }
        stops
    }

    /// Pauses or resumes a physical queue at the request of the switch. Returns the senders that
    /// may continue.
    pub(crate) fn obey(
        &mut self,
        class: Class,
        physical_queue: u8,
        stop: bool,
        now: Instant,
    ) -> impl Iterator<Item = u32> + '_ {
        let of = &mut self.classes[class.index()];
        of.paused.set(physical_queue, stop, now);
        let parked = of.parked.get_mut(usize::from(physical_queue)).filter(|_| !stop);
        parked.into_iter().flat_map(|parked| parked.drain(..))
    }

    /// Paused physical queues, with their classes.
    pub fn paused(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        let classes = self.classes.iter().enumerate();
        classes.flat_map(|(class, of)| of.paused.queues().iter().map(move |l| (class as u8, l)))
    }

    /// Total time until `now` that physical queues were paused.
    pub fn paused_at(&self, now: Instant) -> Duration {
        self.classes.iter().map(|of| of.paused.total_at(now)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sender_in_each_physical_queue_as_far_as_they_go() {
        let mut physical_queues = PhysicalQueues::new(3);
        let class = Class(1);
        let taken: Vec<u8> = (0..3).map(|flow| physical_queues.take(class, FlowId(flow))).collect();
        assert_eq!((taken, physical_queues.collisions), (vec![0, 1, 2], 0));
        let shared = physical_queues.take(class, FlowId(3));
        assert!(shared < 3 && physical_queues.collisions == 1);
        // Another class has its own physical queues.
        assert_eq!((physical_queues.take(Class(0), FlowId(4)), physical_queues.collisions), (0, 1));
        // A physical queue is free again when the last of its senders has ended.
        let other = (0..3).find(|&physical_queue| physical_queue != shared).unwrap();
        physical_queues.give_back(class, shared);
        physical_queues.give_back(class, other);
        assert_eq!(physical_queues.take(class, FlowId(5)), other);
    }

    #[test]
    fn senders_wait_for_their_physical_queue_in_their_class() {
        let mut physical_queues = PhysicalQueues::new(2);
        let (class, other) = (Class(0), Class(1));
        let taken = [(class, 0), (class, 1), (other, 2)]
            .map(|(c, flow)| physical_queues.take(c, FlowId(flow)));
        assert_eq!(taken, [0, 1, 0]);
        assert_eq!(physical_queues.obey(class, 0, true, Instant(5)).count(), 0);
        let parks = [(7, class, 0), (8, class, 1), (9, other, 0), (6, class, 0)];
        let parks = parks.map(|(slot, class, physical_queue)| {
            physical_queues.parks(slot, class, physical_queue)
        });
        assert_eq!(parks, [true, false, false, true]);
        assert_eq!(physical_queues.paused().collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(physical_queues.obey(class, 0, false, Instant(9)).collect::<Vec<_>>(), [7, 6]);
        assert_eq!(
            (physical_queues.paused().count(), physical_queues.paused_at(Instant(20))),
            (0, Duration(4))
        );
    }
}
