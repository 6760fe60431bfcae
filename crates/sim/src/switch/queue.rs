//! Egress queues, with their own half of the books: first in, first out, unless a discipline decides the order.

use std::collections::VecDeque;

use floodway_model::random::Stream;
use floodway_model::{Body, Duration, FlowId, Instant, Packet};

use super::discipline::Discipline;
use super::fabric::egress::Egress;
use super::flow_control::pausing::{Source, source_of};
use crate::link::Transmitter;
use crate::metric::Tally;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet, still with the port and class by which it came in.
    pub packet: Packet,
    /// It may leave once this many packets have left the monitored queue, or one of that name if
    /// packets can overtake others there ([`Queue::has_let_go`]): how an isolated flow stays in
    /// order. 0 for every other packet.
    pub not_before: u64,
}

/// What a queue knows about time, if somebody asks: kept apart, so that others are not larger.
#[derive(Debug, Default)]
pub struct Times {
    /// When the packets came that wait, in their order.
    arrivals: VecDeque<Instant>,
}

/// One egress queue. Behind a crossbar, its books are about all that waits for it, at inputs too.
///
/// In order of use: a packet that need not wait touches the first cache line only.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    backlog: u64,
    /// Of it, what waits at the inputs of a crossbar where that is not to count as congestion.
    hidden: u64,
    departed: u64,
    /// Packets that joined.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// The largest backlog there has been, bytes.
    pub max_backlog: u64,
    /// Packets that were marked, or indicated, on joining or on leaving.
    pub marked: u64,
    /// Sum of the sampled backlogs, bytes.
    pub sampled: u64,
    /// Those that wait, if there is no discipline; behind a crossbar, those that have crossed.
    packets: VecDeque<Queued>,
    times: Option<Box<Times>>,
    /// Holds the packets and decides their order in its place.
    discipline: Option<Box<dyn Discipline>>,
    /// What is known of the packets at the inputs of a crossbar.
    egress: Option<Box<Egress>>,
}

impl Queue {
    /// An empty queue whose order is that of a discipline.
    pub fn ordered_by(discipline: Box<dyn Discipline>) -> Self {
        Self { discipline: Some(discipline), ..Self::default() }
    }

    /// An empty queue that keeps the time at which each of its packets came.
    pub fn timed() -> Self {
        Self { times: Some(Box::default()), ..Self::default() }
    }

    /// The same behind a crossbar: what has crossed to it. `timed`: times are kept.
    pub fn behind_crossbar(egress: Egress, timed: bool) -> Self {
        let queue = if timed { Self::timed() } else { Self::default() };
        Self { egress: Some(Box::new(egress)), ..queue }
    }

