//! Transmit buffer of a NIC: frames that have left host memory and wait for the wire, first in,
//! first out within their class. Without it a frame leaves host memory when the wire is free.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId, Packet};

use super::regulated::Regulated;
use crate::link::Transmitter;

/// The buffered frames of all classes; all classes have the same size.
#[derive(Debug)]
pub struct TransmitBuffer {
    /// Buffer size per class, in bytes.
    size: u64,
    /// Longest frame of any sender.
    largest_frame: u64,
    classes: [OfClass; CLASSES],
    /// With Directional Rate Control: the frames, which are then not in `classes`.
    pub(super) regulated: Option<Regulated>,
    /// Bit c is set if frames of class c are queued.
    waiting: u8,
    /// Next class in round robin.
    turn: u8,
}

#[derive(Debug, Default)]
struct OfClass {
    frames: VecDeque<Packet>,
    bytes: u64,
}

impl TransmitBuffer {
    /// An empty buffer with `size` bytes for each class.
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

    /// Bit mask of the classes that have room for a frame of any length: a sender is asked for its
    /// next frame only if that frame can be accepted.
    #[inline]
    pub(super) fn with_room(&self) -> u8 {
        let mut bits = 0;
        for (class, of) in self.classes.iter().enumerate() {
            bits |= u8::from(of.bytes + self.largest_frame <= self.size) << class;
        }
        bits
    }

    /// Accepts a frame. Replies of receivers are accepted whether or not there is room, because the
    /// host has no other place for them.
    pub(super) fn push(&mut self, frame: Packet) {
        let of = &mut self.classes[frame.class.index()];
        of.bytes += u64::from(frame.bytes);
        self.waiting |= 1 << frame.class.0;
        match &mut self.regulated {
            None => of.frames.push_back(frame),
            Some(regulated) => regulated.push(frame),
        }
    }

    /// Bit mask of the classes with queued frames.
    #[inline]
    pub(super) fn waiting(&self) -> u8 {
        self.waiting
    }

    /// Removes the next frame of the classes that are not stopped, to transmit it now. Classes are
    /// served round robin.
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

    /// Earliest time at which a frame of a nonempty class may be sent, disregarding pauses.
    pub(super) fn eligible_at(&self, class: usize) -> Instant {
        let regulated = self.regulated.as_ref();
        regulated.map_or(Instant::ZERO, |regulated| regulated.eligible_at(class))
    }

    /// Whether the frames of a flow find no room in their class although other frames may. Its
    /// sender is then parked until [`TransmitBuffer::unpark`] returns it.
    pub(super) fn parks(&mut self, slot: u32, class: Class, to: (NodeId, FlowId)) -> bool {
        let free = self.size.saturating_sub(self.classes[class.index()].bytes);
        let regulated = self.regulated.as_mut();
        regulated.is_some_and(|regulated| regulated.parks(slot, class, to, free))
    }

    /// A parked sender that has room now, with its class.
    pub(super) fn unpark(&mut self) -> Option<(u32, Class)> {
        let (with_room, regulated) = (self.with_room(), self.regulated.as_mut()?);
        (0..CLASSES).filter(|class| with_room >> class & 1 != 0).find_map(|class| {
            let free = self.size.saturating_sub(self.classes[class].bytes);
            regulated.unpark(class, free).map(|slot| (slot, Class(class as u8)))
        })
    }

    /// Queued bytes of a class.
    pub(super) fn bytes(&self, class: usize) -> u64 {
        self.classes[class].bytes
    }

    /// Number of queued frames.
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
            physical_queue: 0,
            tos: Tos::default(),
            indicated: false,
            body: Body::Data { echo: Echo::default(), psn, sent_at: Instant::ZERO },
        }
    }

    fn pop(buffer: &mut TransmitBuffer, stopped: u8) -> Option<Packet> {
        let link = Link {
            peer: NodeId(1),
            peer_port: PortIx(0),
            to: (NodeId(0), PortIx(0)),
            rate: Rate::from_gbps(10),
            rate_back: Rate::from_gbps(10),
            line: None,
            delay: Duration::ZERO,
            latency: Duration::ZERO,
            response: Duration::ZERO,
            wire_overhead: 20,
            largest_frame: 1_518,
            node: NodeId(0),
            port: PortIx(0),
        };
        buffer.pop(stopped, &Transmitter::new(link), Instant::ZERO)
    }

    fn number(frame: Option<Packet>) -> Option<u32> {
        frame.map(|frame| match frame.body {
            Body::Data { psn, .. } => psn,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn there_is_room_for_whole_frames_in_each_class() {
        let mut buffer = TransmitBuffer::new(4_000, 1_518);
        buffer.push(frame(0, 0, 1_518));
        assert_eq!(buffer.with_room(), u8::MAX);
        // 1518 + 965 + 1518 is one byte too many.
        buffer.push(frame(1, 0, 965));
        assert_eq!(buffer.with_room(), u8::MAX - 1);
        // Replies of receivers are accepted anyway.
        buffer.push(frame(2, 0, length::SHORTEST_FRAME));
        assert_eq!((buffer.len(), number(pop(&mut buffer, 0))), (3, Some(0)));
        assert_eq!(buffer.with_room(), u8::MAX);
    }

    #[test]
    fn classes_take_turns_and_stopped_ones_wait() {
        let mut buffer = TransmitBuffer::new(9_000, 1_518);
        for (psn, class) in [(0, 0), (1, 0), (2, 3), (3, 3)] {
            buffer.push(frame(psn, class, 100));
        }
        assert_eq!(number(pop(&mut buffer, 0)), Some(0));
        assert_eq!(number(pop(&mut buffer, 0)), Some(2));
        assert_eq!(number(pop(&mut buffer, 1)), Some(3));
        assert_eq!((buffer.waiting(), number(pop(&mut buffer, 1))), (1, None));
        assert_eq!(number(pop(&mut buffer, 0)), Some(1));
        assert_eq!((buffer.waiting(), buffer.len()), (0, 0));
    }
}
