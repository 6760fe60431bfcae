//! Where frames on the wire wait: a bin per (destination node, window).
//!
//! A frame sent in one window arrives in a later one, so a node's arrivals of a window are
//! complete when the window begins and need no event list: they are sorted once, by 8-byte keys,
//! and read in order.

use std::collections::BTreeMap;

use floodway_model::{Instant, NodeId, Packet};

use super::windows::Windows;

/// A frame that arrives at `packet.ingress` of its bin's node.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When its last bit has arrived and been processed as far as its link's latencies say.
    pub at: Instant,
    /// The frame.
    pub packet: Packet,
}

/// Arrivals on their way to a node of another thread.
#[derive(Debug)]
pub struct Parcel {
    node: u32,
    window: u64,
    arrivals: Vec<Arrival>,
}

/// The bins that one thread fills: those of its own nodes, from which it also reads, and those of
/// the other threads' nodes, which it hands over at the end of every window.
#[derive(Debug)]
pub struct Bins {
    windows: Windows,
    /// Windows ahead that have bins, a power of two; what arrives later waits in `far`.
    ring: u64,
    /// Of node n and window w: `bins[n * ring + w % ring]`.
    bins: Vec<Vec<Arrival>>,
    /// The nodes with a bin that is not empty, by window, own and others'.
    own: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
    far: BTreeMap<(u64, u32), Vec<Arrival>>,
    far_others: BTreeMap<(u64, u32), Vec<Arrival>>,
    /// The thread of each node, and this one.
    owner: Vec<u16>,
    thread: u16,
    /// The window being simulated.
    current: u64,
    /// The earliest window for which something was handed over since last asked.
    sent_ahead: u64,
    spare: Vec<Vec<Arrival>>,
}

impl Bins {
    /// Empty bins for all nodes, of which `owner` gives each one's thread.
    pub fn new(windows: Windows, ring: u64, owner: Vec<u16>, thread: u16) -> Self {
        assert!(ring.is_power_of_two());
        let slots = owner.len() * ring as usize;
        Self {
            windows,
            ring,
            bins: (0..slots).map(|_| Vec::new()).collect(),
            own: vec![Vec::new(); ring as usize],
            others: vec![Vec::new(); ring as usize],
            far: BTreeMap::new(),
            far_others: BTreeMap::new(),
            owner,
            thread,
            current: 0,
            sent_ahead: u64::MAX,
            spare: Vec::new(),
        }
    }

    /// Sends a frame on its way. It must arrive in a later window than the current one.
    #[inline]
    pub fn send(&mut self, to: NodeId, at: Instant, packet: Packet) {
        let window = self.windows.index(at);
        debug_assert!(window > self.current, "a link shorter than the window");
        if window - self.current >= self.ring {
            let mine = self.owner[to.index()] == self.thread;
            let far = if mine { &mut self.far } else { &mut self.far_others };
            far.entry((window, to.0)).or_default().push(Arrival { at, packet });
            return;
        }
        let slot = (window & (self.ring - 1)) as usize;
        let bin = &mut self.bins[to.index() * self.ring as usize + slot];
        if bin.is_empty() {
            let mine = self.owner[to.index()] == self.thread;
            let list = if mine { &mut self.own } else { &mut self.others };
            list[slot].push(to.0);
        }
        bin.push(Arrival { at, packet });
    }

    /// Moves on to window `current`: from now on its bins can be taken.
    pub fn advance(&mut self, current: u64) {
        self.current = current;
        // What was far may now be within the ring.
        while let Some(entry) = self.far.first_entry() {
            let (window, node) = *entry.key();
            if window - current >= self.ring {
                break;
            }
            let mut arrivals = entry.remove();
            self.merge(node, window, &mut arrivals);
        }
    }

    fn merge(&mut self, node: u32, window: u64, arrivals: &mut Vec<Arrival>) {
        let slot = (window & (self.ring - 1)) as usize;
        let bin = &mut self.bins[node as usize * self.ring as usize + slot];
        if bin.is_empty() {
            let mine = self.owner[node as usize] == self.thread;
            let list = if mine { &mut self.own } else { &mut self.others };
            list[slot].push(node);
        }
        bin.append(arrivals);
    }

