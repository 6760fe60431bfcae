//! The network interface of a host: which sender puts the next frame on the wire.
//!
//! Feedback of RoCEv2 goes first; what `switch.feedback` has in a class of data is stopped with it. Senders take turns packet by packet within their class, classes
//! take turns with each other, and a sender whose rate does not let it send yet waits by its time.
//! What receivers answer as data (TCP's acknowledgements) takes turns with the senders of its class.
//!
//! With a memory of its own, the NIC takes the frames of senders in the same order as soon as it has
//! room for them, and sends them in the order in which they came.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_model::id::CLASSES;
use floodway_model::{Bytes, Class, Instant, Packet};

use super::lanes::Lanes;
use super::memory::Memory;
use super::regulated::Regulated;
use super::sender::Sender;
use super::spec::{PauseScope, Spec};
use crate::link::{Link, Transmitter};

/// The slot that stands for the first of the frames that are made already.
pub(super) const MADE: u32 = u32::MAX;

/// The interface. Senders are known to it by their slots. In order of use.
#[derive(Debug)]
#[repr(C)]
pub struct Nic {
    /// The sending end of its link.
    pub tx: Transmitter,
    /// Bit c: `ready[c]` is not empty.
    some_ready: u8,
    /// The class whose turn it is.
    turn: u8,
    pause_scope: PauseScope,
    /// The class of feedback and notifications.
    pub control_class: Class,
    /// With Backpressure Flow Control: its physical queues.
    pub lanes: Option<Box<Lanes>>,
    /// Frames that have left the senders; `None` if they leave them when the wire is free.
    pub(super) memory: Option<Box<Memory>>,
    control: VecDeque<Packet>,
    /// By class of data: feedback that travels in it; empty if there has never been any.
    feedback: Vec<VecDeque<Packet>>,
    /// Whether pauses of classes of data stop feedback in them.
    pause_feedback: bool,
    /// Senders that may send later.
    paced: BinaryHeap<Reverse<(Instant, u32)>>,
    /// By class: senders that may send, and a [`MADE`] for each frame that is made already.
    ready: [VecDeque<u32>; CLASSES],
    /// By class: frames that wait among the data; empty if there have never been any.
    made: Vec<VecDeque<Packet>>,
}

impl Nic {
    pub(super) fn new(link: Link, spec: &Spec, control_class: Class) -> Self {
        let memory = |size: Bytes| Box::new(Memory::new(size.0, link.largest_frame));
        Self {
            tx: Transmitter::new(link),
            control_class,
            lanes: None,
            memory: spec.memory.map(memory),
            pause_scope: spec.pause_scope,
            control: VecDeque::new(),
            feedback: Vec::new(),
            pause_feedback: spec.pause_feedback,
            made: Vec::new(),
            ready: Default::default(),
            some_ready: 0,
            turn: 0,
            paced: BinaryHeap::new(),
        }
    }

    /// An answer of a receiver waits for the wire.
    pub(super) fn push_feedback(&mut self, frame: Packet) {
        if frame.class == self.control_class {
            return self.control.push_back(frame);
        }
        if self.feedback.is_empty() {
            self.feedback.resize_with(CLASSES, VecDeque::new);
        }
        self.feedback[frame.class.index()].push_back(frame);
    }

    /// The answer that may go now.
    #[inline]
    pub(super) fn take_feedback(&mut self, now: Instant) -> Option<Packet> {
        if !self.control.is_empty() && self.control_from() <= now {
            return self.control.pop_front();
        }
        if self.feedback.is_empty() {
            return None;
        }
        self.take_feedback_of_data(now)
    }

    #[inline(never)]
    fn take_feedback_of_data(&mut self, now: Instant) -> Option<Packet> {
        let may =
            |class: &usize| !self.feedback[*class].is_empty() && self.feedback_from(*class) <= now;
        let class = (0..self.feedback.len()).find(may)?;
        self.feedback[class].pop_front()
    }

    /// When feedback in a class of data may go.
    fn feedback_from(&self, class: usize) -> Instant {
        if !self.pause_feedback {
            return self.control_from();
        }
        match self.pause_scope {
            PauseScope::Class => self.tx.pauses()[class].until,
            PauseScope::Nic => self.first_unpaused(1 << class),
        }
    }

    /// When feedback and notifications may go: PAUSE stops them too.
    fn control_from(&self) -> Instant {
        self.tx.pauses()[self.control_class.index()].until
    }

    /// Puts a frame among the data of its class.
    pub(super) fn push_data(&mut self, frame: Packet) {
        if let Some(memory) = &mut self.memory {
            return memory.push(frame);
        }
        if self.made.is_empty() {
            self.made.resize_with(CLASSES, VecDeque::new);
        }
        self.made[frame.class.index()].push_back(frame);
        self.make_ready(MADE, frame.class);
    }

    /// The frame for which [`MADE`] was next, of the class that had its turn.
    pub(super) fn take_made(&mut self) -> Packet {
        let class = usize::from((self.turn + 7) % 8);
        self.made[class].pop_front().expect("its turn came for a frame")
    }

    /// Answers and credit of receivers that wait.
    pub fn feedback(&self) -> impl Iterator<Item = &Packet> {
        self.control.iter().chain(self.feedback.iter().flatten())
    }

    /// Frames that wait.
    pub fn waiting(&self) -> usize {
        let in_memory = self.memory.as_ref().map_or(0, |memory| memory.len());
        let feedback = self.feedback.iter().map(VecDeque::len).sum::<usize>();
        self.control.len()
            + feedback
            + self.made.iter().map(VecDeque::len).sum::<usize>()
            + in_memory
    }

