//! Egress queues, with the egress accounting: first in, first out, unless a discipline decides the
//! order.

use std::collections::VecDeque;

use floodway_model::random::Stream;
use floodway_model::{Body, Duration, FlowId, Instant, Packet};

use super::aqm::Verdict;
use super::cell::Cell;
use super::discipline::{Discipline, Leaving};
use super::fabric::egress::Egress;
use super::flow_control::pausing::{Source, source_of};
use crate::link::Transmitter;
use crate::metric::Tally;

/// A queued packet.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet, still with its ingress port and class.
    pub packet: Packet,
    /// Preserves the order of an isolated flow: the packet may leave once this many packets have
    /// left the monitored queue. Where packets can overtake each other there, it is the number of
    /// the packet that must have left ([`Queue::has_let_go`]). 0 for every other packet.
    pub not_before: u64,
}

/// Arrival times, recorded only where something needs them. Kept apart so that other queues are not
/// larger.
#[derive(Debug, Default)]
pub struct Times {
    /// Arrival times of the queued packets, in queue order.
    arrivals: VecDeque<Instant>,
}

/// One egress queue. Behind a crossbar, its accounting covers all packets bound for it, including
/// those at the inputs.
///
/// Fields are ordered by access frequency: a packet that need not be queued touches only the first
/// cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    backlog: u64,
    /// Of the backlog, bytes at the inputs of a crossbar that do not count as congestion.
    hidden: u64,
    departed: u64,
    /// Packets that joined.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Largest backlog so far, in bytes.
    pub max_backlog: u64,
    /// Packets that were marked, or given an indication, at enqueue or at dequeue.
    pub marked: u64,
    /// Sum of the sampled backlogs, in bytes.
    pub sampled: u64,
    /// Queued packets, if there is no discipline; behind a crossbar, those that have crossed.
    packets: VecDeque<Queued>,
    times: Option<Box<Times>>,
    /// Discipline that holds the packets instead and decides their order.
    discipline: Option<Box<dyn Discipline>>,
    /// State of the packets bound for this queue, behind a crossbar.
    egress: Option<Box<Egress>>,
    /// The unit in which its bytes are counted.
    cell: Cell,
}

impl Queue {
    /// An empty queue ordered by a discipline.
    pub fn ordered_by(discipline: Box<dyn Discipline>) -> Self {
        Self { discipline: Some(discipline), ..Self::default() }
    }

    /// An empty queue that records the arrival times of its packets.
    pub fn timed() -> Self {
        Self { times: Some(Box::default()), ..Self::default() }
    }

    /// An empty queue behind a crossbar. `timed`: arrival times are recorded.
    pub fn behind_crossbar(egress: Egress, timed: bool) -> Self {
        let queue = if timed { Self::timed() } else { Self::default() };
        Self { egress: Some(Box::new(egress)), ..queue }
    }

    /// Counts its bytes in whole cells.
    #[must_use]
    pub fn in_cells(self, cell: Cell) -> Self {
        Self { cell, ..self }
    }

    /// Asks for its first packet and for its last one.
    #[inline]
    pub fn look(&self) {
        self.packets
            .front()
            .into_iter()
            .chain(self.packets.back())
            .for_each(floodway_prefetch::ask_for);
    }

