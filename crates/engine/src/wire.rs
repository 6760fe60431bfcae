//! Frames in flight, stored by the window of their arrival.
//!
//! A frame sent in one window arrives in a later one, so the arrivals of a window are complete when
//! the window begins, and no event list is needed. Frames are appended to the list of their window,
//! which is fast because the same few lists are in use all the time, and are sorted once
//! ([`Order`](crate::order::Order)).

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_model::{Instant, NodeId};

use crate::frame::Frame;
use crate::layout::Block;
use crate::windows::Windows;

/// The arrival of a frame at a node; the frame carries the ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<F> {
    /// Time at which its last bit has arrived and the latencies of its link have passed, in
    /// picoseconds from the beginning of the window.
    pub after: u32,
    /// Place of the receiving node in its block.
    pub place: u32,
    /// The frame.
    pub frame: F,
}

/// Arrivals handed over to another thread.
#[derive(Debug)]
pub struct Parcel<F> {
    /// Its block, among all blocks.
    block: u32,
    window: u64,
    arrivals: Vec<Arrival<F>>,
}

impl<F> Parcel<F> {
    /// These arrivals in a block and window.
    pub(crate) fn new(block: u32, window: u64, arrivals: Vec<Arrival<F>>) -> Self {
        Self { block, window, arrivals }
    }

    /// Its block, its window, and the arrivals.
    pub(crate) fn parts(&self) -> (u32, u64, &[Arrival<F>]) {
        (self.block, self.window, &self.arrivals)
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
    /// The window that is run.
    current: u64,
    /// Lists of a block, a power of two, and the bits of a window that are the number of its list.
    ring: u64,
    mask: u64,
    /// Windows from the current one on to which frames are sent by way of lists; later arrivals are in `far`.
    near: u64,
    /// Frames to blocks of other threads arrive at least so many windows later.
    reach: u64,
    /// List for block b and window w: `lists[b * ring + w % ring]`. A block is behind the one that runs by less than
    /// `reach` windows, so that windows of it that are in use at a time have different lists.
    lists: Vec<Vec<Arrival<F>>>,
    /// Later arrivals, by window and block: those for this thread and those for others.
    far: BTreeMap<(u64, u32), Vec<Arrival<F>>>,
    far_others: BTreeMap<(u64, u32), Vec<Arrival<F>>>,
    /// By node.
    targets: Vec<Target>,
    /// Number of this thread.
    thread: u16,
    /// All blocks, with their threads.
    blocks: Arc<[Block]>,
    /// Earliest window for which frames were handed over since the last call of `next_window`.
    sent_ahead: u64,
    /// Emptied lists from other threads, reused for lists handed over from here.
    spare: Vec<Vec<Arrival<F>>>,
}

/// Where frames to a node go.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// First list of its block.
    first: u32,
    /// Its place there.
    place: u32,
}

impl<F: Frame> Wire<F> {
    /// A wire with nothing in flight. `block` is the block of each node.
    pub(crate) fn new(
        windows: Windows,
        (ring, reach): (u64, u64),
        block: &[u32],
        (thread, blocks): (u16, Arc<[Block]>),
    ) -> Self {
        assert!(ring.is_power_of_two() && ring + 1 >= 3 * reach);
        let lists = blocks.len() * ring as usize;
        let target = |&block: &u32| Target { first: block * ring as u32, place: u32::MAX };
        let targets = block.iter().map(target).collect();
        Self {
            windows,
            current: 0,
            ring,
            mask: ring - 1,
            near: ring - (reach - 1),
            reach,
            lists: (0..lists).map(|_| Vec::new()).collect(),
            far: BTreeMap::new(),
            far_others: BTreeMap::new(),
            targets,
            thread,
            blocks,
            sent_ahead: u64::MAX,
            spare: Vec::new(),
        }
    }

    /// Tells it the place of each node in its block, before anything is sent.
    pub(crate) fn set_places(&mut self, places: &[u32]) {
        self.targets.iter_mut().zip(places).for_each(|(target, place)| target.place = *place);
    }

    #[inline]
    fn list(&self, block: usize, window: u64) -> usize {
        block * self.ring as usize + (window & self.mask) as usize
    }

    /// Sends a frame to a node, where it arrives at `at`, in a window after the current one. `seal`
    /// sets the fields that change on the link, such as the ingress port.
    #[inline]
    pub fn send(&mut self, to: NodeId, at: Instant, frame: &F, seal: impl FnOnce(&mut F)) {
        let (window, after) = self.windows.split(at);
        debug_assert!(window > self.current, "a link shorter than the window");
        let Target { first, place } = self.targets[to.index()];
        let list = &mut self.lists[first as usize + (window & self.mask) as usize];
        // The rare cases have a function with the same arguments that returns to the caller of this one, so that
        // nothing has to be saved for them.
        if window - self.current >= self.near || list.len() == list.capacity() {
            return self.send_rarely(to, at, frame, seal);
        }
        list.push(Arrival { after, place, frame: *frame });
        // Sealed in place, after the copy, so that the frame is copied unchanged.
        if let Some(Arrival { frame, .. }) = list.last_mut() {
            seal(frame);
        }
    }

    /// Sends a frame to a list that has no room, or beyond the lists.
    #[cold]
    #[inline(never)]
    fn send_rarely(&mut self, to: NodeId, at: Instant, frame: &F, seal: impl FnOnce(&mut F)) {
        let (window, after) = self.windows.split(at);
        let Target { first, place } = self.targets[to.index()];
        let mut arrival = Arrival { after, place, frame: *frame };
        seal(&mut arrival.frame);
        let block = (u64::from(first) / self.ring) as usize;
        if window - self.current < self.near {
            let list = self.list(block, window);
            return self.lists[list].push(arrival);
        }
        let is_own = self.blocks[block].part == self.thread;
        let far = if is_own { &mut self.far } else { &mut self.far_others };
        far.entry((window, block as u32)).or_default().push(arrival);
    }

