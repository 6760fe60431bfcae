//! The network interface of a host: selects the sender that puts the next frame on the wire.
//!
//! RoCEv2 feedback goes first; feedback that `switch.feedback` assigns to a data class can be
//! paused with that class. Senders are served round robin, packet by packet, within their class,
//! and classes are served round robin. A sender whose rate does not allow it to send yet is paced
//! by a timer. Replies of receivers that travel as data (TCP acknowledgements) share the round
//! robin with the senders of their class.
//!
//! A NIC with a transmit buffer accepts the frames of senders in the same order as soon as there is
//! room, and sends them in the order in which they were accepted.

use std::collections::VecDeque;

use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Class, Instant, Packet};

use super::buffer::TransmitBuffer;
use super::physical_queues::PhysicalQueues;
use super::regulated::Regulated;
use super::scheduled::Scheduled;
use super::sender::Sender;
use super::spec::{PauseScope, Spec};
use crate::link::{Link, Transmitter};

/// Pseudo-slot in the ready queues that stands for the first frame in `made`.
pub(super) const MADE: u32 = u32::MAX;

/// The interface. It refers to senders by slot. Fields are ordered by access frequency.
#[derive(Debug)]
#[repr(C)]
pub struct Nic {
    /// The sending end of its link.
    pub tx: Transmitter,
    /// Bit c is set if `ready[c]` is not empty.
    some_ready: u8,
    /// Next class in round robin.
    turn: u8,
    pause_scope: PauseScope,
    /// The class of feedback and notifications.
    pub control_class: Class,
    /// Whether pauses of data classes also stop feedback in them.
    pause_feedback: bool,
    /// Transmit buffer; `None` if frames leave the senders only when the wire is free.
    pub(super) buffer: Option<Box<TransmitBuffer>>,
    control: VecDeque<Packet>,
    /// Senders that are paced, with the time from which they may send.
    paced: Scheduled<u32>,
    /// Feedback that travels in data classes, by class; empty if there has never been any.
    feedback: Vec<VecDeque<Packet>>,
    /// Physical queues, with Backpressure Flow Control.
    pub physical_queues: Option<Box<PhysicalQueues>>,
    /// Senders that may send, by class, with one [`MADE`] for each ready-made frame.
    ready: [VecDeque<u32>; CLASSES],
    /// Ready-made frames queued with the data, by class; empty if there have never been any.
    made: Vec<VecDeque<Packet>>,
}

impl Nic {
    pub(super) fn new(link: Link, spec: &Spec, control_class: Class) -> Self {
        let buffer = |size: Bytes| Box::new(TransmitBuffer::new(size.0, link.largest_frame));
        Self {
            tx: Transmitter::new(link),
            control_class,
            physical_queues: None,
            buffer: spec.buffer.map(buffer),
            pause_scope: spec.pause_scope,
            control: VecDeque::new(),
            feedback: Vec::new(),
            pause_feedback: spec.pause_feedback,
            made: Vec::new(),
            ready: Default::default(),
            some_ready: 0,
            turn: 0,
            paced: Scheduled::new(),
        }
    }

    /// Queues a reply of a receiver.
    pub(super) fn push_feedback(&mut self, frame: Packet) {
        if frame.class == self.control_class {
            return self.control.push_back(frame);
        }
        if self.feedback.is_empty() {
            self.feedback.resize_with(CLASSES, VecDeque::new);
        }
        self.feedback[frame.class.index()].push_back(frame);
    }

    /// The next reply that may be sent now.
    #[inline(always)]
    pub(super) fn take_feedback(&mut self, now: Instant) -> Option<Packet> {
        if !self.control.is_empty() && self.may_send_control(now) {
            return self.control.pop_front();
        }
        if self.feedback.is_empty() {
            return None;
        }
        self.take_feedback_of_data(now)
    }

    #[inline(never)]
    fn take_feedback_of_data(&mut self, now: Instant) -> Option<Packet> {
        if self.tx.stalled(now) > now {
            return None;
        }
        let may =
            |class: &usize| !self.feedback[*class].is_empty() && self.feedback_from(*class) <= now;
        let class = (0..self.feedback.len()).find(may)?;
        self.feedback[class].pop_front()
    }

    /// Earliest time at which feedback in a data class may be sent.
    fn feedback_from(&self, class: usize) -> Instant {
        if !self.pause_feedback {
            return self.control_from();
        }
        match self.pause_scope {
            PauseScope::Class => self.unpaused_from(class),
            PauseScope::Nic => self.first_unpaused(1 << class),
        }
    }

    /// Earliest time at which feedback and notifications may be sent; PAUSE stops them too.
    fn control_from(&self) -> Instant {
        self.unpaused_from(self.control_class.index())
    }

