//! Egress queues: first in, first out, with their own half of the books.

use std::collections::VecDeque;

use floodway_model::{FlowId, Instant, Packet};

use super::flow_control::bfc::{Lanes, Left};

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet, still with the port and class by which it came in.
    pub packet: Packet,
    /// It may leave once this many packets have left the monitored queue: how an isolated flow
    /// stays in order. 0 for every other packet.
    pub not_before: u64,
}

/// One egress queue.
#[derive(Debug, Default)]
pub struct Queue {
    packets: VecDeque<Queued>,
    /// With Backpressure Flow Control: its physical queues, which then have the packets.
    lanes: Option<Box<Lanes>>,
    backlog: u64,
    departed: u64,
    /// The largest backlog there has been, bytes.
    pub max_backlog: u64,
    /// Packets that joined.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Packets that were marked on joining.
    pub marked: u64,
    /// Sum of the sampled backlogs, bytes.
    pub sampled: u64,
}

impl Queue {
    /// An empty queue that consists of these physical queues.
    pub fn of_lanes(lanes: Lanes) -> Self {
        Self { lanes: Some(Box::new(lanes)), ..Self::default() }
    }

    /// Its physical queues, if it has any.
    #[inline]
    pub fn lanes(&self) -> Option<&Lanes> {
        self.lanes.as_deref()
    }

    /// The same, to change them.
    #[inline]
    pub fn lanes_mut(&mut self) -> Option<&mut Lanes> {
        self.lanes.as_deref_mut()
    }

    /// Bytes that wait.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        (self.packets_in - self.departed) as usize
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets_in == self.departed
    }

    /// Packets that have left.
    #[inline]
    pub fn departed(&self) -> u64 {
        self.departed
    }

    /// The packet that would leave next; `None` also if all physical queues with packets are
    /// paused.
    #[inline]
    pub fn head(&self) -> Option<&Queued> {
        match &self.lanes {
            None => self.packets.front(),
            Some(lanes) => lanes.head(),
        }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, queued: Queued) {
        debug_assert!(self.lanes.is_none());
        self.count_in(&queued);
        self.packets.push_back(queued);
    }

    /// Appends a packet to a physical queue; `counted`: as a reason to pause.
    #[inline]
    pub fn push_to_lane(&mut self, lane: u8, queued: Queued, counted: bool) {
        self.count_in(&queued);
        self.lanes.as_mut().expect("it has lanes").push(lane, queued, counted);
    }

    #[inline]
    fn count_in(&mut self, queued: &Queued) {
        let bytes = u64::from(queued.packet.bytes);
        self.backlog += bytes;
        self.max_backlog = self.max_backlog.max(self.backlog);
        self.packets_in += 1;
        self.bytes_in += bytes;
    }

    /// A packet joins the empty queue and leaves it at once.
    #[inline]
    pub fn pass(&mut self, bytes: u16) {
        debug_assert!(self.is_empty());
        let bytes = u64::from(bytes);
        self.max_backlog = self.max_backlog.max(bytes);
        self.packets_in += 1;
        self.bytes_in += bytes;
        self.departed += 1;
    }

    /// Removes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_front()?;
        self.backlog -= u64::from(queued.packet.bytes);
        self.departed += 1;
        if self.packets.is_empty() {
            // Begin at the front of the ring again, where the memory is in the cache.
            self.packets.clear();
        }
        Some(queued)
    }

    /// Removes the packet at the head of the physical queue whose turn it is; see [`Lanes::pop`].
    #[inline]
    pub fn pop_from_lane(&mut self, until: impl Fn(&Queued) -> Instant) -> Option<Left> {
        let left = self.lanes.as_mut()?.pop(until)?;
        self.backlog -= u64::from(left.queued.packet.bytes);
        self.departed += 1;
        Some(left)
    }

    /// The number of packets that will have left when the last one of `flow` that waits here has;
    /// 0 if none waits.
    pub fn clear_of(&self, flow: FlowId) -> u64 {
        let last = self.packets.iter().rposition(|queued| queued.packet.flow == flow);
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the books agree with the packets.
    pub fn is_consistent(&self) -> bool {
        let bytes: u64 = self.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
        bytes == self.backlog
            && self.packets_in == self.departed + self.iter().count() as u64
            && self.lanes.as_ref().is_none_or(|lanes| lanes.is_consistent())
    }

    /// The packets that wait.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.packets.iter().chain(self.lanes.iter().flat_map(|lanes| lanes.iter()))
    }
}
