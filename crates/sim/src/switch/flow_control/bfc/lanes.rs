//! The physical queues of one data queue of a port: assignment of flows and order of service. In
//! the code a physical queue is called a lane, because the data queue that contains it is a queue
//! too.

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
struct Lane {
    packets: VecDeque<Queued>,
    bytes: u64,
    deficit: u32,
    /// Whether the lane is in the round-robin list.
    listed: bool,
    max_bytes: u64,
}

/// State of the flows with one hash value.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Until when they keep their lane if none of their packets is queued.
    until: Instant,
    packets: u32,
    lane: u8,
}

/// Stands for "no lane".
const NONE: u8 = u8::MAX;

/// The physical queues of one data queue, served by deficit round robin with the longest frame as
/// the quantum.
#[derive(Debug)]
pub struct Lanes {
    class: u8,
    count: u8,
    /// By ingress port: how long a flow keeps its lane after a packet from there has left.
    keeps: Arc<[Duration]>,
    overhead: u32,
    quantum: u32,
    entries: u32,
    /// The flow table, by hash; empty until the first packet arrives.
    flows: Vec<Entry>,
    lanes: Vec<Lane>,
    occupied: Bits,
    paused: Paused,
    /// Round-robin list of the lanes with packets. A paused lane is removed when it is reached, and
    /// appended again when it is resumed. The first lane is never paused and may send its first
    /// packet.
    round: VecDeque<u8>,
    /// Whether the first lane has received its quantum.
    served: bool,
    /// Where the search for a free lane starts. The lane assigned longest ago comes first, so that
    /// flows that return tend to find their lanes free.
    next: u8,
    /// Number of times that the first queued packet of a flow shared its lane with packets of other
    /// flows.
    pub collisions: u64,
}

impl Lanes {
    /// Empty lanes of a class at the transmitter of this link. `keeps` gives, by ingress port of a
    /// packet, how long its flow keeps its lane after the packet has left.
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
            lanes: Vec::new(),
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

    /// The lane for a packet of `flow`: the lane of its earlier packets, if any are queued or left
    /// recently; otherwise an empty lane, preferably one that is not paused; otherwise a random
    /// one.
    #[inline]
    pub fn lane_of(&mut self, flow: FlowId, now: Instant, rng: &mut Stream) -> u8 {
        if self.flows.is_empty() {
            let unknown = Entry { until: Instant::ZERO, packets: 0, lane: NONE };
            self.flows = vec![unknown; self.entries as usize];
        }
        let place = self.place(flow);
        let entry = self.flows[place];
        let keeps = entry.packets > 0 || now <= entry.until;
        if keeps && entry.lane != NONE {
            return entry.lane;
        }
        let free = Bits::below(self.count).without(&self.occupied);
        let may_send = free.without(self.paused.queues());
        let found = may_send.next_from(self.next).or_else(|| free.next_from(self.next));
        let lane = match found {
            Some(lane) => {
                self.next = if lane + 1 == self.count { 0 } else { lane + 1 };
                lane
            }
            None => rng.below(u64::from(self.count)) as u8,
        };
        self.flows[place] = Entry { until: now, packets: 0, lane };
        lane
    }

    /// Bytes queued in a lane.
    #[inline]
    pub fn depth(&self, lane: u8) -> u64 {
        self.lanes.get(usize::from(lane)).map_or(0, |lane| lane.bytes)
    }