    /// Whether it is a plain FIFO: neither a discipline nor a crossbar before it.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        self.discipline.is_none() && self.egress.is_none()
    }

    /// How many of its parts its discipline holds back.
    pub fn held(&self) -> u64 {
        self.discipline.as_ref().map_or(0, |discipline| discipline.held())
    }

    /// Its discipline, for the mechanism that owns it.
    pub fn discipline<D: 'static>(&self) -> Option<&D> {
        self.discipline.as_ref()?.as_any().downcast_ref()
    }

    /// The buffer space that a frame occupies, in whole cells.
    #[inline]
    pub fn occupied(&self, bytes: u16) -> u16 {
        self.cell.occupied(bytes)
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
        self.backlog - self.hidden
    }

    /// Packets queued.
    pub fn len(&self) -> usize {
        (self.packets_in - self.departed) as usize
    }

    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets_in == self.departed
    }

    /// Packets that have left.
    #[inline]
    pub fn departed(&self) -> u64 {
        self.departed
    }

    /// The packet that would leave next; `None` if the queue is empty, if a discipline holds all
    /// packets back, or if none has crossed yet.
    #[inline(always)]
    pub fn head(&self) -> Option<&Queued> {
        match &self.discipline {
            None => self.packets.front(),
            Some(discipline) => discipline.head(),
        }
    }

    /// Arrival time of the packet at the head; `None` if the queue is empty or records no times.
    #[inline]
    pub fn head_since(&self) -> Option<Instant> {
        match &self.discipline {
            None => self.times.as_ref()?.arrivals.front().copied(),
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
        match &mut self.discipline {
            None => self.packets.front_mut().map(|head| &mut head.packet),
            Some(discipline) => discipline.head_mut(),
        }
    }

    /// Appends a packet to a queue without a discipline and without a crossbar before it.
    #[inline]
    pub fn push(&mut self, queued: Queued, now: Instant) {
        self.count_in(&queued.packet);
        self.packets.push_back(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(now);
        }
    }

    /// Adds a packet, in the order of the discipline if there is one.
    pub fn push_ordered(&mut self, queued: Queued, now: Instant, rng: &mut Stream) {
        let Some(discipline) = &mut self.discipline else { return self.push(queued, now) };
        discipline.push(queued, now, rng);
        self.count_in(&queued.packet);
    }

    /// Whether a packet that finds the port idle may bypass the queue; see [`Discipline::passes`].
    pub fn passes(&mut self, packet: &mut Packet, now: Instant, rng: &mut Stream) -> bool {
        self.discipline.as_mut().is_none_or(|discipline| discipline.passes(packet, now, rng))
    }

    /// See [`Discipline::settle`].
    pub fn settle(&mut self, now: Instant) -> Instant {
        self.discipline.as_mut().map_or(Instant::NEVER, |discipline| discipline.settle(now))
    }

    /// See [`Discipline::push_out`].
    pub fn push_out(&mut self, packet: &Packet, now: Instant) -> Option<Queued> {
        let out = self.discipline.as_mut()?.push_out(packet, now)?;
        self.count_out(&out.packet);
        Some(out)
    }

    /// See [`Discipline::push_out_more`].
    pub fn push_out_more(&mut self) -> Option<Queued> {
        let out = self.discipline.as_mut()?.push_out_more()?;
        self.count_out(&out.packet);
        Some(out)
    }

    /// See [`Discipline::on_departure`].
    pub fn on_departure(&mut self, leaving: &mut Leaving<'_>) -> Verdict {
        let discipline = self.discipline.as_mut();
        discipline.map_or(Verdict::Pass, |discipline| discipline.on_departure(leaving))
    }

    /// See [`Discipline::on_sent`].
    pub fn on_sent(&mut self, packet: &Packet, tx: &Transmitter, now: Instant) {
        if let Some(discipline) = &mut self.discipline {
            discipline.on_sent(packet, tx, now);
        }
    }

    /// See [`Discipline::on_frame`].
    pub fn on_frame(&mut self, frame: &Body, now: Instant) {
        if let Some(discipline) = &mut self.discipline {
            discipline.on_frame(frame, now);
        }
    }

    /// Adds the counters of the discipline as of `now`.
    pub fn count(&self, now: Instant, tally: &mut Tally) {
        if let Some(discipline) = &self.discipline {
            discipline.count(now, tally);
        }
    }

    /// A packet bound for this queue has arrived at an input of the crossbar. `hidden`: it does not
    /// count as congestion here.
    pub fn expect(&mut self, packet: &Packet, hidden: bool) {
        self.count_in(packet);
        self.hidden += if hidden { packet.bytes.into() } else { 0 };
        self.egress_mut().expect(packet);
    }

    /// A packet announced with [`Queue::expect`], which arrived at `since`, has crossed.
    pub fn take_over(&mut self, queued: Queued, since: Instant, hidden: bool) {
        self.hidden -= if hidden { queued.packet.bytes.into() } else { 0 };
        self.packets.push_back(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(since);
        }
    }

    /// A packet announced with [`Queue::expect`] has been dropped at its input. The packets that
    /// arrived before it by the same port have left.
    pub fn forget(&mut self, packet: &Packet, hidden: bool) {
        self.hidden -= if hidden { packet.bytes.into() } else { 0 };
        self.egress_mut().forget(packet);
        self.count_out(packet);
    }

    fn egress_mut(&mut self) -> &mut Egress {
        self.egress.as_mut().expect("it is behind a crossbar")
    }

    #[inline]
    fn count_out(&mut self, packet: &Packet) {
        self.backlog -= u64::from(self.cell.occupied(packet.bytes));
        self.departed += 1;
    }

    #[inline]
    fn count_in(&mut self, packet: &Packet) {
        let bytes = u64::from(packet.bytes);
        self.backlog += u64::from(self.cell.occupied(packet.bytes));
        self.max_backlog = self.max_backlog.max(self.backlog);
        self.packets_in += 1;
        self.bytes_in += bytes;
    }

    /// A packet joins the empty queue and leaves it at once.
    #[inline]
    pub fn pass(&mut self, bytes: u16) {
        debug_assert!(self.is_empty());
        self.max_backlog = self.max_backlog.max(self.cell.occupied(bytes).into());
        self.packets_in += 1;
        self.bytes_in += u64::from(bytes);
        self.departed += 1;
    }

    /// Removes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Option<Queued> {
        if let Some(discipline) = &mut self.discipline {
            let queued = discipline.pop()?;
            self.count_out(&queued.packet);
            return Some(queued);
        }
        let queued = self.packets.pop_front()?;
        if self.packets.is_empty() {
            // Restart at the front of the ring buffer, which is in the cache.
            self.packets.clear();
        }
        self.count_out(&queued.packet);
        if let Some(times) = &mut self.times {
            times.arrivals.pop_front();
        }
        if let Some(egress) = &mut self.egress {
            egress.forget(&queued.packet);
        }
        Some(queued)
    }

    /// The packet that arrived last; `None` if the queue is empty or not a plain FIFO.
    pub fn last(&self) -> Option<&Queued> {
        self.packets.back().filter(|_| self.is_fifo())
    }

    /// Removes the packet that arrived last as if it had never arrived: no other packet leaves
    /// earlier because of it.
    pub fn take_last(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_back()?;
        self.backlog -= u64::from(self.cell.occupied(queued.packet.bytes));
        self.packets_in -= 1;
        self.bytes_in -= u64::from(queued.packet.bytes);
        if let Some(times) = &mut self.times {
            times.arrivals.pop_back();
        }
        Some(queued)
    }

    /// The flows of the queued packets, from the head.
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        self.iter().map(|queued| queued.packet.flow)
    }

    /// How many packets will have left this queue once the last queued packet of these flows has
    /// left. Behind a crossbar, the number of that packet instead. 0 if none is queued, and with a
    /// discipline.
    pub fn clear_of(&self, flows: impl Fn(FlowId) -> bool) -> u64 {
        if let Some(egress) = &self.egress {
            return egress.last_of(flows);
        }
        let last = self.packets.iter().rposition(|queued| flows(queued.packet.flow));
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the packets have left that [`Queue::clear_of`] identified by this number.
    #[inline]
    pub fn has_let_go(&self, packets: u64) -> bool {
        match &self.egress {
            None => self.departed >= packets,
            Some(egress) => egress.has_let_go(packets),
        }
    }

    /// Ingress ports and classes of the queued packets, possibly with repetitions.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let crossed = self.egress.as_ref().map(|egress| egress.sources());
        let others = self.egress.is_none().then(|| self.iter());
        let others = others.into_iter().flatten().map(|queued| source_of(&queued.packet));
        crossed.into_iter().flatten().chain(others)
    }

    /// Whether the accounting agrees with the packets. The argument is the number of packets, and
    /// their bytes, that are at the inputs of a crossbar.
    pub fn is_consistent(&self, (packets, bytes): (u64, u64)) -> bool {
        let here: u64 =
            self.iter().map(|queued| u64::from(self.cell.occupied(queued.packet.bytes))).sum();
        let count = self.iter().count();
        here + bytes == self.backlog
            && [0, bytes].contains(&self.hidden)
            && self.packets_in == self.departed + packets + count as u64
            && self.times.as_ref().is_none_or(|times| times.arrivals.len() == count)
            && self.discipline.as_ref().is_none_or(|discipline| discipline.is_consistent())
            && self
                .egress
                .as_ref()
                .is_none_or(|egress| egress.is_consistent(packets + count as u64))
    }

    /// The queued packets, without those at the inputs of a crossbar.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        let ordered = self.discipline.as_ref().map(|discipline| discipline.iter());
        self.packets.iter().chain(ordered.into_iter().flatten())
    }
}