    /// Bytes that wait for the wire, by class of data.
    pub(super) fn backlogs(&self) -> [u64; CLASSES] {
        let made = |class: usize| self.made.get(class).into_iter().flatten();
        let made = move |class| made(class).map(|frame| u64::from(frame.bytes)).sum::<u64>();
        let stored = |class| self.memory.as_ref().map_or(0, |memory| memory.bytes(class));
        std::array::from_fn(|class| made(class) + stored(class))
    }

    pub(super) fn make_ready(&mut self, slot: u32, class: Class) {
        self.ready[class.index()].push_back(slot);
        self.some_ready |= 1 << class.0;
    }

    /// A sender of this class may send again at `eligible_at`.
    #[inline(always)]
    pub(super) fn put_back(&mut self, slot: u32, class: Class, eligible_at: Instant) {
        // By the time the wire is free it may: no need to wake up for it.
        if eligible_at <= self.tx.busy_until && self.memory.is_none() && !self.tx.is_closed() {
            self.make_ready(slot, class);
        } else {
            self.paced.push(Reverse((eligible_at, slot)));
        }
    }

    /// A sender that may have been ready in another class is now in this one.
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

    /// Makes the senders ready whose time has come.
    #[inline(always)]
    pub(super) fn wake_paced(&mut self, now: Instant, senders: &[Option<Box<Sender>>]) {
        while let Some(&Reverse((at, slot))) = self.paced.peek() {
            if at > now {
                return;
            }
            self.paced.pop();
            let sender = senders[slot as usize].as_ref();
            let class = sender.expect("a sender leaves the NIC before it ends").class;
            self.make_ready(slot, class);
        }
    }

    /// The switch says that a lane must stop, or may go on.
    pub(super) fn obey_lane(&mut self, class: Class, lane: u8, stop: bool, now: Instant) {
        let Some(lanes) = &mut self.lanes else { return };
        for slot in lanes.obey(class, lane, stop, now) {
            self.ready[class.index()].push_back(slot);
            self.some_ready |= 1 << class.0;
        }
    }

    /// The classes that may not send.
    #[inline]
    fn stopped(&self, now: Instant) -> u8 {
        let paused = self.tx.paused(now);
        match self.pause_scope {
            PauseScope::Class => paused,
            PauseScope::Nic if paused != 0 => u8::MAX,
            PauseScope::Nic => 0,
        }
    }

    /// Takes out the sender whose turn it is, if one may send: for the free wire, or for the memory
    /// if there is one.
    #[inline(always)]
    pub(super) fn next_ready(&mut self, now: Instant) -> Option<u32> {
        if self.some_ready == 0 {
            return None;
        }
        let stopped = match &self.memory {
            None => self.stopped(now),
            Some(memory) => !memory.with_room(),
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

    /// When the NIC next has something to send.
    #[inline]
    pub(super) fn next_wake(&self) -> Instant {
        let paced = self.paced.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let mut next = match &self.memory {
            None => self.first_unpaused(self.some_ready),
            Some(memory) => self.first_stored(memory),
        };
        if !self.control.is_empty() {
            next = next.min(self.control_from());
        }
        for (class, waiting) in self.feedback.iter().enumerate() {
            if !waiting.is_empty() {
                next = next.min(self.feedback_from(class));
            }
        }
        if self.memory.is_some() {
            // What has been paced goes to the memory, for which the wire need not be free. What is
            // ready has no room there until a frame leaves.
            return paced.min(next.max(self.tx.busy_until));
        }
        paced.min(next).max(self.tx.busy_until)
    }

    /// When the first of these classes may send; [`Instant::NEVER`] if there is none.
    #[inline(always)]
    fn first_unpaused(&self, classes: u8) -> Instant {
        if classes == 0 {
            return Instant::NEVER;
        }
        // Nearly always: what is asked for is when the wire is free then.
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
    }

    /// With Directional Rate Control: what it holds back.
    pub(super) fn regulated(&self) -> Option<&Regulated> {
        self.memory.as_ref()?.regulated.as_ref()
    }

    /// Senders that were kept and find room in the memory by now have their turns again.
    pub(super) fn unpark(&mut self) {
        while let Some((slot, class)) = self.memory.as_mut().and_then(|memory| memory.unpark()) {
            self.make_ready(slot, class);
        }
    }

    /// Whether the sender in this slot finds no room in the memory although others may; then it is
    /// kept until it does.
    pub(super) fn parks(&mut self, slot: u32, senders: &[Option<Box<Sender>>]) -> bool {
        let Some(memory) = self.memory.as_mut().filter(|_| slot != MADE) else { return false };
        let sender = senders[slot as usize].as_ref();
        let sender = sender.expect("a sender leaves the NIC before it ends");
        memory.parks(slot, sender.class, (sender.dst(), sender.flow))
    }

    /// When the first of the frames in the memory may be sent.
    fn first_stored(&self, memory: &Memory) -> Instant {
        let waiting = (0..CLASSES).filter(|class| memory.waiting() >> class & 1 != 0);
        let may =
            waiting.map(|class| self.first_unpaused(1 << class).max(memory.eligible_at(class)));
        may.min().unwrap_or(Instant::NEVER)
    }

    /// Takes the next frame out of the memory that may be sent now, if there is one.
    pub(super) fn take_stored(&mut self, now: Instant) -> Option<Packet> {
        let stopped = self.stopped(now);
        self.memory.as_mut()?.pop(stopped, &self.tx, now)
    }
}
