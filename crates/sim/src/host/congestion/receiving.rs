//! The receiver half of congestion control: a receiving host controls the rate of its senders. It sees all
//! arrivals of the flows of its algorithm at the host, and replies with credit: frames that permit a sender
//! to send.
//!
//! There is one half per algorithm and host, not per flow, because it allocates the host's link. An
//! algorithm has one if its row in `algorithms!` names its type. Hosts without such flows have none, and
//! the cost for them is at most one check per arriving packet.

use std::fmt;

use floodway_model::packet::Entropy;
use floodway_model::{Bytes, Duration, Instant, Rate};

/// The receiver half of a congestion control in one host. Its methods are called in order of time.
/// Every method has a default, so an algorithm implements only those it uses.
pub trait Receiving: fmt::Debug {
    /// The algorithm's parameters. They belong to a flow: two workloads may have different ones.
    type Spec;

    /// For a host that receives this number of flows, under any congestion control.
    fn new(flows: usize) -> Self;

    /// One more flow will come to the host, under any congestion control.
    fn add_flow(&mut self) {}

    /// Data, or the header of a trimmed packet, has arrived for a flow that is not complete.
    fn on_arrival(&mut self, _spec: &Self::Spec, _arrival: &Arrival) {}

    /// The sender of a flow that is not complete has sent a request for credit, which is the arrival.
    fn on_request(&mut self, _spec: &Self::Spec, _arrival: &Arrival, _request: Request) {}

    /// The flow at this index is complete and needs no more credit. Called again for each packet that
    /// arrives after that.
    fn on_end(&mut self, _spec: &Self::Spec, _place: u32, _now: Instant) {}

    /// Time at which [`Receiving::next_credit`] has something to send or to do; [`Instant::NEVER`] until
    /// something arrives.
    fn next_wake(&self) -> Instant {
        Instant::NEVER
    }

    /// Returns credit that is due now. Called until there is none, after each event and at
    /// [`Receiving::next_wake`].
    fn next_credit(&mut self, _now: Instant) -> Option<Credit> {
        None
    }
}

/// An arrival, as reported to a receiver half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Index of the flow among the incoming flows of the host.
    pub place: u32,
    /// Time of arrival.
    pub now: Instant,
    /// Whether a switch has trimmed the packet, so that it must be retransmitted.
    pub trimmed: bool,
    /// Number of the packet within its flow.
    pub number: u32,
    /// Entropy of the packet and what comes with it (Ultra Ethernet).
    pub entropy: Option<Entropy>,
    /// Length of a full packet of the flow on the host's link, including preamble and gap, and its
    /// transmission time.
    pub wire: Bytes,
    /// See `wire`.
    pub packet_time: Duration,
    /// Rate at which data comes through the host's link.
    pub rate: Rate,
}

#[cfg(test)]
impl Arrival {
    /// Packet 0 of a flow, without entropy, on a link of 100 Gb/s.
    pub fn of(place: u32) -> Self {
        Self {
            place,
            now: Instant::ZERO,
            trimmed: false,
            number: 0,
            entropy: None,
            wire: Bytes(1_500),
            packet_time: Duration(120_000),
            rate: Rate::from_gbps(100),
        }
    }
}

/// A request for credit of a sender that can send nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Total credit that it asks for, in bytes modulo 2^32.
    pub target: u32,
}

/// A credit frame to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Index of the flow among the incoming flows of the host.
    pub place: u32,
    /// NDP: total number of packets that the flow has been asked for, including this request. RCCC:
    /// total credit of the flow in bytes, modulo 2^32.
    pub number: u32,
}

/// Generates [`Halves`](super::Halves), which has the receiver half of each algorithm that has one, and
/// its methods. Each row is the variant of an algorithm, its module, and the type in it.
macro_rules! halves {
    ($($variant:ident in $module:ident has $half:ident,)+) => {
        /// The receiver halves of one host: one for each algorithm among its incoming flows that has one.
        #[derive(Debug, Default)]
        pub struct Halves {
            $($module: Option<$module::$half>,)+
        }

        impl Spec {
            /// Whether the algorithm has a receiver half.
            #[inline]
            pub const fn has_receiver_half(&self) -> bool {
                matches!(self, $(Self::$variant(_))|+)
            }
        }

        impl Halves {
            /// The receiver halves of a host that receives flows with these congestion controls; `None` if
            /// it needs none.
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

            /// One more flow will come to a host that has so many, under this congestion control.
            pub fn add_flow(&mut self, control: &Spec, flows: usize) {
                $(if let Some(half) = &mut self.$module {
                    half.add_flow();
                })+
                match control {
                    $(Spec::$variant(_) => {
                        self.$module.get_or_insert_with(|| Receiving::new(flows + 1));
                    })+
                    _ => {}
                }
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

            /// See [`Receiving::on_request`].
            pub fn on_request(&mut self, spec: &Spec, arrival: &Arrival, request: Request) {
                match (spec, self) {
                    $((Spec::$variant(spec), Self { $module: Some(half), .. }) => {
                        half.on_request(spec, arrival, request);
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
