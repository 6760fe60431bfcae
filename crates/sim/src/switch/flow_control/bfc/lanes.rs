//! The physical queues of one data queue of a port: which one a flow has, and whose turn it is.
//! In code a physical queue is a lane, because the data queue that it is part of is a queue too.

use std::collections::VecDeque;

use floodway_model::random::{Stream, mix};
use floodway_model::{FlowId, Instant};

use super::Spec;
use super::bits::Bits;
use super::paused::Paused;
use crate::link::Link;
use crate::switch::queue::Queued;

/// A packet that waits in a lane.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    queued: Queued,
    /// Whether it is counted as a reason to pause the upstream lane it came from.
    counted: bool,
}

/// A packet that has left.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The packet, still with port, class and lane by which it came in.
    pub queued: Queued,
    /// The lane in which it waited.
    pub lane: u8,
    /// Whether it was counted as a reason to pause.
    pub counted: bool,
}

#[derive(Debug, Default)]
struct Lane {
    packets: VecDeque<Waiting>,
    bytes: u64,
    deficit: u32,
    /// Whether it is in the round.
    listed: bool,
    max_bytes: u64,
}

/// What is remembered of flows with one hash.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// They keep their lane until then if none of their packets waits.
    until: Instant,
    packets: u32,
    lane: u8,
}

/// No lane has this number.
const NONE: u8 = u8::MAX;

/// The physical queues of one data queue, served by deficit round robin with a quantum of the
/// longest frame.
#[derive(Debug)]
pub struct Lanes {
    count: u8,
    overhead: u32,
    quantum: u32,
    entries: u32,
    /// Of flows by hash; empty until the first packet comes.
    flows: Vec<Entry>,
    lanes: Vec<Lane>,
    occupied: Bits,
    paused: Paused,
    /// Lanes with packets, in the order of their turns. A paused one is taken out when its turn
    /// comes and put back when it may go on. The first is never paused and may send its first
    /// packet.
    round: VecDeque<u8>,
    /// Whether the first has had its quantum.
    served: bool,
    /// Where the search for a free lane begins: the one that was given longest ago is next, so that
    /// flows find their lanes again.
    next: u8,
    /// Times that the first waiting packet of a flow found others in its lane.
    pub collisions: u64,
}

impl Lanes {
    /// Empty ones, at the sending end of this link.
    pub fn new(spec: &Spec, link: &Link) -> Self {
        let overhead = u32::from(link.wire_overhead);
        Self {
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

    /// The place of a flow in the table: the same at every port, as a hash of the header is.
    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        let hash = mix(u64::from(flow.0)) as u32;
        ((u64::from(hash) * u64::from(self.entries)) >> 32) as usize
    }

    /// The lane of a packet of `flow`: the one in which its earlier packets are or were until
    /// lately, else one without packets, preferably one that may send, else any.
    #[inline]
    pub fn lane_of(&mut self, flow: FlowId, now: Instant, chance: &mut Stream) -> u8 {
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
            None => chance.below(u64::from(self.count)) as u8,
        };
        self.flows[place] = Entry { until: now, packets: 0, lane };
        lane
    }

    /// Bytes that wait in a lane.
    #[inline]
    pub fn depth(&self, lane: u8) -> u64 {
        self.lanes.get(usize::from(lane)).map_or(0, |lane| lane.bytes)
    }

