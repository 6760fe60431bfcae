//! The physical queues of one data queue of a port: assignment of flows and order of service.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use floodway_model::random::{Stream, mix};
use floodway_model::{Body, Duration, FlowId, Instant, Packet};

use super::Spec;
use super::bits::Bits;
use super::paused::Paused;
use crate::link::{Link, Transmitter};
use crate::metric::Tally;
use crate::switch::discipline::Discipline;
use crate::switch::queue::Queued;

#[derive(Debug, Default)]
struct PhysicalQueue {
    packets: VecDeque<Queued>,
    bytes: u64,
    deficit: u32,
    /// Whether the physical queue is in the round-robin list.
    listed: bool,
    max_bytes: u64,
}

/// State of the flows with one hash value.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Until when they keep their physical queue if none of their packets is queued.
    until: Instant,
    packets: u32,
    physical_queue: u8,
}

/// Stands for "no physical queue".
const NONE: u8 = u8::MAX;

/// The physical queues of one data queue, served by deficit round robin with the longest frame as
/// the quantum.
#[derive(Debug)]
pub struct PhysicalQueues {
    class: u8,
    count: u8,
    /// By ingress port: how long a flow keeps its physical queue after a packet from there has left.
    keeps: Arc<[Duration]>,
    overhead: u32,
    quantum: u32,
    entries: u32,
    /// The flow table, by hash; empty until the first packet arrives.
    flows: Vec<Entry>,
    physical_queues: Vec<PhysicalQueue>,
    occupied: Bits,
    paused: Paused,
    /// Round-robin list of the physical queues with packets. A paused physical queue is removed
    /// when it is reached, and appended again when it is resumed. The first physical queue is never
    /// paused and may send its first packet.
    round: VecDeque<u8>,
    /// Whether the first physical queue has received its quantum.
    served: bool,
    /// Where the search for a free physical queue starts. The physical queue assigned longest ago
    /// comes first, so that flows that return tend to find their physical queues free.
    next: u8,
    /// Number of times that the first queued packet of a flow shared its physical queue with
    /// packets of other flows.
    pub collisions: u64,
}

impl PhysicalQueues {
    /// Empty physical queues of a class at the transmitter of this link. `keeps` gives, by ingress
    /// port of a packet, how long its flow keeps its physical queue after the packet has left.
    pub fn new(spec: &Spec, class: u8, link: &Link, keeps: Arc<[Duration]>) -> Self {
        let overhead = u32::from(link.wire_overhead);
        Self {
            class,
            keeps,
            count: spec.queues,
            overhead,
            quantum: u32::from(link.largest_frame) + overhead,
            entries: spec.entries(),
            flows: Vec::new(),
            physical_queues: Vec::new(),
            occupied: Bits::default(),
            paused: Paused::default(),
            round: VecDeque::new(),
            served: false,
            next: 0,
            collisions: 0,
        }
    }

    /// The index of a flow in the table: the same at every port, like a hash of the header.
    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let hash = mix(u64::from(flow.0)) as u32;
        ((u64::from(hash) * u64::from(self.entries)) >> 32) as usize
    }

    /// The physical queue for a packet of `flow`: the physical queue of its earlier packets, if any
    /// are queued or left recently; otherwise an empty physical queue, preferably one that is not
    /// paused; otherwise a random one.
    #[inline]
    pub fn assign(&mut self, flow: FlowId, now: Instant, rng: &mut Stream) -> u8 {
        if self.flows.is_empty() {
            let unknown = Entry { until: Instant::ZERO, packets: 0, physical_queue: NONE };
            self.flows = vec![unknown; self.entries as usize];
        }
        let place = self.place(flow);
        let entry = self.flows[place];
        let keeps = entry.packets > 0 || now <= entry.until;
        if keeps && entry.physical_queue != NONE {
            return entry.physical_queue;
        }
        let free = Bits::below(self.count).without(&self.occupied);
        let may_send = free.without(self.paused.queues());
        let found = may_send.next_from(self.next).or_else(|| free.next_from(self.next));
        let physical_queue = match found {
            Some(physical_queue) => {
                self.next = if physical_queue + 1 == self.count { 0 } else { physical_queue + 1 };
                physical_queue
            }
            None => rng.below(u64::from(self.count)) as u8,
        };
        self.flows[place] = Entry { until: now, packets: 0, physical_queue };
        physical_queue
    }

    /// Bytes queued in a physical queue.
    #[inline]
    pub fn depth(&self, physical_queue: u8) -> u64 {
        self.physical_queues
            .get(usize::from(physical_queue))
            .map_or(0, |physical_queue| physical_queue.bytes)
    }

    /// Largest backlog of any physical queue so far, in bytes.
    pub fn max_depth(&self) -> u64 {
        self.physical_queues
            .iter()
            .map(|physical_queue| physical_queue.max_bytes)
            .max()
            .unwrap_or(0)
    }

    /// Number of physical queues with packets that are not paused.
    #[inline]
    pub fn active(&self) -> u32 {
        self.occupied.without(self.paused.queues()).count()
    }

    /// The physical queues that the next hop has paused.
    pub fn paused(&self) -> &Paused {
        &self.paused
    }

    /// The physical queue of a flow that has packets queued here.
    #[inline]
    pub fn physical_queue(&self, flow: FlowId) -> u8 {
        self.flows[self.place(flow)].physical_queue
    }

    /// Extends the time for which a flow keeps its physical queue.
    #[inline]
    pub fn keep(&mut self, flow: FlowId, until: Instant) {
        let place = self.place(flow);
        self.flows[place].until = until;
    }

    /// Adds a packet to the physical queue that is written in it.
    #[inline]
    fn join(&mut self, queued: Queued) {
        let number = queued.packet.physical_queue;
        let at = usize::from(number);
        if self.physical_queues.len() <= at {
            self.physical_queues.resize_with(at + 1, PhysicalQueue::default);
        }
        let place = self.place(queued.packet.flow);
        let (physical_queue, entry) = (&mut self.physical_queues[at], &mut self.flows[place]);
        self.collisions += u64::from(entry.packets == 0 && physical_queue.bytes > 0);
        entry.packets += 1;
        physical_queue.bytes += u64::from(queued.packet.bytes);
        physical_queue.max_bytes = physical_queue.max_bytes.max(physical_queue.bytes);
        physical_queue.packets.push_back(queued);
        self.occupied.insert(number);
        self.enlist(number);
    }

    /// The next hop has paused or resumed a physical queue.
    pub fn obey(&mut self, number: u8, stop: bool, now: Instant) {
        self.paused.set(number, stop, now);
        if stop {
            self.advance();
        } else if self.occupied.has(number) {
            self.enlist(number);
        }
    }

    fn enlist(&mut self, number: u8) {
        let physical_queue = &mut self.physical_queues[usize::from(number)];
        if !physical_queue.listed && !self.paused.has(number) {
            physical_queue.listed = true;
            self.round.push_back(number);
            self.advance();
        }
    }

    /// Removes the first physical queue from the list, because it is empty or paused. It keeps no
    /// credit for later.
    fn leave(&mut self) {
        let first = self.round.pop_front().expect("it was the first");
        let physical_queue = &mut self.physical_queues[usize::from(first)];
        (physical_queue.listed, physical_queue.deficit) = (false, 0);
        self.served = false;
    }

    /// Advances the round robin until the first physical queue may send.
    #[inline]
    fn advance(&mut self) {
        while let Some(&first) = self.round.front() {
            if self.paused.has(first) {
                self.leave();
                continue;
            }
            let physical_queue = &mut self.physical_queues[usize::from(first)];
            if !self.served {
                physical_queue.deficit += self.quantum;
                self.served = true;
            }
            let head =
                physical_queue.packets.front().expect("a physical queue in the round has packets");
            if physical_queue.deficit >= u32::from(head.packet.bytes) + self.overhead {
                return;
            }
            self.round.rotate_left(1);
            self.served = false;
        }
    }

    /// The packets queued in a physical queue, from the head.
    pub fn packets(&self, physical_queue: usize) -> impl Iterator<Item = &Queued> {
        self.physical_queues
            .get(physical_queue)
            .into_iter()
            .flat_map(|physical_queue| &physical_queue.packets)
    }
}