    /// When the pause of a class ends, or a stall by a retry if that is later.
    fn unpaused_from(&self, class: usize) -> Instant {
        match self.tx.unpaused_when_free() {
            // The wire is busy until then anyway.
            true => Instant::ZERO,
            false => self.tx.pauses()[class].until.max(self.tx.stalled_when_free()),
        }
    }

    /// Whether feedback and notifications may be sent now, if the wire is free.
    #[inline]
    fn may_send_control(&mut self, now: Instant) -> bool {
        self.tx.unpaused_when_free() || self.tx.stopped(now) >> self.control_class.index() & 1 == 0
    }

    /// Queues a frame with the data of its class.
    pub(super) fn push_data(&mut self, frame: Packet) {
        if let Some(buffer) = &mut self.buffer {
            return buffer.push(frame);
        }
        if self.made.is_empty() {
            self.made.resize_with(CLASSES, VecDeque::new);
        }
        self.made[frame.class.index()].push_back(frame);
        self.make_ready(MADE, frame.class);
    }

    /// Removes the ready-made frame whose [`MADE`] was next in the class that was just served.
    pub(super) fn take_made(&mut self) -> Packet {
        let class = usize::from((self.turn + 7) % 8);
        self.made[class].pop_front().expect("a frame of this class waits")
    }

    /// Queued replies and credit of receivers.
    pub fn feedback(&self) -> impl Iterator<Item = &Packet> {
        self.control.iter().chain(self.feedback.iter().flatten())
    }

    /// Number of queued frames.
    pub fn waiting(&self) -> usize {
        let in_buffer = self.buffer.as_ref().map_or(0, |buffer| buffer.len());
        let feedback = self.feedback.iter().map(VecDeque::len).sum::<usize>();
        self.control.len()
            + feedback
            + self.made.iter().map(VecDeque::len).sum::<usize>()
            + in_buffer
    }

    /// Bytes queued for the wire, by data class.
    pub(super) fn backlogs(&self) -> [u64; CLASSES] {
        let made = |class: usize| self.made.get(class).into_iter().flatten();
        let made = move |class| made(class).map(|frame| u64::from(frame.bytes)).sum::<u64>();
        let stored = |class| self.buffer.as_ref().map_or(0, |buffer| buffer.bytes(class));
        std::array::from_fn(|class| made(class) + stored(class))
    }

    /// Number of senders and ready-made frames that wait for the wire, without the one that is next.
    pub(super) fn contenders(&self) -> usize {
        self.ready.iter().map(VecDeque::len).sum::<usize>() + self.paced.len()
    }

    pub(super) fn make_ready(&mut self, slot: u32, class: Class) {
        self.ready[class.index()].push_back(slot);
        self.some_ready |= 1 << class.0;
    }

    /// A sender of this class may send again at `eligible_at`.
    #[inline(always)]
    pub(super) fn put_back(&mut self, slot: u32, class: Class, eligible_at: Instant) {
        // It may send by the time the wire is free, so no timer is needed.
        if eligible_at <= self.tx.busy_until && self.buffer.is_none() && !self.tx.is_closed() {
            self.make_ready(slot, class);
        } else {
            self.paced.push(eligible_at, slot);
        }
    }

    /// A sender, which may have been ready in another class, is now in this one.
    pub(super) fn reclassify(&mut self, slot: u32, class: Class) {
        for old in 0..CLASSES {
            let place = self.ready[old].iter().position(|&ready| ready == slot);
            if let Some(place) = place.filter(|_| old != class.index()) {
                self.ready[old].remove(place);
                if self.ready[old].is_empty() {
                    self.some_ready &= !(1 << old);
                }
                return self.make_ready(slot, class);
            }
        }
    }

    /// Moves paced senders that are eligible now to the ready queues.
    #[inline(always)]
    pub(super) fn wake_paced(&mut self, now: Instant, senders: &[Option<Box<Sender>>]) {
        while let Some((_, slot)) = self.paced.pop_due(now) {
            let sender = senders[slot as usize].as_ref();
            let class = sender.expect("a sender leaves the NIC before it ends").class;
            self.make_ready(slot, class);
        }
    }

    /// The switch pauses or resumes a physical queue.
    pub(super) fn obey_physical_queue(
        &mut self,
        class: Class,
        physical_queue: u8,
        stop: bool,
        now: Instant,
    ) {
        let Some(physical_queues) = &mut self.physical_queues else { return };
        for slot in physical_queues.obey(class, physical_queue, stop, now) {
            self.ready[class.index()].push_back(slot);
            self.some_ready |= 1 << class.0;
        }
    }

