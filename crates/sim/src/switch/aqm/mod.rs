//! Active queue management: AQM decisions on packets, at enqueue and at dequeue.
//!
//! There are no timers. An algorithm with periodic updates catches up on them at its next call.
//! This is exact: the algorithm sees every packet before it joins or leaves a data queue, and
//! between two calls only time passes.

pub mod avq;
pub mod bernoulli;
pub mod blue;
mod check;
pub mod codel;
#[cfg(test)]
mod conformance;
pub mod coupled;
pub mod curvy_red;
pub mod drop_tail;
pub mod dualpi2;
pub mod dualq;
mod periodic;
mod pi;
pub mod pi2;
pub mod pie;
pub mod ramp;
pub mod red;
pub mod regular;
#[cfg(test)]
pub(crate) mod stand;
pub mod step;

use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, Instant, Packet, Rate};

use super::classify::ecn::Scalable;
use super::queue::Queue;
use crate::link::Transmitter;

pub use red::MeasuredOn;

floodway_model::family! {
    /// How an egress queue signals congestion to senders.
    "switch.aqm" with Aqm {
        new(queues: usize);
        parameters {
            decides_on_lone_packets() -> bool;
            decides_on_arrival() -> bool;
            decides_on_departure() -> bool;
            is_for_two_queues() -> bool;
            needs_times() -> bool;
            no_marks() -> Option<&'static str>;
            needs_ecn() -> &'static [&'static str];
            scalable() -> Option<Scalable>;
            threshold() -> Option<(&'static str, Bytes)>;
            on_arrival_instead() -> Option<&'static str>;
            measured_on() -> MeasuredOn;
        }
        state {}
        mut state {
            on_arrival(queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict;
            on_departure(queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict;
            on_overflow(queue: usize, packet: &Packet, view: &mut View<'_>);
            on_empty(now: Instant);
            start_at(now: Instant);
        }
    }
    DropTail = "drop_tail" in drop_tail: "Takes everything until the queue is full.",
    Ramp = "ramp" in ramp:
        "Marks by instantaneous depth, from 0 at a low to a maximum at a high threshold (WRED/ECN).",
    Step = "step" in step: "Marks every packet above one threshold of the depth (DCTCP).",
    Red = "red" in red, boxed: "Random early detection on the average depth, as Linux `tc red`.",
    Codel = "codel" in codel: "Controlled delay: drops at the head by sojourn time (RFC 8289).",
    Pie = "pie" in pie, boxed: "Proportional integral controller of the delay (RFC 8033).",
    Bernoulli = "bernoulli" in bernoulli: "Congestion at random, with a constant probability.",
    Regular = "regular" in regular: "Congestion at even distances: every n-th packet with data.",
    Blue = "blue" in blue: "One probability that losses raise and an idle link lowers (BLUE).",
    Coupled = "coupled" in coupled:
        "Marks scalable packets by the queue from the origin, drops classic ones by the square.",
    Pi2 = "pi2" in pi2:
        "A PI controller of the queue delay, squared for classic packets (PI2).",
    DualQ = "dualq" in dualq:
        "A low latency queue coupled to the waiting time of a classic queue (DualQ, 2015).",
    CurvyRed = "curvy_red" in curvy_red:
        "The same with a smoothed waiting time for the classic queue (RFC 9332 appendix B).",
    DualPi2 = "dualpi2" in dualpi2:
        "A low latency and a classic queue under one PI controller (RFC 9332 appendix A, Linux).",
    Avq = "avq" in avq:
        "A virtual queue, slower than the link, whose overflow is congestion (Adaptive Virtual Queue).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::DropTail(drop_tail::Spec::default())
    }
}

impl Spec {
    /// The parameters for ports of one rate.
    pub fn for_rate(&self, rate: Rate) -> Self {
        match self {
            Self::Ramp(spec) => Self::Ramp(spec.for_rate(rate)),
            other => other.clone(),
        }
    }
}

/// An AQM decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Forward the packet unchanged.
    Pass,
    /// Signal congestion to the sender: with a mark if the packet is ECN-capable, otherwise with a
    /// drop. With [layer 2 congestion indication](super::congestion_indication), indicate it,
    /// whatever the packet.
    Congested,
    /// Drop the packet, whatever its ECN field says.
    Drop,
}

impl Verdict {
    /// `Congested` if the argument is true, otherwise `Pass`.
    #[inline]
    pub const fn congested(congested: bool) -> Self {
        if congested { Self::Congested } else { Self::Pass }
    }
}

/// What an algorithm sees: the port as it is before the packet joins, or while the departing packet
/// is still at the head of its queue.
#[derive(Debug)]
pub struct View<'a> {
    /// The data queues. The sojourn times of their heads are known with [`Aqm::needs_times`].
    pub queues: &'a [Queue],
    /// Bytes queued in all data queues of the switch that count as congestion.
    pub memory: u64,
    /// Whether every packet can signal congestion, because layer 2 congestion indication is
    /// enabled.
    pub indicates: bool,
    /// The transmitter of the port: when it is free, and the properties of its link.
    pub tx: &'a Transmitter,
    /// Current time.
    pub now: Instant,
    /// The RNG stream of the switch.
    pub rng: &'a mut Stream,
}

