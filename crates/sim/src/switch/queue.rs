//! Egress queues, with the egress accounting: first in, first out, unless a discipline decides the
//! order.

mod fifo;
mod ordered;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use floodway_model::{Duration, FlowId, Instant, Packet};

use super::cell::Cell;
use super::discipline::Discipline;
use super::fabric::egress::Egress;
use super::flow_control::pausing::{Source, source_of};
use fifo::Block;
pub use fifo::NOTHING;

/// A packet that joins a queue.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet, still with its ingress port and class.
    pub packet: Packet,
    /// Preserves the order of an isolated flow: the packet may leave once this many packets have
    /// left the monitored queue. Where packets can overtake each other there, it is the number of
    /// the packet that must have left ([`Queue::has_let_go`]). 0 for every other packet.
    pub not_before: u64,
}

/// One egress queue. Behind a crossbar, its accounting covers all packets bound for it, including
/// those at the inputs. What every packet needs is one cache line.
#[derive(Debug)]
#[repr(C)]
pub struct Queue {
    backlog: u64,
    /// Largest backlog so far, in bytes.
    pub max_backlog: u64,
    departed: u64,
    /// Bytes of the packets that joined.
    pub bytes_in: u64,
    /// The queued packets, if there is no discipline; behind a crossbar, those that have crossed.
    /// `None` if there are none.
    first: Option<Box<Block>>,
    /// The block of the packet that arrived last, if it is another one.
    last: Option<Box<Block>>,
    /// Packets queued, at the inputs of a crossbar included.
    length: u32,
    /// Place of the packet that is next in its block, and the place after that of the last packet in its block.
    head: u8,
    tail: u8,
    traits: Traits,
    /// `None` as long as nothing of it was needed.
    rest: Option<Box<Rest>>,
}

/// What most packets do not need.
#[derive(Debug, Default)]
struct Rest {
    /// Blocks between the first and the last.
    middle: VecDeque<Box<Block>>,
    /// Those of the queued packets that wait for others: their [numbers](Queue::numbers), and their
    /// [`Queued::not_before`].
    held_back: VecDeque<(u64, u64)>,
    /// Packets that have left after crossing, and that have crossed.
    crossed: (u64, u64),
    /// Of the backlog, bytes at the inputs of a crossbar that do not count as congestion.
    hidden: u64,
    /// Packets that were marked, or given an indication, at enqueue or at dequeue.
    marked: u64,
    /// Sum of the sampled backlogs, in bytes.
    sampled: u64,
    /// Arrival times of the queued packets, in queue order; `None` where nothing needs them.
    arrivals: Option<VecDeque<Instant>>,
    /// Discipline that holds the packets instead and decides their order.
    discipline: Option<Box<dyn Discipline>>,
    /// State of the packets bound for this queue, behind a crossbar.
    egress: Option<Egress>,
    /// The unit in which its bytes are counted.
    cell: Cell,
}

/// Whether it needs the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traits(u8);

impl Traits {
    /// It has a discipline or a crossbar before it.
    const SPECIAL: u8 = 1;
    /// Its bytes are counted in cells.
    const CELLS: u8 = 2;
    /// Some of its packets wait for others.
    const HOLDS_BACK: u8 = 4;
    /// It records arrival times.
    const TIMED: u8 = 8;

    #[inline(always)]
    fn has(self, some: u8) -> bool {
        self.0 & some != 0
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            backlog: 0,
            max_backlog: 0,
            departed: 0,
            bytes_in: 0,
            first: None,
            last: None,
            length: 0,
            head: 0,
            tail: 0,
            traits: Traits(0),
            rest: None,
        }
    }
}

impl Queue {
    fn special(rest: Rest) -> Self {
        let special = rest.discipline.is_some() || rest.egress.is_some();
        let timed = rest.arrivals.is_some();
        let traits = (u8::from(special) * Traits::SPECIAL) | (u8::from(timed) * Traits::TIMED);
        Self { traits: Traits(traits), rest: Some(Box::new(rest)), ..Self::default() }
    }

    /// An empty queue ordered by a discipline.
    pub fn ordered_by(discipline: Box<dyn Discipline>) -> Self {
        Self::special(Rest { discipline: Some(discipline), ..Rest::default() })
    }

    /// An empty queue that records the arrival times of its packets.
    pub fn timed() -> Self {
        Self::special(Rest { arrivals: Some(VecDeque::new()), ..Rest::default() })
    }