    /// The own nodes with arrivals in the current window, in no particular order. Their bins must
    /// then be taken.
    pub fn receivers(&mut self, nodes: &mut Vec<u32>) {
        nodes.append(&mut self.own[(self.current & (self.ring - 1)) as usize]);
    }

    /// The arrivals of a node in the current window. Give the vector back, emptied, with
    /// [`Bins::restore`].
    #[inline]
    pub fn take(&mut self, node: NodeId) -> Vec<Arrival> {
        let slot = (self.current & (self.ring - 1)) as usize;
        std::mem::take(&mut self.bins[node.index() * self.ring as usize + slot])
    }

    /// Gives the vector of [`Bins::take`] back, so that its memory serves again.
    #[inline]
    pub fn restore(&mut self, node: NodeId, arrivals: Vec<Arrival>) {
        let slot = (self.current & (self.ring - 1)) as usize;
        self.bins[node.index() * self.ring as usize + slot] = arrivals;
    }

    /// Takes out everything for nodes of other threads and gives it to `deliver` with the thread.
    pub fn hand_over(&mut self, mut deliver: impl FnMut(u16, Parcel)) {
        for ahead in 1..self.ring {
            let window = self.current + ahead;
            let slot = (window & (self.ring - 1)) as usize;
            while let Some(node) = self.others[slot].pop() {
                let spare = self.spare.pop().unwrap_or_default();
                let bin = &mut self.bins[node as usize * self.ring as usize + slot];
                let arrivals = std::mem::replace(bin, spare);
                self.sent_ahead = self.sent_ahead.min(window);
                deliver(self.owner[node as usize], Parcel { node, window, arrivals });
            }
        }
        for ((window, node), arrivals) in std::mem::take(&mut self.far_others) {
            self.sent_ahead = self.sent_ahead.min(window);
            deliver(self.owner[node as usize], Parcel { node, window, arrivals });
        }
    }

    /// Takes in what another thread handed over.
    pub fn accept(&mut self, parcel: Parcel) {
        let Parcel { node, window, mut arrivals } = parcel;
        if window - self.current < self.ring {
            self.merge(node, window, &mut arrivals);
            self.spare.push(arrivals);
        } else {
            self.far.entry((window, node)).or_default().append(&mut arrivals);
        }
    }

    /// The next window after the current one for which there are arrivals here or among what was
    /// handed over since the last call; `u64::MAX` if there is none.
    pub fn next_window(&mut self) -> u64 {
        let slot = |window: u64| (window & (self.ring - 1)) as usize;
        let near = (self.current + 1..self.current + self.ring)
            .find(|&window| !self.own[slot(window)].is_empty())
            .unwrap_or(u64::MAX);
        let far = self.far.first_key_value().map_or(u64::MAX, |((window, _), _)| *window);
        near.min(far).min(std::mem::replace(&mut self.sent_ahead, u64::MAX))
    }

    /// All frames on the wire, in no particular order.
    pub fn in_flight(&self) -> impl Iterator<Item = &Packet> {
        let far = self.far.values().chain(self.far_others.values()).flatten();
        self.bins.iter().flatten().chain(far).map(|arrival| &arrival.packet)
    }
}

/// Puts `order` to the indices of `arrivals` in order of (time, one-hop frames first, port), which
/// no two arrivals share. `start` is the window's first moment.
pub fn sort(arrivals: &[Arrival], start: Instant, order: &mut Vec<u64>) {
    order.clear();
    order.extend(arrivals.iter().enumerate().map(|(index, arrival)| {
        let offset = arrival.at.0 - start.0;
        let forwarded = u64::from(!arrival.packet.is_one_hop());
        let port = u64::from(arrival.packet.ingress.0);
        offset << 38 | forwarded << 37 | port << INDEX_BITS | index as u64
    }));
    // A host has one port, so its arrivals are in order already.
    if !order.is_sorted() {
        order.sort_unstable();
    }
}

