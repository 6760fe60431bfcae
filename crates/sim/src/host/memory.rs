//! The memory of a NIC: frames that have left the memory of the host and wait for the wire, first
//! in, first out within their class. Without it a frame leaves the host when the wire is free.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId, Packet};

use super::regulated::Regulated;
use crate::link::Transmitter;

/// The frames of all classes, each class with as much room as the others.
#[derive(Debug)]
pub struct Memory {
    /// The most bytes of a class.
    size: u64,
    /// The longest frame that a sender may bring.
    largest_frame: u64,
    classes: [OfClass; CLASSES],
    /// With Directional Rate Control: the frames, which are then not in `classes`.
    pub(super) regulated: Option<Regulated>,
    /// Bit c: frames of class c wait.
    waiting: u8,
    /// The class whose turn it is.
    turn: u8,
}

#[derive(Debug, Default)]
struct OfClass {
    frames: VecDeque<Packet>,
    bytes: u64,
}

impl Memory {
    /// An empty one with so many bytes for each class.
    pub(super) fn new(size: u64, largest_frame: u16) -> Self {
        Self {
            size,
            largest_frame: largest_frame.into(),
            classes: Default::default(),
            regulated: None,
            waiting: 0,
            turn: 0,
        }
    }

    /// The bits of the classes that have room for a frame, however long it is: a sender is asked
    /// for its next frame only if that can be taken.
    #[inline]
    pub(super) fn with_room(&self) -> u8 {
        let mut bits = 0;
        for (class, of) in self.classes.iter().enumerate() {
            bits |= u8::from(of.bytes + self.largest_frame <= self.size) << class;
        }
        bits
    }

    /// Takes a frame. What receivers answer is taken whether there is room or not: the host has it
    /// nowhere else.
    pub(super) fn push(&mut self, frame: Packet) {
        let of = &mut self.classes[frame.class.index()];
        of.bytes += u64::from(frame.bytes);
        self.waiting |= 1 << frame.class.0;
        match &mut self.regulated {
            None => of.frames.push_back(frame),
            Some(regulated) => regulated.push(frame),
        }
    }

    /// The bits of the classes with frames.
    #[inline]
    pub(super) fn waiting(&self) -> u8 {
        self.waiting
    }

    /// Takes out the next frame of those that are not stopped, to put it on the wire now; classes
    /// take turns.
    pub(super) fn pop(&mut self, stopped: u8, tx: &Transmitter, now: Instant) -> Option<Packet> {
        let mut may = self.waiting & !stopped;
        if let Some(regulated) = &mut self.regulated {
            may = regulated.settle(may, now);
        }
        if may == 0 {
            return None;
        }
        let class = (may.rotate_right(self.turn.into()).trailing_zeros() as u8 + self.turn) % 8;
        self.turn = (class + 1) % 8;
        let of = &mut self.classes[usize::from(class)];
        let frame = match &mut self.regulated {
            None => of.frames.pop_front(),
            Some(regulated) => regulated.pop(class.into(), tx, now),
        }?;
        of.bytes -= u64::from(frame.bytes);
        if of.bytes == 0 {
            self.waiting &= !(1 << class);
        }
        Some(frame)
    }

    /// When a frame of a class with frames may be sent, as far as this is not a matter of pauses.
    pub(super) fn eligible_at(&self, class: usize) -> Instant {
        let regulated = self.regulated.as_ref();
        regulated.map_or(Instant::ZERO, |regulated| regulated.eligible_at(class))
    }

    /// Whether the frames of a flow find no room in their class although others may. Then its sender
    /// is kept until [`Memory::unpark`] gives it back.
    pub(super) fn parks(&mut self, slot: u32, class: Class, to: (NodeId, FlowId)) -> bool {
        let free = self.size.saturating_sub(self.classes[class.index()].bytes);
        let regulated = self.regulated.as_mut();
        regulated.is_some_and(|regulated| regulated.parks(slot, class, to, free))
    }

    /// A sender that was kept and finds room by now, with its class.
    pub(super) fn unpark(&mut self) -> Option<(u32, Class)> {
        let (with_room, regulated) = (self.with_room(), self.regulated.as_mut()?);
        (0..CLASSES).filter(|class| with_room >> class & 1 != 0).find_map(|class| {
            let free = self.size.saturating_sub(self.classes[class].bytes);
            regulated.unpark(class, free).map(|slot| (slot, Class(class as u8)))
        })
    }

    /// Bytes of a class that wait.
    pub(super) fn bytes(&self, class: usize) -> u64 {
        self.classes[class].bytes
    }

    /// Frames that wait.
    pub(super) fn len(&self) -> usize {
        let regulated = self.regulated.as_ref().map_or(0, Regulated::len);
        self.classes.iter().map(|of| of.frames.len()).sum::<usize>() + regulated
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::packet::length;
    use floodway_model::{Body, Class, Duration, Echo, FlowId, Instant, NodeId, PortIx, Rate, Tos};

    use super::*;
    use crate::link::Link;

    fn frame(psn: u32, class: u8, bytes: u16) -> Packet {
        Packet {
            flow: FlowId(0),
            connection: 0,
            src: NodeId(0),
            dst: NodeId(1),
            bytes,
            ingress: PortIx(0),
            class: Class(class),
            lane: 0,
            tos: Tos::default(),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn, sent_at: Instant::ZERO },
        }
    }

    fn pop(memory: &mut Memory, stopped: u8) -> Option<Packet> {
        let link = Link {
            peer: NodeId(1),
            peer_port: PortIx(0),
            rate: Rate::from_gbps(10),
            delay: Duration::ZERO,
            latency: Duration::ZERO,
            response: Duration::ZERO,
            wire_overhead: 20,
            largest_frame: 1_518,
            node: NodeId(0),
            port: PortIx(0),
        };
        memory.pop(stopped, &Transmitter::new(link), Instant::ZERO)
    }

    fn number(frame: Option<Packet>) -> Option<u32> {
        frame.map(|frame| match frame.body {
            Body::Data { psn, .. } => psn,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn there_is_room_for_whole_frames_in_each_class() {
        let mut memory = Memory::new(4_000, 1_518);
        memory.push(frame(0, 0, 1_518));
        assert_eq!(memory.with_room(), u8::MAX);
        // 1518 + 965 + 1518 are one byte too many.
        memory.push(frame(1, 0, 965));
        assert_eq!(memory.with_room(), u8::MAX - 1);
        // What receivers answer comes in all the same.
        memory.push(frame(2, 0, length::SHORTEST_FRAME));
        assert_eq!((memory.len(), number(pop(&mut memory, 0))), (3, Some(0)));
        assert_eq!(memory.with_room(), u8::MAX);
    }

    #[test]
    fn classes_take_turns_and_stopped_ones_wait() {
        let mut memory = Memory::new(9_000, 1_518);
        for (psn, class) in [(0, 0), (1, 0), (2, 3), (3, 3)] {
            memory.push(frame(psn, class, 100));
        }
        assert_eq!(number(pop(&mut memory, 0)), Some(0));
        assert_eq!(number(pop(&mut memory, 0)), Some(2));
        assert_eq!(number(pop(&mut memory, 1)), Some(3));
        assert_eq!((memory.waiting(), number(pop(&mut memory, 1))), (1, None));
        assert_eq!(number(pop(&mut memory, 0)), Some(1));
        assert_eq!((memory.waiting(), memory.len()), (0, 0));
    }
}
