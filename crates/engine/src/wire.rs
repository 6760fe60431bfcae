//! Where frames on the wire wait: by the window of their arrival.
//!
//! A frame sent in one window arrives in a later one, so what arrives in a window is complete when
//! the window begins and needs no event list. Frames are appended to the list of their window, which
//! is fast because it is always the same few lists, and are put in order once
//! ([`Order`](crate::order::Order)).

use std::collections::BTreeMap;

use floodway_model::{Instant, NodeId};

use crate::frame::Frame;
use crate::windows::Windows;

/// A frame that arrives at a node, at the port that it says.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<F> {
    /// When its last bit has arrived and been processed as far as its link's latencies say, from the
    /// beginning of the window, in picoseconds.
    pub after: u32,
    /// The node.
    pub to: NodeId,
    /// The frame.
    pub frame: F,
}

/// Arrivals on their way to another thread.
#[derive(Debug)]
pub struct Parcel<F> {
    window: u64,
    arrivals: Vec<Arrival<F>>,
}

/// The frames that one thread has sent to its own nodes, from which it also reads, and those for the
/// other threads' nodes, which it hands over at the end of every window.
#[derive(Debug)]
pub struct Wire<F> {
    windows: Windows,
    /// The window being simulated.
    current: u64,
    /// Windows ahead that have lists, a power of two; what arrives later waits in `far`.
    ring: u64,
    /// For thread t in window w: `lists[t * ring + w % ring]`.
    lists: Vec<Vec<Arrival<F>>>,
    /// By window and thread, those for this thread and those for others.
    far: BTreeMap<(u64, u16), Vec<Arrival<F>>>,
    far_others: BTreeMap<(u64, u16), Vec<Arrival<F>>>,
    /// The thread of each node, and this one.
    owner: Vec<u16>,
    thread: u16,
    threads: u16,
    /// The earliest window for which something was handed over since last asked.
    sent_ahead: u64,
    /// Memory of what was handed over here, for what will be from here.
    spare: Vec<Vec<Arrival<F>>>,
}

impl<F: Frame> Wire<F> {
    /// Nothing is sent yet. `owner` gives each node's thread, of so many.
    pub(crate) fn new(
        windows: Windows,
        ring: u64,
        owner: Vec<u16>,
        (thread, threads): (u16, u16),
    ) -> Self {
        assert!(ring.is_power_of_two());
        let lists = usize::from(threads) * ring as usize;
        Self {
            windows,
            current: 0,
            ring,
            lists: (0..lists).map(|_| Vec::new()).collect(),
            far: BTreeMap::new(),
            far_others: BTreeMap::new(),
            owner,
            thread,
            threads,
            sent_ahead: u64::MAX,
            spare: Vec::new(),
        }
    }

    #[inline]
    fn place(&self, thread: u16, window: u64) -> usize {
        usize::from(thread) * self.ring as usize + (window & (self.ring - 1)) as usize
    }

    /// Sends a frame on its way to a node, where it arrives at `at`, in a later window than the current
    /// one. `seal` writes into it what changes on the way, such as its port there.
    #[inline]
    pub fn send(&mut self, to: NodeId, at: Instant, frame: &F, seal: impl FnOnce(&mut F)) {
        let (window, after) = self.windows.split(at);
        debug_assert!(window > self.current, "a link shorter than the window");
        let thread = self.owner[to.index()];
        if window - self.current >= self.ring {
            let mut frame = *frame;
            seal(&mut frame);
            return self.send_far((window, thread), Arrival { after, to, frame });
        }
        let place = self.place(thread, window);
        let list = &mut self.lists[place];
        list.push(Arrival { after, to, frame: *frame });
        // There and not before, so that it is copied as it is.
        if let Some(Arrival { frame, .. }) = list.last_mut() {
            seal(frame);
        }
    }

    #[cold]
    fn send_far(&mut self, list: (u64, u16), arrival: Arrival<F>) {
        let far = if list.1 == self.thread { &mut self.far } else { &mut self.far_others };
        far.entry(list).or_default().push(arrival);
    }

    /// Moves on to window `current`: from now on its list can be taken.
    pub(crate) fn advance(&mut self, current: u64) {
        self.current = current;
        // What was far may now be within the ring.
        while let Some(entry) = self.far.first_entry() {
            let (window, thread) = *entry.key();
            if window - current >= self.ring {
                break;
            }
            let mut arrivals = entry.remove();
            let place = self.place(thread, window);
            self.lists[place].append(&mut arrivals);
        }
    }

