//! The observing side: the severity of congestion at each output port, and when to report it to
//! which neighbor.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_model::{Body, Bytes, Duration, Instant};

use super::{DIRECTIONS, Spec, Statuses};

/// Feedback of a switch about its output ports.
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
    neighbors: Vec<Neighbor>,
    /// Neighbors with feedback due, and when the gap before the next frame to them ends.
    later: BinaryHeap<Reverse<(Instant, u16)>>,
    repeats_at: Instant,
    /// Frames sent.
    pub frames: u64,
}

/// Feedback due to a neighbor. While any is due, either the gap has not ended or a frame is queued
/// for the wire.
#[derive(Clone, Debug)]
struct Neighbor {
    /// The groups of ports to report, in round-robin order.
    due: VecDeque<u16>,
    /// Earliest departure of the next frame.
    not_before: Instant,
}

impl Feedback {
    /// Initial state of a switch with this many ports, each with a buffer of this size: all ports
    /// are empty, and nothing has been reported.
    pub fn new(spec: &Spec, buffer: Bytes, ports: usize) -> Self {
        let neighbor = Neighbor { due: VecDeque::new(), not_before: Instant::ZERO };
        Self {
            rises: spec.rises(buffer),
            falls: spec.falls(buffer),
            mask: spec.mask(),
            interval: spec.interval,
            min_gap: spec.min_gap,
            statuses: vec![Statuses::default(); ports.div_ceil(DIRECTIONS)],
            neighbors: vec![neighbor; ports],
            later: BinaryHeap::new(),
            repeats_at: Instant::ZERO + spec.interval,
            frames: 0,
        }
    }

    /// The severity of congestion at an output port, 0 to 3.
    pub fn severity(&self, port: usize) -> u8 {
        self.statuses[port / DIRECTIONS].severity(port % DIRECTIONS)
    }

    /// Updates the data bytes queued at an output port. Returns whether that changes its severity,
    /// so that feedback to all neighbors is due.
    pub fn observe(&mut self, port: usize, bytes: u64, now: Instant) -> bool {
        let before = self.severity(port);
        let count = |marks: &[u64; 3]| marks.iter().filter(|&&mark| bytes >= mark).count() as u8;
        // At least the severity whose threshold is reached, at most the one whose hysteresis is not
        // left.
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
        for (port, neighbor) in self.neighbors.iter_mut().enumerate() {
            if neighbor.due.is_empty() {
                self.later.push(Reverse((neighbor.not_before.max(now), port as u16)));
            }
            if !neighbor.due.contains(&group) {
                neighbor.due.push_back(group);
            }
        }
    }

    /// Makes all feedback due if the repeat interval has ended.
    pub fn repeat(&mut self, now: Instant) {
        if self.repeats_at <= now {
            self.repeats_at += self.interval;
            (0..self.statuses.len()).for_each(|group| self.tell_all(group as u16, now));
        }
    }

    /// When feedback next becomes due without a change of severity.
    pub fn next_due(&self) -> Instant {
        let later = self.later.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        later.min(self.repeats_at)
    }

    /// The port of a neighbor for which a frame is to be queued for the wire now; the content is
    /// determined when it leaves.
    pub fn next(&mut self, now: Instant) -> Option<usize> {
        let &Reverse((at, port)) = self.later.peek()?;
        if at > now {
            return None;
        }
        self.later.pop();
        Some(usize::from(port))
    }

    /// A feedback frame leaves by `port`: returns its content.
    pub fn leave(&mut self, port: usize, now: Instant) -> Body {
        let neighbor = &mut self.neighbors[port];
        let group = neighbor.due.pop_front().expect("a frame waits only if something is due");
        neighbor.not_before = now + self.min_gap;
        if !neighbor.due.is_empty() {
            self.later.push(Reverse((neighbor.not_before, port as u16)));
        }
        self.frames += 1;
        Body::Drc { group, mask: self.mask, statuses: self.statuses[usize::from(group)].0 }
    }
}
