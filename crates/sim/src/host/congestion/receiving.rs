//! The receiver's half of congestion control: what a receiving host does so that senders send neither too
//! fast nor too slowly. It sees what arrives for all flows of its algorithm at the host, and answers with
//! credit: frames that let a sender send.
//!
//! There is one half per algorithm and host, not per flow, because what it shares out is the host's link.
//! An algorithm has one if its row in `algorithms!` names its type. Hosts without such flows have none, and
//! are asked for it at most once per packet that arrives.

use std::fmt;

use floodway_model::{Duration, Instant};

/// The receiver's half of a congestion control in one host, called in order of time. Every method has a
/// default, so that an algorithm writes only what it uses.
pub trait Receiving: fmt::Debug {
    /// The algorithm's parameters, which belong to a flow: two workloads may differ in them.
    type Spec;

    /// Of a host that receives so many flows, whatever controls them.
    fn new(flows: usize) -> Self;

    /// Data or the header of a trimmed packet has arrived, of a flow that is not complete.
    fn on_arrival(&mut self, _spec: &Self::Spec, _arrival: &Arrival) {}

    /// The flow at this place is complete: it needs no more credit. Called again with each packet that
    /// arrives after that.
    fn on_end(&mut self, _spec: &Self::Spec, _place: u32, _now: Instant) {}

    /// When [`Receiving::next_credit`] has something to send or to do; [`Instant::NEVER`] until something
    /// arrives.
    fn next_wake(&self) -> Instant {
        Instant::NEVER
    }

    /// Credit that is due now. Asked until there is none, after each event and at
    /// [`Receiving::next_wake`].
    fn next_credit(&mut self, _now: Instant) -> Option<Credit> {
        None
    }
}

/// What a receiver's half learns of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The place of the flow among those that the host receives.
    pub place: u32,
    /// When.
    pub now: Instant,
    /// Whether a switch has trimmed it, so that the packet is to be sent again.
    pub trimmed: bool,
    /// The time of a full packet of the flow on the host's link, preamble and gap included.
    pub packet_time: Duration,
}

/// A credit frame to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// The place of the flow among those that the host receives.
    pub place: u32,
    /// Packets that the flow has been asked for so far, this time included.
    pub number: u32,
}

/// Makes [`Halves`](super::Halves), which has the receiver's half of each algorithm that has one, and its
/// calls. Each row is the variant of an algorithm, its module, and the type in it.
macro_rules! halves {
    ($($variant:ident in $module:ident has $half:ident,)+) => {
        /// The receivers' halves of one host: of each algorithm by which flows arrive there, if it has one.
        #[derive(Debug, Default)]
        pub struct Halves {
            $($module: Option<$module::$half>,)+
        }

        impl Spec {
            /// Whether the algorithm has a receiver's half.
            #[inline]
            pub const fn has_receiver_half(&self) -> bool {
                matches!(self, $(Self::$variant(_))|+)
            }
        }

        impl Halves {
            /// Those of a host that receives flows with these congestion controls; `None` if it needs none.
            pub fn of<'a>(controls: impl ExactSizeIterator<Item = &'a Spec>) -> Option<Self> {
                let flows = controls.len();
                let mut halves: Option<Self> = None;
                for control in controls.filter(|control| control.has_receiver_half()) {
                    let halves = halves.get_or_insert_default();
                    match control {
                        $(Spec::$variant(_) => {
                            halves.$module.get_or_insert_with(|| Receiving::new(flows));
                        })+
                        _ => {}
                    }
                }
                halves
            }

            /// See [`Receiving::on_arrival`].
            pub fn on_arrival(&mut self, spec: &Spec, arrival: &Arrival) {
                match (spec, self) {
                    $((Spec::$variant(spec), Self { $module: Some(half), .. }) => {
                        half.on_arrival(spec, arrival);
                    })+
                    _ => {}
                }
            }

            /// See [`Receiving::on_end`].
            pub fn on_end(&mut self, spec: &Spec, place: u32, now: Instant) {
                match (spec, self) {
                    $((Spec::$variant(spec), Self { $module: Some(half), .. }) => {
                        half.on_end(spec, place, now);
                    })+
                    _ => {}
                }
            }

            /// See [`Receiving::next_wake`].
            pub fn next_wake(&self) -> Instant {
                let times = [$(self.$module.as_ref().map(|half| half.next_wake()),)+];
                times.into_iter().flatten().min().unwrap_or(Instant::NEVER)
            }

            /// See [`Receiving::next_credit`].
            pub fn next_credit(&mut self, now: Instant) -> Option<Credit> {
                $(if let Some(credit) = self.$module.as_mut().and_then(|half| half.next_credit(now)) {
                    return Some(credit);
                })+
                None
            }
        }
    };
}
pub(super) use halves;
