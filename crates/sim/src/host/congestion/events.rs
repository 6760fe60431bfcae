//! What a transport tells congestion control. Amounts are in packets.
//!
//! TCP tells much, by [`Ack`] and what follows it; RoCEv2 hardware little, by [`Answer`].

use floodway_model::{Duration, Instant};

use crate::telemetry::Hop;

/// An acknowledgement or a NAK of RoCEv2 has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// When it came.
    pub now: Instant,
    /// Everything below this packet sequence number has arrived.
    pub ack: u32,
    /// Packets that it acknowledges for the first time.
    pub acked: u32,
    /// The first packet that has never been sent.
    pub sent: u32,
    /// Packets from the first that is not acknowledged to the last that was sent, now.
    pub in_flight: u32,
    /// From the sending of the packet that it answers to now; `None` of a NAK, which does not say it.
    pub rtt: Option<Duration>,
    /// Whether that packet arrived with CE.
    pub marked: bool,
    /// Whether it tells of a missing packet, which may have been trimmed.
    pub nak: bool,
    /// What switches wrote into that packet, in the order of its way; empty without telemetry.
    pub hops: &'a [Hop],
}

/// An acknowledgement, and what the transport found out by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it came.
    pub now: Instant,
    /// Packets that it acknowledges cumulatively for the first time.
    pub acked: u32,
    /// Packets that it tells to have arrived for the first time, cumulatively or selectively.
    pub delivered: u32,
    /// Packets that it tells to have arrived with CE: exactly with accurate feedback, all that it
    /// acknowledges if it carries ECE with DCTCP's (RFC 8257 section 3.3), none with classic.
    pub marked: u32,
    /// The round-trip time of the packet sent last among those that it acknowledges and that were
    /// sent only once; `None` if there is none (Karn's algorithm).
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298), this sample included; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// The shortest round-trip time so far; zero before the first sample.
    pub min_rtt: Duration,
    /// In flight before it came, and after.
    pub prior_in_flight: u32,
    /// Sent and neither acknowledged nor taken for lost, now.
    pub in_flight: u32,
    /// Packets that are taken for lost because of it.
    pub lost: u32,
    /// Where the transport is after it.
    pub phase: Phase,
    /// Whether the window was what kept the sender from sending more in this round trip; a window
    /// that is not used is not to grow (RFC 9438 section 5.8, RFC 7661).
    pub window_limited: bool,
    /// Whether a new round trip begins with it: it acknowledges a packet that was sent after the
    /// acknowledgement with which the last one began.
    pub round_begins: bool,
    /// How fast the network delivered, over about a round trip; `None` without an estimate.
    pub rate: Option<RateSample>,
}

/// Where a TCP sender is, as in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is wrong.
    #[default]
    Open,
    /// A mark has reduced the window, and what was in flight then still is (Linux: CWR).
    Reducing,
    /// After a loss, until what was in flight then is acknowledged (RFC 6675).
    Recovery,
    /// After a timeout, until what was in flight then is acknowledged.
    Loss,
}

impl Phase {
    /// Whether the window may grow: not while what was in flight at a congestion event still is.
    /// After a timeout it does, from one packet on.
    pub const fn may_grow(self) -> bool {
        matches!(self, Self::Open | Self::Loss)
    }
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets delivered from the acknowledgement that came last before the sampled packet was
    /// sent until now.
    pub delivered: u32,
    /// Of these, with CE.
    pub marked: u32,
    /// Packets taken for lost in the same time.
    pub lost: u32,
    /// How long that took, by sending or by acknowledging, whichever took longer.
    pub interval: Duration,
    /// All packets delivered until that acknowledgement.
    pub prior_delivered: u64,
    /// In flight when the packet was sent, itself included.
    pub in_flight_at_send: u32,
    /// Whether the application, not the window, limited what was in flight.
    pub app_limited: bool,
}

impl RateSample {
    /// Packets per second.
    pub fn per_second(&self) -> f64 {
        f64::from(self.delivered) / self.interval.as_secs()
    }
}

/// A packet that is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// When that was found.
    pub now: Instant,
    /// In flight when it was sent, itself included.
    pub in_flight_at_send: u32,
    /// Packets taken for lost since it was sent, itself included.
    pub lost: u32,
    /// Whether it was sent while the application limited what was in flight.
    pub app_limited: bool,
}

/// The first sign of congestion in a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// When it was found.
    pub now: Instant,
    /// Which sign.
    pub signal: Signal,
    /// In flight before what is lost was found to be.
    pub in_flight: u32,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A packet is taken for lost.
    Loss,
    /// A packet arrived with CE.
    Mark,
}

/// The retransmission timer has rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// When.
    pub now: Instant,
    /// Sent and not acknowledged.
    pub in_flight: u32,
    /// Whether it has rung before without anything being acknowledged in between.
    pub again: bool,
}