    /// The most bytes that have waited in a lane.
    pub fn max_depth(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.max_bytes).max().unwrap_or(0)
    }

    /// Lanes with packets that may send.
    #[inline]
    pub fn active(&self) -> u32 {
        self.occupied.without(self.paused.queues()).count()
    }

    /// Those that the next hop has paused.
    pub fn paused(&self) -> &Paused {
        &self.paused
    }

    /// A packet of `flow`, which has this lane, goes to the wire without waiting. The flow keeps
    /// the lane until then.
    #[inline]
    pub fn pass(&mut self, flow: FlowId, until: Instant) {
        let place = self.place(flow);
        self.flows[place].until = until;
    }

    /// A packet joins the lane of its flow. `counted`: as a reason to pause.
    #[inline]
    pub fn push(&mut self, number: u8, queued: Queued, counted: bool) {
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
        lane.packets.push_back(Waiting { queued, counted });
        self.occupied.insert(number);
        self.enlist(number);
    }

    /// The packet that would leave next; `None` if all that wait are paused.
    #[inline]
    pub fn head(&self) -> Option<&Queued> {
        let first = usize::from(*self.round.front()?);
        self.lanes[first].packets.front().map(|waiting| &waiting.queued)
    }

    /// Removes that packet. `until` tells how long its flow keeps the lane after a packet that
    /// came in so.
    #[inline]
    pub fn pop(&mut self, until: impl Fn(&Queued) -> Instant) -> Option<Left> {
        let number = *self.round.front()?;
        let lane = &mut self.lanes[usize::from(number)];
        let Waiting { queued, counted } = lane.packets.pop_front()?;
        let bytes = u32::from(queued.packet.bytes);
        lane.bytes -= u64::from(bytes);
        lane.deficit -= bytes + self.overhead;
        if lane.packets.is_empty() {
            // Begin at the front of the ring again, where the memory is in the cache.
            lane.packets.clear();
            self.occupied.remove(number);
            self.leave();
        }
        let place = self.place(queued.packet.flow);
        let entry = &mut self.flows[place];
        entry.packets -= 1;
        entry.until = until(&queued);
        self.settle();
        Some(Left { queued, lane: number, counted })
    }

    /// The next hop has said that a lane must stop, or may go on.
    pub fn obey(&mut self, number: u8, stop: bool, now: Instant) {
        self.paused.set(number, stop, now);
        if stop {
            self.settle();
        } else if self.occupied.has(number) {
            self.enlist(number);
        }
    }

    fn enlist(&mut self, number: u8) {
        let lane = &mut self.lanes[usize::from(number)];
        if !lane.listed && !self.paused.has(number) {
            lane.listed = true;
            self.round.push_back(number);
            self.settle();
        }
    }

    /// The first of the round has nothing to send or may not: it keeps no credit for later.
    fn leave(&mut self) {
        let first = self.round.pop_front().expect("it was the first");
        let lane = &mut self.lanes[usize::from(first)];
        (lane.listed, lane.deficit) = (false, 0);
        self.served = false;
    }

    /// Gives turns until the first of the round may send.
    #[inline]
    fn settle(&mut self) {
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
            let head = &lane.packets.front().expect("a lane in the round has packets").queued;
            if lane.deficit >= u32::from(head.packet.bytes) + self.overhead {
                return;
            }
            self.round.rotate_left(1);
            self.served = false;
        }
    }

    /// The packets that wait, lane by lane.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.lanes.iter().flat_map(|lane| &lane.packets).map(|waiting| &waiting.queued)
    }

    /// Of these, the ones that are counted as reasons to pause.
    pub fn counted(&self) -> impl Iterator<Item = &Queued> {
        let all = self.lanes.iter().flat_map(|lane| &lane.packets);
        all.filter(|waiting| waiting.counted).map(|waiting| &waiting.queued)
    }

    /// Whether the books agree with the packets.
    pub fn is_consistent(&self) -> bool {
        let mut lanes = self.lanes.iter().enumerate();
        let depths = lanes.all(|(number, lane)| {
            let bytes: u64 = lane.packets.iter().map(|w| u64::from(w.queued.packet.bytes)).sum();
            let (number, some) = (number as u8, !lane.packets.is_empty());
            let waits_its_turn = !some || self.paused.has(number) || lane.listed;
            bytes == lane.bytes && some == self.occupied.has(number) && waits_its_turn
        });
        let entries: u64 = self.flows.iter().map(|entry| u64::from(entry.packets)).sum();
        depths && entries == self.iter().count() as u64
    }
}
