//! Active queue management: what happens to a packet because of the queues of its port, when it
//! arrives and when it is about to leave.
//!
//! There are no timers. An algorithm with periodic updates catches up on them when it is asked
//! next, which is exact: every packet that joins or leaves a data queue is shown to it first, and in
//! between only time goes on.

pub mod bernoulli;
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
#[cfg(test)]
mod stand;
pub mod step;

use floodway_model::random::Stream;
use floodway_model::{Duration, Instant, Packet, Rate};

use super::queue::Queue;
use crate::link::Transmitter;
pub use red::MeasuredOn;

floodway_model::family! {
    /// How an egress queue tells its senders of congestion.
    "switch.aqm":
    DropTail = "drop_tail" (drop_tail::Spec): "Takes everything until the queue is full.",
    Ramp = "ramp" (ramp::Spec):
        "Marks by instantaneous depth, from 0 at a low to a maximum at a high threshold (WRED/ECN).",
    Step = "step" (step::Spec): "Marks every packet above one threshold of the depth (DCTCP).",
    Red = "red" (red::Spec): "Random early detection on the average depth, as Linux `tc red`.",
    Codel = "codel" (codel::Spec): "Controlled delay: drops at the head by sojourn time (RFC 8289).",
    Pie = "pie" (pie::Spec): "Proportional integral controller of the delay (RFC 8033).",
    Bernoulli = "bernoulli" (bernoulli::Spec): "Congestion at random, with a constant probability.",
    Coupled = "coupled" (coupled::Spec):
        "Marks scalable packets by the queue from the origin, drops classic ones by the square.",
    Pi2 = "pi2" (pi2::Spec):
        "A PI controller of the queue delay, squared for classic packets (PI2).",
    DualQ = "dualq" (dualq::Spec):
        "A low latency queue coupled to the waiting time of a classic queue (DualQ, 2015).",
    CurvyRed = "curvy_red" (curvy_red::Spec):
        "The same with a smoothed waiting time for the classic queue (RFC 9332 appendix B).",
    DualPi2 = "dualpi2" (dualpi2::Spec):
        "A low latency and a classic queue under one PI controller (RFC 9332 appendix A, Linux).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::DropTail(drop_tail::Spec::default())
    }
}