/// The index of an arrival within a key of [`sort`].
#[inline]
pub fn index_of(key: u64) -> usize {
    (key & ((1 << INDEX_BITS) - 1)) as usize
}

/// Offsets take 26 bits ([`Windows::LONGEST`]), the kind 1, ports 14 ([`MAX_PORTS`]), indices 23:
/// a node cannot receive 2^23 frames, of 64 bytes at 800 Gb/s on all ports, in 67 us.
const INDEX_BITS: u32 = 23;

/// The most ports of a node.
pub const MAX_PORTS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Body, Class, Duration, Echo, FlowId, PortIx, Tos};

    /// A vector and a ring double when they are full, so nothing takes more than twice its size.
    #[test]
    fn a_packet_in_flight_takes_at_most_100_bytes() {
        const MOST: usize = 100;
        assert!(2 * size_of::<Arrival>() <= MOST, "on a wire");
        assert!(2 * size_of::<crate::switch::queue::Queued>() <= MOST, "in a queue");
        assert!(2 * size_of::<Packet>() <= MOST, "in a NIC");
        let mut wire: Vec<Arrival> = Vec::new();
        let mut queue = std::collections::VecDeque::new();
        for count in 1..5_000 {
            let packet = packet(0, Body::Cnp);
            wire.push(Arrival { at: Instant::ZERO, packet });
            queue.push_back(crate::switch::queue::Queued { packet, not_before: 0 });
            if count >= 4 {
                assert!(wire.capacity() * size_of::<Arrival>() <= MOST * count);
                assert!(queue.capacity() * size_of_val(&queue[0]) <= MOST * count);
            }
        }
    }

    fn packet(port: u16, body: Body) -> Packet {
        Packet {
            flow: FlowId(0),
            connection: 0,
            src: NodeId(0),
            dst: NodeId(1),
            bytes: 64,
            ingress: PortIx(port),
            class: Class(0),
            lane: 0,
            tos: Tos::default(),
            indicated: false,
            body,
        }
    }

    #[test]
    fn arrivals_are_in_order_of_time_then_kind_then_port() {
        let data = Body::Data { echo: Echo::default(), psn: 0, sent_at: Instant::ZERO };
        let make = |at, port, body| Arrival { at: Instant(at), packet: packet(port, body) };
        let arrivals = [
            make(105, 2, data),
            make(101, 9, data),
            make(105, 1, data),
            make(105, 7, Body::Cim),
            make(100, 16_000, data),
        ];
        let mut order = Vec::new();
        sort(&arrivals, Instant(100), &mut order);
        let order: Vec<usize> = order.into_iter().map(index_of).collect();
        assert_eq!(order, [4, 1, 3, 2, 0]);
    }

    #[test]
    fn frames_wait_near_and_far_and_cross_threads() {
        let windows = Windows::new(Duration(100));
        let mut first = Bins::new(windows, 4, vec![0, 1], 0);
        let mut second = Bins::new(windows, 4, vec![0, 1], 1);
        first.send(NodeId(0), Instant(150), packet(0, Body::Cim));
        first.send(NodeId(0), Instant(900), packet(0, Body::Cim));
        first.send(NodeId(1), Instant(250), packet(0, Body::Cim));
        first.send(NodeId(1), Instant(5_000), packet(0, Body::Cim));
        first.hand_over(|thread, parcel| {
            assert_eq!(thread, 1);
            second.accept(parcel);
        });
        assert_eq!((first.next_window(), second.next_window()), (1, 2));
        assert_eq!(first.next_window(), 1);
        first.advance(1);
        let mut taken = first.take(NodeId(0));
        assert_eq!(taken.drain(..).count(), 1);
        first.restore(NodeId(0), taken);
        let mut nodes = Vec::new();
        first.receivers(&mut nodes);
        assert_eq!((nodes, first.next_window()), (vec![0], 9));
        for window in [2, 50] {
            second.advance(window);
            let mut taken = second.take(NodeId(1));
            assert_eq!(taken.drain(..).count(), 1);
            second.restore(NodeId(1), taken);
        }
    }
}
