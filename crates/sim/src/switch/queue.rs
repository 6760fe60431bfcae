//! Egress queues: first in, first out, with their own half of the books.

use std::collections::VecDeque;

use floodway_model::{FlowId, Packet};

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
    /// Bytes that wait.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets that have left.
    #[inline]
    pub fn departed(&self) -> u64 {
        self.departed
    }

    /// The packet that would leave next.
    #[inline]
    pub fn head(&self) -> Option<&Queued> {
        self.packets.front()
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, queued: Queued) {
        let bytes = u64::from(queued.packet.bytes);
        self.backlog += bytes;
        self.max_backlog = self.max_backlog.max(self.backlog);
        self.packets_in += 1;
        self.bytes_in += bytes;
        self.packets.push_back(queued);
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

    /// The number of packets that will have left when the last one of `flow` that waits here has;
    /// 0 if none waits.
    pub fn clear_of(&self, flow: FlowId) -> u64 {
        let last = self.packets.iter().rposition(|queued| queued.packet.flow == flow);
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the books agree with the packets.
    pub fn is_consistent(&self) -> bool {
        let bytes: u64 = self.packets.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
        bytes == self.backlog && self.packets_in == self.departed + self.packets.len() as u64
    }

    /// The packets that wait.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.packets.iter()
    }
}
