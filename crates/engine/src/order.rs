//! The order of events in a window: which nodes have something to do, and which frames arrive at each.
//!
//! A node is identified by its place on this thread. Nodes run in order of place, so their states are
//! accessed in memory order. The arrivals at a node are sorted by 8-byte keys.

use std::ops::Range;

use crate::frame::Frame;
use crate::windows::{Windows, port_bits};
use crate::wire::Arrival;

/// The nodes that have something to do in one window, and the frames that arrive at them.
#[derive(Debug)]
pub struct Order {
    /// Bit p: the node at place p has something to do.
    due: Vec<u64>,
    /// Range of `keys`, by place. Empty between windows, and once its arrivals have been taken.
    frames: Vec<Frames>,
    /// Sort keys, grouped in order of place; within a place by (time, one-hop frames first, port),
    /// a combination that is unique among the arrivals at a node.
    keys: Vec<u64>,
    /// Number of low bits of a key that hold the index of an arrival; the port and the time are
    /// above them.
    index_bits: u32,
    port_bits: u32,
}

/// A range of keys.
#[derive(Clone, Copy, Debug, Default)]
struct Frames {
    count: u32,
    end: u32,
}

impl Order {
    /// For so many nodes with at most `ports` ports each.
    pub fn new(nodes: usize, ports: usize, windows: Windows) -> Self {
        let port_bits = port_bits(ports);
        let window_bits = u64::BITS - (windows.length().0 - 1).leading_zeros();
        Self {
            due: vec![0; nodes.div_ceil(WORD)],
            frames: vec![Frames::default(); nodes],
            keys: Vec::new(),
            index_bits: u64::BITS - 1 - port_bits - window_bits,
            port_bits,
        }
    }

    /// Sorts these arrivals by receiving node, replacing the previous order.
    pub fn arrange<F: Frame>(&mut self, arrivals: &[Arrival<F>]) {
        let count = arrivals.len() as u64;
        assert!(count >> self.index_bits == 0, "more frames in a window than keys name");
        for arrival in arrivals {
            let place = arrival.place as usize;
            self.due[place / WORD] |= 1 << (place % WORD);
            self.frames[place].count += 1;
        }
        let mut end = 0;
        for (word, &due) in self.due.iter().enumerate() {
            let mut due = due;
            while due != 0 {
                let bit = due.trailing_zeros() as usize;
                due &= due - 1;
                let frames = &mut self.frames[word * WORD + bit];
                frames.end = end;
                end += frames.count;
            }
        }
        self.keys.resize(arrivals.len(), 0);
        for (index, arrival) in arrivals.iter().enumerate() {
            let forwarded = u64::from(!arrival.frame.is_one_hop());
            let key = u64::from(arrival.after) << 1 | forwarded;
            let key = key << self.port_bits | u64::from(arrival.frame.ingress().0);
            let frames = &mut self.frames[arrival.place as usize];
            self.keys[frames.end as usize] = key << self.index_bits | index as u64;
            frames.end += 1;
        }
    }

    /// Marks the node at this place as having events of its own.
    #[inline]
    pub fn add(&mut self, place: usize) {
        self.due[place / WORD] |= 1 << (place % WORD);
    }

    /// First place at or after `place` whose node has something to do.
    #[inline]
    pub fn next_due(&self, place: usize) -> Option<usize> {
        let mut word = place / WORD;
        let mut due = self.due.get(word)? & u64::MAX << (place % WORD);
        while due == 0 {
            word += 1;
            due = *self.due.get(word)?;
        }
        Some(word * WORD + due.trailing_zeros() as usize)
    }

    /// Indices of the arrivals at the node at this place, in order. They can be taken only once.
    #[inline]
    pub fn take(&mut self, place: usize) -> impl Iterator<Item = usize> {
        let mask = (1 << self.index_bits) - 1;
        let taken = self.take_positions(place);
        self.keys[taken].iter().map(move |key| (key & mask) as usize)
    }

    /// The same as positions in the order of all arrivals of the window.
    #[inline]
    pub fn take_positions(&mut self, place: usize) -> Range<usize> {
        let Frames { count, end } = std::mem::take(&mut self.frames[place]);
        let positions = (end - count) as usize..end as usize;
        let keys = &mut self.keys[positions.clone()];
        sort(keys);
        positions
    }

    /// Index of the arrival at this position, if there is one. Arrivals at a node that have not been taken are not
    /// sorted yet.
    #[inline]
    pub fn index_at(&self, position: usize) -> Option<usize> {
        let mask = (1 << self.index_bits) - 1;
        self.keys.get(position).map(|key| (key & mask) as usize)
    }

    /// Prepares for the next window, when all events of this one have been handled.
    pub fn clear(&mut self) {
        self.due.fill(0);
    }
}

/// Sorts keys, which are different. Those of a node are few, and in no order that a processor could predict, so few keys
/// are sorted without a branch that depends on them.
#[inline]
fn sort(keys: &mut [u64]) {
    if keys.len() > FEW {
        // A host has one port, so its arrivals are sorted already.
        if !keys.is_sorted() {
            keys.sort_unstable();
        }
        return;
    }
    for last in 1..keys.len() {
        // The keys before are sorted; each moves up by one if this one goes before it.
        let (before, rest) = keys.split_at_mut(last);
        let mut largest = rest[0];
        for key in before {
            (*key, largest) = ((*key).min(largest), (*key).max(largest));
        }
        rest[0] = largest;
    }
}

/// Up to so many keys are sorted by comparing each with each.
const FEW: usize = 8;

/// Number of places per word.
const WORD: usize = u64::BITS as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::pebble;
    use crate::wire::MAX_PORTS;
    use floodway_model::Duration;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_and_many_keys_are_sorted(mut keys in proptest::collection::vec(any::<u64>(), 0..3 * FEW)) {
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys);
            prop_assert_eq!(keys, expected);
        }
    }

    #[test]
    fn arrivals_are_in_order_of_place_then_time_then_kind_then_port() {
        let make =
            |place, after, port, one_hop| Arrival { after, place, frame: pebble(port, one_hop) };
        let arrivals = [
            make(70, 5, 2, false),
            make(70, 1, 9, false),
            make(140, 0, 0, false),
            make(70, 5, 1, false),
            make(70, 5, 7, true),
            make(140, 0, 0, true),
            make(70, 0, 16_000, false),
        ];
        for length in [Duration(100), Duration(u64::MAX)] {
            let windows = Windows::new(length, MAX_PORTS);
            let mut order = Order::new(200, MAX_PORTS, windows);
            for _ in 0..2 {
                order.arrange(&arrivals);
                order.add(7);
                order.add(100);
                let mut due = vec![];
                let mut next = order.next_due(0);
                while let Some(place) = next {
                    due.push((place, order.take(place).collect::<Vec<_>>()));
                    next = order.next_due(place + 1);
                }
                let expected =
                    [(7, vec![]), (70, vec![6, 1, 4, 3, 0]), (100, vec![]), (140, vec![5, 2])];
                assert_eq!(due, expected);
                order.clear();
                assert_eq!(order.next_due(0), None);
            }
        }
    }
}