    /// What arrives at the own nodes in the current window. Give the list back with
    /// [`Wire::restore`].
    pub(crate) fn take(&mut self) -> Vec<Arrival<F>> {
        let place = self.place(self.thread, self.current);
        std::mem::take(&mut self.lists[place])
    }

    /// Gives the list of [`Wire::take`] back, so that its memory serves again: emptied, but for what
    /// is still on the wire because the run ends within the window.
    pub(crate) fn restore(&mut self, arrivals: Vec<Arrival<F>>) {
        let place = self.place(self.thread, self.current);
        self.lists[place] = arrivals;
    }

    /// Takes out everything for nodes of other threads and gives it to `deliver` with the thread.
    pub(crate) fn hand_over(&mut self, mut deliver: impl FnMut(u16, Parcel<F>)) {
        for thread in (0..self.threads).filter(|&thread| thread != self.thread) {
            for window in self.current + 1..self.current + self.ring {
                let place = self.place(thread, window);
                if !self.lists[place].is_empty() {
                    let spare = self.spare.pop().unwrap_or_default();
                    let arrivals = std::mem::replace(&mut self.lists[place], spare);
                    self.sent_ahead = self.sent_ahead.min(window);
                    deliver(thread, Parcel { window, arrivals });
                }
            }
        }
        while let Some(((window, thread), arrivals)) = self.far_others.pop_first() {
            self.sent_ahead = self.sent_ahead.min(window);
            deliver(thread, Parcel { window, arrivals });
        }
    }

    /// Takes in what another thread handed over.
    pub(crate) fn accept(&mut self, parcel: Parcel<F>) {
        let Parcel { window, mut arrivals } = parcel;
        if window - self.current < self.ring {
            let place = self.place(self.thread, window);
            self.lists[place].append(&mut arrivals);
            self.spare.push(arrivals);
        } else {
            self.far.entry((window, self.thread)).or_default().append(&mut arrivals);
        }
    }

    /// The next window after the current one for which there are arrivals here or among what was
    /// handed over since the last call; `u64::MAX` if there is none.
    pub(crate) fn next_window(&mut self) -> u64 {
        let near = (self.current + 1..self.current + self.ring)
            .find(|&window| !self.lists[self.place(self.thread, window)].is_empty())
            .unwrap_or(u64::MAX);
        let far = self.far.first_key_value().map_or(u64::MAX, |((window, _), _)| *window);
        near.min(far).min(std::mem::replace(&mut self.sent_ahead, u64::MAX))
    }

    /// All frames on the wire, in no particular order.
    pub fn in_flight(&self) -> impl Iterator<Item = &F> {
        let far = self.far.values().chain(self.far_others.values());
        self.lists.iter().chain(far).flatten().map(|arrival| &arrival.frame)
    }
}

/// The most ports of a node.
pub const MAX_PORTS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::{Pebble, pebble};
    use floodway_model::{Duration, PortIx};

    #[test]
    fn frames_wait_near_and_far_and_cross_threads() {
        let windows = Windows::new(Duration(100), 2);
        let mut first: Wire<Pebble> = Wire::new(windows, 4, vec![0, 1], (0, 2));
        let mut second = Wire::new(windows, 4, vec![0, 1], (1, 2));
        for (to, at) in [(0, 150), (0, 900), (1, 250), (1, 5_000)] {
            let seal = |frame: &mut Pebble| frame.ingress = PortIx(7);
            first.send(NodeId(to), Instant(at), &pebble(0, false), seal);
        }
        assert_eq!(first.in_flight().count(), 4);
        first.hand_over(|thread, parcel| {
            assert_eq!(thread, 1);
            second.accept(parcel);
        });
        assert_eq!((first.next_window(), second.next_window()), (1, 2));
        assert_eq!(first.next_window(), 1);
        first.advance(1);
        let mut taken = first.take();
        assert_eq!((taken.len(), taken[0].after), (1, 50));
        assert_eq!(taken[0].frame.ingress, PortIx(7));
        taken.clear();
        first.restore(taken);
        assert_eq!(first.next_window(), 9);
        for window in [2, 50] {
            second.advance(window);
            let mut taken = second.take();
            assert_eq!(taken.len(), 1);
            assert_eq!(taken.pop().unwrap().frame.ingress, PortIx(7));
            second.restore(taken);
        }
    }
}