    /// Bit mask of the classes that may not send.
    #[inline]
    fn stopped(&mut self, now: Instant) -> u8 {
        let paused = self.tx.stopped(now);
        match self.pause_scope {
            PauseScope::Class => paused,
            PauseScope::Nic if paused != 0 => u8::MAX,
            PauseScope::Nic => 0,
        }
    }

    /// Removes the next sender in round robin order, if one may send: to the free wire, or to the
    /// transmit buffer if there is one.
    #[inline(always)]
    pub(super) fn next_ready(&mut self, now: Instant) -> Option<u32> {
        if self.some_ready == 0 {
            return None;
        }
        let room = self.buffer.as_ref().map(|buffer| buffer.with_room());
        let stopped = match room {
            None => self.stopped(now),
            Some(with_room) => !with_room,
        };
        let may = self.some_ready & !stopped;
        if may == 0 {
            return None;
        }
        let class = (may.rotate_right(self.turn.into()).trailing_zeros() as u8 + self.turn) % 8;
        self.turn = (class + 1) % 8;
        let ready = &mut self.ready[usize::from(class)];
        let slot = ready.pop_front();
        if ready.is_empty() {
            self.some_ready &= !(1 << class);
        }
        slot
    }

    /// Earliest time at which the NIC has something to send.
    #[inline]
    pub(super) fn next_wake(&self) -> Instant {
        let paced = self.paced.next();
        let mut next = match &self.buffer {
            None => self.first_unpaused(self.some_ready),
            Some(buffer) => self.first_stored(buffer),
        };
        if !self.control.is_empty() {
            next = next.min(self.control_from());
        }
        for (class, waiting) in self.feedback.iter().enumerate() {
            if !waiting.is_empty() {
                next = next.min(self.feedback_from(class));
            }
        }
        if self.buffer.is_some() {
            // Paced senders send to the buffer, for which the wire need not be free. Ready senders
            // have no room there until a frame leaves.
            return paced.min(next.max(self.tx.busy_until));
        }
        paced.min(next).max(self.tx.busy_until)
    }

    /// Earliest time at which one of these classes may send; [`Instant::NEVER`] if there is none.
    #[inline(always)]
    fn first_unpaused(&self, classes: u8) -> Instant {
        if classes == 0 {
            return Instant::NEVER;
        }
        // The usual case: nothing is paused by the time the wire is free.
        if self.tx.unpaused_when_free() {
            return Instant::ZERO;
        }
        let until = |class: usize| self.tx.pauses()[class].until;
        match self.pause_scope {
            PauseScope::Nic => (0..CLASSES).map(until).max(),
            PauseScope::Class => {
                (0..CLASSES).filter(|class| classes >> class & 1 != 0).map(until).min()
            }
        }
        .expect("there are classes")
        .max(self.tx.stalled_when_free())
    }

    /// Physical queues that are paused, and directions that are held back.
    pub(super) fn held(&self) -> u64 {
        let queues = self.physical_queues.as_ref().map_or(0, |queues| queues.held());
        queues + self.regulated().map_or(0, Regulated::held)
    }

    /// The state of Directional Rate Control, if it is in use.
    pub(super) fn regulated(&self) -> Option<&Regulated> {
        self.buffer.as_ref()?.regulated.as_ref()
    }

    /// Returns parked senders that now have room in the buffer to the round robin.
    pub(super) fn unpark(&mut self) {
        while let Some((slot, class)) = self.buffer.as_mut().and_then(|buffer| buffer.unpark()) {
            self.make_ready(slot, class);
        }
    }

    /// Whether the sender in this slot finds no room in the buffer although others may. It is then
    /// parked until there is room.
    pub(super) fn parks(&mut self, slot: u32, senders: &[Option<Box<Sender>>]) -> bool {
        let Some(buffer) = self.buffer.as_mut().filter(|_| slot != MADE) else { return false };
        let sender = senders[slot as usize].as_ref();
        let sender = sender.expect("a sender leaves the NIC before it ends");
        buffer.parks(slot, sender.class, (sender.dst(), sender.flow))
    }

    /// Earliest time at which a buffered frame may be sent.
    fn first_stored(&self, buffer: &TransmitBuffer) -> Instant {
        let waiting = (0..CLASSES).filter(|class| buffer.waiting() >> class & 1 != 0);
        let may =
            waiting.map(|class| self.first_unpaused(1 << class).max(buffer.eligible_at(class)));
        may.min().unwrap_or(Instant::NEVER)
    }

    /// Removes the next buffered frame that may be sent now, if there is one.
    pub(super) fn take_stored(&mut self, now: Instant) -> Option<Packet> {
        let stopped = self.stopped(now);
        self.buffer.as_mut()?.pop(stopped, &self.tx, now)
    }
}
