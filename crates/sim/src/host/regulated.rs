//! Transmit buffer of a NIC with Directional Rate Control: queues by direction in each class, held
//! back as the switch has requested, and the senders that wait for room in one of them.
//!
//! The buffer of a class is shared by all directions while none is held back. A direction that is
//! held back gets at most as much as is still free, so that the others always find room (assumed:
//! neither deck nor patent says how the buffer is shared; the rule is that of dynamic thresholds
//! with a factor of 1).

use floodway_model::id::CLASSES;
use floodway_model::{Class, FlowId, Instant, NodeId, Packet};

use super::Host;
use crate::link::Transmitter;
use crate::switch::flow_control::drc::{Directions, Regulator, Statuses};

impl Host {
    /// Sets the regulator for the switch at the other end of the link. A NIC without a transmit
    /// buffer has nothing to hold back, so it ignores this.
    pub fn regulate(&mut self, regulator: Option<Box<Regulator>>) {
        if let Some(buffer) = &mut self.nic.buffer {
            buffer.regulated = regulator.map(Regulated::new);
        }
    }

    /// The switch has reported the severity of congestion at some of its output ports.
    pub(super) fn obey_feedback(&mut self, (group, mask, statuses): (u16, u8, u64), now: Instant) {
        let buffer = self.nic.buffer.as_mut();
        if let Some(regulated) = buffer.and_then(|buffer| buffer.regulated.as_mut()) {
            regulated.regulator.on_feedback(group, mask, Statuses(statuses), now);
        }
    }
}

/// The queues of all classes.
#[derive(Debug)]
pub struct Regulated {
    /// State reported by the switch.
    pub regulator: Box<Regulator>,
    classes: [OfClass; CLASSES],
}

#[derive(Debug)]
struct OfClass {
    frames: Directions<Packet>,
    /// Queued bytes, by direction.
    bytes: Vec<u64>,
    /// Senders that wait for room, by direction.
    parked: Vec<Vec<u32>>,
}

impl Regulated {
    /// How many directions are held back, over classes.
    pub(super) fn held(&self) -> u64 {
        (0..CLASSES).map(|class| self.regulator.held(class)).sum()
    }

    pub(super) fn new(regulator: Box<Regulator>) -> Self {
        let count = regulator.directions();
        let class = |_| OfClass {
            frames: Directions::new(count),
            bytes: vec![0; count],
            parked: vec![Vec::new(); count],
        };
        Self { classes: std::array::from_fn(class), regulator }
    }

    pub(super) fn push(&mut self, frame: Packet) {
        let direction = self.regulator.direction(frame.dst, frame.flow);
        let of = &mut self.classes[frame.class.index()];
        of.bytes[usize::from(direction)] += u64::from(frame.bytes);
        of.frames.push(direction, frame);
    }

    /// Selects the next frame in each of `classes`. Returns the bit mask of the classes that have a
    /// frame that may be sent now.
    pub(super) fn settle(&mut self, classes: u8, now: Instant) -> u8 {
        let mut may = 0;
        for class in (0..CLASSES).filter(|class| classes >> class & 1 != 0) {
            let some = self.classes[class].frames.settle(class, &self.regulator, now);
            may |= u8::from(some) << class;
        }
        may
    }

    /// Removes the frame selected by `settle` in a class, to send it now.
    pub(super) fn pop(&mut self, class: usize, tx: &Transmitter, now: Instant) -> Option<Packet> {
        let of = &mut self.classes[class];
        let (direction, frame) = of.frames.pop()?;
        of.bytes[usize::from(direction)] -= u64::from(frame.bytes);
        let spacing = self.regulator.spacing(direction, tx.wire_time(frame.bytes));
        of.frames.defer(direction, now + spacing);
        Some(frame)
    }

    /// Earliest time at which a frame of a nonempty class may be sent, unless feedback changes it.
    pub(super) fn eligible_at(&self, class: usize) -> Instant {
        self.classes[class].frames.next(class, &self.regulator)
    }

    /// Whether the frames of a flow find no room in `free` bytes although others would. Its sender
    /// is then parked.
    pub(super) fn parks(
        &mut self,
        slot: u32,
        class: Class,
        (dst, flow): (NodeId, FlowId),
        free: u64,
    ) -> bool {
        let direction = self.regulator.direction(dst, flow);
        let refuses = self.refuses(class.index(), direction, free);
        if refuses {
            self.classes[class.index()].parked[usize::from(direction)].push(slot);
        }
        refuses
    }

    /// Removes a parked sender that now has room within the `free` bytes of its class.
    pub(super) fn unpark(&mut self, class: usize, free: u64) -> Option<u32> {
        let directions = 0..self.regulator.directions() as u16;
        let some =
            |direction: &u16| !self.classes[class].parked[usize::from(*direction)].is_empty();
        let mut waiting = directions.filter(some);
        let found = waiting.find(|&direction| !self.refuses(class, direction, free))?;
        Some(self.classes[class].parked[usize::from(found)].remove(0))
    }

    fn refuses(&self, class: usize, direction: u16, free: u64) -> bool {
        let held_back = self.regulator.controls(class) && self.regulator.holds_back(direction);
        held_back && self.classes[class].bytes[usize::from(direction)] > free
    }

    /// Number of queued frames.
    pub(super) fn len(&self) -> usize {
        self.classes.iter().map(|of| of.frames.iter().count()).sum()
    }
}
