//! The frames of a flow that are on their way, or have arrived not long ago, by their keys.

use std::collections::VecDeque;

use floodway_model::{Instant, NodeId};

use super::flow::Key;
use super::port::Logs;
use super::trip::{Hop, Trip};

/// Nodes of which the likely frame is known. Other frames are found by bisection.
const NODES: usize = 16;

/// Frames in the order of their keys.
#[derive(Debug, Default)]
pub struct Frames {
    all: VecDeque<(Key, Trip)>,
    /// Number of frames that were forgotten from the front.
    forgotten: u64,
    /// By node, the place of the frame that is likely to be looked for there next, counted with those that were
    /// forgotten: in a node frames of a flow follow each other.
    next: Vec<(NodeId, u64)>,
    /// Room for hops, of frames that were forgotten.
    spare: Vec<Vec<Hop>>,
}

impl Frames {
    /// The frame of this key, which is looked for at a node.
    pub fn find(&mut self, node: NodeId, key: Key) -> Option<&mut Trip> {
        let of_node = self.next.iter().position(|(known, _)| *known == node);
        let likely = of_node.map(|of| (self.next[of].1.wrapping_sub(self.forgotten)) as usize);
        let is_it = |at: &usize| self.all.get(*at).is_some_and(|(of, _)| *of == key);
        let at = match likely.filter(is_it) {
            Some(at) => at,
            None => self.all.binary_search_by_key(&key, |(key, _)| *key).ok()?,
        };
        let next = self.forgotten + at as u64 + 1;
        match of_node {
            Some(of) => self.next[of].1 = next,
            // A flow whose packets are sprayed visits many nodes.
            None if self.next.len() < NODES => self.next.push((node, next)),
            None => {}
        }
        Some(&mut self.all[at].1)
    }

    /// The frame of this key.
    pub fn get(&self, key: Key) -> Option<&Trip> {
        let at = self.all.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(&self.all[at].1)
    }

    /// The first frame that its sender sent at this time.
    pub fn sent_at(&self, time: Instant) -> Option<&Trip> {
        let at = self.all.partition_point(|(key, _)| key.0 < time);
        self.all.get(at).filter(|(key, _)| key.0 == time).map(|(_, trip)| trip)
    }

    /// The frame with the largest key.
    pub fn last(&self) -> Option<Key> {
        self.all.back().map(|(key, _)| *key)
    }

    /// When the sender sent the frame with the smallest key.
    pub fn first(&self) -> Option<Instant> {
        self.all.front().map(|(key, _)| key.0)
    }

    /// Adds a frame that `node` sends at `at`, after those with smaller keys.
    pub fn add(&mut self, key: Key, node: NodeId, at: Instant) -> &mut Trip {
        let trip = Trip::with(self.spare.pop().unwrap_or_default(), node, at);
        let place = match self.all.back() {
            Some((last, _)) if *last > key => self.all.partition_point(|(of, _)| *of <= key),
            _ => self.all.len(),
        };
        match place == self.all.len() {
            true => self.all.push_back((key, trip)),
            false => self.all.insert(place, (key, trip)),
        }
        &mut self.all[place].1
    }

    /// Removes the frame of this key, which is lost; whether there was one.
    pub fn remove(&mut self, key: Key, logs: &mut Logs) -> bool {
        let at = self.all.binary_search_by_key(&key, |(key, _)| *key);
        let Some((_, trip)) = at.ok().and_then(|at| self.all.remove(at)) else { return false };
        trip.waits_at.into_iter().for_each(|place| logs.unwatch(place));
        true
    }

    /// Forgets frames that were sent before `time`, and the oldest until at most so many are left.
    pub fn forget(&mut self, time: Instant, most: usize, logs: &mut Logs) {
        while self.all.front().is_some_and(|(key, _)| key.0 < time) || self.all.len() > most {
            let Some((_, trip)) = self.all.pop_front() else { return };
            trip.waits_at.into_iter().for_each(|place| logs.unwatch(place));
            self.forgotten += 1;
            self.spare.push(trip.into_room());
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Trip)> {
        self.all.iter().map(|(key, trip)| (key, trip))
    }

    /// All of them, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Trip> {
        self.all.iter_mut().map(|(_, trip)| trip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_and_out_of_turn() {
        let key = |at: u64| (Instant(at), at as u32);
        let mut frames = Frames::default();
        for at in [10, 20, 30, 50] {
            frames.add(key(at), NodeId(0), Instant(at));
        }
        frames.add(key(40), NodeId(0), Instant(40));
        let at = |frames: &mut Frames, node: u32, time: u64| {
            frames.find(NodeId(node), key(time)).map(|trip| trip.at.0)
        };
        for time in [10, 20, 40, 30, 50, 10] {
            assert_eq!(at(&mut frames, 1, time), Some(time));
        }
        assert_eq!((at(&mut frames, 2, 35), frames.last()), (None, Some(key(50))));
        let logs = &mut Logs::new(&[], false);
        frames.forget(Instant(30), 10, logs);
        assert_eq!((frames.first(), at(&mut frames, 1, 20)), (Some(Instant(30)), None));
        assert_eq!((at(&mut frames, 1, 30), at(&mut frames, 1, 40)), (Some(30), Some(40)));
        assert!(frames.remove(key(40), logs) && !frames.remove(key(40), logs));
        assert_eq!(at(&mut frames, 1, 50), Some(50));
        frames.forget(Instant::ZERO, 1, logs);
        assert_eq!(frames.first(), Some(Instant(50)));
        assert_eq!(frames.sent_at(Instant(50)).map(|trip| trip.node), Some(NodeId(0)));
    }
}
