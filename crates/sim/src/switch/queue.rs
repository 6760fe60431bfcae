//! Egress queues: first in, first out, with their own half of the books.

use std::collections::VecDeque;

use floodway_model::{Duration, FlowId, Instant, Packet};

use super::fabric::egress::Egress;
use super::flow_control::bfc::{Lanes, Left};
use super::flow_control::drc::Directions;
use super::flow_control::pausing::{Source, source_of};
use crate::metric::Departures;

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
    /// What is recorded about those that leave, if anything is.
    pub departures: Option<Departures>,
}

/// What a queue consists of.
#[derive(Debug)]
enum Parts {
    /// One queue, first in, first out.
    Whole(VecDeque<Queued>),
    /// With Backpressure Flow Control: physical queues.
    Lanes(Box<Lanes>),
    /// With Directional Rate Control, towards a switch: queues by direction.
    Directions(Box<Directions<Queued>>),
    /// Behind a crossbar: what has crossed.
    Crossed(Box<Egress>),
}

impl Default for Parts {
    fn default() -> Self {
        Self::Whole(VecDeque::new())
    }
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
    packets: Parts,
    times: Option<Box<Times>>,
}

impl Queue {
    /// An empty queue that consists of these physical queues.
    pub fn of_lanes(lanes: Lanes) -> Self {
        Self { packets: Parts::Lanes(Box::new(lanes)), ..Self::default() }
    }

    /// An empty queue that consists of queues by direction.
    pub fn of_directions(count: usize) -> Self {
        let directions = Box::new(Directions::new(count));
        Self { packets: Parts::Directions(directions), ..Self::default() }
    }

    /// An empty queue that keeps the time at which each of its packets came; `recorded`: and
    /// records departures.
    pub fn timed(recorded: bool) -> Self {
        let departures = recorded.then(Departures::default);
        let times = Times { arrivals: VecDeque::new(), departures };
        Self { times: Some(Box::new(times)), ..Self::default() }
    }

    /// The same behind a crossbar: what has crossed to it. `timed` as there, if times are kept.
    pub fn behind_crossbar(egress: Egress, timed: Option<bool>) -> Self {
        let packets = Parts::Crossed(Box::new(egress));
        Self { packets, ..timed.map(Self::timed).unwrap_or_default() }
    }

    /// Whether it is one queue, without parts and without a crossbar before it.
    #[inline]
    pub fn is_whole(&self) -> bool {
        matches!(self.packets, Parts::Whole(_))
    }