    /// An empty queue behind a crossbar. `timed`: arrival times are recorded.
    pub fn behind_crossbar(egress: Egress, timed: bool) -> Self {
        let arrivals = timed.then(VecDeque::new);
        Self::special(Rest { egress: Some(egress), arrivals, ..Rest::default() })
    }

    /// Counts its bytes in whole cells.
    #[must_use]
    pub fn in_cells(mut self, cell: Cell) -> Self {
        if !cell.is_byte() {
            self.traits.0 |= Traits::CELLS;
            self.rest_mut().cell = cell;
        }
        self
    }

    /// Asks for its first packet, and for where the next one that joins is written.
    #[inline]
    pub fn look(&self) {
        self.front().into_iter().chain(self.end()).for_each(floodway_prefetch::ask_for);
    }

    /// Whether it is a plain FIFO: neither a discipline nor a crossbar before it.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        !self.traits.has(Traits::SPECIAL)
            || self.discipline_ref().is_none() && self.behind().is_none()
    }

    fn rest_mut(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    fn discipline_ref(&self) -> Option<&dyn Discipline> {
        self.rest.as_ref()?.discipline.as_deref()
    }

    fn ordering(&mut self) -> Option<&mut Box<dyn Discipline>> {
        self.rest.as_mut()?.discipline.as_mut()
    }

    fn behind(&self) -> Option<&Egress> {
        self.rest.as_ref()?.egress.as_ref()
    }

    /// Packets that joined.
    pub fn packets_in(&self) -> u64 {
        self.departed + u64::from(self.length)
    }

    /// Packets that were marked, or given an indication, at enqueue or at dequeue.
    pub fn marked(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.marked)
    }

    /// One more was.
    pub fn count_mark(&mut self) {
        self.rest_mut().marked += 1;
    }

    /// Sum of the sampled backlogs, in bytes.
    pub fn sampled(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.sampled)
    }

    /// Adds the backlog to it.
    #[inline]
    pub fn sample(&mut self) {
        if self.backlog != 0 {
            self.rest_mut().sampled += self.backlog;
        }
    }

    /// How many of its parts its discipline holds back.
    pub fn held(&self) -> u64 {
        self.discipline_ref().map_or(0, |discipline| discipline.held())
    }

    /// Its discipline, for the mechanism that owns it.
    pub fn discipline<D: 'static>(&self) -> Option<&D> {
        self.discipline_ref()?.as_any().downcast_ref()
    }

    /// The buffer space that a frame occupies, in whole cells.
    #[inline(always)]
    pub fn occupied(&self, bytes: u16) -> u16 {
        if self.traits.has(Traits::CELLS) { self.in_whole_cells(bytes) } else { bytes }
    }

    fn in_whole_cells(&self, bytes: u16) -> u16 {
        self.rest.as_ref().map_or(bytes, |rest| rest.cell.occupied(bytes))
    }

    fn hidden(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.hidden)
    }

    /// Bytes queued, in whole cells.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Bytes that count as congestion: all of them, except those at the inputs of a crossbar if
    /// these are excluded.
    #[inline]
    pub fn congestion(&self) -> u64 {
        if self.traits.has(Traits::SPECIAL) { self.backlog - self.hidden() } else { self.backlog }
    }

    /// Packets queued.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Packets that have left.
    #[inline]
    pub fn departed(&self) -> u64 {
        self.departed
    }

    /// The packet that would leave next; `None` if the queue is empty, if a discipline holds all
    /// packets back, or if none has crossed yet.
    #[inline(always)]
    pub fn head(&self) -> Option<&Packet> {
        if self.traits.has(Traits::SPECIAL)
            && let Some(discipline) = self.discipline_ref()
        {
            return discipline.head().map(|head| &head.packet);
        }
        self.front()
    }

    /// The [`Queued::not_before`] of the packet that would leave next.
    #[inline(always)]
    pub fn head_not_before(&self) -> u64 {
        match self.traits.has(Traits::SPECIAL | Traits::HOLDS_BACK) {
            true => self.held_back_until(),
            false => 0,
        }
    }

    fn held_back_until(&self) -> u64 {
        if let Some(discipline) = self.discipline_ref() {
            return discipline.head().map_or(0, |head| head.not_before);
        }
        let (next, _) = self.numbers();
        let first = self.rest.as_ref().and_then(|rest| rest.held_back.front());
        let first = first.filter(|(number, _)| *number == next);
        first.map_or(0, |(_, not_before)| *not_before)
    }

    /// Numbers of the packet that leaves next and of one that is appended now, in order of arrival. Without a crossbar
    /// they follow from the accounting.
    #[inline]
    fn numbers(&self) -> (u64, u64) {
        match &self.rest {
            Some(rest) if rest.egress.is_some() => rest.crossed,
            _ => (self.departed, self.packets_in()),
        }
    }

    /// Appends a packet that is not counted yet, or that has crossed.
    #[inline(always)]
    fn append(&mut self, queued: &Queued) {
        if queued.not_before > 0 {
            let (_, number) = self.numbers();
            self.rest_mut().held_back.push_back((number, queued.not_before));
            self.traits.0 |= Traits::HOLDS_BACK;
        }
        self.push_back(&queued.packet);
    }

    /// A packet leaves at the head, or is taken away at the end.
    fn forget_hold(&mut self, at_head: bool) {
        let (next, end) = self.numbers();
        let Some(rest) = &mut self.rest else { return };
        let held = &mut rest.held_back;
        let (found, leaves) = match at_head {
            true => (held.front(), next),
            false => (held.back(), end - 1),
        };
        if found.is_some_and(|(number, _)| *number == leaves) {
            _ = if at_head { held.pop_front() } else { held.pop_back() };
        }
        if held.is_empty() {
            self.traits.0 &= !Traits::HOLDS_BACK;
        }
    }

    /// Arrival time of the packet at the head; `None` if the queue is empty or records no times.
    #[inline]
    pub fn head_since(&self) -> Option<Instant> {
        if !self.traits.has(Traits::SPECIAL | Traits::TIMED) {
            return None;
        }
        let rest = self.rest.as_ref()?;
        match &rest.discipline {
            None => rest.arrivals.as_ref()?.front().copied(),
            Some(discipline) => discipline.head_since(),
        }
    }

    /// Sojourn time of the packet at the head; zero if the queue is empty or records no times.
    #[inline]
    pub fn sojourn(&self, now: Instant) -> Duration {
        self.head_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The packet that would leave next, for marking.
    pub fn head_mut(&mut self) -> Option<&mut Packet> {
        // A discipline may change what it returns, so the borrow must not last longer.
        if self.discipline_ref().is_none() {
            return self.front_mut();
        }
        self.ordering()?.head_mut()
    }

    /// Appends a packet to a queue without a discipline and without a crossbar before it.
    #[inline(always)]
    pub fn push(&mut self, queued: &Queued, now: Instant) {
        self.append(queued);
        self.count_in(&queued.packet);
        if self.traits.has(Traits::TIMED)
            && let Some(arrivals) = &mut self.rest_mut().arrivals
        {
            arrivals.push_back(now);
        }
    }

    /// A packet bound for this queue has arrived at an input of the crossbar. `hidden`: it does not
    /// count as congestion here.
    pub fn expect(&mut self, packet: &Packet, hidden: bool) {
        self.count_in(packet);
        self.rest_mut().hidden += if hidden { packet.bytes.into() } else { 0 };
        self.egress_mut().expect(packet);
    }

    /// A packet announced with [`Queue::expect`], which arrived at `since`, has crossed.
    pub fn take_over(&mut self, queued: &Queued, since: Instant, hidden: bool) {
        self.append(queued);
        let rest = self.rest_mut();
        rest.crossed.1 += 1;
        rest.hidden -= if hidden { queued.packet.bytes.into() } else { 0 };
        if let Some(arrivals) = &mut rest.arrivals {
            arrivals.push_back(since);
        }
    }

    /// A packet announced with [`Queue::expect`] has been dropped at its input. The packets that
    /// arrived before it by the same port have left.
    pub fn forget(&mut self, packet: &Packet, hidden: bool) {
        self.rest_mut().hidden -= if hidden { packet.bytes.into() } else { 0 };
        self.egress_mut().forget(packet);
        self.count_out(packet);
    }

    fn egress_mut(&mut self) -> &mut Egress {
        self.rest_mut().egress.as_mut().expect("it is behind a crossbar")
    }

    #[inline]
    fn count_out(&mut self, packet: &Packet) {
        self.backlog -= u64::from(self.occupied(packet.bytes));
        self.departed += 1;
        self.length -= 1;
    }

    #[inline]
    fn count_in(&mut self, packet: &Packet) {
        self.backlog += u64::from(self.occupied(packet.bytes));
        self.max_backlog = self.max_backlog.max(self.backlog);
        self.length += 1;
        self.bytes_in += u64::from(packet.bytes);
    }

    /// A packet joins the empty queue and leaves it at once.
    #[inline(always)]
    pub fn pass(&mut self, bytes: u16) {
        debug_assert!(self.is_empty());
        self.max_backlog = self.max_backlog.max(self.occupied(bytes).into());
        self.bytes_in += u64::from(bytes);
        self.departed += 1;
    }

    /// Removes the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let mut packet = NOTHING;
        self.pop_to(&mut packet).then_some(packet)
    }

    /// Moves the packet at the head to `packet`; returns whether there is one.
    #[inline(always)]
    pub fn pop_to(&mut self, packet: &mut Packet) -> bool {
        if self.traits.has(Traits::SPECIAL | Traits::HOLDS_BACK) {
            return self.pop_specially(packet);
        }
        if !self.pop_front(packet) {
            return false;
        }
        self.count_out(packet);
        if self.traits.has(Traits::TIMED)
            && let Some(arrivals) = &mut self.rest_mut().arrivals
        {
            arrivals.pop_front();
        }
        true
    }

    #[inline(never)]
    fn pop_specially(&mut self, packet: &mut Packet) -> bool {
        if let Some(discipline) = self.ordering() {
            let Some(queued) = discipline.pop() else { return false };
            *packet = queued.packet;
            self.count_out(packet);
            return true;
        }
        if !self.pop_front(packet) {
            return false;
        }
        self.forget_hold(true);
        self.count_out(packet);
        let rest = self.rest_mut();
        if let Some(arrivals) = &mut rest.arrivals {
            arrivals.pop_front();
        }
        if let Some(egress) = &mut rest.egress {
            egress.forget(packet);
            rest.crossed.0 += 1;
        }
        true
    }

    /// The packet that arrived last; `None` if the queue is empty or not a plain FIFO.
    pub fn last(&self) -> Option<&Packet> {
        self.back().filter(|_| self.is_fifo())
    }

    /// Removes the packet that arrived last as if it had never arrived: no other packet leaves
    /// earlier because of it. The queue is a plain FIFO.
    pub fn take_last(&mut self) -> Option<Packet> {
        let packet = self.pop_back()?;
        self.forget_hold(false);
        self.backlog -= u64::from(self.occupied(packet.bytes));
        self.length -= 1;
        self.bytes_in -= u64::from(packet.bytes);
        if let Some(arrivals) = &mut self.rest_mut().arrivals {
            arrivals.pop_back();
        }
        Some(packet)
    }

    /// The flows of the queued packets, from the head.
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        self.iter().map(|packet| packet.flow)
    }

    /// How many packets will have left this queue once the last queued packet of these flows has
    /// left. Behind a crossbar, the number of that packet instead. 0 if none is queued, and with a
    /// discipline.
    pub fn clear_of(&self, flows: impl Fn(FlowId) -> bool) -> u64 {
        if let Some(egress) = self.behind() {
            return egress.last_of(flows);
        }
        let behind = self.in_order().rev().position(|packet| flows(packet.flow));
        behind.map_or(0, |behind| self.packets_in() - behind as u64)
    }

    /// Whether the packets have left that [`Queue::clear_of`] identified by this number.
    #[inline]
    pub fn has_let_go(&self, packets: u64) -> bool {
        match self.behind() {
            None => self.departed >= packets,
            Some(egress) => egress.has_let_go(packets),
        }
    }

    /// Ingress ports and classes of the queued packets, possibly with repetitions.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let crossed = self.behind().map(|egress| egress.sources());
        let others = self.behind().is_none().then(|| self.iter());
        let others = others.into_iter().flatten().map(source_of);
        crossed.into_iter().flatten().chain(others)
    }

    /// Whether the accounting agrees with the packets. The argument is the number of packets, and
    /// their bytes, that are at the inputs of a crossbar.
    pub fn is_consistent(&self, (packets, bytes): (u64, u64)) -> bool {
        let here: u64 = self.iter().map(|packet| u64::from(self.occupied(packet.bytes))).sum();
        let count = self.iter().count();
        let arrivals = self.rest.as_ref().and_then(|rest| rest.arrivals.as_ref());
        let all = packets + count as u64;
        here + bytes == self.backlog
            && [0, bytes].contains(&self.hidden())
            && u64::from(self.length) == all
            && arrivals.is_none_or(|arrivals| arrivals.len() == count)
            && self.discipline_ref().is_none_or(|discipline| discipline.is_consistent())
            && self.behind().is_none_or(|egress| egress.is_consistent(all))
    }

    /// The queued packets, without those at the inputs of a crossbar.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let ordered = self.discipline_ref().map(|discipline| discipline.iter());
        let ordered = ordered.into_iter().flatten().map(|queued| &queued.packet);
        self.in_order().chain(ordered)
    }
}
