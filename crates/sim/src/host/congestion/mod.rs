//! Congestion control: the rate and the window of a flow.
//!
//! An algorithm receives the events of its flow and is queried for a rate and a window; it implements only the
//! methods it needs. It sets no timers: time-dependent updates are made when it is next queried, because a
//! rate matters only at the time when a packet is sent. An algorithm may also have a receiver half
//! ([`receiving`]), which grants credit to senders.
//!
//! The transport detects acknowledgements, losses, marks and round trips, and signals congestion at most once
//! per round trip. The algorithm responds immediately with a new window; the transport then controls how the
//! packets in flight are reduced to it.

pub mod alpha;
pub mod answers;
pub mod bbr;
pub mod bbr3;
pub mod check;
#[cfg(test)]
mod conformance;
pub mod constant_rate;
pub mod cubic;
pub mod dcqcn;
pub mod dctcp;
pub mod events;
mod fractional;
pub mod hpcc;
pub mod hystart;
pub mod indicated_rate;
#[cfg(test)]
mod laws;
pub mod line_rate;
pub mod ndp;
pub mod nscc;
pub mod poseidon;
pub mod powertcp;
pub mod prague;
pub mod qcn;
pub mod rccc;
pub mod rdma_dctcp;
pub mod receiving;
pub mod reno;
pub mod swift;
pub mod timely;
pub mod window;

use check::{Around, Network};
use floodway_model::check::Findings;
use floodway_model::{Duration, EcnFeedback, Instant, Rate};

use super::transport::tcp;

pub use events::{
    Ack, Answer, Congestion, Demand, Lost, Phase, RateSample, Signal, Target, Timeout, Trimmed,
};
pub use receiving::{Arrival, Credit, Receiving, Request};

