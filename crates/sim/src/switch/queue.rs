//! Egress queues: first in, first out, with their own half of the books.

use std::collections::VecDeque;

use floodway_model::{Duration, FlowId, Instant, Packet};

use super::flow_control::bfc::{Lanes, Left};
use super::flow_control::drc::Directions;
use crate::metric::Departures;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet, still with the port and class by which it came in.
    pub packet: Packet,
    /// It may leave once this many packets have left the monitored queue: how an isolated flow
    /// stays in order. 0 for every other packet.
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
}

impl Default for Parts {
    fn default() -> Self {
        Self::Whole(VecDeque::new())
    }
}

/// One egress queue.
#[derive(Debug, Default)]
pub struct Queue {
    packets: Parts,
    times: Option<Box<Times>>,
    backlog: u64,
    departed: u64,
    /// The largest backlog there has been, bytes.
    pub max_backlog: u64,
    /// Packets that joined.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Packets that were marked, or indicated, on joining or on leaving.
    pub marked: u64,
    /// Sum of the sampled backlogs, bytes.
    pub sampled: u64,
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

    /// Whether it is one queue, without parts.
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
    /// paused, or no direction with packets may be arbitrated.
    #[inline(always)]
    pub fn head(&self) -> Option<&Queued> {
        match &self.packets {
            Parts::Whole(packets) => packets.front(),
            Parts::Lanes(lanes) => lanes.head(),
            Parts::Directions(directions) => directions.head(),
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

    /// The packet that would leave next, to be marked; `None` also of a queue that consists of parts.
    pub fn head_mut(&mut self) -> Option<&mut Packet> {
        match &mut self.packets {
            Parts::Whole(packets) => packets.front_mut().map(|head| &mut head.packet),
            Parts::Lanes(_) | Parts::Directions(_) => None,
        }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, queued: Queued, now: Instant) {
        self.count_in(&queued);
        let Parts::Whole(packets) = &mut self.packets else { unreachable!("it has no parts") };
        packets.push_back(queued);
        if let Some(times) = &mut self.times {
            times.arrivals.push_back(now);
        }
    }

    /// Appends a packet to a physical queue; `counted`: as a reason to pause.
    #[inline]
    pub fn push_to_lane(&mut self, lane: u8, queued: Queued, counted: bool) {
        self.count_in(&queued);
        self.lanes_mut().expect("it has lanes").push(lane, queued, counted);
    }

    /// Appends a packet to the queue of its direction.
    pub fn push_to_direction(&mut self, direction: u16, queued: Queued) {
        self.count_in(&queued);
        self.directions_mut().expect("it has directions").push(direction, queued);
    }

    #[inline]
    fn count_in(&mut self, queued: &Queued) {
        let bytes = u64::from(queued.packet.bytes);
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

    /// The number of packets that will have left when the last one of `flow` that waits here has;
    /// 0 if none waits.
    pub fn clear_of(&self, flow: FlowId) -> u64 {
        let Parts::Whole(packets) = &self.packets else { return 0 };
        let last = packets.iter().rposition(|queued| queued.packet.flow == flow);
        last.map_or(0, |place| self.departed + place as u64 + 1)
    }

    /// Whether the books agree with the packets.
    pub fn is_consistent(&self) -> bool {
        let bytes: u64 = self.iter().map(|queued| u64::from(queued.packet.bytes)).sum();
        bytes == self.backlog
            && self.packets_in == self.departed + self.iter().count() as u64
            && self.times.as_ref().is_none_or(|times| times.arrivals.len() == self.len())
            && match &self.packets {
                Parts::Whole(_) => true,
                Parts::Lanes(lanes) => lanes.is_consistent(),
                Parts::Directions(directions) => directions.is_consistent(),
            }
    }

    /// The packets that wait.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        let (whole, lanes, directions) = match &self.packets {
            Parts::Whole(packets) => (Some(packets.iter()), None, None),
            Parts::Lanes(lanes) => (None, Some(lanes.iter()), None),
            Parts::Directions(directions) => (None, None, Some(directions.iter())),
        };
        let lanes = lanes.into_iter().flatten();
        whole.into_iter().flatten().chain(lanes).chain(directions.into_iter().flatten())
    }
}
