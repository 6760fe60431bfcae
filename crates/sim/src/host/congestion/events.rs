//! Events that a transport reports to congestion control. Amounts are in packets.
//!
//! TCP reports in detail, with [`Ack`] and the types below it; RoCEv2 hardware and Ultra Ethernet report
//! little, with [`Answer`].

use floodway_model::{Duration, Instant};

use crate::csig::Tag;
use crate::telemetry::Hop;

/// An acknowledgement or NAK of RoCEv2 or Ultra Ethernet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// Time of arrival.
    pub now: Instant,
    /// Everything below this packet sequence number has arrived.
    pub ack: u32,
    /// Number of packets that it acknowledges for the first time; with Ultra Ethernet also those that it
    /// acknowledges selectively.
    pub acked: u32,
    /// Sequence number of the first packet that has never been sent.
    pub sent: u32,
    /// Number of packets from the first unacknowledged to the last one sent; with Ultra Ethernet without
    /// those that have arrived or have to be sent again.
    pub in_flight: u32,
    /// Time since the acknowledged packet was sent; `None` for a NAK, which does not carry it.
    pub rtt: Option<Duration>,
    /// Whether that packet arrived with CE.
    pub marked: bool,
    /// Whether it reports a missing packet, which may have been trimmed.
    pub nak: bool,
    /// Whether the packet has arrived trimmed, and where it was trimmed. RoCEv2 does not say where: in
    /// the fabric.
    pub trimmed: Option<Trimmed>,
    /// Telemetry of that packet, in the order of its path; empty without telemetry.
    pub hops: &'a [Hop],
    /// Congestion signals (CSIG) of that packet; `None` without them.
    pub tag: Option<Tag>,
}

/// Where a packet was trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimmed {
    /// At a port between switches.
    InFabric,
    /// At the port of its destination.
    AtLastHop,
}

/// What a sender has to send, for the credit that it asks for (Ultra Ethernet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Number of packets to send, new ones and those to send again, without the one that is sent now.
    pub backlog: u64,
    /// Number of flows that wait for the NIC, including this one: a sender must not ask several
    /// receivers together for more than it can send.
    pub contexts: u32,
    /// Whether a packet is sent now that states the target, for which credit is yet to be taken.
    pub sends: bool,
}

/// The total credit that a sender asks for (Ultra Ethernet).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// In full packets, modulo [`Entropy::TARGETS`](floodway_model::packet::Entropy::TARGETS).
    pub packets: u16,
    /// In bytes, modulo 2^32.
    pub bytes: u32,
}

/// A TCP acknowledgement, and the conclusions that the transport draws from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Time of arrival.
    pub now: Instant,
    /// Number of packets that it acknowledges cumulatively for the first time.
    pub acked: u32,
    /// Number of packets that it reports as arrived for the first time, cumulatively or
    /// selectively.
    pub delivered: u32,
    /// Number of packets that it reports as arrived with CE: exact with accurate feedback; with
    /// DCTCP's feedback, all packets that it acknowledges if it carries ECE (RFC 8257 section 3.3);
    /// none with classic feedback.
    pub marked: u32,
    /// Round-trip time of the most recently sent packet among those that it acknowledges and that
    /// were sent only once; `None` if there is none (Karn's algorithm).
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time (RFC 6298), including this sample; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// Minimum round-trip time so far; zero before the first sample.
    pub min_rtt: Duration,
    /// Packets in flight before the acknowledgement arrived.
    pub prior_in_flight: u32,
    /// Packets in flight now: sent, and neither acknowledged nor considered lost.
    pub in_flight: u32,
    /// Number of packets that are considered lost because of it.
    pub lost: u32,
    /// Phase of the transport after it.
    pub phase: Phase,
    /// Whether the window was the limit for the sender in this round trip; an unused window must
    /// not grow (RFC 9438 section 5.8, RFC 7661).
    pub window_limited: bool,
    /// Whether it begins a new round trip: it acknowledges a packet that was sent after the
    /// acknowledgement that began the previous one.
    pub round_begins: bool,
    /// Delivery rate, measured over about a round trip; `None` without an estimate.
    pub rate: Option<RateSample>,
}

/// Congestion state of a TCP sender, as in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No congestion.
    #[default]
    Open,
    /// A mark has reduced the window, and the packets in flight at that time are not yet
    /// acknowledged (Linux: CWR).
    Reducing,
    /// After a loss, until the packets in flight at that time are acknowledged (RFC 6675).
    Recovery,
    /// After a timeout, until the packets in flight at that time are acknowledged.
    Loss,
}

impl Phase {
    /// Whether the window may grow: not until the packets in flight at a congestion event are
    /// acknowledged. After a timeout it does grow, from one packet on.
    pub const fn may_grow(self) -> bool {
        matches!(self, Self::Open | Self::Loss)
    }
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets delivered since the last acknowledgement before the sampled packet was sent.
    pub delivered: u32,
    /// Of these, packets with CE.
    pub marked: u32,
    /// Packets considered lost in the same period.
    pub lost: u32,
    /// Length of the period, measured by sending or by acknowledging, whichever took longer.
    pub interval: Duration,
    /// Total packets delivered until that acknowledgement.
    pub prior_delivered: u64,
    /// Packets in flight when the packet was sent, including itself.
    pub in_flight_at_send: u32,
    /// Whether the application, not the window, limited the packets in flight.
    pub app_limited: bool,
}

impl RateSample {
    /// Delivery rate in packets per second.
    pub fn per_second(&self) -> f64 {
        f64::from(self.delivered) / self.interval.as_secs()
    }
}

/// A packet that is considered lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// Time of detection.
    pub now: Instant,
    /// Packets in flight when it was sent, including itself.
    pub in_flight_at_send: u32,
    /// Packets considered lost since it was sent, including itself.
    pub lost: u32,
    /// Whether it was sent while the application limited the packets in flight.
    pub app_limited: bool,
}

/// The first congestion signal in a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Time of detection.
    pub now: Instant,
    /// The signal.
    pub signal: Signal,
    /// Packets in flight before the loss was detected.
    pub in_flight: u32,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A packet is considered lost.
    Loss,
    /// A packet arrived with CE.
    Mark,
}

/// The retransmission timer has expired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// Time of expiry.
    pub now: Instant,
    /// Packets sent and not acknowledged.
    pub in_flight: u32,
    /// Whether it has expired before without an acknowledgement in between.
    pub again: bool,
}