    /// Whether packets join it and leave it first in, first out.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        self.discipline.is_none() && self.egress.is_none()
    }

    /// Its discipline, for the mechanism that it belongs to.
    pub fn discipline<D: 'static>(&self) -> Option<&D> {
        self.discipline.as_ref()?.as_any().downcast_ref()
    }

    /// Bytes that wait.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Those of them that count as congestion: all, unless what waits at the inputs of a crossbar
    /// is not looked at.
    #[inline]
    pub fn congestion(&self) -> u64 {
        self.backlog - self.hidden
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        (self.packets_in - self.departed) as usize
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets_in == self.departed
    }

    /// Packets that have left.
    #[inline]
    pub fn departed(&self) -> u64 {
        self.departed
    }

    /// The packet that would leave next; `None` also if a discipline holds all back, or nothing has crossed.
    #[inline(always)]
    pub fn head(&self) -> Option<&Queued> {
        match &self.discipline {
            None => self.packets.front(),
            Some(discipline) => discipline.head(),
        }
    }

    /// When the packet at the head came; `None` if nothing waits or no times are kept.
    #[inline]
    pub fn head_since(&self) -> Option<Instant> {
        self.times.as_ref()?.arrivals.front().copied()
    }

    /// How long the packet at the head has waited: zero if nothing waits or no times are kept.
    #[inline]
    pub fn sojourn(&self, now: Instant) -> Duration {
        self.head_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The packet that would leave next, to be marked.
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

    /// Whether a packet that finds the port idle may go to the wire at once; see [`Discipline::passes`].
    pub fn passes(&mut self, packet: &mut Packet, now: Instant, rng: &mut Stream) -> bool {
        self.discipline.as_mut().is_none_or(|discipline| discipline.passes(packet, now, rng))
    }

    /// See [`Discipline::settle`].
    pub fn settle(&mut self, now: Instant) -> Instant {
        self.discipline.as_mut().map_or(Instant::NEVER, |discipline| discipline.settle(now))
    }

    /// See [`Discipline::push_out`].
    pub fn push_out(&mut self, packet: &Packet) -> Option<Queued> {
        let out = self.discipline.as_mut()?.push_out(packet)?;
        self.count_out(&out.packet);
        Some(out)
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

    /// Adds what the discipline has counted until `now`.
    pub fn count(&self, now: Instant, tally: &mut Tally) {
        if let Some(discipline) = &self.discipline {
            discipline.count(now, tally);
        }
    }

    /// A packet that is bound for this queue has come to an input of the crossbar; `hidden`: that is
    /// no congestion here.
    pub fn expect(&mut self, packet: &Packet, hidden: bool) {
        self.count_in(packet);
        self.hidden += if hidden { packet.bytes.into() } else { 0 };
        self.egress_mut().expect(packet);
    }

    /// A packet that was expected, and came `since` then, has crossed.
    pub fn take_over(&mut self, queued: Queued, since: Instant, hidden: bool) {
        self.hidden -= if hidden { queued.packet.bytes.into() } else { 0 };
        self.packets.push_back(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(since);
        }
    }

    /// A packet that was expected has been dropped at its input; what came before it by the same port
    /// has left.
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
        self.backlog -= u64::from(packet.bytes);
        self.departed += 1;
    }

    #[inline]
    fn count_in(&mut self, packet: &Packet) {
        let bytes = u64::from(packet.bytes);
        self.backlog += bytes;
        self.max_backlog = self.max_backlog.max(self.backlog);
        self.packets_in += 1;
        self.bytes_in += bytes;
    }

    /// A packet joins the empty queue and leaves it at once.
    #[inline]
    pub fn pass(&mut self, bytes: u16) {
        debug_assert!(self.is_empty());
        let bytes = u64::from(bytes);
        self.max_backlog = self.max_backlog.max(bytes);
        self.packets_in += 1;
        self.bytes_in += bytes;
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
            // Begin at the front of the ring again, where the memory is in the cache.
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

    /// The packet that came last; `None` also of a queue that is not first in, first out.
    pub fn last(&self) -> Option<&Queued> {
        self.packets.back().filter(|_| self.is_fifo())
    }

    /// Removes the packet that came last as if it had not come: no other leaves earlier for it.
    pub fn take_last(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_back()?;
        let bytes = u64::from(queued.packet.bytes);
        self.backlog -= bytes;
        self.packets_in -= 1;
        self.bytes_in -= bytes;
        if let Some(times) = &mut self.times {
            times.arrivals.pop_back();
        }
        Some(queued)
    }

    /// The flows of the packets that wait, from the head.
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        self.iter().map(|queued| queued.packet.flow)
    }

    /// The number of packets that will have left when the last one of these flows that waits here
    /// has, or behind a crossbar a name of that one; 0 if none waits, and with a discipline.
    pub fn clear_of(&self, flows: impl Fn(FlowId) -> bool) -> u64 {
        if let Some(egress) = &self.egress {
            return egress.last_of(flows);
        }
        let last = self.packets.iter().rposition(|queued| flows(queued.packet.flow));
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the packets have left that [`Queue::clear_of`] has told of by this number.
    #[inline]
    pub fn has_let_go(&self, packets: u64) -> bool {
        match &self.egress {
            None => self.departed >= packets,
            Some(egress) => egress.has_let_go(packets),
        }
    }

    /// Those whose packets wait; some more than once.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let crossed = self.egress.as_ref().map(|egress| egress.sources());
        let others = self.egress.is_none().then(|| self.iter());
        let others = others.into_iter().flatten().map(|queued| source_of(&queued.packet));
        crossed.into_iter().flatten().chain(others)
    }

    /// Whether the books agree with the packets, of which so many, and so many bytes, are at the
    /// inputs of a crossbar.
    pub fn is_consistent(&self, (packets, bytes): (u64, u64)) -> bool {
        let here: u64 = self.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
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

    /// The packets that wait, without those at the inputs of a crossbar.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        let ordered = self.discipline.as_ref().map(|discipline| discipline.iter());
        self.packets.iter().chain(ordered.into_iter().flatten())
    }
}
