//! Frames in flight, stored by the window of their arrival.
//!
//! A frame sent in one window arrives in a later one, so the arrivals of a window are complete when
//! the window begins, and no event list is needed. Frames are appended to the list of their window,
//! which is fast because the same few lists are in use all the time, and are sorted once
//! ([`Order`](crate::order::Order)).

use std::collections::BTreeMap;

use floodway_model::{Instant, NodeId};

use crate::frame::Frame;
use crate::windows::Windows;

/// The arrival of a frame at a node; the frame carries the ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<F> {
    /// Time at which its last bit has arrived and the latencies of its link have passed, in
    /// picoseconds from the beginning of the window.
    pub after: u32,
    /// Place of the receiving node on its thread.
    pub place: u32,
    /// The frame.
    pub frame: F,
}

/// Arrivals handed over to another thread.
#[derive(Debug)]
pub struct Parcel<F> {
    window: u64,
    arrivals: Vec<Arrival<F>>,
}

impl<F> Parcel<F> {
    /// These arrivals in a window.
    pub(crate) fn new(window: u64, arrivals: Vec<Arrival<F>>) -> Self {
        Self { window, arrivals }
    }

    /// Its window, and the arrivals.
    pub(crate) fn parts(&self) -> (u64, &[Arrival<F>]) {
        (self.window, &self.arrivals)
    }

    /// Its frames, always in the same order.
    pub fn frames(&mut self) -> impl Iterator<Item = &mut F> {
        self.arrivals.iter_mut().map(|arrival| &mut arrival.frame)
    }
}

/// The frames that one thread has sent: those to its own nodes, which it also reads from here, and
/// those to nodes of other threads, which it hands over at the end of every window.
#[derive(Debug)]
pub struct Wire<F> {
    windows: Windows,
    /// The current window.
    current: u64,
    /// Number of upcoming windows that have lists, a power of two; later arrivals are in `far`.
    ring: u64,
    /// List for thread t and window w: `lists[t * ring + w % ring]`.
    lists: Vec<Vec<Arrival<F>>>,
    /// Later arrivals, by window and thread: those for this thread and those for others.
    far: BTreeMap<(u64, u16), Vec<Arrival<F>>>,
    far_others: BTreeMap<(u64, u16), Vec<Arrival<F>>>,
    /// By node.
    targets: Vec<Target>,
    /// Number of this thread.
    thread: u16,
    threads: u16,
    /// Earliest window for which frames were handed over since the last call of `next_window`.
    sent_ahead: u64,
    /// Emptied lists from other threads, reused for lists handed over from here.
    spare: Vec<Vec<Arrival<F>>>,
}

/// Where frames to a node go.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// First list of its thread.
    first: u32,
    /// Its place there.
    place: u32,
}

impl<F: Frame> Wire<F> {
    /// A wire with nothing in flight. `owner` is the thread of each node.
    pub(crate) fn new(
        windows: Windows,
        ring: u64,
        owner: &[u16],
        (thread, threads): (u16, u16),
    ) -> Self {
        assert!(ring.is_power_of_two());
        let lists = usize::from(threads) * ring as usize;
        let target =
            |&thread: &u16| Target { first: u32::from(thread) * ring as u32, place: u32::MAX };
        let targets = owner.iter().map(target).collect();
        Self {
            windows,
            current: 0,
            ring,
            lists: (0..lists).map(|_| Vec::new()).collect(),
            far: BTreeMap::new(),
            far_others: BTreeMap::new(),
            targets,
            thread,
            threads,
            sent_ahead: u64::MAX,
            spare: Vec::new(),
        }
    }

    /// Tells it the place of each node on its thread, before anything is sent.
    pub(crate) fn set_places(&mut self, places: &[u32]) {
        self.targets.iter_mut().zip(places).for_each(|(target, place)| target.place = *place);
    }

    #[inline]
    fn list(&self, thread: u16, window: u64) -> usize {
        usize::from(thread) * self.ring as usize + (window & (self.ring - 1)) as usize
    }

    /// Sends a frame to a node, where it arrives at `at`, in a window after the current one. `seal`
    /// sets the fields that change on the link, such as the ingress port.
    #[inline]
    pub fn send(&mut self, to: NodeId, at: Instant, frame: &F, seal: impl FnOnce(&mut F)) {
        let (window, after) = self.windows.split(at);
        debug_assert!(window > self.current, "a link shorter than the window");
        let Target { first, place } = self.targets[to.index()];
        let list = &mut self.lists[first as usize + (window & (self.ring - 1)) as usize];
        // The rare cases have a function with the same arguments that returns to the caller of this one, so that
        // nothing has to be saved for them.
        if window - self.current >= self.ring || list.len() == list.capacity() {
            return self.send_rarely(to, at, frame, seal);
        }
        list.push(Arrival { after, place, frame: *frame });
        // Sealed in place, after the copy, so that the frame is copied unchanged.
        if let Some(Arrival { frame, .. }) = list.last_mut() {
            seal(frame);
        }
    }

    /// Sends a frame to a list that has no room, or beyond the ring.
    #[cold]
    #[inline(never)]
    fn send_rarely(&mut self, to: NodeId, at: Instant, frame: &F, seal: impl FnOnce(&mut F)) {
        let (window, after) = self.windows.split(at);
        let Target { first, place } = self.targets[to.index()];
        let mut arrival = Arrival { after, place, frame: *frame };
        seal(&mut arrival.frame);
        let thread = (u64::from(first) / self.ring) as u16;
        if window - self.current < self.ring {
            let list = self.list(thread, window);
            return self.lists[list].push(arrival);
        }
        let far = if thread == self.thread { &mut self.far } else { &mut self.far_others };
        far.entry((window, thread)).or_default().push(arrival);
    }