impl View<'_> {
    /// Bytes in a queue, without preamble and interframe gap; behind a crossbar, only those that
    /// count as congestion.
    #[inline]
    pub fn backlog(&self, queue: usize) -> u64 {
        self.queues[queue].congestion()
    }

    /// The buffer space that a packet occupies, in whole cells, as the backlog counts it.
    #[inline]
    pub fn occupied(&self, packet: &Packet) -> u64 {
        self.occupied_by(packet.bytes)
    }

    fn occupied_by(&self, bytes: u16) -> u64 {
        self.queues.first().map_or(bytes, |queue| queue.occupied(bytes)).into()
    }

    /// The same, summed over all data queues.
    pub fn total_backlog(&self) -> u64 {
        self.queues.iter().map(Queue::congestion).sum()
    }

    /// Packets in a queue.
    #[inline]
    pub fn packets(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    /// Whether the packet can signal congestion, so that it need not be dropped instead.
    #[inline]
    pub fn can_mark(&self, packet: &Packet) -> bool {
        self.indicates || packet.ecn().is_capable()
    }

    /// Sojourn time of the head of a queue; zero if the queue is empty.
    #[inline]
    pub fn sojourn(&self, queue: usize) -> Duration {
        self.queues[queue].sojourn(self.now)
    }

    /// The same at time `at`, provided that no packet has joined or left the queue since.
    #[inline]
    pub fn sojourn_at(&self, queue: usize, at: Instant) -> Duration {
        self.queues[queue].sojourn(at)
    }

    /// True with the square of a probability: if it is larger than both of two random numbers.
    #[inline]
    pub fn squared(&mut self, probability: f64) -> bool {
        self.exceeds(probability, 2)
    }

    /// Whether a number from 0 to 1 is larger than each of this many random numbers.
    #[inline]
    pub fn exceeds(&mut self, number: f64, randoms: u8) -> bool {
        (0..randoms).all(|_| self.rng.bernoulli(number))
    }

    /// The rate of the link.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.tx.link().rate
    }

    /// Largest possible frame, in bytes as backlogs count them.
    #[inline]
    pub fn largest_frame(&self) -> u64 {
        self.occupied_by(self.tx.link().largest_frame)
    }

    /// The same with preamble and interframe gap, in bytes as schedulers count them.
    #[inline]
    pub fn largest_on_wire(&self) -> u64 {
        let link = self.tx.link();
        u64::from(link.largest_frame) + u64::from(link.wire_overhead)
    }
}

/// An AQM algorithm, as its state for all data queues of a port. The state of a stateless algorithm
/// is its parameters.
pub trait Aqm {
    /// Its parameters.
    type Spec;

    /// Whether it is called when packets are dequeued, to decide on them or to know the queues at
    /// all times.
    const JUDGES_DEPARTURES: bool = false;

    /// Whether it is for a dual queue, with one queue for low latency and one for classic packets,
    /// numbered as in [`classify::ecn`](super::classify::ecn).
    fn is_for_two_queues(_spec: &Self::Spec) -> bool {
        false
    }

    /// Whether it may decide at enqueue, with these parameters, or must know what joins the queues.
    fn decides_on_arrival(_spec: &Self::Spec) -> bool {
        true
    }

    /// Whether it is called at dequeue, with these parameters.
    fn decides_on_departure(_spec: &Self::Spec) -> bool {
        Self::JUDGES_DEPARTURES
    }

    /// Whether the dequeue calls must include packets that find the port idle and leave at once.
    /// Not needed if the algorithm always passes such packets and keeps no state about them.
    fn decides_on_lone_packets(spec: &Self::Spec) -> bool {
        Self::decides_on_departure(spec)
    }

    /// Initial state for a port with this many data queues, or for all ports of a switch. May panic
    /// if the parameters are invalid.
    fn new(spec: &Self::Spec, queues: usize) -> Self;

    /// Whether it uses sojourn times, so that queues must record arrival times. Usual for
    /// algorithms that decide at dequeue.
    fn needs_times(_spec: &Self::Spec) -> bool {
        Self::JUDGES_DEPARTURES
    }

    /// The path of the field because of which it never marks; `None` if it may mark.
    fn no_marks(_spec: &Self::Spec) -> Option<&'static str> {
        None
    }

    /// The fields that, with these values, affect only ECN-capable packets.
    fn needs_ecn(_spec: &Self::Spec) -> &'static [&'static str] {
        &[]
    }

    /// How it distinguishes scalable from classic packets by the ECN field (its field `scalable`),
    /// if it does so itself.
    fn scalable(_spec: &Self::Spec) -> Option<Scalable> {
        None
    }

    /// A field with a depth that queues must be able to reach, and its value.
    fn threshold(_spec: &Self::Spec) -> Option<(&'static str, Bytes)> {
        None
    }

    /// The setting that makes it decide at enqueue only, suggested where it cannot decide at
    /// dequeue; `None` if there is none.
    fn on_arrival_instead(_spec: &Self::Spec) -> Option<&'static str> {
        None
    }

    /// The backlog in which it detects congestion: that of the queue, except for [`red`], which may
    /// be set to measure a port or the switch.
    fn measured_on(_spec: &Self::Spec) -> MeasuredOn {
        MeasuredOn::Queue
    }

    /// Decision on a packet about to join `queue`. The port may still have no room for it.
    #[inline]
    fn on_arrival(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Decision on the packet at the head of `queue`, which is about to leave; its sojourn time is
    /// that of its queue. Only called with [`Aqm::decides_on_departure`].
    #[inline]
    fn on_departure(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) -> Verdict {
        Verdict::Pass
    }

    /// A packet of `queue` is dropped because there is no room: either one that has just arrived,
    /// after [`Aqm::on_arrival`] about it, or a queued one that is dropped in its place.
    fn on_overflow(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) {}

    /// The last packet has left the buffer of the switch. Only called if that is
    /// [measured](Aqm::measured_on).
    fn on_empty(&mut self, _now: Instant) {}

    /// It begins at this time, in the place of another algorithm, rather than at time zero. Called before all else, of an
    /// algorithm that is put in place during a run. The default does nothing, for algorithms whose initial state names
    /// no time.
    fn start_at(&mut self, _now: Instant) {}
}
