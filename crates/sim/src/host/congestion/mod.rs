//! Congestion control: how fast a flow may send, and how much at once.
//!
//! An algorithm is told what happens to its flow and asked for a rate and a window; it writes only
//! the methods it cares about. It sets no timers: what it does by the clock it catches up on when it is asked,
//! because a rate matters only at the moment when a packet is sent.

pub mod dcqcn;
pub mod line_rate;

use floodway_model::{Instant, Rate};

floodway_model::family! {
    /// How fast a flow may send.
    "host.congestion":
    LineRate = "line_rate" (line_rate::Spec): "No control: every flow sends as fast as the NIC.",
    Dcqcn = "dcqcn" (dcqcn::Spec): "Rate control of RoCEv2 by congestion notification packets.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Dcqcn(dcqcn::Spec::default())
    }
}

/// One flow's congestion control, told of events in order of time.
pub trait Control {
    /// The algorithm's parameters.
    type Spec;

    /// Bits per second on the wire at which the next packet may follow the one that is sent now;
    /// `None` for as fast as the NIC.
    fn rate(&mut self, spec: &Self::Spec, now: Instant) -> Option<f64>;

    /// The most payload bytes that are sent and not acknowledged; `None` for no limit. Asked when a
    /// packet is sent and when feedback has come.
    #[inline]
    fn window(&mut self, _spec: &Self::Spec, _now: Instant) -> Option<u64> {
        None
    }

    /// A frame of this many bytes is sent.
    fn on_send(&mut self, _spec: &Self::Spec, _now: Instant, _bytes: u64) {}

    /// A congestion notification packet has come back.
    fn on_cnp(&mut self, _spec: &Self::Spec, _now: Instant) {}
}

/// The state of one flow, whichever the algorithm.
#[derive(Debug)]
pub enum State {
    /// See [`line_rate`].
    LineRate(line_rate::State),
    /// See [`dcqcn`].
    Dcqcn(dcqcn::State),
}

/// Calls a method of the state of the chosen algorithm with its parameters.
macro_rules! dispatch {
    ($self:ident, $spec:ident, $method:ident $(, $argument:expr)*) => {
        match ($self, $spec) {
            (State::LineRate(state), Spec::LineRate(spec)) => state.$method(spec $(, $argument)*),
            (State::Dcqcn(state), Spec::Dcqcn(spec)) => state.$method(spec $(, $argument)*),
            _ => unreachable!("a state is made from its own parameters"),
        }
    };
}

impl State {
    /// The state of a flow that begins, at a NIC of this rate.
    pub fn new(spec: &Spec, line_rate: Rate) -> Self {
        match spec {
            Spec::LineRate(_) => Self::LineRate(line_rate::State),
            Spec::Dcqcn(spec) => Self::Dcqcn(dcqcn::State::new(spec, line_rate)),
        }
    }

    /// See [`Control::rate`].
    #[inline]
    pub fn rate(&mut self, spec: &Spec, now: Instant) -> Option<f64> {
        dispatch!(self, spec, rate, now)
    }

    /// See [`Control::window`].
    #[inline]
    pub fn window(&mut self, spec: &Spec, now: Instant) -> Option<u64> {
        dispatch!(self, spec, window, now)
    }

    /// See [`Control::on_send`].
    #[inline]
    pub fn on_send(&mut self, spec: &Spec, now: Instant, bytes: u64) {
        dispatch!(self, spec, on_send, now, bytes);
    }

    /// See [`Control::on_cnp`].
    pub fn on_cnp(&mut self, spec: &Spec, now: Instant) {
        dispatch!(self, spec, on_cnp, now);
    }
}

impl Spec {
    /// The least time between two CNPs of a flow at the receiver; `None` if it sends none.
    pub fn cnp_interval(&self) -> Option<floodway_model::Duration> {
        match self {
            Self::LineRate(_) => None,
            Self::Dcqcn(spec) => Some(spec.cnp_interval),
        }
    }
}
