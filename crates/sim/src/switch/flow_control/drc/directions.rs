//! The frames of one class at one transmitter, by direction: which directions may be arbitrated,
//! and in which order.

use std::collections::VecDeque;

use floodway_model::Instant;

use super::Regulator;

/// The queue of one direction.
#[derive(Debug)]
struct Direction<T> {
    frames: VecDeque<T>,
    /// When it may be arbitrated again, if its class is controlled.
    eligible_at: Instant,
}

/// Queues by direction, served by round robin, one frame at a time. A direction that may not be
/// arbitrated when it is reached is skipped and keeps its place.
#[derive(Debug)]
pub struct Directions<T> {
    queues: Vec<Direction<T>>,
    /// Round-robin list of the directions with frames.
    round: VecDeque<u16>,
    /// The place in the list of the direction to be served, as last settled.
    turn: Option<usize>,
}

impl<T> Directions<T> {
    /// Empty queues of this many directions.
    pub fn new(count: usize) -> Self {
        let empty = || Direction { frames: VecDeque::new(), eligible_at: Instant::ZERO };
        Self { queues: (0..count).map(|_| empty()).collect(), round: VecDeque::new(), turn: None }
    }

    /// Appends a frame to the queue of its direction.
    pub fn push(&mut self, direction: u16, frame: T) {
        let frames = &mut self.queues[usize::from(direction)].frames;
        if frames.is_empty() {
            self.round.push_back(direction);
        }
        frames.push_back(frame);
    }

    /// When the queue of a direction may be arbitrated; [`Instant::NEVER`] while it is stopped.
    #[inline]
    pub fn eligible_at(&self, direction: u16, class: usize, regulator: &Regulator) -> Instant {
        if !regulator.controls(class) {
            Instant::ZERO
        } else if regulator.stops(direction) {
            Instant::NEVER
        } else {
            self.queues[usize::from(direction)].eligible_at
        }
    }

    /// Selects the direction to be served now. Returns whether there is one.
    pub fn settle(&mut self, class: usize, regulator: &Regulator, now: Instant) -> bool {
        let may = |&direction: &u16| self.eligible_at(direction, class, regulator) <= now;
        self.turn = self.round.iter().position(may);
        self.turn.is_some()
    }

    /// The earliest time at which a queued frame may be sent, unless feedback changes that.
    pub fn next(&self, class: usize, regulator: &Regulator) -> Instant {
        let of_round = self.round.iter();
        let times = of_round.map(|&direction| self.eligible_at(direction, class, regulator));
        times.min().unwrap_or(Instant::NEVER)
    }

    /// The frame to be served, as last settled.
    #[inline]
    pub fn head(&self) -> Option<&T> {
        let direction = self.round[self.turn?];
        self.queues[usize::from(direction)].frames.front()
    }

    /// The same, for modification.
    pub fn head_mut(&mut self) -> Option<&mut T> {
        let direction = self.round[self.turn?];
        self.queues[usize::from(direction)].frames.front_mut()
    }

    /// Removes that frame and returns it with its direction, which moves to the end of the list.
    pub fn pop(&mut self) -> Option<(u16, T)> {
        let direction = self.round.remove(self.turn.take()?)?;
        let frames = &mut self.queues[usize::from(direction)].frames;
        let frame = frames.pop_front()?;
        if !frames.is_empty() {
            self.round.push_back(direction);
        }
        Some((direction, frame))
    }

    /// A frame of this direction has been sent: its queue may be arbitrated again at `eligible_at`.
    pub fn defer(&mut self, direction: u16, eligible_at: Instant) {
        self.queues[usize::from(direction)].eligible_at = eligible_at;
    }

    /// The queued frames, direction by direction.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.queues.iter().flat_map(|queue| &queue.frames)
    }

    /// Whether exactly the directions with frames are in the list.
    pub fn is_consistent(&self) -> bool {
        let mut listed = vec![0; self.queues.len()];
        self.round.iter().for_each(|&direction| listed[usize::from(direction)] += 1);
        let some = self.queues.iter().map(|queue| u32::from(!queue.frames.is_empty()));
        some.eq(listed)
    }
}