    /// Advances to window `current`, whose list can then be taken.
    pub(crate) fn advance(&mut self, current: u64) {
        self.current = current;
        // Later arrivals may now be within the ring.
        while let Some(entry) = self.far.first_entry() {
            let (window, thread) = *entry.key();
            if window - current >= self.ring {
                break;
            }
            let mut arrivals = entry.remove();
            let list = self.list(thread, window);
            self.lists[list].append(&mut arrivals);
        }
    }

    /// The arrivals at this thread's nodes in the current window. Return the list with
    /// [`Wire::restore`].
    pub(crate) fn take(&mut self) -> Vec<Arrival<F>> {
        let list = self.list(self.thread, self.current);
        std::mem::take(&mut self.lists[list])
    }

    /// Returns the list of [`Wire::take`], so that its allocation is reused. It is empty, except for
    /// frames that are still in flight because the run ends within the window.
    pub(crate) fn restore(&mut self, arrivals: Vec<Arrival<F>>) {
        let list = self.list(self.thread, self.current);
        self.lists[list] = arrivals;
    }

    /// Moves all frames for nodes of other threads to `parcels`, with the thread.
    pub(crate) fn hand_over(&mut self, parcels: &mut Vec<(u16, Parcel<F>)>) {
        for thread in (0..self.threads).filter(|&thread| thread != self.thread) {
            for window in self.current + 1..self.current + self.ring {
                let list = self.list(thread, window);
                if !self.lists[list].is_empty() {
                    let spare = self.spare.pop().unwrap_or_default();
                    let arrivals = std::mem::replace(&mut self.lists[list], spare);
                    self.sent_ahead = self.sent_ahead.min(window);
                    parcels.push((thread, Parcel { window, arrivals }));
                }
            }
        }
        while let Some(((window, thread), arrivals)) = self.far_others.pop_first() {
            self.sent_ahead = self.sent_ahead.min(window);
            parcels.push((thread, Parcel { window, arrivals }));
        }
    }

    /// Reuses the list of frames that were handed over to another process, in another form.
    pub(crate) fn recycle(&mut self, parcel: Parcel<F>) {
        let Parcel { mut arrivals, .. } = parcel;
        arrivals.clear();
        self.keep(arrivals);
    }

    /// Keeps an empty list. Frames from another process come in new ones, so there may be more than are needed.
    fn keep(&mut self, arrivals: Vec<Arrival<F>>) {
        if self.spare.len() < self.lists.len() {
            self.spare.push(arrivals);
        }
    }

    /// Accepts frames that another thread handed over.
    pub(crate) fn accept(&mut self, parcel: Parcel<F>) {
        let Parcel { window, mut arrivals } = parcel;
        if window - self.current < self.ring {
            let list = self.list(self.thread, window);
            self.lists[list].append(&mut arrivals);
            self.keep(arrivals);
        } else {
            self.far.entry((window, self.thread)).or_default().append(&mut arrivals);
        }
    }

    /// The first window after the current one with arrivals here or among the frames handed over
    /// since the last call; `u64::MAX` if there is none.
    pub(crate) fn next_window(&mut self) -> u64 {
        let near = (self.current + 1..self.current + self.ring)
            .find(|&window| !self.lists[self.list(self.thread, window)].is_empty())
            .unwrap_or(u64::MAX);
        let far = self.far.first_key_value().map_or(u64::MAX, |((window, _), _)| *window);
        near.min(far).min(std::mem::replace(&mut self.sent_ahead, u64::MAX))
    }

    /// All frames in flight, in no particular order.
    pub fn in_flight(&self) -> impl Iterator<Item = &F> {
        let far = self.far.values().chain(self.far_others.values());
        self.lists.iter().chain(far).flatten().map(|arrival| &arrival.frame)
    }
}

/// Largest number of ports of a node.
pub const MAX_PORTS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::{Pebble, pebble};
    use floodway_model::{Duration, PortIx};

    #[test]
    fn frames_wait_near_and_far_and_cross_threads() {
        let windows = Windows::new(Duration(100), 2);
        let mut first: Wire<Pebble> = Wire::new(windows, 4, &[0, 1], (0, 2));
        let mut second = Wire::new(windows, 4, &[0, 1], (1, 2));
        first.set_places(&[3, 5]);
        for (to, at) in [(0, 150), (0, 900), (1, 250), (1, 5_000)] {
            let seal = |frame: &mut Pebble| frame.ingress = PortIx(7);
            first.send(NodeId(to), Instant(at), &pebble(0, false), seal);
        }
        assert_eq!(first.in_flight().count(), 4);
        let mut parcels = Vec::new();
        first.hand_over(&mut parcels);
        for (thread, parcel) in parcels {
            assert_eq!(thread, 1);
            second.accept(parcel);
        }
        assert_eq!((first.next_window(), second.next_window()), (1, 2));
        assert_eq!(first.next_window(), 1);
        first.advance(1);
        let mut taken = first.take();
        assert_eq!((taken.len(), taken[0].after, taken[0].place), (1, 50, 3));
        assert_eq!(taken[0].frame.ingress, PortIx(7));
        taken.clear();
        first.restore(taken);
        assert_eq!(first.next_window(), 9);
        for window in [2, 50] {
            second.advance(window);
            let mut taken = second.take();
            assert_eq!(taken.len(), 1);
            let arrival = taken.pop().unwrap();
            assert_eq!((arrival.frame.ingress, arrival.place), (PortIx(7), 5));
            second.restore(taken);
        }
    }
}
