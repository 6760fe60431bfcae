//! Active queue management: what happens to a packet because of the queues of its port, when it
//! arrives and when it is about to leave.
//!
//! There are no timers. An algorithm with periodic updates catches up on them when it is asked
//! next, which is exact: every packet that joins or leaves a data queue is shown to it first, and in
//! between only time goes on.

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
pub(super) mod stand;
pub mod step;

use floodway_model::random::Stream;
use floodway_model::{Bytes, Duration, Instant, Packet, Rate};

use super::classify::ecn::Scalable;
use super::queue::Queue;
use crate::link::Transmitter;

pub use red::MeasuredOn;

floodway_model::family! {
    /// How an egress queue tells its senders of congestion.
    "switch.aqm" with Aqm {
        new(queues: usize);
        parameters {
            decides_on_lone_packets() -> bool;
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
}

impl Default for Spec {
    fn default() -> Self {
        Self::DropTail(drop_tail::Spec::default())
    }
}

impl Spec {
    /// That of the ports of one rate.
    pub fn for_rate(&self, rate: Rate) -> Self {
        match self {
            Self::Ramp(spec) => Self::Ramp(spec.for_rate(rate)),
            other => other.clone(),
        }
    }
}

/// What is to happen to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Pass,
    /// Its sender is to be told of congestion: a mark if the packet is ECN-capable, else a drop; with
    /// [layer 2 congestion indication](super::congestion_indication) that, whatever the packet.
    Congested,
    /// It is dropped, whatever its ECN field says.
    Drop,
}

impl Verdict {
    /// Congested or not.
    #[inline]
    pub const fn congested(congested: bool) -> Self {
        if congested { Self::Congested } else { Self::Pass }
    }
}

/// What an algorithm may look at: the port as it is before the packet joins, or while the packet
/// that is to leave is still at the head of its queue.
#[derive(Debug)]
pub struct View<'a> {
    /// The data queues. How long their heads have waited is known with [`Aqm::needs_times`].
    pub queues: &'a [Queue],
    /// Bytes that wait in all data queues of the switch, as far as they count as congestion.
    pub memory: u64,
    /// Whether every packet can tell of congestion, because layer 2 indicates it.
    pub indicates: bool,
    /// The sending end that they lead to: when it is free, and what its link is like.
    pub tx: &'a Transmitter,
    /// The time.
    pub now: Instant,
    /// The chance of the switch.
    pub rng: &'a mut Stream,
}

impl View<'_> {
    /// Bytes that wait in a queue, without preamble and gap; behind a crossbar, as far as they
    /// count as congestion.
    #[inline]
    pub fn backlog(&self, queue: usize) -> u64 {
        self.queues[queue].congestion()
    }

    /// The same in all data queues.
    pub fn total_backlog(&self) -> u64 {
        self.queues.iter().map(Queue::congestion).sum()
    }

    /// Packets that wait in a queue.
    #[inline]
    pub fn packets(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    /// Whether the packet can tell of congestion, so that it need not be dropped for it.
    #[inline]
    pub fn can_mark(&self, packet: &Packet) -> bool {
        self.indicates || packet.ecn().is_capable()
    }

    /// How long the head of a queue has waited; zero if it is empty.
    #[inline]
    pub fn sojourn(&self, queue: usize) -> Duration {
        self.queues[queue].sojourn(self.now)
    }

    /// The same at a moment since which no packet has joined or left the queue.
    #[inline]
    pub fn sojourn_at(&self, queue: usize, at: Instant) -> Duration {
        self.queues[queue].sojourn(at)
    }

    /// True with the square of a probability: it is larger than the larger of two random numbers.
    #[inline]
    pub fn squared(&mut self, probability: f64) -> bool {
        self.exceeds(probability, 2)
    }

    /// Whether a number from 0 to 1 is larger than the largest of so many random numbers.
    #[inline]
    pub fn exceeds(&mut self, number: f64, randoms: u8) -> bool {
        (0..randoms).all(|_| self.rng.bernoulli(number))
    }

    /// The rate of the link.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.tx.link().rate
    }

    /// The longest frame there is, in bytes as backlogs count them.
    #[inline]
    pub fn largest_frame(&self) -> u64 {
        self.tx.link().largest_frame.into()
    }

    /// The same with preamble and gap, in bytes as schedulers count them.
    #[inline]
    pub fn largest_on_wire(&self) -> u64 {
        self.largest_frame() + u64::from(self.tx.link().wire_overhead)
    }
}