impl Spec {
    /// Whether it is to see packets that leave too, to judge them or to know the queues at every
    /// moment.
    pub const fn judges_departures(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::Ramp(_) | Self::Step(_) => false,
            Self::Red(_) | Self::Bernoulli(_) => false,
            Self::Codel(_) | Self::Pie(_) => true,
            Self::Coupled(_)
            | Self::Pi2(_)
            | Self::DualQ(_)
            | Self::CurvyRed(_)
            | Self::DualPi2(_) => true,
        }
    }

    /// Whether it asks how long packets have waited, so that queues must keep their arrival times.
    pub const fn needs_times(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::Ramp(_) | Self::Step(_) => false,
            Self::Red(_) | Self::Bernoulli(_) => false,
            Self::Codel(_) | Self::Pie(_) => true,
            Self::Coupled(spec) => matches!(spec.measure, coupled::Measure::Time),
            Self::Pi2(_) | Self::DualQ(_) | Self::CurvyRed(_) | Self::DualPi2(_) => true,
        }
    }

    /// What it measures to find congestion: the queue, but for [`red`], which may look at all.
    pub const fn measured_on(&self) -> MeasuredOn {
        match self {
            Self::Red(spec) => spec.measured_on,
            _ => MeasuredOn::Queue,
        }
    }

    /// Whether it is for two queues, one for low latency and one for classic packets, as
    /// [`classify::ecn`](super::classify::ecn) numbers them.
    pub const fn is_for_two_queues(&self) -> bool {
        matches!(self, Self::DualQ(_) | Self::CurvyRed(_) | Self::DualPi2(_))
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
    /// The data queues. How long their heads have waited is known if [`Spec::needs_times`].
    pub queues: &'a [Queue],
    /// Bytes that wait in all data queues of the switch.
    pub memory: u64,
    /// Whether every packet can tell of congestion, because layer 2 indicates it.
    pub indicates: bool,
    /// The sending end that they lead to: when it is free, and what its link is like.
    pub tx: &'a Transmitter,
    /// The time.
    pub now: Instant,
    /// The chance of the switch.
    pub chance: &'a mut Stream,
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
    pub fn can_tell(&self, packet: &Packet) -> bool {
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
        (0..randoms).all(|_| self.chance.chance(number))
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

/// An algorithm with a memory: one for all data queues of a port.
pub trait Aqm {
    /// About a packet that is to join `queue`. The port may still have no room for it.
    fn on_arrival(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let _ = (queue, packet, view);
        Verdict::Pass
    }

    /// About the packet at the head of `queue`, which is to leave; how long it has waited is the
    /// sojourn time of its queue. Only asked if [`Spec::judges_departures`].
    fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        let _ = (queue, packet, view);
        Verdict::Pass
    }
}

/// The queue management of one port: an algorithm with what it remembers.
#[derive(Debug)]
pub enum State {
    /// It has neither parameters nor memory.
    DropTail,
    /// It remembers nothing.
    Ramp(ramp::Spec),
    /// It remembers nothing.
    Step(step::Spec),
    /// An average per queue.
    Red(Box<red::Red>),
    /// Times per queue.
    Codel(codel::Codel),
    /// A controller per queue.
    Pie(Box<pie::Pie>),
    /// It remembers nothing.
    Bernoulli(bernoulli::Spec),
    /// It remembers nothing.
    Coupled(coupled::Spec),
    /// A controller for each queue.
    Pi2(pi2::State),
    /// It remembers nothing.
    DualQ(dualq::Spec),
    /// A smoothed waiting time.
    CurvyRed(curvy_red::State),
    /// A controller.
    DualPi2(dualpi2::State),
}

impl State {
    /// That of a port with this many data queues, or of all ports of a switch. Panics if the spec is not valid.
    pub fn new(spec: &Spec, queues: usize) -> Self {
        match spec {
            Spec::DropTail(_) => Self::DropTail,
            Spec::Ramp(spec) => Self::Ramp(spec.clone()),
            Spec::Step(spec) => Self::Step(spec.clone()),
            Spec::Red(spec) => {
                let tc = spec.tc().unwrap_or_else(|wrong| panic!("RED: {wrong}"));
                Self::Red(Box::new(red::Red::new(tc, spec.measured_on, queues)))
            }
            Spec::Codel(spec) => Self::Codel(codel::Codel::new(spec, queues)),
            Spec::Pie(spec) => Self::Pie(Box::new(pie::Pie::new(spec, queues))),
            Spec::Bernoulli(spec) => Self::Bernoulli(spec.clone()),
            Spec::Coupled(spec) => Self::Coupled(spec.clone()),
            Spec::Pi2(spec) => Self::Pi2(pi2::State::new(spec, queues)),
            Spec::DualQ(spec) => Self::DualQ(spec.clone()),
            Spec::CurvyRed(spec) => Self::CurvyRed(curvy_red::State::new(spec)),
            Spec::DualPi2(spec) => Self::DualPi2(dualpi2::State::new(spec)),
        }
    }

    /// The last packet has left the memory of the switch: of interest if that is
    /// [measured](Spec::measured_on).
    pub fn on_empty(&mut self, now: Instant) {
        if let Self::Red(red) = self {
            red.on_empty(now);
        }
    }

    /// See [`Aqm::on_arrival`].
    #[inline]
    pub fn on_arrival(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        match self {
            Self::DropTail => Verdict::Pass,
            Self::Ramp(ramp) => Verdict::congested(ramp.selects(view.backlog(queue), view.chance)),
            Self::Step(step) => Verdict::congested(step.selects(view.backlog(queue))),
            Self::Red(red) => red.on_arrival(queue, packet, view),
            Self::Codel(_) => Verdict::Pass,
            Self::Pie(pie) => pie.on_arrival(queue, packet, view),
            Self::Bernoulli(bernoulli) => Verdict::congested(bernoulli.selects(view.chance)),
            Self::Coupled(aqm) => aqm.on_arrival(queue, packet, view),
            Self::Pi2(aqm) => aqm.on_arrival(queue, packet, view),
            Self::DualQ(aqm) => aqm.on_arrival(queue, packet, view),
            Self::CurvyRed(aqm) => aqm.on_arrival(queue, packet, view),
            Self::DualPi2(aqm) => aqm.on_arrival(queue, packet, view),
        }
    }

    /// See [`Aqm::on_departure`].
    #[inline]
    pub fn on_departure(&mut self, queue: usize, packet: &Packet, view: &mut View<'_>) -> Verdict {
        match self {
            Self::Codel(codel) => codel.on_departure(queue, packet, view),
            Self::Pie(pie) => pie.on_departure(queue, packet, view),
            Self::Coupled(aqm) => aqm.on_departure(queue, packet, view),
            Self::Pi2(aqm) => aqm.on_departure(queue, packet, view),
            Self::DualQ(aqm) => aqm.on_departure(queue, packet, view),
            Self::CurvyRed(aqm) => aqm.on_departure(queue, packet, view),
            Self::DualPi2(aqm) => aqm.on_departure(queue, packet, view),
            _ => Verdict::Pass,
        }
    }
}