impl Discipline for PhysicalQueues {
    fn passes(&mut self, packet: &mut Packet, now: Instant, rng: &mut Stream) -> bool {
        let physical_queue = self.assign(packet.flow, now, rng);
        let passes = !self.paused.has(physical_queue);
        if passes {
            packet.physical_queue = physical_queue;
        }
        passes
    }

    fn push(&mut self, mut queued: Queued, now: Instant, rng: &mut Stream) {
        queued.packet.physical_queue = self.assign(queued.packet.flow, now, rng);
        self.join(queued);
    }

    fn head(&self) -> Option<&Queued> {
        self.physical_queues[usize::from(*self.round.front()?)].packets.front()
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let first = &mut self.physical_queues[usize::from(*self.round.front()?)];
        first.packets.front_mut().map(|queued| &mut queued.packet)
    }

    fn head_since(&self) -> Option<Instant> {
        None
    }

    fn pop(&mut self) -> Option<Queued> {
        let number = *self.round.front()?;
        let physical_queue = &mut self.physical_queues[usize::from(number)];
        let queued = physical_queue.packets.pop_front()?;
        let bytes = u32::from(queued.packet.bytes);
        physical_queue.bytes -= u64::from(bytes);
        physical_queue.deficit -= bytes + self.overhead;
        if physical_queue.packets.is_empty() {
            // Restart at the front of the ring buffer, which is in the cache.
            physical_queue.packets.clear();
            self.occupied.remove(number);
            self.leave();
        }
        let place = self.place(queued.packet.flow);
        self.flows[place].packets -= 1;
        self.advance();
        Some(queued)
    }

    fn on_sent(&mut self, packet: &Packet, _: &Transmitter, now: Instant) {
        self.keep(packet.flow, now + self.keeps[packet.ingress.index()]);
    }

    fn on_frame(&mut self, frame: &Body, now: Instant) {
        if let Body::Bfc { class, physical_queue, stop } = *frame
            && class == self.class
        {
            self.obey(physical_queue, stop, now);
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.physical_queues.iter().flat_map(|physical_queue| &physical_queue.packets))
    }

    fn is_consistent(&self) -> bool {
        let mut physical_queues = self.physical_queues.iter().enumerate();
        let depths = physical_queues.all(|(number, physical_queue)| {
            let bytes: u64 =
                physical_queue.packets.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
            let (number, some) = (number as u8, !physical_queue.packets.is_empty());
            let waits_its_turn = !some || self.paused.has(number) || physical_queue.listed;
            bytes == physical_queue.bytes && some == self.occupied.has(number) && waits_its_turn
        });
        let entries: u64 = self.flows.iter().map(|entry| u64::from(entry.packets)).sum();
        depths && entries == self.iter().count() as u64
    }

    fn held(&self) -> u64 {
        self.paused.queues().count().into()
    }

    fn count(&self, now: Instant, tally: &mut Tally) {
        tally.bfc_collisions += self.collisions;
        tally.bfc_paused_ns += self.paused.total_at(now).0 / 1_000;
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