    /// Before windows from `from` on are run: later arrivals may now be within the ring.
    pub(crate) fn advance(&mut self, from: u64) {
        while let Some(entry) = self.far.first_entry() {
            let (window, block) = *entry.key();
            if window - from >= self.ring {
                break;
            }
            let mut arrivals = entry.remove();
            let list = self.list(block as usize, window);
            self.lists[list].append(&mut arrivals);
        }
    }

    /// Sets the window that is run, or the last one that was run.
    pub(crate) fn set_current(&mut self, window: u64) {
        self.current = window;
    }

    /// The arrivals at the nodes of a block in the current window. Return the list with [`Wire::restore`].
    pub(crate) fn take(&mut self, block: usize) -> Vec<Arrival<F>> {
        let list = self.list(block, self.current);
        std::mem::take(&mut self.lists[list])
    }

    /// Returns the list of [`Wire::take`], so that its allocation is reused. It is empty, except for
    /// frames that are still in flight because the run ends within the window.
    pub(crate) fn restore(&mut self, block: usize, arrivals: Vec<Arrival<F>>) {
        let list = self.list(block, self.current);
        self.lists[list] = arrivals;
    }

    /// Moves all frames for nodes of other threads to `parcels`, with the thread. Windows from `from` to the
    /// current one have been run.
    pub(crate) fn hand_over(&mut self, from: u64, parcels: &mut Vec<(u16, Parcel<F>)>) {
        for (block, &Block { part, .. }) in self.blocks.iter().enumerate() {
            if part == self.thread {
                continue;
            }
            for window in from + self.reach..self.current + self.near {
                let list = self.list(block, window);
                if !self.lists[list].is_empty() {
                    let spare = self.spare.pop().unwrap_or_default();
                    let arrivals = std::mem::replace(&mut self.lists[list], spare);
                    self.sent_ahead = self.sent_ahead.min(window);
                    parcels.push((part, Parcel::new(block as u32, window, arrivals)));
                }
            }
        }
        while let Some(((window, block), arrivals)) = self.far_others.pop_first() {
            self.sent_ahead = self.sent_ahead.min(window);
            let part = self.blocks[block as usize].part;
            parcels.push((part, Parcel::new(block, window, arrivals)));
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
        let Parcel { block, window, mut arrivals } = parcel;
        // Its block may be behind.
        if window + self.reach - 1 - self.current < self.ring {
            let list = self.list(block as usize, window);
            self.lists[list].append(&mut arrivals);
            self.keep(arrivals);
        } else {
            self.far.entry((window, block)).or_default().append(&mut arrivals);
        }
    }

    /// The first window with arrivals in one of these blocks, which have run the windows before the one beside
    /// them; [`u64::MAX`] if there is none. Later arrivals are not considered.
    pub(crate) fn next_near(&self, blocks: impl Iterator<Item = (usize, u64)>) -> u64 {
        let first = |(block, at): (usize, u64)| {
            let mut windows = at..at + self.ring;
            windows.find(|&window| !self.lists[self.list(block, window)].is_empty())
        };
        blocks.filter_map(first).min().unwrap_or(u64::MAX)
    }

    /// The first window with later arrivals here, or with frames handed over since the last call;
    /// [`u64::MAX`] if there is none.
    pub(crate) fn next_far(&mut self) -> u64 {
        let far = self.far.first_key_value().map_or(u64::MAX, |((window, _), _)| *window);
        far.min(std::mem::replace(&mut self.sent_ahead, u64::MAX))
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
        let blocks: Arc<[Block]> = [0, 1].map(|part| Block { part, side: 0 }).into();
        let mut first: Wire<Pebble> = Wire::new(windows, (4, 1), &[0, 1], (0, blocks.clone()));
        let mut second = Wire::new(windows, (4, 1), &[0, 1], (1, blocks));
        first.set_places(&[3, 5]);
        for (to, at) in [(0, 150), (0, 900), (1, 250), (1, 5_000)] {
            let seal = |frame: &mut Pebble| frame.ingress = PortIx(7);
            first.send(NodeId(to), Instant(at), &pebble(0, false), seal);
        }
        assert_eq!(first.in_flight().count(), 4);
        let mut parcels = Vec::new();
        first.hand_over(0, &mut parcels);
        for (thread, parcel) in parcels {
            assert_eq!(thread, 1);
            second.accept(parcel);
        }
        let near = |wire: &Wire<Pebble>, block, at| wire.next_near([(block, at)].into_iter());
        assert_eq!((near(&first, 0, 1), near(&second, 1, 1)), (1, 2));
        // Handed over for window 2; later arrivals here in window 9, there in window 50.
        assert_eq!((first.next_far(), second.next_far()), (2, 50));
        assert_eq!(first.next_far(), 9);
        first.advance(1);
        first.set_current(1);
        let mut taken = first.take(0);
        assert_eq!((taken.len(), taken[0].after, taken[0].place), (1, 50, 3));
        assert_eq!(taken[0].frame.ingress, PortIx(7));
        taken.clear();
        first.restore(0, taken);
        assert_eq!((near(&first, 0, 2), first.next_far()), (u64::MAX, 9));
        for window in [2, 50] {
            second.advance(window);
            second.set_current(window);
            let mut taken = second.take(1);
            assert_eq!(taken.len(), 1);
            let arrival = taken.pop().unwrap();
            assert_eq!((arrival.frame.ingress, arrival.place), (PortIx(7), 5));
            second.restore(1, taken);
        }
    }
}
