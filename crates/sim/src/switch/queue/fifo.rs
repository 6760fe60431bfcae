//! The packets of a queue that are sent in the order of their arrival: a list of short blocks.
//!
//! A ring that never runs empty walks through all of its memory, and the rings of a switch together
//! are as large as all queues were at their longest. A block that has become empty goes to a list
//! of its thread instead, and the block that became empty last, which is still in the cache, is
//! used first, by whichever queue needs one.

use std::cell::RefCell;

use floodway_model::{Body, Class, Dscp, Ecn, FlowId, NodeId, Packet, PortIx, Tos};
use floodway_prefetch::ask_for;

use super::Queue;

/// Packets in a block.
const BLOCK: usize = 8;

/// Some packets of a queue, one after the other in memory.
pub(super) type Block = [Packet; BLOCK];

/// A block that goes from queue to queue and stays where it is in memory.
type Spare = Box<Block>;

/// Empty blocks that a thread keeps. More are freed: they have not been needed for a long time.
const MOST_SPARE: usize = 1 << 12;

thread_local! {
    static EMPTY: RefCell<Vec<Spare>> = const { RefCell::new(Vec::new()) };
}

/// An empty block.
fn take() -> Spare {
    EMPTY.with_borrow_mut(Vec::pop).unwrap_or_else(make)
}

#[cold]
fn make() -> Spare {
    Box::new([NOTHING; BLOCK])
}

/// A placeholder where there is no packet.
pub const NOTHING: Packet = Packet {
    flow: FlowId(u32::MAX),
    connection: 0,
    src: NodeId(0),
    dst: NodeId(0),
    bytes: 0,
    ingress: PortIx(0),
    class: Class(0),
    physical_queue: 0,
    tos: Tos::new(Dscp::DEFAULT, Ecn::NotEct),
    indicated: false,
    body: Body::Cnp,
};

/// The block is empty.
fn give(block: Spare) {
    EMPTY.with_borrow_mut(|empty| {
        if empty.len() < MOST_SPARE {
            empty.push(block);
        }
    });
}

impl Queue {
    /// The packet that arrived first.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<&Packet> {
        let block = self.first.as_ref()?;
        Some(&block[usize::from(self.head) % BLOCK])
    }

    /// Where the next packet is written, unless that needs another block.
    #[inline]
    pub(super) fn end(&self) -> Option<&Packet> {
        let block = self.last.as_ref().or(self.first.as_ref())?;
        block.get(usize::from(self.tail))
    }

    pub(super) fn front_mut(&mut self) -> Option<&mut Packet> {
        let block = self.first.as_mut()?;
        Some(&mut block[usize::from(self.head) % BLOCK])
    }

    #[inline(always)]
    pub(super) fn push_back(&mut self, packet: &Packet) {
        if usize::from(self.tail) == BLOCK || self.first.is_none() {
            self.add_block();
        }
        let last = self.last.as_mut().or(self.first.as_mut());
        let Some(block) = last else { unreachable!("a block was added") };
        block[usize::from(self.tail) % BLOCK] = *packet;
        self.tail += 1;
    }

    /// The last block is full, or there is none.
    #[inline(never)]
    fn add_block(&mut self) {
        self.tail = 0;
        if self.first.is_none() {
            (self.first, self.head) = (Some(take()), 0);
        } else if let Some(full) = self.last.replace(take()) {
            self.rest_mut().middle.push_back(full);
        }
    }

    /// Copies the packet that arrived first, and removes it; returns whether there is one. It is copied as a whole, because a
    /// processor cannot forward several narrow stores to the wide load that follows.
    #[inline(always)]
    pub(super) fn pop_front(&mut self, to: &mut Packet) -> bool {
        let Some(block) = &self.first else { return false };
        *to = block[usize::from(self.head) % BLOCK];
        self.head += 1;
        let is_last = self.last.is_none() && self.head == self.tail;
        if usize::from(self.head) == BLOCK || is_last {
            self.end_block();
        } else {
            // It may have left the caches since it joined.
            ask_for(&block[usize::from(self.head) % BLOCK]);
        }
        true
    }

    /// All packets of the first block have left.
    #[inline(never)]
    fn end_block(&mut self) {
        let middle = self.rest.as_mut().and_then(|rest| rest.middle.pop_front());
        let next = middle.or_else(|| self.last.take());
        next.iter().for_each(|block| ask_for(&block[0]));
        let empty = std::mem::replace(&mut self.first, next);
        self.head = 0;
        empty.into_iter().for_each(give);
    }

    /// The packet that arrived last.
    pub(super) fn back(&self) -> Option<&Packet> {
        let block = self.last.as_ref().or(self.first.as_ref())?;
        Some(&block[usize::from(self.tail) - 1])
    }

    pub(super) fn pop_back(&mut self) -> Option<Packet> {
        let packet = *self.back()?;
        self.tail -= 1;
        if let Some(empty) = self.last.take_if(|_| self.tail == 0) {
            give(empty);
            self.last = self.rest_mut().middle.pop_back();
            self.tail = BLOCK as u8;
        } else if self.last.is_none() && self.head == self.tail {
            self.first.take().into_iter().for_each(give);
        }
        Some(packet)
    }

    /// From the first to the last.
    pub(super) fn in_order(&self) -> impl DoubleEndedIterator<Item = &Packet> {
        let (head, tail) = (usize::from(self.head), usize::from(self.tail));
        let end = if self.last.is_some() { BLOCK } else { tail };
        let first = self.first.iter().flat_map(move |block| &block[head..end]);
        let middle = self.rest.iter().flat_map(|rest| &rest.middle).flat_map(|block| block.iter());
        first.chain(middle).chain(self.last.iter().flat_map(move |block| &block[..tail]))
    }
}