/// Generates the family from one row per algorithm: the [`Spec`] that a scenario selects, the
/// catalogue, the [`State`] of a flow, and their common methods. Each row names a module with `Spec`
/// and `State`; `State` implements [`Control`] and has `State::new(&Spec, &Path)`. A state that is
/// larger than DCQCN's is `boxed`, so that it does not enlarge RoCEv2 flows, which are the most
/// numerous. `receiver` is followed by the type of the receiver half, which implements [`Receiving`];
/// most algorithms have none.
macro_rules! algorithms {
    (@type $module:ident) => { $module::State };
    (@type $module:ident boxed) => { Box<$module::State> };
    ($(
        $variant:ident = $name:literal in $module:ident $(, $boxed:ident)? $(; receiver $half:ident)?:
            $summary:literal,
    )+) => {
        floodway_model::family! {
            /// Congestion control: how fast a flow may send.
            "host.congestion":
            $($variant = $name ($module::Spec): $summary,)+
        }

        /// State of one flow, for any algorithm.
        #[derive(Debug)]
        pub enum State {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant(algorithms!(@type $module $($boxed)?)),
            )+
        }

        impl State {
            /// State of a new flow.
            pub fn new(spec: &Spec, path: &Path) -> Self {
                match spec {
                    $(Spec::$variant(spec) => {
                        Self::$variant($module::State::new(spec, path).into())
                    })+
                }
            }
        }

        receiving::halves! { $($($variant in $module has $half,)?)+ }

        algorithms! { @methods ($($variant in $module,)+)
            of parameters {
                needs()() -> Needs,
                needs_telemetry()() -> bool,
                needs_tag()() -> bool,
                marks_are_notifications()() -> bool,
                cnp_interval()() -> Option<Duration>,
                initial_window(base_rtt: Duration)(base_rtt) -> Option<Duration>,
                feedback()() -> EcnFeedback,
                check_signals(around: &Around<'_>, findings: &mut Findings<'_>)(around, findings) -> (),
                check_on(network: &Network<'_>, findings: &mut Findings<'_>)(network, findings) -> (),
                check_unlimited(
                    around: &Around<'_>, tcp: &tcp::Spec, findings: &mut Findings<'_>
                )(around, tcp, findings) -> (),
            }
            of a flow {
                rate(now: Instant)(now) -> Option<f64>,
                window(now: Instant)(now) -> Option<u64>,
                owns_recovery()() -> bool,
                in_slow_start()() -> bool,
                on_established(now: Instant, rtt: Duration)(now, rtt) -> (),
                on_send(now: Instant, bytes: u64)(now, bytes) -> (),
                after_send(now: Instant, bytes: u64)(now, bytes) -> (Option<f64>, Option<u64>),
                on_answer(answer: &Answer<'_>)(answer) -> (),
                on_retransmit_timeout(now: Instant)(now) -> (),
                on_cnp(now: Instant)(now) -> (),
                on_indication(now: Instant, severity: u8)(now, severity) -> (),
                on_cnm(now: Instant, feedback: u8)(now, feedback) -> (),
                on_credit(now: Instant, number: u32)(now, number) -> (),
                credit_target(demand: Demand)(demand) -> Target,
                awaits_credit()() -> bool,
                on_ack(ack: &Ack)(ack) -> (),
                on_lost(lost: &Lost)(lost) -> (),
                on_congestion(congestion: &Congestion)(congestion) -> (),
                on_timeout(timeout: &Timeout)(timeout) -> (),
                on_recovered(now: Instant)(now) -> (),
                on_undo(now: Instant)(now) -> (),
                on_restart(now: Instant, halvings: u32)(now, halvings) -> (),
            }
        }
    };
    (@methods $variants:tt
        of parameters { $($item:ident($($given:ident: $what:ty),*) $hand:tt -> $answer:ty,)+ }
        of a flow { $($method:ident($($argument:ident: $type:ty),*) $pass:tt -> $result:ty,)+ }
    ) => {
        impl Spec {
            $(algorithms! { @item $variants $item($($given: $what),*) $hand -> $answer })+
        }

        impl State {
            $(algorithms! { @method $variants $method($($argument: $type),*) $pass -> $result })+
        }

        // For code that works with any control.
        impl Control for State {
            type Spec = Spec;
            $(
                #[inline]
                fn $item(spec: &Spec $(, $given: $what)*) -> $answer {
                    algorithms!(@ask spec, $item, $hand)
                }
            )+
            $(
                #[inline]
                fn $method(&mut self, spec: &Spec $(, $argument: $type)*) -> $result {
                    algorithms!(@call self, spec, $method, $pass)
                }
            )+
        }
    };
    (@item ($($variant:ident in $module:ident,)+)
        $item:ident($($argument:ident: $type:ty),*) $pass:tt -> $result:ty) => {
        #[doc = concat!("See [`Control::", stringify!($item), "`].")]
        #[inline]
        pub fn $item(&self $(, $argument: $type)*) -> $result {
            match self {
                $(Self::$variant(spec) => algorithms!(@of $module, spec, $item, $pass),)+
            }
        }
    };
    (@method ($($variant:ident in $module:ident,)+)
        $method:ident($($argument:ident: $type:ty),*) $pass:tt -> $result:ty) => {
        #[doc = concat!("See [`Control::", stringify!($method), "`].")]
        #[inline]
        pub fn $method(&mut self, spec: &Spec $(, $argument: $type)*) -> $result {
            match (self, spec) {
                $((Self::$variant(state), Spec::$variant(spec)) => {
                    algorithms!(@call state, spec, $method, $pass)
                })+
                _ => unreachable!("a state is made from its own parameters"),
            }
        }
    };
    (@of $module:ident, $spec:ident, $item:ident, ($($argument:ident),*)) => {
        $module::State::$item($spec $(, $argument)*)
    };
    (@ask $spec:ident, $item:ident, ($($argument:ident),*)) => {
        $spec.$item($($argument),*)
    };
    (@call $state:ident, $spec:ident, $method:ident, ($($argument:ident),*)) => {
        $state.$method($spec $(, $argument)*)
    };
}