    /// Largest backlog of any lane so far, in bytes.
    pub fn max_depth(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.max_bytes).max().unwrap_or(0)
    }

    /// Number of lanes with packets that are not paused.
    #[inline]
    pub fn active(&self) -> u32 {
        self.occupied.without(self.paused.queues()).count()
    }

    /// Lanes that the next hop has paused.
    pub fn paused(&self) -> &Paused {
        &self.paused
    }

    /// The lane of a flow that has packets queued here.
    #[inline]
    pub fn lane(&self, flow: FlowId) -> u8 {
        self.flows[self.place(flow)].lane
    }

    /// Extends the time for which a flow keeps its lane.
    #[inline]
    pub fn keep(&mut self, flow: FlowId, until: Instant) {
        let place = self.place(flow);
        self.flows[place].until = until;
    }

    /// Adds a packet to the lane that is written in it.
    #[inline]
    fn join(&mut self, queued: Queued) {
        let number = queued.packet.lane;
        let at = usize::from(number);
        if self.lanes.len() <= at {
            self.lanes.resize_with(at + 1, Lane::default);
        }
        let place = self.place(queued.packet.flow);
        let (lane, entry) = (&mut self.lanes[at], &mut self.flows[place]);
        self.collisions += u64::from(entry.packets == 0 && lane.bytes > 0);
        entry.packets += 1;
        lane.bytes += u64::from(queued.packet.bytes);
        lane.max_bytes = lane.max_bytes.max(lane.bytes);
        lane.packets.push_back(queued);
        self.occupied.insert(number);
        self.enlist(number);
    }

    /// The next hop has paused or resumed a lane.
    pub fn obey(&mut self, number: u8, stop: bool, now: Instant) {
        self.paused.set(number, stop, now);
        if stop {
            self.advance();
        } else if self.occupied.has(number) {
            self.enlist(number);
        }
    }

    fn enlist(&mut self, number: u8) {
        let lane = &mut self.lanes[usize::from(number)];
        if !lane.listed && !self.paused.has(number) {
            lane.listed = true;
            self.round.push_back(number);
            self.advance();
        }
    }

    /// Removes the first lane from the list, because it is empty or paused. It keeps no credit for
    /// later.
    fn leave(&mut self) {
        let first = self.round.pop_front().expect("it was the first");
        let lane = &mut self.lanes[usize::from(first)];
        (lane.listed, lane.deficit) = (false, 0);
        self.served = false;
    }

    /// Advances the round robin until the first lane may send.
    #[inline]
    fn advance(&mut self) {
        while let Some(&first) = self.round.front() {
            if self.paused.has(first) {
                self.leave();
                continue;
            }
            let lane = &mut self.lanes[usize::from(first)];
            if !self.served {
                lane.deficit += self.quantum;
                self.served = true;
            }
            let head = lane.packets.front().expect("a physical queue in the round has packets");
            if lane.deficit >= u32::from(head.packet.bytes) + self.overhead {
                return;
            }
            self.round.rotate_left(1);
            self.served = false;
        }
    }

    /// The packets queued in a lane, from the head.
    pub fn packets(&self, lane: usize) -> impl Iterator<Item = &Queued> {
        self.lanes.get(lane).into_iter().flat_map(|lane| &lane.packets)
    }
}

impl Discipline for Lanes {
    fn passes(&mut self, packet: &mut Packet, now: Instant, rng: &mut Stream) -> bool {
        let lane = self.lane_of(packet.flow, now, rng);
        let passes = !self.paused.has(lane);
        if passes {
            packet.lane = lane;
        }
        passes
    }

    fn push(&mut self, mut queued: Queued, now: Instant, rng: &mut Stream) {
        queued.packet.lane = self.lane_of(queued.packet.flow, now, rng);
        self.join(queued);
    }

    fn head(&self) -> Option<&Queued> {
        self.lanes[usize::from(*self.round.front()?)].packets.front()
    }

    fn head_mut(&mut self) -> Option<&mut Packet> {
        let first = &mut self.lanes[usize::from(*self.round.front()?)];
        first.packets.front_mut().map(|queued| &mut queued.packet)
    }

    fn pop(&mut self) -> Option<Queued> {
        let number = *self.round.front()?;
        let lane = &mut self.lanes[usize::from(number)];
        let queued = lane.packets.pop_front()?;
        let bytes = u32::from(queued.packet.bytes);
        lane.bytes -= u64::from(bytes);
        lane.deficit -= bytes + self.overhead;
        if lane.packets.is_empty() {
            // Restart at the front of the ring buffer, which is in the cache.
            lane.packets.clear();
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
        if let Body::Bfc { class, lane, stop } = *frame
            && class == self.class
        {
            self.obey(lane, stop, now);
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Queued> + '_> {
        Box::new(self.lanes.iter().flat_map(|lane| &lane.packets))
    }

    fn is_consistent(&self) -> bool {
        let mut lanes = self.lanes.iter().enumerate();
        let depths = lanes.all(|(number, lane)| {
            let bytes: u64 = lane.packets.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
            let (number, some) = (number as u8, !lane.packets.is_empty());
            let waits_its_turn = !some || self.paused.has(number) || lane.listed;
            bytes == lane.bytes && some == self.occupied.has(number) && waits_its_turn
        });
        let entries: u64 = self.flows.iter().map(|entry| u64::from(entry.packets)).sum();
        depths && entries == self.iter().count() as u64
    }

    fn count(&self, now: Instant, tally: &mut Tally) {
        tally.bfc_collisions += self.collisions;
        tally.bfc_paused_ns += self.paused.total_at(now).0 / 1_000;
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