/// An algorithm, as what it remembers of all data queues of a port. One that remembers nothing is its
/// own parameters.
pub trait Aqm {
    /// Its parameters.
    type Spec;

    /// Whether it is to see packets that leave too, to judge them or to know the queues at every
    /// moment.
    const JUDGES_DEPARTURES: bool = false;

    /// Whether it is for two queues, one for low latency and one for classic packets, as
    /// [`classify::ecn`](super::classify::ecn) numbers them.
    fn is_for_two_queues(_spec: &Self::Spec) -> bool {
        false
    }

    /// Whether it is to see packets that leave with these parameters.
    fn decides_on_departure(_spec: &Self::Spec) -> bool {
        Self::JUDGES_DEPARTURES
    }

    /// Whether packets that find the port idle and leave at once are among those that it is to see
    /// leave: not if it never has anything against them and does not remember them.
    fn decides_on_lone_packets(spec: &Self::Spec) -> bool {
        Self::decides_on_departure(spec)
    }

    /// That of a port with this many data queues, or of all ports of a switch. May panic if the
    /// parameters are not valid.
    fn new(spec: &Self::Spec, queues: usize) -> Self;

    /// Whether it asks how long packets have waited, so that queues must keep their arrival times:
    /// what judges departures usually does.
    fn needs_times(_spec: &Self::Spec) -> bool {
        Self::JUDGES_DEPARTURES
    }

    /// The path of the field that says that it marks nothing; `None` if it marks.
    fn no_marks(_spec: &Self::Spec) -> Option<&'static str> {
        None
    }

    /// The fields that act on ECN-capable packets only, with these values.
    fn needs_ecn(_spec: &Self::Spec) -> &'static [&'static str] {
        &[]
    }

    /// How it distinguishes scalable from classic packets by the ECN field, its field `scalable`, if it does
    /// that itself.
    fn scalable(_spec: &Self::Spec) -> Option<Scalable> {
        None
    }

    /// A field with a depth that queues must be able to reach, and its value.
    fn threshold(_spec: &Self::Spec) -> Option<(&'static str, Bytes)> {
        None
    }

    /// How it is made to judge arrivals only, as a remedy where it cannot judge departures; `None` if it
    /// cannot.
    fn on_arrival_instead(_spec: &Self::Spec) -> Option<&'static str> {
        None
    }

    /// What it measures to find congestion: the queue, but for [`red`], which may look at all.
    fn measured_on(_spec: &Self::Spec) -> MeasuredOn {
        MeasuredOn::Queue
    }

    /// About a packet that is to join `queue`. The port may still have no room for it.
    #[inline]
    fn on_arrival(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) -> Verdict {
        Verdict::Pass
    }

    /// About the packet at the head of `queue`, which is to leave; how long it has waited is the
    /// sojourn time of its queue. Only asked with [`Aqm::decides_on_departure`].
    #[inline]
    fn on_departure(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) -> Verdict {
        Verdict::Pass
    }

    /// A packet of `queue` is dropped for want of room: one that has arrived, after [`Aqm::on_arrival`] about it,
    /// or one that has waited and is dropped in its place.
    fn on_overflow(&mut self, _queue: usize, _packet: &Packet, _view: &mut View<'_>) {}

    /// The last packet has left the memory of the switch. Only told if that is
    /// [measured](Aqm::measured_on).
    fn on_empty(&mut self, _now: Instant) {}
}