algorithms! {
    LineRate = "line_rate" in line_rate: "No control: every flow sends as fast as the NIC.",
    ConstantRate = "constant_rate" in constant_rate:
        "A constant rate, whatever happens: traffic that does not respond.",
    Dcqcn = "dcqcn" in dcqcn: "Rate control of RoCEv2 by congestion notification packets.",
    Hpcc = "hpcc" in hpcc, boxed:
        "Keeps the busiest link a little below full, by telemetry of every switch on the path.",
    PowerTcp = "powertcp" in powertcp, boxed:
        "A window that is divided by the power of the busiest link: its queue times what arrives there.",
    Timely = "timely" in timely: "A rate that follows the gradient of the round-trip time; also Patched TIMELY, with `patched`.",
    Swift = "swift" in swift: "A window that keeps the round-trip time at a target.",
    Poseidon = "poseidon" in poseidon:
        "A window by the largest delay in a switch of the path, as CSIG reports it: a longer target for a smaller rate.",
    RdmaDctcp = "rdma_dctcp" in rdma_dctcp:
        "A rate that shrinks by the share of marked packets (DCTCP for RoCEv2).",
    IndicatedRate = "indicated_rate" in indicated_rate:
        "A rate that switches lower by backward indications, and that then rises again.",
    Qcn = "qcn" in qcn: "Rate control by messages of switches that sample their queues (802.1Qau).",
    Ndp = "ndp" in ndp; receiver Pulls:
        "One packet for each pull of the receiver, after a first window at line rate.",
    Nscc = "nscc" in nscc, boxed:
        "A window by marks and queueing delay in four quadrants, for packets on many paths (Ultra Ethernet).",
    Rccc = "rccc" in rccc, boxed; receiver Pacer:
        "Credit of the receiver for what its link carries, also together with `nscc` (Ultra Ethernet).",
    Reno = "reno" in reno:
        "TCP's window of old: one packet more per round trip, half after congestion.",
    Cubic = "cubic" in cubic, boxed:
        "A window that follows a cubic function of the time since congestion.",
    Dctcp = "dctcp" in dctcp:
        "A window that shrinks by the share of marked packets, in data centers.",
    Prague = "prague" in prague, boxed:
        "The same for the Internet (L4S): paced, and independent of short round-trip times.",
    Bbr = "bbr" in bbr: "Paces at the bandwidth that was delivered (BBR, version 1).",
    Bbr3 = "bbr3" in bbr3: "BBR that also heeds loss and, if wanted, marks (version 3).",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Dcqcn(dcqcn::Spec::default())
    }
}

/// Properties of a flow's path that congestion control knows from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Rate of the sender's NIC.
    pub line_rate: Rate,
    /// Payload of a full packet, in bytes.
    pub payload: u64,
    /// Length of a full packet on the wire, in bytes, including preamble and gap.
    pub wire: u64,
    /// Number of full packets that may be sent before the receiver has replied; used only by TCP
    /// (RFC 6928).
    pub initial_window: u32,
    /// Round-trip time of a full packet and its acknowledgement between the hosts farthest apart,
    /// on the idle network. Only set if some algorithm [needs answers](Needs::is_about_answers), as is
    /// `hops`.
    pub base_rtt: Duration,
    /// Number of switches on the shortest paths to the receiver.
    pub hops: u8,
    /// Whether switches trim packets.
    pub trims: bool,
    /// Seed of the random choices of this flow's congestion control.
    pub seed: u64,
}

#[cfg(test)]
impl Path {
    /// Packets of 1448 bytes in frames of 1518, on a link without preamble and gap.
    pub fn at(line_rate: Rate) -> Self {
        Self {
            line_rate,
            payload: 1_448,
            wire: 1_518,
            initial_window: 10,
            base_rtt: Duration::from_us(8),
            hops: 3,
            trims: false,
            seed: 1,
        }
    }
}

/// Congestion control of one flow. Its methods are called in order of time.
pub trait Control {
    /// The algorithm's parameters.
    type Spec;

    /// The information that it needs from a transport.
    fn needs(spec: &Self::Spec) -> Needs;

    /// Whether switches must write telemetry into its packets.
    fn needs_telemetry(_spec: &Self::Spec) -> bool {
        false
    }

    /// Whether its packets must have a tag for the congestion signals of switches (CSIG).
    fn needs_tag(_spec: &Self::Spec) -> bool {
        false
    }

