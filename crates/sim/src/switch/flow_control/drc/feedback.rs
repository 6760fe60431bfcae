//! The side that observes: how severe congestion is at each output port, and when which neighbour
//! is to be told.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_model::{Body, Bytes, Duration, Instant};

use super::{DIRECTIONS, Spec, Statuses};

/// What a switch tells its neighbours of its output ports.
#[derive(Debug)]
pub struct Feedback {
    rises: [u64; 3],
    falls: [u64; 3],
    mask: u8,
    interval: Duration,
    min_gap: Duration,
    /// By group of ports.
    statuses: Vec<Statuses>,
    /// By port.
    neighbours: Vec<Neighbour>,
    /// Neighbours of which something is due, and when the gap before the frame is over.
    later: BinaryHeap<Reverse<(Instant, u16)>>,
    repeats_at: Instant,
    /// Frames sent.
    pub frames: u64,
}

/// What is due to a neighbour. While anything is, either the end of the gap is waited for or a
/// frame waits for the wire.
#[derive(Clone, Debug)]
struct Neighbour {
    /// The groups that it is to be told of, in the order of their turns.
    due: VecDeque<u16>,
    /// The next frame may not leave before this.
    not_before: Instant,
}

impl Feedback {
    /// Of a switch with this many ports, each with this memory: no port has anything in it, and
    /// nothing has been told.
    pub fn new(spec: &Spec, memory: Bytes, ports: usize) -> Self {
        let neighbour = Neighbour { due: VecDeque::new(), not_before: Instant::ZERO };
        Self {
            rises: spec.rises(memory),
            falls: spec.falls(memory),
            mask: spec.mask(),
            interval: spec.interval,
            min_gap: spec.min_gap,
            statuses: vec![Statuses::default(); ports.div_ceil(DIRECTIONS)],
            neighbours: vec![neighbour; ports],
            later: BinaryHeap::new(),
            repeats_at: Instant::ZERO + spec.interval,
            frames: 0,
        }
    }

    /// The severity of congestion at an output port, 0 to 3.
    pub fn severity(&self, port: usize) -> u8 {
        self.statuses[port / DIRECTIONS].severity(port % DIRECTIONS)
    }

    /// So many data bytes wait at an output port now. Whether that changes its severity, and so
    /// makes feedback due to all neighbours.
    pub fn observe(&mut self, port: usize, bytes: u64, now: Instant) -> bool {
        let before = self.severity(port);
        let count = |marks: &[u64; 3]| marks.iter().filter(|&&mark| bytes >= mark).count() as u8;
        // At least what has been reached, and at most what has not been left.
        let severity = before.max(count(&self.rises)).min(count(&self.falls));
        if severity == before {
            return false;
        }
        let group = port / DIRECTIONS;
        self.statuses[group].set(port % DIRECTIONS, severity);
        self.tell_all(group as u16, now);
        true
    }

    fn tell_all(&mut self, group: u16, now: Instant) {
        for (port, neighbour) in self.neighbours.iter_mut().enumerate() {
            if neighbour.due.is_empty() {
                self.later.push(Reverse((neighbour.not_before.max(now), port as u16)));
            }
            if !neighbour.due.contains(&group) {
                neighbour.due.push_back(group);
            }
        }
    }

    /// Makes everything due if the time to repeat it has come.
    pub fn repeat(&mut self, now: Instant) {
        if self.repeats_at <= now {
            self.repeats_at += self.interval;
            (0..self.statuses.len()).for_each(|group| self.tell_all(group as u16, now));
        }
    }

    /// When something becomes due by itself.
    pub fn next_due(&self) -> Instant {
        let later = self.later.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        later.min(self.repeats_at)
    }

    /// The port of a neighbour for whom a frame is to be put before the wire now; what it says is
    /// decided when it leaves.
    pub fn next(&mut self, now: Instant) -> Option<usize> {
        let &Reverse((at, port)) = self.later.peek()?;
        if at > now {
            return None;
        }
        self.later.pop();
        Some(usize::from(port))
    }

    /// A feedback frame leaves by `port`: what it says.
    pub fn leave(&mut self, port: usize, now: Instant) -> Body {
        let neighbour = &mut self.neighbours[port];
        let group = neighbour.due.pop_front().expect("a frame waits only if something is due");
        neighbour.not_before = now + self.min_gap;
        if !neighbour.due.is_empty() {
            self.later.push(Reverse((neighbour.not_before, port as u16)));
        }
        self.frames += 1;
        Body::Drc { group, mask: self.mask, statuses: self.statuses[usize::from(group)].0 }
    }
}