    /// Its physical queues, if it has any.
    #[inline]
    pub fn lanes(&self) -> Option<&Lanes> {
        match &self.packets {
            Parts::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// The same, to change them.
    #[inline]
    pub fn lanes_mut(&mut self) -> Option<&mut Lanes> {
        match &mut self.packets {
            Parts::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// Its queues by direction, if it has any.
    #[inline]
    pub fn directions_mut(&mut self) -> Option<&mut Directions<Queued>> {
        match &mut self.packets {
            Parts::Directions(directions) => Some(directions),
            _ => None,
        }
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

    /// The packet that would leave next; `None` also if all physical queues with packets are
    /// paused, no direction with packets may be arbitrated, or nothing has crossed.
    #[inline(always)]
    pub fn head(&self) -> Option<&Queued> {
        match &self.packets {
            Parts::Whole(packets) => packets.front(),
            Parts::Lanes(lanes) => lanes.head(),
            Parts::Directions(directions) => directions.head(),
            Parts::Crossed(egress) => egress.packets().front(),
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

    /// What is recorded about departures, if it is.
    pub fn departures(&self) -> Option<&Departures> {
        self.times.as_ref()?.departures.as_ref()
    }

    /// The packet at the head is about to leave: records how long the queue is, the packet
    /// included, and how long it has waited, if this queue is recorded.
    #[inline]
    pub fn record_departure(&mut self, now: Instant) {
        let (length, sojourn) = (self.len() as u64, self.sojourn(now));
        if let Some(departures) = self.times.as_mut().and_then(|times| times.departures.as_mut()) {
            departures.count(length, sojourn);
        }
    }

    /// The packet that would leave next, to be marked; `None` also of a queue that is not whole.
    pub fn head_mut(&mut self) -> Option<&mut Packet> {
        match &mut self.packets {
            Parts::Whole(packets) => packets.front_mut().map(|head| &mut head.packet),
            Parts::Lanes(_) | Parts::Directions(_) | Parts::Crossed(_) => None,
        }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, queued: Queued, now: Instant) {
        self.count_in(&queued.packet);
        let Parts::Whole(packets) = &mut self.packets else { unreachable!("it has no parts") };
        packets.push_back(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(now);
        }
    }

    /// Appends a packet to a physical queue; `counted`: as a reason to pause.
    #[inline]
    pub fn push_to_lane(&mut self, lane: u8, queued: Queued, counted: bool) {
        self.count_in(&queued.packet);
        self.lanes_mut().expect("it has lanes").push(lane, queued, counted);
    }

    /// Appends a packet to the queue of its direction.
    pub fn push_to_direction(&mut self, direction: u16, queued: Queued) {
        self.count_in(&queued.packet);
        self.directions_mut().expect("it has directions").push(direction, queued);
    }

    /// A packet that is bound for this queue has come to an input of the crossbar; `hidden`: that is
    /// no congestion here.
    pub fn expect(&mut self, packet: &Packet, hidden: bool) {
        self.count_in(packet);
        self.hidden += if hidden { packet.bytes.into() } else { 0 };
        self.crossed_mut().expect(packet);
    }

    /// A packet that was expected, and came `since` then, has crossed.
    pub fn take_over(&mut self, queued: Queued, since: Instant, hidden: bool) {
        self.hidden -= if hidden { queued.packet.bytes.into() } else { 0 };
        self.crossed_mut().push(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(since);
        }
    }

    /// A packet that was expected has been dropped at its input; what came before it by the same port
    /// has left.
    pub fn forget(&mut self, packet: &Packet, hidden: bool) {
        self.hidden -= if hidden { packet.bytes.into() } else { 0 };
        self.crossed_mut().forget(packet);
        self.backlog -= u64::from(packet.bytes);
        self.departed += 1;
    }

    fn crossed_mut(&mut self) -> &mut Egress {
        let Parts::Crossed(egress) = &mut self.packets else { unreachable!("it is behind one") };
        egress
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
        let Parts::Whole(packets) = &mut self.packets else { return None };
        let queued = packets.pop_front()?;
        if packets.is_empty() {
            // Begin at the front of the ring again, where the memory is in the cache.
            packets.clear();
        }
        self.backlog -= u64::from(queued.packet.bytes);
        self.departed += 1;
        if let Some(times) = &mut self.times {
            times.arrivals.pop_front();
        }
        Some(queued)
    }

    /// Removes the packet at the head of the physical queue whose turn it is; see [`Lanes::pop`].
    #[inline]
    pub fn pop_from_lane(&mut self, until: impl Fn(&Queued) -> Instant) -> Option<Left> {
        let left = self.lanes_mut()?.pop(until)?;
        self.backlog -= u64::from(left.queued.packet.bytes);
        self.departed += 1;
        Some(left)
    }

    /// Removes the packet at the head of the direction whose turn it is, with that direction.
    pub fn pop_from_direction(&mut self) -> Option<(u16, Queued)> {
        let (direction, queued) = self.directions_mut()?.pop()?;
        self.backlog -= u64::from(queued.packet.bytes);
        self.departed += 1;
        Some((direction, queued))
    }

    /// Removes the packet at the head of what has crossed.
    pub fn pop_crossed(&mut self) -> Option<Queued> {
        let queued = self.crossed_mut().pop()?;
        self.backlog -= u64::from(queued.packet.bytes);
        self.departed += 1;
        if let Some(times) = &mut self.times {
            times.arrivals.pop_front();
        }
        Some(queued)
    }

    /// The flows of the packets that wait, from the head.
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        self.iter().map(|queued| queued.packet.flow)
    }

    /// The number of packets that will have left when the last one of these flows that waits here
    /// has, or behind a crossbar a name of that one; 0 if none waits.
    pub fn clear_of(&self, flows: impl Fn(FlowId) -> bool) -> u64 {
        let packets = match &self.packets {
            Parts::Whole(packets) => packets,
            Parts::Crossed(egress) => return egress.last_of(flows),
            Parts::Lanes(_) | Parts::Directions(_) => return 0,
        };
        let last = packets.iter().rposition(|queued| flows(queued.packet.flow));
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the packets have left that [`Queue::clear_of`] has told of by this number.
    #[inline]
    pub fn has_let_go(&self, packets: u64) -> bool {
        match &self.packets {
            Parts::Crossed(egress) => egress.has_let_go(packets),
            _ => self.departed >= packets,
        }
    }

    /// Those whose packets wait; some more than once.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let (crossed, others) = match &self.packets {
            Parts::Crossed(egress) => (Some(egress.sources()), None),
            _ => (None, Some(self.iter().map(|queued| source_of(&queued.packet)))),
        };
        crossed.into_iter().flatten().chain(others.into_iter().flatten())
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
            && match &self.packets {
                Parts::Whole(_) => true,
                Parts::Lanes(lanes) => lanes.is_consistent(),
                Parts::Directions(directions) => directions.is_consistent(),
                Parts::Crossed(egress) => egress.is_consistent(packets + count as u64),
            }
    }

    /// The packets that wait, without those at the inputs of a crossbar.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        let (whole, lanes, directions) = match &self.packets {
            Parts::Whole(packets) => (Some(packets.iter()), None, None),
            Parts::Lanes(lanes) => (None, Some(lanes.iter()), None),
            Parts::Directions(directions) => (None, None, Some(directions.iter())),
            Parts::Crossed(egress) => (Some(egress.packets().iter()), None, None),
        };
        let lanes = lanes.into_iter().flatten();
        whole.into_iter().flatten().chain(lanes).chain(directions.into_iter().flatten())
    }
}