    /// Whether a mark that an acknowledgement reports counts as a CNP (RoCEv2).
    #[inline]
    fn marks_are_notifications(_spec: &Self::Spec) -> bool {
        false
    }

    /// Minimum time between two CNPs of a flow at the receiver (RoCEv2); `None` if it sends none.
    #[inline]
    fn cnp_interval(_spec: &Self::Spec) -> Option<Duration> {
        None
    }

    /// How long a new flow may send at line rate before an acknowledgement has arrived, according
    /// to parameters that are times; `None` without such a limit. `base_rtt` is the round-trip time
    /// without queueing.
    fn initial_window(_spec: &Self::Spec, _base_rtt: Duration) -> Option<Duration> {
        None
    }

    /// Form of ECN feedback that it needs (TCP); `None` if it does not react to marks, so that its
    /// segments are not ECN-capable.
    fn feedback(_spec: &Self::Spec) -> EcnFeedback {
        EcnFeedback::None
    }

    /// Checks that something sends the signals that it relies on. Only called with a suitable
    /// transport.
    fn check_signals(_spec: &Self::Spec, _around: &Around<'_>, _findings: &mut Findings<'_>) {}

    /// Checks that its parameters suit the transport and the network.
    fn check_on(_spec: &Self::Spec, _network: &Network<'_>, _findings: &mut Findings<'_>) {}

    /// Reports that TCP has no window of its own. Only called for controls that [need
    /// nothing](Needs::Nothing).
    fn check_unlimited(
        _spec: &Self::Spec,
        around: &Around<'_>,
        tcp: &tcp::Spec,
        findings: &mut Findings<'_>,
    ) {
        if tcp.receive_window.is_none() {
            findings.warn(
                "",
                format!(
                    "nothing limits how much TCP has in flight: `{}` has no window",
                    findings.name()
                ),
                format!(
                    "choose {}, or write `receive_window` in {} for a window that stays the same",
                    around.other("cubic"),
                    around.transport_header()
                ),
            );
        }
    }

    /// Rate in bit/s on the wire at which the next packet may follow the one that is sent now;
    /// `None` for the rate of the NIC.
    fn rate(&mut self, _spec: &Self::Spec, _now: Instant) -> Option<f64> {
        None
    }

    /// Window: maximum number of payload bytes sent and not acknowledged; `None` for no limit. Queried when
    /// a packet is sent and when feedback has arrived. A control with a receiver half returns 0 while it
    /// has no credit; lost packets are then not retransmitted either (RoCEv2).
    #[inline]
    fn window(&mut self, _spec: &Self::Spec, _now: Instant) -> Option<u64> {
        None
    }

    /// The connection is established, and the handshake took this round-trip time (TCP).
    fn on_established(&mut self, _spec: &Self::Spec, _now: Instant, _rtt: Duration) {}

    /// Whether its window applies immediately after a congestion event too, without proportional
    /// rate reduction in between (TCP; Linux: `cong_control`).
    #[inline]
    fn owns_recovery(&mut self, _spec: &Self::Spec) -> bool {
        false
    }

    /// Whether the window doubles every round trip: pacing by the window then leaves room for the
    /// growth, and half a window in flight counts as limited by it (TCP).
    #[inline]
    fn in_slow_start(&mut self, _spec: &Self::Spec) -> bool {
        false
    }

    /// A frame with this number of bytes on the wire is sent.
    fn on_send(&mut self, _spec: &Self::Spec, _now: Instant, _bytes: u64) {}

    /// [`Control::on_send`], then rate and window, in one call per packet instead of three.
    #[inline]
    fn after_send(
        &mut self,
        spec: &Self::Spec,
        now: Instant,
        bytes: u64,
    ) -> (Option<f64>, Option<u64>) {
        self.on_send(spec, now, bytes);
        (self.rate(spec, now), self.window(spec, now))
    }

    /// An acknowledgement or a NAK has arrived (RoCEv2, Ultra Ethernet); only called with
    /// [`Needs::Answers`] or [`Needs::Arrivals`].
    fn on_answer(&mut self, _spec: &Self::Spec, _answer: &Answer<'_>) {}

    /// The retransmission timer has expired, and the packets in flight are retransmitted (RoCEv2); one
    /// packet has timed out (Ultra Ethernet).
    fn on_retransmit_timeout(&mut self, _spec: &Self::Spec, _now: Instant) {}

    /// A congestion notification packet has arrived (RoCEv2).
    fn on_cnp(&mut self, _spec: &Self::Spec, _now: Instant) {}

    /// A switch has reported that the flow meets congestion, and its severity in 256ths (not TCP,
    /// which treats it as a mark).
    fn on_indication(&mut self, spec: &Self::Spec, now: Instant, _severity: u8) {
        self.on_cnp(spec, now);
    }

    /// A congestion point has sampled a packet of the flow and reports the severity of congestion, 1
    /// to 63 (QCN; not TCP).
    fn on_cnm(&mut self, _spec: &Self::Spec, _now: Instant, _feedback: u8) {}

    /// Credit has arrived from the [receiver half](Receiving), which has requested `number` packets so far
    /// (RoCEv2) or given so many bytes, modulo 2^32 (Ultra Ethernet); lower numbers may arrive later.
    fn on_credit(&mut self, _spec: &Self::Spec, _now: Instant, _number: u32) {}

    /// The total credit to ask for, which a packet or a request states; only called with a
    /// [receiver half](Receiving) (Ultra Ethernet).
    fn credit_target(&mut self, _spec: &Self::Spec, _demand: Demand) -> Target {
        Target::default()
    }

    /// Whether credit that it has asked for has not come yet (Ultra Ethernet).
    fn awaits_credit(&mut self, _spec: &Self::Spec) -> bool {
        false
    }

    /// An acknowledgement has arrived (TCP). Called after [`Control::on_lost`] and
    /// [`Control::on_congestion`] for the losses and marks that it reported.
    fn on_ack(&mut self, _spec: &Self::Spec, _ack: &Ack) {}

    /// A packet is considered lost (TCP).
    fn on_lost(&mut self, _spec: &Self::Spec, _lost: &Lost) {}

    /// The first loss or mark of a round trip (TCP). The control sets the window that should be
    /// reached when all packets now in flight are acknowledged.
    fn on_congestion(&mut self, _spec: &Self::Spec, _congestion: &Congestion) {}

    /// The retransmission timer has expired: all packets in flight are considered lost (TCP).
    fn on_timeout(&mut self, _spec: &Self::Spec, _timeout: &Timeout) {}

    /// All packets that were in flight at the last congestion event or timeout are acknowledged
    /// (TCP).
    fn on_recovered(&mut self, _spec: &Self::Spec, _now: Instant) {}

    /// The last [`Control::on_congestion`] or [`Control::on_timeout`] was spurious: nothing had
    /// been lost (RFC 3522; TCP).
    fn on_undo(&mut self, _spec: &Self::Spec, _now: Instant) {}

    /// The flow sends again after it had nothing to send, and nothing in flight, for longer than
    /// its retransmission timeout (RFC 5681 section 4.1; TCP). A window is halved `halvings` times,
    /// but not below its initial value.
    fn on_restart(&mut self, _spec: &Self::Spec, _now: Instant, _halvings: u32) {}
}

/// The information that an algorithm needs from a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it works with any transport.
    Nothing,
    /// Congestion notification packets (RoCEv2).
    Notifications,
    /// Congestion notification packets, or the indications of switches (all transports but TCP, for
    /// which indications are marks).
    Indications,
    /// The messages of congestion points (all transports but TCP).
    Messages,
    /// RoCEv2 acknowledgements with round-trip times, marks, and [telemetry](Spec::needs_telemetry)
    /// if requested.
    Answers,
    /// Counts of arrived packets, marks, round-trip times and trimmed packets (Ultra Ethernet).
    Arrivals,
    /// Acknowledgements, losses and round trips (TCP).
    Acknowledgements,
}

impl Needs {
    /// Whether the algorithm gets an [`Answer`] for every reply of a receiver.
    pub const fn is_about_answers(self) -> bool {
        matches!(self, Self::Answers | Self::Arrivals)
    }
}
